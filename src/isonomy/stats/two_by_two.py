"""Two proportions side by side: score and log intervals, exact tests, and differences in hits.

Every function takes the ``hits`` among the ``rows`` of one group and of another, and broadcasts:
thousands of tables are one call. Intervals and deviations take fractions too, such as effective
numbers of weighted rows; the exact test counts whole ones. An empty group leaves a table undefined.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import elementwise
from scipy.special import gammaln

from isonomy._arrays import Floats, divide
from isonomy._validate import check_choice, check_share
from isonomy.errors import InputError
from isonomy.stats._samples import floats
from isonomy.stats.proportions import critical_value

_FARTHEST = 60.0
"""Ratios are looked for within exp(±60)."""
_ALIKE = 1e-7
"""Tables whose probabilities differ by less than this share are equally likely."""
_CELLS = 1 << 21
"""Probabilities held at once."""


class Survives(NamedTuple):
    """Which of two flags still hold: a ratio that is too small, and a significant difference."""

    ratio: NDArray[np.bool_]
    significance: NDArray[np.bool_]


Shares = Callable[[Floats, Floats, Floats, Floats, Floats], tuple[Floats, Floats]]


def two_by_two(
    hits: ArrayLike, rows: ArrayLike, other_hits: ArrayLike, other_rows: ArrayLike
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the four numbers as arrays of one shape, NaN where a group is empty."""
    x, n, y, m = np.broadcast_arrays(
        *(floats(v, name="Hits and rows") for v in (hits, rows, other_hits, other_rows))
    )
    if any((h < 0).any() or (h > size * (1 + 1e-9)).any() for h, size in ((x, n), (y, m))):
        raise InputError("Hits must lie between 0 and the rows they are among; some do not.")
    known = (n > 0) & (m > 0) & ~np.isnan(x + y)
    # hits of effective numbers may exceed them by a rounding error
    x, y = np.minimum(x, n), np.minimum(y, m)
    return (
        np.where(known, x, np.nan),
        np.where(known, n, np.nan),
        np.where(known, y, np.nan),
        np.where(known, m, np.nan),
    )


# ---------------------------------------------------------------------- intervals


def _shares_of_ratio(
    value: Floats, x: Floats, n: Floats, y: Floats, m: Floats
) -> tuple[Floats, Floats]:
    """Return the most likely proportions whose ratio is ``value``."""
    b = n * value + x + m + y * value
    inside = np.maximum(b**2 - 4 * (n + m) * value * (x + y), 0.0)
    q = divide(2 * (x + y), b + np.sqrt(inside))
    return np.minimum(value * q, 1.0), np.minimum(q, 1.0)


def _shares_of_odds(
    value: Floats, x: Floats, n: Floats, y: Floats, m: Floats
) -> tuple[Floats, Floats]:
    """Return the most likely proportions whose odds ratio is ``value``."""
    b = n * value + m - (x + y) * (value - 1)
    root = np.sqrt(np.maximum(b**2 + 4 * m * (value - 1) * (x + y), 0.0))
    # of two ways to write the same root, the one that does not cancel
    q = np.where(b > 0, divide(2 * (x + y), b + root), divide(root - b, 2 * m * (value - 1)))
    q = np.clip(q, 0.0, 1.0)
    # the hits that are expected are those that were seen
    return np.clip((x + y - m * q) / n, 0.0, 1.0), q


def _score_limits(
    tables: tuple[Floats, Floats, Floats, Floats],
    estimate: Floats,
    critical: ArrayLike,
    shares: Shares,
    *,
    of_odds: bool,
) -> tuple[Floats, Floats]:
    """Invert a score test: find the values of a measure at which its statistic is ±critical.

    The statistic falls as the value grows, so that each limit is one root, on the log scale.
    """

    def away(
        log: Floats, x: Floats, n: Floats, y: Floats, m: Floats, goal: Floats
    ) -> NDArray[np.float64]:
        value = np.exp(log)
        p, q = shares(value, x, n, y, m)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if of_odds:
                z = (x - n * p) * np.sqrt(1 / (n * p * (1 - p)) + 1 / (m * q * (1 - q)))
            else:
                z = (x / n - value * y / m) / np.sqrt(p * (1 - p) / n + value**2 * q * (1 - q) / m)
        return np.asarray(np.nan_to_num(z, nan=0.0, posinf=1e12, neginf=-1e12) - goal)

    x, n, y, m = (np.atleast_1d(t) for t in tables)
    c = np.broadcast_to(np.asarray(critical, dtype=np.float64), x.shape)
    none_above, none_below = (x == 0), (y == 0)
    if of_odds:
        none_above, none_below = none_above | (y == m), none_below | (x == n)
    low, high = np.zeros(x.shape), np.full(x.shape, np.inf)
    for limit, open_end, goal in ((low, none_above, c), (high, none_below, -c)):
        at = ~open_end & ~np.isnan(x)
        if at.any():
            ends = np.full(int(at.sum()), _FARTHEST)
            found = elementwise.find_root(
                away, (-ends, ends), args=(x[at], n[at], y[at], m[at], goal[at])
            )
            limit[at] = np.exp(found.x)
    known = ~np.isnan(x)
    low, high = np.where(known, low, np.nan), np.where(known, high, np.nan)
    # rounding must not put the estimate outside
    low, high = np.fmin(low, np.atleast_1d(estimate)), np.fmax(high, np.atleast_1d(estimate))
    return low.reshape(estimate.shape)[()], high.reshape(estimate.shape)[()]


def koopman_limits(
    hits: ArrayLike,
    rows: ArrayLike,
    other_hits: ArrayLike,
    other_rows: ArrayLike,
    critical: ArrayLike,
) -> tuple[Floats, Floats]:
    """Return the score limits of a ratio of proportions for a normal multiplier ``critical``."""
    tables = two_by_two(hits, rows, other_hits, other_rows)
    x, n, y, m = tables
    estimate = divide(x * m, y * n)
    return _score_limits(tables, estimate, critical, _shares_of_ratio, of_odds=False)


def koopman_interval(
    hits: ArrayLike,
    rows: ArrayLike,
    other_hits: ArrayLike,
    other_rows: ArrayLike,
    *,
    confidence: float = 0.95,
) -> tuple[Floats, Floats]:
    """Return Koopman's score interval of a ratio of two proportions, for arrays of them.

    Zeros are allowed: without hits the interval begins at 0, without others it ends at infinity.

    Parameters
    ----------
    hits, rows : array-like
        How many hits there are, and among how many.
    other_hits, other_rows : array-like
        The same of the group to compare with.
    confidence : float
        How often such intervals hold the truth.

    Examples
    --------
    >>> low, high = koopman_interval([36, 0], [40, 40], [16, 16], [80, 80])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([2.94, 0.0], [7.152, 0.445])

    References
    ----------
    Koopman 1984, Confidence Intervals for the Ratio of Two Binomial Proportions.
    """
    critical = critical_value(confidence)
    return koopman_limits(hits, rows, other_hits, other_rows, critical)


def katz_interval(
    hits: ArrayLike,
    rows: ArrayLike,
    other_hits: ArrayLike,
    other_rows: ArrayLike,
    *,
    confidence: float = 0.95,
) -> tuple[Floats, Floats]:
    """Return the interval of a ratio of two proportions from its logarithm, for arrays of them.

    What SciPy's ``relative_risk`` has, cell by cell; an end is undefined (NaN) where a group has no
    hits, and too near where it has few: see :func:`koopman_interval`.

    Examples
    --------
    >>> low, high = katz_interval(36, 40, 16, 80)
    >>> round(float(low), 3), round(float(high), 3)
    (2.869, 7.059)

    References
    ----------
    Katz et al. 1978, Obtaining Confidence Intervals for the Risk Ratio in Cohort Studies.
    """
    x, n, y, m = two_by_two(hits, rows, other_hits, other_rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = x * m / (y * n)
        error = np.sqrt((1 - x / n) / x + (1 - y / m) / y)
        away = np.exp(critical_value(confidence) * error)
        return np.asarray(ratio / away)[()], np.asarray(ratio * away)[()]


def odds_ratio(
    hits: ArrayLike,
    rows: ArrayLike,
    other_hits: ArrayLike,
    other_rows: ArrayLike,
    *,
    confidence: float = 0.95,
) -> tuple[Floats, Floats, Floats]:
    """Return the odds ratio of two proportions with its score interval, for arrays of them.

    Examples
    --------
    >>> value, low, high = odds_ratio(20, 100, 40, 100)
    >>> round(float(value), 3), round(float(low), 3), round(float(high), 3)
    (0.375, 0.2, 0.703)

    References
    ----------
    Miettinen and Nurminen 1985, Comparative Analysis of Two Rates (without their factor N / (N - 1)).
    """
    tables = two_by_two(hits, rows, other_hits, other_rows)
    x, n, y, m = tables
    value = divide(x * (m - y), y * (n - x))
    limits = _score_limits(tables, value, critical_value(confidence), _shares_of_odds, of_odds=True)
    return value[()], *limits


# ---------------------------------------------------------------------- tests


def fisher_exact(
    hits: ArrayLike,
    rows: ArrayLike,
    other_hits: ArrayLike,
    other_rows: ArrayLike,
    *,
    mid: bool = False,
) -> Floats:
    """Return the two-sided p-value of Fisher's exact test, for arrays of tables.

    The probability of all tables with the same margins that are no more likely than the one seen:
    SciPy's ``fisher_exact``, cell by cell.

    Parameters
    ----------
    hits, rows, other_hits, other_rows : array-like of whole numbers
        As in :func:`koopman_interval`.
    mid : bool
        Whether tables as likely as the one seen count by half (mid-p), which takes back most of
        the caution that so few possible tables bring.

    Examples
    --------
    >>> float(fisher_exact(3, 4, 1, 4).round(4)), float(fisher_exact(3, 4, 1, 4, mid=True).round(4))
    (0.4857, 0.2571)

    References
    ----------
    Fisher 1935, The Logic of Inductive Inference; Lancaster 1961, Significance Tests in Discrete
    Distributions; Hirji 2006, Exact Analysis of Discrete Data (mid-p of two sides).
    """
    x, n, y, m = two_by_two(hits, rows, other_hits, other_rows)
    for v in (x, n, y, m):
        if (v[~np.isnan(v)] % 1 > 0).any():
            raise InputError("An exact test must be given whole numbers; some are not.")
    out = np.full(x.shape, np.nan)
    known = np.flatnonzero(~np.isnan(x).ravel())
    x, n, y, m = (v.ravel()[known] for v in (x, n, y, m))
    drawn, size = x + y, n + m
    first, last = np.maximum(0.0, drawn - m), np.minimum(n, drawn)
    # far from what is likely there is nothing to add up: forty standard deviations
    spread = np.sqrt(n * m * drawn * (size - drawn) / np.maximum(size**2 * (size - 1), 1.0))
    mean = n * drawn / size
    reach = np.ceil(40 * spread + 2 * np.abs(x - mean) + 50)
    first, last = np.maximum(first, np.floor(mean - reach)), np.minimum(last, np.ceil(mean + reach))
    lengths = (last - first + 1).astype(np.intp)
    found = np.empty(known.size)
    begin = 0
    while begin < known.size:
        held = int(np.searchsorted(np.cumsum(lengths[begin:]), _CELLS, side="right"))
        part = slice(begin, begin + max(held, 1))
        found[part] = _no_more_likely(
            x[part], n[part], drawn[part], m[part], first[part], lengths[part], mid
        )
        begin = part.stop
    out.ravel()[known] = np.minimum(found, 1.0)
    return out[()]


def _no_more_likely(
    x: Floats,
    n: Floats,
    drawn: Floats,
    m: Floats,
    first: Floats,
    lengths: NDArray[np.intp],
    mid: bool,
) -> Floats:
    """Add up the tables that are no more likely than the ones seen."""

    def log_chance(k: Floats, n: Floats, drawn: Floats, m: Floats) -> Floats:
        rest = drawn - k
        return np.asarray(
            -(gammaln(k + 1) + gammaln(n - k + 1) + gammaln(rest + 1) + gammaln(m - rest + 1))
        )

    starts = np.cumsum(lengths) - lengths
    k = np.arange(lengths.sum()) - np.repeat(starts - first, lengths)
    logs = log_chance(k, *(np.repeat(v, lengths) for v in (n, drawn, m)))
    most = np.maximum.reduceat(logs, starts)
    seen = np.repeat(log_chance(x, n, drawn, m), lengths)
    chance = np.exp(logs - np.repeat(most, lengths))
    counted = np.where(logs <= seen + _ALIKE, chance, 0.0)
    if mid:
        counted = np.where(np.abs(logs - seen) <= _ALIKE, counted / 2, counted)
    return np.asarray(np.add.reduceat(counted, starts) / np.add.reduceat(chance, starts))


def deviations(
    hits: ArrayLike,
    rows: ArrayLike,
    other_hits: ArrayLike,
    other_rows: ArrayLike,
    *,
    variance: Literal["hypergeometric", "pooled"] = "hypergeometric",
) -> Floats:
    """Return by how many standard deviations a group's hits differ from what both groups would expect.

    Parameters
    ----------
    hits, rows, other_hits, other_rows : array-like
        As in :func:`koopman_interval`.
    variance : {"hypergeometric", "pooled"}
        Of a draw without replacement, or of a difference of two proportions with a common share;
        the first is the smaller Z by the root of ``(N - 1) / N``.

    Examples
    --------
    >>> z = deviations(20, 100, 40, 100)
    >>> round(float(z), 3), round(float(deviations(20, 100, 40, 100, variance="pooled")), 3)
    (-3.078, -3.086)
    """
    check_choice("variance", variance, ("hypergeometric", "pooled"))
    x, n, y, m = two_by_two(hits, rows, other_hits, other_rows)
    drawn, size = x + y, n + m
    last = size - 1 if variance == "hypergeometric" else size
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(n * m * drawn * (size - drawn) / (size**2 * last))
        return np.asarray(np.where(error > 0, (x - n * drawn / size) / error, np.nan))[()]


# ---------------------------------------------------------------------- in hits


def shortfall(
    hits: ArrayLike,
    rows: ArrayLike,
    other_hits: ArrayLike,
    other_rows: ArrayLike,
    *,
    to: Literal["combined", "other"] = "combined",
) -> Floats:
    """Return how many hits a group has too few for the proportion of both groups, or of the other.

    Examples
    --------
    >>> float(shortfall(20, 100, 40, 100)), float(shortfall(20, 100, 40, 100, to="other"))
    (10.0, 20.0)
    """
    check_choice("proportion to compare with", to, ("combined", "other"))
    x, n, y, m = two_by_two(hits, rows, other_hits, other_rows)
    share = divide(x + y, n + m) if to == "combined" else divide(y, m)
    return np.asarray(n * share - x)[()]


def more_to_reach(
    hits: ArrayLike,
    rows: ArrayLike,
    other_hits: ArrayLike,
    other_rows: ArrayLike,
    *,
    ratio: float = 0.8,
) -> Floats:
    """Return the fewest further hits of a group at which the ratio of proportions is ``ratio``.

    0 where it is so already, NaN where no number of hits among its rows is enough.

    Examples
    --------
    >>> more_to_reach([30, 40, 3], [100, 100, 4], [40, 50, 10], [100, 100, 10], ratio=0.8).tolist()
    [2.0, 0.0, 1.0]
    """
    x, n, y, m = two_by_two(hits, rows, other_hits, other_rows)
    wanted = np.ceil(ratio * y * n / m - 1e-9)
    return np.asarray(np.where(wanted > n, np.nan, np.maximum(wanted - x, 0.0)))[()]


def survives_more(
    hits: ArrayLike,
    rows: ArrayLike,
    other_hits: ArrayLike,
    other_rows: ArrayLike,
    *,
    more: int = 2,
    ratio: float = 0.8,
    level: float = 0.05,
) -> Survives:
    """Return which flags still hold when ``more`` others of a group were hits.

    A flag is a ratio of proportions below ``ratio``, or a mid-p value of Fisher's test below
    ``level`` on that side. With the usual two, what does not survive is taken to be of no practical
    significance, whatever its p-value. A flag that does not hold as it is does not survive.

    Returns
    -------
    Survives
        ``ratio`` and ``significance``, each a boolean array.

    Examples
    --------
    >>> flags = survives_more([5, 30], [20, 100], [20, 200], [60, 400])
    >>> flags.ratio.tolist(), flags.significance.tolist()
    ([False, True], [False, True])
    """
    check_share("level", level)
    x, n, y, m = two_by_two(hits, rows, other_hits, other_rows)
    short = more_to_reach(x, n, y, m, ratio=ratio)
    then = np.minimum(x + more, n)
    with np.errstate(invalid="ignore"):
        below = then * m < y * n
        apart = fisher_exact(x, n, y, m, mid=True) < level
        still = below & apart & (fisher_exact(then, n, y, m, mid=True) < level)
        known = ~np.isnan(x)
        return Survives(np.asarray(known & ~(short <= more))[()], np.asarray(known & still)[()])
