"""What a benchmark says of one method, and which method it would choose: plain numbers in and out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from isonomy._arrays import Floats
from isonomy._tables import plain
from isonomy.stats import CriticalDifference, Ranking, holm, wilcoxon
from isonomy.tradeoff import Baseline, Frontier

FEWEST = 6
"""Repeats below which a paired test cannot reach 5 %."""

STRATEGIES = ("majority", "random", "minority")
"""The mutation strategies; the first makes the strictest baseline and decides."""

WORDS = ("worth it", "perhaps", "not worth it", "no use", "not judged")
"""What a method may be called, in words."""


@dataclass(frozen=True)
class Change:
    """A quantity before and after mitigation: means over repeats, and the interval of the change."""

    before: float
    after: float
    low: float = np.nan
    high: float = np.nan

    @property
    def by(self) -> float:
        """How much it changed."""
        return self.after - self.before

    @property
    def word(self) -> str:
        """Of a bias: ``worse`` or ``better`` where the interval of the change says so."""
        if self.low > 0:
            return "worse"
        if self.high < 0:
            return "better"
        return "no clear change" if self.low == self.low else "unknown"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data; undefined is None."""
        values = {"before": self.before, "after": self.after, "change": self.by}
        return dict(plain({**values, "low": self.low, "high": self.high}))


@dataclass(frozen=True, eq=False)
class MethodVerdict:
    """How one method did with one model and one protected attribute.

    Attributes
    ----------
    method : str
        Its label.
    runs : int
        Repeats that went well.
    performance, bias : Change
        Against the original model on the same rows.
    region : str or None
        Of the mean point against the mutation baseline into the majority label.
    regions : mapping of str to str or None
        The region against each mutation strategy's baseline.
    probability : mapping of str to float
        How often each region occurs among the resamples.
    area : float
        Between a good point and the baseline.
    advantage, advantage_low, advantage_high : float
        Performance beyond what mutating the original model down (or up) to this bias would leave.
    by_repeat : ndarray
        The advantage of each repeat; pairs methods over splits.
    repeats : tuple of int
        Which repeats these are: methods that lack different ones are not paired.
    above_frontier, above_low, above_high : float
        Performance beyond post-processing that is at least as fair.
    lowers_bias : float
        Share of resamples in which the bias is below the original model's.
    constant : bool
        Whether it predicts one class in some repeat.
    p_bias, p_performance : float
        Paired tests against the original model, after Holm's correction over the methods.
    delta_bias, delta_performance : float
        Cliff's delta.
    group : int or None
        The method's place among groups of methods that do not differ (1 is best).
    others : mapping of str to Change
        The bias by each protected attribute that was not mitigated.
    more : mapping of str to Change
        Other metrics.
    needs_attribute, randomized : bool
        What using it demands.
    seconds : float
        Mean time of a run.
    status, reason : str
        ``ok``, or why there is nothing to judge.
    """

    method: str
    runs: int = 0
    performance: Change = Change(np.nan, np.nan)
    bias: Change = Change(np.nan, np.nan)
    region: str | None = None
    regions: Mapping[str, str | None] = field(default_factory=dict)
    probability: Mapping[str, float] = field(default_factory=dict)
    area: float = np.nan
    advantage: float = np.nan
    advantage_low: float = np.nan
    advantage_high: float = np.nan
    by_repeat: Floats = field(default_factory=lambda: np.empty(0))
    repeats: tuple[int, ...] = ()
    above_frontier: float = np.nan
    above_low: float = np.nan
    above_high: float = np.nan
    lowers_bias: float = np.nan
    constant: bool = False
    p_bias: float = np.nan
    p_performance: float = np.nan
    delta_bias: float = np.nan
    delta_performance: float = np.nan
    group: int | None = None
    others: Mapping[str, Change] = field(default_factory=dict)
    more: Mapping[str, Change] = field(default_factory=dict)
    needs_attribute: bool = False
    randomized: bool = False
    seconds: float = np.nan
    status: str = "ok"
    reason: str = ""

    @property
    def worth(self) -> float:
        """The probability of a good or a win-win trade-off."""
        if not self.probability:
            return float("nan")
        return self.probability.get("good", 0.0) + self.probability.get("win-win", 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; undefined is None."""
        names = [f.name for f in fields(self) if f.name not in ("by_repeat", "repeats")]
        others = {name: {**c.to_dict(), "word": c.word} for name, c in self.others.items()}
        values = {name: getattr(self, name) for name in [*names, "worth"]}
        return dict(plain({**values, "others": others}))


def word_of(verdict: MethodVerdict, *, sure: float = 0.95, max_loss: float | None = None) -> str:
    """Return one of :data:`WORDS` for a method.

    *Worth it*: in at least ``sure`` of the resamples its trade-off is good or win-win (which
    includes that the bias falls), and it gives up no more than ``max_loss``. *Perhaps*: in more
    than half of them. *No use*: it predicts one class for every row of some test set.
    """
    if verdict.status != "ok" or not verdict.probability:
        return "not judged"
    if verdict.constant:
        return "no use"
    if max_loss is not None and -verdict.performance.by > max_loss:
        return "not worth it"
    if verdict.worth >= sure and verdict.bias.by < 0:
        return "worth it"
    return "perhaps" if verdict.worth > 0.5 else "not worth it"


@dataclass(frozen=True)
class Recommendation:
    """Which method a benchmark would choose, the runner-up, and which do not differ from it.

    Attributes
    ----------
    method, runner_up : str or None
        None where nothing is worth it, or no second method is.
    differ : bool or None
        Whether the two differ over the repeats; None where that cannot be tested.
    p : float
        Of the paired test between the two, corrected for all that are worth it.
    tied : tuple of str
        Methods worth it that do not differ from the chosen one.
    nearest : str or None
        Where nothing is worth it: the method that came nearest.
    why : str
        Why nothing is recommended, or why two do not differ.
    """

    method: str | None = None
    runner_up: str | None = None
    differ: bool | None = None
    p: float = np.nan
    tied: tuple[str, ...] = ()
    nearest: str | None = None
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return dict(plain(vars(self)))


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
        """Return the verdict on one method."""
        return next(v for v in self.verdicts if v.method == method)


def paired_p_values(best: Floats, others: Sequence[Floats]) -> Floats:
    """Test one method's repeats against those of others, pair by pair, Holm over them."""
    p = [float(wilcoxon(best, o).pvalue) if np.any(best != o) else 1.0 for o in others]
    return np.asarray(holm(np.array(p))) if p else np.empty(0)


def recommend(
    verdicts: Sequence[MethodVerdict],
    *,
    sure: float = 0.95,
    alpha: float = 0.05,
    max_loss: float | None = None,
    reason: str | None = None,
) -> Recommendation:
    """Choose the method with the largest advantage over the mutation baseline.

    The advantage is the performance a method keeps beyond what blindly mutating the original
    model to the same bias would leave: one number for both goals, in which the data's own
    baseline sets the price of fairness. Only methods that are *worth it* are chosen from (see
    :func:`word_of`).

    Parameters
    ----------
    verdicts : sequence of MethodVerdict
    sure : float
        Required probability of a good or win-win trade-off.
    alpha : float
        Significance level of the paired tests between methods.
    max_loss : float, optional
        The most performance that may be given up.
    reason : str, optional
        Why the baseline gives no regions, where it gives none.

    Examples
    --------
    >>> recommend([]).method is None
    True
    """
    if reason:
        return Recommendation(why=f"there is no baseline to judge by: {reason}")
    words = {v.method: word_of(v, sure=sure, max_loss=max_loss) for v in verdicts}
    worth = [v for v in verdicts if words[v.method] == "worth it" and v.advantage == v.advantage]
    if not worth:
        return _nothing(verdicts, words, sure, max_loss)
    best, *rest = sorted(worth, key=lambda v: -v.advantage)
    if not rest:
        return Recommendation(best.method, why="no other method is worth it")
    runs = best.by_repeat.size
    paired = len({(v.by_repeat.size, v.repeats) for v in worth}) == 1
    if runs < FEWEST:
        why = (
            f"{runs} repeat{'s are' if runs > 1 else ' is'} too few to compare methods; {FEWEST} "
            "are the least, 10 or more serve better"
        )
    elif not paired or not all(np.isfinite(v.by_repeat).all() for v in worth):
        why = "the methods did not run in the same repeats"
    else:
        p = paired_p_values(best.by_repeat, [v.by_repeat for v in rest])
        tied = tuple(v.method for v, chance in zip(rest, p, strict=True) if not chance < alpha)
        differ = bool(p[0] < alpha)
        why = "" if differ else "their difference over the repeats is within chance"
        return Recommendation(best.method, rest[0].method, differ, float(p[0]), tied, None, why)
    names = tuple(v.method for v in rest)
    return Recommendation(best.method, rest[0].method, tied=names, why=why)


def _nothing(
    verdicts: Sequence[MethodVerdict],
    words: Mapping[str, str],
    sure: float,
    max_loss: float | None,
) -> Recommendation:
    judged = [v for v in verdicts if words[v.method] not in ("not judged", "no use")]
    if not judged:
        return Recommendation(why="no method could be judged")
    within = [v for v in judged if max_loss is None or -v.performance.by <= max_loss]
    nearest = max(within or judged, key=lambda v: (v.worth, v.advantage))
    why = f"none of the {len(judged)} methods judged has a good or win-win trade-off with a probability of {sure:.0%}"
    if max_loss is not None:
        why += f" while giving up {max_loss:g} of performance at most"
    return Recommendation(nearest=nearest.method, why=why)
