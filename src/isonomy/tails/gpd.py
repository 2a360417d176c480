"""The generalised Pareto law of excesses over a high threshold: its functions and its estimators.

A positive shape is a heavy tail, 0 the exponential law, a negative shape a tail that ends at
``-scale / shape``. SciPy's ``genpareto`` has the same sign, its ``genextreme`` the opposite one.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomy.tails.likelihood import gpd_value, log1p_over
from isonomy.tails.newton import minimize

__all__ = [
    "gpd_cdf",
    "gpd_logpdf",
    "gpd_moments",
    "gpd_quantile",
    "gpd_zhang_stephens",
    "solve_gpd",
]

Floats = NDArray[np.float64]


def _three(x: ArrayLike, scale: ArrayLike, shape: ArrayLike) -> tuple[Floats, Floats, Floats]:
    return tuple(  # type: ignore[return-value]
        np.asarray(part, dtype=np.float64) for part in np.broadcast_arrays(x, scale, shape)
    )


def gpd_logpdf(x: ArrayLike, scale: ArrayLike = 1.0, shape: ArrayLike = 0.0) -> Floats:
    """Give the logarithm of the density of an excess.

    Examples
    --------
    >>> float(gpd_logpdf(1.0, scale=1.0, shape=0.0))
    -1.0
    """
    x, scale, shape = _three(x, scale, shape)
    inside = (x >= 0) & (1.0 + shape * x / scale > 0)
    ell = log1p_over(np.where(inside, x / scale, 0.0), shape)
    return np.where(inside, -np.log(scale) - (1.0 + shape) * ell, -np.inf)[()]


def gpd_cdf(x: ArrayLike, scale: ArrayLike = 1.0, shape: ArrayLike = 0.0) -> Floats:
    """Give the probability that an excess is at most x.

    Examples
    --------
    >>> round(float(gpd_cdf(1.0, scale=1.0, shape=-0.5)), 4)
    0.75
    """
    x, scale, shape = _three(x, scale, shape)
    ell = log1p_over(np.maximum(x, 0.0) / scale, shape)
    return np.asarray(-np.expm1(-ell), dtype=np.float64)[()]


def gpd_quantile(p: ArrayLike, scale: ArrayLike = 1.0, shape: ArrayLike = 0.0) -> Floats:
    """Give the excess that is not exceeded with probability p.

    Examples
    --------
    >>> round(float(gpd_quantile(0.75, scale=1.0, shape=-0.5)), 4)
    1.0
    """
    p, scale, shape = _three(p, scale, shape)
    safe = np.where(np.abs(shape) < 1e-150, 1e-150, shape)
    with np.errstate(divide="ignore"):
        return np.asarray(scale * np.expm1(-safe * np.log1p(-p)) / safe, dtype=np.float64)[()]


def gpd_moments(y: Floats) -> tuple[Floats, Floats]:
    """Estimate (scale, shape) from the first two L-moments, one sample a row.

    Works for any shape below 1 where the likelihood has no maximum, but may end the tail below
    the largest excess; then the shape is raised until it does not.
    """
    n = y.shape[1]
    ordered = np.sort(y, axis=1)
    first = ordered.mean(axis=1)
    # the second L-moment by probability-weighted moments
    second = 2.0 * (ordered @ (np.arange(n) / (n - 1.0))) / n - first
    shape = np.clip(2.0 - first / second, -50.0, 0.99)
    scale = first * (1.0 - shape)
    short = -scale / np.where(shape < 0, shape, -1e-300) <= ordered[:, -1]
    scale = np.where(short, -shape * ordered[:, -1] * (1.0 + 1e-6), scale)
    return scale, shape


def gpd_zhang_stephens(y: Floats) -> tuple[Floats, Floats]:
    """Estimate (scale, shape) by Zhang and Stephens' quasi-Bayesian rule, one sample a row.

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
    return shape / theta, shape


def _profile(theta: Floats, y: Floats) -> Floats:
    """Give the mean negative log-likelihood at the best shape for each ratio shape / scale."""
    theta = np.where(np.abs(theta) < 1e-12, 1e-12, theta)
    shape = np.log1p(theta[:, None] * y).mean(axis=1)
    return np.asarray(np.log(shape / theta) + shape + 1.0, dtype=np.float64)


# Where the profile is looked at for a start: shape / scale as a share of -1 / largest excess, and
# in units of 1 / mean excess for heavy tails.
_SHORT = np.array([0.999, 0.98, 0.93, 0.85, 0.7, 0.5, 0.25])
_HEAVY = np.array([0.02, 0.12, 0.3, 0.7, 1.6, 4.0, 12.0, 60.0, 1e3])


def _start(y: Floats, ceiling: Floats) -> Floats:
    """Give the best point of Grimshaw's profile on a coarse grid, as (log scale, shape)."""
    mean, largest = y.mean(axis=1), y.max(axis=1)
    grid = np.concatenate([-_SHORT / largest[:, None], _HEAVY / mean[:, None]], axis=1)
    grid = np.minimum(grid, ceiling[:, None])
    best, at, at_shape = np.full(y.shape[0], np.inf), grid[:, 0], np.zeros(y.shape[0])
    for column in range(grid.shape[1]):
        theta = grid[:, column]
        # a largest value at the bound itself leaves no room below the ceiling: NaN is never better
        with np.errstate(divide="ignore", invalid="ignore"):
            shape = np.log1p(theta[:, None] * y).mean(axis=1)
            value = np.log(shape / theta) + shape
        better = (value < best) & (shape > -0.98)
        best, at = np.where(better, value, best), np.where(better, theta, at)
        at_shape = np.where(better, shape, at_shape)
    found = np.isfinite(best)
    # no point of the grid has a shape above -1: start at a short tail that still has one
    shape = np.where(found, at_shape, -0.5)
    scale = np.where(found, at_shape / at, 0.55 * largest)
    return np.stack([np.log(scale), shape], axis=-1)


def solve_gpd(
    y: Floats, *, room: Floats | None = None, tolerance: float = 1e-10
) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
    """Give (scale, shape, mean negative log-likelihood, converged) by maximum likelihood.

    Grimshaw's profile gives the start, Newton's method in (log scale, shape) the rest. Shapes at or
    below -1 are not searched: there the likelihood is unbounded and its maximum says nothing.
    Where no maximum lies above -1 the uniform law up to the largest excess (shape -1) is given,
    not converged.

    Parameters
    ----------
    y : array of (samples, excesses)
        Positive.
    room : array of (samples,), optional
        How far the support reaches above the threshold; the tail may not end beyond.
    """
    unit = y.mean(axis=1)
    z = y / unit[:, None]
    far = np.full(unit.shape, np.inf) if room is None else room / unit
    ceiling = np.where(np.isfinite(far), -1.0 / far, np.inf)
    theta, value, done = minimize(
        lambda at, rows: gpd_value(at, z[rows] if rows.size < z.shape[0] else z),
        _start(z, ceiling),
        tolerance=tolerance,
        hopeless=lambda at: at[:, 1] < -0.995,
    )
    scale, shape, nll = np.exp(theta[:, 0]), theta[:, 1], value.value
    done &= shape > -1.0 + 1e-6
    over = done & np.isfinite(far) & (shape / scale > ceiling)
    over |= ~done & np.isfinite(far) & (shape > -0.9)
    if over.any():
        # the best tail that ends exactly at the bound: one parameter, in closed form
        with np.errstate(divide="ignore"):
            bound_shape = np.log1p(-np.minimum(z[over] / far[over, None], 1.0)).mean(axis=1)
        kept = bound_shape > -1.0
        rows = np.flatnonzero(over)[kept]
        shape[rows] = bound_shape[kept]
        scale[rows] = -bound_shape[kept] * far[rows]
        nll[rows] = np.log(scale[rows]) + shape[rows] + 1.0
        done[rows] = True
        done[np.flatnonzero(over)[~kept]] = False
    edge = ~done & ((shape < -0.9) | ~np.isfinite(nll) | over)
    top = z.max(axis=1)
    scale, shape = np.where(edge, top, scale), np.where(edge, -1.0, shape)
    nll = np.where(edge, np.log(top), nll)
    return scale * unit, shape, nll + np.log(unit), done
