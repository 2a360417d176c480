"""Proportions: limits of one, of a difference or a ratio of two, and of pooled ones.

Everything is built from limits of single proportions by the method of variance estimates recovery
(MOVER): Newcombe's construction for differences, Donner and Zou's for ratios. The limits of the
single proportions are the modified Jeffreys limits and not Wilson's, because those keep their
level in each tail and at the high levels that many comparisons need.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, betaln, ndtr, ndtri

from isonomy._arrays import Floats
from isonomy._validate import check_share


def critical_value(confidence: float) -> float:
    """Return the multiplier of a two-sided normal interval: 1.96 for 0.95."""
    check_share("confidence", confidence)
    return float(-ndtri((1 - confidence) / 2))


def jeffreys_limits(
    share: ArrayLike, rows: ArrayLike, critical: ArrayLike
) -> tuple[Floats, Floats]:
    """Return the modified Jeffreys limits of proportions for a normal multiplier ``critical``.

    At 0 and at all of the rows the open end is the exact (Clopper-Pearson) one.
    """
    p, n = np.asarray(share, dtype=np.float64), np.asarray(rows, dtype=np.float64)
    tail = ndtr(-np.asarray(critical, dtype=np.float64))
    with np.errstate(invalid="ignore", divide="ignore"):
        hits, misses = p * n, (1 - p) * n
        none, every = hits <= 1e-9 * n, misses <= 1e-9 * n
        low = betaincinv(hits + 0.5, misses + 0.5, tail)
        # the upper limit of a share is one less the lower limit of its complement, to every digit
        high = 1 - betaincinv(misses + 0.5, hits + 0.5, tail)
        edge = -np.expm1(np.log(tail) / n)
    low = np.where(none, 0.0, np.where(every, 1 - edge, low))
    high = np.where(every, 1.0, np.where(none, edge, high))
    known = n > 0
    low, high = np.where(known, low, np.nan), np.where(known, high, np.nan)
    return np.minimum(low, p), np.maximum(high, p)


def jeffreys_interval(
    share: ArrayLike, rows: ArrayLike, *, confidence: float = 0.95
) -> tuple[Floats, Floats]:
    """Return the modified Jeffreys interval of a proportion, for arrays of them.

    Parameters
    ----------
    share : array-like
        Observed proportions.
    rows : array-like
        How many observations each rests on; with weights, the effective number.
    confidence : float
        How often such intervals hold the truth.

    Examples
    --------
    >>> low, high = jeffreys_interval([0.0, 0.5], [40, 100])
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.4032], [0.0881, 0.5968])

    References
    ----------
    Brown, Cai and DasGupta 2001, Interval Estimation for a Binomial Proportion.
    """
    return jeffreys_limits(share, rows, critical_value(confidence))


def mover_difference(
    estimates: ArrayLike, low: ArrayLike, high: ArrayLike, coefficients: ArrayLike
) -> tuple[Floats, Floats]:
    """Return limits of a sum of independent estimates times coefficients, over the last axis.

    Each margin is the root of the sum of squares of the margins of the parts on the side that
    matters, so asymmetric limits stay asymmetric.

    Examples
    --------
    >>> low, high = mover_difference([0.5, 0.2], [0.4, 0.1], [0.6, 0.4], [1, -1])
    >>> round(float(low), 4), round(float(high), 4)
    (0.0764, 0.4414)

    References
    ----------
    Zou and Donner 2008, Construction of Confidence Limits about Effect Measures.
    """
    value, c = np.asarray(estimates, dtype=np.float64), np.asarray(coefficients, dtype=np.float64)
    down, up = c * (value - np.asarray(low)), c * (np.asarray(high) - value)
    middle = (c * value).sum(axis=-1)
    below = np.where(c > 0, down, up)
    above = np.where(c > 0, up, down)
    return (
        middle - np.sqrt((below**2).sum(axis=-1)),
        middle + np.sqrt((above**2).sum(axis=-1)),
    )


def mover_ratio(
    top: ArrayLike,
    top_low: ArrayLike,
    top_high: ArrayLike,
    bottom: ArrayLike,
    bottom_low: ArrayLike,
    bottom_high: ArrayLike,
) -> tuple[Floats, Floats]:
    """Return limits of a ratio of two independent estimates, none negative.

    An upper limit is infinite where the estimate below may be 0.

    References
    ----------
    Donner and Zou 2012, Closed-form Confidence Intervals for Functions of the Normal Mean and
    Standard Deviation; the form for ratios is Newcombe's (2016, MOVER-R).
    """
    p, l1, u1 = (np.asarray(x, dtype=np.float64) for x in (top, top_low, top_high))
    q, l2, u2 = (np.asarray(x, dtype=np.float64) for x in (bottom, bottom_low, bottom_high))
    product = p * q
    with np.errstate(invalid="ignore", divide="ignore"):
        # multiplied out, so that 2q = u2 is no division by zero
        inside = product**2 - l1 * u2 * (2 * p - l1) * (2 * q - u2)
        low = l1 * (2 * p - l1) / (product + np.sqrt(np.maximum(inside, 0.0)))
        inside = product**2 - u1 * l2 * (2 * p - u1) * (2 * q - l2)
        high = (product + np.sqrt(np.maximum(inside, 0.0))) / (l2 * (2 * q - l2))
    known = ~(np.isnan(p) | np.isnan(q))
    low = np.where(l1 <= 0, 0.0, low)
    high = np.where(l2 <= 0, np.inf, high)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def difference_interval(
    share: ArrayLike,
    rows: ArrayLike,
    other_share: ArrayLike,
    other_rows: ArrayLike,
    *,
    confidence: float = 0.95,
) -> tuple[Floats, Floats]:
    """Return the interval of a difference of two proportions, for arrays of them.

    Newcombe's construction with modified Jeffreys limits.

    Examples
    --------
    >>> low, high = difference_interval(0.0, 40, 38 / 960, 960)
    >>> round(float(low), 4), round(float(high), 4)
    (-0.0533, 0.0492)

    References
    ----------
    Newcombe 1998, Interval Estimation for the Difference between Independent Proportions; Laud
    2017, Equal-tailed Confidence Intervals for Comparison of Rates.
    """
    one = np.broadcast_arrays(share, *jeffreys_interval(share, rows, confidence=confidence))
    two = np.broadcast_arrays(
        other_share, *jeffreys_interval(other_share, other_rows, confidence=confidence)
    )
    parts = [np.stack(np.broadcast_arrays(a, b), axis=-1) for a, b in zip(one, two, strict=True)]
    return mover_difference(parts[0], parts[1], parts[2], [1.0, -1.0])


def ratio_interval(
    share: ArrayLike,
    rows: ArrayLike,
    other_share: ArrayLike,
    other_rows: ArrayLike,
    *,
    confidence: float = 0.95,
) -> tuple[Floats, Floats]:
    """Return the interval of a ratio of two proportions, for arrays of them; zeros are allowed.

    Examples
    --------
    >>> low, high = ratio_interval(0.0, 40, 38 / 960, 960)
    >>> round(float(low), 4), round(float(high), 2)
    (0.0, 2.32)

    References
    ----------
    Donner and Zou 2012; Laud 2017, Equal-tailed Confidence Intervals for Comparison of Rates.
    """
    one = jeffreys_interval(share, rows, confidence=confidence)
    two = jeffreys_interval(other_share, other_rows, confidence=confidence)
    return mover_ratio(share, *one, other_share, *two)


def partial_pooling(
    share: ArrayLike, rows: ArrayLike, *, confidence: float = 0.95
) -> tuple[Floats, Floats, Floats]:
    """Return the shares of groups drawn towards their common mean, with intervals.

    Groups are taken as drawn from one beta distribution, which is learned from all of them: a small
    group moves far, a large one hardly. How wide that distribution is, few groups do not say, so
    the estimates are means over all widths by their probability (uniform shrinkage prior), and
    the limits allow for the width and the mean that are not known.

    Returns
    -------
    estimates, low, high : ndarray
        Posterior means, and equal-tailed limits of the beta distribution with the posterior mean
        and variance; NaN for a group without rows.

    Examples
    --------
    >>> estimates, low, high = partial_pooling([0.5, 0.6, 0.0], [1000, 900, 4])
    >>> bool(0.3 < estimates[2] < 0.55)  # four rows say little
    True

    References
    ----------
    Efron and Morris 1975, Data Analysis Using Stein's Estimator and its Generalizations.
    Christiansen and Morris 1997, Hierarchical Poisson Regression Modeling.
    """
    check_share("confidence", confidence)
    p, n = np.asarray(share, dtype=np.float64), np.asarray(rows, dtype=np.float64)
    known = (n > 0) & ~np.isnan(p)
    out = np.full((3, *p.shape), np.nan)
    if not known.any():
        return out[0], out[1], out[2]
    hits, misses = (p * n)[known], ((1 - p) * n)[known]

    def likelihood(mean: Floats, size: Floats) -> Floats:
        a, b = mean * size, (1 - mean) * size
        terms = betaln(a[:, None] + hits, b[:, None] + misses) - betaln(a, b)[:, None]
        return np.asarray(terms.sum(axis=1))

    # a grid of sizes, each with its mean: few groups do not say which, so that all of them count
    seen = hits + misses
    size = np.geomspace(0.5, 1e6, 41)[:, None]
    weights = seen / (1 + (seen - 1).clip(0) / (size + 1))
    total = weights.sum(axis=1, keepdims=True)
    # half an event and half a non-event more: without either, few rows do not show a mean of 0
    means = ((weights * (hits / seen)).sum(axis=1, keepdims=True) + 0.5) / (total + 1)
    doubt = means * (1 - means) / (total + 2)
    # before the data, the pull on a group of usual size is anything from none to all; the grid is
    # even in the logarithm of the size
    usual = len(seen) / (1 / seen).sum()
    prior = np.log(usual * size / (usual + size) ** 2) + np.log(doubt / (means * (1 - means))) / 2
    chance = likelihood(means[:, 0], size[:, 0]) + prior[:, 0]
    chance = np.exp(chance - chance.max())[:, None]
    chance /= chance.sum()
    pull = size / (size + seen)
    each = pull * means + (1 - pull) * hits / seen
    center = (chance * each).sum(axis=0)
    # the law's mean is estimated, too: its variance counts by its share in the estimate
    variance = each * (1 - each) / (size + seen + 1) + pull**2 * doubt + (each - center) ** 2
    alike = center * (1 - center) / (chance * variance).sum(axis=0) - 1
    tail = (1 - confidence) / 2
    out[0][known] = center
    out[1][known] = betaincinv(center * alike, (1 - center) * alike, tail)
    out[2][known] = 1 - betaincinv((1 - center) * alike, center * alike, tail)
    return out[0], out[1], out[2]


def mantel_haenszel(
    share: ArrayLike,
    rows: ArrayLike,
    other_share: ArrayLike,
    other_rows: ArrayLike,
    *,
    confidence: float = 0.95,
) -> tuple[Floats, Floats, Floats]:
    """Return the difference of two proportions within strata, over the last axis, with limits.

    Each stratum has the weight ``n m / (n + m)`` (Mantel and Haenszel); a stratum that lacks one
    of the two groups says nothing. The variance is Sato's, which holds both for few large strata
    and for many small ones.

    Examples
    --------
    >>> gap, low, high = mantel_haenszel([0.8, 0.1], [50, 400], [0.6, 0.05], [500, 60])
    >>> round(float(gap), 3), bool(low > 0)
    (0.12, True)

    References
    ----------
    Sato 1989, On the Variance Estimator for the Mantel-Haenszel Risk Difference.
    """
    p, n, q, m = (
        np.nan_to_num(np.asarray(x, dtype=np.float64))
        for x in (share, rows, other_share, other_rows)
    )
    critical = critical_value(confidence)
    with np.errstate(invalid="ignore", divide="ignore"):
        total = np.where((n > 0) & (m > 0), n + m, np.inf)
        weight = (n * m / total).sum(axis=-1)
        gap = ((p - q) * n * m / total).sum(axis=-1) / weight
        first = (n**2 * q * m - m**2 * p * n + n * m * (m - n) / 2) / total**2
        second = (p * n * (m - q * m) + q * m * (n - p * n)) / (2 * total)
        variance = (gap * first.sum(axis=-1) + second.sum(axis=-1)) / weight**2
        half = critical * np.sqrt(np.maximum(variance, 0.0))
    return np.asarray(gap), np.asarray(gap - half), np.asarray(gap + half)
