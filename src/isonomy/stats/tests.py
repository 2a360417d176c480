"""Tests on many pairs of samples at once: Mann-Whitney U and Spearman's correlation."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtr

from isonomy.errors import InputError
from isonomy.stats._samples import (
    Alternative,
    Floats,
    NanPolicy,
    Words,
    check_option,
    floats,
    reasons,
    two_samples,
)
from isonomy.stats.ranks import pair_ranks, rank

__all__ = ["ALTERNATIVES", "METHODS", "Spearman", "Tested", "mann_whitney", "spearman"]

ALTERNATIVES = ("two-sided", "less", "greater")
METHODS = ("auto", "asymptotic", "exact")
_SMALL = 8
"""Up to this size of the smaller sample SciPy too prefers the exact distribution."""


@dataclass(frozen=True, eq=False)
class Tested:
    """What a test says of every cell: its statistic and p-value; unpacks as these two.

    ``reason`` says why a cell is NaN; it is the empty text elsewhere.
    """

    statistic: Floats
    pvalue: Floats
    reason: Words

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.statistic, self.pvalue))


@dataclass(frozen=True, eq=False)
class Spearman:
    """Correlation and p-value of every cell, and why a cell is NaN; unpacks as the first two."""

    correlation: Floats
    pvalue: Floats
    reason: Words

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.correlation, self.pvalue))


@lru_cache(maxsize=64)
def _u_tail(n: int, m: int) -> Floats:
    """Give P(U >= u) for u = 0 ... n m when nothing is tied and the samples are alike."""
    # p(n, m) = m / (n + m) p(n, m - 1) + n / (n + m) p(n - 1, m) moved by m: the largest of all
    # values belongs to the second or to the first sample
    rows = [np.ones(1) for _ in range(m + 1)]
    for i in range(1, n + 1):
        rows[0] = np.ones(1)
        for j in range(1, m + 1):
            new = np.zeros(i * j + 1)
            new[: i * (j - 1) + 1] += j / (i + j) * rows[j - 1]
            new[j:] += i / (i + j) * rows[j]
            rows[j] = new
    return np.cumsum(rows[m][::-1])[::-1]


def mann_whitney(
    a: ArrayLike,
    b: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    continuity: bool = True,
    method: Literal["auto", "asymptotic", "exact"] = "auto",
    nan: NanPolicy = "propagate",
) -> Tested:
    """Test along the last axis whether one of two samples tends to be larger.

    Thousands of pairs in one call, each equal to SciPy's ``mannwhitneyu(a, b)``. The statistic
    counts the pairs in which ``a`` is larger, ties as half.

    Parameters
    ----------
    a, b : array-like of shape (..., n) and (..., m)
        Samples; the leading axes broadcast.
    alternative : {"two-sided", "less", "greater"}
        What ``a`` is when the test rejects.
    continuity : bool
        Whether the normal approximation is corrected for continuity. Ties always are.
    method : {"auto", "asymptotic", "exact"}
        ``auto`` is exact in cells without ties where one sample has at most 8 values, else the
        normal approximation. With ties there is no exact distribution: NaN.
    nan : {"propagate", "omit", "raise"}
        What becomes of a cell with undefined values: it is undefined, they are left out, or an
        error.

    Examples
    --------
    >>> statistic, p = mann_whitney([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0])
    >>> float(statistic), round(float(p), 4)
    (0.0, 0.0079)
    >>> mann_whitney([[1.0, 2.0], [3.0, float("nan")]], [5.0, 6.0]).reason.tolist()
    ['', 'a value is NaN']

    References
    ----------
    Mann and Whitney 1947, On a Test of Whether one of Two Random Variables is Stochastically
    Larger than the Other.
    """
    check_option("alternative", alternative, ALTERNATIVES)
    check_option("method", method, METHODS)
    first, second = two_samples(a, b, nan=nan)
    above, ties, n, m = pair_ranks(first, second)
    pairs, total = n * m, n + m
    if alternative == "two-sided":
        far, sides = np.maximum(above, pairs - above), 2.0
    else:
        far, sides = (above if alternative == "greater" else pairs - above), 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(pairs / 12.0 * ((total + 1) - ties / (total * (total - 1))))
        away = far - pairs / 2.0 - (0.5 if continuity else 0.0)
        p = np.asarray(np.clip(sides * ndtr(-away / spread), 0.0, 1.0))
    # without continuity equal constants are 0 / 0: nothing speaks for a difference
    p = np.where((spread == 0) & (away == 0), 1.0, p)
    free = ties == 0
    if method != "asymptotic":
        wanted = free & (np.minimum(n, m) > 0)
        if method == "auto":
            wanted = wanted & (np.minimum(n, m) <= _SMALL)
        for i, j in {(int(i), int(j)) for i, j in zip(n[wanted], m[wanted], strict=True)}:
            here = wanted & (n == i) & (m == j)
            p[here] = np.minimum(sides * _u_tail(i, j)[np.asarray(far)[here].astype(np.intp)], 1.0)
    hole = (n < first.shape[-1]) | (m < second.shape[-1]) if nan != "omit" else np.False_
    why = reasons(
        (hole, "a value is NaN"),
        ((n == 0) | (m == 0), "no value is left"),
        (~free if method == "exact" else np.zeros_like(free), "ties have no exact distribution"),
    )
    return Tested(
        np.where(hole | (pairs == 0), np.nan, above)[()], np.where(why == "", p, np.nan)[()], why
    )


def spearman(a: ArrayLike, b: ArrayLike, *, nan: NanPolicy = "propagate") -> Spearman:
    """Correlate the ranks of two samples along the last axis, two-sided.

    Equal to SciPy's ``spearmanr``, for many pairs in one call. A constant sample has no
    correlation: NaN. With ``nan="omit"`` a pair with an undefined value is left out.

    Examples
    --------
    >>> correlation, p = spearman([1.0, 2.0, 3.0, 4.0, 5.0], [5.0, 6.0, 7.0, 8.0, 7.0])
    >>> round(float(correlation), 4), round(float(p), 4)
    (0.8208, 0.0886)

    References
    ----------
    Spearman 1904, The Proof and Measurement of Association between Two Things.
    """
    try:
        x, y = np.broadcast_arrays(floats(a, nan=nan), floats(b, nan=nan))
    except ValueError as error:
        raise InputError(f"The two samples must have one length; got {error}.") from None
    if not x.ndim or x.shape[-1] < 3:
        raise InputError(
            f"A rank correlation needs three pairs or more; got {x.shape[-1] if x.ndim else 1}."
        )
    known = ~(np.isnan(x) | np.isnan(y))
    hole = ~known.all(axis=-1)
    n = known.sum(axis=-1)
    x, y = (rank(np.where(known, side, np.nan)) for side in (x, y))
    middle = (n[..., None] + 1) / 2.0
    x, y = (np.where(known, side - middle, 0.0) for side in (x, y))
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (x * y).sum(axis=-1) / np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1))
        r = np.clip(r, -1.0, 1.0)
        t = np.abs(r) * np.sqrt((n - 2) / ((1.0 + r) * (1.0 - r)))
        p = 2.0 * stdtr(np.maximum(n - 2, 1), -t)
    why = reasons(
        (hole & (nan != "omit"), "a value is NaN"),
        (n < 3, "fewer than three pairs are left"),
        (np.isnan(r), "a sample is constant"),
    )
    defined = why == ""
    return Spearman(np.where(defined, r, np.nan)[()], np.where(defined, p, np.nan)[()], why)
