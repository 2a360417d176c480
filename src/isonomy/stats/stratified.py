"""Two proportions compared within strata: common ratios, and whether strata agree.

Every function takes the hits among the rows of two groups, stratum by stratum along the last axis;
leading axes broadcast. A stratum that lacks one of the two groups says nothing.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from isonomy._arrays import Floats, divide
from isonomy.stats._samples import reasons
from isonomy.stats.proportions import critical_value
from isonomy.stats.tests import Tested
from isonomy.stats.two_by_two import two_by_two

Cells = tuple[Floats, Floats, Floats, Floats]


def _strata(
    hits: ArrayLike, rows: ArrayLike, other_hits: ArrayLike, other_rows: ArrayLike
) -> tuple[Cells, Floats]:
    """Return hits and misses of both groups, 0 where a stratum says nothing, and the sizes."""
    x, n, y, m = (np.atleast_1d(v) for v in two_by_two(hits, rows, other_hits, other_rows))
    cells = (x, n - x, y, m - y)
    a, b, c, d = (np.nan_to_num(v) for v in cells)
    return (a, b, c, d), np.where(np.isnan(n), 1.0, n + m)


def _around(value: Floats, variance: Floats, confidence: float) -> tuple[Floats, Floats, Floats]:
    """Return a ratio with limits that are even on the log scale."""
    with np.errstate(invalid="ignore", over="ignore"):
        away = np.exp(critical_value(confidence) * np.sqrt(variance))
        return value[()], np.asarray(value / away)[()], np.asarray(value * away)[()]


def mantel_haenszel_test(
    hits: ArrayLike,
    rows: ArrayLike,
    other_hits: ArrayLike,
    other_rows: ArrayLike,
    *,
    continuity: bool = False,
) -> Tested:
    """Test whether two proportions are equal in all strata, over the last axis.

    Parameters
    ----------
    hits, rows, other_hits, other_rows : array-like of shape (..., strata)
        Hits of one group among its rows, and of the other.
    continuity : bool
        Whether the statistic is corrected for continuity by one half.

    Returns
    -------
    Tested
        Chi-squared with one degree of freedom, its p-value, and why it is undefined.

    Examples
    --------
    >>> chi2, p = mantel_haenszel_test([8, 20], [10, 40], [60, 5], [100, 20])
    >>> round(float(chi2), 3), round(float(p), 4)
    (4.859, 0.0275)

    References
    ----------
    Mantel and Haenszel 1959, Statistical Aspects of the Analysis of Data from Retrospective Studies.
    """
    (a, b, c, d), size = _strata(hits, rows, other_hits, other_rows)
    n, m, drawn = a + b, c + d, a + c
    away = np.abs((a - n * drawn / size).sum(axis=-1))
    spread = n * m * drawn * (size - drawn) / (size**2 * np.maximum(size - 1, 1.0))
    variance = np.asarray(spread.sum(axis=-1))
    lessened = np.maximum(away - (0.5 if continuity else 0.0), 0.0)
    statistic = np.where(variance > 0, divide(lessened**2, variance), np.nan)
    why = reasons((variance == 0, "no stratum holds both groups with hits and misses"))
    return Tested(statistic[()], np.asarray(chdtrc(1, statistic))[()], why)


def mantel_haenszel_odds(
    hits: ArrayLike,
    rows: ArrayLike,
    other_hits: ArrayLike,
    other_rows: ArrayLike,
    *,
    confidence: float = 0.95,
) -> tuple[Floats, Floats, Floats]:
    """Return the common odds ratio of strata with its limits, over the last axis.

    The limits hold both for few large strata and for many small ones.

    Examples
    --------
    >>> value, low, high = mantel_haenszel_odds([8, 20], [10, 40], [60, 5], [100, 20])
    >>> round(float(value), 3), round(float(low), 3), round(float(high), 3)
    (2.868, 1.102, 7.464)

    References
    ----------
    Robins, Breslow and Greenland 1986, Estimators of the Mantel-Haenszel Variance Consistent in both
    Sparse Data and Large-strata Limiting Models.
    """
    (a, b, c, d), size = _strata(hits, rows, other_hits, other_rows)
    r, s, p, q = a * d / size, b * c / size, (a + d) / size, (b + c) / size
    up, down = r.sum(axis=-1), s.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = (
            (p * r).sum(axis=-1) / (2 * up**2)
            + (p * s + q * r).sum(axis=-1) / (2 * up * down)
            + (q * s).sum(axis=-1) / (2 * down**2)
        )
    return _around(divide(up, down), variance, confidence)


def mantel_haenszel_ratio(
    hits: ArrayLike,
    rows: ArrayLike,
    other_hits: ArrayLike,
    other_rows: ArrayLike,
    *,
    confidence: float = 0.95,
) -> tuple[Floats, Floats, Floats]:
    """Return the common ratio of two proportions in strata with its limits, over the last axis.

    Examples
    --------
    >>> value, low, high = mantel_haenszel_ratio([8, 20], [10, 40], [60, 5], [100, 20])
    >>> round(float(value), 3), round(float(low), 3), round(float(high), 3)
    (1.586, 1.061, 2.37)

    References
    ----------
    Greenland and Robins 1985, Estimation of a Common Effect Parameter from Sparse Follow-up Data.
    """
    (a, b, c, d), size = _strata(hits, rows, other_hits, other_rows)
    n, m = a + b, c + d
    up, down = (a * m / size).sum(axis=-1), (c * n / size).sum(axis=-1)
    spread = ((n * m * (a + c) - a * c * size) / size**2).sum(axis=-1)
    return _around(divide(up, down), divide(spread, up * down), confidence)


def breslow_day(
    hits: ArrayLike,
    rows: ArrayLike,
    other_hits: ArrayLike,
    other_rows: ArrayLike,
    *,
    tarone: bool = True,
) -> Tested:
    """Test whether the odds ratio is the same in all strata, over the last axis.

    Parameters
    ----------
    hits, rows, other_hits, other_rows : array-like of shape (..., strata)
        As in :func:`mantel_haenszel_test`.
    tarone : bool
        Whether the statistic is corrected for the estimated common odds ratio.

    Returns
    -------
    Tested
        Chi-squared with one degree of freedom less than there are strata that hold both groups and
        both hits and misses.

    Examples
    --------
    >>> chi2, p = breslow_day([8, 20], [10, 40], [60, 5], [100, 20])
    >>> round(float(chi2), 4), round(float(p), 4)
    (0.0134, 0.9078)

    References
    ----------
    Breslow and Day 1980, Statistical Methods in Cancer Research I; Tarone 1985, On Heterogeneity
    Tests based on Efficient Scores.
    """
    (a, b, c, d), size = _strata(hits, rows, other_hits, other_rows)
    common = np.asarray(mantel_haenszel_odds(a, a + b, c, c + d)[0])[..., None]
    n, m, drawn = a + b, c + d, a + c
    telling = (n > 0) & (m > 0) & (drawn > 0) & (drawn < size)
    with np.errstate(divide="ignore", invalid="ignore"):
        # the hits that the common odds ratio expects: the root of a quadratic without cancellation
        slope = common * (n + drawn) + m - drawn
        root = np.sqrt(np.maximum(slope**2 - 4 * (common - 1) * common * n * drawn, 0.0))
        expected = 2 * common * n * drawn / (slope + root)
        variance = 1 / (
            1 / expected + 1 / (n - expected) + 1 / (drawn - expected) + 1 / (m - drawn + expected)
        )
        each = np.where(telling, (a - expected) ** 2 / variance, 0.0).sum(axis=-1)
        away = np.where(telling, a - expected, 0.0).sum(axis=-1)
        spread = np.where(telling, variance, 0.0).sum(axis=-1)
        statistic = np.maximum(each - (away**2 / spread if tarone else 0.0), 0.0)
    free = telling.sum(axis=-1) - 1
    odd = ~((common[..., 0] > 0) & np.isfinite(common[..., 0]))
    why = reasons(
        (free < 1, "fewer than two strata hold both groups with hits and misses"),
        (odd, "the common odds ratio is 0 or infinite"),
    )
    statistic = np.where(why == "", statistic, np.nan)
    return Tested(statistic[()], np.asarray(chdtrc(np.maximum(free, 1), statistic))[()], why)
