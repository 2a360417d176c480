"""Intervals of a fitted tail: profile likelihood, delta method, parametric bootstrap, order statistics."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from isonomy._validate import unknown_name
from isonomy.errors import InputError
from isonomy.stats import percentile_interval
from isonomy.tails.bootstrap import redraw
from isonomy.tails.likelihood import gev_value, gpd_value, growth
from isonomy.tails.limits import Flat, gev_limit, gpd_limit, root_moments
from isonomy.tails.special import abrupt_limit, order_limit

if TYPE_CHECKING:
    from isonomy.tails.fit import TailFit

__all__ = ["Interval", "METHODS", "QUANTITIES", "interval", "limits", "moments_for"]

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
    if method == "bootstrap" and fit.family == "gev":
        low, high = _percentiles(fit, what, horizon, level, resamples, random_state)
    else:
        moments = moments_for(
            fit,
            what,
            horizon=horizon,
            method=method,
            resamples=resamples,
            random_state=random_state,
        )
        low, high = (
            limits(
                fit,
                what,
                side,
                z,
                horizon=horizon,
                method=method,
                random_state=random_state,
                moments=moments,
            )
            for side in (-1, 1)
        )
    return Interval(_shaped(low, fit), _shaped(high, fit))


def _shaped(flat: Floats, fit: "TailFit") -> Any:
    return flat.reshape(fit.batch) if fit.batch else float(flat[0])


def limits(
    fit: "TailFit",
    what: str,
    side: int,
    z: float,
    *,
    horizon: float | None = None,
    method: str = "profile",
    random_state: int | None = 0,
    moments: tuple[Floats, Floats] | None = None,
) -> Floats:
    """Give the limit on one side (1 above, -1 below) at a normal quantile, for each fit of a batch.

    Fits without a likelihood maximum take a parametric bootstrap of their own; degenerate ones
    give NaN. ``moments`` are those of the bootstrapped root (`moments_for`).
    """
    flat = Flat(fit)
    out = np.full(flat.size, np.nan)
    if what == "return_level" and _near(fit, horizon):
        assert horizon is not None
        return order_limit(flat, fit, side, np.full(flat.size, z), float(horizon))
    if method == "delta":
        centre, se = _delta(flat, fit, what, horizon)
        out[flat.fitted] = (centre + side * z * se)[flat.fitted]
    else:
        target = np.full(flat.size, z)
        if moments is not None:
            target = np.maximum(z * moments[1] - side * moments[0], 1e-3)
        regular = np.flatnonzero(flat.fitted & flat.regular)
        portion = max(1, PORTION // flat.sample.shape[1])
        for start in range(0, regular.size, portion):
            rows = regular[start : start + portion]
            if fit.family == "gev":
                out[rows] = gev_limit(flat, fit, rows, what, side, target[rows], horizon)
            else:
                out[rows] = gpd_limit(
                    flat,
                    fit,
                    rows,
                    what,
                    side,
                    target[rows],
                    horizon,
                    corrected=method == "profile",
                )
        for row in np.flatnonzero(flat.fitted & ~flat.regular):
            out[row] = _irregular(flat, fit, int(row), what, side, z, horizon, random_state)
    if what in ("return_level", "endpoint") and fit.upper is not None:
        out = np.minimum(out, fit.upper)
    return out


def _near(fit: "TailFit", horizon: float | None) -> bool:
    """Say whether the horizon brings too few exceedances for the tail's law to matter."""
    if fit.threshold is None or horizon is None:
        return False
    return horizon * fit.rate < (1.0 + 1e-9 if fit.k == fit.n else NEAR)


def moments_for(
    fit: "TailFit",
    what: str,
    *,
    horizon: float | None,
    method: str,
    resamples: int,
    random_state: int | None,
) -> tuple[Floats, Floats] | None:
    """Give the bootstrapped mean and spread of the root, where the method and the fit use them."""
    if method != "bootstrap" or fit.family == "gev":
        return None
    if what == "return_level" and _near(fit, horizon):
        return None
    return root_moments(
        Flat(fit), fit, what, horizon, resamples=resamples, random_state=random_state
    )


def _irregular(
    flat: Flat,
    fit: "TailFit",
    row: int,
    what: str,
    side: int,
    z: float,
    horizon: float | None,
    random_state: int | None,
) -> float:
    """Give a limit where the likelihood has no maximum."""
    if fit.family == "gpd" and what in ("return_level", "endpoint"):
        return abrupt_limit(flat, fit, row, what, side, z, horizon, random_state)
    drawn = _draws(flat, fit, row, what, horizon, 999, random_state)
    own = {"location": flat.location, "scale": flat.scale, "shape": flat.shape}.get(what)
    if own is None:
        return float(np.nanquantile(drawn, ndtr(side * z)))
    # the error of the estimate turned around
    return float(2.0 * own[row] - np.nanquantile(drawn, ndtr(-side * z)))


def _delta(flat: Flat, fit: "TailFit", what: str, horizon: float | None) -> tuple[Floats, Floats]:
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
        # an estimate at infinity has no neighbourhood: a symmetric interval does not exist there
        ends = np.where(shape < 0, shape, np.nan)
        centre = flat.location - scale / ends
        gradient[:, first], gradient[:, first + 1] = -scale / ends, scale / ends**2
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


def _draws(
    flat: Flat,
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


def _percentiles(
    fit: "TailFit",
    what: str,
    horizon: float | None,
    level: float,
    resamples: int,
    random_state: int | None,
) -> tuple[Floats, Floats]:
    flat = Flat(fit)
    low, high = np.full(flat.size, np.nan), np.full(flat.size, np.nan)
    for row in np.flatnonzero(flat.fitted):
        drawn = _draws(flat, fit, int(row), what, horizon, resamples, random_state)
        low[row], high[row] = percentile_interval(drawn, confidence=level)
    if what in ("return_level", "endpoint") and fit.upper is not None:
        low, high = np.minimum(low, fit.upper), np.minimum(high, fit.upper)
    return low, high
