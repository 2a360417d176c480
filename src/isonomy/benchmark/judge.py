"""Every applicable method on one's own data: the judgement behind ``isonomy benchmark``.

A pure function of records. What is run, and where, is decided elsewhere; what is shown, too.
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._validate import listed
from isonomy.benchmark.cases import FRONTIER, Case, cases_of, frontier_runs
from isonomy.benchmark.measure import (
    Settings,
    above_frontier,
    judge_method,
    ranked,
    tested,
)
from isonomy.benchmark.plan import BenchmarkPlan, plan_benchmark
from isonomy.benchmark.recommend import (
    Change,
    MethodVerdict,
    Other,
    Recommendation,
    recommend,
    word_of,
)
from isonomy.benchmark.words import headline, metric_words, sentences
from isonomy.errors import InputError, NotApplicable
from isonomy.metrics import get_metric
from isonomy.stats import CriticalDifference, Ranking
from isonomy.store.record import Record
from isonomy.tradeoff import Baseline, Frontier

__all__ = [
    "Benchmark",
    "BenchmarkPlan",
    "Change",
    "MORE",
    "MethodVerdict",
    "Other",
    "Recommendation",
    "STRATEGIES",
    "Section",
    "headline",
    "judge_benchmark",
    "metric_words",
    "plan_benchmark",
    "recommend",
    "sentences",
]

Floats = NDArray[np.float64]

STRATEGIES = ("majority", "random", "minority")
"""The mutation strategies; the first makes the strictest baseline and decides."""

MORE: tuple[str, ...] = (
    "accuracy",
    "macro_recall",
    "macro_f1(zero_division=0)",
    "mcc(zero_division=0)",
    "statistical_parity_difference",
    "average_absolute_odds_difference",
    "equal_opportunity_difference",
    "error_rate_difference",
    "disparate_impact",
)
"""Metrics told of every method besides the two that decide."""

ORIGINAL = "unmitigated"
_REPETITIONS = (
    1000  # mutations per degree and split: methods close together are ranked by this line
)


@dataclass(frozen=True, eq=False)
class Section:
    """One protected attribute and one base model: both baselines, all methods, what to choose.

    Attributes
    ----------
    attribute, model : str
    baselines : mapping of strategy to Baseline
    frontier : Frontier or None
        What group thresholds on the same model reach.
    verdicts : tuple of MethodVerdict
        Judged methods, the best first; then those that could not be judged.
    recommendation : Recommendation
    repeats : int
        Splits in which the original model ran.
    notes : tuple of str
    critical, ranking : CriticalDifference and Ranking, or None
        The methods ranked by their advantage, repeat by repeat.
    """

    attribute: str
    model: str
    baselines: Mapping[str, Baseline]
    frontier: Frontier | None
    verdicts: tuple[MethodVerdict, ...]
    recommendation: Recommendation
    repeats: int
    notes: tuple[str, ...] = ()
    critical: CriticalDifference | None = None
    ranking: Ranking | None = None

    @property
    def baseline(self) -> Baseline:
        """The baseline that decides."""
        return self.baselines[STRATEGIES[0]]

    @property
    def judged(self) -> tuple[MethodVerdict, ...]:
        """The methods that ran."""
        return tuple(v for v in self.verdicts if v.status == "ok")

    def verdict(self, method: str) -> MethodVerdict:
        """Give what is said of one method."""
        return next(v for v in self.verdicts if v.method == method)


@dataclass(frozen=True, eq=False)
class Benchmark:
    """What a benchmark found.

    Attributes
    ----------
    data : str
        The dataset's name or file.
    performance, fairness : str
        The metrics that decide.
    sections : tuple of Section
        One per protected attribute and model.
    level, sure, resamples, max_loss
        How it was judged.
    notes : tuple of str
    """

    data: str
    performance: str
    fairness: str
    sections: tuple[Section, ...]
    level: float = 0.95
    sure: float = 0.95
    resamples: int = 500
    max_loss: float | None = None
    notes: tuple[str, ...] = ()

    def word(self, verdict: MethodVerdict) -> str:
        """Say what a method is: worth it, perhaps, not worth it, no use, not judged."""
        return word_of(verdict, sure=self.sure, max_loss=self.max_loss)

    def frame(self) -> pd.DataFrame:
        """Give one row per attribute, model and method."""
        rows = [
            {
                "attribute": s.attribute,
                "model": s.model,
                "method": v.method,
                "word": self.word(v),
                self.performance: v.performance.after,
                "performance_change": v.performance.by,
                "bias": v.bias.after,
                "bias_change": v.bias.by,
                "region": v.region,
                "worth": v.worth,
                "advantage": v.advantage,
                "above_frontier": v.above_frontier,
                "status": v.status,
                "reason": v.reason,
            }
            for s in self.sections
            for v in s.verdicts
        ]
        return pd.DataFrame(rows)

    def summary(self) -> dict[str, Any]:
        """Give everything as plain data; undefined is None."""
        return {
            "data": self.data,
            "performance": self.performance,
            "fairness": self.fairness,
            "level": self.level,
            "sure": self.sure,
            "resamples": self.resamples,
            "max_loss": self.max_loss,
            "notes": list(self.notes),
            "sections": [
                {
                    "attribute": s.attribute,
                    "model": s.model,
                    "repeats": s.repeats,
                    "recommendation": s.recommendation.data(),
                    "baselines": {
                        name: {
                            "degree": line.degrees.tolist(),
                            "performance": _plain(line.performance),
                            "bias": _plain(line.bias),
                            "reason": line.reason,
                        }
                        for name, line in s.baselines.items()
                    },
                    "frontier": None
                    if s.frontier is None
                    else {
                        "tolerance": s.frontier.tolerance.tolist(),
                        "performance": _plain(s.frontier.performance),
                        "bias": _plain(s.frontier.bias),
                    },
                    "methods": [{**v.data(), "word": self.word(v)} for v in s.verdicts],
                    "notes": list(s.notes),
                }
                for s in self.sections
            ],
        }

    def _repr_html_(self) -> str:
        return self.frame().to_html(index=False, float_format="{:.4f}".format)


def _plain(values: Floats) -> list[float | None]:
    return [None if v != v else float(v) for v in values]


def judge_benchmark(
    records: Iterable[Record],
    *,
    performance: str = "accuracy",
    fairness: str = "statistical_parity_difference",
    more: Sequence[str] = MORE,
    resamples: int = 500,
    level: float = 0.95,
    sure: float = 0.95,
    max_loss: float | None = None,
    random_state: int = 0,
) -> Benchmark:
    """Judge all methods of a benchmark on equal terms.

    Parameters
    ----------
    records : iterable of Record
        Runs of one dataset: ``unmitigated`` and the methods, with their joint counts; those whose
        label begins with ``frontier(`` trace the second baseline.
    performance, fairness : str
        The two metrics that decide: one to maximise, one with an ideal value.
    more : sequence of str
        Further metrics to report.
    resamples : int
        Paired bootstrap resamples of repeats and test rows.
    level : float
        Of the intervals.
    sure : float
        Probability of a good or win-win trade-off that makes a method worth it.
    max_loss : float, optional
        The most performance that may be given up.
    random_state : int
        Seed.

    Examples
    --------
    >>> from isonomy.metrics import JointCounts
    >>> rng = np.random.default_rng(0)
    >>> runs = []
    >>> for repeat in range(3):
    ...     s = rng.integers(0, 2, 2000)
    ...     y = (rng.uniform(size=2000) < 0.3 + 0.1 * s).astype(int)
    ...     base = np.where(rng.uniform(size=2000) < 0.8, y, s)
    ...     fairer = np.where(rng.uniform(size=2000) < 0.95, base, y)
    ...     for name, predicted in (("unmitigated", base), ("reweighing", fairer)):
    ...         joint = JointCounts.from_labels(
    ...             y, base, predicted, sensitive_features={"s": s}, privileged={"s": 1}
    ...         )
    ...         runs.append(Record("demo", "d", "s", "lr", name, repeat, counts=joint))
    >>> judge_benchmark(runs, resamples=100).sections[0].recommendation.method
    'reweighing'

    References
    ----------
    Hort, Zhang, Sarro, Harman 2021, Fairea; Cruz, Hardt 2024, Unprocessing Seven Years of
    Algorithmic Fairness.
    """
    good, fair = get_metric(performance), get_metric(fairness)
    if good.goal != "max" or good.needs != "counts":
        raise NotApplicable(
            f"A benchmark is decided by a performance metric of counts to maximise; {good.name} "
            f"is to {good.goal} and needs {good.needs}."
        )
    runs = list(records)
    data = list(dict.fromkeys(r.dataset for r in runs))
    if len(data) != 1:
        raise InputError(f"The records must be of one dataset; got {listed(data)}.")
    how = Settings(STRATEGIES[0], tuple(more), resamples, level)
    choose = {"sure": sure, "max_loss": max_loss}
    sections, notes = [], []
    for key in dict.fromkeys((r.attributes, r.model) for r in runs):
        mine = [r for r in runs if (r.attributes, r.model) == key]
        if not any(r.mitigator == ORIGINAL and r.status == "ok" for r in mine):
            told = [r.reason for r in mine if r.mitigator == ORIGINAL and r.reason]
            notes.append(
                f"{key[0]}, {key[1]}: the original model must run before methods are judged; "
                f"{told[0] if told else 'it did not run'}."
            )
            continue
        sections.append(_section(mine, key, (good.name, fair.name), random_state, how, choose))
    if not sections:
        raise InputError(notes[0] if notes else "There must be records to judge; there are none.")
    return Benchmark(
        data[0],
        good.name,
        fair.name,
        tuple(sections),
        level,
        sure,
        resamples,
        max_loss,
        tuple(notes),
    )


def _section(
    runs: list[Record],
    key: tuple[str, str],
    metrics: tuple[str, str],
    seed: int,
    how: Settings,
    choose: dict[str, Any],
) -> Section:
    def rng(name: str) -> np.random.Generator:
        # by name: what is drawn for one method does not depend on which others were run
        return np.random.default_rng([seed, zlib.crc32("/".join((*key, name)).encode())])

    cases = cases_of(runs)
    original = cases[ORIGINAL]
    examined = key[0].split("+")
    counts = original.joint.select(*examined).base
    baselines = {
        strategy: Baseline.from_counts(
            counts,
            performance=metrics[0],
            fairness=metrics[1],
            strategy=strategy,
            repetitions=_REPETITIONS,
            random_state=rng(strategy),
        )
        for strategy in STRATEGIES
    }
    verdicts, notes = [], []
    for name, case in cases.items():
        if name == ORIGINAL or name.startswith(f"{FRONTIER}("):
            continue
        shared = [r for r in case.repeats if r in original.repeats]
        mine, base = case.keep(shared), original.keep(shared)
        verdicts.append(judge_method(mine, base, examined, baselines, rng(name), how))
        if len(shared) < len(original.repeats):
            why = next((r.reason for r in runs if r.mitigator == name and r.status != "ok"), "")
            notes.append(
                f"{name} ran in {len(shared)} of {len(original.repeats)} repeats: "
                f"{why or 'unfinished'}"
            )
    second = frontier_runs(cases, original, examined, baselines[STRATEGIES[0]])
    if second is not None:
        verdicts = above_frontier(verdicts, cases, examined, second, rng(FRONTIER), how)
    verdicts = tested(verdicts)
    verdicts.sort(key=lambda v: -v.advantage if v.advantage == v.advantage else np.inf)
    return Section(
        *key,
        baselines,
        None if second is None else second.at(np.arange(len(original.repeats))),
        (*verdicts, *_unjudged(runs, cases)),
        recommend(verdicts, **choose, reason=baselines[STRATEGIES[0]].reason),
        len(original.repeats),
        tuple(notes),
        *ranked(verdicts),
    )


def _unjudged(runs: list[Record], cases: dict[str, Case]) -> list[MethodVerdict]:
    """Name the methods without a single good run, and why."""
    out: dict[str, MethodVerdict] = {}
    for run in runs:
        name = run.mitigator
        if name in cases or name in out or name.startswith(f"{FRONTIER}("):
            continue
        if run.status != "ok":
            out[name] = MethodVerdict(name, status=run.status, reason=run.reason)
    return list(out.values())
