"""Has a contrast of two proportions moved? A test that is repeated with every period, for ever.

At each period the last 1, 2, 4, 8 ... periods are compared with all before them. Every look spends
a share of the level; the shares of all looks there can ever be add up to one, so the level holds
whenever and however long one looks (the union bound), and an alarm is never taken back.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtr, ndtri

from isonomy._arrays import Floats

FEWEST_ROWS = 30
"""Sides of a comparison that rest on fewer rows are not compared."""
FEWEST_EVENTS = 10
"""Where fewer rows than this show an outcome, the spread of rates between periods is not known."""
_HIGHEST = 12.0
_COEFFICIENTS = np.array([1.0, -1.0, -1.0, 1.0])


def spending(looks: ArrayLike) -> Floats:
    """Return the share of the level that the k-th look spends, k = 1, 2, ...: all add up to 1.

    The shares fall as 1 / (k log² k), about as slowly as shares without an end can.

    Examples
    --------
    >>> spending([1, 2, 11, 59]).round(4).tolist()
    [0.3691, 0.1309, 0.0087, 0.0007]
    """
    k = np.asarray(looks, dtype=np.float64)
    return np.asarray(1 / np.log2(k + 1) - 1 / np.log2(k + 2))


@dataclass(frozen=True, eq=False)
class Moves:
    """Every comparison of recent periods with all before: arrays ``[..., test]``.

    Attributes
    ----------
    start, end : arrays of int
        The recent periods of each test are ``start`` up to, and without, ``end``.
    before, after : arrays
        The contrast before and in the recent periods, the two standardised alike.
    change, low, high : arrays
        The move with its interval, which holds for all looks together; of logarithms for ratios.
    p_value : array
        p-value of each test over its share of the level: a test at ``level`` of all looks together
        is to compare it with ``level``. NaN where it exceeds that, or there are too few rows.
    """

    start: NDArray[np.intp]
    end: NDArray[np.intp]
    before: Floats
    after: Floats
    change: Floats
    low: Floats
    high: Floats
    p_value: Floats


def contrast_moves(
    shares: ArrayLike,
    rows: ArrayLike,
    *,
    ratio: bool = False,
    level: float = 0.05,
    together: int = 1,
) -> Moves:
    """Compare a contrast of two proportions in recent periods with what it was before.

    The contrast is a difference or a ratio. That it has not moved means that it is the same in
    every period; the proportions themselves may move together, and the numbers of rows as they
    like: periods are added up with the same weights on both sides (those of Mantel and Haenszel),
    which keeps a difference and a ratio that are the same everywhere. Limits of the four
    proportions are exact (Clopper and Pearson) and combined by MOVER, so rare outcomes keep the
    level.

    Parameters
    ----------
    shares, rows : array-like of shape (..., periods, 2)
        The proportions of both sides in each period, and the (effective) rows they rest on.
    ratio : bool
        Whether the contrast is the first proportion over the second, and not their difference.
    level : float
        The chance of a false alarm over all looks.
    together : int
        How many contrasts share the level.

    Returns
    -------
    Moves

    Examples
    --------
    >>> still = np.full((12, 2), 0.5)
    >>> moved = np.where(np.arange(12)[:, None] < 6, still, [0.3, 0.5])
    >>> found = contrast_moves(moved, np.full((12, 2), 400))
    >>> best = int(np.nanargmin(found.p_value))
    >>> int(found.start[best]), round(float(found.change[best]), 2)
    (6, -0.2)
    >>> bool(np.isnan(contrast_moves(still, np.full((12, 2), 400)).p_value).all())
    True

    References
    ----------
    Zou and Donner 2008, Construction of Confidence Limits about Effect Measures: A General
    Approach; Lan and DeMets 1983, Discrete Sequential Boundaries for Clinical Trials.
    """
    p, n = np.asarray(shares, dtype=np.float64), np.asarray(rows, dtype=np.float64)
    start, end, share = _tests(p.shape[-2])
    sides = [_standardised(p, n, a, b) for a, b in ((start, end), (np.zeros_like(start), start))]
    values = np.concatenate([sides[0][0], sides[1][0]], axis=-1)  # [..., test, 4]
    size = np.concatenate([sides[0][1], sides[1][1]], axis=-1)
    known = np.asarray((size >= FEWEST_ROWS).all(axis=-1))
    values, size = (np.where(known[..., None], x, np.nan) for x in (values, size))
    alone = np.broadcast_to(share / together, known.shape)  # of the level, for each test
    critical = -ndtri(level * alone / 2)
    points = np.log((values * size + 0.5) / (size + 1)) if ratio else values
    change = points @ _COEFFICIENTS
    down, up = (_margin(values, size, points, critical, ratio, way) for way in (1, -1))
    low: Floats = np.asarray(change - down)
    high: Floats = np.asarray(change + up)
    pvalue = np.full(known.shape, np.nan)
    out = np.asarray((low > 0) | (high < 0))
    if out.any():
        way = np.sign(change[out])
        tail = _tail(values[out], size[out], points[out], np.abs(change[out]), ratio, way)
        pvalue[out] = np.minimum(tail / alone[out], 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = [
            v[..., 0] / v[..., 1] if ratio else v[..., 0] - v[..., 1]
            for v in (values[..., 2:], values[..., :2])
        ]
    return Moves(start, end, gaps[0], gaps[1], change, low, high, pvalue)


def _tests(periods: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Return the recent periods of every test, and the share of the level that it spends."""
    start, end, share = [], [], []
    for look in range(1, periods):
        lengths = [2**k for k in range(look.bit_length()) if 2**k <= look]
        start += [look + 1 - length for length in lengths]
        end += [look + 1] * len(lengths)
        share += [float(spending(look)) / len(lengths)] * len(lengths)
    return np.array(start, dtype=np.intp), np.array(end, dtype=np.intp), np.array(share)


def _standardised(
    p: Floats, n: Floats, start: NDArray[np.intp], end: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Return both proportions over runs of periods, weighted alike, and the rows behind them."""
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where((n > 0).all(axis=-1), n.prod(axis=-1) / n.sum(axis=-1), 0.0)[..., None]
        q = np.nan_to_num(p)
        parts = np.where(weight > 0, weight**2 / n, 0.0)
        spread = parts * q * (1 - q) * np.where(n > 1, n / (n - 1), 1.0)

        def total(values: Floats) -> Floats:
            sums = np.cumsum(values, axis=-2)
            sums = np.concatenate([np.zeros_like(sums[..., :1, :]), sums], axis=-2)
            return np.asarray(sums[..., end, :] - sums[..., start, :])

        mass = total(weight * np.ones_like(n))
        share = np.clip(total(weight * q) / mass, 0.0, 1.0)
        kish = mass**2 / total(parts)
        hits = total(np.where(weight > 0, q * n, 0.0))
        misses = total(np.where(weight > 0, (1 - q) * n, 0.0))
        linear = share * (1 - share) * mass**2 / total(spread)
        enough = np.minimum(hits, misses) >= FEWEST_EVENTS
    return share, np.where(enough, np.fmin(kish, linear), kish)


def _margin(
    values: Floats, size: Floats, points: Floats, critical: Floats, ratio: bool, way: float | Floats
) -> Floats:
    """Return how far the contrast may be from what it seems, below (way 1) or above (way -1)."""
    tail = ndtr(-np.asarray(critical))[..., None]
    below = np.asarray(way)[..., None] * _COEFFICIENTS > 0
    hits, misses = values * size, (1 - values) * size
    hits = np.where(hits < 1e-9 * size, 0.0, hits)
    misses = np.where(misses < 1e-9 * size, 0.0, misses)
    # the upper limit of a share is one less the lower limit of its complement
    some, rest = np.where(below, hits, misses), np.where(below, misses, hits)
    with np.errstate(divide="ignore", invalid="ignore"):
        end = np.where(some > 0, betaincinv(np.where(some > 0, some, 1.0), rest + 1, tail), 0.0)
        limit = np.where(below, end, 1 - end)
        limit = np.where(np.isnan(size), np.nan, np.log(limit) if ratio else limit)
        margins = np.maximum(np.where(below, points - limit, limit - points), 0.0)
        return np.asarray(np.sqrt((margins**2).sum(axis=-1)))


def _tail(
    values: Floats, size: Floats, points: Floats, change: Floats, ratio: bool, way: Floats
) -> Floats:
    """Return the two-sided p-value: the level at which the interval meets no change."""
    low, high = np.zeros(change.shape), np.full(change.shape, _HIGHEST)
    for _ in range(40):
        middle = (low + high) / 2
        outside = _margin(values, size, points, middle, ratio, way) < change
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    return np.asarray(2 * ndtr(-low))
