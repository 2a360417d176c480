"""The two laws of extreme value theory: functions, and likelihoods with gradients and Hessians.

Both laws are functions of one transform, ``l = log(1 + shape * w) / shape`` of the standardised
value ``w`` (``l = w`` at shape 0): the negative log-density of the generalised Pareto law is
``log(scale) + (1 + shape) * l``, and that of the generalised extreme value law adds ``exp(-l)``.
Parameters are the location (GEV only), the logarithm of the scale and the shape, in that order.

A positive shape is a heavy tail, 0 the exponential or Gumbel law, a negative shape a tail that ends:
as in SciPy's ``genpareto``; its ``genextreme`` has the opposite sign.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomy._arrays import Floats

# Below this |shape| * max|w| the transform is summed as a series: the closed forms of its
# derivatives divide rounding errors by shape and shape squared.
SERIES = 0.03
TERMS = 14


class Value(NamedTuple):
    """A function's value, gradient and Hessian, one per leading index."""

    value: Floats
    gradient: Floats
    hessian: Floats


def _log1p_over(x: Floats, shape: Floats) -> Floats:
    """Return log(1 + shape * x) / shape, which is x at shape 0; infinite outside the support."""
    shape = np.where(np.abs(shape) < 1e-150, 1e-150, shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        inside = np.log1p(np.maximum(shape * x, -1.0))
    return np.asarray(inside / shape, dtype=np.float64)


def growth(shape: Floats, log_rate: Floats) -> tuple[Floats, Floats, Floats]:
    """Return g = (exp(shape * L) - 1) / shape and its first two derivatives in the shape.

    ``g`` is the return level in units of the scale.
    """
    shape, log_rate = np.broadcast_arrays(
        np.asarray(shape, dtype=np.float64), np.asarray(log_rate, dtype=np.float64)
    )
    x = shape * log_rate
    e = np.exp(x)
    safe = np.where(np.abs(shape) < 1e-150, 1e-150, shape)
    g = np.expm1(safe * log_rate) / safe
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        first = (log_rate * e - g) / safe
        second = (log_rate**2 * e - 2.0 * first) / safe
    near = np.abs(x) < SERIES
    if near.any():
        # g = L * sum (sL)^j / (j+1)!, so derivatives keep their leading terms
        factorial = 1.0
        f1, f2 = np.zeros_like(x), np.zeros_like(x)
        for j in range(1, TERMS):
            factorial *= j + 1
            f1 += j * x ** (j - 1) / factorial
            if j > 1:
                f2 += j * (j - 1) * x ** (j - 2) / factorial
        first = np.where(near, log_rate**2 * f1, first)
        second = np.where(near, log_rate**3 * f2, second)
    return g, first, second


def _support(
    w: Floats, shape: Floats
) -> tuple[Floats, Floats, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return shape * w, a shape to divide by, which samples lie inside the support, which need series.

    Samples outside get zeros: what is computed from them is thrown away.
    """
    x = shape[:, None] * w
    lowest = x.min(axis=1)
    ok = lowest > -1.0
    if not ok.all():
        x = np.where(ok[:, None], x, 0.0)
    near = np.maximum(-lowest, x.max(axis=1)) < SERIES
    return x, np.where(np.abs(shape) < 1e-150, 1e-150, shape), ok, near


def transform(w: Floats, shape: Floats) -> tuple[Floats, Floats, Floats, Floats, NDArray[np.bool_]]:
    """Return l, dl/dw, dl/dshape, d2l/dshape2 and which samples lie inside the support.

    ``w`` is (samples, values), ``shape`` is (samples,). Rows outside hold NaN-free filler.
    """
    x, divisor, ok, near = _support(w, shape)
    safe = divisor[:, None]
    ell = np.log1p(np.where(near[:, None], safe * w, x) if near.any() else x) / safe
    v = 1.0 / (1.0 + x)
    wv = w * v
    with np.errstate(over="ignore", invalid="ignore"):
        a = (wv - ell) / safe
        b = -(wv * wv + 2.0 * a) / safe
    if near.any():
        # l = w * sum (-x)^j / (j+1); differentiate by the shape term by term
        rows = np.flatnonzero(near)
        xs, ws = x[rows], w[rows]
        a_sum, b_sum, power = np.zeros_like(xs), np.zeros_like(xs), np.ones_like(xs)
        for j in range(1, TERMS):
            a_sum += (-1.0) ** j * j / (j + 1) * power
            b_sum += (-1.0) ** (j + 1) * (j + 1) * j / (j + 2) * power
            power = power * xs
        a[rows], b[rows] = ws**2 * a_sum, ws**3 * b_sum
    return ell, v, a, b, ok


class Means(NamedTuple):
    """Averages of the transform over each sample: l, its shape derivatives, w v and (w v)^2."""

    ell: Floats
    a: Floats
    b: Floats
    wv: Floats
    wv2: Floats
    ok: NDArray[np.bool_]


def means(w: Floats, shape: Floats) -> Means:
    """Return the averages of `transform` at less than half its cost: three sums hold them all."""
    x, safe, ok, near = _support(w, shape)
    n = w.shape[1]
    ell = np.log1p(x).mean(axis=1) / safe
    x += 1.0
    wv = w / x
    m_wv = wv.mean(axis=1)
    m_wv2 = np.einsum("ij,ij->i", wv, wv) / n
    with np.errstate(over="ignore", invalid="ignore"):
        a = (m_wv - ell) / safe
        b = -(m_wv2 + 2.0 * a) / safe
    if near.any():
        full = transform(w[near], shape[near])
        ell[near], a[near], b[near] = (full[i].mean(axis=1) for i in (0, 2, 3))
    return Means(ell, a, b, m_wv, m_wv2, ok)


def gpd_value(theta: Floats, y: Floats) -> Value:
    """Return the mean negative log-likelihood of (log scale, shape) for excesses, by sample.

    Parameters
    ----------
    theta : array of (samples, 2)
    y : array of (samples, values)
    """
    s, shape = theta[:, 0], theta[:, 1]
    m = means(y * np.exp(-s)[:, None], shape)
    up = 1.0 + shape
    gradient = np.stack([1.0 - up * m.wv, m.ell + up * m.a], axis=-1)
    cross = up * m.wv2 - m.wv
    # w v^2 = w v - shape (w v)^2
    hessian = np.stack([up * (m.wv - shape * m.wv2), cross, cross, 2.0 * m.a + up * m.b], axis=-1)
    value = np.where(m.ok & (shape > -1.0), s + up * m.ell, np.inf)
    return Value(value, gradient, hessian.reshape(-1, 2, 2))


def gev_value(theta: Floats, x: Floats) -> Value:
    """Return the mean negative log-likelihood of (location, log scale, shape), by sample."""
    mu, s, shape = theta[:, 0], theta[:, 1], theta[:, 2]
    inverse = np.exp(-s)
    w = (x - mu[:, None]) * inverse[:, None]
    ell, v, a, b, ok = transform(w, shape)
    with np.errstate(over="ignore", invalid="ignore"):
        q = np.exp(-ell)
        c = (1.0 + shape)[:, None] - q
        cv = c * v
        cwv = cv * w
        qv = q * v
        one = 1.0 + q * a
        n = w.shape[1]

        def dot(p: Floats, r: Floats) -> Floats:
            return np.asarray(np.einsum("ij,ij->i", p, r) / n, dtype=np.float64)

        wv = w * v
        g_mu = -cv.mean(axis=1) * inverse
        g_s = 1.0 - cwv.mean(axis=1)
        g_x = ell.mean(axis=1) + dot(c, a)
        h_mm = (dot(qv, v) - shape * dot(cv, v)) * inverse**2
        h_ms = (dot(qv, wv) + dot(cv, v)) * inverse
        h_ss = dot(qv * w, wv) + dot(cwv, v)
        h_mx = (-dot(one, v) + dot(cwv, v)) * inverse
        h_sx = -dot(one, wv) + dot(cwv, wv)
        h_xx = 2.0 * a.mean(axis=1) + dot(q * a, a) + dot(c, b)
        value = s + (1.0 + shape) * ell.mean(axis=1) + q.mean(axis=1)
    value = np.where(ok & (shape > -1.0) & np.isfinite(value), value, np.inf)
    hessian = np.stack([h_mm, h_ms, h_mx, h_ms, h_ss, h_sx, h_mx, h_sx, h_xx], axis=-1)
    return Value(value, np.stack([g_mu, g_s, g_x], axis=-1), hessian.reshape(-1, 3, 3))


def _broadcast(*parts: ArrayLike) -> list[Floats]:
    return [np.asarray(part, dtype=np.float64) for part in np.broadcast_arrays(*parts)]


def gpd_logpdf(x: ArrayLike, scale: ArrayLike = 1.0, shape: ArrayLike = 0.0) -> Floats:
    """Return the logarithm of the density of an excess.

    Examples
    --------
    >>> float(gpd_logpdf(1.0, scale=1.0, shape=0.0))
    -1.0
    """
    x, scale, shape = _broadcast(x, scale, shape)
    inside = (x >= 0) & (1.0 + shape * x / scale > 0)
    ell = _log1p_over(np.where(inside, x / scale, 0.0), shape)
    return np.where(inside, -np.log(scale) - (1.0 + shape) * ell, -np.inf)[()]


def gpd_cdf(x: ArrayLike, scale: ArrayLike = 1.0, shape: ArrayLike = 0.0) -> Floats:
    """Return the probability that an excess is at most x.

    Examples
    --------
    >>> round(float(gpd_cdf(1.0, scale=1.0, shape=-0.5)), 4)
    0.75
    """
    x, scale, shape = _broadcast(x, scale, shape)
    ell = _log1p_over(np.maximum(x, 0.0) / scale, shape)
    return np.asarray(-np.expm1(-ell), dtype=np.float64)[()]


def gpd_quantile(p: ArrayLike, scale: ArrayLike = 1.0, shape: ArrayLike = 0.0) -> Floats:
    """Return the excess that is not exceeded with probability p.

    Examples
    --------
    >>> round(float(gpd_quantile(0.75, scale=1.0, shape=-0.5)), 4)
    1.0
    """
    p, scale, shape = _broadcast(p, scale, shape)
    safe = np.where(np.abs(shape) < 1e-150, 1e-150, shape)
    with np.errstate(divide="ignore"):
        return np.asarray(scale * np.expm1(-safe * np.log1p(-p)) / safe, dtype=np.float64)[()]


def gev_logpdf(
    x: ArrayLike, location: ArrayLike = 0.0, scale: ArrayLike = 1.0, shape: ArrayLike = 0.0
) -> Floats:
    """Return the logarithm of the density of a maximum.

    Examples
    --------
    >>> float(gev_logpdf(0.0))
    -1.0
    """
    x, location, scale, shape = _broadcast(x, location, scale, shape)
    w = (x - location) / scale
    inside = 1.0 + shape * w > 0
    ell = _log1p_over(np.where(inside, w, 0.0), shape)
    with np.errstate(over="ignore"):
        out = -np.log(scale) - (1.0 + shape) * ell - np.exp(-ell)
    return np.where(inside, out, -np.inf)[()]


def gev_cdf(
    x: ArrayLike, location: ArrayLike = 0.0, scale: ArrayLike = 1.0, shape: ArrayLike = 0.0
) -> Floats:
    """Return the probability that a maximum is at most x.

    Examples
    --------
    >>> round(float(gev_cdf(0.0)), 4)
    0.3679
    """
    x, location, scale, shape = _broadcast(x, location, scale, shape)
    with np.errstate(over="ignore"):
        out = np.exp(-np.exp(-_log1p_over((x - location) / scale, shape)))
    return np.asarray(out, dtype=np.float64)[()]


def gev_quantile(
    p: ArrayLike, location: ArrayLike = 0.0, scale: ArrayLike = 1.0, shape: ArrayLike = 0.0
) -> Floats:
    """Return the value that a maximum does not exceed with probability p.

    Examples
    --------
    >>> round(float(gev_quantile(np.exp(-1.0), location=2.0)), 4)
    2.0
    """
    p, location, scale, shape = _broadcast(p, location, scale, shape)
    safe = np.where(np.abs(shape) < 1e-150, 1e-150, shape)
    with np.errstate(divide="ignore", over="ignore"):
        reduced = -np.log(-np.log(p))
        return np.asarray(location + scale * np.expm1(safe * reduced) / safe, dtype=np.float64)[()]


def law_cdf(
    family: str, x: ArrayLike, location: ArrayLike, scale: ArrayLike, shape: ArrayLike
) -> Floats:
    """Return the probability of at most x under the ``gpd`` above a threshold, or the ``gev``."""
    if family == "gev":
        return gev_cdf(x, location, scale, shape)
    return gpd_cdf(np.asarray(x) - location, scale, shape)


def law_quantile(
    family: str, p: ArrayLike, location: ArrayLike, scale: ArrayLike, shape: ArrayLike
) -> Floats:
    """Return the value below which a share p of the ``gpd`` above a threshold, or the ``gev``, lies."""
    if family == "gev":
        return gev_quantile(p, location, scale, shape)
    return np.asarray(location) + gpd_quantile(p, scale, shape)
