"""Limits of a parameter, a return level or the end of a tail, for a batch of fits.

Profile likelihood where it serves; order statistics next to the threshold; a bootstrap of gaps at
tails that end abruptly; the delta method and percentiles of draws on request.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from isonomy._arrays import Floats, Rows, divide
from isonomy._validate import check_choice, check_share, make_rng
from isonomy.errors import InputError
from isonomy.stats import percentile_interval
from isonomy.tails.laws import gpd_quantile, growth
from isonomy.tails.profile import GevProfile, Problem, Profile
from isonomy.tails.profile_gpd import End, Level, Scale, Shape
from isonomy.tails.solve import covariance, redraw, solve

METHODS = ("profile", "profile_plain", "delta", "bootstrap")
QUANTITIES = ("shape", "scale", "location", "return_level", "endpoint")

PORTION = 200_000
"""Samples are handled in portions whose arrays stay in the processor's cache."""

NEAR = 2.0
"""Below this many expected exceedances the level lies so near the threshold that the share of
exceedances decides, and the order statistics around it know more than the tail's law."""


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


def check_confidence(confidence: float) -> float:
    """Return the normal quantile of a two-sided interval; raise where there is none."""
    check_share("confidence", confidence)
    return float(ndtri(0.5 + confidence / 2))


@dataclass
class Flat:
    """A batch of fits with its leading axes laid flat."""

    family: str
    sample: Floats
    theta: Floats  # (samples, 3): location, scale, shape
    nll: Floats
    regular: NDArray[np.bool_]  # whether the likelihood has a maximum
    by_likelihood: NDArray[np.bool_]
    threshold: Floats | None
    k: int
    n: int
    upper: float | None
    values: Floats | None

    def __post_init__(self) -> None:
        self.fitted = np.isfinite(self.theta[:, 1])

    @property
    def rate(self) -> float:
        """The chance that an observation exceeds the threshold."""
        return self.k / self.n

    def maximized(self) -> "Flat":
        """Return the likelihood's maximum, which limits belong to, whatever estimator was used."""
        rows = np.flatnonzero(self.fitted & self.regular & ~self.by_likelihood)
        if not rows.size:
            return self
        theta, nll, regular = self.theta.copy(), self.nll.copy(), self.regular.copy()
        estimate, mean, regular[rows] = solve(self.family, self.sample[rows])
        theta[rows, 1:] = estimate[:, 1:]
        if self.family == "gev":
            theta[rows, 0] = estimate[:, 0]
        nll[rows] = mean * self.sample.shape[1]
        return replace(self, theta=theta, nll=nll, regular=regular)


class Limits:
    """The limits of one quantity, on either side and at any normal quantile.

    Parameters
    ----------
    flat : Flat
    what, horizon, method, resamples, random_state
        As in `TailFit.interval`.
    """

    def __init__(
        self,
        flat: Flat,
        what: str,
        *,
        horizon: float | None = None,
        method: str = "profile",
        resamples: int = 999,
        random_state: int | None = 0,
    ) -> None:
        check_choice("quantity of a tail", what, QUANTITIES)
        check_choice("interval method", method, METHODS)
        if what == "return_level" and (horizon is None or horizon <= 0):
            raise InputError(
                f"A return level needs horizon=, a positive number of queries; got {horizon!r}."
            )
        if what == "location" and flat.family == "gpd":
            raise InputError("The threshold is chosen, not estimated: it has no interval.")
        self.flat, self.what, self.method = flat.maximized(), what, method
        self.resamples, self.random_state = resamples, random_state
        self.log_rate, self.near = 0.0, False
        if what == "return_level":
            assert horizon is not None
            self.horizon = float(horizon)
            if flat.threshold is None:
                self.log_rate = float(-np.log(-np.log1p(-1.0 / horizon)))
            else:
                self.log_rate = float(np.log(horizon * flat.rate))
                self.near = horizon * flat.rate < (1.0 + 1e-9 if flat.k == flat.n else NEAR)
        self.moments = (np.zeros(len(flat.nll)), np.ones(len(flat.nll)))
        if method == "bootstrap" and flat.family == "gpd" and not self.near:
            self._root_moments()

    def interval(self, confidence: float) -> Interval:
        """Return both ends, one per sample."""
        z = check_confidence(confidence)
        if self.method != "bootstrap" or self.flat.family == "gpd":
            return Interval(self(-1, z), self(1, z))
        ends = np.full((2, len(self.flat.nll)), np.nan)
        for row in np.flatnonzero(self.flat.fitted):
            drawn = self._draws(int(row), self.resamples)
            ends[:, row] = percentile_interval(drawn, confidence=confidence)
        return Interval(self._capped(ends[0], -1), self._capped(ends[1], 1))

    def __call__(self, side: int, z: float) -> Floats:
        """Return the limit on one side (1 above, -1 below) at a normal quantile.

        Fits without a likelihood maximum take a parametric bootstrap of their own and, so that
        they claim no end that the values do not show, the likelihood of shapes from -1 on;
        degenerate ones have none (NaN).
        """
        flat = self.flat
        if self.near:
            return self._order_limit(side, z)
        out = np.full(len(flat.nll), np.nan)
        if self.method == "delta":
            centre, se = self._delta()
            return self._capped(np.where(flat.fitted, centre + side * z * se, np.nan), side)
        mean, spread = self.moments
        target = np.maximum(z * spread - side * mean, 1e-3)
        regular = np.flatnonzero(flat.fitted & flat.regular)
        portion = max(1, PORTION // flat.sample.shape[1])
        for start in range(0, regular.size, portion):
            rows = regular[start : start + portion]
            problem, back = (self._gev if flat.family == "gev" else self._gpd)(rows)
            corrected = self.method == "profile" and flat.family == "gpd"
            out[rows] = back(problem.limit(target[rows], side, corrected=corrected))
        edge = np.flatnonzero(flat.fitted & ~flat.regular)
        for row in edge:
            out[row] = self._irregular(int(row), side, z)
        if edge.size and flat.family == "gpd" and self.what != "scale":
            held = self._held_limit(edge, side, z)
            out[edge] = (
                held if self.what == "shape" else np.fmax(side * out[edge], side * held) * side
            )
        return self._capped(out, side)

    def _capped(self, ends: Floats, side: int) -> Floats:
        """Cut limits off at the bound; a lower limit there falls back to the largest value."""
        flat = self.flat
        if self.what not in ("return_level", "endpoint") or flat.upper is None:
            return ends
        if side < 0:
            largest = flat.sample.max(axis=1) + (flat.theta[:, 0] if flat.family == "gpd" else 0.0)
            ends = np.where(ends >= flat.upper, np.minimum(largest, flat.upper), ends)
        return np.minimum(ends, flat.upper)

    def _gpd(
        self, rows: Rows, flat: Flat | None = None
    ) -> tuple[Problem, Callable[[Floats], Floats]]:
        """Set up peaks over a threshold, and the way back from units of the mean excess."""
        flat, what = flat or self.flat, self.what
        y, location = flat.sample[rows], flat.theta[rows, 0]
        problem, unit = self._scaled(y, flat.theta[rows, 1:], flat.nll[rows] / y.shape[1])

        def back(x: Floats) -> Floats:
            if what == "shape":
                return x
            if what == "endpoint":
                return np.where(x < 0, location - divide(unit, x), np.inf)
            return np.asarray(np.exp(x) * unit + (location if what == "return_level" else 0.0))

        return problem, back

    def _scaled(self, y: Floats, theta: Floats, mean_nll: Floats) -> tuple[Problem, Floats]:
        """Set up the quantity for excesses with their (scale, shape), in units of their mean."""
        unit = y.mean(axis=1)
        y, scale, shape = y / unit[:, None], theta[:, 0] / unit, theta[:, 1]
        spread = np.full(scale.size, 1.0 / np.sqrt(y.shape[1]))
        endless = np.full(scale.size, np.inf)
        lowest, highest = -endless, endless
        profile: Profile
        if self.what == "shape":
            profile, centre, guess = (
                Shape(y, scale, shape),
                shape,
                spread * (1 + np.abs(shape)),
            )
            lowest = -np.ones_like(scale)
        elif self.what == "scale":
            profile, centre, guess = Scale(y, scale, shape), np.log(scale), 1.4 * spread
        elif self.what == "endpoint":
            # theta = shape / scale: the larger, the later the end
            profile, centre, guess = End(y, scale, shape), shape / scale, spread
            lowest = -1.0 / y.max(axis=1)
        else:
            profile = Level(y, scale, shape, log_rate=self.log_rate, n=self.flat.n)
            centre = np.log(scale * growth(shape, np.array(self.log_rate))[0])
            guess = spread * (1.0 + 0.3 * self.log_rate)
        best = mean_nll - np.log(unit)
        return Problem(profile, centre, best, y.shape[1], guess, lowest, highest), unit

    def _gev(self, rows: Rows) -> tuple[Problem, Callable[[Floats], Floats]]:
        """Set up maxima, and the way back from standardised ones."""
        flat, what = self.flat, self.what
        if what == "return_level" and flat.threshold is not None:
            raise InputError(
                'A return level of a tail fitted with protocol="as_published" has a delta or '
                "bootstrap interval only: the paper's law is not that of peaks over a threshold."
            )
        if what == "endpoint":
            raise InputError(
                "The end of a generalised extreme value law has no profile interval here; "
                "fit peaks over a threshold, or use method='bootstrap'."
            )
        x = flat.sample[rows]
        centre, spread = x.mean(axis=1), x.std(axis=1)
        location, scale, shape = flat.theta[rows].T
        theta = np.stack([(location - centre) / spread, np.log(scale / spread), shape], axis=-1)
        index = {"location": 0, "return_level": 0, "scale": 1, "shape": 2}[what]
        profile = GevProfile(
            (x - centre[:, None]) / spread[:, None],
            theta,
            index,
            log_rate=self.log_rate if what == "return_level" else None,
        )
        with np.errstate(invalid="ignore"):
            guess = np.sqrt(np.linalg.inv(profile.hessian)[:, index, index] / x.shape[1])
        endless = np.full(rows.size, np.inf)
        lowest = np.full(rows.size, -1.0) if what == "shape" else -endless
        best = flat.nll[rows] / x.shape[1] - np.log(spread)
        at = profile.warm[:, index].copy()

        def back(x: Floats) -> Floats:
            if what == "scale":
                return np.asarray(np.exp(x) * spread)
            return x if what == "shape" else np.asarray(centre + x * spread)

        return Problem(profile, at, best, x.shape[1], guess, lowest, endless), back

    def _root_moments(self) -> None:
        """Find mean and standard deviation of the signed root over samples drawn from each fit.

        Standardising the root by them is the parametric bootstrap that covers: percentiles of
        estimates repeat the estimator's bias instead of removing it.
        """
        flat, resamples = self.flat, self.resamples
        size = flat.sample.shape[1]
        for row in np.flatnonzero(flat.fitted & flat.regular):
            rng = make_rng(self.random_state)
            _, scale, shape = flat.theta[row]
            y = gpd_quantile(rng.random((resamples, size)), scale, shape)
            theta, nll, done = solve("gpd", y)
            problem, unit = self._scaled(y, theta[:, 1:], nll)
            if self.what == "shape":
                truth = np.full(resamples, shape)
            elif self.what == "scale":
                truth = np.log(scale / unit)
            elif self.what == "endpoint":
                truth = shape / scale * unit
            else:
                log_rate = np.maximum(np.log(self.horizon * self._shares(rng, resamples)), 1e-3)
                truth = np.log(scale * growth(np.full(resamples, shape), log_rate)[0] / unit)
            truth = np.clip(truth, problem.lowest, problem.highest)
            value, _ = problem.profile(truth, np.arange(resamples))
            loss = 2.0 * size * (value - problem.best)
            root = np.sign(problem.centre - truth) * np.sqrt(np.maximum(loss, 0.0))
            root = root[done & np.isfinite(root)]
            if root.size > 2:
                self.moments[0][row], self.moments[1][row] = root.mean(), root.std(ddof=1)

    def _shares(self, rng: np.random.Generator, resamples: int) -> Floats:
        """Draw the share of exceedances, where it is an estimate."""
        k, n = self.flat.k, self.flat.n
        return rng.beta(k, n - k + 1, resamples) if n > k else np.full(resamples, self.flat.rate)

    def _order_limit(self, side: int, z: float) -> Floats:
        """Return an order statistic that bounds a level passed once in few queries.

        How many observations exceed the level is binomial with chance 1 / horizon, whatever the
        tail.
        """
        flat, n = self.flat, self.flat.n
        sample = flat.sample + flat.theta[:, :1]
        if flat.values is not None:
            sample = flat.values
        chance = min(1.0 / self.horizon, 1.0)
        if side > 0:
            # the level lies above the j-th largest only if fewer than j observations exceed it
            place = max(int(scipy.stats.binom.ppf(ndtr(-z), n, chance)) - 1, 0)
        else:
            place = int(scipy.stats.binom.isf(ndtr(-z), n, chance))
        if place >= sample.shape[1]:
            return np.full(len(flat.nll), np.nan)
        return np.where(flat.fitted, -np.sort(-sample, axis=1)[:, place], np.nan)

    def _irregular(self, row: int, side: int, z: float) -> float:
        """Return a limit where the likelihood has no maximum."""
        if self.flat.family == "gpd" and self.what in ("return_level", "endpoint"):
            return self._abrupt_limit(row, side, z)
        drawn = self._draws(row, 999)
        if self.what in ("return_level", "endpoint"):
            return float(np.nanquantile(drawn, ndtr(side * z)))
        own = self.flat.theta[row, ("location", "scale", "shape").index(self.what)]
        # the error of the estimate turned around
        return float(2.0 * own - np.nanquantile(drawn, ndtr(-side * z)))

    def _held_limit(self, rows: Rows, side: int, z: float) -> Floats:
        """Return limits from the likelihood of shapes from -1 on, where it has its largest value at -1.

        There the law is uniform up to the largest excess.
        """
        flat = self.flat
        top = flat.sample[rows].max(axis=1)
        theta = np.stack([flat.theta[rows, 0], top, np.full(rows.size, -1.0)], axis=-1)
        edge = replace(
            flat,
            sample=flat.sample[rows],
            theta=theta,
            nll=np.log(top) * flat.sample.shape[1],
        )
        problem, back = self._gpd(np.arange(rows.size), edge)
        return back(problem.limit(np.full(rows.size, z), side, corrected=False))

    def _abrupt_limit(self, row: int, side: int, z: float) -> float:
        """Return a limit of a tail that ends abruptly.

        Estimates of such a tail's end err by less than their own bias, so percentiles of estimates
        miss it. The distance of the end (or of a level) from the largest value, in units of the
        gap between the largest and the one a square root of k places below, has nearly the same
        law whatever the shape; draws from the fit give it.
        """
        rng = make_rng(self.random_state)
        y, (location, scale, shape) = self.flat.sample[row], self.flat.theta[row]
        if self.what == "endpoint" and shape >= 0:
            return float("inf") if side > 0 else float(location + y.max())
        size, resamples = y.size, 1999
        lower = size - 1 - max(int(np.sqrt(size)), 1)
        drawn = gpd_quantile(rng.random((resamples, size)), scale, shape)
        drawn = np.partition(drawn, (lower, size - 1), axis=1)
        goal = np.full(resamples, -scale / shape)
        if self.what == "return_level":
            log_rate = np.log(self.horizon * self._shares(rng, resamples))
            goal = scale * growth(np.full(resamples, shape), log_rate)[0]
        gap = drawn[:, -1] - drawn[:, lower]
        pivot = np.quantile((goal - drawn[:, -1]) / gap, ndtr(side * z))
        top, below = y.max(), np.partition(y, lower)[lower]
        return float(location + top + pivot * (top - below))

    def _delta(self) -> tuple[Floats, Floats]:
        """Return estimate and standard error, from the observed information."""
        flat, what = self.flat, self.what
        first = 1 if flat.family == "gev" else 0
        cover = covariance(flat.family, flat.theta, flat.sample)
        cover[~(flat.fitted & flat.regular)] = np.nan
        location, scale, shape = flat.theta.T
        gradient, extra = np.zeros((len(scale), first + 2)), np.zeros(len(scale))
        if what in ("location", "scale", "shape"):
            place = ("location", "scale", "shape").index(what)
            gradient[:, place - 1 + first] = scale if what == "scale" else 1.0
            centre = flat.theta[:, place]
        elif what == "endpoint":
            # an estimate at infinity has no neighbourhood: a symmetric interval does not exist
            ends = np.where(shape < 0, shape, np.nan)
            centre = location - scale / ends
            gradient[:, first], gradient[:, first + 1] = -scale / ends, scale / ends**2
            gradient[:, :first] = 1.0
        else:
            start = location if flat.threshold is None else flat.threshold
            g, dg, _ = growth(shape, np.array(self.log_rate))
            # the excesses' scale that maxima imply is scale + shape * (threshold - location)
            gap = start - location if first else np.zeros_like(scale)
            implied = scale + shape * gap
            centre = start + implied * g
            gradient[:, first], gradient[:, first + 1] = scale * g, gap * g + implied * dg
            gradient[:, :first] = 1.0 if flat.threshold is None else (-shape * g)[:, None]
            if flat.threshold is not None and flat.n > flat.k:
                # the share of exceedances is an estimate too
                extra = (implied * np.exp(shape * self.log_rate)) ** 2 * (1 / flat.k - 1 / flat.n)
        variance = np.einsum("bi,bij,bj->b", gradient, cover, gradient) + extra
        with np.errstate(invalid="ignore"):
            return centre, np.sqrt(variance)

    def _draws(self, row: int, resamples: int) -> Floats:
        """Return the quantity of samples drawn from one fit and fitted again."""
        flat, rng = self.flat, make_rng(self.random_state)
        portions = redraw(
            flat.family,
            flat.theta[row],
            flat.sample.shape[1],
            resamples,
            rng,
            by_likelihood=bool(flat.regular[row]),
        )
        location, scale, shape = np.concatenate([theta for _, theta in portions]).T
        if self.what in ("location", "scale", "shape"):
            return np.asarray({"location": location, "scale": scale, "shape": shape}[self.what])
        base = location if flat.family == "gev" else np.full(resamples, flat.theta[row, 0])
        if self.what == "endpoint":
            return np.where(shape < 0, base - divide(scale, shape), np.inf)
        log_rate = np.full(resamples, self.log_rate)
        if flat.threshold is not None:
            start = flat.threshold[row]
            if flat.family == "gev":
                scale, base = scale + shape * (start - location), np.full(resamples, start)
            if flat.n > flat.k:
                exceedances = np.maximum(rng.binomial(flat.n, flat.rate, resamples), 1)
                log_rate = np.log(self.horizon * exceedances / flat.n)
        return np.asarray(base + scale * growth(shape, log_rate)[0])
