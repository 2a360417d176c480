"""Intervals for proportions and from resamples."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from isonomy._arrays import Floats
from isonomy._validate import check_share


def wilson_interval(
    share: ArrayLike, rows: ArrayLike, *, confidence: float = 0.95
) -> tuple[Floats, Floats]:
    """Return Wilson's score interval of a proportion, for arrays of them.

    Parameters
    ----------
    share : array-like
        Observed proportions.
    rows : array-like
        How many observations each rests on; with weights, Kish's effective number.
    confidence : float
        How often such intervals hold the truth.

    Examples
    --------
    >>> low, high = wilson_interval(0.5, 100)
    >>> round(float(low), 4), round(float(high), 4)
    (0.4038, 0.5962)

    References
    ----------
    Wilson 1927, Probable Inference, the Law of Succession, and Statistical Inference.
    """
    check_share("confidence", confidence)
    p, n = np.asarray(share, dtype=np.float64), np.asarray(rows, dtype=np.float64)
    z = float(ndtri(0.5 + confidence / 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        shrink = 1.0 + z**2 / n
        middle = (p + z**2 / (2 * n)) / shrink
        half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / shrink
    low, high = np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)
    # at the ends the interval touches 0 or 1 exactly; rounding must not say otherwise
    return np.where(p == 0, 0.0, low), np.where(p == 1, 1.0, high)


def percentile_interval(
    samples: ArrayLike, *, confidence: float = 0.95, axis: int = 0
) -> tuple[Floats, Floats]:
    """Return the central interval of resampled values, undefined ones (NaN) left out.

    Infinite values (a ratio over 0) keep their place in the order.

    Examples
    --------
    >>> low, high = percentile_interval(np.arange(101.0), confidence=0.9)
    >>> round(float(low), 6), round(float(high), 6)
    (5.0, 95.0)
    """
    check_share("confidence", confidence)
    values = np.asarray(samples, dtype=np.float64)
    ordered = np.sort(np.moveaxis(values, axis, -1), axis=-1)  # NaN goes last
    known = np.sum(~np.isnan(ordered), axis=-1)
    half = confidence / 2
    return quantile_along(ordered, known, 0.5 - half), quantile_along(ordered, known, 0.5 + half)


def quantile_along(ordered: Floats, known: NDArray[np.intp], q: ArrayLike) -> Floats:
    """Return one quantile of each row of sorted values, of which the first ``known`` are defined.

    Linear between neighbours, as NumPy's; infinite values keep their place in the order.

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0, 3.0], [1.0, 5.0, np.nan]])
    >>> quantile_along(rows, np.array([3, 2]), [0.5, 0.25]).tolist()
    [2.0, 2.0]
    """
    place = np.asarray(q, dtype=np.float64) * np.maximum(known - 1, 0)
    left = np.floor(place).astype(np.intp)
    right = np.minimum(left + 1, np.maximum(known - 1, 0))
    a = np.take_along_axis(ordered, left[..., None], axis=-1)[..., 0]
    b = np.take_along_axis(ordered, right[..., None], axis=-1)[..., 0]
    with np.errstate(invalid="ignore"):
        # on a value itself its neighbour has no say, be it infinite
        step = np.where((a == b) | (place == left), 0.0, (place - left) * (b - a))
    return np.where(known > 0, np.where(np.isfinite(a), a + step, a), np.nan)
