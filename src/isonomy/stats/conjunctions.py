"""Every conjunction of values of some columns, and how far the share of hits in each departs.

Arrays in, numbers out: cells are the distinct rows of the columns (``codes[cell, column]``), with how
many ``rows[cell, stratum]`` and ``hits[cell, stratum]`` each has. Hits are permuted within strata, so
that a cell's permuted hits are hypergeometric; the sums of every conjunction, for the data as they are
and for all permutations, are products of matrices over the marginals of these cells.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import xlogy

from isonomy._arrays import Floats, divide
from isonomy._validate import check_least

Codes = NDArray[np.intp]

_HELD = 40_000_000
"""Numbers of permuted hits that are held at once."""
_JUDGED = 4_000_000
"""Sums that are turned into statistics at once."""
_CANDIDATES = 2000
"""The most groups that are looked at for those to list."""
_USUAL = 0.8
"""Which share of permutations stays below what is usual."""
_EXACT = 2**24
"""Sums up to here are exact in single precision."""


@dataclass(frozen=True)
class Departures:
    """How far each conjunction departs, and how far the farthest does in every permutation.

    Attributes
    ----------
    conditions : ndarray of shape (groups, depth)
        The values a group is defined by, as places in ``literals``; -1 where there are fewer.
    literals : ndarray of shape (n, 2)
        Column and code of each value.
    rows : ndarray of shape (groups,)
        Rows of each group.
    statistic : ndarray of shape (groups,)
        Signed roots of the deviance from everybody else's hits, over their standard error.
    farthest : ndarray of shape (depth, permutations)
        The largest absolute statistic of any group of one, two ... values; -inf where there is none.
    """

    conditions: Codes
    literals: Codes
    rows: Floats
    statistic: Floats
    farthest: Floats

    @property
    def values(self) -> Codes:
        """By how many values each group is defined."""
        return np.asarray((self.conditions >= 0).sum(axis=1))

    @cached_property
    def usual(self) -> Floats:
        """What the farthest group of one, two ... values reaches by chance alone, four times in five.

        There are many more conjunctions of three values than values, so that some of them depart far.
        The data as they are count as one more permutation, which keeps the level exact.
        """
        own = np.abs(self.statistic)
        seen = [own[self.values == k + 1].max(initial=-np.inf) for k in range(len(self.farthest))]
        reached = np.quantile(
            np.column_stack([self.farthest, seen]), _USUAL, axis=1, method="higher"
        )
        return np.where(np.isfinite(reached), reached, 0.0)

    @property
    def excess(self) -> Floats:
        """By how much each group departs farther than is usual among groups of as many values."""
        return np.asarray(np.abs(self.statistic) - self.usual[self.values - 1])

    @cached_property
    def _largest(self) -> Floats:
        return np.sort((self.farthest - self.usual[:, None]).max(axis=0, initial=-np.inf))

    def p_values(self, excess: Floats | None = None) -> Floats:
        """Return how often chance alone makes some group exceed what is usual as far as each does.

        Examples
        --------
        >>> import numpy as np
        >>> one = Departures(np.zeros((1, 1), int), np.zeros((1, 2), int), *np.ones((2, 1)), np.arange(3.0)[None])
        >>> one.p_values().tolist()
        [0.75]
        """
        asked = self.excess if excess is None else excess
        above = self._largest.size - np.searchsorted(self._largest, asked - 1e-9)
        return np.asarray((1 + above) / (1 + self._largest.size))

    def critical(self, alpha: float) -> float:
        """Return the excess beyond which ``p_values`` are ``alpha`` at most.

        Infinite where there are too few permutations for any to be.
        """
        at = int(np.floor(alpha * (1 + self._largest.size) + 1e-9))
        return float(self._largest[::-1][at - 1]) + 1e-6 if at > 0 else np.inf


def permuted_hits(
    rows: Floats, hits: Floats, permutations: int, rng: np.random.Generator
) -> Floats:
    """Return the hits of every cell, ``[cell, permutation]``, were they permuted within strata.

    Examples
    --------
    >>> import numpy as np
    >>> rows, hits = np.array([[5.0], [3.0]]), np.array([[4.0], [0.0]])
    >>> permuted_hits(rows, hits, 3, np.random.default_rng(0)).sum(axis=0).tolist()
    [4.0, 4.0, 4.0]
    """
    whole = rows.sum() < _EXACT
    out = np.zeros((rows.shape[0], permutations), dtype=np.float32 if whole else np.float64)
    for size, some in zip(rows.T.astype(np.int64), hits.sum(axis=0).astype(int), strict=True):
        at = np.flatnonzero(size)
        few = min(some, size.sum() - some)  # what is counted one by one
        if not few:
            out[at] += (size[at] if some else 0 * size[at])[:, None]
            continue
        method: Literal["count", "marginals"] = "count" if few < 4 * at.size else "marginals"
        drawn = rng.multivariate_hypergeometric(size[at], some, permutations, method=method)
        out[at] += drawn.T
    return out


def signed_roots(hits: Floats, rows: Floats, all_rows: Floats, all_hits: Floats) -> Floats:
    """Return how far groups depart from everybody else: signed roots of deviances, standardised.

    Near nothing it is the standardised difference of Mantel and Haenszel, ``(hits - expected) /
    error``, with the exact error under permutation within strata; far from it, it follows the
    likelihood, so that few expected hits do not look farther than they are.

    Parameters
    ----------
    hits : ndarray of shape (groups, draws)
        Hits of each group, its strata together.
    rows : ndarray of shape (groups, strata)
        Rows of each group.
    all_rows, all_hits : ndarray of shape (strata,)
        Those of everybody.

    Examples
    --------
    >>> import numpy as np
    >>> found = signed_roots(np.array([[60.0, 50.0]]), np.array([[100.0]]), np.array([200.0]), np.array([100.0]))
    >>> found.round(2).tolist()
    [[2.83, 0.0]]
    """
    n, there = rows, rows > 0
    share = divide(all_hits, all_rows)
    expected = (n * share).sum(axis=1)
    spread = share * (1 - share) / np.maximum(all_rows - 1, 1)
    variance = (n * (all_rows - n) * spread).sum(axis=1)
    size, among, total = n.sum(axis=1), there @ all_hits, there @ all_rows
    means = np.stack([expected, size - expected, among - expected])
    means = np.append(means, [total - means.sum(axis=0)], axis=0)[..., None]
    known = (variance > 1e-12) & (means[..., 0] > 1e-12).all(axis=0)
    seen = [hits, size[:, None] - hits, among[:, None] - hits]
    seen.append(total[:, None] - sum(seen))
    means = np.where(known[:, None], means, 1.0)
    deviance = 2 * sum(
        xlogy(np.maximum(o, 0), np.maximum(o, 0) / e) for o, e in zip(seen, means, strict=True)
    )
    scale = variance * (1 / means).sum(axis=0)[:, 0]
    root = np.sqrt(np.maximum(deviance, 0.0) / np.where(known, scale, 1.0)[:, None])
    return np.where(known[:, None], np.copysign(root, hits - expected[:, None]), 0.0)


def _standardised(sums: Floats, rows: Floats, all_rows: Floats, all_hits: Floats) -> Floats:
    """Return the statistics of many draws; hits are whole numbers, each is looked up once."""
    if not len(sums):
        return np.asarray(sums, dtype=np.float64)
    low = sums.min(axis=1)
    width = int((sums.max(axis=1) - low).max()) + 1
    if width >= sums.shape[1]:
        return signed_roots(sums, rows, all_rows, all_hits)
    table = signed_roots(low[:, None] + np.arange(width), rows, all_rows, all_hits)
    return np.take_along_axis(table, (sums - low[:, None]).astype(np.intp), axis=1)


def literals_of(codes: Codes) -> tuple[Codes, Floats]:
    """Return the values of all columns, ``(column, code)``, and which cells have them, as 0 and 1."""
    pairs = [(j, v) for j in range(codes.shape[1]) for v in np.unique(codes[:, j]) if v >= 0]
    literals = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return literals, np.asarray(codes[:, literals[:, 0]] == literals[:, 1], dtype=np.float32)


def _walk(
    literals: Codes, has: Floats, sums: Floats, depth: int, fewest: float, strata: int
) -> Iterator[tuple[Codes, Floats]]:
    """Yield conjunctions with the sums over their cells, all that share their first values at once.

    Values that fewer than ``fewest`` rows have together are not looked into.
    """
    ends = np.searchsorted(literals[:, 0], literals[:, 0], side="right")
    stack: list[tuple[tuple[int, ...], Floats, Floats]] = [((), has, sums)]
    while stack:
        prefix, inside, values = stack.pop()
        first = int(ends[prefix[-1]]) if prefix else 0
        if first == len(literals) or not len(inside):
            continue
        total = inside[:, first:].T @ values
        enough = np.flatnonzero(total[:, :strata].sum(axis=1) >= fewest)
        conditions = np.full((enough.size, depth), -1, dtype=np.intp)
        conditions[:, : len(prefix)] = prefix
        conditions[:, len(prefix)] = first + enough
        yield conditions, total[enough]
        if len(prefix) + 1 < depth:
            for literal in (first + enough).tolist():
                at = inside[:, literal] > 0
                stack.append(((*prefix, literal), inside[at], values[at]))


def departures(
    codes: Codes,
    rows: Floats,
    hits: Floats,
    *,
    depth: int = 3,
    fewest: int = 30,
    permutations: int = 999,
    rng: np.random.Generator,
) -> Departures:
    """Search all conjunctions of up to ``depth`` values for those whose hits depart farthest.

    Parameters
    ----------
    codes : ndarray of shape (cells, columns)
        The values of each cell; one below 0 is no value to search.
    rows, hits : ndarray of shape (cells, strata)
        Whole numbers.
    depth : int
        The most values of a conjunction, each of another column.
    fewest : int
        A group needs so many rows, and so does everybody else.
    permutations : int
        How often hits are permuted within strata.
    rng : numpy.random.Generator

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> rows, hits = np.full((4, 1), 100.0), np.array([[20.0], [20.0], [20.0], [60.0]])
    >>> found = departures(codes, rows, hits, rng=np.random.default_rng(0))
    >>> farthest = np.abs(found.statistic).argmax()
    >>> found.literals[found.conditions[farthest, :2]].tolist()
    [[0, 1], [1, 1]]
    """
    check_least("depth", depth, 1)
    check_least("permutations", permutations, 0)
    literals, has = literals_of(codes)
    strata = rows.shape[1]
    everybody = rows.sum(axis=0), hits.sum(axis=0)
    most = everybody[0].sum() - fewest
    at_once = max(1, min(permutations, _HELD // max(len(codes), 1)))
    farthest = np.full((depth, permutations), -np.inf)
    groups: list[tuple[Codes, Floats, Floats]] = []
    for start in range(0, max(permutations, 1), at_once):
        some = slice(start, min(start + at_once, permutations))
        drawn = permuted_hits(rows, hits, some.stop - some.start, rng)
        observed = hits.sum(axis=1, keepdims=True)
        sums = np.hstack([c.astype(drawn.dtype) for c in (rows, observed)] + [drawn])
        walked = _walk(literals, has.astype(sums.dtype), sums, depth, fewest, strata)
        for conditions, total in _batches(walked, _JUDGED // sums.shape[1]):
            kept = total[:, :strata].sum(axis=1) <= most
            size = total[kept, :strata].astype(np.float64)
            roots = _standardised(total[kept, strata:], size, *everybody)
            values = (conditions[kept] >= 0).sum(axis=1)
            for k in np.unique(values):
                beyond = np.abs(roots[values == k, 1:]).max(axis=0)
                np.maximum(farthest[k - 1, some], beyond, out=farthest[k - 1, some])
            if not start:
                groups.append((conditions[kept], size.sum(axis=1), roots[:, 0]))
    if not groups:
        groups.append((np.empty((0, depth), dtype=np.intp), np.empty(0), np.empty(0)))
    conditions, size, statistic = (np.concatenate(part) for part in zip(*groups, strict=True))
    return Departures(conditions, literals, size, statistic, farthest)


def _batches(walked: Iterator[tuple[Codes, Floats]], groups: int) -> Iterator[tuple[Codes, Floats]]:
    """Put blocks together until they hold so many groups."""
    held: list[tuple[Codes, Floats]] = []
    size = 0
    for block in walked:
        held.append(block)
        size += len(block[0])
        if size >= groups:
            yield np.concatenate([c for c, _ in held]), np.concatenate([s for _, s in held])
            held, size = [], 0
    if held:
        yield np.concatenate([c for c, _ in held]), np.concatenate([s for _, s in held])


def members(conditions: Codes, literals: Codes, codes: Codes) -> NDArray[np.bool_]:
    """Return which cells belong to which conjunctions, ``[group, cell]``.

    Examples
    --------
    >>> import numpy as np
    >>> members(np.array([[0, 1]]), np.array([[0, 1], [1, 1]]), np.array([[1, 1], [1, 0]])).tolist()
    [[True, False]]
    """
    out = np.ones((len(conditions), len(codes)), dtype=bool)
    for column in conditions.T:
        asked = literals[column]
        out &= (column < 0)[:, None] | (asked[:, 1, None] == codes[:, asked[:, 0]].T)
    return out


def telling(
    found: Departures,
    codes: Codes,
    rows: Floats,
    hits: Floats,
    critical: float,
    *,
    most: int = 20,
) -> Codes:
    """Return the places of the groups to list, farthest first, without those that add nothing.

    A group is listed where its departure exceeds what is usual by ``critical`` both from everybody
    else and from people who are alike in all groups listed before it: a child must depart within its
    parent, a parent also without its child. Where two are as far, the one with fewer values and rows
    comes first.

    Parameters
    ----------
    found : Departures
    codes, rows, hits
        As :func:`departures` took them.
    critical : float
        The smallest excess of a group.
    most : int
        The most groups.
    """
    order = np.lexsort((found.rows, found.values, -np.round(found.excess, 6)))
    looked_at = max(most, min(_CANDIDATES, 5 * _HELD // max(len(codes), 1)))
    order = order[found.excess[order] >= critical][:looked_at]
    inside = members(found.conditions[order], found.literals, codes)
    listed: list[int] = []
    alike = np.zeros(len(codes), dtype=np.intp)
    usual, excess = found.usual[found.values[order] - 1], found.excess[order]
    while order.size and len(listed) < most:
        best = int(np.round(excess, 6).argmax())  # equal ones stay in order
        if excess[best] < critical:
            break
        listed.append(best)
        alike = np.unique(2 * alike + inside[best], return_inverse=True)[1]
        within = [
            np.stack([np.bincount(alike, column) for column in part.T], axis=1).astype(np.float64)
            for part in (rows, hits)
        ]
        cell, stratum = np.nonzero(rows)
        place = alike[cell] * rows.shape[1] + stratum
        strata = csr_array((rows[cell, stratum], (cell, place)), (len(codes), within[0].size))
        seen, of = inside @ hits.sum(axis=1, keepdims=True), inside @ strata
        roots = signed_roots(seen, of, within[0].ravel(), within[1].ravel())[:, 0]
        # it must depart the same way: what is left of a parent may turn, and is another story
        same = np.sign(roots) == np.sign(found.statistic[order])
        excess = np.where(same, np.abs(roots) - usual, -np.inf)
        excess[listed] = -np.inf
    return np.asarray(order[listed], dtype=np.intp)
