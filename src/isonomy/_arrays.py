"""Names of the arrays that functions take and return, and their division."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
"""Positions of rows."""


def divide(top: NDArray[Any], bottom: NDArray[Any]) -> Floats:
    """Divide; 0 / 0 is NaN, anything else over 0 is infinite, and nothing is said."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(top / bottom)
