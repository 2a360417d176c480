"""How large a difference is."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, ndtri

from isonomy._arrays import Floats, divide
from isonomy._validate import check_choice, check_share
from isonomy.stats._samples import NanPolicy, Words, two_samples
from isonomy.stats.ranks import rank

EFFECT_SCALES: dict[str, tuple[float, float, float]] = {
    "cohen": (0.2, 0.5, 0.8),
    "cliff": (0.147, 0.33, 0.474),
    "a12": (0.56, 0.64, 0.71),
}
"""Where small, medium and large begin: Cohen 1988; Romano et al. 2006; Vargha and Delaney 2000."""

_HALVINGS = 60  # of an interval of length 1: beyond the last digit


def _moments(values: Floats, nan: NanPolicy) -> tuple[Floats, Floats, Floats]:
    """Return mean, unbiased variance and size along the last axis."""
    known = ~np.isnan(values) | (nan != "omit")
    size = known.sum(axis=-1).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(known, values, 0.0).sum(axis=-1) / size
        away = np.where(known, values - mean[..., None], 0.0) ** 2
        return mean, away.sum(axis=-1) / (size - 1.0), size


def cohens_d(
    a: ArrayLike,
    b: ArrayLike,
    *,
    variance: Literal["average", "pooled"] = "average",
    nan: NanPolicy = "propagate",
) -> Floats:
    """Return the difference of means in standard deviations, along the last axis.

    ``(mean(a) - mean(b)) / s`` with the unbiased variances. Of two constant samples it is infinite
    where they differ and undefined (NaN) where they do not; a sample of one value has no variance.

    Parameters
    ----------
    a, b : array-like of shape (..., n) and (..., m)
        Samples; the leading axes broadcast.
    variance : {"average", "pooled"}
        ``s²`` is the mean of the two variances (as some studies have it), or weighted by
        degrees of freedom. Samples of one size have both alike.
    nan : {"propagate", "omit", "raise"}
        What becomes of a cell with undefined values.

    Examples
    --------
    >>> round(float(cohens_d([2.0, 4.0, 6.0], [1.0, 3.0, 5.0])), 4)
    0.5

    References
    ----------
    Cohen 1988, Statistical Power Analysis for the Behavioral Sciences.
    """
    check_choice("variance", variance, ("average", "pooled"))
    (mean, spread, n), (other, second, m) = (
        _moments(side, nan) for side in two_samples(a, b, nan=nan)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        if variance == "average":
            pooled = (spread + second) / 2.0
        else:
            pooled = ((n - 1) * spread + (m - 1) * second) / (n + m - 2)
        out: Floats = np.asarray((mean - other) / np.sqrt(pooled))[()]
    return out


def hedges_g(a: ArrayLike, b: ArrayLike, *, nan: NanPolicy = "propagate") -> Floats:
    """Return Cohen's d with the pooled variance, corrected for its bias in small samples.

    The factor is the exact one, ``gamma(f/2) / (sqrt(f/2) gamma((f-1)/2))`` for ``f = n + m - 2``.

    Examples
    --------
    >>> round(float(hedges_g([2.0, 4.0, 6.0], [1.0, 3.0, 5.0])), 4)
    0.3989

    References
    ----------
    Hedges 1981, Distribution Theory for Glass's Estimator of Effect Size and Related Estimators.
    """
    first, second = two_samples(a, b, nan=nan)
    free = np.maximum(_moments(first, nan)[2] + _moments(second, nan)[2] - 2, 2.0)
    factor = np.exp(gammaln(free / 2) - gammaln((free - 1) / 2)) / np.sqrt(free / 2)
    return np.asarray(factor * cohens_d(first, second, variance="pooled", nan=nan))[()]


def standardized_difference(
    mean: ArrayLike,
    variance: ArrayLike,
    rows: ArrayLike,
    other_mean: ArrayLike,
    other_variance: ArrayLike,
    other_rows: ArrayLike,
    *,
    spread: ArrayLike | None = None,
    confidence: float = 0.95,
) -> tuple[Floats, Floats, Floats]:
    """Return the difference of two means in standard deviations with its limits, from moments.

    Parameters
    ----------
    mean, variance, rows : array-like
        Mean, unbiased variance and number of the values of one group.
    other_mean, other_variance, other_rows : array-like
        The same of the group to compare with.
    spread : array-like, optional
        The standard deviation to divide by, such as that of all values ("population"); by default
        that of the two groups, pooled.
    confidence : float
        How often such intervals hold the truth. They rest on Welch's error of the difference and
        on that of a standard deviation of normal values.

    Examples
    --------
    >>> value, low, high = standardized_difference(4.0, 4.0, 50, 3.0, 4.0, 60)
    >>> round(float(value), 3), round(float(low), 3), round(float(high), 3)
    (0.5, 0.119, 0.881)
    >>> round(float(standardized_difference(4.0, 4.0, 50, 3.0, 4.0, 60, spread=2.5)[0]), 3)
    0.4

    References
    ----------
    Cohen 1988, Statistical Power Analysis for the Behavioral Sciences; Hedges and Olkin 1985,
    Statistical Methods for Meta-analysis.
    """
    one, other = _welch(mean, variance, rows), _welch(other_mean, other_variance, other_rows)
    (m, v, n), (w, u, k) = one, other
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled = np.sqrt(((n - 1) * v + (k - 1) * u) / (n + k - 2))
        scale = pooled if spread is None else np.asarray(spread, dtype=np.float64)
        value = np.where((m == w) & (scale == 0), np.nan, (m - w) / scale)
        error = np.sqrt((v / n + u / k) / scale**2 + value**2 / (2 * (n + k)))
        half = -ndtri((1 - confidence) / 2) * error
        return np.asarray(value)[()], np.asarray(value - half)[()], np.asarray(value + half)[()]


def _welch(mean: ArrayLike, variance: ArrayLike, rows: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Return moments as numbers; two values at least have a variance."""
    m, v, n = (np.asarray(x, dtype=np.float64) for x in (mean, variance, rows))
    return m, v, np.where(n >= 2, n, np.nan)


def _pairs_above(a: ArrayLike, b: ArrayLike, nan: NanPolicy) -> tuple[Floats, Floats]:
    """Count pairs in which ``a`` is larger (ties as half), and all pairs; NaN where undefined."""
    first, second = two_samples(a, b, nan=nan)
    n, m = ((~np.isnan(side)).sum(axis=-1) for side in (first, second))
    ranks = rank(np.concatenate([first, second], axis=-1))[..., : first.shape[-1]]
    above = np.nansum(ranks, axis=-1) - n * (n + 1) / 2.0
    undefined = (n < first.shape[-1]) | (m < second.shape[-1])
    return above, np.where(undefined & (nan != "omit"), np.nan, n * m)


def a12(a: ArrayLike, b: ArrayLike, *, nan: NanPolicy = "propagate") -> Floats:
    """Return the probability that a value of ``a`` is larger than one of ``b``, ties as half.

    Vargha and Delaney's A, the common-language effect size: 0.5 where neither tends to be larger.

    Examples
    --------
    >>> float(a12([2.0, 3.0], [1.0, 3.0, 4.0]))
    0.4166666666666667

    References
    ----------
    Vargha and Delaney 2000, A Critique and Improvement of the CL Common Language Effect Size
    Statistics of McGraw and Wong.
    """
    above, pairs = _pairs_above(a, b, nan)
    return divide(above, pairs)[()]


def cliffs_delta(a: ArrayLike, b: ArrayLike, *, nan: NanPolicy = "propagate") -> Floats:
    """Return how much more often a value of ``a`` is larger than one of ``b`` than smaller.

    From -1 (always smaller) to 1 (always larger), along the last axis; ``2 A - 1`` of :func:`a12`.

    Parameters
    ----------
    a, b : array-like of shape (..., n) and (..., m)
        Samples; the leading axes broadcast.
    nan : {"propagate", "omit", "raise"}
        What becomes of a cell with undefined values.

    Examples
    --------
    >>> float(cliffs_delta([4.0, 5.0, 6.0], [1.0, 2.0, 5.0]))
    0.6666666666666666

    References
    ----------
    Cliff 1993, Dominance Statistics: Ordinal Analyses to Answer Ordinal Questions.
    """
    above, pairs = _pairs_above(a, b, nan)
    # one division keeps delta exact where it is a simple fraction, such as 0.147 of 1,000
    return divide(2.0 * above - pairs, pairs)[()]


def cliffs_delta_interval(
    a: ArrayLike, b: ArrayLike, *, confidence: float = 0.95, nan: NanPolicy = "propagate"
) -> tuple[Floats, Floats]:
    """Return the interval of :func:`cliffs_delta` of two independent samples, along the last axis.

    Newcombe's fifth method, for the area under a ROC curve (``A``), of which delta is ``2 A - 1``:
    a score interval, which has a width also where no value of one sample reaches the other's.
    Runs on splits that share rows are not independent; there the interval is too short.

    Parameters
    ----------
    a, b : array-like of shape (..., n) and (..., m)
        Samples; the leading axes broadcast.
    confidence : float
        Confidence level.
    nan : {"propagate", "omit", "raise"}
        What becomes of a cell with undefined values.

    Examples
    --------
    >>> low, high = cliffs_delta_interval([4.0, 5.0, 6.0], [1.0, 2.0, 3.0])
    >>> round(float(low), 3), float(high)
    (0.002, 1.0)

    References
    ----------
    Newcombe 2006, Confidence Intervals for an Effect Size Measure Based on the Mann-Whitney
    Statistic, part 2.
    """
    check_share("confidence", confidence)
    first, second = two_samples(a, b, nan=nan)
    n, m = ((~np.isnan(side)).sum(axis=-1) for side in (first, second))
    above, pairs = _pairs_above(first, second, nan)
    reach = float(ndtri(0.5 + confidence / 2)) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        share = above / pairs

        def outside(at: Floats) -> Floats:
            more = ((n + m) / 2.0 - 1.0) * ((1 - at) / (2 - at) + at / (1 + at))
            spread = at * (1 - at) * (1.0 + more) / pairs
            return np.asarray((share - at) ** 2 > reach * spread)

        ends = []
        for edge in (0.0, 1.0):
            far, near = np.full(share.shape, edge), np.array(share, dtype=np.float64)
            for _ in range(_HALVINGS):
                middle = (far + near) / 2
                out = outside(middle)
                far, near = np.where(out, middle, far), np.where(out, near, middle)
            ends.append(np.asarray(2.0 * near - 1.0))
    return ends[0][()], ends[1][()]


def effect_class(effect: ArrayLike, *, scale: Literal["cohen", "cliff", "a12"] = "cliff") -> Words:
    """Name effects ``negligible``, ``small``, ``medium`` or ``large``; NaN is ``undefined``.

    The limits (:data:`EFFECT_SCALES`) are conventions, made for other fields; an effect on a limit
    belongs to the larger class. Signs do not matter.

    Parameters
    ----------
    effect : array-like
        Cohen's d or Hedges' g (``cohen``), Cliff's delta (``cliff``) or Vargha and Delaney's A
        (``a12``).
    scale : {"cohen", "cliff", "a12"}

    Examples
    --------
    >>> effect_class([-0.5, 0.1, float("nan")]).tolist()
    ['large', 'negligible', 'undefined']
    >>> str(effect_class(0.6, scale="a12"))
    'small'

    References
    ----------
    Cohen 1988; Romano, Kromrey, Coraggio and Skowronek 2006, Appropriate Statistics for Ordinal
    Level Data; Vargha and Delaney 2000.
    """
    check_choice("scale of effects", scale, tuple(EFFECT_SCALES))
    size = np.asarray(effect, dtype=np.float64)
    # 1 - 0.44 is a hair above 0.56 or below: 15 digits are what a share can mean
    if scale == "a12":
        size = np.asarray(np.round(np.maximum(size, 1.0 - size), 15), dtype=np.float64)
    size = np.abs(size)
    place = np.searchsorted(np.array(EFFECT_SCALES[scale]), size, side="right")
    words = np.array(["negligible", "small", "medium", "large"])[place]
    return np.where(np.isnan(size), "undefined", words)[()]
