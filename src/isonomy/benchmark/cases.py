"""From the records of a benchmark to arrays: the repeats of each method stacked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy._groups import sort_key
from isonomy.errors import InputError
from isonomy.metrics import JointCounts, get_metric
from isonomy.store import Record
from isonomy.tradeoff import Baseline, Frontier
from isonomy.tradeoff.frontier import CONSTRAINT_OF
from isonomy.tradeoff.verdict import measure

ORIGINAL = "unmitigated"
"""The label of the original model's runs."""
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
        """Return the case of some repeats, in the order given."""
        at = [self.repeats.index(r) for r in repeats]
        joint = self.joint.map_cells(lambda cells: cells[at])
        return Case(
            self.method, joint, tuple(repeats), tuple(self.rows[k] for k in at), self.seconds
        )


def cases_of(records: Iterable[Record]) -> dict[str, Case]:
    """Stack the repeats of every method; a group that a test set lacks is an empty one there."""
    runs: dict[str, dict[int, tuple[Record, JointCounts]]] = {}
    for record in records:
        if record.status != "ok" or record.counts is None or record.repeat is None:
            continue
        by_repeat = runs.setdefault(record.mitigator, {})
        if record.repeat in by_repeat:
            raise InputError(
                f"A method must have one run per repeat; {record.mitigator!r} has several: give "
                "the records of one dataset, attribute and model."
            )
        by_repeat[record.repeat] = record, record.counts
    every = {g for by in runs.values() for _, counts in by.values() for g in counts.groups}
    groups = tuple(sorted(every, key=sort_key))
    cases = {}
    for method, by_repeat in runs.items():
        repeats = tuple(sorted(by_repeat))
        ordered = [by_repeat[r][0] for r in repeats]
        joint = JointCounts.stack([by_repeat[r][1].with_groups(groups) for r in repeats])
        seconds = float(np.mean([record.seconds for record in ordered]))
        cases[method] = Case(method, joint, repeats, tuple(r.rows for r in ordered), seconds)
    return cases


def check_paired(one: Case, other: Case) -> None:
    """Raise unless two methods were tested on the same rows in the same repeats."""
    if one.repeats != other.repeats or one.rows != other.rows:
        raise InputError(
            f"A paired test needs the same test rows on both sides; {one.method!r} and "
            f"{other.method!r} were tested on different ones: compare methods with one "
            "preparation and splitter."
        )


# ---------------------------------------------------------------------- the second baseline


def frontier_specs(fairness: str) -> dict[str, str]:
    """Return the runs that trace the post-processing frontier: label and mitigator.

    Group thresholds on the original model's scores at several disparities allowed; none for a
    metric that thresholds cannot be held to.
    """
    constraint = CONSTRAINT_OF.get(get_metric(fairness).name)
    name = "fairness_constrained_thresholds"
    return {
        f"{FRONTIER}(tolerance={t:g})": f"{name}(constraint={constraint}, tolerance={t:g})"
        for t in (TOLERANCES if constraint else ())
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
        """Return the frontier through the means over some repeats; the model as it is belongs to it."""
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
    """Return the runs of the second baseline; None where there are none in the same repeats."""
    metrics = baseline.performance_metric, baseline.fairness_metric
    points = []
    for label, case in cases.items():
        if label.startswith(f"{FRONTIER}(") and case.repeats == original.repeats:
            y, x = measure(case.joint.select(*examined).method, *metrics)
            if np.isfinite([y, x]).all():
                points.append((float(label.partition("tolerance=")[2].rstrip(")")), y, x))
    as_is = measure(original.joint.select(*examined).base, *metrics)
    if not points or not np.isfinite(as_is).all():
        return None
    points.sort(key=lambda point: point[0])
    tolerance, performance, bias = (np.array(column) for column in zip(*points, strict=True))
    return FrontierRuns(baseline, original.repeats, tolerance, performance, bias, as_is)
