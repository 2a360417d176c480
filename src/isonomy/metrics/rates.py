"""Rates of a group: one mask over another, for all groups and resamples at once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from isonomy._arrays import Floats, divide
from isonomy._registry import Registry
from isonomy.metrics.counts import Counts

Mask = NDArray[np.bool_]


def add_up(index: NDArray[np.intp], weight: Floats, size: int = 0) -> Floats:
    """Add up weights that share an index."""
    return np.asarray(np.bincount(index, weight, minlength=size), dtype=np.float64)


@lru_cache(maxsize=1024)
def _cells_of(
    which: Callable[..., Mask], favorable: tuple[bool, ...]
) -> tuple[Floats, tuple[int, ...]]:
    """Return the cells a rate counts, as a mask over (y_true, y_pred) and, where few, as places."""
    size = len(favorable)
    true = np.repeat(favorable, size).reshape(size, size)
    mask = which(true, true.T, np.eye(size, dtype=bool)).ravel()
    places = tuple(np.flatnonzero(mask).tolist())
    return mask.astype(np.float64), places if len(places) <= 4 else ()


@dataclass(frozen=True, eq=False)
class Rate:
    """A share of a group's cells: those in ``numerator`` over those in ``denominator``.

    Both masks are functions of which classes are favourable, so labels of any number of classes
    work: favourable classes count as one, the others as the other.

    Examples
    --------
    >>> counts = Counts.from_labels(
    ...     [1, 0, 1, 0], [1, 0, 0, 1], sensitive_features=["a", "a", "b", "b"]
    ... )
    >>> RATES["true_positive_rate"](counts)
    array([1., 0.])
    """

    name: str
    label: str
    formula: str
    of: str
    """What the denominator counts, for 'no rows ...'."""
    top: Callable[[Mask, Mask, Mask], Mask] = field(repr=False)
    bottom: Callable[[Mask, Mask, Mask], Mask] = field(repr=False)

    def _sum(self, which: Callable[..., Mask], cells: Floats, favorable: Mask) -> Floats:
        mask, few = _cells_of(which, tuple(favorable.tolist()))
        flat = cells.reshape(*cells.shape[:-2], -1)
        if not few:
            return np.asarray(flat @ mask)
        total = flat[..., few[0]].copy()  # adding a few slices beats a product with zeros
        for k in few[1:]:
            total += flat[..., k]
        return np.asarray(total)

    def numerator(self, counts: Counts) -> Floats:
        """Sum the weight (or rows) above the line, per group."""
        return self._sum(self.top, counts.values, counts.is_favorable)

    def denominator(self, counts: Counts) -> Floats:
        """Sum the weight (or rows) below the line, per group."""
        return self._sum(self.bottom, counts.values, counts.is_favorable)

    def rows(self, counts: Counts) -> Floats:
        """Count the rows below the line, per group: how much evidence there is."""
        return self._sum(self.bottom, counts.n, counts.is_favorable)

    def effective_rows(self, counts: Counts) -> Floats:
        """Return Kish's effective size of the denominator, per group."""
        if counts.w2 is None:
            return self.rows(counts)
        return divide(
            self.denominator(counts) ** 2, self._sum(self.bottom, counts.w2, counts.is_favorable)
        )

    def evidence(self, counts: Counts) -> tuple[Floats, Floats]:
        """Return the share behind the rate and the independent rows it rests on, per group.

        With weights these are the rows that would give the share the variance it has; where fewer
        than ten rows show an outcome, that variance is not known well, and they are no more than
        Kish's number. A ratio of two disjoint counts (FN / FP) rests on the share of the first
        among both.
        """
        top, bottom = self.numerator(counts), self.denominator(counts)
        mask, _ = _cells_of(self.top, tuple(counts.is_favorable.tolist()))
        below, _ = _cells_of(self.bottom, tuple(counts.is_favorable.tolist()))
        disjoint = not (mask * below).any()
        total = top + bottom if disjoint else bottom
        share = divide(top, np.where(total > 0, total, np.nan))
        if counts.w2 is None:
            return share, total
        squares = self._sum(self.bottom, counts.w2, counts.is_favorable)
        hits = self._sum(self.top, counts.w2, counts.is_favorable)
        squares = squares + hits if disjoint else squares
        spread = hits * (1 - share) ** 2 + (squares - hits) * share**2
        kish = divide(total**2, squares)
        linear = divide(share * (1 - share) * total**2, spread)
        events = self._sum(self.top, counts.n, counts.is_favorable)
        others = self._sum(self.bottom, counts.n, counts.is_favorable)
        few = np.minimum(events, others if disjoint else others - events) < 10
        return share, np.where(few, np.fmin(kish, linear), linear)

    def __call__(self, counts: Counts) -> Floats:
        """Compute the rate of each group; an empty denominator gives NaN."""
        bottom = self.denominator(counts)
        return divide(self.numerator(counts), np.where(bottom > 0, bottom, np.nan))


RATES: Registry[Rate] = Registry("rate")
"""Every rate of a group by name."""


def _every(t: Mask, p: Mask, e: Mask) -> Mask:
    return np.ones_like(e)


# t: label is favourable, p: prediction is favourable, e: prediction equals label
for _rate in (
    Rate(
        "selection_rate", "selected", "P(ŷ = fav)", "rows", lambda t, p, e: p, _every
    ),
    Rate("base_rate", "base rate", "P(y = fav)", "rows", lambda t, p, e: t, _every),
    Rate("accuracy", "accuracy", "P(ŷ = y)", "rows", lambda t, p, e: e, _every),
    Rate("error_rate", "error rate", "P(ŷ ≠ y)", "rows", lambda t, p, e: ~e, _every),
    Rate(
        "true_positive_rate", "TPR", "P(ŷ = fav | y = fav)", "rows with a favourable label",
        lambda t, p, e: t & p, lambda t, p, e: t,
    ),
    Rate(
        "false_negative_rate", "FNR", "P(ŷ = unfav | y = fav)", "rows with a favourable label",
        lambda t, p, e: t & ~p, lambda t, p, e: t,
    ),
    Rate(
        "false_positive_rate", "FPR", "P(ŷ = fav | y = unfav)", "rows with an unfavourable label",
        lambda t, p, e: ~t & p, lambda t, p, e: ~t,
    ),
    Rate(
        "true_negative_rate", "TNR", "P(ŷ = unfav | y = unfav)", "rows with an unfavourable label",
        lambda t, p, e: ~t & ~p, lambda t, p, e: ~t,
    ),
    Rate(
        "precision", "precision", "P(y = fav | ŷ = fav)", "rows with a favourable prediction",
        lambda t, p, e: t & p, lambda t, p, e: p,
    ),
    Rate(
        "false_discovery_rate", "FDR", "P(y = unfav | ŷ = fav)", "rows with a favourable prediction",
        lambda t, p, e: ~t & p, lambda t, p, e: p,
    ),
    Rate(
        "false_omission_rate", "FOR", "P(y = fav | ŷ = unfav)", "rows with an unfavourable prediction",
        lambda t, p, e: t & ~p, lambda t, p, e: ~p,
    ),
    Rate(
        "negative_predictive_value", "NPV", "P(y = unfav | ŷ = unfav)",
        "rows with an unfavourable prediction",
        lambda t, p, e: ~t & ~p, lambda t, p, e: ~p,
    ),
    Rate(
        "false_negatives_per_false_positive", "FN / FP", "FN / FP", "false positives",
        lambda t, p, e: t & ~p, lambda t, p, e: ~t & p,
    ),
):  # fmt: skip
    RATES.add(_rate.name, _rate)

GROUP_RATES = (
    "base_rate",
    "selection_rate",
    "true_positive_rate",
    "false_positive_rate",
    "precision",
    "false_omission_rate",
    "accuracy",
)
"""The rates that an audit lists of every group."""
