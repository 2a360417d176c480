"""Points with a gain and a cost: which no other beats, how much they cover, where they bend."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomy._arrays import Floats
from isonomy._validate import check_length


def _points(gain: ArrayLike, cost: ArrayLike) -> tuple[Floats, Floats]:
    y, x = (np.asarray(v, dtype=np.float64).ravel() for v in (gain, cost))
    check_length("cost", x.size, "gain", y.size)
    return y, x


def pareto(gain: ArrayLike, cost: ArrayLike) -> NDArray[np.bool_]:
    """Return which points no other point beats: more gain at less cost.

    Of points that coincide all are kept; a NaN is never in the set.

    Examples
    --------
    >>> pareto([0.9, 0.8, 0.7, 0.75], [0.2, 0.1, 0.0, 0.1]).tolist()
    [True, True, True, False]
    """
    y, x = _points(gain, cost)
    known = ~(np.isnan(y) | np.isnan(x))
    order = np.lexsort((-y, x))
    order = order[known[order]]
    best_before = np.concatenate([[-np.inf], np.maximum.accumulate(y[order])[:-1]])
    fresh = y[order] > best_before
    # a point equal to the one that set the record is as good as it
    first = np.maximum.accumulate(np.where(fresh, np.arange(order.size), 0))
    same = (y[order] == y[order][first]) & (x[order] == x[order][first]) if order.size else fresh
    out = np.zeros(y.size, dtype=bool)
    out[order[fresh | same]] = True
    return out


def hypervolume(gain: ArrayLike, cost: ArrayLike, *, reference: tuple[float, float]) -> float:
    """Return the area that a set of points dominates, up to a reference point.

    Parameters
    ----------
    gain, cost : array-like
        The points.
    reference : tuple of (gain, cost)
        A point that is worse in both; what lies beyond it does not count.

    Examples
    --------
    >>> hypervolume([1.0, 0.5], [1.0, 0.0], reference=(0.0, 2.0))
    1.5

    References
    ----------
    Zitzler, Thiele 1999, Multiobjective Evolutionary Algorithms.
    """
    y, x = _points(gain, cost)
    use = pareto(y, x) & (y > reference[0]) & (x < reference[1])
    order = np.argsort(x[use])
    left = x[use][order]
    height = np.maximum.accumulate(y[use][order]) - reference[0] if use.any() else left
    width = np.diff(np.append(left, reference[1]))
    return float((width * height).sum())


def knee(gain: ArrayLike, cost: ArrayLike) -> int | None:
    """Return the Pareto point farthest above the line between the two ends of the set.

    The result is its position among the points, or None where fewer than three points are in the set
    or none lies above the line.

    Examples
    --------
    >>> knee([0.9, 0.88, 0.6], [0.2, 0.05, 0.0])
    1

    References
    ----------
    Das 1999, On characterizing the "knee" of the Pareto curve.
    """
    y, x = _points(gain, cost)
    at = np.flatnonzero(pareto(y, x))
    at = at[np.argsort(x[at], kind="stable")]
    if at.size < 3:
        return None
    span_x, span_y = x[at[-1]] - x[at[0]], y[at[-1]] - y[at[0]]
    if span_x <= 0 or span_y <= 0:
        return None
    above = (y[at] - y[at[0]]) / span_y - (x[at] - x[at[0]]) / span_x
    best = int(np.argmax(above))
    return int(at[best]) if above[best] > 1e-12 else None
