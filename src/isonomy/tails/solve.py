"""Estimates of both laws for thousands of samples at once: likelihood, L-moments, Zhang-Stephens.

Every estimate is an array (samples, 3) of location, scale and shape; the location of a ``gpd`` is 0.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import gamma

from isonomy._arrays import Floats, divide
from isonomy.tails.laws import Value, gev_value, gpd_logpdf, gpd_value, law_quantile

Objective = Callable[[Floats, NDArray[np.intp]], Value]
"""(points, which problems they belong to) -> value, gradient, Hessian of each."""


def _direction(gradient: Floats, hessian: Floats) -> Floats:
    """Return Newton's step with the absolute eigenvalues of the Hessian, always downhill."""
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


def _l_moments(x: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the first two L-moments and the L-skewness, one sample a row.

    References
    ----------
    Hosking 1990, L-moments: Analysis and Estimation of Distributions using Linear Combinations of
    Order Statistics.
    """
    n = x.shape[1]
    ordered = np.sort(x, axis=1)
    i = np.arange(n, dtype=np.float64)
    b0 = ordered.mean(axis=1)
    b1 = ordered @ (i / (n - 1)) / n
    b2 = ordered @ (i * (i - 1) / ((n - 1.0) * (n - 2.0))) / n
    second = 2 * b1 - b0
    return b0, second, divide(6 * b2 - 6 * b1 + b0, second)


def _gpd_moments(y: Floats) -> Floats:
    """Estimate from the first two L-moments.

    Works for any shape below 1 where the likelihood has no maximum, but may end the tail below
    the largest excess; then the shape is raised until it does not.
    """
    first, second, _ = _l_moments(y)
    shape = np.clip(2.0 - first / second, -50.0, 0.99)
    scale = first * (1.0 - shape)
    top = y.max(axis=1)
    short = -scale / np.where(shape < 0, shape, -1e-300) <= top
    scale = np.where(short, -shape * top * (1.0 + 1e-6), scale)
    return np.stack([np.zeros_like(scale), scale, shape], axis=-1)


def _zhang_stephens(y: Floats) -> Floats:
    """Estimate a ``gpd`` by Zhang and Stephens' quasi-Bayesian rule.

    The ratio shape / scale is averaged over a grid with the profile likelihood as weight, so an
    estimate exists for every sample, also where the likelihood has no maximum.

    References
    ----------
    Zhang and Stephens 2009, A New and Efficient Estimation Method for the Generalized Pareto
    Distribution.
    """
    n = y.shape[1]
    points = 20 + int(np.sqrt(n))
    ordered = np.sort(y, axis=1)
    quarter = ordered[:, int(n / 4 + 0.5) - 1]
    j = np.arange(1, points + 1)
    grid = 1.0 / ordered[:, -1:] + (1.0 - np.sqrt(points / (j - 0.5))) / (3.0 * quarter[:, None])
    value = np.empty_like(grid)
    for column in range(points):  # over the grid, not over the data: keeps memory to one copy
        value[:, column] = _profile(-grid[:, column], y)
    weight = np.exp(-n * (value - value.min(axis=1, keepdims=True)))
    weight /= weight.sum(axis=1, keepdims=True)
    theta = -(grid * weight).sum(axis=1)
    shape = np.log1p(theta[:, None] * y).mean(axis=1)
    return np.stack([np.zeros_like(shape), shape / theta, shape], axis=-1)


def _profile(theta: Floats, y: Floats) -> Floats:
    """Return the mean negative log-likelihood at the best shape for each ratio shape / scale."""
    theta = np.where(np.abs(theta) < 1e-12, 1e-12, theta)
    shape = np.log1p(theta[:, None] * y).mean(axis=1)
    return np.asarray(np.log(shape / theta) + shape + 1.0, dtype=np.float64)


def _gev_moments(x: Floats) -> Floats:
    """Estimate from three L-moments.

    References
    ----------
    Hosking, Wallis and Wood 1985, Estimation of the Generalized Extreme-Value Distribution by the
    Method of Probability-Weighted Moments.
    """
    first, second, skew = _l_moments(x)
    c = 2.0 / (3.0 + skew) - np.log(2.0) / np.log(3.0)
    k = 7.8590 * c + 2.9554 * c**2
    k = np.where(np.abs(k) < 1e-6, 1e-6, k)
    for _ in range(6):
        h = 1e-6
        at, near = _skew_gap(k, skew), _skew_gap(k + h, skew)
        k = np.clip(k - at * h / (near - at), -0.95, 20.0)
        k = np.where(np.abs(k) < 1e-6, 1e-6, k)
    scale = second * k / ((1.0 - 2.0**-k) * gamma(1.0 + k))
    location = first - scale * (1.0 - gamma(1.0 + k)) / k
    return np.stack([location, scale, -k], axis=-1)


def _skew_gap(k: Floats, skew: Floats) -> Floats:
    return np.asarray(
        2.0 * np.expm1(-k * np.log(3.0)) / np.expm1(-k * np.log(2.0)) - 3.0 - skew, dtype=np.float64
    )


# Where the profile is looked at for a start: shape / scale as a share of -1 / largest excess, and
# in units of 1 / mean excess for heavy tails.
_SHORT = np.array([0.999, 0.98, 0.93, 0.85, 0.7, 0.5, 0.25])
_HEAVY = np.array([0.02, 0.12, 0.3, 0.7, 1.6, 4.0, 12.0, 60.0, 1e3])


def _start(y: Floats) -> Floats:
    """Return the best point of Grimshaw's profile on a coarse grid, as (log scale, shape)."""
    mean, largest = y.mean(axis=1), y.max(axis=1)
    grid = np.concatenate([-_SHORT / largest[:, None], _HEAVY / mean[:, None]], axis=1)
    best, at, at_shape = np.full(y.shape[0], np.inf), grid[:, 0], np.zeros(y.shape[0])
    for column in range(grid.shape[1]):
        theta = grid[:, column]
        shape = np.log1p(theta[:, None] * y).mean(axis=1)
        value = np.log(shape / theta) + shape
        better = (value < best) & (shape > -0.98)
        best, at = np.where(better, value, best), np.where(better, theta, at)
        at_shape = np.where(better, shape, at_shape)
    result = np.isfinite(best)
    # no point of the grid has a shape above -1: start at a short tail that still has one
    shape = np.where(result, at_shape, -0.5)
    scale = np.where(result, at_shape / at, 0.55 * largest)
    return np.stack([np.log(scale), shape], axis=-1)


Solved = tuple[Floats, Floats, NDArray[np.bool_]]
"""Estimates, the mean negative log-likelihood there, and whether it is a maximum."""


def solve(family: str, sample: Floats) -> Solved:
    """Fit each row by maximum likelihood.

    Parameters
    ----------
    family : {"gpd", "gev"}
    sample : array of (samples, values)
        Excesses of a ``gpd`` are not negative.
    """
    return _solve_gev(sample) if family == "gev" else _solve_gpd(sample)


def _solve_gpd(y: Floats) -> Solved:
    """Fit excesses.

    Grimshaw's profile gives the start, Newton's method in (log scale, shape) the rest. Shapes at or
    below -1 are not searched: there the likelihood is unbounded and its maximum says nothing.
    Where no maximum lies above -1 the uniform law up to the largest excess (shape -1) is given,
    not converged.
    """
    unit = y.mean(axis=1)
    z = y / unit[:, None]
    theta, value, done = minimize(
        lambda at, rows: gpd_value(at, z[rows] if rows.size < z.shape[0] else z),
        _start(z),
        hopeless=lambda at: at[:, 1] < -0.995,
    )
    scale, shape, nll = np.exp(theta[:, 0]), theta[:, 1], value.value
    done &= shape > -1.0 + 1e-6
    edge = ~done & ((shape < -0.9) | ~np.isfinite(nll))
    top = z.max(axis=1)
    scale, shape = np.where(edge, top, scale), np.where(edge, -1.0, shape)
    nll = np.where(edge, np.log(top), nll)
    theta = np.stack([np.zeros_like(unit), scale * unit, shape], axis=-1)
    return theta, nll + np.log(unit), done


def _standard(x: Floats) -> tuple[Floats, Floats, Floats]:
    """Return values whose quartiles are those of a standard Gumbel law, and the way back.

    Quartiles and not moments: one value of a very heavy tail may outweigh all others.
    """
    low, middle, high = np.quantile(x, [0.25, 0.5, 0.75], axis=1)
    spread = (high - low) / (np.log(np.log(4.0)) - np.log(np.log(4.0 / 3.0)))
    spread = np.where(spread > 0, spread, x.std(axis=1))
    centre = middle + np.log(np.log(2.0)) * spread
    return (x - centre[:, None]) / spread[:, None], centre, spread


def _unscaled(theta: Floats, centre: Floats, spread: Floats) -> Floats:
    """Return what was fitted to standardised values as that of the values themselves."""
    parts = (theta[:, 0] * spread + centre, np.exp(theta[:, 1]) * spread, theta[:, 2])
    return np.stack(parts, axis=-1)


def _on(z: Floats, at: Floats, rows: NDArray[np.intp]) -> Value:
    return gev_value(at, z if rows.size == z.shape[0] else z[rows])


def _solve_gev(x: Floats) -> Solved:
    """Fit maxima.

    Starts at the L-moments' estimate, or at a Gumbel law where that leaves a value outside the
    support, and takes Newton steps with the absolute eigenvalues of the Hessian. Shapes at or
    below -1 are not searched.
    """
    z, centre, spread = _standard(x)
    location, scale, shape = _gev_moments(z).T
    shape = np.clip(shape, -0.8, 2.0)
    ends = 1.0 + shape[:, None] * np.stack(
        [(z.min(axis=1) - location) / scale, (z.max(axis=1) - location) / scale], axis=-1
    )
    bad = (ends.min(axis=1) < 0.02) | ~np.isfinite(scale) | (scale <= 0)
    start = np.stack(
        [
            np.where(bad, 0.0, location),
            np.log(np.where(bad, 1.0, scale)),
            np.where(bad, 1e-3, shape),
        ],
        axis=-1,
    )
    theta, value, done = minimize(
        lambda at, rows: _on(z, at, rows),
        start,
        tolerance=1e-9,
        hopeless=lambda at: at[:, 2] < -0.995,
    )
    done &= theta[:, 2] > -1.0 + 1e-6
    return _unscaled(theta, centre, spread), value.value + np.log(spread), done


def solve_gumbel(x: Floats) -> Solved:
    """Fit maxima with the shape held at 0."""
    z, centre, spread = _standard(x)
    start = np.zeros((z.shape[0], 3))
    theta, value, done = minimize(lambda at, rows: _on(z, at, rows), start, free=(0, 1))
    return _unscaled(theta, centre, spread), value.value + np.log(spread), done


_ESTIMATORS: dict[tuple[str, str], Callable[[Floats], Floats]] = {
    ("gpd", "moments"): _gpd_moments,
    ("gpd", "zhang_stephens"): _zhang_stephens,
    ("gev", "moments"): _gev_moments,
}


def estimate(
    family: str, sample: Floats, method: str = "auto"
) -> tuple[Floats, Floats, NDArray[np.bool_], NDArray[np.str_]]:
    """Fit each row; return also the estimator behind each.

    ``auto`` is maximum likelihood, and another estimator where the likelihood has no maximum.
    """
    rows = sample.shape[0]
    other = method
    if method in ("auto", "ml"):
        theta, value, done = solve(family, sample)
        other = "zhang_stephens" if family == "gpd" else "moments"
        which = np.where(done | (method == "ml"), "ml", other)
    else:
        theta, value, done = np.empty((rows, 3)), np.empty(rows), np.ones(rows, dtype=bool)
        which = np.full(rows, method)
    rest = which != "ml"
    if rest.any():
        theta[rest] = _ESTIMATORS[family, other](sample[rest])
        location, scale, shape = theta[rest].T
        if family == "gev":
            at = np.stack([location, np.log(scale), shape], axis=-1)
            value[rest] = gev_value(at, sample[rest]).value
        else:
            value[rest] = -gpd_logpdf(sample[rest], scale[:, None], shape[:, None]).mean(axis=1)
    return theta, value, done, which


def covariance(family: str, theta: Floats, sample: Floats) -> Floats:
    """Return the inverse observed information in (location, log scale, shape), NaN where none.

    A ``gpd`` has no location. Shapes of -0.5 and below have no such information.
    """
    first = 0 if family == "gev" else 1
    out = np.full((theta.shape[0], 3 - first, 3 - first), np.nan)
    rows = np.flatnonzero(np.isfinite(theta[:, 1]) & (theta[:, 2] > -0.5))
    if rows.size:
        at = np.stack([theta[rows, 0], np.log(theta[rows, 1]), theta[rows, 2]], axis=-1)
        value = gev_value if family == "gev" else gpd_value
        hessian = value(at[:, first:], sample[rows]).hessian
        usable = np.isfinite(hessian).all(axis=(1, 2)) & (np.linalg.det(hessian) > 0)
        out[rows[usable]] = np.linalg.inv(hessian[usable]) / sample.shape[1]
    return out


_PORTION = 200_000
"""Draws are fitted in portions that stay in the processor's cache."""


def redraw(
    family: str,
    theta: Floats,
    size: int,
    resamples: int,
    rng: np.random.Generator,
    *,
    by_likelihood: bool = True,
) -> Iterator[tuple[Floats, Floats]]:
    """Yield samples drawn from a fitted law, in portions, and their own estimates.

    Without ``by_likelihood`` these are Zhang and Stephens', which exist for every sample.
    """
    portion = max(1, _PORTION // size)
    for start in range(0, resamples, portion):
        uniform = rng.random((min(portion, resamples - start), size))
        if family == "gev":
            drawn = law_quantile("gev", np.maximum(uniform, 1e-300), *theta)
            yield drawn, _solve_gev(drawn)[0]
            continue
        drawn = law_quantile("gpd", uniform, 0.0, *theta[1:])
        method = "auto" if by_likelihood else "zhang_stephens"
        yield drawn, estimate("gpd", drawn, method)[0]
