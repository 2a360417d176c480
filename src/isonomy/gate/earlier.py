"""Whether gaps have become wider than in an earlier audit, both with their uncertainty.

What is tested, for every metric and attribute: by how much the size of the gap has grown, its
distance from 0 (of a ratio r, 1 - min(r, 1/r)). The two audits are taken for independent samples.
Where they share rows and errors go together, that is on the safe side for a gap that has kept its
sign; for one whose sign has turned it is not.

* **Shown to be worse**: the lower limit of the growth exceeds the margin. Limits are those of all
  compared gaps together (Bonferroni).
* **Shown to be no worse**: the upper limit of the growth, of this gap by itself, is at most the
  margin. All gaps must be, so no adjustment is needed.
* Else there is too little evidence.

Between a privileged group and the others a gap has a sign, and the limits of its size follow from
those of the difference and the sum of both gaps (MOVER): |a| - |b| is the larger of a - |b| and
-a - |b|, and each of these the smaller of two signed sums. Where a gap is the largest of several,
the limits of the two sizes are set against each other.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from isonomy._validate import listed, match_values, unknown_name
from isonomy.audit import FEWEST_ROWS, Audit
from isonomy.audit.judge import gap
from isonomy.errors import InputError
from isonomy.gate.decision import State
from isonomy.gate.policy import Earlier, Policy
from isonomy.gate.result import Outcome
from isonomy.metrics import Counts, Metric, get_metric
from isonomy.metrics.gaps import default_comparison
from isonomy.stats.proportions import mover_difference

Estimate = Sequence[float]
"""A value, its lower and its upper limit."""


def read_earlier(path: Path, now: Counts, metrics: Iterable[str] = ()) -> Counts:
    """Return the counts of an audit that ``isonomy audit --json`` wrote, grouped as those of now.

    Raise where one of the metrics needs labels and that audit had none.
    """
    if not path.is_file():
        near = sorted(str(p) for p in path.parent.glob("*.json"))
        raise unknown_name("earlier audit", str(path), near)
    what = f"The earlier audit {str(path)!r}"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise InputError(
            f"{what} must be a JSON file that isonomy audit --json wrote; it cannot be read: {error}."
        ) from None
    held = data.get("counts") if isinstance(data, dict) else None
    if not isinstance(held, dict):
        raise InputError(
            f"{what} must be a JSON file that isonomy audit --json wrote; it holds no counts: write "
            f"it again with this version."
        )
    unknown = [m for m in metrics if get_metric(m).labels] if "ratios" in data else []
    if unknown:
        raise InputError(
            f"{what} must have true labels for {listed(unknown)}; it is one of selections only: write "
            f"it again with --label."
        )
    missing = [a for a in now.attributes if a not in held.get("attributes", ())]
    if missing:
        raise InputError(
            f"{what} must be of the same attributes; it is of {listed(held.get('attributes', ()))} "
            f"and has no {listed(missing)}: write it again with them."
        )
    try:
        known = Counts.from_dict(held, favorable=data.get("favorable"))
        before = known.select(*now.attributes)
        values = {a: [g[k] for g in before.groups] for k, a in enumerate(before.attributes)}
        same = match_values(now.favorable, before.classes, what="favourable label")
        privileged = {
            a: match_values(v, sorted(set(values[a]), key=str), what=f"value of {a}")
            for a, v in now.privileged.items()
        }
    except InputError as error:
        raise InputError(f"{what} cannot be compared with this one: {error}") from None
    return replace(before, favorable=same, privileged=privileged)


def compare_earlier(found: Audit, policy: Policy, earlier: Earlier) -> list[Outcome]:
    """Compare every gap that the policy asks about with that of an earlier audit."""
    now = found.counts.select(*policy.attributes)
    before = read_earlier(policy.beside(earlier.audit), now, policy.metrics)
    views = [(a, now.select(a), before.select(a)) for a in policy.attributes]
    if policy.intersections and len(views) > 1:
        views.append((" & ".join(policy.attributes), now, before))
    asked = [(get_metric(m), *view) for view in views for m in policy.metrics]
    together = 1 - (1 - policy.confidence) / len(asked)
    return [compare_gap(*one, policy, earlier, together) for one in asked]


def compare_gap(
    metric: Metric,
    view: str,
    now: Counts,
    before: Counts,
    policy: Policy,
    earlier: Earlier,
    together: float,
) -> Outcome:
    """Compare one gap of one attribute; ``together`` is the level at which worse is shown."""
    how = default_comparison(now)
    if how != default_comparison(before):
        raise InputError(
            f"The earlier audit must compare the groups of {view} as this one does; only one of them "
            f"has both privileged and other groups."
        )
    signed = how == "privileged" and metric.signed and metric.parts is not None

    def growth_at(confidence: float) -> tuple[tuple[float, float, float], int]:
        pair, rows = [], []
        for counts in (now, before):
            drawn = partial(counts.resample, random_state=0)
            f = gap(metric, view, counts, drawn, how, None, confidence)
            pair.append([_from_ideal(metric, x) for x in (f.value, f.low, f.high)])
            rows.append(int(counts.n.sum()) if f.rows is None else f.rows)
        return growth(pair[0], pair[1], signed=signed), min(rows)

    (value, low, high), rows = growth_at(policy.confidence)
    surely = growth_at(together)[0][1]
    fewest = max(FEWEST_ROWS, policy.fewest_rows)
    state: State = "too little evidence"
    if not np.isfinite(value):
        reason = "one of the two gaps is undefined"
    elif rows < fewest:
        reason = f"a rate rests on {rows} rows, fewer than {fewest}"
    elif surely > earlier.margin:
        state, reason = "violated", "the gap is shown to have become wider than the margin"
    elif high <= earlier.margin:
        state, reason = "within", "the gap is shown to be no wider than before plus the margin"
    else:
        reason = "it is shown neither to be wider nor to be no wider"
    return Outcome(
        test="no worse",
        metric=metric.name,
        attribute=view,
        comparison="unprivileged vs privileged" if how == "privileged" else "largest vs smallest",
        value=value,
        low=low,
        high=high,
        accept_low=None,
        accept_high=earlier.margin,
        rows=rows,
        state=state,
        thin_evidence=earlier.thin_evidence,
        reason=reason,
    )


def _from_ideal(metric: Metric, value: float) -> float:
    """Return how far a gap is from its ideal, with a sign; a ratio and its inverse are as far.

    Examples
    --------
    >>> di = get_metric("disparate_impact")
    >>> _from_ideal(di, 0.8), _from_ideal(di, 1.25), _from_ideal(di, float("inf"))
    (-0.2, 0.2, 1.0)
    """
    if metric.goal != "one":
        return value
    return round(value - 1, 12) if value <= 1 else round(1 - 1 / value, 12)


def growth(now: Estimate, before: Estimate, *, signed: bool) -> tuple[float, float, float]:
    """Return by how much the size of a gap has grown, with limits.

    Each limit errs in at most the share that an interval at the same confidence misses the truth.

    Parameters
    ----------
    now, before : tuple of float
        Value, lower and upper limit of each gap, 0 where there is none.
    signed : bool
        Whether the gaps have signs, and limits as a smooth contrast has; else they are sizes.

    Examples
    --------
    >>> value, low, high = growth((-0.3, -0.35, -0.25), (0.1, 0.06, 0.14), signed=True)
    >>> round(value, 3), round(low, 3), round(high, 3)
    (0.2, 0.136, 0.264)
    """
    value = abs(now[0]) - abs(before[0])
    if not signed:
        (low, high), (other_low, other_high) = _size(now), _size(before)
        return value, low - other_high, high - other_low
    values, lows, highs = (np.array(column) for column in zip(now, before, strict=True))
    apart_low, apart_high = map(float, mover_difference(values, lows, highs, [1, -1]))
    sum_low, sum_high = map(float, mover_difference(values, lows, highs, [1, 1]))
    low = max(min(apart_low, sum_low), min(-sum_high, -apart_high))
    high = max(min(apart_high, sum_high), min(-sum_low, -apart_low))
    return value, low, high


def _size(estimate: Estimate) -> tuple[float, float]:
    """Return the limits of the size of a gap."""
    _, low, high = estimate
    return (0.0 if low < 0 < high else min(abs(low), abs(high))), max(abs(low), abs(high))
