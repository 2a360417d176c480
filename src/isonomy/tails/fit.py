"""A fitted tail: what `fit_gpd`, `fit_gev` and `peaks_over_threshold` return."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from isonomy._validate import unknown_name
from isonomy.errors import InputError
from isonomy.tails.degenerate import degeneracy
from isonomy.tails.gev import gev_cdf, gev_moments, gev_quantile, solve_gev
from isonomy.tails.gpd import (
    gpd_cdf,
    gpd_logpdf,
    gpd_moments,
    gpd_quantile,
    gpd_zhang_stephens,
    solve_gpd,
)
from isonomy.tails.intervals import Interval, interval
from isonomy.tails.likelihood import gev_value, gpd_value, growth

__all__ = ["METHODS", "TailFit", "fit_gev", "fit_gpd"]

Floats = NDArray[np.float64]

METHODS = ("auto", "ml", "moments", "zhang_stephens")
"""Ways to estimate; ``auto`` is maximum likelihood, and another where that has no maximum."""


@dataclass(frozen=True, eq=False, repr=False)
class TailFit:
    """One fitted tail, or many along leading axes.

    A positive shape is a heavy tail, a negative one a tail that ends. Numbers are floats for one
    sample and arrays for many; they are NaN where ``degenerate`` says why.

    Attributes
    ----------
    family : str
        ``gpd`` (excesses over a threshold) or ``gev`` (maxima).
    location : float or array
        The threshold of a ``gpd``, the fitted location of a ``gev``.
    scale, shape : float or array
    se : array
        Standard errors in the order of `names`, last axis, from the observed information; NaN for
        shapes of -0.5 and below, where they mean nothing.
    nll : float or array
        Negative log-likelihood of the whole sample.
    converged : bool or array
        Whether the likelihood has a maximum with a shape above -1, and it was found.
    method : str or array
        The estimator behind the numbers.
    sample : array
        The excesses or values that were fitted, last axis.
    threshold : float, array or None
        None for a ``gev`` of block maxima.
    k, n : int
        Exceedances and observations; their ratio is the chance that a query exceeds the threshold.
    upper : float or None
        The bound of the support that the tail had to respect.
    degenerate : str or array
        Why there is no fit; empty where there is one.

    Examples
    --------
    >>> fit = fit_gpd(gpd_quantile((np.arange(50) + 0.5) / 50, scale=1.0, shape=-0.2))
    >>> round(fit.scale, 2), round(fit.shape, 2), bool(fit.converged)
    (1.03, -0.24, True)
    >>> round(fit.endpoint(), 1)
    4.3
    """

    family: str
    location: Any
    scale: Any
    shape: Any
    se: Floats
    nll: Any
    converged: Any
    method: Any
    sample: Floats
    threshold: Any = None
    k: int = 0
    n: int = 0
    upper: float | None = None
    degenerate: Any = ""
    values: Floats | None = field(default=None)

    @property
    def names(self) -> tuple[str, ...]:
        """The fitted parameters, in the order of `se`."""
        return ("scale", "shape") if self.family == "gpd" else ("location", "scale", "shape")

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading axes: empty for one sample."""
        return self.sample.shape[:-1]

    @property
    def rate(self) -> float:
        """The chance that an observation exceeds the threshold, k / n."""
        return self.k / self.n

    def return_level(self, m: ArrayLike) -> Any:
        """Give the level that is exceeded on average once in m queries.

        For peaks over a threshold a query is one more observation like those in the sample; for
        block maxima it is one more block. A bound of the support cuts the level off. Where ``m``
        queries bring less than one exceedance the level lies below the threshold, outside what
        was modelled: see `interval`, which uses the sample there.

        Parameters
        ----------
        m : float or array
            Several horizons make a new last axis.

        Examples
        --------
        >>> fit = fit_gpd(gpd_quantile((np.arange(50) + 0.5) / 50, scale=1.0, shape=-0.2))
        >>> [round(float(level), 2) for level in fit.return_level([100, 1000])]
        [2.88, 3.48]
        """
        m = np.asarray(m, dtype=np.float64)
        if (m <= 0).any():
            raise InputError("A horizon must be a positive number of queries; got 0 or less.")
        extra = (1,) * m.ndim
        location, scale, shape = (
            np.asarray(part, dtype=np.float64).reshape((*self.batch, *extra))
            for part in (self.location, self.scale, self.shape)
        )
        if self.threshold is None:
            if (m <= 1).any():
                raise InputError("A horizon in blocks must be greater than 1; got 1 or less.")
            level = gev_quantile(1.0 - 1.0 / m, location, scale, shape)
        else:
            start = np.asarray(self.threshold, dtype=np.float64).reshape((*self.batch, *extra))
            if self.family == "gev":
                # the scale of the excesses over the threshold that such maxima imply
                scale = scale + shape * (start - location)
            level = start + scale * growth(shape, np.log(m * self.rate))[0]
        if self.upper is not None:
            level = np.minimum(level, self.upper)
        return _plain(level)

    def endpoint(self) -> Any:
        """Give where the tail ends; infinite for a shape of 0 or above.

        Examples
        --------
        >>> float(fit_gpd(gpd_quantile((np.arange(50) + 0.5) / 50, shape=0.3)).endpoint())
        inf
        """
        shape = np.asarray(self.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            end = np.where(shape < 0, self.location - self.scale / shape, np.inf)
        end = np.where(np.isnan(shape), np.nan, end)
        return _plain(end if self.upper is None else np.minimum(end, self.upper))

    def maximum(self, m: float) -> tuple[Any, Any, Any]:
        """Give (location, scale, shape) of the law of the largest of m queries.

        Examples
        --------
        >>> fit = fit_gpd(gpd_quantile((np.arange(50) + 0.5) / 50, shape=0.0))
        >>> location, scale, shape = fit.maximum(100)
        >>> bool(np.isclose(location, fit.return_level(100)))
        True

        References
        ----------
        Coles 2001, An Introduction to Statistical Modeling of Extreme Values, section 4.2.
        """
        if self.threshold is None:
            rate, start, scale = float(m), self.location, self.scale
        else:
            rate, start, scale = m * self.rate, self.threshold, self.scale
            if self.family == "gev":
                scale = scale + self.shape * (start - self.location)
        log_rate = np.log(rate)
        level = start + scale * growth(self.shape, log_rate)[0]
        return level, scale * np.exp(self.shape * log_rate), self.shape

    def interval(
        self,
        what: str,
        *,
        horizon: float | None = None,
        level: float = 0.95,
        method: str = "profile",
        resamples: int = 999,
        random_state: int | None = 0,
    ) -> Interval:
        """Give an interval for a parameter, a return level or the end of the tail.

        Parameters
        ----------
        what : str
            ``shape``, ``scale``, ``location`` (of maxima), ``return_level`` or ``endpoint``.
        horizon : float, optional
            For a return level: the number of queries.
        level : float
            Confidence level.
        method : str
            ``profile``: profile likelihood with the third-order correction, which covers also with
            50 excesses. ``profile_plain``: the same without it. ``delta``: symmetric, from the
            observed information; undefined for shapes of -0.5 and below. ``bootstrap``:
            percentiles of samples drawn from the fit and fitted again.
        resamples, random_state
            Of the bootstrap. A fit without a likelihood maximum always takes the bootstrap.

        Notes
        -----
        The share of exceedances, k / n, counts as an estimate where n exceeds k. A return level
        within two exceedances of the threshold is bounded by order statistics of the sample. An
        endpoint may be infinite above; a shape's lower limit of -1 means -1 or below.

        Examples
        --------
        >>> fit = fit_gpd(gpd_quantile((np.arange(50) + 0.5) / 50, scale=1.0, shape=-0.2))
        >>> low, high = fit.interval("return_level", horizon=500)
        >>> low < fit.return_level(500) < high
        True
        """
        return interval(
            self,
            what,
            horizon=horizon,
            level=level,
            method=method,
            resamples=resamples,
            random_state=random_state,
        )

    def cdf(self, x: ArrayLike) -> Any:
        """Give the fitted probability of at most x, given that the threshold is exceeded.

        Examples
        --------
        >>> fit = fit_gpd(gpd_quantile((np.arange(50) + 0.5) / 50))
        >>> float(fit.cdf(0.0))
        0.0
        """
        x = np.asarray(x, dtype=np.float64)
        location, scale, shape = (self._last(p) for p in (self.location, self.scale, self.shape))
        if self.family == "gpd":
            return gpd_cdf(x - location, scale, shape)
        return gev_cdf(x, location, scale, shape)

    def quantile(self, p: ArrayLike) -> Any:
        """Give the value below which a share p of the fitted law lies.

        Examples
        --------
        >>> fit = fit_gpd(gpd_quantile((np.arange(50) + 0.5) / 50))
        >>> bool(np.isclose(fit.cdf(fit.quantile(0.9)), 0.9))
        True
        """
        location, scale, shape = (self._last(q) for q in (self.location, self.scale, self.shape))
        if self.family == "gpd":
            return location + gpd_quantile(p, scale, shape)
        return gev_quantile(p, location, scale, shape)

    def _last(self, part: Any) -> Floats:
        part = np.asarray(part, dtype=np.float64)
        return np.asarray(part[..., None] if self.batch else part, dtype=np.float64)

    def frame(self) -> pd.DataFrame:
        """Give the parameters as a frame: a row per parameter, or per sample of a batch.

        Examples
        --------
        >>> list(fit_gpd(gpd_quantile((np.arange(50) + 0.5) / 50)).frame().columns)
        ['estimate', 'se']
        """
        if self.batch:
            columns = {name: np.ravel(getattr(self, name)) for name in self.names}
            return pd.DataFrame(
                columns | {"nll": np.ravel(self.nll), "converged": np.ravel(self.converged)}
            )
        estimate = [float(getattr(self, name)) for name in self.names]
        return pd.DataFrame({"estimate": estimate, "se": self.se}, index=list(self.names))

    def _repr_html_(self) -> str:
        return str(self.frame().to_html())

    def __repr__(self) -> str:
        if self.batch:
            return f"<TailFit {self.family} of {self.batch} samples of {self.sample.shape[-1]}>"
        if self.degenerate:
            return f"<TailFit {self.family}, degenerate: {self.degenerate}>"
        parts = ", ".join(f"{name} {float(getattr(self, name)):.4g}" for name in self.names)
        over = "" if self.threshold is None else f", {self.k} of {self.n} over {self.threshold:.4g}"
        return f"<TailFit {self.family} {parts}{over}>"


def _plain(array: Any) -> Any:
    """Give a 0-d array as a Python value, so that one fit prints as plain numbers."""
    array = np.asarray(array)
    return array if array.ndim else array.item()


def _sample(values: ArrayLike, *, what: str, fewest: int) -> tuple[Floats, tuple[int, ...]]:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be numbers; got {error}.") from None
    if array.ndim == 0 or array.shape[-1] < fewest:
        got = "a single number" if array.ndim == 0 else f"{array.shape[-1]}"
        raise InputError(f"{what} must hold at least {fewest} values to fit a tail; got {got}.")
    if not np.isfinite(array).all():
        raise InputError(f"{what} must be finite numbers; some are NaN or infinite: drop them.")
    return array.reshape(-1, array.shape[-1]), array.shape[:-1]


def _check_method(method: str, known: tuple[str, ...]) -> None:
    if method not in known:
        raise unknown_name("estimator of a tail", method, known)


def _errors(hessian: Floats, n: int, scale: Floats, position: int) -> Floats:
    """Give standard errors from the Hessian of the mean, the scale's on its own scale."""
    out = np.full(hessian.shape[:2], np.nan)
    usable = np.isfinite(hessian).all(axis=(1, 2)) & (np.linalg.det(hessian) > 0)
    variance = np.diagonal(np.linalg.inv(hessian[usable]) / n, axis1=1, axis2=2)
    with np.errstate(invalid="ignore"):
        out[usable] = np.sqrt(variance)
    out[:, position] *= scale
    return out


def fit_gpd(
    excesses: ArrayLike,
    *,
    method: str = "auto",
    threshold: ArrayLike | None = None,
    n: int | None = None,
    upper: float | None = None,
) -> TailFit:
    """Fit the generalised Pareto law to excesses over a threshold.

    Parameters
    ----------
    excesses : array-like
        How far each observation exceeds the threshold (0 or more), along the last axis; leading
        axes are samples of their own, fitted all at once.
    method : str
        ``auto`` (maximum likelihood, and Zhang and Stephens' estimator where that has no maximum),
        ``ml``, ``moments`` (L-moments) or ``zhang_stephens``.
    threshold : float, optional
        What the excesses exceed, 0 unless said.
    n : int, optional
        How many observations the excesses were taken from; as many as there are excesses unless
        said.
    upper : float, optional
        A bound that no observation can pass, such as 1 for a difference of probabilities: the
        tail must end there or before. Only for maximum likelihood.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> fit = fit_gpd(rng.exponential(2.0, size=(1000, 50)))
    >>> fit.shape.shape, round(float(np.median(fit.scale)), 1)
    ((1000,), 2.1)

    References
    ----------
    Grimshaw 1993, Computing Maximum Likelihood Estimates for the Generalized Pareto Distribution.
    """
    _check_method(method, METHODS)
    y, batch = _sample(excesses, what="excesses", fewest=3)
    if (y < 0).any():
        raise InputError("Excesses must not be negative: subtract the threshold first.")
    k = y.shape[1]
    n = k if n is None else int(n)
    if n < k:
        raise InputError(f"n must be at least the number of excesses, {k:,}; got {n:,}.")
    tau = np.broadcast_to(
        np.asarray(0.0 if threshold is None else threshold, dtype=np.float64), batch
    ).ravel()
    room = None if upper is None else upper - tau
    if room is not None and (y.max(axis=1) > room * (1 + 1e-12)).any():
        raise InputError(
            f"No observation may exceed upper, {upper:g}; the largest is "
            f"{float((y.max(axis=1) + tau).max()):g}."
        )
    said = degeneracy(y, offset=tau)
    fine = said == ""
    rows = y.shape[0]
    scale, shape, nll = np.full(rows, np.nan), np.full(rows, np.nan), np.full(rows, np.nan)
    done, name = np.zeros(rows, dtype=bool), np.full(rows, method, dtype="<U14")
    se = np.full((rows, 2), np.nan)
    good = y[fine]
    if good.size:
        near = None if room is None else room[fine]
        if method in ("auto", "ml"):
            a, b, value, ok = solve_gpd(good, room=near)
            which = np.where(ok | (method == "ml"), "ml", "zhang_stephens")
            lost = which != "ml"
            if lost.any():
                a[lost], b[lost] = gpd_zhang_stephens(good[lost])
        else:
            estimate = gpd_moments if method == "moments" else gpd_zhang_stephens
            a, b = estimate(good)
            ok, lost = np.ones(a.shape, dtype=bool), np.ones(a.shape, dtype=bool)
            which, value = np.full(a.shape, method), np.empty_like(a)
        if lost.any():
            value[lost] = gpd_nll(good[lost], a[lost], b[lost])
        scale[fine], shape[fine], nll[fine], done[fine], name[fine] = a, b, value * k, ok, which
        here = np.flatnonzero(fine)[(which == "ml") & ok & (b > -0.5)]
        if here.size:
            hessian = gpd_value(np.stack([np.log(scale[here]), shape[here]], -1), y[here]).hessian
            se[here] = _errors(hessian, k, scale[here], 0)
            if room is not None:
                # a tail held at the bound has one free parameter, an exponential mean
                held = np.isclose(-scale[here] / shape[here], room[here], rtol=1e-9)
                se[here[held], 0] = scale[here[held]] / np.sqrt(k)
                se[here[held], 1] = -shape[here[held]] / np.sqrt(k)
    return TailFit(
        family="gpd",
        location=_plain(tau.reshape(batch)),
        scale=_plain(scale.reshape(batch)),
        shape=_plain(shape.reshape(batch)),
        se=se.reshape((*batch, 2)),
        nll=_plain(nll.reshape(batch)),
        converged=_plain(done.reshape(batch)),
        method=_plain(name.reshape(batch)),
        sample=y.reshape((*batch, k)),
        threshold=_plain(tau.reshape(batch)),
        k=k,
        n=n,
        upper=upper,
        degenerate=_plain(said.reshape(batch)),
    )


def gpd_nll(y: Floats, scale: Floats, shape: Floats) -> Floats:
    """Give the mean negative log-likelihood, also for shapes below -1."""
    return np.asarray(-gpd_logpdf(y, scale[:, None], shape[:, None]).mean(axis=1))


def fit_gev(values: ArrayLike, *, method: str = "auto", upper: float | None = None) -> TailFit:
    """Fit the generalised extreme value law to maxima of blocks.

    Parameters
    ----------
    values : array-like
        One maximum per block along the last axis; leading axes are samples of their own.
    method : str
        ``auto`` (maximum likelihood, and L-moments where that has no maximum), ``ml`` or
        ``moments``.
    upper : float, optional
        A bound that no observation can pass; return levels and endpoints are cut off there.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> fit = fit_gev(rng.gumbel(3.0, 2.0, size=(1000, 50)))
    >>> round(float(np.median(fit.location)), 1), round(float(np.median(fit.scale)), 1)
    (3.0, 1.9)

    References
    ----------
    Prescott and Walden 1980, Maximum Likelihood Estimation of the Parameters of the Generalized
    Extreme-Value Distribution.
    """
    _check_method(method, ("auto", "ml", "moments"))
    x, batch = _sample(values, what="values", fewest=4)
    size = x.shape[1]
    said = degeneracy(x)
    fine = said == ""
    rows = x.shape[0]
    theta, se, nll = np.full((rows, 3), np.nan), np.full((rows, 3), np.nan), np.full(rows, np.nan)
    done, name = np.zeros(rows, dtype=bool), np.full(rows, method, dtype="<U14")
    good = x[fine]
    if good.size:
        if method == "moments":
            estimate = np.stack(gev_moments(good), axis=-1)
            ok, which = np.ones(good.shape[0], dtype=bool), np.full(good.shape[0], "moments")
            value = np.full(good.shape[0], np.nan)
        else:
            *parts, value, ok = solve_gev(good)
            estimate = np.stack(parts, axis=-1)
            which = np.where(ok | (method == "ml"), "ml", "moments")
            lost = which != "ml"
            if lost.any():
                estimate[lost] = np.stack(gev_moments(good[lost]), axis=-1)
        if (which == "moments").any():
            other = which == "moments"
            at = estimate[other].copy()
            at[:, 1] = np.log(at[:, 1])
            value[other] = gev_value(at, good[other]).value
        theta[fine], nll[fine], done[fine], name[fine] = estimate, value * size, ok, which
        here = np.flatnonzero(fine)[(which == "ml") & ok & (estimate[:, 2] > -0.5)]
        if here.size:
            at = theta[here].copy()
            at[:, 1] = np.log(at[:, 1])
            se[here] = _errors(gev_value(at, x[here]).hessian, size, theta[here, 1], 1)
    return TailFit(
        family="gev",
        location=_plain(theta[:, 0].reshape(batch)),
        scale=_plain(theta[:, 1].reshape(batch)),
        shape=_plain(theta[:, 2].reshape(batch)),
        se=se.reshape((*batch, 3)),
        nll=_plain(nll.reshape(batch)),
        converged=_plain(done.reshape(batch)),
        method=_plain(name.reshape(batch)),
        sample=x.reshape((*batch, size)),
        k=size,
        n=size,
        upper=upper,
        degenerate=_plain(said.reshape(batch)),
    )
