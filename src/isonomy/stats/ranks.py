"""Ranks of many samples at once."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from isonomy.errors import InputError
from isonomy.stats._samples import Floats

__all__ = ["PairRanks", "mean_ranks", "pair_ranks", "rank", "sorted_ranks"]


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


class PairRanks(NamedTuple):
    """What the ranks of two samples together say; values that are NaN take no part.

    ``above`` counts the pairs in which the first sample is larger, ties as half; ``ties`` is the
    sum of t³ - t over groups of t equal values; ``n`` and ``m`` are the sizes.
    """

    above: Floats
    ties: Floats
    n: Floats
    m: Floats


def pair_ranks(first: Floats, second: Floats) -> PairRanks:
    """Rank two samples together along the last axis.

    Examples
    --------
    >>> above, ties, n, m = pair_ranks(np.array([2.0, 3.0]), np.array([1.0, 3.0, 4.0]))
    >>> float(above), float(ties)
    (2.5, 6.0)
    """
    size = first.shape[-1]
    both = np.concatenate([first, second], axis=-1)
    order = np.argsort(both, axis=-1)  # NaN goes last, each a group of its own
    ordered = np.take_along_axis(both, order, axis=-1)
    ranks, tied = sorted_ranks(ordered)
    mine = order < size
    n, m = np.float64(size), np.float64(second.shape[-1])
    if np.isnan(ordered[..., -1]).any():
        known = ~np.isnan(ordered)
        mine &= known
        n = mine.sum(axis=-1).astype(np.float64)
        m = known.sum(axis=-1) - n
    above = np.where(mine, ranks, 0.0).sum(axis=-1) - n * (n + 1) / 2.0
    # the sum of t^3 - t over tie groups is that of t^2 - 1 over their members
    return PairRanks(above, (tied**2 - 1.0).sum(axis=-1), *np.broadcast_arrays(n, m, above)[:2])


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


def mean_ranks(
    values: ArrayLike, *, ties: Literal["mean", "order"] = "mean", descending: bool = False
) -> Floats:
    """Rank treatments within each block and give each one's mean rank over the blocks.

    A treatment that is undefined (NaN) in a block has no rank there, and the others are ranked
    among themselves: its mean is over the blocks that hold it, NaN where none does. Where many
    are missing, means rest on unequal rivals; leave such blocks out.

    Parameters
    ----------
    values : array-like of shape (..., blocks, treatments)
    ties, descending
        As in :func:`rank`; with ``descending`` the largest value is the best.

    Examples
    --------
    >>> mean_ranks([[0.9, 0.8, 0.7], [0.6, 0.7, 0.5]], descending=True).tolist()
    [1.5, 1.5, 3.0]
    """
    ranks = rank(values, ties=ties, descending=descending)
    if ranks.ndim < 2:
        raise InputError("Values must have two axes or more, (blocks, treatments); they have one.")
    held = ~np.isnan(ranks)
    with np.errstate(invalid="ignore"):
        out: Floats = np.where(held, ranks, 0.0).sum(axis=-2) / held.sum(axis=-2)
    return out
