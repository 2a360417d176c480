"""What a benchmark says of one method, and which method it would choose: plain numbers in and out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from isonomy._arrays import Floats
from isonomy._brief import brief
from isonomy._tables import plain
from isonomy.audit import WhoPays
from isonomy.benchmark.change import Change, SignedGap
from isonomy.stats import CriticalDifference, Ranking, pairs_over_splits, selection_bias
from isonomy.tradeoff import Baseline, Frontier

FEWEST = 6
"""Repeats below which methods are not compared with each other."""

STRATEGIES = ("majority", "random", "minority")
"""The mutation strategies; the first makes the strictest baseline and decides."""

WORDS = ("worth it", "perhaps", "not worth it", "no use", "no bias shown", "dropped", "not judged")
"""What a method may be called, in words."""

_NO_CHANGE = Change(np.nan, np.nan)
_NO_GAP = SignedGap(np.nan, np.nan, np.nan, signed=False)


@dataclass(frozen=True, eq=False, repr=False)
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
        How probable each region is.
    area : float
        Between a good point and the baseline.
    advantage, advantage_low, advantage_high : float
        Performance beyond what mutating the original model down (or up) to this bias would leave.
    by_repeat : ndarray
        The advantage of each repeat; pairs methods over splits.
    moves : ndarray of shape (repeats, 2)
        The change of performance and of the gap's size in each repeat.
    biased : bool
        Whether the original model has a bias to reduce.
    repeats : tuple of int
        Which repeats these are: methods that lack different ones are not paired.
    above_frontier, above_low, above_high : float
        Performance beyond post-processing that is at least as fair.
    lowers_bias : float
        Probability that the bias is below the original model's.
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
    alone : mapping of str to Change
        Where several attributes were mitigated together: the bias by each of them by itself.
    pays : WhoPays
        How each group's rates change, and gaps that close by taking from the better-off.
    more : mapping of str to Change
        Other metrics.
    needs_attribute, randomized : bool
        What using it demands.
    aim : str
        What it aims at, in words; empty where that is not known.
    on_target : bool or None
        Whether that is what the fairness metric asks for.
    settings : str
        The parameters it was aimed with or that were tuned, and in how many repeats.
    seconds : float
        Mean time of a run.
    status, reason : str
        ``ok``, or why there is nothing to judge.
    """

    method: str
    runs: int = 0
    performance: Change = _NO_CHANGE
    bias: Change = _NO_CHANGE
    region: str | None = None
    regions: Mapping[str, str | None] = field(default_factory=dict)
    probability: Mapping[str, float] = field(default_factory=dict)
    area: float = np.nan
    advantage: float = np.nan
    advantage_low: float = np.nan
    advantage_high: float = np.nan
    by_repeat: Floats = field(default_factory=lambda: np.empty(0))
    moves: Floats = field(default_factory=lambda: np.empty((0, 2)))
    repeats: tuple[int, ...] = ()
    biased: bool = True
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
    alone: Mapping[str, Change] = field(default_factory=dict)
    pays: WhoPays = field(default_factory=WhoPays)
    more: Mapping[str, Change] = field(default_factory=dict)
    needs_attribute: bool = False
    randomized: bool = False
    aim: str = ""
    on_target: bool | None = None
    settings: str = ""
    seconds: float = np.nan
    status: str = "ok"
    reason: str = ""

    __repr__ = brief

    @property
    def worth(self) -> float:
        """The probability of a good or a win-win trade-off."""
        if not self.probability:
            return float("nan")
        return self.probability.get("good", 0.0) + self.probability.get("win-win", 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; undefined is None."""
        names = [f.name for f in fields(self) if f.name not in ("by_repeat", "moves", "repeats")]
        values = {name: getattr(self, name) for name in [*names, "worth"]}
        for name in ("others", "alone"):
            values[name] = {a: {**c.to_dict(), "word": c.word} for a, c in values[name].items()}
        return dict(plain(values))


def word_of(verdict: MethodVerdict, *, sure: float = 0.95, max_loss: float | None = None) -> str:
    """Return one of :data:`WORDS` for a method.

    *Worth it*: with a probability of at least ``sure`` its trade-off is good or win-win (which
    includes that the bias falls), and it gives up no more than ``max_loss``. *Perhaps*: with more
    than one half. *No use*: it predicts one class for every row of some test set. *No bias shown*:
    of the original model, so there is nothing to mitigate. *Dropped*: beaten after a few splits.
    """
    if verdict.status == "dropped":
        return "dropped"
    if verdict.status == "ok" and not verdict.biased:
        return "no bias shown"
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
        Of the test between the two, corrected for all pairs of methods that are worth it.
    tied : tuple of str
        Methods worth it that do not differ from the chosen one.
    nearest : str or None
        Where nothing is worth it: the method that came nearest.
    why : str
        Why nothing is recommended, or why two do not differ.
    among : int
        How many methods it was chosen from.
    performance, bias : Change or None
        Of the chosen method, less what being the best of so many adds by luck.
    advantage : float
        The same of its advantage.
    """

    method: str | None = None
    runner_up: str | None = None
    differ: bool | None = None
    p: float = np.nan
    tied: tuple[str, ...] = ()
    nearest: str | None = None
    why: str = ""
    among: int = 0
    performance: Change | None = None
    bias: Change | None = None
    advantage: float = np.nan

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return dict(plain(vars(self)))


@dataclass(frozen=True, eq=False, repr=False)
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
    gap : SignedGap
        Of the original model: is there a bias at all?
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
    gap: SignedGap = _NO_GAP

    __repr__ = brief

    @property
    def baseline(self) -> Baseline:
        """The baseline that decides."""
        return self.baselines[STRATEGIES[0]]

    @property
    def judged(self) -> tuple[MethodVerdict, ...]:
        """The methods that ran."""
        return tuple(v for v in self.verdicts if v.status == "ok")

    @property
    def foremost(self) -> MethodVerdict | None:
        """The method that is recommended, or came nearest."""
        name = self.recommendation.method or self.recommendation.nearest
        return None if name is None else self.verdict(name)

    def verdict(self, method: str) -> MethodVerdict:
        """Return the verdict on one method."""
        return next(v for v in self.verdicts if v.method == method)


def paired_p_values(best: Floats, others: Sequence[Floats], *, test_share: float = 0.3) -> Floats:
    """Test the best method's repeats against those of others: Holm over all pairs of methods.

    All pairs, not only those of the best: which one that is was read off the same repeats.
    """
    return pairs_over_splits(np.column_stack([best, *others]), test_share=test_share)[0, 1:]


def recommend(
    verdicts: Sequence[MethodVerdict],
    *,
    sure: float = 0.95,
    alpha: float = 0.05,
    max_loss: float | None = None,
    reason: str | None = None,
    test_share: float = 0.3,
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
        Significance level of the tests between methods.
    max_loss : float, optional
        The most performance that may be given up.
    reason : str, optional
        Why there is nothing to recommend, where that is known beforehand.
    test_share : float
        The share of the rows that each split tests on.

    Examples
    --------
    >>> recommend([]).method is None
    True
    """
    if reason:
        return Recommendation(why=reason)
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
        p = paired_p_values(best.by_repeat, [v.by_repeat for v in rest], test_share=test_share)
        tied = tuple(v.method for v, chance in zip(rest, p, strict=True) if not chance < alpha)
        differ = bool(p[0] < alpha)
        why = "" if differ else "their difference over the repeats is within chance"
        return Recommendation(
            best.method,
            rest[0].method,
            differ,
            float(p[0]),
            tied,
            why=why,
            **_without_luck(best, worth, test_share),
        )
    names = tuple(v.method for v in rest)
    return Recommendation(best.method, rest[0].method, tied=names, why=why)


def _without_luck(
    best: MethodVerdict, worth: Sequence[MethodVerdict], test_share: float
) -> dict[str, Any]:
    """Return what the best method shows, less what having been chosen adds."""
    if any(len(v.moves) != v.by_repeat.size for v in worth):
        return {}
    scores = np.column_stack([v.by_repeat for v in worth])
    values = np.stack([np.column_stack([v.by_repeat, v.moves]) for v in worth], axis=1)
    gained, performance, bias = selection_bias(scores, values, test_share=test_share)
    return {
        "among": len(worth),
        "advantage": float(best.advantage - gained),
        "performance": best.performance.less(float(performance)),
        "bias": best.bias.less(float(bias)),
    }


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
