"""A fitted tail: its levels, its end, and their limits."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from isonomy._arrays import Floats, divide
from isonomy.errors import InputError
from isonomy.stats.results import Result
from isonomy.tails.laws import gev_quantile, growth, law_cdf, law_quantile
from isonomy.tails.levels import Flat, Interval, Limits, check_confidence


@dataclass(frozen=True, eq=False, repr=False)
class TailFit(Result):
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
        The bound at which levels and endpoints are cut off.
    degenerate : str or array
        Why there is no fit; empty where there is one.
    step : float or array
        The step in which tied values come, within half of which they were spread before the fit;
        0 where they were not.

    Examples
    --------
    >>> from isonomy.tails import fit_gpd, gpd_quantile
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
    step: Any = 0.0

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
        """Return the level that is exceeded on average once in m queries.

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
        >>> from isonomy.tails import fit_gpd, gpd_quantile
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
        return as_value(level)

    def endpoint(self) -> Any:
        """Return where the tail ends; infinite for a shape of 0 or above.

        Examples
        --------
        >>> from isonomy.tails import fit_gpd, gpd_quantile
        >>> float(fit_gpd(gpd_quantile((np.arange(50) + 0.5) / 50, shape=0.3)).endpoint())
        inf
        """
        shape = np.asarray(self.shape)
        end = np.where(shape < 0, self.location - divide(self.scale, shape), np.inf)
        end = np.where(np.isnan(shape), np.nan, end)
        return as_value(end if self.upper is None else np.minimum(end, self.upper))

    def maximum(self, m: float) -> tuple[Any, Any, Any]:
        """Return (location, scale, shape) of the law of the largest of m queries.

        Examples
        --------
        >>> from isonomy.tails import fit_gpd, gpd_quantile
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
        confidence: float = 0.95,
        method: str = "profile",
        resamples: int = 999,
        random_state: int | None = 0,
    ) -> Interval:
        """Return an interval for a parameter, a return level or the end of the tail.

        Parameters
        ----------
        what : str
            ``shape``, ``scale``, ``location`` (of maxima), ``return_level`` or ``endpoint``.
        horizon : float, optional
            For a return level: the number of queries.
        confidence : float
            How often such intervals hold the truth.
        method : str
            ``profile``: profile likelihood with the third-order correction, which covers also with
            50 excesses. ``profile_plain``: the same without it. ``delta``: symmetric, from the
            observed information; undefined for shapes of -0.5 and below. ``bootstrap``: the
            plain profile with its root standardised by samples drawn from the fit; for maxima,
            percentiles of draws.
        resamples, random_state
            Of the bootstrap. A fit without a likelihood maximum always takes the bootstrap.

        Notes
        -----
        The share of exceedances, k / n, counts as an estimate where n exceeds k. A return level
        within two exceedances of the threshold is bounded by order statistics of the sample. An
        endpoint may be infinite above; a shape's lower limit of -1 means -1 or below.

        Examples
        --------
        >>> from isonomy.tails import fit_gpd, gpd_quantile
        >>> fit = fit_gpd(gpd_quantile((np.arange(50) + 0.5) / 50, scale=1.0, shape=-0.2))
        >>> low, high = fit.interval("return_level", horizon=500)
        >>> low < fit.return_level(500) < high
        True
        """
        check_confidence(confidence)
        limits = Limits(
            self.flat(),
            what,
            horizon=horizon,
            method=method,
            resamples=resamples,
            random_state=random_state,
        )
        return Interval(*(self.shaped(end) for end in limits.interval(confidence)))

    def flat(self) -> Flat:
        """Return the fits with their leading axes laid flat."""
        rows = self.sample.size // self.sample.shape[-1]
        parts = np.broadcast_arrays(self.location, self.scale, self.shape)
        return Flat(
            family=self.family,
            sample=self.sample.reshape(rows, -1),
            theta=np.stack([np.ravel(part) for part in parts], axis=-1).astype(np.float64),
            nll=np.ravel(self.nll).astype(np.float64),
            regular=np.ravel(self.converged),
            by_likelihood=np.ravel(self.method) == "ml",
            threshold=None if self.threshold is None else np.ravel(self.threshold),
            k=self.k,
            n=self.n,
            upper=self.upper,
            values=None if self.values is None else self.values.reshape(rows, -1),
        )

    def shaped(self, flat: Floats) -> Any:
        """Return numbers of a flat batch in its own shape, a float for one sample."""
        return flat.reshape(self.batch) if self.batch else float(flat[0])

    def levels(
        self, horizons: ArrayLike | None = None, *, confidence: float = 0.95
    ) -> pd.DataFrame:
        """Return return levels with their intervals, one row per horizon.

        Parameters
        ----------
        horizons : array-like, optional
            Numbers of queries; by default from what brings two exceedances to ten times the sample.
        confidence : float

        Examples
        --------
        >>> from isonomy.tails import fit_gpd, gpd_quantile
        >>> fit = fit_gpd(gpd_quantile((np.arange(50) + 0.5) / 50, scale=1.0, shape=-0.2))
        >>> fit.levels([100, 1000]).round(2)["level"].tolist()
        [2.88, 3.48]
        """
        if self.batch:
            raise InputError("Levels are of one sample; this fit has several: take one of them.")
        if horizons is None:
            size = max(self.n, self.sample.size)
            least = 2.0 if self.threshold is None else 2.0 / self.rate
            horizons = np.geomspace(least, 10.0 * size, 25)
        asked = np.atleast_1d(np.asarray(horizons, dtype=np.float64))
        ends = [
            self.interval("return_level", horizon=float(m), confidence=confidence) for m in asked
        ]
        return pd.DataFrame(
            {
                "horizon": asked,
                "level": np.atleast_1d(self.return_level(asked)),
                "low": [low for low, _ in ends],
                "high": [high for _, high in ends],
            }
        )

    def plot(
        self, horizons: ArrayLike | None = None, *, confidence: float = 0.95, ax: Any = None
    ) -> Any:
        """Draw the return levels with their intervals, over the values that were fitted.

        Parameters
        ----------
        horizons, confidence
            As in :meth:`levels`.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default. Needs the extra ``plot``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from isonomy.plots import plot_levels

        levels = self.levels(horizons, confidence=confidence)
        values = np.sort(np.ravel(self.sample))[::-1]
        if self.threshold is not None and self.family == "gpd":
            values = values + float(self.threshold)
        # the largest of n is exceeded about once in n queries
        size = self.n or values.size
        observed = pd.DataFrame({"horizon": size / (np.arange(values.size) + 0.5), "value": values})
        return plot_levels(
            levels,
            observed=observed[observed["horizon"] >= levels["horizon"].min()],
            xlabel="blocks" if self.threshold is None else "queries",
            ax=ax,
        )

    def cdf(self, x: ArrayLike) -> Any:
        """Return the fitted probability of at most x, given that the threshold is exceeded.

        Examples
        --------
        >>> from isonomy.tails import fit_gpd, gpd_quantile
        >>> fit = fit_gpd(gpd_quantile((np.arange(50) + 0.5) / 50))
        >>> float(fit.cdf(0.0))
        0.0
        """
        return law_cdf(self.family, x, *self._last())

    def quantile(self, p: ArrayLike) -> Any:
        """Return the value below which a share p of the fitted law lies.

        Examples
        --------
        >>> from isonomy.tails import fit_gpd, gpd_quantile
        >>> fit = fit_gpd(gpd_quantile((np.arange(50) + 0.5) / 50))
        >>> bool(np.isclose(fit.cdf(fit.quantile(0.9)), 0.9))
        True
        """
        return law_quantile(self.family, p, *self._last())

    def _last(self) -> list[Floats]:
        parts = (np.asarray(p, dtype=np.float64) for p in (self.location, self.scale, self.shape))
        return [part[..., None] if self.batch else part for part in parts]

    def frame(self) -> pd.DataFrame:
        """Return the parameters as a frame: a row per parameter, or per sample of a batch.

        Examples
        --------
        >>> from isonomy.tails import fit_gpd, gpd_quantile
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

    def __repr__(self) -> str:
        if self.batch:
            return f"<TailFit {self.family} of {self.batch} samples of {self.sample.shape[-1]}>"
        if self.degenerate:
            return f"<TailFit {self.family}, degenerate: {self.degenerate}>"
        parts = ", ".join(f"{name} {float(getattr(self, name)):.4g}" for name in self.names)
        over = "" if self.threshold is None else f", {self.k} of {self.n} over {self.threshold:.4g}"
        return f"<TailFit {self.family} {parts}{over}>"


def as_value(array: Any) -> Any:
    """Return a 0-d array as a Python value, so that one fit prints as plain numbers."""
    array = np.asarray(array)
    return array if array.ndim else array.item()
