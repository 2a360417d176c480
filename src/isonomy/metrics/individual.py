"""Individual fairness: inequality of benefits, neighbours treated alike, pairs that flip."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomy._arrays import Floats, distinct_rows, divide
from isonomy._tables import as_matrix
from isonomy._validate import check_length
from isonomy.errors import InputError
from isonomy.metrics.counts import Counts
from isonomy.metrics.metric import add_metric
from isonomy.metrics.rates import add_up


def generalized_entropy(benefit: Floats, weight: Floats, alpha: float) -> Floats:
    """Compute the generalised entropy of benefits along the last axis (0 ln 0 is 0)."""
    total = weight.sum(axis=-1, keepdims=True)
    counted = np.where(weight > 0, benefit, 0.0)
    mean = divide((weight * counted).sum(axis=-1, keepdims=True), total)
    share = divide(weight, total)
    relative = divide(counted, mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        if alpha == 1:
            terms = np.where(relative > 0, relative * np.log(relative), 0.0 * relative)
        elif alpha == 0:
            terms = -np.log(relative)
        else:
            terms = (relative**alpha - 1.0) / (alpha * (alpha - 1.0))
    return np.asarray(np.where(weight > 0, share * terms, 0.0 * mean).sum(axis=-1))


def benefits(counts: Counts) -> Floats:
    """Return the benefit of each cell, b = ŷ - y + 1 where favourable is 1."""
    favorable = counts.is_favorable.astype(np.float64)
    return np.asarray(favorable[None, :] - favorable[:, None] + 1.0)


def _entropy(counts: Counts, *, alpha: float) -> Floats:
    """Benefits take three values (0, 1, 2), so the counts know their distribution."""
    matrix = counts.overall()
    benefit = np.broadcast_to(benefits(counts), matrix.shape)
    flat = (*matrix.shape[:-2], -1)
    return generalized_entropy(benefit.reshape(flat), matrix.reshape(flat), alpha)


def _flip_rate(y_pred: ArrayLike, y_pred_flipped: ArrayLike) -> float:
    first, second = np.asarray(y_pred), np.asarray(y_pred_flipped)
    check_length("y_pred_flipped", second.shape[0], "y_pred", first.shape[0])
    return float(np.mean(first != second)) if first.size else float("nan")


# ---------------------------------------------------------------------- neighbours

SETS = 40
"""Sets of columns for each neighbour: more of them bring the bound nearer to the k-th distance."""

WIDE = 8
"""How many times as many rows as asked for a shortlist may hold before it is made more exactly."""


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Who is near whom, as shares between distinct rows.

    Rows at exactly the distance of the k-th neighbour share the places that are left equally,
    so the order of the rows does not matter. Identical rows are kept once, with their number.

    Attributes
    ----------
    inverse : ndarray of int
        Which distinct row each row is.
    size : ndarray of int
        How many rows each distinct row stands for.
    row, other, share : ndarray
        What distinct row ``other`` contributes to the mean of distinct row ``row``.
    own : ndarray of float
        The share each distinct row takes of itself (its identical twins).
    include_self : bool
        Whether a row is among its own neighbours.
    tie_share : float
        The share of rows whose last place was contested between different rows.
    """

    inverse: NDArray[np.intp]
    size: NDArray[np.intp]
    row: NDArray[np.intp]
    other: NDArray[np.intp]
    share: Floats
    own: Floats
    include_self: bool
    tie_share: float

    def mean(self, values: ArrayLike) -> Floats:
        """Average a column over each row's neighbours."""
        column = np.asarray(values, dtype=np.float64)
        total = add_up(self.inverse, column, self.size.size)
        rest = add_up(self.row, self.share * (total / self.size)[self.other], self.size.size)
        if self.include_self:
            return np.asarray((rest + self.own * total / self.size)[self.inverse])
        twins = np.maximum(self.size - 1, 1)[self.inverse]
        return np.asarray(
            rest[self.inverse] + self.own[self.inverse] * (total[self.inverse] - column) / twins
        )


def neighbours(
    X: ArrayLike, *, k: int = 5, include_self: bool = True, chunk_bytes: int = 32_000_000
) -> Neighbours:
    """Find each row's ``k`` nearest rows by Euclidean distance, ties shared.

    A single-precision matrix product makes a shortlist that is wide enough for its own rounding
    error; the distances on the shortlist are then computed exactly in double precision.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Features, used as they are: scale them first if they should weigh alike.
    k : int
        Number of neighbours.
    include_self : bool
        Whether a row is among its own neighbours, as in AIF360.
    chunk_bytes : int
        Working memory for one block of distances.
    """
    data = as_matrix(X, who="A distance between rows")
    rows = data.shape[0]
    room = rows if include_self else rows - 1
    if not 1 <= k <= room:
        raise InputError(f"k must be between 1 and {room:,} for {rows:,} rows; got {k}.")
    distinct, inverse, size = distinct_rows(data)
    row, other = _shortlist(distinct, k if include_self else k + 1, chunk_bytes)
    squared = np.empty(row.size)
    width = max(1, chunk_bytes // (8 * max(1, data.shape[1])))
    for start in range(0, row.size, width):
        part = slice(start, start + width)
        apart = distinct[row[part]] - distinct[other[part]]
        squared[part] = np.einsum("ij,ij->i", apart, apart)

    order = np.lexsort((squared, row))
    row, other, squared = row[order], other[order], squared[order]
    places = size[other] - ((row == other) & (not include_self))
    # the distance at which k rows have been met
    met = np.cumsum(places)
    first = np.searchsorted(row, np.arange(size.size))
    before = met[first] - places[first]
    last = squared[np.searchsorted(met, before + k)][row]
    tolerance = 1e-12 * last  # equal up to the rounding of a sum of squares
    nearer = squared < last - tolerance
    tied = np.abs(squared - last) <= tolerance
    inside = np.bincount(row, places * nearer, minlength=size.size)
    contested = np.bincount(row, places * tied, minlength=size.size)
    left = ((k - inside) / np.maximum(contested, 1))[row]
    share = places * np.where(nearer, 1.0, np.where(tied, left, 0.0)) / k
    self_pair = row == other
    own = add_up(row[self_pair], share[self_pair], size.size)
    keep = (share > 0) & ~self_pair
    rivals = np.bincount(row, tied & (places > 0), minlength=size.size)
    contest = (contested > k - inside) & (rivals > 1)
    return Neighbours(
        inverse=inverse,
        size=size,
        row=row[keep],
        other=other[keep],
        share=share[keep],
        own=own,
        include_self=include_self,
        tie_share=float(size[contest].sum() / rows),
    )


def _shortlist(data: Floats, k: int, chunk_bytes: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pair each row with every row that may be among its k nearest."""
    short = _pairs(data, k, chunk_bytes, np.float32, most=WIDE * k)
    # one column that outweighs the others leaves single precision too little of them
    exact = _pairs(data, k, chunk_bytes, np.float64) if short is None else short
    assert exact is not None
    return exact


def _pairs(
    data: Floats, k: int, chunk_bytes: int, kind: type[np.floating[Any]], most: float = np.inf
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Return the pairs by products of one precision; None where rows have more than ``most``."""
    single = (data - data.mean(axis=0)).astype(kind)
    half = (0.5 * np.einsum("ij,ij->i", single, single, dtype=np.float64)).astype(kind)
    # rounding of a product of d terms, of the norms and of their sum, generously
    slack = kind(8.0 * np.finfo(kind).eps * (data.shape[1] ** 0.5 + 4.0))
    size = data.shape[0]
    step = max(1, chunk_bytes // (np.dtype(kind).itemsize * size))
    # half the squared distance, less the row's own half norm, as one product: -x.x' + |x'|²/2
    left = np.column_stack([-single, np.ones(size, dtype=kind)])
    right = np.column_stack([single, half]).T
    rows, others = [], []
    for start in range(0, size, step):
        block = slice(start, min(size, start + step))
        distance = left[block] @ right  # in the same order within a row as the distance itself
        limit = _at_most_kth(distance, min(k, size))
        limit += slack * (half[block] + half.max())
        row, other = np.divmod(np.flatnonzero(distance <= limit[:, None]), size)
        if row.size > most * (block.stop - block.start):
            return None
        rows.append(row + block.start)
        others.append(other)
    return np.concatenate(rows), np.concatenate(others)


def _at_most_kth(distance: NDArray[Any], k: int) -> NDArray[Any]:
    """Return for each row a value that at least ``k`` entries do not exceed, close to the k-th.

    The columns are dealt into sets, and the k-th smallest of the sets' minima is taken: a pass of
    minima over the whole block is several times as fast as finding the k-th entry itself.
    """
    rows, size = distance.shape
    sets = size // max(1, size // (SETS * k))
    if sets < size:
        even = distance[:, : size - size % sets]
        distance = even.reshape(rows, -1, sets).min(axis=1)
    return np.asarray(np.partition(distance, k - 1, axis=1)[:, k - 1])


def _consistency(
    X: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    k: int,
    include_self: bool,
    near: Neighbours | None = None,
) -> float:
    labels = np.asarray(y_pred, dtype=np.float64)
    if near is None:
        if X is None:
            raise InputError("consistency needs X or neighbours that were already found.")
        near = neighbours(X, k=k, include_self=include_self)
    check_length("y_pred", labels.size, "X", near.inverse.size)
    return float(1.0 - np.mean(np.abs(labels - near.mean(labels))))


# ---------------------------------------------------------------------- the shelf


_add = partial(add_metric, kind="individual", bounds=(0.0, np.inf))

SPEICHER = "Speicher et al. 2018, A Unified Approach to Quantifying Algorithmic Unfairness"
NOBODY = "nobody benefits (every benefit is 0)"

for _name, _label, _alpha, _formula, _more in (
    ("theil_index", "Theil", 1, "mean of (b/μ) ln(b/μ), b = ŷ - y + 1 with favourable = 1, 0 ln 0 = 0", ()),
    ("generalized_entropy", "GE(2)", 2, "mean of ((b/μ)² - 1) / 2, b = ŷ - y + 1 with favourable = 1",
     ("generalized_entropy_index",)),
):  # fmt: skip
    _add(
        _name, _entropy, label=_label, formula=_formula, goal="zero", parameters={"alpha": _alpha},
        sign="0 when everyone's prediction is equally generous; it does not say who is worse off.",
        avoid="Do not use it to compare groups: it mixes inequality within and between them.",
        reference=SPEICHER, aliases=_more, why_undefined=lambda *_, **__: NOBODY,
    )  # fmt: skip
_add(
    "coefficient_of_variation", lambda counts: np.sqrt(2.0 * _entropy(counts, alpha=2)), label="CV", formula="√(2 GE(2)): the standard deviation of b over its mean",
    goal="zero",
    sign="0 when everyone's prediction is equally generous.",
    avoid="Do not report it beside GE(2): it is the same information.",
    reference=SPEICHER, why_undefined=lambda *_, **__: NOBODY,
)  # fmt: skip
_add(
    "consistency", _consistency, label="consistency", formula="1 - mean |ŷ_i - mean of ŷ over the k nearest neighbours of i|",
    needs="neighbours", goal="one", bounds=(0.0, 1.0),
    parameters={"k": 5, "include_self": True},
    sign="1 when neighbours get the same prediction.",
    avoid="Do not use it on unscaled features: the largest column decides who is a neighbour.",
    reference="Zemel et al. 2013, Learning Fair Representations (with a row among its own neighbours, "
    "as AIF360 counts; include_self=False leaves it out)",
    aliases=("cnt",),
)  # fmt: skip
_add(
    "flip_rate", _flip_rate, label="flip rate", formula="P(ŷ ≠ ŷ of the same row with the protected attribute changed)",
    needs="pairs", goal="zero", bounds=(0.0, 1.0),
    sign="0 when changing the attribute changes nobody's prediction.",
    avoid="Do not read 0 as fair: proxies of the attribute are not changed.",
    reference="Galhotra et al. 2017, Fairness Testing (causal discrimination)",
    aliases=("causal_discrimination",),
)  # fmt: skip
