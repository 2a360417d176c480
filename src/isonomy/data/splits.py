"""Splits into training and test rows.

================  ==========================================================================
``holdout``       ours: 70 / 30, seeded by (seed, dataset, repeat)
``aif360``        train = the first int(0.7 n) of a permutation of NumPy's legacy generator
                  seeded with the repeat: AIF360's ``split`` with ``shuffle=True``
================  ==========================================================================

The studies of :mod:`isonomy.papers` add their own, replayed exactly: ``chen``, ``evt``,
``evt_joined``; ``fairea`` is another name of ``aif360``.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from isonomy._arrays import Rows
from isonomy._brief import brief
from isonomy._registry import Registry
from isonomy._validate import check_least
from isonomy.data.dataset import Dataset
from isonomy.errors import InputError

Parts = tuple[Rows, Rows, Rows | None]

SPLITTERS: Registry[Callable[[int, str, int, int], Parts]] = Registry("splitter")


@dataclass(frozen=True, eq=False, repr=False)
class Split:
    """The rows to learn from and the rows to test on, as positions in the dataset.

    Parameters
    ----------
    dataset : str
        The name of the dataset.
    repeat : int
        Which repeat this is, from 0.
    seed : int
        The seed of the study.
    train, test : array of int
        Row positions.
    validation : array of int, optional
        Row positions of a part to tune on.
    splitter : str
        The recipe that made it.
    """

    dataset: str
    repeat: int
    seed: int
    train: Rows
    test: Rows
    validation: Rows | None = None
    splitter: str = "holdout"

    __repr__ = brief


def make_splits(
    dataset: Dataset,
    repeats: int = 1,
    seed: int = 0,
    *,
    splitter: str = "holdout",
    rows: ArrayLike | None = None,
) -> list[Split]:
    """Split a dataset into training and test rows, several times over.

    Parameters
    ----------
    dataset : Dataset
        What to split.
    repeats : int, default 1
        How many splits.
    seed : int, default 0
        The seed of the study. The recipes of the studies use seed + repeat.
    splitter : str, default "holdout"
        The recipe: ``holdout``, ``chen``, ``aif360``, ``evt`` or ``evt_joined``.
    rows : array of int or of bool, optional
        The rows to split, by default all. A study that first drops rows with missing values
        splits what is left: ``rows=isonomy.data.rows_of(dataset, "chen")``.

    Returns
    -------
    list of Split

    Examples
    --------
    >>> from isonomy.data import load
    >>> first, second = make_splits(load("synthetic", n=10), repeats=2, splitter="chen")
    >>> first.test.tolist(), len(first.train)
    ([2, 8, 4], 7)
    """
    check_least("repeats", repeats, 1)
    return [
        make_split(dataset, repeat, seed, splitter=splitter, rows=rows) for repeat in range(repeats)
    ]


def make_split(
    dataset: Dataset,
    repeat: int,
    seed: int = 0,
    *,
    splitter: str = "holdout",
    rows: ArrayLike | None = None,
) -> Split:
    """Make one of the splits that ``make_splits`` gives, without the others.

    Examples
    --------
    >>> from isonomy.data import load
    >>> data = load("synthetic", n=10)
    >>> one, every = make_split(data, 2), make_splits(data, 3)
    >>> one.test.tolist() == every[2].test.tolist()
    True
    """
    make = SPLITTERS[splitter]
    chosen = np.arange(len(dataset)) if rows is None else np.asarray(rows)
    chosen = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen.astype(np.intp)
    if len(chosen) < 5:
        raise InputError(f"A split needs at least 5 rows; got {len(chosen)}.")
    train, test, validation = make(len(chosen), dataset.name, seed, repeat)
    return Split(
        dataset=dataset.name,
        repeat=repeat,
        seed=seed,
        train=chosen[train],
        test=chosen[test],
        validation=None if validation is None else chosen[validation],
        splitter=SPLITTERS.resolve(splitter),
    )


@SPLITTERS.register("holdout")
def _holdout(n: int, name: str, seed: int, repeat: int) -> Parts:
    order = seeded_order(n, name, seed, repeat)
    cut = int(np.floor(0.7 * n))
    return order[:cut], order[cut:], None


@SPLITTERS.register("aif360")
def _aif360(n: int, name: str, seed: int, repeat: int) -> Parts:
    order = legacy_order(n, seed + repeat)
    cut = int(0.7 * n)
    return order[:cut], order[cut:], None


def seeded_order(n: int, name: str, seed: int, repeat: int) -> Rows:
    """Return a permutation of the rows that depends on (seed, dataset, repeat) only."""
    # crc32 and not hash(): the same in every process and on every machine.
    key = (seed, zlib.crc32(name.encode()), repeat)
    return np.random.default_rng(key).permutation(n).astype(np.intp)


def legacy_order(n: int, seed: int) -> Rows:
    """Return a permutation by NumPy's legacy generator."""
    return np.random.RandomState(seed).permutation(n).astype(np.intp)
