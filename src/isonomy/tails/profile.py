"""Profile-likelihood limits for thousands of samples at once.

The deviance of a quantity is twice the log-likelihood lost when it is held at a value and all else
is fitted again. A limit is where the signed root of the deviance, ``r``, reaches a normal quantile.
The root is nearly a straight line, so Newton's method on it needs few steps, and the slope comes
free: at the best nuisance parameters it is the partial derivative.

With 50 excesses the plain root is not yet normal (its limits cover 92 % where 95 % is asked for,
and miss above four times as often as below). The modified root ``r* = r + log(q / r) / r`` is,
to third order; ``q`` comes from the tangent exponential model of the likelihood.

References
----------
Venzon and Moolgavkar 1988, A Method for Computing Profile-Likelihood-Based Confidence Intervals.
Fraser, Reid and Wu 1999, A Simple General Formula for Tail Probabilities for Frequentist and
Bayesian Inference.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Profile", "crossing", "first_order", "third_order"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


class Profile(Protocol):
    """A quantity's profile over a batch of samples; ``rows`` are increasing positions in it."""

    def __call__(self, x: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """Give the mean negative log-likelihood at the best nuisance parameters, and its slope."""
        ...

    def third(self, x: Floats, rows: Rows) -> tuple[Floats, Floats, Floats]:
        """Give the same two, and the size of q; NaN where there is none."""
        ...


def first_order(
    profile: Profile,
    centre: Floats,
    best: Floats,
    target: Floats,
    side: int,
    *,
    weight: int,
    first: Floats,
    bound: Floats,
    tolerance: float = 1e-7,
    iterations: int = 60,
) -> Floats:
    """Give where the root of the deviance reaches its target on one side of the estimate.

    Parameters
    ----------
    profile : Profile
    centre, best : array of (samples,)
        The estimate and the mean negative log-likelihood there.
    target : array of (samples,)
        The normal quantile, such as 1.96.
    side : int
        1 for the upper, -1 for the lower limit.
    weight : int
        How many observations the mean was taken over.
    first : array of (samples,)
        A guess of the distance to the limit.
    bound : array of (samples,)
        How far the quantity can go at all; given back where the root stays below its target.
    """
    near, far = centre.copy(), bound.copy()
    known = np.isfinite(centre) & np.isfinite(best)
    room = np.abs(far - centre)
    guess = np.where(np.isfinite(first) & (first > 0), first, 0.1)
    x = centre + side * np.minimum(guess, 0.7 * room)
    out = np.where(known, far, np.nan)
    tried = np.zeros(centre.size, dtype=bool)
    active = np.flatnonzero(known & (room > 0))
    for _ in range(iterations):
        if not active.size:
            return out
        here, aim = x[active], target[active]
        value, slope = profile(here, active)
        loss = 2.0 * weight * (value - best[active])
        allowed = np.isfinite(loss)
        root = np.sqrt(np.maximum(np.where(allowed, loss, np.inf), 0.0))
        beyond = root > aim
        # a bracket that has closed (a jump of the profile) is an answer too
        closed = np.abs(far[active] - near[active]) < 1e-12 * np.maximum(np.abs(here), 1e-3)
        solved = closed | (np.abs(root - aim) < tolerance * np.maximum(aim, 1e-3))
        out[active[solved]] = here[solved]
        edge = tried[active] & ~beyond & ~solved  # the bound is reached below the target
        far[active] = np.where(beyond, here, far[active])
        near[active] = np.where(beyond, near[active], here)
        with np.errstate(divide="ignore", invalid="ignore"):
            rise = side * weight * slope / root
            move = (aim - root) / rise
        usable = allowed & (rise > 0) & np.isfinite(move)
        distance = np.abs(here - centre[active])
        move = np.clip(np.where(usable, move, 0.0), -0.8 * distance, 2.0 * distance)
        new = here + side * move
        inside = usable & (side * (new - near[active]) > 0) & (side * (far[active] - new) > 0)
        endless = ~np.isfinite(far[active])
        middle = np.where(endless, here + side * distance, 0.5 * (near[active] + far[active]))
        # Newton wants to pass the bound of the quantity: look just before it, once
        tried[active] = (far[active] == bound[active]) & ~endless & ~inside & ~beyond
        last = np.where(endless, middle, far[active])
        just = last - side * 1e-9 * np.abs(last - centre[active])
        x[active] = np.where(inside, new, np.where(tried[active], just, middle))
        active = active[~(solved | edge)]
    out[active] = x[active]
    return out


def third_order(
    profile: Profile,
    limits: Floats,
    centre: Floats,
    best: Floats,
    target: Floats,
    side: int,
    *,
    weight: int,
    bound: Floats,
    iterations: int = 15,
) -> Floats:
    """Move first-order limits to where the modified root reaches the target.

    Limits at the bound of the quantity, and those for which q does not exist, stay.
    """
    x = limits.copy()
    active = np.flatnonzero(np.isfinite(limits) & (limits != bound) & (limits != centre))
    for _ in range(iterations):
        if not active.size:
            break
        here = x[active]
        value, slope, q = profile.third(here, active)
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(2.0 * weight * (value - best[active]))
            star = root + np.log(q / root) / root
            move = (target[active] - star) * root / (side * weight * slope)
        usable = np.isfinite(move) & (side * slope > 0)
        distance = np.abs(here - centre[active])
        move = np.clip(np.where(usable, move, 0.0), -0.5 * distance, distance)
        new = here + side * move
        out = side * (new - bound[active]) >= 0
        x[active] = np.where(out, bound[active], new)
        active = active[usable & ~out & (np.abs(move) > 1e-5 * distance)]
    return x


def crossing(
    derivative: Callable[[Floats, Rows], tuple[Floats, Floats]],
    start: Floats,
    low: Floats,
    high: Floats,
    *,
    iterations: int = 80,
) -> Floats:
    """Find where increasing functions cross zero inside brackets, by guarded Newton.

    ``derivative`` takes points and their positions and gives values and slopes. Where a function
    keeps its sign, the end of the bracket it leans to is given.
    """
    low, high = low.copy(), high.copy()
    x = np.where((start > low) & (start < high), start, 0.5 * (low + high))
    todo = np.arange(x.size)
    for _ in range(iterations):
        value, slope = derivative(x[todo], todo)
        up = value > 0
        high[todo] = np.where(up, x[todo], high[todo])
        low[todo] = np.where(up, low[todo], x[todo])
        with np.errstate(divide="ignore", invalid="ignore"):
            new = x[todo] - value / slope
        width = high[todo] - low[todo]
        good = (slope > 0) & (new > low[todo]) & (new < high[todo])
        new = np.where(good, new, 0.5 * (low[todo] + high[todo]))
        moved, size = np.abs(new - x[todo]), np.maximum(np.abs(new), 1e-3)
        x[todo] = new
        # Newton's step squares the error: after one of 1e-4 what is left is 1e-8, and a profile
        # feels only the square of that
        todo = todo[(moved > 1e-4 * size) & (width > 1e-12 * size)]
        if not todo.size:
            break
    return x
