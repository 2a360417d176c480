"""Calibration of scores: the error in bins, with and without its noise; slope, intercept and Z."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from isonomy._arrays import Floats, divide
from isonomy.metrics.rates import add_up
from isonomy.stats import corrected_calibration_error, logistic_calibration, spiegelhalter_z
from isonomy.stats.calibration import Estimate

BINS = 15
CALIBRATION = (
    "calibration_error",
    "corrected_calibration_error",
    "calibration_slope",
    "calibration_intercept",
    "spiegelhalter_z",
)


def equal_mass(mass: Floats, bins: int) -> NDArray[np.intp]:
    """Return the bin of each of the ordered cells, so that bins hold about equal mass."""
    middle = np.cumsum(mass) - 0.5 * mass
    return np.asarray(np.minimum((middle / mass.sum() * bins).astype(np.intp), bins - 1))


def calibration_error(
    good: NDArray[np.bool_], values: Floats, weight: Floats, *, bins: int = BINS
) -> Floats:
    """Return the plain error: the mean over equal-mass bins of |share - mean score|."""
    _, place = np.unique(values, return_inverse=True)
    binned = equal_mass(add_up(place, weight), bins)[place]
    gap = add_up(binned, weight * (good - values))
    return np.asarray(np.abs(gap).sum() / weight.sum())


def corrected_error(
    good: NDArray[np.bool_],
    values: Floats,
    weight: Floats,
    rows: Floats | None = None,
    *,
    bins: int = BINS,
    confidence: float | None = 0.95,
) -> Estimate:
    """Return the error in the same bins less what chance adds to it; None is no interval."""
    _, place = np.unique(values, return_inverse=True)
    binned = equal_mass(add_up(place, weight), bins)[place]
    mass = add_up(binned, weight)
    squares = add_up(binned, weight**2 / (1.0 if rows is None else rows))
    return corrected_calibration_error(
        divide(add_up(binned, weight * good), mass),
        divide(add_up(binned, weight * values), mass),
        divide(mass**2, squares),
        mass,
        confidence=confidence,
    )


def calibration_estimates(
    good: NDArray[np.bool_],
    values: Floats,
    weight: Floats,
    rows: Floats | None = None,
    *,
    confidence: float = 0.95,
) -> dict[str, Estimate]:
    """Return everything about the calibration of some rows, each with its interval.

    ``rows`` says how many rows an entry stands for, where entries are cells of a histogram. The
    interval of the plain error is that of the corrected one, widened to hold the plain error.
    """
    some = weight > 0
    if not some.any():
        return dict.fromkeys(CALIBRATION, Estimate(*np.full(3, np.nan)))
    good, values, weight = good[some], values[some], weight[some]
    rows = None if rows is None else rows[some]
    plain = calibration_error(good, values, weight)
    corrected = corrected_error(good, values, weight, rows, confidence=confidence)
    slope, intercept = logistic_calibration(good, values, weight, rows, confidence=confidence)
    z, critical = spiegelhalter_z(good, values, weight, rows), -ndtri((1 - confidence) / 2)
    around = Estimate(plain, np.minimum(corrected.low, plain), np.maximum(corrected.high, plain))
    found = (around, corrected, slope, intercept, Estimate(z, z - critical, z + critical))
    return dict(zip(CALIBRATION, found, strict=True))


def why_undefined(good: NDArray[np.bool_], values: Floats) -> str:
    """Say why scores have no calibration slope, intercept or Z."""
    if good.all() or not good.any():
        return "the labels hold one class and two are needed"
    if ((values <= 0) | (values >= 1)).any():
        return "scores of 0 or 1 have no logit"
    return "the scores separate the labels, or are all alike"
