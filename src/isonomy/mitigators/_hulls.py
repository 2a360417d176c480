"""ROC curves of groups, their concave hulls, and the best points on them under a constraint."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from isonomy._arrays import Floats

DUST = 1e-12  # what rounding leaves of a 0


@dataclass(frozen=True)
class Curve:
    """One group's ROC points in weights, from none to all favourable.

    ``false`` and ``true`` are the favourable predictions among unfavourable and favourable rows
    where the score exceeds ``threshold``.
    """

    false: Floats
    true: Floats
    threshold: Floats

    def at(self, keep: NDArray[Any]) -> "Curve":
        """Return the points at some positions."""
        return Curve(self.false[keep], self.true[keep], self.threshold[keep])


Mixture = tuple[NDArray[np.intp], Floats]
"""Positions of thresholds, rising, and their probabilities."""


def _mixture(weights: Floats) -> Mixture:
    """Return the thresholds that are drawn at all; what a solver leaves of a zero is dropped."""
    drawn = np.flatnonzero(weights > DUST)
    return drawn, weights[drawn] / weights[drawn].sum()


def roc_curve(scores: Floats, y: NDArray[Any], w: Floats | None, rows: NDArray[np.intp]) -> Curve:
    """Sort one group's scores and add up the labels above each distinct one."""
    order = rows[np.argsort(-scores[rows])]
    ranked, label = scores[order], y[order]
    weight = np.ones(len(order)) if w is None else w[order]
    last = np.flatnonzero(np.append(ranked[1:] < ranked[:-1], True))
    favorable = weight * label
    true, both = np.cumsum(favorable)[last], np.cumsum(weight)[last]
    upper, lower = ranked[last[:-1]], ranked[last[1:]]
    between = lower + (upper - lower) / 2
    # between two neighbouring floats there is nothing: the lower one separates them as well
    between = np.where(between < upper, between, lower)
    return Curve(
        false=np.append(0.0, both - true),
        true=np.append(0.0, true),
        threshold=np.concatenate([[np.inf], between, [-np.inf]]),
    )


def concave_hull(x: Floats, y: Floats) -> NDArray[np.intp]:
    """Return the positions of the vertices of the upper hull of points in rising order.

    All points on or below the line between their neighbours go at once, again and again until
    none is left; a vertex of the hull is above every such line and never goes.

    Parameters
    ----------
    x, y : array
        The points, ``x`` and ``y`` not falling.

    Returns
    -------
    array of int
        The first and the last point and every vertex between.

    Examples
    --------
    >>> concave_hull(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 0.0, 2.0, 2.0])).tolist()
    [0, 2, 3]
    """
    at = np.arange(len(x))
    while len(at) > 2:
        run, rise = np.diff(x[at]), np.diff(y[at])
        keep = np.ones(len(at), dtype=bool)
        keep[1:-1] = rise[:-1] * run[1:] > rise[1:] * run[:-1]
        if keep.all():
            break
        at = at[keep]
    return at


def _rate(curve: Curve, total: Floats, constraint: str) -> Floats:
    if constraint == "demographic_parity":
        return np.asarray((curve.false + curve.true) / total.sum())
    return _odds(curve, total)[constraint == "equal_opportunity"]


def level_rates(
    hulls: list[Curve], total: Floats, gain: Floats, constraint: str, tolerance: float
) -> list[Mixture]:
    """Bring one rate of all groups into the best window of the width allowed.

    For a window the best a group can do is the rate nearest to where its own objective peaks;
    the sum over groups is concave and piecewise linear in the window's position, with a kink
    only where an end of the window meets a vertex.
    """
    lines = []
    for hull, sums in zip(hulls, total, strict=True):
        rate = _rate(hull, sums, constraint)
        value = gain[0] * hull.false + gain[1] * hull.true
        # of several vertices with one rate only the best counts: the last of a vertical start
        # of the curve, the first of a flat end
        step = np.diff(rate) > 0
        kept = (
            np.append(step, True) if constraint == "predictive_equality" else np.append(True, step)
        )
        at = np.flatnonzero(kept)
        lines.append((at, rate[at], value[at], rate[at][np.argmax(value[at])]))
    low = np.concatenate([rate - shift for _, rate, _, _ in lines for shift in (0.0, tolerance)])
    low = np.unique(np.clip(low, 0.0, 1.0))
    worth = sum(
        np.interp(np.clip(peak, low, low + tolerance), rate, value)
        for _, rate, value, peak in lines
    )
    best = low[int(np.argmax(worth))]
    mixtures = []
    for at, rate, _, peak in lines:
        aim = min(max(peak, best), best + tolerance)
        i, t = _between(rate, aim)
        weights = np.zeros(at[-1] + 1)
        weights[at[i]], weights[at[i + 1]] = 1 - t, t
        mixtures.append(_mixture(weights))
    return mixtures


def _between(x: Floats, aim: float) -> tuple[int, float]:
    """Return the segment of a rising line that holds a value, and how far along it is."""
    i = int(np.clip(np.searchsorted(x, aim, side="right") - 1, 0, len(x) - 2))
    return i, float(np.clip((aim - x[i]) / (x[i + 1] - x[i]), 0.0, 1.0))


def _odds(curve: Curve, total: Floats) -> tuple[Floats, Floats]:
    return curve.false / total[0], curve.true / total[1]


def equal_odds(hulls: list[Curve], total: Floats, gain: Floats) -> list[Mixture]:
    """Find the best point under all hulls and each group's way there."""
    lines = []
    for hull, sums in zip(hulls, total, strict=True):
        fpr, tpr = _odds(hull, sums)
        at = np.flatnonzero(np.append(np.diff(fpr) > 0, True))
        lines.append((at, fpr[at], tpr[at]))
    x = np.unique(np.concatenate([fpr for _, fpr, _ in lines]))
    heights = np.array([np.interp(x, fpr, tpr) for _, fpr, tpr in lines])
    # between two neighbours all hulls are straight: the lowest one changes where two cross
    crossings = [x]
    for g in range(len(lines) - 1):
        apart = heights[g + 1 :] - heights[g]
        left, right = apart[:, :-1], apart[:, 1:]
        other, j = np.nonzero(left * right < 0)
        t = left[other, j] / (left[other, j] - right[other, j])
        crossings.append(x[j] + t * (x[j + 1] - x[j]))
    x = np.unique(np.concatenate(crossings))
    lowest = np.min([np.interp(x, fpr, tpr) for _, fpr, tpr in lines], axis=0)
    false, true = gain * total.sum(axis=0)
    best = int(np.argmax(false * x + true * lowest))
    mixtures = []
    for at, fpr, tpr in lines:
        i, t = _between(fpr, x[best])
        height = (1 - t) * tpr[i] + t * tpr[i + 1]
        # a hull that is too high here is mixed with chance, which has both rates equal
        spare = height - x[best]
        chance = (height - lowest[best]) / spare if spare > DUST else 0.0
        weights = np.zeros(at[-1] + 1)
        weights[at[i]] += (1 - chance) * (1 - t)
        weights[at[i + 1]] += (1 - chance) * t
        weights[0] += chance * (1 - x[best])
        weights[-1] += chance * x[best]
        mixtures.append(_mixture(weights))
    return mixtures


def relaxed_odds(
    hulls: list[Curve], total: Floats, gain: Floats, tolerance: float
) -> list[Mixture]:
    """Choose the probabilities of all vertices by a linear program.

    Two more unknowns are the least false and the least true positive rate of any group.
    """
    group = np.repeat(np.arange(len(hulls)), [len(h.false) for h in hulls])
    rates = np.hstack([_odds(h, sums) for h, sums in zip(hulls, total, strict=True)])
    value = np.concatenate([gain[0] * h.false + gain[1] * h.true for h in hulls])
    n, k = len(group), len(hulls)
    own, least, member = np.zeros((2, k, n + 2)), np.zeros((2, k, n + 2)), np.zeros((k, n + 2))
    own[:, group, np.arange(n)] = rates
    least[[0, 1], :, [n, n + 1]] = 1.0
    member[group, np.arange(n)] = 1.0
    result = linprog(
        np.append(-value, [0.0, 0.0]),
        A_ub=np.concatenate([*(own - least), *(least - own)]),
        b_ub=np.repeat([tolerance, 0.0], 2 * k),
        A_eq=member,
        b_eq=np.ones(k),
        bounds=(0, 1),
        method="highs",
    )
    assert result.x is not None, result.message  # refusing everybody is always feasible
    return [_mixture(result.x[:n][group == g]) for g in range(k)]


def best_window(
    curves: list[Curve], total: Floats, gain: Floats, constraint: str, tolerance: float
) -> list[int]:
    """Choose one threshold for each group with all rates in one window."""
    rates = [_rate(c, sums, constraint) for c, sums in zip(curves, total, strict=True)]
    low = np.unique(np.concatenate(rates))
    worth, choice = np.zeros(len(low)), []
    for curve, rate in zip(curves, rates, strict=True):
        first = np.searchsorted(rate, low - DUST, side="left")
        last = np.searchsorted(rate, low + tolerance + DUST, side="right")
        value, position = _range_best(gain[0] * curve.false + gain[1] * curve.true, first, last)
        worth += value
        choice.append(position)
    best = int(np.argmax(worth))
    return [int(position[best]) for position in choice]


def best_pair(curves: list[Curve], total: Floats, gain: Floats, tolerance: float) -> list[int]:
    """Choose two thresholds whose false and true positive rates are within the tolerance.

    Both rates rise along a curve, so that what suits a threshold of the one group is a run of
    thresholds of the other.
    """
    one, other = (_odds(c, sums) for c, sums in zip(curves, total, strict=True))
    first, last = np.zeros(len(one[0]), dtype=np.intp), np.full(len(one[0]), len(other[0]))
    for own, theirs in zip(one, other, strict=True):
        first = np.maximum(first, np.searchsorted(theirs, own - tolerance - DUST, side="left"))
        last = np.minimum(last, np.searchsorted(theirs, own + tolerance + DUST, side="right"))
    values = [gain[0] * c.false + gain[1] * c.true for c in curves]
    value, position = _range_best(values[1], first, last)
    best = int(np.argmax(values[0] + value))
    return [best, int(position[best])]


def _range_best(
    values: Floats, first: NDArray[np.intp], last: NDArray[np.intp]
) -> tuple[Floats, NDArray[np.intp]]:
    """Return the largest of ``values[first:last]`` and its position, for many ranges at once.

    A table of the best positions of all runs of 1, 2, 4, 8 ... answers each by two lookups. An
    empty range is worth minus infinity.
    """
    table = [np.arange(len(values))]
    while 2 ** len(table) <= len(values):
        half = 2 ** (len(table) - 1)
        left, right = table[-1][:-half], table[-1][half:]
        table.append(np.where(values[left] >= values[right], left, right))
    length = last - first
    level = np.log2(np.maximum(length, 1)).astype(np.intp)
    value, position = np.full(len(first), -np.inf), np.zeros(len(first), dtype=np.intp)
    for k in np.unique(level[length > 0]):
        asked = np.flatnonzero((level == k) & (length > 0))
        left, right = table[k][first[asked]], table[k][last[asked] - 2**k]
        position[asked] = np.where(values[left] >= values[right], left, right)
        value[asked] = values[position[asked]]
    return value, position
