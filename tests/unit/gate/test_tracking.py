"""What is in an MLflow run: real runs, in a folder and in SQLite."""

import json
from pathlib import Path
from typing import Any

import pytest

from isonomy import Policy, check
from isonomy.errors import MissingExtra
from isonomy.gate import log_mlflow
from isonomy.gate.tracking import metrics_of

RULES = Policy(attributes="sex", metrics={"spd": 0.1})


def test_names_and_numbers(audit_of: Any) -> None:
    found = audit_of([300, 500], [1000, 1000], metrics=["spd", "di"])
    logged = metrics_of(found, "fair")
    name = "fair.statistical_parity_difference.sex"
    finding = found.metrics[-2]
    assert logged[name] == pytest.approx(-0.2)
    assert logged[f"{name}.bias"] == pytest.approx(0.2)
    assert (logged[f"{name}.low"], logged[f"{name}.high"]) == (finding.low, finding.high)
    assert logged["fair.disparate_impact.sex.bias"] == pytest.approx(0.4)


def test_without_mlflow_the_extra_is_named(audit_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(MissingExtra, match=r"isonomy\[mlflow\]"):
        log_mlflow(audit_of([300, 500], [1000, 1000]))


@pytest.fixture(params=["folder", "sqlite"])
def mlflow(request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """MLflow that keeps its runs in a folder of this test, or in a database there."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    module = pytest.importorskip("mlflow", reason="needs the extra mlflow")
    if request.param == "sqlite":
        for needed in ("sqlalchemy", "alembic"):
            pytest.importorskip(needed, reason="MLflow keeps runs in SQLite by it")
        module.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
        # Not by set_experiment, which would hold for the whole process, so for other stores too.
        here = module.create_experiment("here", artifact_location=(tmp_path / "files").as_uri())
        monkeypatch.setenv("MLFLOW_EXPERIMENT_ID", here)
    else:
        module.set_tracking_uri((tmp_path / "runs").as_uri())
    yield module
    while module.active_run():
        module.end_run()
    module.set_tracking_uri(None)


@pytest.mark.filterwarnings("ignore::FutureWarning:mlflow", "ignore::DeprecationWarning")
def test_a_real_run(mlflow: Any, audit_of: Any) -> None:
    found = audit_of([300, 500], [1000, 1000])
    with mlflow.start_run() as run:
        logged = log_mlflow(found, RULES)
    data = mlflow.get_run(run.info.run_id).data
    assert data.metrics == pytest.approx(logged)
    assert data.tags["isonomy.verdict"] == "violated"
    files = {f.path for f in mlflow.MlflowClient().list_artifacts(run.info.run_id, "fair")}
    assert files == {f"fair/{n}" for n in ("audit.html", "audit.json", "check.json", "check.md")}
    kept = mlflow.artifacts.load_dict(f"runs:/{run.info.run_id}/fair/audit.json")
    assert kept == json.loads(json.dumps(found.to_dict()))
    page = mlflow.artifacts.load_text(f"runs:/{run.info.run_id}/fair/audit.html")
    assert "<h1>Audit</h1>" in page

    with mlflow.start_run() as other:
        log_mlflow(found, prefix="test/sex")
    assert "isonomy.verdict" not in mlflow.get_run(other.info.run_id).data.tags
    log_mlflow(check(found, RULES), run_id=other.info.run_id)
    assert mlflow.get_run(other.info.run_id).data.tags["isonomy.verdict"] == "violated"


@pytest.mark.filterwarnings("ignore::FutureWarning:mlflow", "ignore::DeprecationWarning")
def test_mlflows_own_gate_takes_the_metrics(mlflow: Any, audit_of: Any) -> None:
    from mlflow.models import EvaluationResult, MetricThreshold

    name = "fair.statistical_parity_difference.sex"
    limit = {
        f"{name}.high": MetricThreshold(threshold=0.1, greater_is_better=False),
        f"{name}.low": MetricThreshold(threshold=-0.1, greater_is_better=True),
    }
    with mlflow.start_run():
        good = log_mlflow(audit_of([490, 500], [1000, 1000]))
    with mlflow.start_run():
        bad = log_mlflow(audit_of([300, 500], [1000, 1000]))
    mlflow.validate_evaluation_results(limit, EvaluationResult(metrics=good, artifacts={}))
    with pytest.raises(mlflow.exceptions.MlflowException, match=r"sex\.low"):
        mlflow.validate_evaluation_results(limit, EvaluationResult(metrics=bad, artifacts={}))
