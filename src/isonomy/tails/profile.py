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
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from isonomy._arrays import Floats, Rows, divide
from isonomy.tails.laws import Value, gev_value, growth
from isonomy.tails.solve import minimize


class Profile(Protocol):
    """A quantity's profile over a batch of samples; ``rows`` are increasing positions in it."""

    def __call__(self, x: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """Return the mean negative log-likelihood at the best nuisance parameters, and its slope."""
        ...

    def third(self, x: Floats, rows: Rows) -> tuple[Floats, Floats, Floats]:
        """Return the same two, and the size of q; NaN where there is none."""
        ...


@dataclass
class Problem:
    """A quantity whose limits are sought, for a batch of samples.

    Attributes
    ----------
    profile : Profile
    centre, best : array of (samples,)
        The estimate and the mean negative log-likelihood there.
    weight : int
        How many observations the mean was taken over.
    guess : array of (samples,)
        The distance to a limit per unit of the normal quantile, roughly.
    lowest, highest : array of (samples,)
        How far the quantity can go at all.
    """

    profile: Any  # a Profile; corrected limits need its third()
    centre: Floats
    best: Floats
    weight: int
    guess: Floats
    lowest: Floats
    highest: Floats

    def limit(self, target: Floats, side: int, *, corrected: bool) -> Floats:
        """Return where the root reaches its target above (1) or below (-1) the estimate.

        The bound of the quantity is returned where the root stays below the target.
        """
        bound = self.highest if side > 0 else self.lowest
        out = self._first_order(target, side, bound)
        return self._third_order(out, target, side, bound) if corrected else out

    def _first_order(self, target: Floats, side: int, bound: Floats) -> Floats:
        profile, centre, best, weight = self.profile, self.centre, self.best, self.weight
        first = self.guess * target
        near, far = centre.copy(), bound.copy()
        known = np.isfinite(centre) & np.isfinite(best)
        room = np.abs(far - centre)
        guess = np.where(np.isfinite(first) & (first > 0), first, 0.1)
        x = centre + side * np.minimum(guess, 0.7 * room)
        out = np.where(known, far, np.nan)
        tried = np.zeros(centre.size, dtype=bool)
        active = np.flatnonzero(known & (room > 0))
        for _ in range(60):
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
            solved = closed | (np.abs(root - aim) < 1e-7 * np.maximum(aim, 1e-3))
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

    def _third_order(self, limits: Floats, target: Floats, side: int, bound: Floats) -> Floats:
        """Move limits to where the modified root reaches the target.

        Limits at the bound of the quantity, and those for which q does not exist, stay.
        """
        profile, centre, best, weight = self.profile, self.centre, self.best, self.weight
        x = limits.copy()
        active = np.flatnonzero(np.isfinite(limits) & (limits != bound) & (limits != centre))
        for _ in range(15):
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
) -> Floats:
    """Find where increasing functions cross zero inside brackets, by guarded Newton.

    ``derivative`` takes points and their positions and returns values and slopes. Where a function
    keeps its sign, the end of the bracket it leans to is returned.
    """
    low, high = low.copy(), high.copy()
    x = np.where((start > low) & (start < high), start, 0.5 * (low + high))
    todo = np.arange(x.size)
    for _ in range(80):
        value, slope = derivative(x[todo], todo)
        up = value > 0
        high[todo] = np.where(up, x[todo], high[todo])
        low[todo] = np.where(up, low[todo], x[todo])
        new = x[todo] - divide(value, slope)
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


class GevProfile:
    """The profile of one coordinate of (location or level, log scale, shape).

    Parameters
    ----------
    x : array of (samples, values)
    theta : array of (samples, 3)
        The maximum-likelihood estimate: location, log scale, shape.
    index : int
        Which coordinate is held.
    log_rate : float, optional
        Replaces the location by the return level, ``location + scale * g(shape, log_rate)``.
    """

    def __init__(
        self, x: Floats, theta: Floats, index: int, *, log_rate: float | None = None
    ) -> None:
        self.x, self.index, self.log_rate = x, index, log_rate
        self.free = tuple(i for i in range(3) if i != index)
        self.warm = theta.copy()
        if log_rate is not None:
            self.warm[:, 0] += np.exp(theta[:, 1]) * growth(theta[:, 2], np.array(log_rate))[0]
        self.hessian = self.value(self.warm, np.arange(x.shape[0])).hessian

    def value(self, at: Floats, rows: Rows) -> Value:
        """Return the mean negative log-likelihood with derivatives in our coordinates."""
        x = self.x if rows.size == self.x.shape[0] else self.x[rows]
        if self.log_rate is None:
            return gev_value(at, x)
        scale = np.exp(at[:, 1])
        g, dg, ddg = growth(at[:, 2], np.array(self.log_rate))
        moved = at.copy()
        moved[:, 0] -= scale * g
        value, gradient, hessian = gev_value(moved, x)
        # location = level - scale * g(shape): one row of the Jacobian is not the identity's
        jacobian = np.broadcast_to(np.eye(3), hessian.shape).copy()
        jacobian[:, 0, 1], jacobian[:, 0, 2] = -scale * g, -scale * dg
        out = np.einsum("bji,bjk,bkl->bil", jacobian, hessian, jacobian)
        pull = gradient[:, 0] * scale
        out[:, 1, 1] -= pull * g
        out[:, 1, 2] -= pull * dg
        out[:, 2, 1] -= pull * dg
        out[:, 2, 2] -= pull * ddg
        return Value(value, np.einsum("bji,bj->bi", jacobian, gradient), out)

    def __call__(self, x: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """Return the profile and its slope."""
        free = np.array(self.free)
        start = self.warm[rows].copy()
        step = x - start[:, self.index]
        start[:, self.index] = x
        # where the nuisance parameters go to first order, if that is allowed
        block = self.hessian[rows][:, free[:, None], free]
        side = self.hessian[rows][:, free, self.index]
        guess = start.copy()
        guess[:, free] -= step[:, None] * np.linalg.solve(block, side[..., None])[..., 0]
        allowed = np.isfinite(self.value(guess, rows).value)
        start = np.where(allowed[:, None], guess, start)
        point, result, _ = minimize(
            lambda at, which: self.value(at, rows[which]), start, free=self.free, tolerance=1e-8
        )
        fine = np.isfinite(result.value)
        self.warm[rows[fine]] = point[fine]
        self.hessian[rows[fine]] = result.hessian[fine]
        return result.value, result.gradient[:, self.index]
