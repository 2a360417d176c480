"""Ranks of many samples at once."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomy.errors import InputError

__all__ = ["rank", "sorted_ranks"]

Floats = NDArray[np.float64]


def sorted_ranks(ordered: Floats) -> tuple[Floats, Floats]:
    """Give mean ranks and sizes of tie groups for values already sorted along the last axis."""
    n = ordered.shape[-1]
    place = np.arange(n)
    starts = np.empty(ordered.shape, dtype=bool)
    starts[..., 0] = True
    np.not_equal(ordered[..., 1:], ordered[..., :-1], out=starts[..., 1:])
    ends = np.empty_like(starts)
    ends[..., -1] = True
    ends[..., :-1] = starts[..., 1:]
    first = np.maximum.accumulate(np.where(starts, place, 0), axis=-1)
    last = np.minimum.accumulate(np.where(ends, place, n)[..., ::-1], axis=-1)[..., ::-1]
    return (first + last) / 2.0 + 1.0, (last - first + 1).astype(np.float64)


def rank(
    values: ArrayLike, *, ties: Literal["mean", "order"] = "mean", descending: bool = False
) -> Floats:
    """Rank values along the last axis, from 1; undefined values get no rank (NaN).

    Parameters
    ----------
    values : array-like of shape (..., n)
    ties : {"mean", "order"}
        Equal values share the mean of their ranks, or are ranked in the order in which they stand.
    descending : bool
        Whether the largest value gets rank 1.

    Examples
    --------
    >>> rank([0.3, 0.1, 0.3]).tolist()
    [2.5, 1.0, 2.5]
    >>> rank([0.3, 0.1, 0.3], ties="order", descending=True).tolist()
    [1.0, 3.0, 2.0]
    """
    if ties not in ("mean", "order"):
        raise InputError(f"ties must be 'mean' or 'order'; got {ties!r}.")
    x = np.asarray(values, dtype=np.float64)
    keys = -x if descending else x
    order = np.argsort(keys, axis=-1, kind="stable")  # NaN last
    if ties == "mean":
        ranks, _ = sorted_ranks(np.take_along_axis(keys, order, axis=-1))
    else:
        ranks = np.broadcast_to(np.arange(1.0, x.shape[-1] + 1.0), x.shape)
    out = np.empty_like(x)
    np.put_along_axis(out, order, ranks, axis=-1)
    out[np.isnan(x)] = np.nan
    return out
