"""Tests on many pairs of samples at once: Mann-Whitney U and Spearman's correlation."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, stdtr

from isonomy.errors import InputError
from isonomy.stats.ranks import rank, sorted_ranks

__all__ = ["MannWhitney", "Spearman", "mann_whitney", "spearman"]

Floats = NDArray[np.float64]


class MannWhitney(NamedTuple):
    """Statistic of the first sample, and the two-sided p-value."""

    statistic: Floats
    pvalue: Floats


class Spearman(NamedTuple):
    """Correlation and two-sided p-value."""

    correlation: Floats
    pvalue: Floats


def mann_whitney(a: ArrayLike, b: ArrayLike) -> MannWhitney:
    """Test along the last axis whether one of two samples tends to be larger, two-sided.

    The normal approximation with corrections for ties and continuity, equal to SciPy's
    ``mannwhitneyu(a, b, method="asymptotic")``, for thousands of pairs in one call. Where a value
    is NaN the result is.

    Parameters
    ----------
    a, b : array-like of shape (..., n) and (..., m)
        Samples; the leading axes broadcast.

    Examples
    --------
    >>> statistic, p = mann_whitney([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0])
    >>> float(statistic), round(float(p), 4)
    (0.0, 0.0122)

    References
    ----------
    Mann and Whitney 1947, On a Test of Whether one of Two Random Variables is Stochastically
    Larger than the Other.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if not first.ndim or not second.ndim or not first.shape[-1] or not second.shape[-1]:
        raise InputError("Each sample must hold one value or more; one is empty.")
    try:
        lead = np.broadcast_shapes(first.shape[:-1], second.shape[:-1])
    except ValueError:
        raise InputError(
            "The leading axes of the two samples must broadcast; they have shapes "
            f"{first.shape} and {second.shape}."
        ) from None
    n, m = first.shape[-1], second.shape[-1]
    both = np.concatenate(
        [np.broadcast_to(first, (*lead, n)), np.broadcast_to(second, (*lead, m))], axis=-1
    )
    order = np.argsort(both, axis=-1)
    ranks, tied = sorted_ranks(np.take_along_axis(both, order, axis=-1))
    larger = np.where(order < n, ranks, 0.0).sum(axis=-1) - n * (n + 1) / 2.0
    total = n + m
    # the sum of t^3 - t over tie groups is that of t^2 - 1 over their members
    ties = (tied**2 - 1.0).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(n * m / 12.0 * ((total + 1) - ties / (total * (total - 1))))
        away = np.maximum(larger, n * m - larger) - n * m / 2.0 - 0.5
        p = np.clip(2.0 * ndtr(-away / spread), 0.0, 1.0)
    undefined = np.isnan(both).any(axis=-1)
    return MannWhitney(np.where(undefined, np.nan, larger)[()], np.where(undefined, np.nan, p)[()])


def spearman(a: ArrayLike, b: ArrayLike) -> Spearman:
    """Correlate the ranks of two samples along the last axis.

    Equal to SciPy's ``spearmanr``, for many pairs in one call. A constant sample has no
    correlation: NaN.

    Examples
    --------
    >>> correlation, p = spearman([1.0, 2.0, 3.0, 4.0, 5.0], [5.0, 6.0, 7.0, 8.0, 7.0])
    >>> round(float(correlation), 4), round(float(p), 4)
    (0.8208, 0.0886)

    References
    ----------
    Spearman 1904, The Proof and Measurement of Association between Two Things.
    """
    x, y = (rank(sample) for sample in np.broadcast_arrays(a, b))
    n = x.shape[-1]
    if n < 3:
        raise InputError(f"A rank correlation needs three pairs or more; got {n}.")
    x, y = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (x * y).sum(axis=-1) / np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1))
        r = np.clip(r, -1.0, 1.0)
        t = np.abs(r) * np.sqrt((n - 2) / ((1.0 + r) * (1.0 - r)))
        p = 2.0 * stdtr(n - 2, -t)
    return Spearman(np.asarray(r)[()], np.asarray(p)[()])
