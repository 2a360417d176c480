"""Limits of one fit or a batch of them, quantity by quantity, from the profiles."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isonomy.errors import InputError
from isonomy.tails.gev import solve_gev
from isonomy.tails.gpd import gpd_quantile, solve_gpd
from isonomy.tails.likelihood import growth
from isonomy.tails.profile import Profile, first_order, third_order
from isonomy.tails.profile_gev import GevProfile
from isonomy.tails.profile_gpd import End, Level, Scale, Shape

if TYPE_CHECKING:
    from isonomy.tails.fit import TailFit

__all__ = ["Flat", "gev_limit", "gpd_limit", "root_moments"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


class Flat:
    """A fit with its leading axes laid flat."""

    def __init__(self, fit: "TailFit") -> None:
        self.sample = fit.sample.reshape(-1, fit.sample.shape[-1])
        self.size = self.sample.shape[0]
        self.location, self.scale, self.shape, self.nll = (
            np.asarray(part, dtype=np.float64).ravel()
            for part in (fit.location, fit.scale, fit.shape, fit.nll)
        )
        self.fitted = np.isfinite(self.scale)
        self.regular = np.asarray(fit.converged).ravel().copy()
        # the limits belong to the likelihood's maximum, whatever estimator was asked for
        other = np.flatnonzero(self.fitted & self.regular & (np.ravel(fit.method) != "ml"))
        if other.size:
            self._by_likelihood(fit, other)

    def _by_likelihood(self, fit: "TailFit", rows: Rows) -> None:
        sample = self.sample[rows]
        if fit.family == "gev":
            self.location = self.location.copy()
            self.location[rows], scale, shape, mean, ok = solve_gev(sample)
        else:
            room = None if fit.upper is None else fit.upper - self.location[rows]
            scale, shape, mean, ok = solve_gpd(sample, room=room)
        self.scale, self.shape, self.nll = self.scale.copy(), self.shape.copy(), self.nll.copy()
        self.scale[rows], self.shape[rows] = scale, shape
        self.nll[rows], self.regular[rows] = mean * sample.shape[1], ok


def _scaled(flat: Flat, fit: "TailFit", rows: Rows) -> tuple[Floats, ...]:
    y = flat.sample[rows]
    unit = y.mean(axis=1)
    far = np.full(rows.size, np.inf)
    if fit.upper is not None:
        far = (fit.upper - flat.location[rows]) / unit
    best = flat.nll[rows] / y.shape[1] - np.log(unit)
    return y / unit[:, None], unit, flat.scale[rows] / unit, flat.shape[rows], far, best


class _Problem(NamedTuple):
    """A quantity's profile with its estimate, a first guess per unit of z, and its two bounds."""

    profile: Profile
    centre: Floats
    guess: Floats
    lowest: Floats
    highest: Floats


def _problem(
    what: str,
    y: Floats,
    scale: Floats,
    shape: Floats,
    far: Floats,
    *,
    n: int,
    log_rate: float | None,
) -> _Problem:
    """Set up a quantity for excesses in units of their mean; ``n`` and the rate are a level's."""
    spread = np.full(scale.size, 1.0 / np.sqrt(y.shape[1]))
    endless = np.full(scale.size, np.inf)
    bounded = np.isfinite(far)
    if what == "shape":
        top = np.where(bounded, 0.0, np.inf)
        profile: Profile = Shape(y, scale, shape, far)
        return _Problem(profile, shape, spread * (1.0 + np.abs(shape)), -np.ones_like(far), top)
    if what == "scale":
        profile = Scale(y, scale, shape, far)
        return _Problem(profile, np.log(scale), 1.4 * spread, -endless, endless)
    if what == "endpoint":
        # theta = shape / scale: the larger, the later the end
        top = np.where(bounded, -1.0 / far, np.inf)
        profile = End(y, scale, shape, far)
        return _Problem(profile, shape / scale, spread, -1.0 / y.max(axis=1), top)
    assert log_rate is not None
    profile = Level(y, scale, shape, far, log_rate=log_rate, n=n)
    centre = np.log(scale * growth(shape, np.array(log_rate))[0])
    return _Problem(profile, centre, spread * (1.0 + 0.3 * log_rate), -endless, np.log(far))


def _log_rate(fit: "TailFit", horizon: float | None) -> float | None:
    return None if horizon is None else float(np.log(horizon * fit.rate))


def gpd_limit(
    flat: Flat,
    fit: "TailFit",
    rows: Rows,
    what: str,
    side: int,
    target: Floats,
    horizon: float | None,
    *,
    corrected: bool,
) -> Floats:
    """Give profile limits of peaks over a threshold where the root reaches the target."""
    y, unit, scale, shape, far, best = _scaled(flat, fit, rows)
    it = _problem(what, y, scale, shape, far, n=fit.n, log_rate=_log_rate(fit, horizon))
    bound = it.highest if side > 0 else it.lowest
    out = first_order(
        it.profile,
        it.centre,
        best,
        target,
        side,
        weight=y.shape[1],
        first=it.guess * target,
        bound=bound,
    )
    if corrected:
        out = third_order(
            it.profile, out, it.centre, best, target, side, weight=y.shape[1], bound=bound
        )
    if what == "scale":
        return np.asarray(np.exp(out) * unit)
    if what == "endpoint":
        with np.errstate(divide="ignore"):
            return np.where(out < 0, flat.location[rows] - unit / out, np.inf)
    if what == "return_level":
        return np.asarray(flat.location[rows] + np.exp(out) * unit)
    return out


def root_moments(
    flat: Flat,
    fit: "TailFit",
    what: str,
    horizon: float | None,
    *,
    resamples: int,
    random_state: int | None,
) -> tuple[Floats, Floats]:
    """Give mean and standard deviation of the signed root over samples drawn from each fit.

    Standardising the root by them is the parametric bootstrap that covers: percentiles of
    estimates repeat the estimator's bias instead of removing it.
    """
    mean, spread = np.zeros(flat.size), np.ones(flat.size)
    size = flat.sample.shape[1]
    for row in np.flatnonzero(flat.fitted & flat.regular):
        rng = np.random.default_rng(random_state)
        scale, shape = flat.scale[row], flat.shape[row]
        y = gpd_quantile(rng.random((resamples, size)), scale, shape)
        room = np.inf if fit.upper is None else float(fit.upper - flat.location[row])
        far = np.full(resamples, room)
        a, b, nll, ok = solve_gpd(y, room=None if fit.upper is None else far)
        unit = y.mean(axis=1)
        it = _problem(
            what,
            y / unit[:, None],
            a / unit,
            b,
            far / unit,
            n=fit.n,
            log_rate=_log_rate(fit, horizon),
        )
        if what == "shape":
            truth = np.full(resamples, shape)
        elif what == "scale":
            truth = np.log(scale / unit)
        elif what == "endpoint":
            truth = shape / scale * unit
        else:
            assert horizon is not None
            share = np.full(resamples, fit.rate)
            if fit.n > fit.k:
                share = rng.beta(fit.k, fit.n - fit.k + 1, resamples)
            log_rate = np.maximum(np.log(horizon * share), 1e-3)
            truth = np.log(scale * growth(np.full(resamples, shape), log_rate)[0] / unit)
        truth = np.clip(truth, it.lowest, it.highest)
        value, _ = it.profile(truth, np.arange(resamples))
        loss = 2.0 * size * (value - (nll - np.log(unit)))
        root = np.sign(it.centre - truth) * np.sqrt(np.maximum(loss, 0.0))
        root = root[ok & np.isfinite(root)]
        if root.size > 2:
            mean[row], spread[row] = root.mean(), root.std(ddof=1)
    return mean, spread


def gev_limit(
    flat: Flat,
    fit: "TailFit",
    rows: Rows,
    what: str,
    side: int,
    target: Floats,
    horizon: float | None,
) -> Floats:
    """Give profile limits of maxima where the root reaches the target."""
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
