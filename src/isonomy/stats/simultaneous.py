"""Limits that hold for many groups at once: all pairs of them, or all against one."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from isonomy._arrays import Floats
from isonomy._validate import check_share
from isonomy.stats.proportions import jeffreys_limits, mover_ratio

_NODES = np.linspace(-8.5, 8.5, 341)
_WEIGHTS = np.exp(-(_NODES**2) / 2) / np.sqrt(2 * np.pi) * (_NODES[1] - _NODES[0])
_GRID = np.linspace(0.0, 12.0, 961)
RESERVE = 1.25
"""Tails of groups apart are taken as larger by this: limits of proportions are approximations."""


def range_probability(critical: ArrayLike, groups: int) -> Floats:
    """Return how likely all pairs of ``groups`` normal means lie within ``critical`` errors.

    The errors are those of the differences, so for two groups this is the two-sided normal
    probability; it is the distribution of the studentised range with known variances (Tukey). For
    unequal errors it is a lower bound (Hayter 1984).

    Examples
    --------
    >>> range_probability(1.959964, 2).round(4).tolist()
    0.95
    """
    wide = np.asarray(critical, dtype=np.float64)[..., None] * np.sqrt(2.0)
    inside = np.maximum(ndtr(_NODES + wide) - ndtr(_NODES), 0.0)
    return np.asarray(np.minimum(groups * (inside ** (groups - 1) @ _WEIGHTS), 1.0))


@lru_cache(maxsize=256)
def _range_table(groups: int) -> Floats:
    return range_probability(_GRID, groups)


@lru_cache(maxsize=256)
def _sum_table(groups: int) -> Floats:
    """Tabulate how likely the root of the sum of squares of two independent ranges is small."""
    table = _range_table(groups)
    mass, middle = np.diff(table), (_GRID[1:] + _GRID[:-1]) / 2
    other = np.sqrt(np.maximum(_GRID[:, None] ** 2 - middle**2, 0.0))
    return np.asarray(np.interp(other, _GRID, table) @ mass)


def range_tail(
    critical: float, groups: int, *, families: int = 1, summed: bool = False, apart: float = 0.0
) -> float:
    """Return how likely some pair is ``critical`` errors farther apart than all groups truly are.

    With ``families``, in some of that many independent rates; ``summed``, in the sum of two. Groups
    that are truly equal can stray in every pair, and either way. Where the true range is ``apart``
    errors of a difference (or more), the world that misleads most has half of the groups at either
    end: the chance of no such pair is log-concave in the means, so least at a corner. Then only
    pairs across are on the edge, in one direction, no two of them against each other (Slepian's
    inequality); the others have ``apart`` errors to go and are added up. So it holds whatever the
    errors of the groups. It is never less than for one pair by itself, either way.

    References
    ----------
    Prekopa 1973, On Logarithmic Concave Measures and Functions; Slepian 1962, The One-Sided Barrier
    Problem for Gaussian Noise.
    """
    pairs = 1.0
    if apart > 0:
        across = (groups // 2) * (groups - groups // 2)

        def beyond(c: Floats) -> Floats:
            far = (groups * (groups - 1) - across) * ndtr(-c - apart)
            return np.asarray(np.minimum(1 - ndtr(c) ** across + far, 1.0))

        if summed and groups > 2:  # one rate has all of the gap, the groups are equal in the other
            table, middle = _range_table(groups), (_GRID[1:] + _GRID[:-1]) / 2
            left = np.sqrt(np.maximum(critical**2 - middle**2, 0.0))
            pairs = float(np.where(middle < critical, beyond(left), 1.0) @ np.diff(table))
        else:
            pairs = float(beyond(np.asarray(critical))) * (2 if summed else families)
    if summed and groups > 2:
        equal = 1 - float(np.interp(critical, _GRID, _sum_table(groups)))
    else:  # two gaps of either sign are two contrasts, independent or better
        equal = 1 - float(range_probability(critical, groups)) ** (2 if summed else families)
    return float(max(min(RESERVE * pairs, equal), 2 * ndtr(-critical)))


@lru_cache(maxsize=4096)
def range_critical(
    confidence: float,
    groups: int,
    *,
    families: int = 1,
    summed: bool = False,
    apart: float = 0.0,
) -> float:
    """Return the multiplier that holds for all pairs of groups at once.

    Parameters
    ----------
    confidence : float
        How often all pairs hold together.
    groups : int
        How many groups there are.
    families : int
        How many independent rates are compared, all of which must hold.
    summed : bool
        Whether gaps of two rates are added up; then it holds for every such sum.
    apart : float
        How far apart the groups truly are, in errors of a difference (in the largest of them, where
        errors differ). Then the multiplier is for a lower limit of that range alone, and smaller.

    Examples
    --------
    >>> round(range_critical(0.95, 2), 3), round(range_critical(0.95, 20), 3)
    (1.96, 3.544)
    >>> round(range_critical(0.95, 20, apart=2.0), 3)
    3.347
    """
    check_share("confidence", confidence)

    def above(critical: float) -> float:
        tail = range_tail(critical, groups, families=families, summed=summed, apart=apart)
        return tail - (1 - confidence)

    most = float(_GRID[-1])
    return most if above(most) >= 0 else float(brentq(above, 0.0, most, xtol=1e-12))


def errors_apart(gap: ArrayLike, rows: ArrayLike) -> Floats:
    """Return how many errors of a difference a gap between proportions is, at least.

    No error is larger than that of two proportions of one half over the fewest ``rows``. Rounded
    down to an eighth, so that few multipliers are ever computed: a little more caution.
    """
    errors = np.asarray(gap) * np.sqrt(2 * np.asarray(rows))
    return np.asarray(np.clip(np.floor(8 * errors) / 8, 0.0, 8.0))


def lowest_range(
    lowest: Callable[[float], float], rows: float, critical_at: Callable[[float], float]
) -> tuple[float, float]:
    """Return the lower limit of the range of many proportions, and the multiplier it rests on.

    A range is refuted where the limit at the multiplier for that very range lies above it; the
    limit is the smallest range that is not, approached from below.

    Parameters
    ----------
    lowest : callable
        The largest lower limit of a pair for a multiplier.
    rows : float
        The fewest rows of a proportion.
    critical_at : callable
        The multiplier where groups are some number of errors apart.
    """
    critical = critical_at(0.0)
    low = lowest(critical)
    while (closer := critical_at(float(errors_apart(low, rows)))) < critical:
        critical = closer
        low = lowest(critical)
    return low, critical


def many_to_one_probability(critical: float, rows: ArrayLike, reference: float) -> float:
    """Return how likely all groups lie within ``critical`` errors of one reference (Dunnett).

    Parameters
    ----------
    critical : float
        How many errors of each difference.
    rows : array-like
        Rows of each group.
    reference : float
        Rows of the reference, which all comparisons share.

    References
    ----------
    Dunnett 1955, A Multiple Comparison Procedure for Comparing Several Treatments with a Control.
    """
    return _within(critical, *_in_common(rows, reference))


def _in_common(rows: ArrayLike, reference: float) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Return what comparisons share with the reference, and how many share as much.

    Rounded down to a 128th: less in common asks for a little more caution.
    """
    n = np.asarray(rows, dtype=np.float64)
    share = np.divide(n, n + reference, out=np.zeros_like(n), where=n + reference > 0)
    shared = np.floor(np.sqrt(share) * 128) / 128
    values, times = np.unique(np.minimum(shared, 127 / 128), return_counts=True)
    return tuple(values.tolist()), tuple(times.tolist())


def _within(critical: float, common: tuple[float, ...], times: tuple[int, ...]) -> float:
    shared = np.array(common)[:, None]
    own = np.sqrt(1 - shared**2)
    inside = ndtr((critical + shared * _NODES) / own) - ndtr((-critical + shared * _NODES) / own)
    with np.errstate(divide="ignore"):
        together = np.exp(np.array(times) @ np.log(np.maximum(inside, 0.0)))
    return float(together @ _WEIGHTS)


def many_to_one_critical(
    confidence: float, rows: ArrayLike, reference: float, *, families: int = 1
) -> float:
    """Return the multiplier that holds for all comparisons with one reference at once.

    Examples
    --------
    >>> round(many_to_one_critical(0.95, [100], 100), 3)
    1.96
    >>> round(many_to_one_critical(0.95, [100] * 4, 100), 3)  # Dunnett's table: 2.44
    2.443
    """
    check_share("confidence", confidence)
    return _solve(confidence ** (1 / families), *_in_common(rows, reference))


@lru_cache(maxsize=256)
def _solve(goal: float, common: tuple[float, ...], times: tuple[int, ...]) -> float:
    """Find the multiplier between that of one comparison and that of independent ones."""
    low, high = -ndtri((1 - goal) / 2), -ndtri((1 - goal ** (1 / sum(times))) / 2)
    if high - low < 1e-9:
        return float(high)
    return float(brentq(lambda c: _within(c, common, times) - goal, low - 1e-3, high + 1e-3))


def _front(first: Floats, second: Floats) -> NDArray[np.intp]:
    """Find the points no other point beats in both, and those only these beat."""
    left = np.lexsort((-second, -first))
    layers = []
    for _ in range(2):
        best = np.maximum.accumulate(second[left])
        leads = np.r_[True, second[left][1:] > best[:-1]] if left.size else np.empty(0, bool)
        layers.append(left[leads])
        left = left[~leads]
    return np.concatenate(layers)


def _pairs(
    one: NDArray[np.intp], two: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    i, j = np.repeat(one, two.size), np.tile(two, one.size)
    return i[i != j], j[i != j]


def candidate_pairs(
    share: Floats, low: Floats, high: Floats, *, above: bool
) -> tuple[Floats, Floats]:
    """Return differences of pairs of groups and their margins below (or above).

    Only pairs that can have the most extreme limit are kept: one with a smaller difference and
    no better margin never has. So the work grows as the sort of the groups and not as the pairs.
    """
    down, up = share - low, high - share
    if above:
        i, j = _pairs(_front(share, up), _front(-share, down))
        return share[i] - share[j], np.sqrt(up[i] ** 2 + down[j] ** 2)
    i, j = _pairs(_front(share, -down), _front(-share, -up))
    return share[i] - share[j], np.sqrt(down[i] ** 2 + up[j] ** 2)


def largest_difference(
    share: ArrayLike,
    rows: ArrayLike,
    *,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """Return limits of the difference between the largest and the smallest of many proportions.

    The lower limit is the largest lower limit of a pair, each wide enough for all pairs at once:
    all those that can mislead where groups are as far apart as the limit says.
    The upper limit is the largest upper limit of a pair, each at its own level: the pair that is
    truly farthest apart is among them, and one limit need hold for it alone.

    Examples
    --------
    >>> low, high = largest_difference([0.5, 0.52, 0.3], [400, 500, 300])
    >>> round(low, 3), round(high, 3)
    (0.148, 0.286)

    References
    ----------
    Tukey 1953, The Problem of Multiple Comparisons; Hsu 1996, Multiple Comparisons.
    """
    p, n = np.asarray(share, dtype=np.float64), np.asarray(rows, dtype=np.float64)

    def lowest(critical: float) -> float:
        gap, margin = candidate_pairs(p, *jeffreys_limits(p, n, critical), above=False)
        return float(np.max(gap - margin, initial=0.0))

    low, _ = lowest_range(lowest, n.min(), lambda a: range_critical(confidence, p.size, apart=a))
    plain = range_critical(confidence, 2)
    gap, margin = candidate_pairs(p, *jeffreys_limits(p, n, plain), above=True)
    return low, float(np.max(gap + margin))


def smallest_ratio(
    share: ArrayLike, rows: ArrayLike, lower: float, upper: float
) -> tuple[float, float]:
    """Return limits of the smallest proportion over the largest, for multipliers of the limits.

    ``lower`` is for one pair, ``upper`` for all pairs at once: as in :func:`largest_difference`,
    turned round, because here a small value is a large gap.

    Examples
    --------
    >>> low, high = smallest_ratio([0.5, 0.52, 0.3], [400, 500, 300], 1.96, 2.34)
    >>> round(low, 3), round(high, 3)
    (0.473, 0.72)
    """
    p, n = np.asarray(share, dtype=np.float64), np.asarray(rows, dtype=np.float64)
    ends = []
    for critical, sign in ((lower, -1.0), (upper, 1.0)):
        i, j = _pairs(_front(-p, sign * n), _front(p, sign * n))
        low, high = jeffreys_limits(p, n, critical)
        ends.append(mover_ratio(p[i], low[i], high[i], p[j], low[j], high[j]))
    return float(ends[0][0].min()), float(min(ends[1][1].min(), 1.0))


def ratio_to_best(
    share: ArrayLike, rows: ArrayLike, lower: float, upper: float
) -> tuple[Floats, Floats]:
    """Return limits of every proportion over the largest of all, for multipliers of the limits.

    Which of them is truly the largest is not known: the one that looks so was chosen by the same
    data, so it is likely to look larger than it is. The ratio to the largest is the smallest of the
    ratios to each. Its lower limit is the smallest of theirs, and holds where that against one of
    them does, whichever it is: ``lower`` is for all against one. Its upper limit is the smallest of
    theirs, too, which holds where all do: ``upper`` is for all pairs.

    Examples
    --------
    >>> low, high = ratio_to_best([0.5, 0.52, 0.3], [400, 500, 300], 2.21, 2.34)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.83, 0.9, 0.461], [1.0, 1.0, 0.72])
    """
    p, n = np.asarray(share, dtype=np.float64), np.asarray(rows, dtype=np.float64)
    ends = []
    for critical, sign in ((lower, -1.0), (upper, 1.0)):
        j = _front(p, sign * n)  # no other can have the smallest limit
        low, high = jeffreys_limits(p, n, critical)
        i = np.arange(p.size)[:, None]
        pairs = mover_ratio(p[i], low[i], high[i], p[j], low[j], high[j])
        ends.append([np.where(i == j, np.inf, end).min(axis=1) for end in pairs])
    return np.minimum(ends[0][0], 1.0), np.minimum(ends[1][1], 1.0)
