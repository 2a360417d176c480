"""Does the fitted law describe its sample: Anderson-Darling, Q-Q and P-P, by parametric bootstrap."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy.errors import InputError
from isonomy.tails.fit import TailFit
from isonomy.tails.gev import gev_cdf, gev_quantile, solve_gev
from isonomy.tails.gpd import gpd_cdf, gpd_quantile, gpd_zhang_stephens, solve_gpd

__all__ = ["Goodness", "anderson_darling", "goodness", "goodness_of"]

Floats = NDArray[np.float64]

PORTION = 200_000


def anderson_darling(u: Floats) -> Floats:
    """Give the Anderson-Darling distance of sorted probabilities from the uniform law, by row."""
    n = u.shape[-1]
    tiny = np.clip(u, 1e-300, 1.0 - 1e-16)
    weight = 2.0 * np.arange(1, n + 1) - 1.0
    both = np.log(tiny) + np.log1p(-tiny[..., ::-1])
    return np.asarray(-n - both @ weight / n, dtype=np.float64)


def _fitted(sample: Floats, family: str, room: float | None) -> Floats:
    """Fit each row and give its sorted probabilities under its own fit."""
    ordered = np.sort(sample, axis=1)
    if family == "gev":
        location, scale, shape, _, _ = solve_gev(ordered)
        return np.asarray(gev_cdf(ordered, location[:, None], scale[:, None], shape[:, None]))
    far = None if room is None else np.full(ordered.shape[0], room)
    scale, shape, _, ok = solve_gpd(ordered, room=far)
    if not ok.all():
        scale[~ok], shape[~ok] = gpd_zhang_stephens(ordered[~ok])
    return np.asarray(gpd_cdf(ordered, scale[:, None], shape[:, None]))


@dataclass(frozen=True, eq=False)
class Goodness:
    """How a sample lies to its own fit.

    Attributes
    ----------
    statistic, p_value : float
        Anderson-Darling; the p-value counts samples drawn from the fit and fitted again, so it
        knows that the parameters are estimates.
    observed : array
        The sample, in order.
    model : array
        What the fit expects in each place.
    low, high : array
        Where 95 % of draws have each value, one at a time.
    low_all, high_all : array
        Where 95 % of draws have all values of the upper half of the sample at once.
    probability, expected : array
        The fit's probabilities of the sample, and the plotting positions: the P-P picture.
    probability_low, probability_high : array
        Where 95 % of draws have each probability.
    reach : int
        How many places from the bottom agree with the fit, counted up to the first in the upper
        half that leaves the common envelope.

    Examples
    --------
    >>> from isonomy.tails import fit_gpd
    >>> fit = fit_gpd(np.random.default_rng(0).exponential(size=100))
    >>> goodness(fit).p_value > 0.05
    True
    """

    statistic: float
    p_value: float
    observed: Floats
    model: Floats
    low: Floats
    high: Floats
    low_all: Floats
    high_all: Floats
    probability: Floats
    expected: Floats
    probability_low: Floats
    probability_high: Floats
    reach: int

    def frame(self) -> pd.DataFrame:
        """Give the Q-Q and P-P pictures as a frame, a row per observation.

        Examples
        --------
        >>> from isonomy.tails import fit_gpd
        >>> fit = fit_gpd(np.random.default_rng(0).exponential(size=100))
        >>> goodness(fit).frame().shape
        (100, 10)
        """
        names = ("observed", "model", "low", "high", "low_all", "high_all", "probability")
        more = ("expected", "probability_low", "probability_high")
        return pd.DataFrame({name: getattr(self, name) for name in (*names, *more)})

    def _repr_html_(self) -> str:
        return str(self.frame().to_html(index=False))


def goodness_of(fit: TailFit, *, resamples: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Give the sorted probabilities of the sample, and of draws fitted again (a row each)."""
    if fit.batch:
        raise InputError(f"One fit must be given; got a batch of {fit.batch}.")
    if fit.degenerate:
        raise InputError(f"There is no fit to check: {fit.degenerate}.")
    size = fit.sample.size
    start = 0.0 if fit.family == "gpd" else float(fit.location)
    room = None if fit.upper is None or fit.family == "gev" else fit.upper - float(fit.location)
    ordered = np.sort(fit.sample)
    if fit.family == "gev":
        mine = gev_cdf(ordered, start, fit.scale, fit.shape)
    else:
        mine = gpd_cdf(ordered, fit.scale, fit.shape)
    portion, parts = max(1, PORTION // size), []
    for begin in range(0, resamples, portion):
        uniform = rng.random((min(portion, resamples - begin), size))
        if fit.family == "gev":
            drawn = gev_quantile(np.maximum(uniform, 1e-300), start, fit.scale, fit.shape)
        else:
            drawn = gpd_quantile(uniform, fit.scale, fit.shape)
        parts.append(_fitted(drawn, fit.family, room))
    return np.asarray(mine), np.concatenate(parts)


def goodness(fit: TailFit, *, resamples: int = 499, random_state: int | None = 0) -> Goodness:
    """Compare a sample with its own fit: Anderson-Darling, Q-Q and P-P with envelopes.

    Parameters
    ----------
    fit : TailFit
        One fit, not a batch.
    resamples : int
        Samples drawn from the fit and fitted again.
    random_state : int, optional

    Examples
    --------
    >>> from isonomy.tails import fit_gpd
    >>> rng = np.random.default_rng(0)
    >>> two = np.concatenate([rng.exponential(0.1, 50), 1.0 + rng.exponential(0.1, 50)])
    >>> goodness(fit_gpd(two)).p_value < 0.05
    True

    References
    ----------
    Choulakian and Stephens 2001, Goodness-of-Fit Tests for the Generalized Pareto Distribution.
    """
    mine, drawn = goodness_of(fit, resamples=resamples, rng=np.random.default_rng(random_state))
    size = mine.size
    statistic = float(anderson_darling(mine))
    p_value = (int((anderson_darling(drawn) >= statistic).sum()) + 1.0) / (resamples + 1.0)
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    expected = (np.arange(1, size + 1) - 0.5) / size
    # the common envelope of the upper half: the pointwise one widened, in ranks, until 95 % of
    # the draws stay inside it everywhere
    half = np.arange(size // 2, size)
    ranks = np.argsort(np.argsort(drawn[:, half], axis=0), axis=0) + 1
    extreme = np.minimum(ranks, resamples + 1 - ranks).min(axis=1)
    depth = max(int(np.quantile(extreme, 0.05)), 1)
    ordered = np.sort(drawn, axis=0)
    low_all, high_all = ordered[depth - 1], ordered[resamples - depth]
    outside = (mine < low_all) | (mine > high_all)
    outside[: size // 2] = False
    reach = int(outside.argmax()) if outside.any() else size

    def back(p: Floats) -> Floats:
        return np.asarray(fit.quantile(np.clip(p, 0.0, 1.0 - 1e-16)), dtype=np.float64)

    offset = float(fit.location) if fit.family == "gpd" else 0.0
    return Goodness(
        statistic=statistic,
        p_value=p_value,
        observed=np.sort(fit.sample) + offset,
        model=back(expected),
        low=back(low),
        high=back(high),
        low_all=back(low_all),
        high_all=back(high_all),
        probability=mine,
        expected=expected,
        probability_low=low,
        probability_high=high,
        reach=reach,
    )
