"""Wilcoxon's signed rank test on many paired samples at once."""

from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from isonomy.errors import InputError
from isonomy.stats._samples import Alternative, Floats, NanPolicy, check_option, floats, reasons
from isonomy.stats.ranks import rank, sorted_ranks
from isonomy.stats.tests import ALTERNATIVES, METHODS, Tested

__all__ = ["wilcoxon"]

_ZEROS = ("drop", "pratt", "split")
_EXACT, _EXACT_TIED = 50, 13
"""Up to so many pairs SciPy too prefers the exact distribution, without and with ties."""
_CELLS = 1 << 22
"""Numbers held at once while distributions of tied cells are built."""


@lru_cache(maxsize=64)
def _sum_tail(n: int) -> Floats:
    """Give P(W >= w) of the sum of positive ranks 1 ... n when every sign is a fair coin."""
    p = np.ones(1)
    for i in range(1, n + 1):
        new = np.zeros(p.size + i)
        new[: p.size] += p / 2.0
        new[i:] += p / 2.0
        p = new
    return np.cumsum(p[::-1])[::-1]


def _tied_tails(ranks: Floats, observed: Floats) -> tuple[Floats, Floats]:
    """Give P(W >= w) and P(W <= w) for given ranks, one cell per row: every sign a fair coin."""
    # mean ranks are halves at most, Pratt's too: twice a rank is a whole number
    steps = np.rint(2.0 * ranks).astype(np.intp)
    at = np.rint(2.0 * observed).astype(np.intp)
    width = int(steps.sum(axis=-1).max(initial=0)) + 1
    upper, lower = np.empty(at.shape), np.empty(at.shape)
    places = np.arange(width)
    chunk = max(1, _CELLS // width)
    for start in range(0, at.size, chunk):
        mine = slice(start, start + chunk)
        p = np.zeros((steps[mine].shape[0], width))
        p[:, 0] = 1.0
        for step in steps[mine].T:
            source = places[None, :] - step[:, None]
            moved = np.take_along_axis(p, np.maximum(source, 0), axis=1)
            p = (p + np.where(source >= 0, moved, 0.0)) / 2.0
        upper[mine] = np.where(places >= at[mine, None], p, 0.0).sum(axis=1)
        lower[mine] = np.where(places <= at[mine, None], p, 0.0).sum(axis=1)
    return upper, lower


def wilcoxon(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    zeros: Literal["drop", "pratt", "split"] = "drop",
    alternative: Alternative = "two-sided",
    continuity: bool = False,
    method: Literal["auto", "asymptotic", "exact"] = "auto",
    nan: NanPolicy = "propagate",
) -> Tested:
    """Test along the last axis whether paired differences lie around 0.

    Thousands of samples in one call, each equal to SciPy's ``wilcoxon(a, b)``. The statistic is
    the smaller sum of ranks, or with a one-sided alternative that of the positive differences.

    Parameters
    ----------
    a, b : array-like of shape (..., n)
        Paired samples, the leading axes broadcast; without ``b``, ``a`` holds the differences.
    zeros : {"drop", "pratt", "split"}
        Pairs without a difference are left out; or ranked and then left out; or ranked and half
        counted on each side (SciPy's ``wilcox``, ``pratt`` and ``zsplit``).
    alternative : {"two-sided", "less", "greater"}
        What ``a`` is, next to ``b``, when the test rejects.
    continuity : bool
        Whether the normal approximation is corrected for continuity. Ties always are.
    method : {"auto", "asymptotic", "exact"}
        ``auto`` is exact for up to 50 pairs without ties and zeros and up to 13 with them, else
        the normal approximation. ``exact`` with ties or zeros goes through all signs of the ranks
        at hand, for any number of pairs (SciPy rounds instead).
    nan : {"propagate", "omit", "raise"}
        What becomes of a cell with undefined differences: it is undefined, those pairs are left
        out, or an error.

    Notes
    -----
    Where all differences are 0 the p-value is 1, the exact one: whatever the signs, the sum of
    ranks is the same. SciPy says so up to 13 pairs and NaN beyond.

    Examples
    --------
    >>> statistic, p = wilcoxon([0.81, 0.83, 0.79, 0.86, 0.84], [0.80, 0.80, 0.81, 0.81, 0.80])
    >>> float(statistic), float(p)
    (2.0, 0.1875)

    References
    ----------
    Wilcoxon 1945, Individual Comparisons by Ranking Methods; Pratt 1959, Remarks on Zeros and
    Ties in the Wilcoxon Signed Rank Procedures.
    """
    check_option("treatment of zeros", zeros, _ZEROS)
    check_option("alternative", alternative, ALTERNATIVES)
    check_option("method", method, METHODS)
    d = floats(a, nan=nan)
    if b is not None:
        other = floats(b, nan=nan)
        if not d.ndim or not other.ndim or d.shape[-1] != other.shape[-1]:
            raise InputError(
                "Paired samples must have one length; they have shapes "
                f"{d.shape} and {other.shape}."
            )
        try:
            with np.errstate(invalid="ignore"):  # both infinite: no difference to speak of
                d = d - other
        except ValueError:
            raise InputError(
                "The leading axes of the two samples must broadcast; they have shapes "
                f"{d.shape} and {other.shape}."
            ) from None
    if not d.ndim or not d.shape[-1]:
        raise InputError("There must be one pair or more; there is none.")
    lead, width = d.shape[:-1], d.shape[-1]
    d = d.reshape(-1, width)
    zero, hole = d == 0, np.isnan(d)
    ranks = rank(np.where(zero, np.nan, np.abs(d)) if zeros == "drop" else np.abs(d))
    ranks = np.where(np.isnan(ranks), 0.0, ranks)
    plus = np.where(d > 0, ranks, 0.0).sum(axis=-1)
    minus = np.where(d < 0, ranks, 0.0).sum(axis=-1)
    half = np.where(zero, ranks, 0.0).sum(axis=-1) / 2.0 if zeros == "split" else 0.0
    p = _normal(d, zero, ranks, plus + half, zeros, alternative, continuity)
    if method != "asymptotic":
        p = _exact(d, zero, ranks, plus, alternative, p, everywhere=method == "exact")
    still = (zero | hole).all(axis=-1)
    p = np.where(still, 1.0, p)
    pairs = (~hole).sum(axis=-1)
    why = reasons(
        (hole.any(axis=-1) & (nan != "omit"), "a value is NaN"),
        (pairs == 0, "no pair is left"),
    )
    statistic = np.minimum(plus, minus) + half if alternative == "two-sided" else plus + half
    defined = why == ""
    return Tested(
        np.where(defined, statistic, np.nan).reshape(lead)[()],
        np.where(defined, p, np.nan).reshape(lead)[()],
        why.reshape(lead)[()],
    )


def _normal(
    d: Floats,
    zero: NDArray[np.bool_],
    ranks: Floats,
    plus: Floats,
    zeros: str,
    alternative: str,
    continuity: bool,
) -> Floats:
    """Give p-values by the normal approximation, corrected for ties."""
    count = (~np.isnan(d)).sum(axis=-1).astype(np.float64)
    none = zero.sum(axis=-1).astype(np.float64)
    if zeros == "drop":
        count = count - none
    middle = count * (count + 1.0) / 4.0
    spread = count * (count + 1.0) * (2.0 * count + 1.0)
    ranked = ~np.isnan(d) if zeros == "split" else ~np.isnan(d) & ~zero
    if zeros == "pratt":  # the ranks of the zeros are not drawn (Cureton 1967)
        middle = middle - none * (none + 1.0) / 4.0
        spread = spread - none * (none + 1.0) * (2.0 * none + 1.0)
    # members of a tie group share a rank: t^2 - 1 summed over members is t^3 - t over groups
    ordered = np.sort(np.where(ranked, ranks, np.inf), axis=-1)
    ties = _tie_sum(ordered)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = np.sqrt((spread - ties / 2.0) / 24.0)
        z = (plus - middle) / deviation
        if continuity:
            sign = {"greater": 1.0, "less": -1.0}.get(alternative, np.sign(z))
            z = z - sign * 0.5 / deviation
    if alternative == "two-sided":
        return np.asarray(2.0 * ndtr(-np.abs(z)))
    return np.asarray(ndtr(z) if alternative == "less" else ndtr(-z))


def _tie_sum(ordered: Floats) -> Floats:
    """Give the sum of t³ - t over groups of t equal finite values along sorted rows."""
    _, tied = sorted_ranks(ordered)
    out: Floats = np.where(np.isfinite(ordered), tied**2 - 1.0, 0.0).sum(axis=-1)
    return out


def _exact(
    d: Floats,
    zero: NDArray[np.bool_],
    ranks: Floats,
    plus: Floats,
    alternative: str,
    p: Floats,
    *,
    everywhere: bool,
) -> Floats:
    """Put exact p-values where they are wanted."""
    drawn = ~np.isnan(d) & ~zero
    ordered = np.sort(np.where(drawn, ranks, np.inf), axis=-1)
    tied = (_tie_sum(ordered) > 0) | zero.any(axis=-1)
    pairs = (~np.isnan(d)).sum(axis=-1)
    plain = ~tied & (pairs > 0) & (everywhere | (pairs <= _EXACT))
    upper, lower = np.ones(len(d)), np.ones(len(d))
    for n in np.unique(pairs[plain]):
        here = plain & (pairs == n)
        tail, most = _sum_tail(int(n)), int(n) * (int(n) + 1) // 2
        at = plus[here].astype(np.intp)
        upper[here], lower[here] = tail[at], tail[most - at]
    rough = tied & (everywhere | (pairs <= _EXACT_TIED))
    if rough.any():
        mine = np.where(drawn[rough], ranks[rough], 0.0)
        upper[rough], lower[rough] = _tied_tails(mine, plus[rough])
    if alternative == "two-sided":
        exact = np.minimum(2.0 * np.minimum(upper, lower), 1.0)
    else:
        exact = upper if alternative == "greater" else lower
    return np.where(plain | rough, exact, p)
