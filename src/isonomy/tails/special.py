"""Limits where no profile serves: next to the threshold, and at tails that end abruptly."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import binom

from isonomy.tails.gpd import gpd_quantile
from isonomy.tails.likelihood import growth
from isonomy.tails.limits import Flat

if TYPE_CHECKING:
    from isonomy.tails.fit import TailFit

__all__ = ["abrupt_limit", "order_limit"]

Floats = NDArray[np.float64]


def order_limit(flat: Flat, fit: "TailFit", side: int, target: Floats, horizon: float) -> Floats:
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


def abrupt_limit(
    flat: Flat,
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
    rng = np.random.default_rng(random_state)
    y, scale, shape = flat.sample[row], flat.scale[row], flat.shape[row]
    if what == "endpoint" and shape >= 0:
        return float("inf")
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
