"""Ranks of many samples at once."""

from typing import Any, Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from isonomy._arrays import Floats, divide
from isonomy._validate import check_choice
from isonomy.errors import InputError

_METHODS: dict[str, Any] = {"mean": "average", "order": "ordinal"}


def rank(
    values: ArrayLike, *, ties: Literal["mean", "order"] = "mean", descending: bool = False
) -> Floats:
    """Rank values along the last axis, from 1; undefined values have no rank (NaN).

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
    check_choice("treatment of ties", ties, list(_METHODS))
    x = np.asarray(values, dtype=np.float64)
    ranks = scipy.stats.rankdata(
        -x if descending else x, method=_METHODS[ties], axis=-1, nan_policy="omit"
    )
    return np.asarray(ranks, dtype=np.float64)


def mean_ranks(
    values: ArrayLike, *, ties: Literal["mean", "order"] = "mean", descending: bool = False
) -> Floats:
    """Rank treatments within each block and return the mean rank of each over the blocks.

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
    return divide(np.nansum(ranks, axis=-2), (~np.isnan(ranks)).sum(axis=-2))[()]
