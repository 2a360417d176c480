"""Nearest rows of a table to rows of the same table, with a rule for ties."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["nearest_rows", "tie_unit"]

Matrix = NDArray[np.float64]
Rows = NDArray[np.intp]

CHUNK = 256
"""Rows asked for at once: their distances to all rows stay in the processor's cache."""
CROWDED = 32
"""From so many candidates a row, single precision is too coarse for the data's scale."""
PAIRS = 200_000
"""Pairs whose exact distance is computed at once."""


def tie_unit(X: Matrix) -> float:
    """Give the grain of squared distances: the widest range, up to a power of 2, squared / 2^40.

    Examples
    --------
    >>> tie_unit(np.array([[0.0, 0.2], [1.0, 0.3]])) == 2.0**-40
    True
    """
    widest = float((X.max(axis=0) - X.min(axis=0)).max(initial=0.0))
    return float(2.0 ** (2 * np.ceil(np.log2(widest)) - 40)) if widest > 0 else 1.0


def nearest_rows(X: Matrix, rows: Rows, k: int, *, skip_self: bool = False) -> Rows:
    """Give the k nearest rows of X to each of some of its rows, nearest first.

    The distance is Euclidean, in double precision. Two distances tie when their squares round to
    the same multiple of ``tie_unit(X)``, about 1e-12 of the widest column's squared range: the
    order in which columns are summed must not decide. Of rows that tie the one that comes first
    in X is nearer. A row is its own nearest one unless a duplicate comes before it; with
    ``skip_self`` it is left out.

    Single-precision products give a shortlist that is wide enough for their rounding error; only
    what is on it is measured exactly.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [1.0], [3.0]])
    >>> nearest_rows(X, np.array([2, 3]), 3).tolist()
    [[1, 2, 0], [3, 1, 2]]
    >>> nearest_rows(X, np.array([2, 3]), 2, skip_self=True).tolist()
    [[1, 0], [1, 2]]
    """
    assert k + skip_self <= len(X)
    found = _shortlisted(X, rows, k, skip_self, np.dtype(np.float32))
    if found is None:
        found = _shortlisted(X, rows, k, skip_self, np.dtype(np.float64))
    assert found is not None
    return found


def _shortlisted(
    X: Matrix, rows: Rows, k: int, skip_self: bool, precision: np.dtype[np.floating]
) -> Rows | None:
    n, d = X.shape
    # One product gives |b|^2 - 2ab, the squared distance up to a constant of the row asked for.
    table = np.empty((n, d + 1), dtype=precision)
    table[:, :d] = X - X.mean(axis=0)
    norm = np.einsum("ij,ij->i", table[:, :d], table[:, :d])
    if not np.isfinite(norm).all():
        return None
    table[:, d] = norm
    grain = tie_unit(X)
    slack = 4 * (d + 4) * float(np.finfo(precision).eps) * float(norm.max(initial=0.0)) + 2 * grain
    asked = table[rows]
    asked[:, :d] *= -2
    asked[:, d] = 1
    across = np.ascontiguousarray(table.T)
    distance = np.empty((min(CHUNK, len(rows)), n), dtype=precision)
    found = np.empty((len(rows), k), dtype=np.intp)
    for start in range(0, len(rows), CHUNK):
        part = rows[start : start + CHUNK]
        line = np.arange(len(part))
        D = np.matmul(asked[start : start + CHUNK], across, out=distance[: len(part)])
        if skip_self:
            D[line, part] = np.inf
        taken = []
        for _ in range(k):
            where = D.argmin(axis=1)
            value = D[line, where]
            taken.append((where, value))
            D[line, where] = np.inf
        limit = value + slack
        for where, value in taken:
            D[line, where] = value
        row, column = np.divmod(np.flatnonzero(limit[:, None] >= D), n)
        if precision == np.float32 and len(row) > CROWDED * len(part) + 1000:
            return None
        exact = np.rint(_exact(X, part[row], column) / grain)
        # Columns ascend within a row, and the sort is stable: ties go to the first row of X.
        order = np.lexsort((exact, row))
        first = np.searchsorted(row[order], line)
        found[start : start + CHUNK] = column[order][first[:, None] + np.arange(k)]
    return found


def _exact(X: Matrix, one: Rows, other: Rows) -> Matrix:
    exact = np.empty(len(one))
    for start in range(0, len(one), PAIRS):
        stop = start + PAIRS
        difference = X[one[start:stop]] - X[other[start:stop]]
        exact[start:stop] = np.einsum("ij,ij->i", difference, difference)
    return exact
