"""Judge the records of a benchmark: every method against both baselines, on equal terms.

A pure function of records. What is run, and where, is decided elsewhere; what is shown, too.
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from isonomy._shown import Shown
from isonomy._tables import plain
from isonomy._validate import listed, unknown_name
from isonomy.benchmark.aimed import aim_of, settings_of, warnings_of
from isonomy.benchmark.cases import FRONTIER, MORE_SPLITS, ORIGINAL, Case, cases_of, frontier_runs
from isonomy.benchmark.change import SignedGap, gaps, signed_gap
from isonomy.benchmark.measure import (
    above_frontier,
    corrected,
    judge_method,
    mutation_line,
    ranked,
)
from isonomy.benchmark.recommend import (
    FEWEST,
    STRATEGIES,
    MethodVerdict,
    Recommendation,
    Section,
    recommend,
    word_of,
)
from isonomy.benchmark.words import headline, metric_words, sentences
from isonomy.errors import InputError, NotApplicable
from isonomy.metrics import JointCounts, get_metric
from isonomy.store import Record
from isonomy.tradeoff import Baseline

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
"""Metrics reported of every method besides the two that decide."""

MORE_OF_SEVERAL: tuple[str, ...] = tuple(
    f"{case}_case_{gap}_difference"
    for case in ("worst", "average")
    for gap in ("statistical_parity", "average_odds", "equal_opportunity")
)
"""Metrics reported besides where several attributes are mitigated together."""

_REPETITIONS = (
    1000  # mutations per degree and split: methods close together are ranked by this line
)


@dataclass(frozen=True, eq=False)
class Benchmark(Shown):
    """What a benchmark found.

    Attributes
    ----------
    data : str
        The dataset's name or file.
    performance, fairness : str
        The metrics that decide.
    sections : tuple of Section
        One per protected attribute and model.
    confidence, sure, resamples, max_loss
        How it was judged.
    notes : tuple of str
    interrupted : bool
        Whether it was stopped before the last split; what is done is judged.
    """

    page: ClassVar[str] = "benchmark"

    data: str
    performance: str
    fairness: str
    sections: tuple[Section, ...]
    confidence: float = 0.95
    sure: float = 0.95
    resamples: int = 500
    max_loss: float | None = None
    notes: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def recommendation(self) -> Recommendation:
        """What to choose for the first attribute and model; ``sections`` has one for each."""
        return self.sections[0].recommendation

    def section(self, attribute: str | None = None, model: str | None = None) -> Section:
        """Return the section of an attribute and a model: the first one by default."""
        for section in self.sections:
            if attribute in (None, section.attribute) and model in (None, section.model):
                return section
        known = [f"{s.attribute}, {s.model}" for s in self.sections]
        raise unknown_name("section", f"{attribute}, {model}", known)

    def word(self, verdict: MethodVerdict) -> str:
        """Return what a method is: worth it, perhaps, not worth it, no use, not judged."""
        return word_of(verdict, sure=self.sure, max_loss=self.max_loss)

    def __repr__(self) -> str:

        found = "; ".join(map(headline, self.sections))
        return f"Benchmark({self.data!r}, {self.performance} and {self.fairness}; {found})"

    def frame(self) -> pd.DataFrame:
        """Return one row per attribute, model and method."""
        names = (
            *("region", "worth", "advantage", "above_frontier"),
            *("aim", "on_target", "settings", "status", "reason"),
        )
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
                **{name: getattr(v, name) for name in names},
            }
            for s in self.sections
            for v in s.verdicts
        ]
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; undefined is None."""
        names = ("attribute", "model", "repeats", "gap", "recommendation", "baselines", "frontier")
        sections = [
            {
                **{name: getattr(s, name) for name in names},
                "headline": headline(s),
                "sentences": sentences(s),
                "methods": [{**v.to_dict(), "word": self.word(v)} for v in s.verdicts],
                "notes": s.notes,
            }
            for s in self.sections
        ]
        return dict(plain({**vars(self), "sections": sections}))

    def plot(
        self, attribute: str | None = None, model: str | None = None, *, ax: Any = None
    ) -> Any:
        """Draw both baselines and every method: bias to the right, performance upwards.

        Parameters
        ----------
        attribute, model : str, optional
            Which section; the first one by default.
        ax : matplotlib Axes, optional
            Where to draw; needs the extra ``plot``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from isonomy.plots import plot_plane

        section = self.section(attribute, model)
        methods = [(v, self.word(v)) for v in section.judged]
        points = pd.DataFrame(
            [
                {
                    "name": v.method, "performance": v.performance.after, "bias": v.bias.after,
                    "word": word,
                }
                for v, word in methods
            ],
            columns=["name", "performance", "bias", "word"],
        )  # fmt: skip
        return plot_plane(
            section.baseline.frame(),
            points,
            xlabel=f"bias by {section.attribute}: {metric_words(self.fairness)}",
            ylabel=metric_words(self.performance),
            frontier=None if section.frontier is None else section.frontier.reach_frame(),
            regions=section.baseline.reason is None,
            larger_is_better=section.baseline.larger_is_better,
            ax=ax,
        )


def check_judging(
    performance: str, fairness: str, resamples: int, confidence: float, sure: float
) -> None:
    """Raise where a benchmark could not be judged like this: asked before anything is run."""
    good, fair = get_metric(performance), get_metric(fairness)
    if good.goal != "max" or good.needs != "counts":
        raise NotApplicable(
            f"A benchmark is decided by a performance metric of counts to maximise; {good.name} "
            f"is to {good.goal} and needs {good.needs}."
        )
    if resamples < 50:
        raise InputError(f"resamples must be 50 or more; got {resamples}.")
    if fair.kind == "performance":
        raise InputError(
            f"A benchmark is decided by a fairness metric besides the performance; {fair.name} "
            f"compares no groups: choose one such as statistical_parity_difference."
        )
    for name, share in (("confidence", confidence), ("sure", sure)):
        if not 0 < share < 1:
            raise InputError(
                f"{name} must lie between 0 and 1; got {share!r} (0.95 is 95 per cent)."
            )


def judge_benchmark(
    records: Iterable[Record],
    *,
    performance: str = "accuracy",
    fairness: str = "statistical_parity_difference",
    more: Sequence[str] = MORE,
    resamples: int = 500,
    confidence: float = 0.95,
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
        Draws behind the probabilities of regions and the intervals of advantages.
    confidence : float
        Confidence level of the intervals.
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
    >>> for repeat in range(10):
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
    check_judging(performance, fairness, resamples, confidence, sure)
    good, fair = get_metric(performance), get_metric(fairness)
    runs = list(records)
    data = list(dict.fromkeys(r.dataset for r in runs))
    if len(data) != 1:
        raise InputError(f"The records must be of one dataset; got {listed(data)}.")
    metrics = good.name, fair.name
    how: dict[str, Any] = {"resamples": resamples, "confidence": confidence}
    choose = {"sure": sure, "max_loss": max_loss}
    sections, notes = [], []
    for key in dict.fromkeys((r.attributes, r.model) for r in runs):
        section_runs = [r for r in runs if (r.attributes, r.model) == key]
        originals = [r for r in section_runs if r.mitigator == ORIGINAL]
        if any(r.status == "ok" for r in originals):
            sections.append(
                _section(section_runs, key, metrics, random_state, tuple(more), how, choose)
            )
            continue
        reason = next((r.reason for r in originals if r.reason), "it did not run")
        notes.append(
            f"{key[0]}, {key[1]}: the original model must run before methods are judged; {reason}."
        )
    if not sections:
        raise InputError(notes[0] if notes else "There must be records to judge; there are none.")
    options: dict[str, Any] = {**how, **choose, "notes": tuple(notes)}
    return Benchmark(data[0], good.name, fair.name, tuple(sections), **options)


def _section(
    runs: list[Record],
    key: tuple[str, str],
    metrics: tuple[str, str],
    seed: int,
    more: tuple[str, ...],
    how: dict[str, Any],
    choose: dict[str, Any],
) -> Section:
    def rng(name: str) -> np.random.Generator:
        # by name: what is drawn for one method does not depend on which others were run
        return np.random.default_rng([seed, zlib.crc32("/".join((*key, name)).encode())])

    cases = cases_of(runs)
    original = cases[ORIGINAL]
    examined = key[0].split("+")
    more = (*more, *(m for m in MORE_OF_SEVERAL if len(examined) > 1 and more))
    counts = original.joint.select(*examined).base
    lines = {
        strategy: mutation_line(
            counts,
            *metrics,
            strategy=strategy,
            repetitions=_REPETITIONS,
            repeats=original.repeats,
            random_state=rng(strategy),
        )
        for strategy in STRATEGIES
    }
    baselines = {name: line.baseline for name, line in lines.items()}
    line = baselines[STRATEGIES[0]]
    share = {"test_share": original.test_share}
    gap, behind = signed_gap(
        _most_splits(cases, original, metrics[1], examined).select(*examined),
        metrics[1],
        confidence=how["confidence"],
        **share,
    )
    verdicts, notes = [], []
    for name, case in cases.items():
        if name == ORIGINAL or _is_baseline(name):
            continue
        shared = [r for r in case.repeats if r in original.repeats]
        pair = case.keep(shared), original.keep(shared)
        own = [r for r in runs if r.mitigator == name and r.status == "ok"]
        verdicts.append(
            replace(
                judge_method(
                    *pair, examined, lines, rng(name), more=more, gap_error=behind.error, **how
                ),
                **aim_of(own, metrics[1]),
                settings=settings_of(own),
            )
        )
        notes += warnings_of(own)
        if len(shared) < len(original.repeats):
            why = next((r.reason for r in runs if r.mitigator == name and r.status != "ok"), "")
            notes.append(
                f"{name} ran in {len(shared)} of {len(original.repeats)} repeats: "
                f"{why or 'unfinished'}"
            )
    second = frontier_runs(cases, original, examined, line)
    if second is not None:
        verdicts = above_frontier(verdicts, cases, examined, second, rng(FRONTIER), **how)
    verdicts.sort(key=lambda v: -v.advantage if v.advantage == v.advantage else np.inf)
    critical, ranking = ranked(verdicts, **share)
    verdicts = [replace(v, biased=gap.shown) for v in corrected(verdicts, ranking)]
    if not gap.signed:
        notes.append(
            f"{metrics[1]} has no sign: chance alone keeps it above 0, so whether the original model "
            "has a bias at all is not tested"
        )
    size = len(original.repeats)
    return Section(
        *key,
        baselines=baselines,
        frontier=None if second is None else second.at(np.full(size, 1.0 / size)),
        verdicts=(*verdicts, *_unjudged(runs, {*cases})),
        recommendation=recommend(
            verdicts, **choose, **share, reason=nothing_to_reduce(line, gap, size)
        ),
        repeats=size,
        notes=tuple(notes),
        critical=critical,
        ranking=ranking,
        gap=gap,
    )


def _is_baseline(name: str) -> bool:
    """Return whether a label is of runs that methods are compared with, not of a method."""
    return name == MORE_SPLITS or name.startswith(f"{FRONTIER}(")


def _most_splits(
    cases: Mapping[str, Case], original: Case, fairness: str, examined: Sequence[str]
) -> JointCounts:
    """Return the original model's counts on the most splits there are, with a gap in each."""
    joint = cases.get(MORE_SPLITS, original).joint
    known = np.isfinite(gaps(joint.select(*examined).base, fairness)).all()
    return joint if known else original.joint


def nothing_to_reduce(baseline: Baseline, gap: SignedGap, repeats: int) -> str | None:
    """Return why there is no bias to reduce or no performance to trade for it, or None."""
    if repeats < 2:
        return "one repeat does not show how far repeats differ; 10 or more serve better"
    if not gap.shown:
        few = f"{repeats} repeats are too few to show a bias; {FEWEST} are the least"
        return (
            f"{few if repeats < FEWEST else 'no bias shown, nothing to mitigate'}: "
            f"{metric_words(baseline.fairness_metric)} of the original model is {gap.value:+.3f} "
            f"[{gap.low:+.3f}, {gap.high:+.3f}] over {gap.splits} splits"
        )
    return baseline.reason and f"there is no baseline to judge by: {baseline.reason}"


def _unjudged(runs: list[Record], judged: set[str]) -> list[MethodVerdict]:
    """Return the methods without a single good run, and why."""
    failed = {
        r.mitigator: MethodVerdict(r.mitigator, status=r.status, reason=r.reason)
        for r in reversed(runs)
        if r.status != "ok" and r.mitigator not in judged
    }
    order = dict.fromkeys(r.mitigator for r in runs)
    return [failed[n] for n in order if n in failed and not _is_baseline(n)]
