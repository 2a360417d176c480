"""From the records of a benchmark to arrays: repeats stacked, points, lines and resamples."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isonomy._groups import sort_key
from isonomy.errors import InputError
from isonomy.metrics import JointCounts, get_metric
from isonomy.stats.intervals import percentile_interval
from isonomy.store.record import Record
from isonomy.tradeoff import Baseline, Frontier
from isonomy.tradeoff.baseline import bias_of
from isonomy.tradeoff.frontier import CONSTRAINT_OF
from isonomy.tradeoff.verdict import measure

__all__ = [
    "Case",
    "FRONTIER",
    "FrontierRuns",
    "advantage",
    "cases_of",
    "check_paired",
    "frontier_runs",
    "frontier_specs",
    "interval",
    "metric_values",
    "other_draws",
]

Floats = NDArray[np.float64]

FRONTIER = "frontier"
"""Labels of runs that trace the second baseline begin so: ``frontier(tolerance=0.05)``."""

TOLERANCES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2)


@dataclass(frozen=True, eq=False)
class Case:
    """The repeats of one method that went well: joint counts with a leading axis of repeats."""

    method: str
    joint: JointCounts
    repeats: tuple[int, ...]
    rows: tuple[str, ...]
    seconds: float

    def keep(self, repeats: Sequence[int]) -> "Case":
        """Keep some repeats, in the order given."""
        at = [self.repeats.index(r) for r in repeats]
        one = self.joint
        cut = JointCounts(
            one.n[at],
            one.attributes,
            one.groups,
            one.classes,
            one.favorable,
            one.privileged,
            None if one.w is None else one.w[at],
            None if one.w2 is None else one.w2[at],
        )
        rows = tuple(self.rows[k] for k in at)
        return Case(self.method, cut, tuple(repeats), rows, self.seconds)


def cases_of(records: Iterable[Record]) -> dict[str, Case]:
    """Stack the repeats of every method; a group that a test set lacks is an empty one there."""
    mine: dict[str, list[Record]] = {}
    for record in records:
        if record.status == "ok" and record.counts is not None and record.repeat is not None:
            mine.setdefault(record.mitigator, []).append(record)
    every = {g for runs in mine.values() for r in runs for g in _counts(r).groups}
    groups = tuple(sorted(every, key=sort_key))
    out = {}
    for method, runs in mine.items():
        runs.sort(key=lambda r: r.repeat if r.repeat is not None else -1)
        repeats = tuple(int(r.repeat) for r in runs if r.repeat is not None)
        if len(set(repeats)) != len(repeats):
            raise InputError(
                f"A method must have one run per repeat; {method!r} has several: give the records "
                "of one dataset, attribute and model."
            )
        joint = JointCounts.stack([_counts(r).with_groups(groups) for r in runs])
        seconds = float(np.mean([r.seconds for r in runs]))
        out[method] = Case(method, joint, repeats, tuple(r.rows for r in runs), seconds)
    return out


def _counts(record: Record) -> JointCounts:
    assert record.counts is not None
    return record.counts


def check_paired(one: Case, other: Case) -> None:
    """Raise unless two methods met the same test rows in the same repeats."""
    if one.repeats != other.repeats or one.rows != other.rows:
        raise InputError(
            f"A paired test needs the same test rows on both sides; {one.method!r} and "
            f"{other.method!r} were tested on different ones: compare methods with one "
            "preparation and splitter."
        )


def metric_values(joint: JointCounts, metric: str) -> tuple[Floats, Floats]:
    """Give a metric of the original and of the mitigated model, one value per leading index."""
    found = get_metric(metric)
    both = (found.fn(c, **found.parameters) for c in (joint.base, joint.method))
    values = [np.asarray(v, dtype=np.float64) for v in both]
    if found.kind != "performance":
        values = [bias_of(found, v) for v in values]
    return values[0], values[1]


def interval(values: Floats, level: float) -> tuple[float, float]:
    """Give a percentile interval, undefined where no value is known."""
    if not np.isfinite(values).any():
        return (float("nan"), float("nan"))
    low, high = percentile_interval(values, confidence=level)
    return float(low), float(high)


# ---------------------------------------------------------------------- the two baselines


def advantage(y: Floats, x: Floats, line_y: Floats, line_x: Floats) -> Floats:
    """Give the performance beyond a baseline's at the same bias, one baseline per point.

    Above the original model's bias the line goes on with its overall slope: a method that adds
    bias is charged for it at the price at which mutation would remove it.
    """
    out = np.full(y.shape, np.nan)
    for k in np.ndindex(y.shape):  # points, not rows
        across, up = line_x[k][::-1], line_y[k][::-1]
        rising = np.maximum.accumulate(across)
        first_x, first_y = line_x[k][0], line_y[k][0]
        at = float(np.interp(x[k], rising, up))
        if x[k] > first_x > line_x[k][-1]:
            slope = (first_y - line_y[k][-1]) / (first_x - line_x[k][-1])
            at = first_y + slope * (x[k] - first_x)
        out[k] = y[k] - at
    return out


def frontier_specs(fairness: str) -> dict[str, str]:
    """Name the runs that trace the post-processing frontier: label and mitigator.

    Group thresholds on the original model's scores at several disparities allowed; none for a
    metric that thresholds cannot be held to.
    """
    constraint = CONSTRAINT_OF.get(get_metric(fairness).name)
    if constraint is None:
        return {}
    name = "fairness_constrained_thresholds"
    return {
        f"{FRONTIER}(tolerance={t:g})": f"{name}(constraint={constraint}, tolerance={t:g})"
        for t in TOLERANCES
    }


@dataclass(frozen=True, eq=False)
class FrontierRuns:
    """The runs that trace the post-processing frontier: ``[tolerance, repeat]``."""

    baseline: Baseline
    repeats: tuple[int, ...]
    tolerance: Floats
    performance: Floats
    bias: Floats
    as_is: tuple[Floats, Floats]

    def at(self, chosen: NDArray[np.intp]) -> Frontier:
        """Lay the frontier through the means over some repeats; the model as it is belongs to it."""
        return Frontier(
            tolerance=self.tolerance,
            performance=self.performance[:, chosen].mean(axis=1),
            bias=self.bias[:, chosen].mean(axis=1),
            performance_metric=self.baseline.performance_metric,
            fairness_metric=self.baseline.fairness_metric,
            constraint=CONSTRAINT_OF[self.baseline.fairness_metric],
            as_is=(float(self.as_is[0][chosen].mean()), float(self.as_is[1][chosen].mean())),
        )


def frontier_runs(
    cases: Mapping[str, Case], original: Case, examined: Sequence[str], baseline: Baseline
) -> FrontierRuns | None:
    """Gather the runs of the second baseline; None where there are none in the same repeats."""
    metrics = baseline.performance_metric, baseline.fairness_metric
    found = []
    for label, case in cases.items():
        if label.startswith(f"{FRONTIER}(") and case.repeats == original.repeats:
            y, x = measure(case.joint.select(*examined).method, *metrics)
            if np.isfinite(y).all() and np.isfinite(x).all():
                found.append((float(label.partition("tolerance=")[2].rstrip(")")), y, x))
    as_is = measure(original.joint.select(*examined).base, *metrics)
    if not found or not np.isfinite(as_is).all():
        return None
    found.sort(key=lambda point: point[0])
    return FrontierRuns(
        baseline,
        original.repeats,
        np.array([t for t, *_ in found]),
        np.array([y for _, y, _ in found]),
        np.array([x for *_, x in found]),
        as_is,
    )


# ---------------------------------------------------------------------- unexamined attributes


def other_draws(
    joint: JointCounts, attribute: str, fairness: str, resamples: int, rng: np.random.Generator
) -> tuple[float, float, Floats]:
    """Give the bias by another attribute before and after, and resamples of its change."""
    mine = joint.select(attribute)
    before, after = metric_values(mine, fairness)
    drawn = metric_values(mine.resample(resamples, random_state=rng), fairness)
    change = (drawn[1] - drawn[0]).mean(axis=-1)
    return float(before.mean()), float(after.mean()), change
