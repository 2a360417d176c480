"""How samples come in: as numbers, two or many at a time, with undefined values as asked."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomy._arrays import Floats
from isonomy._validate import check_choice, listed
from isonomy.errors import InputError

Words = NDArray[np.str_]
Alternative = Literal["two-sided", "less", "greater"]
NanPolicy = Literal["propagate", "omit", "raise"]


def floats(values: ArrayLike, *, nan: NanPolicy = "propagate", name: str = "Samples") -> Floats:
    """Return values as floats; raise where they are not numbers, or hold NaN and must not."""
    check_choice("treatment of NaN", nan, ("propagate", "omit", "raise"))
    try:
        out = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers in a rectangle; got {error}.") from None
    if nan == "raise" and np.isnan(out).any():
        raise InputError(f'{name} must not hold NaN; some do: pass nan="omit" to leave them out.')
    return out


def broadcast(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Broadcast the leading axes of two samples."""
    try:
        lead = np.broadcast_shapes(first.shape[:-1], second.shape[:-1])
    except ValueError:
        raise InputError(
            "The leading axes of the two samples must broadcast; they have shapes "
            f"{first.shape} and {second.shape}."
        ) from None
    return (
        np.broadcast_to(first, (*lead, first.shape[-1])),
        np.broadcast_to(second, (*lead, second.shape[-1])),
    )


def two_samples(a: ArrayLike, b: ArrayLike, *, nan: NanPolicy) -> tuple[Floats, Floats]:
    """Return two samples along the last axis, their leading axes broadcast."""
    first, second = floats(a, nan=nan), floats(b, nan=nan)
    if not first.ndim or not second.ndim or not first.shape[-1] or not second.shape[-1]:
        raise InputError("Each sample must hold one value or more; one is empty.")
    return broadcast(first, second)


def portions(
    samples: Sequence[Floats], *, paired: bool, nan: NanPolicy, fewest: int = 1
) -> Iterator[tuple[NDArray[np.intp], list[Floats]]]:
    """Yield cells (rows) and their samples without NaN, which SciPy's vectorised calls take.

    Cells that are whole come at once. With ``nan="omit"`` the others follow one by one, unless
    fewer than ``fewest`` values are left.
    """
    known = [~np.isnan(side) for side in samples]
    if paired:
        known = [np.logical_and.reduce(known)] * len(known)
    whole = np.logical_and.reduce([mask.all(axis=-1) for mask in known])
    if whole.any():
        yield np.flatnonzero(whole), [side[whole] for side in samples]
    for i in np.flatnonzero(~whole) if nan == "omit" else ():
        cell = [side[i : i + 1, mask[i]] for side, mask in zip(samples, known, strict=True)]
        if min(side.shape[-1] for side in cell) >= fewest:
            yield np.array([i]), cell


def check_labels(labels: Sequence[Any] | None, size: int) -> tuple[Any, ...]:
    """Return one distinct label per treatment, numbers from 1 where there are none."""
    out = tuple(range(1, size + 1)) if labels is None else tuple(labels)
    if len(out) != size or len(set(out)) != size:
        raise InputError(
            f"There must be one label per treatment, each its own; {size} treatments have the "
            f"labels {listed(out)}."
        )
    return out


def named_samples(
    values: ArrayLike | Mapping[Any, ArrayLike], labels: Sequence[Hashable] | None
) -> tuple[tuple[Any, ...], list[Floats], int]:
    """Return labels, one sample per treatment without its NaN, and how many NaN there were.

    A mapping may hold samples of unequal size; a table has one column per treatment.
    """
    if isinstance(values, Mapping):
        if labels is not None:
            raise InputError("labels must not be given with a mapping; its keys are the labels.")
        names = check_labels(list(values), len(values))
        samples = [floats(sample).ravel() for sample in values.values()]
    else:
        if labels is None and hasattr(values, "columns"):
            labels = list(values.columns)
        table = floats(values, name="Values")
        if table.ndim != 2:
            raise InputError(
                "Values must be a table (runs, treatments) or a mapping from treatment to runs; "
                f"got {table.ndim} axes."
            )
        names = check_labels(labels, table.shape[1])
        samples = list(table.T)
    undefined = sum(int(np.isnan(sample).sum()) for sample in samples)
    samples = [sample[~np.isnan(sample)] for sample in samples]
    for name, sample in zip(names, samples, strict=True):
        if sample.size < 2:
            raise InputError(
                f"Each treatment must have two values or more; {name!r} has {sample.size}: "
                "leave it out."
            )
    return names, samples, undefined


def reasons(*cases: tuple[Any, str]) -> Words:
    """Return the first reason that applies in each cell, else the empty text."""
    masks, texts = zip(*cases, strict=True)
    chosen = np.select(np.broadcast_arrays(*masks), [np.str_(text) for text in texts], np.str_(""))
    return np.asarray(chosen)[()]
