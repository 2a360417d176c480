"""Fitting tails: `fit_gpd` for excesses, `fit_gev` for maxima, `peaks_over_threshold` for a sample."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isonomy._arrays import Floats
from isonomy._validate import check_choice
from isonomy.errors import InputError
from isonomy.tails.solve import covariance, estimate
from isonomy.tails.tail_fit import TailFit, as_value
from isonomy.tails.ties import degeneracy, spread_ties


def finite(values: ArrayLike, *, what: str = "values", fewest: int = 1) -> Floats:
    """Return values as an array of finite numbers; raise where they are not."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be numbers; got {error}.") from None
    if array.ndim == 0 or array.shape[-1] < fewest:
        got = "a single number" if array.ndim == 0 else f"{array.shape[-1]}"
        raise InputError(f"{what} must hold at least {fewest} values to fit a tail; got {got}.")
    if not np.isfinite(array).all():
        raise InputError(f"{what} must be finite numbers; some are NaN or infinite: drop them.")
    return array


def _fit(family: str, x: Floats, method: str, offset: Floats, **settings: Any) -> TailFit:
    """Fit every sample that is a tail; ``offset`` is what the values were taken from."""
    known = ("auto", "ml", "moments", "zhang_stephens")[: 4 if family == "gpd" else 3]
    check_choice("estimator of a tail", method, known)
    batch, size = x.shape[:-1], x.shape[-1]
    sample = x.reshape(-1, size)
    rows = sample.shape[0]
    reason = degeneracy(sample, offset=offset)
    fine = reason == ""
    theta, nll = np.full((rows, 3), np.nan), np.full(rows, np.nan)
    done, name = np.zeros(rows, dtype=bool), np.full(rows, method, dtype="<U14")
    if fine.any():
        theta[fine], mean, done[fine], name[fine] = estimate(family, sample[fine], method)
        nll[fine] = mean * size
    regular = done & (name == "ml")
    first = 0 if family == "gev" else 1
    se = np.full((rows, 3 - first), np.nan)
    with np.errstate(invalid="ignore"):
        cover = covariance(family, theta[regular], sample[regular])
        se[regular] = np.sqrt(np.diagonal(cover, axis1=1, axis2=2))
    se[:, 1 - first] *= theta[:, 1]
    if family == "gpd":
        theta[:, 0] = offset
    location, scale, shape = (as_value(part.reshape(batch)) for part in theta.T)
    nll, done, name, reason = (as_value(part.reshape(batch)) for part in (nll, done, name, reason))
    se = se.reshape((*batch, 3 - first))
    return TailFit(
        family,
        location,
        scale,
        shape,
        se,
        nll,
        done,
        name,
        x,
        degenerate=reason,
        k=size,
        **settings,
    )


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
        A bound that no observation can pass, such as 1 for a difference of probabilities. Levels,
        endpoints and their limits are cut off there; the law itself is fitted without it, since
        a law that must end there understates a tail that is heavy below it.

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
    y = finite(excesses, what="excesses", fewest=3)
    if (y < 0).any():
        raise InputError("Excesses must not be negative: subtract the threshold first.")
    batch, k = y.shape[:-1], y.shape[-1]
    n = k if n is None else int(n)
    if n < k:
        raise InputError(f"n must be at least the number of excesses, {k:,}; got {n:,}.")
    tau = np.broadcast_to(np.asarray(0.0 if threshold is None else threshold, dtype=float), batch)
    if upper is not None and (y.max(axis=-1) > (upper - tau) * (1 + 1e-12)).any():
        raise InputError(
            f"No observation may exceed upper, {upper:g}; the largest is "
            f"{float((y.max(axis=-1) + tau).max()):g}."
        )
    return _fit("gpd", y, method, tau.ravel(), threshold=as_value(tau), n=n, upper=upper)


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
    x = finite(values, fewest=4)
    offset = np.zeros(x.size // x.shape[-1])
    return _fit("gev", x, method, offset, n=x.shape[-1], upper=upper)


def peaks_over_threshold(
    values: ArrayLike,
    *,
    k: int | None = None,
    threshold: float | None = None,
    method: str = "auto",
    upper: float | None = None,
    protocol: str = "corrected",
    random_state: int | None = 0,
) -> TailFit:
    """Fit the tail of a sample above a high threshold.

    Parameters
    ----------
    values : array-like
        The whole sample along the last axis; leading axes are samples of their own.
    k : int, optional
        How many of the largest values make the tail: the threshold is the next one, so that
        exactly k exceed it where there are no ties; ties with the threshold have excess 0. 50
        unless a threshold is given.
    threshold : float, optional
        The threshold itself, for one sample, instead of k.
    method, upper
        As in `fit_gpd`.
    protocol : str
        ``corrected`` fits the generalised Pareto law to the excesses, which is the limit law of
        peaks over a threshold. ``as_published`` fits the generalised extreme value law to the k
        largest values themselves, the best supported reading of Monjezi et al. (2025): its
        shape comes out about 0.45 too high.
    random_state : int, optional
        Of the spreading of ties. Where a tenth or more of the tail is tied (a forest's scores,
        rounded values), values are spread evenly within half a step before the fit: a continuous
        law fitted to steps has intervals that are too short.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> fit = peaks_over_threshold(rng.exponential(size=5000), k=250)
    >>> fit.k, fit.n, round(fit.threshold, 2), round(fit.scale, 2)
    (250, 5000, 2.94, 1.12)
    >>> round(float(fit.return_level(5000)), 1)  # log(5000) is 8.5
    8.3

    References
    ----------
    Davison and Smith 1990, Models for Exceedances over High Thresholds. Monjezi et al. 2025,
    Fairness Testing through Extreme Value Theory.
    """
    check_choice("protocol", protocol, ("corrected", "as_published"))
    x = finite(values)
    n = x.shape[-1]
    if threshold is not None:
        if k is not None:
            raise InputError("Either k or a threshold must be given, not both.")
        if x.ndim > 1:
            raise InputError("A threshold serves one sample; use k for several at once.")
        tau: Any = float(threshold)
        top = x[x > tau]
        if top.size < 3:
            raise InputError(
                f"At least 3 values must exceed the threshold {tau:g}; {top.size} of {n:,} do."
            )
    else:
        k = 50 if k is None else int(k)
        if not 3 <= k < n:
            raise InputError(
                f"k must lie between 3 and {n - 1:,}, below the number of values; got {k}."
            )
        ordered = np.partition(x, n - k - 1, axis=-1)
        tau, top = ordered[..., n - k - 1], ordered[..., n - k :]
    if protocol == "as_published":
        fit = fit_gev(top, method="auto" if method == "zhang_stephens" else method, upper=upper)
        return replace(fit, threshold=as_value(tau), n=n, values=x)
    size = top.shape[-1]
    excesses = top - np.asarray(tau)[..., None]
    tail = degeneracy(excesses.reshape(-1, size)) == ""
    moved, step = spread_ties(x.reshape(-1, n), size, tail, upper, random_state)
    if step.any():
        ordered = np.partition(moved, n - size - 1, axis=-1).reshape(x.shape)
        top = ordered[..., n - size :]
        if threshold is None:
            tau = ordered[..., n - size - 1]
        excesses = np.maximum(top - np.asarray(tau)[..., None], 0.0)
    fit = fit_gpd(excesses, method=method, threshold=tau, n=n, upper=upper)
    return replace(fit, values=x, step=as_value(step.reshape(x.shape[:-1])))
