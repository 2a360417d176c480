"""Newton's method for thousands of small smooth problems at once."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from isonomy.tails.likelihood import Value

__all__ = ["minimize"]

Floats = NDArray[np.float64]
Objective = Callable[[Floats, NDArray[np.intp]], Value]
"""(points, which problems they belong to) -> value, gradient, Hessian of each."""


def _direction(gradient: Floats, hessian: Floats) -> Floats:
    """Give Newton's step with the absolute eigenvalues of the Hessian, always downhill."""
    if gradient.shape[1] == 1:
        bend = np.maximum(np.abs(hessian[:, :, 0]), 1e-8)
        return np.asarray(-gradient / bend, dtype=np.float64)
    values, vectors = np.linalg.eigh(hessian)
    size = np.abs(values)
    size = np.maximum(size, 1e-8 * size.max(axis=1, keepdims=True) + 1e-12)
    along = np.einsum("bij,bi->bj", vectors, gradient)
    return np.asarray(-np.einsum("bij,bj->bi", vectors, along / size), dtype=np.float64)


def minimize(
    objective: Objective,
    start: Floats,
    *,
    free: tuple[int, ...] | None = None,
    tolerance: float = 1e-10,
    iterations: int = 60,
    longest: float = 1.0,
    hopeless: Callable[[Floats], NDArray[np.bool_]] | None = None,
) -> tuple[Floats, Value, NDArray[np.bool_]]:
    """Minimise each problem from its own start by damped Newton steps.

    Parameters
    ----------
    objective : callable
        Takes points (problems, p) and the positions of the problems, so that finished ones cost
        nothing; an infinite value marks a point that is not allowed.
    start : array of (problems, p)
        Must be allowed.
    free : tuple of int, optional
        The coordinates that may move; the others stay where they start.
    tolerance : float
        A problem is solved when its Newton decrement (twice the gain that a last full step
        promises) is below this squared, or its gradient is below this.
    iterations : int
        The most steps.
    longest : float
        No coordinate moves by more than this in one step; the parameters are of order 1.
    hopeless : callable, optional
        Says which points are not worth following: those creeping towards a bound.

    Returns
    -------
    tuple
        Points, the objective there, and which problems converged.
    """
    point = np.array(start, dtype=np.float64)
    problems, p = point.shape
    keep = np.array(range(p) if free is None else free, dtype=np.intp)
    everyone = np.arange(problems)
    value, gradient, hessian = (np.array(part) for part in objective(point, everyone))
    done = np.zeros(problems, dtype=bool)
    active = np.flatnonzero(np.isfinite(value))
    for _ in range(iterations):
        if not active.size:
            break
        g = gradient[active][:, keep]
        h = hessian[active][:, keep[:, None], keep]
        step = _direction(g, h)
        # a gradient at the level of rounding, or a step that cannot be told from none
        decrement = -np.einsum("ij,ij->i", step, g)
        solved = (np.abs(g).max(axis=1) < tolerance) | (decrement < tolerance**2)
        done[active[solved]] = True
        active, step, decrement = active[~solved], step[~solved], decrement[~solved]
        if not active.size:
            break
        step /= np.maximum(np.abs(step).max(axis=1) / longest, 1.0)[:, None]
        todo, length, settled = np.arange(active.size), np.ones(active.size), []
        for _ in range(40):
            where = active[todo]
            trial = point[where]
            trial[:, keep] += length[todo, None] * step[todo]
            new = objective(trial, where)
            # rounding may hide the last gains: then a smaller gradient decides
            flat = np.abs(new.gradient[:, keep]).max(axis=1) < np.abs(gradient[where][:, keep]).max(
                axis=1
            )
            rounding = 1e-13 * (1.0 + np.abs(value[where]))
            better = (new.value < value[where]) | ((new.value <= value[where] + rounding) & flat)
            took = where[better]
            point[took], value[took] = trial[better], new.value[better]
            gradient[took], hessian[took] = new.gradient[better], new.hessian[better]
            settled.append(took)
            todo = todo[~better]
            length[todo] /= 2.0
            if not todo.size:
                break
        # those that found no better point stop where they are
        stuck = active[todo]
        small = np.abs(gradient[stuck][:, keep]).max(axis=1, initial=0.0) < 100 * tolerance
        done[stuck[small]] = True
        active = np.sort(np.concatenate(settled))
        if hopeless is not None:
            active = active[~hopeless(point[active])]
    return point, Value(value, gradient, hessian), done
