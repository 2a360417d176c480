"""Samples whose tail is not one: named with a plain sentence instead of fitted."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["FEWEST", "degeneracy"]

Floats = NDArray[np.float64]

FEWEST = 10
"""A continuous tail is not fitted to fewer distinct values than this (ours)."""


def degeneracy(sample: Floats, *, offset: Floats | float = 0.0) -> NDArray[np.str_]:
    """Say for each sample (a row) why no tail can be fitted; an empty text where one can.

    Four rules, all ours: all values are equal; fewer than ten distinct values although there are
    more observations; the largest value is held by at least three observations and by a tenth of
    them, so that it is attained and not approached; a quarter or more of the observations share
    the smallest value, so that the threshold is a step and not a point of the tail.

    Parameters
    ----------
    sample : array of (samples, values)
    offset : float or array of (samples,)
        Added to the values where the sentence names them: the threshold, for excesses.
    """
    rows, n = sample.shape
    ordered = np.sort(sample, axis=1)
    top = ordered[:, -1]
    distinct = 1 + (np.diff(ordered, axis=1) > 0).sum(axis=1)
    copies = (ordered == top[:, None]).sum(axis=1)
    constant = (distinct == 1) & (n > 1)
    few = (distinct < FEWEST) & (distinct < n)
    attained = (copies >= 3) & (copies * 10 >= n)
    # a quarter: the estimators start from the lower quartile, which such a step makes 0
    step = (ordered[:, max(n // 4, 1) - 1] == ordered[:, 0]) & (n >= FEWEST)
    bad = constant | few | attained | step
    if not bad.any():
        return np.zeros(rows, dtype="<U1")
    shift = np.broadcast_to(np.asarray(offset, dtype=np.float64), (rows,))
    said = [""] * rows
    for row in np.flatnonzero(bad):
        largest = f"{top[row] + shift[row]:.6g}"
        if constant[row]:
            said[row] = f"all {n:,} values equal {largest}: nothing lies beyond it to extrapolate"
        elif few[row]:
            said[row] = (
                f"only {distinct[row]} distinct values among {n:,}: the largest, {largest}, occurs "
                f"{copies[row]:,} time(s); a continuous tail cannot be fitted to steps"
            )
        elif attained[row]:
            said[row] = (
                f"the largest value, {largest}, is attained by {copies[row]:,} of {n:,} "
                "observations: it is the end of the tail, not a draw from one"
            )
        else:
            low = f"{ordered[row, 0] + shift[row]:.6g}"
            held = int((ordered[row] == ordered[row, 0]).sum())
            said[row] = (
                f"{held:,} of {n:,} values equal the smallest, {low}: the tail begins with a step, "
                "so that its excesses follow no continuous law"
            )
    return np.array(said)
