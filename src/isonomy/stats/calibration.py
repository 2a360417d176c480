"""Are probabilities what they say? Calibration error less its noise, slope and intercept, Z."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, expit, gammainc, gammaincinv, logit, ndtri

from isonomy._arrays import Floats, divide
from isonomy._validate import check_share

STEPS = 40
"""Halvings of a bisection, and most Newton steps."""


class Estimate(NamedTuple):
    """A value with its interval; arrays for many samples along leading axes."""

    value: Floats
    low: Floats
    high: Floats


def corrected_calibration_error(
    share: ArrayLike,
    score: ArrayLike,
    rows: ArrayLike,
    mass: ArrayLike | None = None,
    *,
    confidence: float | None = 0.95,
) -> Estimate:
    """Return the calibration error of bins less what chance adds to it, with an interval.

    The plain error, the mean of ``|share - score|`` over the bins, is above 0 even where every score is
    right, because shares of few rows are noisy. The value is the error at which binomial labels
    would show the plain one on average, were all gaps what they seem times one factor. Chance adds
    most where gaps are in one bin and least where all bins share them, so the lower limit is that
    of the first case, the upper that of the second. The lower limit is 0 where perfectly
    calibrated scores would show as much.

    Parameters
    ----------
    share, score, rows : array-like of shape (..., bins)
        Share of favorable labels, mean score and (effective) rows of each bin.
    mass : array-like of shape (..., bins), optional
        Weight of each bin; its rows unless said.
    confidence : float or None
        How often the interval holds the calibration error of these bins; None for no interval.

    Examples
    --------
    >>> found = corrected_calibration_error([0.1, 0.6, 0.8], [0.2, 0.5, 0.8], [20, 20, 20])
    >>> [round(float(x), 3) for x in found]  # the plain error is 0.067
    [0.0, 0.0, 0.13]

    References
    ----------
    Kumar, Liang, Ma 2019, Verified Uncertainty Calibration; Bröcker 2012, Estimating Reliability
    and Resolution of Probability Forecasts through Decomposition of the Empirical Score.
    """
    if confidence is not None:
        check_share("confidence", confidence)
    observed, expected, n = (np.asarray(x, dtype=np.float64) for x in (share, score, rows))
    weights = np.where(n > 0, n if mass is None else np.asarray(mass, dtype=np.float64), 0.0)
    weights = divide(weights, weights.sum(axis=-1, keepdims=True))
    n = np.maximum(n, 1.0)
    gaps = np.where(weights > 0, observed - expected, 0.0)
    expected = np.where(weights > 0, expected, 0.5)
    plain = (weights * np.abs(gaps)).sum(axis=-1)
    middling = (n * expected + 0.5) / (n + 1)
    noise = np.where(gaps < 0, -1.0, 1.0) * np.sqrt(middling * (1 - middling) / n)
    seen = np.where(gaps < 0, -1.0, 1.0) * np.maximum(np.abs(gaps), np.abs(noise) / 2)

    def total(p: Floats, around: Floats) -> tuple[Floats, Floats]:
        mean, variance = _absolute_gap(p, around, n)
        return (weights * mean).sum(axis=-1), (weights**2 * variance).sum(axis=-1)

    def shares(factor: Floats, lean: Floats) -> Floats:
        return np.clip(expected + factor[..., None] * lean, 0.0, 1.0)

    def error(lean: Floats, is_enough: Callable[[Floats, Floats], Any]) -> tuple[Floats, Floats]:
        low, high = np.zeros(plain.shape), (1 / np.abs(lean)).max(axis=-1)
        always = is_enough(*total(expected, expected))
        for _ in range(STEPS):
            middle = (low + high) / 2
            enough = is_enough(*total(shares(middle, lean), expected))
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        p = shares(np.where(always, 0.0, high), lean)
        return (weights * np.abs(p - expected)).sum(axis=-1), p

    value, likely = error(seen, lambda mean, _: mean >= plain)
    if confidence is None:
        value = np.where(np.isnan(plain), np.nan, value)
        return Estimate(value, *np.full((2, *plain.shape), np.nan))
    tail = (1 - confidence) / 2
    high, _ = error(noise, lambda mean, variance: _below(plain, mean, variance) <= tail)
    chance = [_quantile(1 - tail, *total(p, p)) for p in (expected, likely)]
    low = np.maximum(plain - np.maximum(*chance), 0.0)
    return Estimate(*(np.where(np.isnan(plain), np.nan, x) for x in (value, low, high)))


def _below(x: Floats, mean: Floats, variance: Floats) -> Floats:
    """Return the chance of at most x, for a gamma law of that mean and variance."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(variance > 0, gammainc(mean**2 / variance, x * mean / variance), x >= mean)


def _quantile(share: float, mean: Floats, variance: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        found = gammaincinv(mean**2 / variance, share) * variance / mean
    return np.where(variance > 0, found, mean)


def _absolute_gap(p: Floats, score: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of |X / n - score| for binomial X of n rows and chance p."""
    point = n * score
    whole = np.minimum(np.floor(point + 1e-9), n - 1e-9)
    first = betainc(n - whole, whole + 1, 1 - p)
    second = np.where(whole > 0, betainc(n - whole, np.maximum(whole, 1e-300), 1 - p), 0.0)
    below = np.maximum(point * first - n * p * second, 0.0)
    mean = np.maximum(2 * below + n * p - point, 0.0) / n
    square = p * (1 - p) / n + (p - score) ** 2
    return mean, np.maximum(square - mean**2, 0.0)


def logistic_calibration(
    y: ArrayLike,
    score: ArrayLike,
    weight: ArrayLike | None = None,
    rows: ArrayLike | None = None,
    *,
    confidence: float = 0.95,
) -> tuple[Estimate, Estimate]:
    """Return the calibration slope and the calibration intercept, with intervals.

    The slope b is that of logit P(y) = a + b logit(score): below 1 where scores are too extreme,
    above where they are too timid. The intercept a is that of logit P(y) = a + logit(score), the
    calibration in the large: above 0 where scores are too low.

    Both are NaN where the likelihood has no maximum: one class only, scores of 0 or 1, and for the
    slope scores that separate the classes.

    Parameters
    ----------
    y, score : array-like of shape (..., n)
        1 where the label is favorable, and its probability.
    weight : array-like, optional
        Weights of the rows (of an entry, where it stands for several).
    rows : array-like, optional
        How many rows an entry stands for; 1 unless said.
    confidence : float

    Examples
    --------
    >>> score = np.repeat([0.2, 0.4, 0.6, 0.8], 10)
    >>> y = np.concatenate([np.arange(10) < k for k in (1, 4, 6, 9)])  # more extreme than scores
    >>> slope, intercept = logistic_calibration(y, score)
    >>> round(float(slope.value), 2), abs(round(float(intercept.value), 2))
    (1.48, 0.0)

    References
    ----------
    Cox 1958, Two Further Applications of a Model for Binary Regression; Van Calster et al. 2019,
    Calibration: the Achilles heel of predictive analytics.
    """
    check_share("confidence", confidence)
    hit, w, square = _entries(y, weight, rows)
    s = np.asarray(score, dtype=np.float64)
    with np.errstate(divide="ignore"):
        x = logit(s)
    hit, w, square, x = np.broadcast_arrays(hit, w, square, x)
    known = w > 0
    bad = (known & np.isinf(x)).any(axis=-1)
    x = np.where(known & np.isfinite(x), x, 0.0)
    ends = [
        (np.where(known & side, x, np.inf).min(axis=-1), np.where(known & side, x, -np.inf).max(axis=-1))
        for side in (hit > 0.5, hit <= 0.5)
    ]  # fmt: skip
    one_class = np.isinf(ends[0][0]) | np.isinf(ends[1][0])
    apart = (ends[0][0] >= ends[1][1]) | (ends[1][0] >= ends[0][1])
    critical = -ndtri((1 - confidence) / 2)
    slope = _logistic(hit, w, square, x, sloped=True)
    intercept = _logistic(hit, w, square, x, sloped=False)
    out = []
    for (value, error), missing in (
        (slope, bad | one_class | apart), (intercept, bad | one_class)
    ):  # fmt: skip
        value = np.where(missing, np.nan, value)
        out.append(Estimate(value, value - critical * error, value + critical * error))
    return out[0], out[1]


def _entries(
    y: ArrayLike, weight: ArrayLike | None, rows: ArrayLike | None
) -> tuple[Floats, Floats, Floats]:
    """Return labels, weights and sums of squared weights."""
    hit = np.asarray(y, dtype=np.float64)
    times = np.ones(hit.shape) if rows is None else np.asarray(rows, dtype=np.float64)
    w = times if weight is None else np.asarray(weight, dtype=np.float64)
    return hit, w, w**2 / np.maximum(times, 1e-300)


def _logistic(
    y: Floats, w: Floats, square: Floats, x: Floats, *, sloped: bool
) -> tuple[Floats, Floats]:
    """Fit logit P(y) = a + b x by Newton's method; return b, or a where b is 1, and its error."""
    a, b = np.zeros(x.shape[:-1]), np.ones(x.shape[:-1])
    for _ in range(STEPS):
        p = expit(a[..., None] + b[..., None] * x)
        rest, v = w * (y - p), w * p * (1 - p)
        first, second, third = _moments(v, x, sloped)
        gain = rest.sum(axis=-1)
        if not sloped:
            step = gain / np.maximum(first, 1e-300)
            a = a + np.clip(step, -1.0, 1.0)  # far steps of a flat likelihood overshoot
        else:
            turn = np.einsum("...n,...n->...", rest, x)
            whole = np.maximum(first * third - second**2, 1e-300)
            step = (first * turn - second * gain) / whole
            a = a + np.clip((third * gain - second * turn) / whole, -1.0, 1.0)
            b = b + np.clip(step, -1.0, 1.0)
        if np.abs(step).max(initial=0.0) < 1e-10:
            break
    noise = _moments(square * p * (1 - p), x, sloped)
    if not sloped:
        return a, np.sqrt(noise[0]) / np.maximum(first, 1e-300)
    variance = first**2 * noise[2] - 2 * first * second * noise[1] + second**2 * noise[0]
    return b, np.sqrt(np.maximum(variance, 0.0)) / whole


def _moments(v: Floats, x: Floats, sloped: bool) -> tuple[Floats, Floats, Floats]:
    first = v.sum(axis=-1)
    if not sloped:
        return first, first, first
    second = np.einsum("...n,...n->...", v, x)
    return first, second, np.einsum("...n,...n,...n->...", v, x, x)


def spiegelhalter_z(
    y: ArrayLike, score: ArrayLike, weight: ArrayLike | None = None, rows: ArrayLike | None = None
) -> Floats:
    """Return Spiegelhalter's Z, which is standard normal where scores are probabilities.

    Above 0 the squared error is larger than the scores promise (they are too sure), below 0
    smaller; NaN where every score is 0, 0.5 or 1.

    Examples
    --------
    >>> score = np.repeat([0.1, 0.9], 50)
    >>> y = np.concatenate([np.arange(50) < 15, np.arange(50) < 35])  # 30 % where 10 % was said
    >>> round(float(spiegelhalter_z(y, score)), 2)
    6.67

    References
    ----------
    Spiegelhalter 1986, Probabilistic Prediction in Patient Management and Clinical Trials.
    """
    hit, w, square = _entries(y, weight, rows)
    s = np.asarray(score, dtype=np.float64)
    total = (w * (hit - s) * (1 - 2 * s)).sum(axis=-1)
    variance = (square * (1 - 2 * s) ** 2 * s * (1 - s)).sum(axis=-1)
    return np.where(variance > 0, divide(total, np.sqrt(variance)), np.nan)
