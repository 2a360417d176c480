"""Worlds with a planted subgroup: who a scan should find. The golden script and the tests read it.

NumPy's legacy stream never changes, so the same seeds give the same rows in every environment.
"""

from dataclasses import dataclass

import numpy as np

__all__ = ["WORLDS", "World", "make", "overlap"]

LEVELS = (2, 3, 4, 3, 2, 4)
ROWS = 2000


@dataclass(frozen=True)
class World:
    """What share of rows is hit, inside a conjunction of values and elsewhere."""

    base: float
    inside: float
    depth: int
    worlds: int
    first_seed: int
    union: bool = False
    """Whether the first column's condition is two values of it, and not one."""
    among: tuple[int, ...] = (1, 2, 3, 5)
    """The columns that the conditions are drawn from: by default those of three or four values."""


WORLDS = {
    "nothing": World(0.3, 0.3, 0, 10, 1000),
    "one value, more": World(0.3, 0.39, 1, 12, 3000),
    "one value, fewer": World(0.3, 0.21, 1, 12, 3100),
    "half of all, more": World(0.3, 0.4, 1, 12, 3200, among=(0, 4)),
    "two values, more": World(0.3, 0.47, 2, 12, 4000),
    "two values, fewer": World(0.3, 0.15, 2, 12, 5000),
    "a quarter of all, fewer": World(0.5, 0.38, 2, 12, 5100, among=(0, 4)),
    "two values, rare": World(0.03, 0.1, 2, 12, 6000),
    "two values, rarely not": World(0.97, 0.88, 2, 12, 6100),
    "three values, more": World(0.3, 0.62, 3, 12, 7000),
    "three values, fewer": World(0.5, 0.18, 3, 12, 7100),
    "a union of values": World(0.3, 0.47, 2, 8, 8000, union=True),
}


def make(world: World, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return columns, hits, and which rows are in the planted group."""
    rng = np.random.RandomState(seed)
    columns = np.stack([rng.randint(0, levels, ROWS) for levels in LEVELS], axis=1)
    chosen = rng.permutation(world.among)[: world.depth]
    planted = np.full(ROWS, world.depth > 0)
    for k, j in enumerate(chosen):
        values = [0, 1] if world.union and k == 0 else [0]
        planted &= np.isin(columns[:, j], values)
    hits = rng.random_sample(ROWS) < np.where(planted, world.inside, world.base)
    return columns, hits, planted


def overlap(one: np.ndarray, other: np.ndarray) -> float:
    """Return the share of rows in both among those in either (Jaccard)."""
    either = (one | other).sum()
    return float((one & other).sum() / either) if either else 0.0
