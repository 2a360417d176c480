"""A policy to begin with: one that an audit passes as it is."""

import math

from isonomy.audit import FEWEST_ROWS, Audit
from isonomy.errors import InputError
from isonomy.gate.policy import Columns, Policy
from isonomy.gate.run import check

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
