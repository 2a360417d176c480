"""Mutating predictions, as draws on the cells of counts instead of on rows.

Overwriting k predictions chosen at random changes only how many rows lie in each cell, and the
number taken from each cell is multivariate hypergeometric. One mutation costs a draw per cell,
however many rows there are; repetitions, degrees and splits are axes of one array.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomy._arrays import Floats
from isonomy._validate import make_rng, match_values
from isonomy.errors import InputError
from isonomy.metrics import Counts

_LARGEST = 10**9  # numpy's hypergeometric draw counts no further


@dataclass(frozen=True)
class Target:
    """What overwritten predictions become: a share of each class."""

    name: str
    """``majority``, ``minority``, ``random``, or the label as text."""
    label: Any
    """The one label, or None where labels are drawn at random."""
    share: tuple[float, ...]
    """The probability of each class."""


def resolve_target(counts: Counts, strategy: Any = "majority") -> Target:
    """Return the label that a strategy writes.

    ``majority`` is the most frequent true label: the one whose constant predictor is the most
    accurate, which makes the strictest baseline.

    Examples
    --------
    >>> counts = Counts.from_labels([1, 0, 0, 0], [1, 0, 1, 0], sensitive_features=list("aabb"))
    >>> resolve_target(counts).label
    0
    """
    size = len(counts.classes)
    if strategy == "random" and "random" not in counts.classes:
        return Target("random", None, (1.0 / size,) * size)
    rows = counts.values.sum(axis=(*range(counts.n.ndim - 2), -1))
    if isinstance(strategy, str) and strategy in {"majority", "minority"} - set(counts.classes):
        pick = int(rows.argmax() if strategy == "majority" else rows.argmin())
        name = strategy
    else:
        label = match_values(strategy, counts.classes, what="label or strategy")[0]
        pick = counts.classes.index(label)
        name = str(label)
    share = tuple(1.0 if k == pick else 0.0 for k in range(size))
    return Target(name, counts.classes[pick], share)


def check_degrees(degrees: ArrayLike | None) -> Floats:
    """Return the degrees of mutation: 0, 0.1, ... 1 by default."""
    if degrees is None:
        return np.arange(11) / 10
    values = np.asarray(degrees, dtype=np.float64).ravel()
    if values.size < 2 or not ((values >= 0) & (values <= 1)).all():
        raise InputError(f"degrees must be two or more shares between 0 and 1; got {degrees!r}.")
    if values[0] != 0 or not (np.diff(values) > 0).all():
        raise InputError(
            f"degrees must begin with 0 (the original model) and increase; got {degrees!r}."
        )
    return values


def rows_to_mutate(counts: Counts, degrees: Floats) -> NDArray[np.int64]:
    """Return how many rows each degree overwrites, truncated as in the reference procedure."""
    total = counts.n.sum(axis=(-1, -2, -3))
    if (total <= 0).any():
        raise InputError("A baseline needs at least one row in every split.")
    return np.asarray(np.multiply.outer(degrees, total)).astype(np.int64)


def mutate(
    counts: Counts,
    degrees: ArrayLike | None = None,
    *,
    target: Target | None = None,
    repetitions: int = 50,
    random_state: int | np.random.Generator | None = 0,
) -> Counts:
    """Overwrite a random share of the predictions, many times.

    Rows are chosen without replacement, afresh for every repetition and degree; a row whose
    prediction already is the target counts as overwritten. Weighted rows: the weight that leaves
    a cell is drawn from a Dirichlet distribution with the exact means and covariances of drawing
    that many of the cell's rows.

    Parameters
    ----------
    counts : Counts
        The original predictions; leading axes are splits.
    degrees : array-like, optional
        Shares of rows to overwrite; 0, 0.1, ... 1 by default.
    target : Target, optional
        From :func:`resolve_target`; the majority label by default.
    repetitions : int
        How often each degree is drawn.
    random_state : int, Generator or None
        Seed.

    Returns
    -------
    Counts
        With the leading axes (repetitions, degrees, *splits).

    Examples
    --------
    >>> counts = Counts.from_labels([1, 0, 1, 0], [1, 0, 0, 1], sensitive_features=list("aabb"))
    >>> mutated = mutate(counts, [0, 0.5, 1], repetitions=3)
    >>> mutated.shape
    (3, 3)
    >>> mutated.overall()[:, -1].tolist()[0]  # everything became the majority label, 0 (a tie)
    [[2.0, 0.0], [2.0, 0.0]]
    """
    rng = make_rng(random_state)
    target = resolve_target(counts) if target is None else target
    chosen = rows_to_mutate(counts, check_degrees(degrees))
    return draw(counts, chosen, target, repetitions, rng)


def draw(
    counts: Counts,
    chosen: NDArray[np.int64],
    target: Target,
    repetitions: int,
    rng: np.random.Generator,
) -> Counts:
    """Draw mutations of ``chosen`` rows, whose shape is (..., *splits)."""
    cells = counts.n.astype(np.int64)
    total = cells.sum(axis=(-1, -2, -3))
    if (total >= _LARGEST).any():
        raise InputError(
            f"Mutations can be drawn for fewer than {_LARGEST:,} rows; got {int(total.max()):,}: "
            "use method='expected'."
        )
    lead = (repetitions, *chosen.shape)
    size = len(counts.classes)
    only = target.share.index(1.0) if target.label is not None else None
    left = np.broadcast_to(chosen, lead)
    rest = np.broadcast_to(total, chosen.shape)
    taken = _room(lead, cells.shape[-3:])
    for g in range(cells.shape[-3]):  # cells, not rows
        for t in range(size):
            for p in range(size):
                if p == only:
                    continue  # rows that already hold the label stay where they are
                here = cells[..., g, t, p]
                if not here.any():
                    continue
                rest = rest - here
                drawn = rng.hypergeometric(here, rest, left)
                left = left - drawn
                taken[..., g, t, p] = drawn
    if only is not None:
        parts = taken[..., None]
        n = counts.n - taken
        n[..., only] += taken.sum(axis=-1)
    else:
        parts = rng.multinomial(taken.astype(np.int64), target.share).astype(np.float64)
        n = counts.n - taken + parts.sum(axis=-2)
    if counts.w is None or counts.w2 is None:
        return replace(counts, n=n)
    share = _weight_shares(counts, parts, rng)

    def carry(sums: Floats) -> Floats:
        moved = sums[..., None] * share
        if only is None:
            into = moved.sum(axis=-2)
        else:
            into = np.zeros_like(taken)
            into[..., only] = moved[..., 0].sum(axis=-1)
        return np.asarray(sums - moved.sum(axis=-1) + into)

    return replace(counts, n=n, w=carry(counts.w), w2=carry(counts.w2))


def _room(lead: tuple[int, ...], cells: tuple[int, ...]) -> Floats:
    """Make room whose leading axes lie together in memory: sums over the few cells run along them."""
    few, many = len(cells), len(lead)
    return np.zeros((*cells, *lead)).transpose(*range(few, few + many), *range(few))


def _weight_shares(counts: Counts, parts: Floats, rng: np.random.Generator) -> Floats:
    """Return the share of each cell's weight that every part of its rows carries."""
    assert counts.w is not None and counts.w2 is not None  # noqa: PT018
    with np.errstate(invalid="ignore", divide="ignore"):
        rows = np.where(counts.n > 0, counts.n, 1.0)
        share = parts / rows[..., None]
        spread = np.maximum(rows * counts.w2 / counts.w**2 - 1.0, 0.0)  # squared variation
        certain = ~(spread > 1e-12)
        concentration = np.where(certain, 1.0, np.maximum((rows - 1.0) / spread - 1.0, 1e-9))
    stays = 1.0 - share.sum(axis=-1, keepdims=True)
    every = np.concatenate([share, np.maximum(stays, 0.0)], axis=-1)
    gammas = rng.standard_gamma(every * concentration[..., None])
    sums = gammas.sum(axis=-1, keepdims=True)
    drawn = np.where(sums > 0, gammas / np.where(sums > 0, sums, 1.0), every)
    return np.asarray(np.where(certain[..., None], every, drawn)[..., :-1])
