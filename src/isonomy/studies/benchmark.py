"""Every applicable method on one's own data: the judgement behind ``isonomy benchmark``.

A pure function of records. What is run, and where, is decided elsewhere; what is shown, too.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._validate import listed
from isonomy.errors import InputError, NotApplicable
from isonomy.metrics import get_metric
from isonomy.mitigators import MITIGATORS
from isonomy.stats import cliffs_delta, holm, scott_knott_esd, wilcoxon
from isonomy.studies._bench_cases import (
    FRONTIER,
    Case,
    advantage,
    cases_of,
    check_paired,
    frontier_of,
    interval,
    metric_values,
    other_draws,
)
from isonomy.studies._bench_plan import BenchmarkPlan, plan_benchmark
from isonomy.studies._bench_verdict import (
    Change,
    MethodVerdict,
    Other,
    Recommendation,
    recommend,
    word_of,
)
from isonomy.studies._bench_words import headline, metric_words, sentences
from isonomy.study.record import Record, split_variant
from isonomy.tradeoff import Baseline, Frontier
from isonomy.tradeoff.regions import REGIONS, place, region_names
from isonomy.tradeoff.verdict import Draws, is_constant, measure, paired_draws

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
    """

    attribute: str
    model: str
    baselines: Mapping[str, Baseline]
    frontier: Frontier | None
    verdicts: tuple[MethodVerdict, ...]
    recommendation: Recommendation
    repeats: int
    notes: tuple[str, ...] = ()

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
    >>> from isonomy.tradeoff import JointCounts
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
    options = {
        "resamples": resamples,
        "level": level,
        "sure": sure,
        "max_loss": max_loss,
        "more": tuple(more),
    }
    sections = [
        _section(
            [r for r in runs if (r.attributes, r.model) == key],
            *key,
            (good.name, fair.name),
            np.random.default_rng([random_state, k]),
            options,
        )
        for k, key in enumerate(dict.fromkeys((r.attributes, r.model) for r in runs))
    ]
    return Benchmark(
        data[0], good.name, fair.name, tuple(sections), level, sure, resamples, max_loss
    )


def _section(
    runs: list[Record],
    attribute: str,
    model: str,
    metrics: tuple[str, str],
    rng: np.random.Generator,
    options: dict[str, Any],
) -> Section:
    cases = cases_of(runs)
    if ORIGINAL not in cases:
        told = next(
            (r.reason for r in runs if r.mitigator == ORIGINAL and r.reason), "it did not run"
        )
        raise InputError(
            f"The original model ({model}) must run before methods are judged; {told}."
        )
    original = cases[ORIGINAL]
    mine = {name: case for name, case in cases.items() if name != ORIGINAL}
    examined = attribute.split("+")
    counts = original.joint.select(*examined)
    baselines = {
        strategy: Baseline.from_counts(
            counts.base,
            performance=metrics[0],
            fairness=metrics[1],
            strategy=strategy,
            random_state=rng,
        )
        for strategy in STRATEGIES
    }
    frontier = _whole_frontier(cases, attribute, baselines, original)
    verdicts, notes = [], []
    for name, case in mine.items():
        if name.startswith(f"{FRONTIER}("):
            continue
        shared = [r for r in case.repeats if r in original.repeats]
        verdict = _verdict(
            case.keep(shared), original.keep(shared), examined, baselines, rng, options
        )
        verdicts.append(verdict)
        if len(shared) < len(original.repeats):
            why = next((r.reason for r in runs if r.mitigator == name and r.status != "ok"), "")
            notes.append(
                f"{name} ran in {len(shared)} of {len(original.repeats)} repeats: {why or 'unfinished'}"
            )
    verdicts = _above(verdicts, cases, attribute, baselines, original, rng, options)
    verdicts = _tested(verdicts)
    verdicts.sort(key=lambda v: -v.advantage if v.advantage == v.advantage else np.inf)
    choice = recommend(
        verdicts,
        sure=options["sure"],
        max_loss=options["max_loss"],
        reason=baselines[STRATEGIES[0]].reason,
    )
    return Section(
        attribute,
        model,
        baselines,
        frontier,
        (*verdicts, *_unjudged(runs, cases)),
        choice,
        len(original.repeats),
        tuple(notes),
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


# ---------------------------------------------------------------------- one method


def _verdict(
    case: Case,
    original: Case,
    examined: list[str],
    baselines: Mapping[str, Baseline],
    rng: np.random.Generator,
    options: dict[str, Any],
) -> MethodVerdict:
    check_paired(case, original)
    line = baselines[STRATEGIES[0]]
    joint = case.joint.select(*examined)
    level, resamples = options["level"], options["resamples"]
    y, x = measure(joint.method, line.performance_metric, line.fairness_metric)
    first_y, first_x = measure(joint.base, line.performance_metric, line.fairness_metric)
    mean_y, mean_x = float(y.mean()), float(x.mean())
    facts = _facts(case.method)
    verdict = MethodVerdict(
        method=case.method,
        runs=len(case.repeats),
        performance=Change(float(first_y.mean()), mean_y),
        bias=Change(float(first_x.mean()), mean_x),
        constant=bool(is_constant(joint.method).any()),
        seconds=case.seconds,
        more=_more(joint, options["more"], (line.performance_metric, line.fairness_metric)),
        others=_others(case, examined, line.fairness_metric, resamples, level, rng),
        delta_bias=_delta(x, first_x),
        delta_performance=_delta(y, first_y),
        p_bias=_paired(x, first_x),
        p_performance=_paired(y, first_y),
        reason="" if np.isfinite([mean_y, mean_x]).all() else _undefined(y, x, line),
        **facts,
    )
    if not np.isfinite([mean_y, mean_x]).all():
        return verdict
    drawn = paired_draws(joint, line, resamples=resamples, random_state=rng)
    changes = drawn.performance - drawn.lines_performance[:, 0], drawn.bias - drawn.lines_bias[:, 0]
    verdict = replace(
        verdict,
        performance=Change(verdict.performance.before, mean_y, *interval(changes[0], level)),
        bias=Change(verdict.bias.before, mean_x, *interval(changes[1], level)),
        lowers_bias=float(np.mean(changes[1] < 0)),
    )
    return _placed(verdict, (y, x), drawn, baselines, level)


def _placed(
    verdict: MethodVerdict,
    points: tuple[Floats, Floats],
    drawn: Draws,
    baselines: Mapping[str, Baseline],
    level: float,
) -> MethodVerdict:
    """Add regions, their probabilities and the advantage over the mutation baseline."""
    line = baselines[STRATEGIES[0]]
    if line.reason is not None:
        return verdict
    y, x = verdict.performance.after, verdict.bias.after
    regions = {
        name: None if one.reason is not None else one.region(y, x)
        for name, one in baselines.items()
    }
    lines_y, lines_x = drawn.lines_performance, drawn.lines_bias
    # a resample in which there is nothing to trade has no regions
    void = (lines_y[:, 0] <= lines_y[:, -1]) | (lines_x[:, 0] <= lines_x[:, -1])
    found = place(
        drawn.performance, drawn.bias, lines_y, np.where(void[:, None], np.nan, lines_x)
    ).region
    words = dict(zip(region_names(np.arange(len(REGIONS))).tolist(), REGIONS, strict=True))
    share = {words[w]: float(np.mean(found == k)) for k, w in enumerate(words)}
    if void.any():
        share["undefined"] = float(void.mean())
    gain = advantage(drawn.performance, drawn.bias, lines_y, lines_x)
    repeats = np.broadcast_to(line.performance, (points[0].size, line.performance.size))
    across = np.broadcast_to(line.bias, repeats.shape)
    low, high = interval(gain, level)
    return replace(
        verdict,
        region=regions[STRATEGIES[0]],
        regions=regions,
        probability=share,
        area=float(line.area(y, x)),
        advantage=float(
            advantage(np.array([y]), np.array([x]), line.performance[None], line.bias[None])[0]
        ),
        advantage_low=low,
        advantage_high=high,
        by_repeat=advantage(points[0], points[1], repeats, across),
    )


def _facts(label: str) -> dict[str, bool]:
    name = split_variant(label)[0]
    known = MITIGATORS[name] if name in MITIGATORS else None
    return {
        "needs_attribute": bool(known is not None and known.needs_sensitive_at_predict),
        "randomized": bool(known is not None and known.randomized),
    }


def _undefined(y: Floats, x: Floats, line: Baseline) -> str:
    which, values = (
        (line.performance_metric, y) if not np.isfinite(y).all() else (line.fairness_metric, x)
    )
    count = int((~np.isfinite(values)).sum())
    return f"{which} is undefined in {count} of {values.size} repeats"


def _more(joint: Any, metrics: Sequence[str], decided: tuple[str, str]) -> dict[str, Change]:
    out = {}
    for name in metrics:
        if get_metric(name).name in decided:
            continue
        before, after = metric_values(joint, name)
        out[name] = Change(float(before.mean()), float(after.mean()))
    return out


def _others(
    case: Case,
    examined: list[str],
    fairness: str,
    resamples: int,
    level: float,
    rng: np.random.Generator,
) -> tuple[Other, ...]:
    out = []
    for attribute in case.joint.attributes:
        if attribute in examined:
            continue
        before, after, drawn = other_draws(case.joint, attribute, fairness, resamples, rng)
        out.append(Other(attribute, Change(before, after, *interval(drawn, level))))
    return tuple(out)


# ---------------------------------------------------------------------- all methods together


def _whole_frontier(
    cases: dict[str, Case], attribute: str, baselines: Mapping[str, Baseline], original: Case
) -> Frontier | None:
    whole = {n: c for n, c in cases.items() if c.repeats == original.repeats}
    line = baselines[STRATEGIES[0]]
    found = frontier_of(whole, attribute, line, None)
    if found is None:
        return None
    return replace(found, as_is=(float(line.performance[0]), float(line.bias[0])))


def _above(
    verdicts: list[MethodVerdict],
    cases: dict[str, Case],
    attribute: str,
    baselines: Mapping[str, Baseline],
    original: Case,
    rng: np.random.Generator,
    options: dict[str, Any],
) -> list[MethodVerdict]:
    """Add how far each method lies above the post-processing frontier, repeats resampled."""
    whole = {n: c for n, c in cases.items() if c.repeats == original.repeats}
    line = baselines[STRATEGIES[0]]
    points = {
        v.method: measure(
            whole[v.method].joint.select(*attribute.split("+")).method,
            line.performance_metric,
            line.fairness_metric,
        )
        for v in verdicts
        if v.method in whole
    }
    base = measure(
        original.joint.select(*attribute.split("+")).base,
        line.performance_metric,
        line.fairness_metric,
    )
    if not points or "+" in attribute:
        return verdicts
    names = list(points)
    y = np.array([points[n][0] for n in names])
    x = np.array([points[n][1] for n in names])
    size = len(original.repeats)
    picks = [None, *(rng.integers(0, size, size) for _ in range(options["resamples"]))]
    gaps = []
    for pick in picks:
        found = frontier_of(whole, attribute, line, pick)
        if found is None:
            return verdicts
        rows = slice(None) if pick is None else pick
        found = replace(found, as_is=(float(base[0][rows].mean()), float(base[1][rows].mean())))
        gaps.append(y[:, rows].mean(axis=1) - found.performance_at(x[:, rows].mean(axis=1)))
    table = np.array(gaps)
    out = []
    for verdict in verdicts:
        if verdict.method in names:
            column = table[:, names.index(verdict.method)]
            low, high = interval(column[1:], options["level"])
            verdict = replace(
                verdict, above_frontier=float(column[0]), above_low=low, above_high=high
            )
        out.append(verdict)
    return out


def _delta(after: Floats, before: Floats) -> float:
    if not (np.isfinite(after).all() and np.isfinite(before).all()):
        return float("nan")
    return float(cliffs_delta(after, before))


def _paired(after: Floats, before: Floats) -> float:
    if not (np.isfinite(after).all() and np.isfinite(before).all()):
        return float("nan")
    return float(wilcoxon(after, before).pvalue)


def _tested(verdicts: list[MethodVerdict]) -> list[MethodVerdict]:
    """Correct the paired tests over the methods, and group methods that do not differ."""
    if not verdicts:
        return []
    bias, performance = (
        holm(np.array([getattr(v, name) for v in verdicts])) for name in ("p_bias", "p_performance")
    )
    out = [
        replace(v, p_bias=float(bias[k]), p_performance=float(performance[k]))
        for k, v in enumerate(verdicts)
    ]
    known = [v for v in out if v.by_repeat.size > 1 and np.isfinite(v.by_repeat).all()]
    if len(known) < 2:
        return out
    groups = scott_knott_esd({v.method: v.by_repeat for v in known})
    place_of = dict(zip(groups.labels, groups.ranks, strict=True))
    return [replace(v, group=int(place_of[v.method])) if v.method in place_of else v for v in out]
