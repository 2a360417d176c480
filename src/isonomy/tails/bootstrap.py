"""Parametric bootstrap of fitted tails: draw from the fit, fit again, all at once."""

import numpy as np
from numpy.typing import NDArray

from isonomy.tails.gev import gev_quantile, solve_gev
from isonomy.tails.gpd import gpd_quantile, gpd_zhang_stephens, solve_gpd

__all__ = ["redraw"]

Floats = NDArray[np.float64]

# Draws are fitted in portions that stay in the processor's cache.
PORTION = 200_000


def redraw(
    parameters: tuple[float, float, float],
    *,
    family: str,
    size: int,
    resamples: int,
    rng: np.random.Generator,
    by_likelihood: bool = True,
    room: float | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Give (location, scale, shape) of samples drawn from a fitted law and fitted again.

    Parameters
    ----------
    parameters : tuple of float
        Location, scale and shape; the location of a ``gpd`` is 0.
    by_likelihood : bool
        Otherwise Zhang and Stephens' estimator, which exists for every sample.
    """
    location, scale, shape = parameters
    out = np.empty((3, resamples))
    portion = max(1, PORTION // size)
    for start in range(0, resamples, portion):
        part = slice(start, min(start + portion, resamples))
        uniform = rng.random((part.stop - start, size))
        if family == "gev":
            uniform = np.maximum(uniform, 1e-300)
            drawn = gev_quantile(uniform, location, scale, shape)
            out[0, part], out[1, part], out[2, part], _, _ = solve_gev(drawn)
            continue
        drawn = gpd_quantile(uniform, scale, shape)
        out[0, part] = 0.0
        if not by_likelihood:
            out[1, part], out[2, part] = gpd_zhang_stephens(drawn)
            continue
        far = None if room is None else np.full(drawn.shape[0], room)
        a, b, _, ok = solve_gpd(drawn, room=far)
        if not ok.all():
            a[~ok], b[~ok] = gpd_zhang_stephens(drawn[~ok])
        out[1, part], out[2, part] = a, b
    return out[0], out[1], out[2]
