"""A policy to begin with: one that an audit passes as it is."""

import math
from collections.abc import Sequence

from isonomy.audit import FEWEST_ROWS, Audit
from isonomy.audit.labelled import audit_table, file_has_labels
from isonomy.errors import InputError
from isonomy.gate.policy import Columns, Policy
from isonomy.gate.run import check
from isonomy.metrics import get_metric

DEFAULT_METRICS = (
    "statistical_parity_difference",
    "equal_opportunity_difference",
    "false_positive_rate_difference",
)
"""What a new policy looks at: a gate on few metrics sees more than one on many."""


def passing_policy(found: Audit, *, data: Columns | None = None) -> Policy:
    """Return a policy that an audit passes: its ranges, widened to today's intervals where needed.

    Metrics that the audit cannot decide whatever the range (too few rows or events) are left out.

    Parameters
    ----------
    found : Audit
    data : Columns, optional
        What the columns of its file are; goes into the policy.

    Examples
    --------
    >>> from isonomy import audit
    >>> sex, y = ["f", "m"] * 400, [0, 0, 1, 1] * 200
    >>> found = audit(y, y, sensitive_features={"sex": sex}, metrics=["spd"], privileged="m")
    >>> dict(passing_policy(found).metrics)
    {'statistical_parity_difference': (-0.1, 0.1)}
    """
    ranges: dict[str, tuple[float, float]] = {}
    for name, (low, high) in found.settings["thresholds"].items():
        rows = [f for f in (*found.metrics, *found.comparisons) if f.name == name]
        ends = [e for f in rows for e in (f.low, f.high)]
        if rows and all(map(math.isfinite, ends)) and min(f.rows or 0 for f in rows) >= FEWEST_ROWS:
            lowest, highest = (
                turn(100 * end) / 100
                for turn, end in ((math.floor, min(ends)), (math.ceil, max(ends)))
            )
            ranges[name] = (min(low, lowest), max(high, highest))
    attributes = found.counts.attributes
    while ranges:
        policy = Policy(
            attributes=attributes,
            metrics=ranges,
            confidence=float(found.settings["confidence"]),
            intersections=any(" & ".join(attributes) == f.attribute for f in found.metrics)
            and len(attributes) > 1,
            data=data or Columns(),
        )
        undecided = {o.metric for o in check(found, policy).outcomes if o.state != "within"}
        if not undecided:
            return policy
        ranges = {name: ends for name, ends in ranges.items() if name not in undecided}
    raise InputError(
        "A policy needs a metric that this audit can decide; none has enough rows in every group: "
        "merge groups, or name other metrics (--metric)."
    )


def first_policy(
    columns: Columns, attributes: Sequence[str], metrics: Sequence[str] = ()
) -> tuple[Policy, list[str]]:
    """Audit a file and return a policy that it passes today, with the metrics that were left out.

    Parameters
    ----------
    columns : Columns
        The file, and what its columns are.
    attributes : sequence of str
        The protected attributes.
    metrics : sequence of str, optional
        By default ``DEFAULT_METRICS``, without labels those that need none.
    """
    assert columns.file is not None
    label = None if columns.label == Columns.label else columns.label
    prediction = None if columns.prediction == Columns.prediction else columns.prediction
    chosen = list(metrics or DEFAULT_METRICS)
    if not metrics and not file_has_labels(columns.file, columns.table, label, prediction):
        chosen = [m for m in DEFAULT_METRICS if not get_metric(m).labels]
    found = audit_table(
        columns.file,
        label=label,
        prediction=prediction,
        sensitive_features=attributes,
        weight=columns.weight,
        table=columns.table,
        bins={a: list(cuts) for a, cuts in columns.bins.items()},
        favorable=list(columns.favorable) or None,
        privileged={a: list(v) for a, v in columns.privileged.items()} or None,
        metrics=chosen,
    )
    made = passing_policy(found, data=columns)
    return made, sorted({f.name for f in found.judged()} - set(made.metrics))
