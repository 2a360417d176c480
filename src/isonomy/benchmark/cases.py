"""From the records of a benchmark to arrays: the repeats of each method stacked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from isonomy._arrays import Floats
from isonomy._groups import sort_key
from isonomy.data.splits import SPLITTERS
from isonomy.errors import InputError
from isonomy.metrics import Counts, JointCounts, gap_of, get_metric
from isonomy.store import Record
from isonomy.tradeoff import Baseline, Frontier
from isonomy.tradeoff.frontier import CONSTRAINT_OF

ORIGINAL = "unmitigated"
"""The label of the original model's runs."""
MORE_SPLITS = "original, more splits"
"""The label of the original model's runs on further splits: is there a bias at all?"""

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
    test_share: float = 0.3

    def keep(self, repeats: Sequence[int]) -> "Case":
        """Return the case of some repeats, in the order given."""
        at = [self.repeats.index(r) for r in repeats]
        joint = self.joint.map_cells(lambda cells: cells[at])
        rows = tuple(self.rows[k] for k in at)
        return replace(self, joint=joint, repeats=tuple(repeats), rows=rows)


def share_tested(splitter: str) -> float:
    """Return the share of the rows that a splitter tests on; ours where it is not known.

    Examples
    --------
    >>> share_tested("holdout")
    0.3
    """
    make = SPLITTERS[splitter if splitter in SPLITTERS else "holdout"]
    train, test, _ = make(1000, "rows", 0, 0)
    return len(test) / (len(test) + len(train))


def points(counts: Counts, performance: str, fairness: str) -> tuple[Floats, Floats]:
    """Return performance and the signed gap of each repeat, NaN where undefined.

    Means are taken of gaps with their signs: a mean of sizes never falls below what chance makes
    of no gap at all.
    """
    good, fair = get_metric(performance), get_metric(fairness)
    # through the functions: an undefined value is the caller's to report, not to warn about
    y = np.asarray(good.fn(counts, **good.parameters), dtype=np.float64)
    return y, gap_of(fair, fair.fn(counts, **fair.parameters))


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
        share = share_tested(ordered[0].splitter)
        cases[method] = Case(method, joint, repeats, tuple(r.rows for r in ordered), seconds, share)
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
    """The runs that trace the post-processing frontier: ``[tolerance, repeat]``, gaps signed."""

    baseline: Baseline
    repeats: tuple[int, ...]
    tolerance: Floats
    performance: Floats
    gap: Floats
    as_is: tuple[Floats, Floats]

    def at(self, weights: Floats) -> Frontier:
        """Return the frontier through weighted means; the model as it is belongs to it."""
        return Frontier(
            tolerance=self.tolerance,
            performance=self.performance @ weights,
            bias=np.abs(self.gap @ weights),
            performance_metric=self.baseline.performance_metric,
            fairness_metric=self.baseline.fairness_metric,
            constraint=CONSTRAINT_OF[self.baseline.fairness_metric],
            as_is=(float(self.as_is[0] @ weights), abs(float(self.as_is[1] @ weights))),
        )


def frontier_runs(
    cases: Mapping[str, Case], original: Case, examined: Sequence[str], baseline: Baseline
) -> FrontierRuns | None:
    """Return the runs of the second baseline; None where there are none in the same repeats."""
    metrics = baseline.performance_metric, baseline.fairness_metric
    runs = []
    for label, case in cases.items():
        if label.startswith(f"{FRONTIER}(") and case.repeats == original.repeats:
            y, x = points(case.joint.select(*examined).method, *metrics)
            if np.isfinite([y, x]).all():
                runs.append((float(label.partition("tolerance=")[2].rstrip(")")), y, x))
    as_is = points(original.joint.select(*examined).base, *metrics)
    if not runs or not np.isfinite(as_is).all():
        return None
    runs.sort(key=lambda run: run[0])
    tolerance, performance, gap = (np.array(column) for column in zip(*runs, strict=True))
    return FrontierRuns(baseline, original.repeats, tolerance, performance, gap, as_is)
