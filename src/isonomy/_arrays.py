"""Names of the arrays that functions take and return."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
"""Positions of rows."""
