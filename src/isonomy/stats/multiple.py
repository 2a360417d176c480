"""Many tests at once: p-values adjusted so that alpha holds for all of them."""

from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import ArrayLike

from isonomy._arrays import Floats
from isonomy.errors import InputError
from isonomy.stats._samples import floats


def _adjust(pvalues: ArrayLike, axis: int | None, rule: Callable[[Floats], Floats]) -> Floats:
    """Apply a rule to the defined p-values of each family."""
    p = floats(pvalues, name="p-values")
    if ((p < 0) | (p > 1)).any():
        raise InputError(
            f"p-values must lie between 0 and 1; the extremes are {np.nanmin(p):g} and "
            f"{np.nanmax(p):g}."
        )

    def family(line: Floats) -> Floats:
        out = line.copy()
        known = ~np.isnan(line)
        if known.any():
            out[known] = rule(line[known])
        return out

    if axis is None or not p.size:
        return family(p.reshape(-1)).reshape(p.shape)
    return np.asarray(np.apply_along_axis(family, axis, p))


def _holm(p: Floats) -> Floats:
    order = np.argsort(p, kind="stable")
    out = np.empty_like(p)
    out[order] = np.maximum.accumulate(p[order] * np.arange(p.size, 0.0, -1.0))
    return np.minimum(out, 1.0)


def holm(pvalues: ArrayLike, *, axis: int | None = None) -> Floats:
    """Adjust p-values by Holm's step-down rule, which bounds the chance of any false rejection.

    Holds whatever the dependence between the tests, and is never worse than Bonferroni's rule.

    Parameters
    ----------
    pvalues : array-like
        Undefined ones (NaN) stay so and do not count as tests.
    axis : int, optional
        Along which each line is a family of its own; by default all p-values are one family.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]

    References
    ----------
    Holm 1979, A Simple Sequentially Rejective Multiple Test Procedure.
    """
    return _adjust(pvalues, axis, _holm)


def benjamini_hochberg(pvalues: ArrayLike, *, axis: int | None = None) -> Floats:
    """Adjust p-values so that alpha bounds the expected share of false rejections.

    Holds for independent tests and for positively dependent ones; SciPy's
    ``false_discovery_control``, with undefined p-values left out. Parameters as in :func:`holm`.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]

    References
    ----------
    Benjamini and Hochberg 1995, Controlling the False Discovery Rate.
    """
    return _adjust(pvalues, axis, lambda p: scipy.stats.false_discovery_control(p, method="bh"))


def benjamini_yekutieli(pvalues: ArrayLike, *, axis: int | None = None) -> Floats:
    """Adjust p-values as Benjamini and Hochberg do, whatever the dependence between the tests.

    Costs a factor of ``1 + 1/2 + ... + 1/n``. Parameters as in :func:`holm`.

    Examples
    --------
    >>> benjamini_yekutieli([0.01, 0.04, 0.03]).round(4).tolist()
    [0.055, 0.0733, 0.0733]

    References
    ----------
    Benjamini and Yekutieli 2001, The Control of the False Discovery Rate under Dependency.
    """
    return _adjust(pvalues, axis, lambda p: scipy.stats.false_discovery_control(p, method="by"))
