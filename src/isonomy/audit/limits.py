"""Limits of gaps between groups: one pair, every group against one, or the farthest two of many.

Every gap of the audit is a difference or a ratio of independent proportions, or the largest of
several such. Limits of the proportions give those of the differences and ratios (MOVER); what is
the largest of several has an inner limit that is wide enough for all of them at once, and an outer
limit at the level of one: whichever of them is truly the largest, its own limit is among those.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from isonomy._arrays import Floats
from isonomy.metrics import RATES, Counts
from isonomy.metrics.metric import GapParts
from isonomy.stats.proportions import jeffreys_limits, mover_difference, mover_ratio
from isonomy.stats.simultaneous import (
    candidate_pairs,
    errors_apart,
    lowest_range,
    many_to_one_critical,
    range_critical,
    range_tail,
    smallest_ratio,
)

ODDS = ("false_negatives_per_false_positive",)
HIGHEST = 12.0
"""No multiplier is larger: the tail beyond it is no number a float can tell from zero."""


class Facts(NamedTuple):
    """What a verdict rests on."""

    rows: float
    """The fewest independent rows behind a rate."""
    events: float
    others: float
    """Events and non-events of the rate that has fewest, compared groups together."""
    near_edge: bool
    """Whether no rate is far enough from 0 (or from 1) for a difference to be too wide."""


@dataclass(frozen=True)
class Evidence:
    """Shares and the independent rows they rest on, ``[rate, group]``."""

    parts: GapParts
    shares: Floats
    rows: Floats

    def of(self, groups: Any) -> "Evidence":
        """Keep some groups."""
        return Evidence(self.parts, self.shares[:, groups], self.rows[:, groups])

    def times(self, many: Floats) -> "Evidence":
        """Return what the same shares of ``many`` times the rows of each group would be."""
        rows = self.rows * many
        return Evidence(self.parts, np.broadcast_to(self.shares, rows.shape), rows)

    @property
    def fewest(self) -> Floats:
        """The smallest number of rows a rate of each group rests on."""
        return np.asarray(self.rows.min(axis=0))

    def facts(self, accept: tuple[float, float] | None) -> "Facts":
        """Return what a verdict on all these groups together rests on."""
        hits = np.nan_to_num(self.shares * self.rows).sum(axis=1)
        misses = self.rows.sum(axis=1) - hits
        near = False
        if accept is not None:
            widest = min(abs(accept[0]), abs(accept[1]))
            near = bool(
                np.all(
                    (np.fmax.reduce(self.shares, axis=1) < widest)
                    | (np.fmin.reduce(self.shares, axis=1) > 1 - widest)
                )
            )
        return Facts(float(self.fewest.min()), float(hits.min()), float(misses.min()), near)

    def facts_against(self, other: "Evidence", accept: tuple[float, float] | None) -> "list[Facts]":
        """Return what a verdict on each of these groups against another rests on."""
        rows = np.minimum(self.fewest, other.rows.min())
        hits = np.nan_to_num(self.shares * self.rows) + np.nan_to_num(other.shares * other.rows)
        misses = self.rows + other.rows - hits
        near = np.zeros(rows.size, dtype=bool)
        if accept is not None:
            widest = min(abs(accept[0]), abs(accept[1]))
            low, high = np.fmin(self.shares, other.shares), np.fmax(self.shares, other.shares)
            near = np.asarray(((high < widest) | (low > 1 - widest)).all(axis=0))
        columns = (rows, hits.min(axis=0), misses.min(axis=0), near)
        return [Facts(*row) for row in zip(*(c.tolist() for c in columns), strict=True)]

    def limits(self, critical: Any) -> tuple[Floats, Floats, Floats]:
        """Return the rates with their limits."""
        low, high = jeffreys_limits(self.shares, self.rows, critical)
        if self.parts.rates != ODDS:
            return self.shares, low, high
        with np.errstate(divide="ignore"):  # the share of one among both, turned into its odds
            odds = [np.asarray(x / (1 - x)) for x in (self.shares, low, high)]
        return odds[0], odds[1], odds[2]


@dataclass(frozen=True)
class Limits:
    """The interval of a gap, or of several, and the p-value against its accepted range."""

    low: Floats
    high: Floats
    pvalue: Floats


def evidence_of(parts: GapParts, counts: Counts) -> Evidence:
    """Look up what a gap's rates rest on in each group."""
    pairs = [RATES[name].evidence(counts) for name in parts.rates]
    return Evidence(parts, np.array([p for p, _ in pairs]), np.array([n for _, n in pairs]))


def _rows_apart(parts: GapParts, rows: Any) -> Any:
    """Return the rows by which a gap is counted in errors; 0 where that cannot be done.

    Errors of ratios and odds have no bound; of a mean of gaps one rate may have all.
    """
    if parts.ratio or parts.rates == ODDS:
        return 0.0 * rows
    return rows * (1 if parts.combine == "largest" else len(parts.rates)) ** 2


def _one_sided(parts: GapParts) -> bool:
    """Return whether a gap is the largest of several contrasts, even between two groups."""
    return parts.combine in {"mean_absolute", "largest", "farthest"}


# ---------------------------------------------------------------------- two groups


def _between(one: Evidence, other: Evidence, inner: Any, outer: Any) -> tuple[Floats, Floats]:
    """Return the interval of each group of ``one`` against that of ``other``, or its only one."""
    if one.parts.ratio:
        return _ratio_between(one, other, inner, outer)
    near = _side_by_side(one, other, inner)
    scale = 1.0 if one.parts.combine == "largest" else 1 / len(one.parts.rates)
    if not _one_sided(one.parts):
        return _contrast(near, np.full(len(one.parts.rates), scale))
    far = near if outer is inner else _side_by_side(one, other, outer)
    signs = [np.array(s) for s in product((scale, -scale), repeat=len(one.parts.rates))]
    if one.parts.combine == "largest":
        signs = list(np.vstack([np.eye(len(signs[0])), -np.eye(len(signs[0]))]))
    low = np.max([_contrast(near, s)[0] for s in signs], axis=0)
    high = np.max([_contrast(far, s)[1] for s in signs], axis=0)
    return np.maximum(low, 0.0), high


def _side_by_side(one: Evidence, other: Evidence, critical: Any) -> list[Floats]:
    """Return estimates, lower and upper limits: the rates of one group, then those of the other."""
    return [
        np.concatenate(np.broadcast_arrays(a, b), axis=0).T
        for a, b in zip(one.limits(critical), other.limits(critical), strict=True)
    ]


def _contrast(limits: list[Floats], signs: Floats) -> tuple[Floats, Floats]:
    """Return limits of a signed sum of differences; a mean where there are several."""
    estimates, low, high = limits
    return mover_difference(estimates, low, high, np.r_[signs, -signs])


def _ratio_between(one: Evidence, other: Evidence, inner: Any, outer: Any) -> tuple[Floats, Floats]:
    near = mover_ratio(*one.limits(inner), *other.limits(inner))
    if one.parts.combine != "farthest":
        low, high = near[0][0], near[1][0]
        return (np.log(low), np.log(high)) if one.parts.combine == "log" else (low, high)
    far = mover_ratio(*one.limits(outer), *other.limits(outer))
    with np.errstate(divide="ignore"):
        low = np.minimum(far[0], 1 / far[1]).min(axis=0)
        turned = np.where(near[1] < 1, near[1], np.where(near[0] > 1, 1 / near[0], 1.0))
    return low, turned.min(axis=0)


def pair_limits(
    one: Evidence, other: Evidence, accept: tuple[float, float] | None, confidence: float
) -> Limits:
    """Return the interval of one group (or several, each by itself) against another."""
    inner = range_critical(confidence, 2, families=_families(one.parts))
    return _judged(one, other, inner, range_critical(confidence, 2), 1, accept, confidence)


def each_limits(
    one: Evidence,
    other: Evidence,
    accept: tuple[float, float] | None,
    confidence: float,
    compared: NDArray[np.bool_],
) -> Limits:
    """Return intervals of groups against one that hold for all ``compared`` together (Dunnett).

    The p-values are those of each comparison by itself.
    """
    inner, outer, together = _criticals(one.parts, one.fewest[compared], other, confidence)
    return _judged(one, other, inner, outer, together, accept, confidence)


def carried_limits(
    one: Evidence, other: Evidence, times: Floats, sizes: Floats, confidence: float
) -> Limits:
    """Return the intervals of groups against one if each had ``times`` the rows, the other too.

    They hold for groups of all ``sizes`` together, relative to each other as they are now.
    """
    inner, outer, together = _criticals(one.parts, sizes, other, confidence)
    return _judged(one.times(times), other.times(times), inner, outer, together, None, confidence)


def _criticals(
    parts: GapParts, rows: Floats, other: Evidence, confidence: float
) -> tuple[float, float, int]:
    """Return the inner and outer multiplier for groups against one, and how many groups they are."""
    reference = float(other.rows.max())
    if not rows.size:
        rows = np.array([reference])
    inner, outer = (
        many_to_one_critical(confidence, rows, reference, families=f) for f in (_families(parts), 1)
    )
    return inner, outer, rows.size


def _families(parts: GapParts) -> int:
    return len(parts.rates) if _one_sided(parts) else 1


def _judged(
    one: Evidence,
    other: Evidence,
    inner: float,
    outer: float,
    together: int,
    accept: tuple[float, float] | None,
    confidence: float,
) -> Limits:
    families = _families(one.parts)
    rows = np.zeros(one.fewest.shape)
    if families > 1:
        rows = _rows_apart(one.parts, np.minimum(one.fewest, other.fewest))

    def critical_at(gap: Any, level: float) -> Floats:
        apart, which = np.unique(errors_apart(np.nan_to_num(gap), rows), return_inverse=True)
        found = [range_critical(level, 2, families=families, apart=a) for a in apart.tolist()]
        return np.array(found)[which]

    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = _between(one, other, inner, outer)
        if rows.any():  # as in lowest_range, an equal share of the level for each group
            level, critical = 1 - (1 - confidence) / together, np.full(rows.shape, inner)
            while np.any((closer := critical_at(low, level)) < critical):
                critical = np.minimum(critical, closer)
                low, _ = _between(one, other, critical, outer)
    pvalue = np.full(low.shape, np.nan)
    if accept is None:
        return Limits(low, high, pvalue)

    def outside(critical: Any, groups: Any) -> NDArray[np.bool_]:
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = _between(one.of(groups), other, critical, critical)
        return np.asarray((ends[0] > accept[1]) | (ends[1] < accept[0]))

    alone = critical_at(accept[1], confidence)
    which = np.flatnonzero(outside(alone, slice(None)))
    if which.size:  # by how much: the multiplier at which the interval meets the range
        beyond = outside(np.full(which.size, HIGHEST), which)
        pvalue[which[beyond]], which = 0.0, which[~beyond]
    if which.size:
        ends = alone[which], np.full(which.size, HIGHEST)
        for _ in range(30):
            middle = (ends[0] + ends[1]) / 2
            out = outside(middle, which)
            ends = np.where(out, middle, ends[0]), np.where(out, ends[1], middle)
        apart = errors_apart(accept[1], rows)[which]
        pvalue[which] = [
            range_tail(c, 2, families=families, apart=a)
            for c, a in zip(ends[0].tolist(), apart.tolist(), strict=True)
        ]
    return Limits(low, high, np.maximum(pvalue, 1e-12))


def limits_at(one: Evidence, other: Evidence, critical: float) -> tuple[Floats, Floats]:
    """Return the interval of each group of ``one`` against another, so many errors wide."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return _between(one, other, critical, critical)


# ---------------------------------------------------------------------- the farthest two of many


def _ratio_ends(result: Evidence, outer: float, inner: float) -> tuple[float, float]:
    """Return the limits of the smallest ratio among all pairs of groups."""
    ends = [
        smallest_ratio(p[n > 0], n[n > 0], outer, inner)
        for p, n in zip(result.shares, result.rows, strict=True)
    ]
    low, high = min(e[0] for e in ends), min(e[1] for e in ends)
    if result.parts.combine != "log":
        return low, high
    with np.errstate(divide="ignore"):
        return float(np.log(low)), float(np.log(high))


def _lowest(result: Evidence, critical: float) -> float:
    """Return the lower limit of the largest difference among all pairs of groups."""
    near = _extreme_pairs(result, critical, above=False)
    bottoms = [float(np.max(gap - margin, initial=0.0)) for gap, margin in near]
    if result.parts.combine in {"only", "largest"}:
        return max(bottoms)
    # a mean of two ranges: margins add as roots of squares, and one range alone bounds it too
    (gap, margin), (other, other_margin) = (_leading(g, -m) for g, m in near)
    both = gap[:, None] + other - np.sqrt(margin[:, None] ** 2 + other_margin**2)
    if result.shares.shape[1] == 2:  # whose multiplier holds for sums alone
        bottoms = [0.0]
    return max(float(both.max()), *bottoms) / len(near)


def _highest(result: Evidence, critical: float) -> float:
    """Return the upper limit of the largest difference among all pairs of groups."""
    far = _extreme_pairs(result, critical, above=True)
    if result.parts.combine in {"only", "largest"}:
        return max(float(np.max(gap + margin)) for gap, margin in far)
    (gap, margin), (other, other_margin) = (_leading(*pairs) for pairs in far)
    sums_above = gap[:, None] + other + np.sqrt(margin[:, None] ** 2 + other_margin**2)
    return float(sums_above.max()) / len(far)


def _extreme_pairs(
    result: Evidence, critical: float, *, above: bool
) -> list[tuple[Floats, Floats]]:
    out = []
    for share, low, high in zip(*result.limits(critical), strict=True):
        known = ~np.isnan(share)
        out.append(candidate_pairs(share[known], low[known], high[known], above=above))
    return out


def _leading(gap: Floats, margin: Floats) -> tuple[Floats, Floats]:
    """Keep the pairs that no other beats in gap and in margin."""
    order = np.lexsort((-margin, -gap))
    best = np.maximum.accumulate(margin[order])
    leads = order[np.r_[True, margin[order][1:] > best[:-1]]]
    return gap[leads], margin[leads]


def range_limits(
    result: Evidence, accept: tuple[float, float] | None, confidence: float
) -> tuple[float, float, float]:
    """Return low, high and p-value of the largest gap among all pairs of groups."""
    parts, groups = result.parts, result.shares.shape[1]
    summed, families = parts.combine in {"mean", "mean_absolute"}, len(parts.rates)

    def critical_at(apart: float) -> float:
        return range_critical(confidence, groups, families=families, summed=summed, apart=apart)

    inner, outer = critical_at(0.0), range_critical(confidence, 2)
    rows = _rows_apart(parts, float(result.rows[result.rows > 0].min()))
    if parts.ratio:
        low, high = _ratio_ends(result, outer, inner)
    else:
        low, inner = lowest_range(lambda c: _lowest(result, c), rows, critical_at)
        high = _highest(result, outer)
    if accept is None or not (low > accept[1] or high < accept[0]):
        return low, high, np.nan

    def beyond(critical: float) -> float:
        if parts.ratio:
            return accept[0] - _ratio_ends(result, critical, critical)[1]
        return _lowest(result, critical) - accept[1]

    at = HIGHEST
    if beyond(inner) <= 0:  # a ratio may leave its range above, where no pair decides
        at = inner
    elif beyond(HIGHEST) < 0:
        at = float(brentq(beyond, inner, HIGHEST, xtol=1e-9))
    apart = float(errors_apart(accept[1], rows))
    pvalue = range_tail(at, groups, families=families, summed=summed, apart=apart)
    return low, high, max(pvalue, 1e-12)
