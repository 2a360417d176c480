"""How large a difference is."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["cohens_d"]

Floats = NDArray[np.float64]


def cohens_d(a: ArrayLike, b: ArrayLike) -> Floats:
    """Give the difference of means in pooled standard deviations, along the last axis.

    ``(mean(a) - mean(b)) / sqrt((var(a) + var(b)) / 2)`` with the unbiased variances. Of two
    constant samples it is infinite where they differ and undefined (NaN) where they do not.

    Examples
    --------
    >>> round(float(cohens_d([2.0, 4.0, 6.0], [1.0, 3.0, 5.0])), 4)
    0.5

    References
    ----------
    Cohen 1988, Statistical Power Analysis for the Behavioral Sciences.
    """
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    pooled = np.sqrt((x.var(axis=-1, ddof=1) + y.var(axis=-1, ddof=1)) / 2.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((x.mean(axis=-1) - y.mean(axis=-1)) / pooled)[()]
