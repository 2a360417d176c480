"""Nearest rows of a table to rows of the same table, with a rule for ties."""

import numpy as np

from isonomy._arrays import Floats, Rows

CHUNK = 256
"""Rows asked for at once: their distances to all rows stay in the processor's cache."""
CROWDED = 32
"""From so many candidates a row, single precision is too coarse for the data's scale."""
PAIRS = 200_000
"""Pairs whose exact distance is computed at once."""


def tie_unit(X: Floats) -> float:
    """Return the grain of squared distances: the widest range, up to a power of 2, squared / 2^40.

    Examples
    --------
    >>> tie_unit(np.array([[0.0, 0.2], [1.0, 0.3]])) == 2.0**-40
    True
    """
    widest = float((X.max(axis=0) - X.min(axis=0)).max(initial=0.0))
    return float(2.0 ** (2 * np.ceil(np.log2(widest)) - 40)) if widest > 0 else 1.0


def nearest_rows(X: Floats, rows: Rows, k: int, *, skip_self: bool = False) -> Rows:
    """Return the k nearest rows of X to each of some of its rows, nearest first.

    The distance is Euclidean, in double precision. Two distances tie when their squares round to
    the same multiple of ``tie_unit(X)``, about 1e-12 of the widest column's squared range: the
    order in which columns are summed must not decide. Of rows that tie the one that comes first
    in X is nearer. A row is its own nearest one unless a duplicate comes before it; with
    ``skip_self`` it is left out.

    Single-precision products give a shortlist that is wide enough for their rounding error; only
    what is on it is measured exactly. Where that is too much, because rows repeat or columns
    differ much in scale, repeated rows are set aside first and then double precision is used.

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
    result = _shortlisted(X, rows, np.arange(len(X)), k, skip_self, np.dtype(np.float32))
    for precision in (np.float32, np.float64):
        if result is None:
            pool = _first_of_each(X, k + skip_self)
            result = _shortlisted(X, rows, pool, k, skip_self, np.dtype(precision))
    assert result is not None
    return result


def _first_of_each(X: Floats, k: int) -> Rows:
    """Return the rows that can be among the k nearest: of equal rows only the first k."""
    _, kind = np.unique(X, axis=0, return_inverse=True)
    kind = kind.ravel()
    order = np.argsort(kind, kind="stable")
    start = np.searchsorted(kind[order], kind[order])
    return np.sort(order[np.arange(len(X)) - start < k])


def _shortlisted(
    X: Floats, rows: Rows, pool: Rows, k: int, skip_self: bool, precision: np.dtype[np.floating]
) -> Rows | None:
    """Look among the rows of the pool; None where single precision leaves too many candidates."""
    n, d = len(pool), X.shape[1]
    middle = X.mean(axis=0)
    # One product gives |b|^2 - 2ab, the squared distance up to a constant of the row asked for.
    table = np.empty((n, d + 1), dtype=precision)
    table[:, :d] = X[pool] - middle
    norm = np.einsum("ij,ij->i", table[:, :d], table[:, :d])
    if not np.isfinite(norm).all():
        return None
    table[:, d] = norm
    grain = tie_unit(X)
    slack = 4 * (d + 4) * float(np.finfo(precision).eps) * float(norm.max(initial=0.0)) + 2 * grain
    asked = np.empty((len(rows), d + 1), dtype=precision)
    asked[:, :d] = -2 * (X[rows] - middle)
    asked[:, d] = 1
    across = np.ascontiguousarray(table.T)
    distance = np.empty((min(CHUNK, len(rows)), n), dtype=precision)
    result = np.empty((len(rows), k), dtype=np.intp)
    for begin in range(0, len(rows), CHUNK):
        part = rows[begin : begin + CHUNK]
        line = np.arange(len(part))
        D = np.matmul(asked[begin : begin + CHUNK], across, out=distance[: len(part)])
        if skip_self:
            own = np.minimum(np.searchsorted(pool, part), n - 1)
            inside = pool[own] == part
            D[line[inside], own[inside]] = np.inf
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
        exact = np.rint(_exact(X, part[row], pool[column]) / grain)
        # Columns ascend within a row, and the sort is stable: ties go to the first row of X.
        order = np.lexsort((exact, row))
        first = np.searchsorted(row[order], line)
        result[begin : begin + CHUNK] = pool[column[order][first[:, None] + np.arange(k)]]
    return result


def _exact(X: Floats, one: Rows, other: Rows) -> Floats:
    exact = np.empty(len(one))
    for start in range(0, len(one), PAIRS):
        stop = start + PAIRS
        difference = X[one[start:stop]] - X[other[start:stop]]
        exact[start:stop] = np.einsum("ij,ij->i", difference, difference)
    return exact
