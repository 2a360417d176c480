"""Intervals of a fitted tail: profile likelihood, delta method, parametric bootstrap, order statistics."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from isonomy._validate import unknown_name
from isonomy.errors import InputError
from isonomy.stats import percentile_interval
from isonomy.tails.bootstrap import redraw
from isonomy.tails.gpd import gpd_quantile
from isonomy.tails.likelihood import gev_value, gpd_value, growth
from isonomy.tails.profile import Profile, first_order, third_order
from isonomy.tails.profile_gev import GevProfile
from isonomy.tails.profile_gpd import End, Level, Scale, Shape

if TYPE_CHECKING:
    from isonomy.tails.fit import TailFit

__all__ = ["Interval", "METHODS", "QUANTITIES", "draw_levels", "interval", "limits"]

Floats = NDArray[np.float64]

METHODS = ("profile", "profile_plain", "delta", "bootstrap")
QUANTITIES = ("shape", "scale", "location", "return_level", "endpoint")

# Samples are handled in portions whose arrays stay in the processor's cache.
PORTION = 200_000

# Below this many expected exceedances the level lies so near the threshold that the share of
# exceedances decides, and the order statistics around it know more than the tail's law.
NEAR = 2.0


class Interval(NamedTuple):
    """The two ends of an interval; arrays for a batch of fits.

    Examples
    --------
    >>> low, high = Interval(0.1, 0.3)
    >>> high
    0.3
    """

    low: Any
    high: Any


def interval(
    fit: "TailFit",
    what: str,
    *,
    horizon: float | None = None,
    level: float = 0.95,
    method: str = "profile",
    resamples: int = 999,
    random_state: int | None = 0,
) -> Interval:
    """Give an interval for a parameter, a return level or the end of a tail.

    The same as `TailFit.interval`, which says what the methods are.

    Examples
    --------
    >>> from isonomy.tails import fit_gpd
    >>> fit = fit_gpd(-np.log1p(-(np.arange(50) + 0.5) / 50))
    >>> low, high = interval(fit, "shape")
    >>> low < 0 < high
    True
    """
    if what not in QUANTITIES:
        raise unknown_name("quantity of a tail", what, QUANTITIES)
    if method not in METHODS:
        raise unknown_name("interval method", method, METHODS)
    if not 0.0 < level < 1.0:
        raise InputError(f"level must lie between 0 and 1; got {level!r} (0.95 is 95 per cent).")
    if what == "return_level" and (horizon is None or horizon <= 0):
        raise InputError(
            f"A return level needs horizon=, a positive number of queries; got {horizon!r}."
        )
    if what == "location" and fit.family == "gpd":
        raise InputError("The threshold is chosen, not estimated: it has no interval.")
    z = float(ndtri(0.5 + level / 2))
    if method == "bootstrap":
        low, high = _bootstrap(fit, what, horizon, level, resamples, random_state)
    else:
        low, high = (
            limits(fit, what, side, z, horizon=horizon, method=method, random_state=random_state)
            for side in (-1, 1)
        )
    return Interval(_shaped(low, fit), _shaped(high, fit))


def _shaped(flat: Floats, fit: "TailFit") -> Any:
    return flat.reshape(fit.batch) if fit.batch else float(flat[0])


def limits(
    fit: "TailFit",
    what: str,
    side: int,
    z: float | Floats,
    *,
    horizon: float | None = None,
    method: str = "profile",
    random_state: int | None = 0,
) -> Floats:
    """Give the limit on one side (1 above, -1 below) at a normal quantile, for each fit of a batch.

    Fits without a likelihood maximum take a parametric bootstrap; degenerate ones give NaN.
    """
    flat = _Flat(fit)
    out = np.full(flat.size, np.nan)
    target = np.broadcast_to(np.asarray(z, dtype=np.float64), (flat.size,))
    rate = None
    if what == "return_level":
        assert horizon is not None
        rate = float(horizon) * fit.rate if fit.threshold is not None else None
        known = fit.k == fit.n
        if rate is not None and rate < (1.0 + 1e-9 if known else NEAR):
            return _order_limit(flat, fit, side, target, float(horizon))
    regular = np.flatnonzero(flat.fitted & flat.regular)
    others = np.flatnonzero(flat.fitted & ~flat.regular)
    if method == "delta":
        centre, se = _delta(flat, fit, what, horizon)
        out[flat.fitted] = (centre + side * target * se)[flat.fitted]
    else:
        portion = max(1, PORTION // flat.sample.shape[1])
        for start in range(0, regular.size, portion):
            rows = regular[start : start + portion]
            ask = _gpd_limit if fit.family == "gpd" else _gev_limit
            out[rows] = ask(flat, fit, rows, what, side, target[rows], horizon, method)
        for row in others:
            out[row] = _abrupt_limit(
                flat, fit, int(row), what, side, float(target[row]), horizon, random_state
            )
    if what in ("return_level", "endpoint") and fit.upper is not None:
        out = np.minimum(out, fit.upper)
    return out


class _Flat:
    """A fit with its leading axes laid flat."""

    def __init__(self, fit: "TailFit") -> None:
        self.sample = fit.sample.reshape(-1, fit.sample.shape[-1])
        self.size = self.sample.shape[0]
        self.location, self.scale, self.shape, self.nll = (
            np.asarray(part, dtype=np.float64).ravel()
            for part in (fit.location, fit.scale, fit.shape, fit.nll)
        )
        self.fitted = np.isfinite(self.scale)
        # the interval belongs to the likelihood's maximum, whatever estimator was asked for
        self.regular = np.asarray(fit.converged).ravel() & (np.ravel(fit.method) == "ml")


def _scaled(flat: _Flat, fit: "TailFit", rows: NDArray[np.intp]) -> tuple[Floats, ...]:
    y = flat.sample[rows]
    unit = y.mean(axis=1)
    far = np.full(rows.size, np.inf)
    if fit.upper is not None:
        far = (fit.upper - flat.location[rows]) / unit
    best = flat.nll[rows] / y.shape[1] - np.log(unit)
    return y / unit[:, None], unit, flat.scale[rows] / unit, flat.shape[rows], far, best


def _gpd_limit(
    flat: _Flat,
    fit: "TailFit",
    rows: NDArray[np.intp],
    what: str,
    side: int,
    target: Floats,
    horizon: float | None,
    method: str,
) -> Floats:
    y, unit, scale, shape, far, best = _scaled(flat, fit, rows)
    size, spread = rows.size, target / np.sqrt(y.shape[1])
    profile: Profile
    if what == "shape":
        profile, centre, first = Shape(y, scale, shape, far), shape, spread * (1.0 + np.abs(shape))
        top = np.where(np.isfinite(far), 0.0, np.inf)
        bound = np.full(size, -1.0) if side < 0 else top
    elif what == "scale":
        profile, centre, first = Scale(y, scale, shape, far), np.log(scale), 1.4 * spread
        bound = np.full(size, side * np.inf)
    elif what == "endpoint":
        profile, centre, first = End(y, scale, shape, far), shape / scale, spread
        # the sides change places: a larger theta is a later end
        lowest, highest = -1.0 / y.max(axis=1), np.where(np.isfinite(far), -1.0 / far, np.inf)
        bound = lowest if side < 0 else highest
    else:
        assert horizon is not None
        log_rate = float(np.log(horizon * fit.rate))
        excess = scale * growth(shape, np.array(log_rate))[0]
        profile = Level(y, scale, shape, far, log_rate=log_rate, n=fit.n)
        centre, first = np.log(excess), spread * (1.0 + 0.3 * log_rate)
        bound = np.log(far) if side > 0 else np.full(size, -np.inf)
    out = first_order(
        profile, centre, best, target, side, weight=y.shape[1], first=first, bound=bound
    )
    if method == "profile":
        out = third_order(profile, out, centre, best, target, side, weight=y.shape[1], bound=bound)
    if what == "scale":
        return np.asarray(np.exp(out) * unit)
    if what == "endpoint":
        with np.errstate(divide="ignore"):
            return np.where(out < 0, flat.location[rows] - unit / out, np.inf)
    if what == "return_level":
        return np.asarray(flat.location[rows] + np.exp(out) * unit)
    return out


def _gev_limit(
    flat: _Flat,
    fit: "TailFit",
    rows: NDArray[np.intp],
    what: str,
    side: int,
    target: Floats,
    horizon: float | None,
    method: str,
) -> Floats:
    x = flat.sample[rows]
    centre, spread = x.mean(axis=1), x.std(axis=1)
    z = (x - centre[:, None]) / spread[:, None]
    theta = np.stack(
        [
            (flat.location[rows] - centre) / spread,
            np.log(flat.scale[rows] / spread),
            flat.shape[rows],
        ],
        axis=-1,
    )
    best = flat.nll[rows] / x.shape[1] - np.log(spread)
    log_rate = None
    if what == "return_level":
        if fit.threshold is not None:
            raise InputError(
                'A return level of a tail fitted with protocol="as_published" has a delta or '
                "bootstrap interval only: the paper's law is not that of peaks over a threshold."
            )
        assert horizon is not None
        log_rate = float(-np.log(-np.log1p(-1.0 / horizon)))
    if what == "endpoint":
        raise InputError(
            "The end of a generalised extreme value law has no profile interval here; "
            "fit peaks over a threshold, or use method='bootstrap'."
        )
    index = {"location": 0, "return_level": 0, "scale": 1, "shape": 2}[what]
    profile = GevProfile(z, theta, index, log_rate=log_rate)
    at = profile.warm[:, index].copy()
    with np.errstate(invalid="ignore"):
        first = target * np.sqrt(np.linalg.inv(profile.hessian)[:, index, index] / x.shape[1])
    bound = np.full(rows.size, side * np.inf)
    if what == "shape" and side < 0:
        bound = np.full(rows.size, -1.0)
    out = first_order(profile, at, best, target, side, weight=x.shape[1], first=first, bound=bound)
    if what == "scale":
        return np.asarray(np.exp(out) * spread)
    return out if what == "shape" else np.asarray(centre + out * spread)


def _order_limit(flat: _Flat, fit: "TailFit", side: int, target: Floats, horizon: float) -> Floats:
    """Give an order statistic that bounds the level passed once in few queries, by the binomial law.

    How many observations exceed the level is binomial with chance 1 / horizon, whatever the tail.
    """
    n = fit.n
    if fit.values is None:
        sample = flat.sample + flat.location[:, None]
    else:
        sample = fit.values.reshape(-1, n)
    ordered = -np.sort(-sample, axis=1)
    tail = ndtr(-target)
    chance = min(1.0 / horizon, 1.0)
    if side > 0:
        # the level lies above the j-th largest only if fewer than j observations exceed it
        place = np.maximum(binom.ppf(tail, n, chance) - 1, 0)
    else:
        place = binom.isf(tail, n, chance)
    place = place.astype(np.intp)
    out = np.full(flat.size, np.nan)
    there = place < ordered.shape[1]
    out[there] = ordered[np.flatnonzero(there), place[there]]
    return np.where(flat.fitted, out, np.nan)


def _delta(flat: _Flat, fit: "TailFit", what: str, horizon: float | None) -> tuple[Floats, Floats]:
    """Give estimate and standard error, from the observed information."""
    k = flat.sample.shape[1]
    first = 1 if fit.family == "gev" else 0
    p = first + 2
    theta = np.stack([flat.location, np.log(flat.scale), flat.shape][1 - first :], axis=-1)
    value = gev_value if first else gpd_value
    usable = flat.fitted & flat.regular & (flat.shape > -0.5)
    cover = np.full((flat.size, p, p), np.nan)
    if usable.any():
        cover[usable] = np.linalg.inv(value(theta[usable], flat.sample[usable]).hessian) / k
    scale, shape = flat.scale, flat.shape
    gradient, extra = np.zeros((flat.size, p)), np.zeros(flat.size)
    if what in ("location", "scale", "shape"):
        position = {"location": 0, "scale": first, "shape": first + 1}[what]
        gradient[:, position] = scale if what == "scale" else 1.0
        centre = {"location": flat.location, "scale": scale, "shape": shape}[what]
    elif what == "endpoint":
        with np.errstate(divide="ignore"):
            centre = np.where(shape < 0, flat.location - scale / shape, np.inf)
        gradient[:, first], gradient[:, first + 1] = -scale / shape, scale / shape**2
        gradient[:, :first] = 1.0
    else:
        assert horizon is not None
        if fit.threshold is None:
            L = -np.log(-np.log1p(-1.0 / horizon))
            start = flat.location
        else:
            L = np.log(horizon * fit.rate)
            start = np.asarray(fit.threshold, dtype=np.float64).ravel()
        g, dg, *_ = growth(shape, np.array(L))
        if first and fit.threshold is not None:
            # the excesses' scale is scale + shape * (threshold - location)
            gap = start - flat.location
            implied = scale + shape * gap
            centre = start + implied * g
            gradient[:, 0], gradient[:, 1] = -shape * g, scale * g
            gradient[:, 2] = gap * g + implied * dg
        else:
            implied = scale
            centre = start + scale * g
            gradient[:, first], gradient[:, first + 1] = scale * g, scale * dg
            gradient[:, :first] = 1.0
        if fit.threshold is not None and fit.n > fit.k:
            # the share of exceedances is an estimate too
            extra = (implied * np.exp(shape * L)) ** 2 * (1.0 / fit.k - 1.0 / fit.n)
    variance = np.einsum("bi,bij,bj->b", gradient, cover, gradient) + extra
    with np.errstate(invalid="ignore"):
        return centre, np.sqrt(variance)


def _abrupt_limit(
    flat: _Flat,
    fit: "TailFit",
    row: int,
    what: str,
    side: int,
    target: float,
    horizon: float | None,
    random_state: int | None,
) -> float:
    """Give a limit where the likelihood has no maximum: a tail that ends abruptly.

    Estimates of such a tail's end err by less than their own bias, so percentiles of estimates
    miss it. The distance of the end (or of a level) from the largest value, in units of the gap
    between the largest and the one a square root of k places below, has nearly the same law
    whatever the shape; draws from the fit give it.
    """
    if fit.family == "gev" or what in ("shape", "scale"):
        drawn = _draws(flat, fit, row, what, horizon, 999, random_state)
        own = {"location": flat.location, "scale": flat.scale, "shape": flat.shape}.get(what)
        if own is None:
            return float(np.nanquantile(drawn, ndtr(side * target)))
        # the error of the estimate turned around
        return float(2.0 * own[row] - np.nanquantile(drawn, ndtr(-side * target)))
    rng = np.random.default_rng(random_state)
    y, scale, shape = flat.sample[row], flat.scale[row], flat.shape[row]
    size, resamples = y.size, 1999
    lower = size - 1 - max(int(np.sqrt(size)), 1)
    drawn = np.partition(
        gpd_quantile(rng.random((resamples, size)), scale, shape), (lower, size - 1), axis=1
    )
    goal = np.full(resamples, -scale / shape)
    if what == "return_level":
        assert horizon is not None
        share = np.full(resamples, fit.rate)
        if fit.n > fit.k:
            share = rng.beta(fit.k, fit.n - fit.k + 1, resamples)
        goal = scale * growth(np.full(resamples, shape), np.log(horizon * share))[0]
    gap = drawn[:, -1] - drawn[:, lower]
    pivot = np.quantile((goal - drawn[:, -1]) / gap, ndtr(side * target))
    top, below = y.max(), np.partition(y, lower)[lower]
    return float(flat.location[row] + top + pivot * (top - below))


def _draws(
    flat: _Flat,
    fit: "TailFit",
    row: int,
    what: str,
    horizon: float | None,
    resamples: int,
    random_state: int | None,
) -> Floats:
    """Give a quantity of samples drawn from one fit and fitted again."""
    rng = np.random.default_rng(random_state)
    gev = fit.family == "gev"
    start = float(flat.location[row]) if gev else 0.0
    location, scale, shape = redraw(
        (start, float(flat.scale[row]), float(flat.shape[row])),
        family=fit.family,
        size=flat.sample.shape[1],
        resamples=resamples,
        rng=rng,
        by_likelihood=bool(flat.regular[row]),
        room=None if fit.upper is None or gev else float(fit.upper - flat.location[row]),
    )
    if what in ("location", "scale", "shape"):
        return {"location": location, "scale": scale, "shape": shape}[what]
    base = location if gev else np.full(resamples, flat.location[row])
    if what == "endpoint":
        with np.errstate(divide="ignore"):
            return np.where(shape < 0, base - scale / shape, np.inf)
    assert horizon is not None
    if fit.threshold is None:
        log_rate = np.full(resamples, -np.log(-np.log1p(-1.0 / horizon)))
    else:
        threshold = float(np.ravel(fit.threshold)[row])
        if gev:
            scale, base = scale + shape * (threshold - location), np.full(resamples, threshold)
        share = np.full(resamples, fit.rate)
        if fit.n > fit.k:
            share = np.maximum(rng.binomial(fit.n, fit.rate, resamples), 1) / fit.n
        log_rate = np.log(horizon * share)
    return np.asarray(base + scale * growth(shape, log_rate)[0])


def draw_levels(fit: "TailFit", horizon: float, resamples: int, random_state: int | None) -> Floats:
    """Give bootstrapped return levels, a row per fit; NaN for degenerate ones."""
    flat = _Flat(fit)
    out = np.full((flat.size, resamples), np.nan)
    for row in np.flatnonzero(flat.fitted):
        out[row] = _draws(flat, fit, int(row), "return_level", horizon, resamples, random_state)
    return out if fit.upper is None else np.minimum(out, fit.upper)


def _bootstrap(
    fit: "TailFit",
    what: str,
    horizon: float | None,
    level: float,
    resamples: int,
    random_state: int | None,
) -> tuple[Floats, Floats]:
    flat = _Flat(fit)
    low, high = np.full(flat.size, np.nan), np.full(flat.size, np.nan)
    for row in np.flatnonzero(flat.fitted):
        drawn = _draws(flat, fit, int(row), what, horizon, resamples, random_state)
        low[row], high[row] = percentile_interval(drawn, level=level)
    if what in ("return_level", "endpoint") and fit.upper is not None:
        low, high = np.minimum(low, fit.upper), np.minimum(high, fit.upper)
    return low, high
