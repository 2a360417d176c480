"""Fitting tails: `fit_gpd` for excesses over a threshold, `fit_gev` for maxima of blocks."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomy._validate import unknown_name
from isonomy.errors import InputError
from isonomy.tails.degenerate import degeneracy
from isonomy.tails.fit import TailFit, plain
from isonomy.tails.gev import gev_moments, solve_gev
from isonomy.tails.gpd import gpd_logpdf, gpd_moments, gpd_zhang_stephens, solve_gpd
from isonomy.tails.likelihood import gev_value, gpd_value

__all__ = ["METHODS", "fit_gev", "fit_gpd"]

Floats = NDArray[np.float64]

METHODS = ("auto", "ml", "moments", "zhang_stephens")
"""Ways to estimate; ``auto`` is maximum likelihood, and another where that has no maximum."""


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
            value[lost] = _gpd_nll(good[lost], a[lost], b[lost])
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
        location=plain(tau.reshape(batch)),
        scale=plain(scale.reshape(batch)),
        shape=plain(shape.reshape(batch)),
        se=se.reshape((*batch, 2)),
        nll=plain(nll.reshape(batch)),
        converged=plain(done.reshape(batch)),
        method=plain(name.reshape(batch)),
        sample=y.reshape((*batch, k)),
        threshold=plain(tau.reshape(batch)),
        k=k,
        n=n,
        upper=upper,
        degenerate=plain(said.reshape(batch)),
    )


def _gpd_nll(y: Floats, scale: Floats, shape: Floats) -> Floats:
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
        location=plain(theta[:, 0].reshape(batch)),
        scale=plain(theta[:, 1].reshape(batch)),
        shape=plain(theta[:, 2].reshape(batch)),
        se=se.reshape((*batch, 3)),
        nll=plain(nll.reshape(batch)),
        converged=plain(done.reshape(batch)),
        method=plain(name.reshape(batch)),
        sample=x.reshape((*batch, size)),
        k=size,
        n=size,
        upper=upper,
        degenerate=plain(said.reshape(batch)),
    )
