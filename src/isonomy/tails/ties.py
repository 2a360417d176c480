"""Values that come in steps: those that are no tail are named, the others spread within a step."""

import numpy as np
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy._validate import make_rng

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
    reasons = [""] * rows
    for row in np.flatnonzero(bad):
        largest = f"{top[row] + shift[row]:.6g}"
        if constant[row]:
            reasons[row] = (
                f"all {n:,} values equal {largest}: nothing lies beyond it to extrapolate"
            )
        elif few[row]:
            reasons[row] = (
                f"only {distinct[row]} distinct values among {n:,}: the largest, {largest}, occurs "
                f"{copies[row]:,} time(s); a continuous tail cannot be fitted to steps"
            )
        elif attained[row]:
            reasons[row] = (
                f"the largest value, {largest}, is attained by {copies[row]:,} of {n:,} "
                "observations: it is the end of the tail, not a draw from one"
            )
        else:
            low = f"{ordered[row, 0] + shift[row]:.6g}"
            lowest = int((ordered[row] == ordered[row, 0]).sum())
            reasons[row] = (
                f"{lowest:,} of {n:,} values equal the smallest, {low}: the tail begins with a step, "
                "so that its excesses follow no continuous law"
            )
    return np.array(reasons)


TIED = 0.1
"""From this share of tied values on a tail is taken to come in steps (ours)."""


def spread_ties(
    x: Floats, k: int, tail: NDArray[np.bool_], upper: float | None, random_state: int | None
) -> tuple[Floats, Floats]:
    """Spread the values of samples that come in steps, where they have a ``tail``, within half a step.

    The step is the gap between neighbouring values in the tail, the lower quartile of the gaps: in
    its thin part steps are left out. Every sample, in order, gets the same draws, so that it is
    spread alike by itself and in a batch, however its values are ordered.

    Returns
    -------
    tuple
        The samples (those without steps as they came) and the step of each, 0 where there is none.
    """
    rows, n = x.shape
    step = np.zeros(rows)
    top = np.sort(np.partition(x, n - k - 1, axis=1)[:, n - k - 1 :], axis=1)
    # scores that differ by rounding are the same
    same = np.diff(top, axis=1) <= 1e-9 * np.maximum(np.abs(top[:, 1:]), 1e-3)
    tied = np.pad(same, ((0, 0), (1, 0))) | np.pad(same, ((0, 0), (0, 1)))
    stepped = np.flatnonzero(tail & (tied.mean(axis=1) >= TIED))
    out = x.copy() if stepped.size else x
    for row in stepped:
        gaps = np.diff(top[row])[~same[row]]
        step[row] = np.quantile(gaps, 0.25, method="lower")
        shift = make_rng(random_state).random(n) - 0.5
        out[row] = np.sort(x[row]) + step[row] * shift
        if upper is not None:
            out[row] = np.minimum(out[row], upper)
    return out, step
