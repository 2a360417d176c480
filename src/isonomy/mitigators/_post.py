"""What several post-processors share: draws, sums by cell, scores moved to a threshold."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy._validate import listed
from isonomy.errors import InputError, IsonomyError

SEED = 12345679
"""The seed that the published studies gave to the randomised post-processors."""


def uniform(random_state: Any, n: int) -> Floats:
    """Draw n numbers from [0, 1); a whole number as seed gives the same ones at every call.

    The seed is mixed with one of ours: data that a user drew with the same small seed would
    otherwise meet the very numbers that made it.
    """
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return random_state.random(n)
    seed = None if random_state is None else [SEED, int(random_state)]
    return np.random.default_rng(seed).random(n)


def label_sums(
    y: NDArray[Any],
    s: NDArray[Any],
    values: NDArray[Any] | None,
    w: Floats | None,
    groups: int,
) -> Floats:
    """Add up weights (times values) by group and label; shape (groups, 2)."""
    weight = values if w is None else w if values is None else values * w
    cell = s.astype(np.intp) * 2 + y  # small integers would overflow with many groups
    return np.bincount(cell, weight, 2 * groups).reshape(groups, 2).astype(np.float64)


def check_cells(
    sums: NDArray[Any],
    names: Sequence[Any],
    *,
    who: str,
    rows: NDArray[Any] | None = None,
    kind: type[IsonomyError] = InputError,
) -> None:
    """Raise where a group lacks one of the labels, so that a rate of it is undefined."""
    lacking = np.flatnonzero((sums <= 0).any(axis=1))
    if lacking.size:
        first = "" if rows is None else f" (the first has {int(rows[lacking[0]]):,} rows)"
        raise kind(
            f"{who} needs every label in every group; "
            f"{'group' if len(lacking) == 1 else 'groups'} {listed(names[int(g)] for g in lacking)} "
            f"{'lacks' if len(lacking) == 1 else 'lack'} one{first}: merge small groups or give more rows."
        )


def recentre(scores: Floats, threshold: Floats) -> Floats:
    """Move scores so that each row's threshold sits at one half, in order, within [0, 1].

    A score above its threshold comes out above one half, and one on it below, so that labels
    read from the result agree with the rule to the last bit.
    """
    room = np.where(threshold < 1, 1 - threshold, 1.0)
    above = 0.5 + 0.5 * (scores - threshold) / room
    over = scores > threshold
    dividing = (threshold > 0) & ~over
    below = 0.5 * np.divide(scores, threshold, out=np.zeros_like(scores), where=dividing)
    return np.where(
        over,
        np.clip(above, np.nextafter(0.5, 1), 1.0),
        np.clip(below, 0.0, np.nextafter(0.5, 0)),
    )
