"""Many tests at once: p-values adjusted so that a level holds for all of them."""

import numpy as np
from numpy.typing import ArrayLike

from isonomy.errors import InputError
from isonomy.stats._samples import Floats, floats

__all__ = ["benjamini_hochberg", "benjamini_yekutieli", "holm"]


def _adjust(pvalues: ArrayLike, axis: int | None, kind: str) -> Floats:
    p = floats(pvalues, name="p-values")
    if ((p < 0) | (p > 1)).any():
        raise InputError(
            f"p-values must lie between 0 and 1; the extremes are {np.nanmin(p):g} and "
            f"{np.nanmax(p):g}."
        )
    line = p.reshape(-1) if axis is None else np.moveaxis(p, axis, -1)
    order = np.argsort(line, axis=-1, kind="stable")  # NaN last
    ordered = np.take_along_axis(line, order, axis=-1)
    known = ~np.isnan(ordered)
    size = known.sum(axis=-1, keepdims=True).astype(np.float64)
    place = np.arange(1.0, ordered.shape[-1] + 1.0)
    if kind == "holm":
        raised = np.maximum.accumulate(np.where(known, ordered * (size - place + 1), 0.0), axis=-1)
    else:
        if kind == "by":
            size = size * np.where(known, 1.0 / place, 0.0).sum(axis=-1, keepdims=True)
        raised = np.where(known, ordered * (size / place), np.inf)[..., ::-1]
        raised = np.minimum.accumulate(raised, axis=-1)[..., ::-1]
    out = np.empty_like(line)
    adjusted = np.where(known, np.minimum(raised, 1.0), np.nan)
    np.put_along_axis(out, order, adjusted, axis=-1)
    return out.reshape(p.shape) if axis is None else np.moveaxis(out, -1, axis)


def holm(pvalues: ArrayLike, *, axis: int | None = None) -> Floats:
    """Adjust p-values by Holm's step-down rule: no false rejection at all, with its level.

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
    return _adjust(pvalues, axis, "holm")


def benjamini_hochberg(pvalues: ArrayLike, *, axis: int | None = None) -> Floats:
    """Adjust p-values so that a level bounds the expected share of false rejections.

    Holds for independent tests and for positively dependent ones. Parameters as in :func:`holm`.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]

    References
    ----------
    Benjamini and Hochberg 1995, Controlling the False Discovery Rate.
    """
    return _adjust(pvalues, axis, "bh")


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
    return _adjust(pvalues, axis, "by")
