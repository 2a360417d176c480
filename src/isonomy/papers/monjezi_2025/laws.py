"""Extreme value laws that Table IV may mean: of the largest values, of blocks, or of what peaks imply."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

import numpy as np

from isonomy._arrays import Floats
from isonomy.counterfactual.extremes import LOCATION, ROUNDING
from isonomy.tails import TailFit, fit_gev, peaks_over_threshold

FEWEST_BLOCKS = 10


@dataclass(frozen=True)
class Law:
    """What Table IV prints of a law; NaN where none can be fitted."""

    location: float
    scale: float = float("nan")
    shape: float = float("nan")
    threshold: float = float("nan")


_NONE = Law(float("nan"))
PARAMETERS = tuple(asdict(_NONE))


def law_of_largest(cd: Floats, k: int) -> Law:
    """Return the extreme value law of the k largest values; the location at least, as a quantile.

    Examples
    --------
    >>> law_of_largest(np.arange(100.0), 50).threshold
    49.0
    """
    if cd.size <= k:
        return _NONE
    top = np.sort(cd)[-k - 1 :]
    quantile = float(np.quantile(top[1:], LOCATION, method="higher"))
    if top[-1] - top[1] <= ROUNDING:
        return Law(quantile, threshold=float(top[0]))
    return _law(peaks_over_threshold(cd, k=k, protocol="as_published"), float(top[0]), quantile)


def law_of_blocks(cd: Floats, size: int) -> Law:
    """Return the extreme value law of the largest values of blocks of rows, in their order."""
    count = cd.size // size
    if count < FEWEST_BLOCKS:
        return _NONE
    largest = cd[: count * size].reshape(count, size).max(axis=1)
    quantile = float(np.quantile(largest, LOCATION, method="higher"))
    if np.ptp(largest) <= ROUNDING:
        return Law(quantile, threshold=float(largest.min()))
    return _law(fit_gev(largest), float(largest.min()), quantile)


def _law(fit: TailFit, threshold: float, quantile: float) -> Law:
    if fit.degenerate or not np.isfinite(fit.location):
        return Law(quantile, threshold=threshold)
    return Law(float(fit.location), float(fit.scale), float(fit.shape), threshold)


def law_of_peaks(cd: Floats, queries: int | None, k: int = 50) -> Law:
    """Return the law of the largest of so many queries that peaks over a threshold imply.

    Without a number of queries the location is the mean of the peaks, which the paper's words
    ("the mean of the extreme value distribution at a threshold") may mean.
    """
    if cd.size <= k or np.ptp(np.sort(cd)[-k:]) <= ROUNDING:
        return _NONE
    fit = peaks_over_threshold(cd, k=k)
    if fit.degenerate:
        return _NONE
    scale, shape, threshold = float(fit.scale), float(fit.shape), float(fit.threshold)
    if queries is None:
        mean = threshold + scale / (1 - shape) if shape < 1 else float("nan")
        return Law(mean, scale, shape, threshold)
    if queries * fit.rate < 1:  # below the threshold the law says nothing
        return _NONE
    location, scale, shape = map(float, fit.maximum(queries))
    return Law(location, scale, shape, threshold)


FITS: Mapping[str, Callable[[Floats], Law]] = {
    "largest_50": lambda cd: law_of_largest(cd, 50),
    "largest_25": lambda cd: law_of_largest(cd, 25),
    "largest_100": lambda cd: law_of_largest(cd, 100),
    "blocks_25": lambda cd: law_of_blocks(cd, 25),
    "blocks_50": lambda cd: law_of_blocks(cd, 50),
    "blocks_365": lambda cd: law_of_blocks(cd, 365),
    "peaks_mean": lambda cd: law_of_peaks(cd, None),
    "peaks_1000": lambda cd: law_of_peaks(cd, 1000),
    "peaks_all": lambda cd: law_of_peaks(cd, len(cd)),
}
"""What the law is fitted to: the k largest values, largest values of blocks, or what peaks imply."""
