"""Names of the arrays that functions take and return, their division, and rows alike."""

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


def distinct_rows(data: Floats) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp]]:
    """Keep identical rows once: bytes are compared, so -0 is made 0 first.

    Returns
    -------
    rows, inverse, size
        The rows kept, which of them each row is, and how often each occurs.

    Examples
    --------
    >>> rows, inverse, size = distinct_rows(np.array([[1.0, 0.0], [1.0, -0.0], [2.0, 0.0]]))
    >>> len(rows), size[inverse].tolist()
    (2, [2, 2, 1])
    """
    clean = np.ascontiguousarray(data + 0.0)
    as_bytes = clean.view(np.dtype((np.void, clean.itemsize * clean.shape[1]))).ravel()
    _, index, inverse, size = np.unique(
        as_bytes, return_index=True, return_inverse=True, return_counts=True
    )
    return clean[index], inverse.ravel(), size
