"""Who pays for a smaller gap: how a model that replaces another treats each group on the same rows.

A gap between two groups closes because the worse-off one gains, because the better-off one loses,
or both. The last is *levelling down* when nobody worse off gains: a tenth of the closing at most.

The two predictions of a row go together, so that what counts is the rows on which they differ: a
group's rate changes by its mean of ``new - old`` over the rows in the denominator. Over repeated
splits these means are those of :func:`isonomy.stats.split_mean`, which allows for the rows that
splits share. Where few rows change, no variance can be read off them; ``z² / 2`` rows that might
have changed are added to it.

References
----------
Mittelstadt, Wachter and Russell 2023, The Unfairness of Fair Machine Learning: Levelling Down and
Strict Egalitarianism by Default.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import ndtri

from isonomy._arrays import Floats, divide
from isonomy._brief import brief
from isonomy._tables import plain
from isonomy._validate import check_share
from isonomy.audit.judge import FEWEST_ROWS
from isonomy.metrics import RATES, JointCounts
from isonomy.stats import split_mean

PAID = ("selection_rate", "true_positive_rate", "false_positive_rate")
"""The rates whose changes are listed: shares of favourable decisions of all rows of a group, of
those with a favourable label, and of the others."""
LEVELLED = PAID[:2]
"""The rates by which a group can be levelled down; a lower false positive rate is no loss alone."""
MOST_GAINED = 0.1
"""The most of a closing gap that the worse-off group may have gained in a levelling down."""


@dataclass(frozen=True)
class GroupChange:
    """How one rate of one group changes.

    ``rows`` are those that the rate rests on: of one test set, or on average of one.
    """

    group: str
    rate: str
    label: str
    before: float
    after: float
    low: float
    high: float
    rows: float
    reason: str | None = None

    @property
    def by(self) -> float:
        """How much it changes."""
        return self.after - self.before

    @property
    def word(self) -> str:
        """``rises`` or ``falls`` where the interval says so."""
        if self.low > 0:
            return "rises"
        if self.high < 0:
            return "falls"
        return "no clear change" if self.low == self.low else "unknown"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return dict(plain({**vars(self), "change": self.by, "word": self.word}))


@dataclass(frozen=True)
class Levelling:
    """A gap that is shown to close at the expense of the better-off group.

    ``taken`` is the share of the closing that the better-off group has lost; more than 1 where the
    worse-off one loses, too.
    """

    rate: str
    better: str
    worse: str
    gap_before: float
    gap_after: float
    taken: float

    def __str__(self) -> str:
        paid = "all" if self.taken >= 1 else f"{self.taken:.0%}"
        return (
            f"the gap in {self.rate.replace('_', ' ')} between {self.better} and {self.worse} closes from "
            f"{self.gap_before:.3f} to {self.gap_after:.3f}, {paid} of it taken from {self.better}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return dict(plain({**vars(self), "sentence": str(self)}))


@dataclass(frozen=True, eq=False, repr=False)
class WhoPays:
    """What changes for whom: every group's rates before and after, and gaps that level down.

    The intervals of one rate hold together for all groups, and some pair of groups is wrongly said
    to be levelled down, by either rate, with a probability of ``1 - confidence`` at most.

    Attributes
    ----------
    changes : tuple of GroupChange
    levelled : tuple of Levelling
        The gaps shown to be closed by taking from the better-off; widest before come first.
    compared : str
        Which pairs of groups these may be.
    confidence : float
    """

    changes: tuple[GroupChange, ...] = ()
    levelled: tuple[Levelling, ...] = ()
    compared: str = ""
    confidence: float = 0.95
    notes: tuple[str, ...] = field(default=())

    __repr__ = brief

    @property
    def levels_down(self) -> bool:
        """Whether some gap is shown to close at the expense of the better-off."""
        return bool(self.levelled)

    def of(self, rate: str) -> tuple[GroupChange, ...]:
        """Return the changes of one rate."""
        return tuple(c for c in self.changes if c.rate == rate)

    def frame(self) -> pd.DataFrame:
        """Return one row per rate and group."""
        names = ("rate", "group", "before", "after", "change", "low", "high", "word", "rows")
        rows = [{**vars(c), "change": c.by, "word": c.word} for c in self.changes]
        return pd.DataFrame(rows, columns=[*names, "reason"])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        parts = {name: [p.to_dict() for p in getattr(self, name)] for name in ("changes", "levelled")}  # fmt: skip
        return dict(plain({**vars(self), **parts, "levels_down": self.levels_down}))


def who_pays(
    y_true: ArrayLike,
    y_base: ArrayLike,
    y_pred: ArrayLike,
    *,
    sensitive_features: Any,
    sample_weight: ArrayLike | None = None,
    favorable: Any = None,
    privileged: Any = None,
    confidence: float = 0.95,
) -> WhoPays:
    """Say how each group's rates change where one model's predictions replace another's.

    Parameters
    ----------
    y_true, y_base, y_pred : array-like of shape (n,)
        Labels, the predictions of the original model, and those that replace them.
    sensitive_features : array-like, Series, frame or mapping of name to array
        One protected attribute, or several: their intersections are the groups.
    sample_weight, favorable
        As for :func:`isonomy.audit`.
    privileged : value, collection or mapping of attribute to value(s), optional
        Every group is then compared with those that are privileged in all attributes, and not
        with each other.
    confidence : float
        Of the intervals of one rate together, and of all levelling down together.

    Returns
    -------
    WhoPays

    Examples
    --------
    >>> sex = np.repeat(["f", "m"], 500)
    >>> y = np.tile([1, 0], 500)
    >>> old = np.where(sex == "m", 1, np.tile([1, 0, 1, 0, 0], 200))
    >>> new = np.where(np.arange(1000) % 5 < 2, old, 0)  # nobody gains
    >>> found = who_pays(y, old, new, sensitive_features={"sex": sex}, privileged="m")
    >>> [(c.group, c.word) for c in found.of("selection_rate")]
    [('f', 'falls'), ('m', 'falls')]
    >>> found.levels_down
    True
    """
    joint = JointCounts.from_labels(
        y_true,
        y_base,
        y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
        favorable=favorable,
        privileged=privileged,
    )
    return changes_by_group(joint, confidence=confidence)


def changes_by_group(
    joint: JointCounts, *, test_share: float = 0.3, confidence: float = 0.95
) -> WhoPays:
    """Say how each group's rates change, from counts of both predictions.

    Parameters
    ----------
    joint : JointCounts
        Of one test set, or with a leading axis of repeated splits of the same rows.
    test_share : float
        The share of the rows that each split tests on; of no effect without repeats.
    confidence : float
        Of the intervals of one rate together, and of all levelling down together.
    """
    check_share("confidence", confidence)
    paid = [_Paired.of(joint, name, test_share) for name in PAID]
    alpha = 1 - confidence
    labels = joint.base.labels()
    changes: list[GroupChange] = []
    for name, side in zip(PAID, paid, strict=True):
        before, after, moved = (side.mean(score) for score in (_OLD, _NEW, _CHANGE))
        level = alpha / max(int(side.enough.sum()), 1)
        half = side.half(_CHANGE, np.eye(len(labels)), level, two_sided=True)
        low, high = np.maximum(moved - half, -1.0), np.minimum(moved + half, 1.0)
        for k, label in enumerate(labels):
            reason = None
            if not side.enough[k]:
                few = f"rests on {side.all_rows[k]:.0f} rows, fewer than {FEWEST_ROWS}"
                reason = few if side.rows[k] > 0 else f"no {RATES[name].of}"
            ends = (low[k], high[k]) if reason is None else (np.nan, np.nan)
            changes.append(
                GroupChange(
                    label,
                    name,
                    RATES[name].label,
                    float(before[k]),
                    float(after[k]),
                    float(ends[0]),
                    float(ends[1]),
                    float(side.rows[k]),
                    reason,
                )
            )
    levelled, how = _levelled(joint, test_share, alpha)
    return WhoPays(tuple(changes), levelled, how, confidence)


# ---------------------------------------------------------------------- rows scored by both models

_OLD = np.array([[0.0, 0.0], [1.0, 1.0]])  # [old prediction, new prediction]
_NEW = _OLD.T
_CHANGE, _SUM = _NEW - _OLD, _NEW + _OLD


@dataclass(frozen=True, eq=False)
class _Paired:
    """Rows behind a rate by both predictions: ``[repeat, group, old, new]``, favourable is 1."""

    w: Floats
    w2: Floats
    n: Floats
    share: float

    @classmethod
    def of(cls, joint: JointCounts, rate: str, test_share: float) -> "_Paired":
        """Count the rows in a rate's denominator by whether either prediction is favourable."""
        good = joint.base.is_favorable
        asked = {"selection_rate": good | True, "true_positive_rate": good}.get(rate, ~good)
        into = np.stack([~good, good], axis=1).astype(np.float64)

        def two_by_two(cells: Floats) -> Floats:
            some = cells[..., asked, :, :].sum(axis=-3)
            laid = some if joint.shape else some[None]
            return np.asarray(np.einsum("rgab,ax,by->rgxy", laid, into, into))

        n = two_by_two(joint.n)
        w = n if joint.w is None else two_by_two(joint.w)
        w2 = n if joint.w2 is None else two_by_two(joint.w2)
        return cls(w, w2, n, test_share if joint.shape else 1.0)

    def pooled(self, index: Any) -> "_Paired":
        """Add groups up that share a place in ``index``; -1 is left out."""
        into = np.equal.outer(np.asarray(index), np.arange(max(index) + 1)).astype(np.float64)
        w, w2, n = (np.einsum("rgab,gh->rhab", c, into) for c in (self.w, self.w2, self.n))
        return _Paired(w, w2, n, self.share)

    @property
    def size(self) -> Floats:
        """The mean weight of a group over the repeats."""
        return np.asarray(self.w.sum(axis=(-1, -2)).mean(axis=0))

    @property
    def rows(self) -> Floats:
        """The mean number of rows of a group over the repeats."""
        return np.asarray(self.n.sum(axis=(-1, -2)).mean(axis=0))

    @property
    def all_rows(self) -> Floats:
        """The rows that all test sets are drawn from, as many as they are worth with weights."""
        squares = self.w2.sum(axis=(-1, -2)).mean(axis=0)
        return np.nan_to_num(divide(self.size**2, squares)) / self.share

    @property
    def enough(self) -> Any:
        """Whether a group has the rows for an interval."""
        return self.all_rows >= FEWEST_ROWS

    def mean(self, score: Floats) -> Floats:
        """Return the mean score of each group: of all repeats together."""
        total = np.einsum("rgab,ab->g", self.w, score)
        return divide(total, self.w.sum(axis=(0, -1, -2)))

    def half(
        self, score: Floats, contrasts: Floats, alpha: float, *, two_sided: bool = False
    ) -> Floats:
        """Return how far limits of contrasts ``[contrast, group]`` of mean scores lie from them."""
        mean, size = self.mean(score), self.size
        level = alpha if two_sided else 2 * alpha
        z = -float(ndtri(level / 2))
        total = np.einsum("rgab,ab->rg", self.w, score)
        # a ratio of sums, made linear: a group may be absent from some test sets
        by_repeat = mean + divide(total - mean * self.w.sum(axis=(-1, -2)), size)
        squares = (score - mean[:, None, None]) ** 2
        within = divide(np.einsum("rgab,gab->rg", self.w2, squares), size**2)
        unseen = divide(np.full(size.shape, z**2 / 2), self.all_rows**2)
        used = contrasts != 0
        by_repeat, within, unseen = (
            np.where(np.isfinite(v), v, 0.0) for v in (by_repeat, within, unseen)
        )
        found = split_mean(
            contrasts @ by_repeat.T,
            test_share=min(self.share, 0.99),
            within=contrasts**2 @ within.T,
            confidence=1 - level,
        )
        seen = np.atleast_1d((found.high - found.low) / 2)
        out = np.sqrt(seen**2 + z**2 * (contrasts**2 @ unseen))
        return np.where((used & (size <= 0)).any(axis=-1), np.nan, out)


# ---------------------------------------------------------------------- levelling down


def _levelled(
    joint: JointCounts, test_share: float, alpha: float
) -> tuple[tuple[Levelling, ...], str]:
    """Return the pairs of groups whose gap is shown to close by taking from the better-off.

    Three things must be shown, each at the same level (an intersection-union test): the gap is
    smaller, it has not turned into one as wide, and the worse-off group gains a tenth of the
    closing at most.
    """
    counts = joint.base
    labels, mask, known = counts.labels(), counts.is_privileged(), counts.known
    if mask is not None and (mask & known).any() and (~mask & known).any():
        rest = np.flatnonzero(~mask & known)
        index = np.full(len(labels), -1)
        index[mask & known] = 0
        index[rest] = np.arange(1, rest.size + 1)
        one = [label for label, m in zip(labels, mask & known, strict=True) if m]
        names = (one[0] if len(one) == 1 else "the privileged", *(labels[k] for k in rest))
        first, second = np.zeros(rest.size, dtype=np.intp), np.arange(1, rest.size + 1)
        how = f"each group with {names[0]}"
    else:
        index = np.where(known, np.cumsum(known) - 1, -1)
        names = tuple(label for label, k in zip(labels, known, strict=True) if k)
        first, second = np.triu_indices(len(names), 1)
        how = "every pair of groups"
    if not first.size:
        return (), how
    # either of two may be the better-off one
    better, worse = np.concatenate([first, second]), np.concatenate([second, first])
    sides = {rate: _Paired.of(joint, rate, test_share).pooled(index) for rate in LEVELLED}
    tried = {rate: side.enough[better] & side.enough[worse] for rate, side in sides.items()}
    # one way round at most can be shown of a pair: the gap before has one sign
    level = alpha / max(sum(int(t.sum()) for t in tried.values()) // 2, 1)
    rows = np.arange(better.size)

    def contrast(of_better: float, of_worse: float) -> Floats:
        out = np.zeros((better.size, len(names)))
        out[rows, better], out[rows, worse] = of_better, of_worse
        return out

    found = []
    for rate, side in sides.items():
        change, total = side.mean(_CHANGE), side.mean(_SUM)
        shown = tried[rate].copy()
        for score, weights in (
            (_CHANGE, contrast(-1.0, 1.0)),  # the worse-off moves up on the better-off
            (_SUM, contrast(1.0, -1.0)),  # and does not overtake it by as much
            (_CHANGE, contrast(-MOST_GAINED, -(1.0 - MOST_GAINED))),  # and gains next to nothing
        ):
            value = weights @ np.nan_to_num(side.mean(score))
            shown &= value - side.half(score, weights, level) > 0
        before = (total - change) / 2
        for k in np.flatnonzero(shown):
            high, low = better[k], worse[k]
            closing = change[low] - change[high]
            found.append(
                Levelling(
                    rate,
                    names[high],
                    names[low],
                    float(before[high] - before[low]),
                    float(before[high] - before[low] - closing),
                    float(-change[high] / closing),
                )
            )
    found.sort(key=lambda one: (LEVELLED.index(one.rate), -one.gap_before))
    return tuple(found), how
