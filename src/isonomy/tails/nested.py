"""Is the shape needed: likelihood-ratio tests of the exponential and the Gumbel law."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from isonomy.tails.estimate import fit_gev, fit_gpd
from isonomy.tails.fit import TailFit
from isonomy.tails.gev import solve_gumbel
from isonomy.tails.profile_gpd import Shape

__all__ = ["NestedTest", "nested_test"]

Floats = NDArray[np.float64]


class NestedTest(NamedTuple):
    """A tail with its shape held at 0, and the test of that; arrays for a batch.

    Attributes
    ----------
    law : str
        ``exponential`` (excesses) or ``gumbel`` (maxima).
    location, scale, nll
        The fit with shape 0.
    statistic
        Twice the log-likelihood gained by the shape.
    p_value
        From the chi-square law; for excesses from the third-order corrected root.
    """

    law: str
    location: Any
    scale: Any
    nll: Any
    statistic: Any
    p_value: Any


def nested_test(fit: TailFit) -> NestedTest:
    """Test whether the shape of a fitted tail is 0.

    Both laws are fitted by maximum likelihood, whatever estimator the fit used, and without the
    bound of its support: a law of shape 0 has no end, and would not be nested in one that must.

    Examples
    --------
    >>> from isonomy.tails import fit_gpd
    >>> test = nested_test(fit_gpd(-np.log1p(-(np.arange(50) + 0.5) / 50)))
    >>> test.law, bool(test.p_value > 0.5)
    ('exponential', True)
    """
    fit = _by_likelihood(fit)
    sample = fit.sample.reshape(-1, fit.sample.shape[-1])
    size = sample.shape[1]
    good = np.asarray(fit.converged).ravel()
    nll = np.asarray(fit.nll, dtype=np.float64).ravel()
    location, scale, simple = (np.full(good.size, np.nan) for _ in range(3))
    root, q = np.zeros(good.size), np.full(good.size, np.nan)
    if good.any():
        if fit.family == "gev":
            location[good], scale[good], mean, _ = solve_gumbel(sample[good])
            simple[good] = mean * size
        else:
            y = sample[good]
            scale[good] = y.mean(axis=1)
            location[good] = np.broadcast_to(fit.location, fit.batch).ravel()[good]
            simple[good] = size * (np.log(scale[good]) + 1.0)
            unit = scale[good][:, None]
            fitted = (np.ravel(part)[good] for part in (fit.scale, fit.shape))
            a, b = fitted
            free = Shape(y / unit, a / unit[:, 0], b, np.full(a.shape, np.inf))
            _, _, q[good] = free.third(np.zeros(a.shape), np.arange(a.size))
    statistic = np.where(good, np.maximum(2.0 * (simple - nll), 0.0), np.nan)
    root = np.sqrt(statistic)
    with np.errstate(invalid="ignore", divide="ignore"):
        star = root + np.log(q / root) / root
    # the correction is a ratio of two vanishing numbers next to the estimate
    star = np.where(np.isfinite(star) & (root > 0.05), star, root)
    p_value = np.where(good, np.minimum(2.0 * ndtr(-star), 1.0), np.nan)

    def shaped(flat: Floats) -> Any:
        return flat.reshape(fit.batch) if fit.batch else float(flat[0])

    law = "gumbel" if fit.family == "gev" else "exponential"
    return NestedTest(
        law, shaped(location), shaped(scale), shaped(simple), shaped(statistic), shaped(p_value)
    )


def _by_likelihood(fit: TailFit) -> TailFit:
    """Give the free maximum-likelihood fit of the same sample."""
    if fit.family == "gev":
        return fit_gev(fit.sample) if np.any(np.ravel(fit.method) == "moments") else fit
    other = np.ravel(fit.converged) & (np.ravel(fit.method) != "ml")
    if fit.upper is None and not other.any():
        return fit
    return fit_gpd(fit.sample, threshold=fit.threshold, n=fit.n)
