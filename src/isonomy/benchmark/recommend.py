"""What a benchmark says of one method, and which method it would choose: plain numbers in and out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomy.stats import holm, wilcoxon

__all__ = [
    "Change",
    "FEWEST",
    "MethodVerdict",
    "Other",
    "Recommendation",
    "WORDS",
    "recommend",
    "told_apart",
    "word_of",
]

Floats = NDArray[np.float64]

FEWEST = 6
"""Repeats below which a paired test cannot reach 5 %."""

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

    def data(self) -> dict[str, float | None]:
        """Give it as plain data; undefined is None."""
        values = {"before": self.before, "after": self.after, "change": self.by}
        values |= {"low": self.low, "high": self.high}
        return {k: None if v != v else float(v) for k, v in values.items()}


@dataclass(frozen=True)
class Other:
    """What a method did to the bias by an attribute nobody asked about."""

    attribute: str
    change: Change

    @property
    def word(self) -> str:
        """``worse`` or ``better`` where the interval of the change says so."""
        if self.change.low > 0:
            return "worse"
        if self.change.high < 0:
            return "better"
        return "no clear change" if self.change.low == self.change.low else "unknown"


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
        The method's place among groups of methods that cannot be told apart (1 is best).
    others : tuple of Other
        The attributes nobody asked about.
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
    others: tuple[Other, ...] = ()
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

    def data(self) -> dict[str, Any]:
        """Give everything as plain data; undefined is None."""
        numbers = (
            "area advantage advantage_low advantage_high above_frontier above_low above_high "
            "lowers_bias p_bias p_performance delta_bias delta_performance seconds worth"
        )
        return {
            "method": self.method,
            "status": self.status,
            "reason": self.reason,
            "runs": self.runs,
            "performance": self.performance.data(),
            "bias": self.bias.data(),
            "region": self.region,
            "regions": dict(self.regions),
            "probability": dict(self.probability),
            **{
                name: None if (v := getattr(self, name)) != v else float(v)
                for name in numbers.split()
            },
            "constant": self.constant,
            "group": self.group,
            "others": {o.attribute: {**o.change.data(), "word": o.word} for o in self.others},
            "more": {name: change.data() for name, change in self.more.items()},
            "needs_attribute": self.needs_attribute,
            "randomized": self.randomized,
        }


def word_of(verdict: MethodVerdict, *, sure: float = 0.95, max_loss: float | None = None) -> str:
    """Say in one of :data:`WORDS` what a method is.

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
    """Which method a benchmark would choose, the runner-up, and who cannot be told from it.

    Attributes
    ----------
    method, runner_up : str or None
        None where nothing is worth it, or no second method is.
    apart : bool or None
        Whether the two can be told apart; None where that cannot be tested.
    p : float
        Of the paired test between the two, corrected for all that are worth it.
    tied : tuple of str
        Methods worth it that cannot be told from the chosen one.
    nearest : str or None
        Where nothing is worth it: the method that came nearest.
    why : str
        Why nothing is recommended, or why two cannot be told apart.
    """

    method: str | None = None
    runner_up: str | None = None
    apart: bool | None = None
    p: float = np.nan
    tied: tuple[str, ...] = ()
    nearest: str | None = None
    why: str = ""

    def data(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "method": self.method,
            "runner_up": self.runner_up,
            "apart": self.apart,
            "p": None if self.p != self.p else float(self.p),
            "tied": list(self.tied),
            "nearest": self.nearest,
            "why": self.why,
        }


def told_apart(best: Floats, others: Sequence[Floats]) -> Floats:
    """Test one method's repeats against those of others, pair by pair, Holm over them."""
    if not len(others):
        return np.empty(0)
    p = np.array(
        [float(wilcoxon(best, other).pvalue) if np.any(best != other) else 1.0 for other in others]
    )
    return np.asarray(holm(p))


def recommend(
    verdicts: Sequence[MethodVerdict],
    *,
    sure: float = 0.95,
    level: float = 0.05,
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
        Probability of a good or win-win trade-off that is asked for.
    level : float
        Of the paired tests between methods.
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
    worth.sort(key=lambda v: -v.advantage)
    best, rest = worth[0], worth[1:]
    if not rest:
        return Recommendation(best.method, why="no other method is worth it")
    ran = {(v.by_repeat.size, v.repeats) for v in worth}
    known = all(np.isfinite(v.by_repeat).all() for v in worth)
    if len(ran) > 1 or not known or best.by_repeat.size < FEWEST:
        runs = best.by_repeat.size
        told = (
            f"{runs} repeat{'s are' if runs > 1 else ' is'} too few to tell methods apart; {FEWEST} "
            "are the least, 10 or more serve better"
        )
        if best.by_repeat.size >= FEWEST:
            told = "the methods did not run in the same repeats"
        names = tuple(v.method for v in rest)
        return Recommendation(best.method, rest[0].method, None, np.nan, names, None, told)
    p = told_apart(best.by_repeat, [v.by_repeat for v in rest])
    tied = tuple(v.method for v, chance in zip(rest, p, strict=True) if not chance < level)
    apart = bool(p[0] < level)
    why = "" if apart else "their difference over the repeats is within chance"
    return Recommendation(best.method, rest[0].method, apart, float(p[0]), tied, None, why)


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
