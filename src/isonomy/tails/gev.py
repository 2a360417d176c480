"""The generalised extreme value law of block maxima: its functions and its estimators.

A positive shape is a heavy tail (Fréchet), 0 the Gumbel law, a negative shape a tail that ends at
``location - scale / shape``: the opposite sign of SciPy's ``genextreme``.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gamma

from isonomy.tails.likelihood import Value, gev_value, log1p_over
from isonomy.tails.newton import minimize

__all__ = [
    "gev_cdf",
    "gev_logpdf",
    "gev_moments",
    "gev_quantile",
    "l_moments",
    "solve_gev",
    "solve_gumbel",
]

Floats = NDArray[np.float64]


def _four(
    x: ArrayLike, location: ArrayLike, scale: ArrayLike, shape: ArrayLike
) -> tuple[Floats, Floats, Floats, Floats]:
    parts = np.broadcast_arrays(x, location, scale, shape)
    return tuple(np.asarray(part, dtype=np.float64) for part in parts)  # type: ignore[return-value]


def gev_logpdf(
    x: ArrayLike, location: ArrayLike = 0.0, scale: ArrayLike = 1.0, shape: ArrayLike = 0.0
) -> Floats:
    """Give the logarithm of the density of a maximum.

    Examples
    --------
    >>> float(gev_logpdf(0.0))
    -1.0
    """
    x, location, scale, shape = _four(x, location, scale, shape)
    w = (x - location) / scale
    inside = 1.0 + shape * w > 0
    ell = log1p_over(np.where(inside, w, 0.0), shape)
    with np.errstate(over="ignore"):
        out = -np.log(scale) - (1.0 + shape) * ell - np.exp(-ell)
    return np.where(inside, out, -np.inf)[()]


def gev_cdf(
    x: ArrayLike, location: ArrayLike = 0.0, scale: ArrayLike = 1.0, shape: ArrayLike = 0.0
) -> Floats:
    """Give the probability that a maximum is at most x.

    Examples
    --------
    >>> round(float(gev_cdf(0.0)), 4)
    0.3679
    """
    x, location, scale, shape = _four(x, location, scale, shape)
    with np.errstate(over="ignore"):
        out = np.exp(-np.exp(-log1p_over((x - location) / scale, shape)))
    return np.asarray(out, dtype=np.float64)[()]


def gev_quantile(
    p: ArrayLike, location: ArrayLike = 0.0, scale: ArrayLike = 1.0, shape: ArrayLike = 0.0
) -> Floats:
    """Give the value that a maximum does not exceed with probability p.

    Examples
    --------
    >>> round(float(gev_quantile(np.exp(-1.0), location=2.0)), 4)
    2.0
    """
    p, location, scale, shape = _four(p, location, scale, shape)
    safe = np.where(np.abs(shape) < 1e-150, 1e-150, shape)
    with np.errstate(divide="ignore", over="ignore"):
        reduced = -np.log(-np.log(p))
        return np.asarray(location + scale * np.expm1(safe * reduced) / safe, dtype=np.float64)[()]


def l_moments(x: Floats) -> tuple[Floats, Floats, Floats]:
    """Give the first two L-moments and the L-skewness, one sample a row.

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
    with np.errstate(invalid="ignore", divide="ignore"):
        skew = (6 * b2 - 6 * b1 + b0) / second
    return b0, second, skew


# Hosking's rational start is good to 1e-3; Newton steps on the exact relation finish it.
def gev_moments(x: Floats) -> tuple[Floats, Floats, Floats]:
    """Estimate (location, scale, shape) from three L-moments, one sample a row.

    References
    ----------
    Hosking, Wallis and Wood 1985, Estimation of the Generalized Extreme-Value Distribution by the
    Method of Probability-Weighted Moments.
    """
    first, second, skew = l_moments(x)
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
    return location, scale, -k


def _skew_gap(k: Floats, skew: Floats) -> Floats:
    return np.asarray(
        2.0 * np.expm1(-k * np.log(3.0)) / np.expm1(-k * np.log(2.0)) - 3.0 - skew, dtype=np.float64
    )


def _standard(x: Floats) -> tuple[Floats, Floats, Floats]:
    """Give values whose quartiles are those of a standard Gumbel law, and the way back.

    Quartiles and not moments: one value of a very heavy tail may outweigh all others.
    """
    low, middle, high = np.quantile(x, [0.25, 0.5, 0.75], axis=1)
    spread = (high - low) / (np.log(np.log(4.0)) - np.log(np.log(4.0 / 3.0)))
    spread = np.where(spread > 0, spread, x.std(axis=1))
    centre = middle + np.log(np.log(2.0)) * spread
    return (x - centre[:, None]) / spread[:, None], centre, spread


def _on(z: Floats, at: Floats, rows: NDArray[np.intp]) -> Value:
    return gev_value(at, z if rows.size == z.shape[0] else z[rows])


def solve_gev(
    x: Floats, *, room: Floats | None = None, tolerance: float = 1e-9
) -> tuple[Floats, Floats, Floats, Floats, NDArray[np.bool_]]:
    """Give (location, scale, shape, mean negative log-likelihood, converged) by maximum likelihood.

    Starts at the L-moments' estimate, or at a Gumbel law where that leaves a value outside the
    support, and takes Newton steps with the absolute eigenvalues of the Hessian. Shapes at or
    below -1 are not searched.
    """
    z, centre, spread = _standard(x)
    location, scale, shape = gev_moments(z)
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
        tolerance=tolerance,
        hopeless=lambda at: at[:, 2] < -0.995,
    )
    done &= theta[:, 2] > -1.0 + 1e-6
    return (
        theta[:, 0] * spread + centre,
        np.exp(theta[:, 1]) * spread,
        theta[:, 2],
        value.value + np.log(spread),
        done,
    )


def solve_gumbel(x: Floats) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
    """Give (location, scale, mean negative log-likelihood, converged) with the shape held at 0."""
    z, centre, spread = _standard(x)
    start = np.zeros((z.shape[0], 3))
    theta, value, done = minimize(lambda at, rows: _on(z, at, rows), start, free=(0, 1))
    return (
        theta[:, 0] * spread + centre,
        np.exp(theta[:, 1]) * spread,
        value.value + np.log(spread),
        done,
    )
