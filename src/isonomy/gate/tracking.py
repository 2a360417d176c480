"""An audit, and what a policy says of it, in an MLflow run."""

import math
import re
from pathlib import Path
from typing import Any

from isonomy._validate import optional
from isonomy.audit import Audit
from isonomy.gate.policy import Policy
from isonomy.gate.result import Check
from isonomy.gate.run import check
from isonomy.metrics import bias_of, get_metric

_NOT_A_NAME = re.compile(r"[^\w\-./ :]+")


def log_mlflow(
    found: Audit | Check,
    policy: Policy | str | Path | None = None,
    *,
    prefix: str = "fair",
    run_id: str | None = None,
) -> dict[str, float]:
    """Log an audit, or a check, to the active run of MLflow (extra ``mlflow``).

    Of each gap, the value, both limits and its size: ``fair.NAME.ATTRIBUTE``, ``....low``,
    ``....high``, ``....bias``; what is undefined or infinite is left out. ``audit.html`` and
    ``audit.json`` (which a later policy can name as its earlier audit) are artifacts, and of a
    check its verdict is the tag ``isonomy.verdict``, with ``check.md`` and ``check.json``.

    Parameters
    ----------
    found : Audit or Check
    policy : Policy or path, optional
        Check the audit against it first.
    prefix : str
        First part of the names of metrics, and folder of the artifacts.
    run_id : str, optional
        A run; by default the active one, which is started where there is none.

    Returns
    -------
    dict of str to float
        The metrics that were logged, as ``mlflow.validate_evaluation_results`` takes them.
    """
    mlflow = optional("mlflow", extra="mlflow", purpose="log_mlflow")
    done = found if isinstance(found, Check) else None
    if isinstance(found, Audit) and policy is not None:
        done = check(found, policy)
    audited = found if isinstance(found, Audit) else found.audit
    metrics = metrics_of(audited, prefix)
    mlflow.log_metrics(metrics, run_id=run_id)
    files: dict[str, Any] = {"audit.json": audited.to_dict()}
    texts = {"audit.html": audited.to_html()}
    if done is not None:
        from isonomy.gate.faces import to_markdown

        files["check.json"], texts["check.md"] = done.to_dict(), to_markdown(done)
        mlflow.MlflowClient().set_tag(
            run_id or mlflow.active_run().info.run_id, "isonomy.verdict", done.verdict
        )
    for name, content in files.items():
        mlflow.log_dict(content, f"{prefix}/{name}", run_id=run_id)
    for name, text in texts.items():
        mlflow.log_text(text, f"{prefix}/{name}", run_id=run_id)
    return metrics


def metrics_of(found: Audit, prefix: str) -> dict[str, float]:
    """Return value, limits and size of every gap of an audit, by names that MLflow takes."""
    out: dict[str, float] = {}
    for f in found.metrics:
        if f.attribute is None:
            continue
        name = _NOT_A_NAME.sub("_", f"{prefix}.{f.name}.{f.attribute}")
        parts = {"": f.value, ".low": f.low, ".high": f.high}
        if math.isfinite(get_metric(f.name).ideal or 0.0):
            parts[".bias"] = float(bias_of(f.name, f.value))
        out |= {f"{name}{end}": float(x) for end, x in parts.items() if math.isfinite(x)}
    return out
