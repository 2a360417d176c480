"""How far people whose category is not known can move rates and impact ratios.

The sharp bounds are the smallest and the largest value over every way to give each unknown person
one of the categories, the comparator moving with the rest. Of ``m`` unknown people ``u`` were
selected and ``v = m - u`` were not; category ``g`` has ``s_g`` selected of ``n_g > 0`` known people.

*Rate.* ``(s_g + a) / (n_g + a + b)`` rises in ``a`` and falls in ``b``: it is largest with
``a = u, b = 0`` and smallest with ``a = 0, b = v``.

*Impact ratio, smallest.* ``R_g = r_g / max_h r_h = min_h r_g / r_h``, so its minimum is the smallest
of the minima of ``r_g / r_h`` over ``h``, and 1 for ``h = g``. For one ``h`` the numerator is
smallest with all ``v`` in ``g``, the denominator largest with all ``u`` in ``h``; both can be.

*Impact ratio, largest.* ``R_g = min(1, r_g / max_{h != g} r_h)``. A selected person moved into ``g``
from another category raises ``r_g`` and lowers that category's rate: all ``u`` belong in ``g``. A person not selected
lowers the rate of wherever they are: all ``v`` belong in the others, so that the highest of their
rates is as low as it can be. That is the smallest ``t`` for which the least ``b_h`` with
``s_h / (n_h + b_h) <= t`` add up to no more than ``v``; it is found by bisection.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from isonomy._arrays import Floats

STEPS = 100  # of the bisection: more than a double has bits


class Bounds(NamedTuple):
    """The smallest and largest value of each category."""

    low: Floats
    high: Floats


def rate_bounds(n: ArrayLike, selected: ArrayLike, unknown: int, unknown_selected: int) -> Bounds:
    """Return the sharp bounds of the rates.

    Examples
    --------
    >>> rate_bounds([10, 20], [5, 8], 4, 2)
    Bounds(low=array([0.41666667, 0.36363636]), high=array([0.58333333, 0.45454545]))
    """
    n, s = np.asarray(n, dtype=np.float64), np.asarray(selected, dtype=np.float64)
    rejected = unknown - unknown_selected
    with np.errstate(invalid="ignore"):
        low = np.where(n > 0, s / (n + rejected), np.nan)
        high = np.where(n > 0, (s + unknown_selected) / (n + unknown_selected), np.nan)
    return Bounds(low, high)


def ratio_bounds(n: ArrayLike, selected: ArrayLike, unknown: int, unknown_selected: int) -> Bounds:
    """Return the sharp bounds of the impact ratios among categories that all hold known people.

    They are NaN where the ratio is undefined however the unknown are allocated.

    Examples
    --------
    >>> ratio_bounds([10, 20], [5, 8], 4, 2)
    Bounds(low=array([0.91666667, 0.62337662]), high=array([1., 1.]))
    """
    n, s = np.asarray(n, dtype=np.float64), np.asarray(selected, dtype=np.float64)
    least, most = rate_bounds(n, s, unknown, unknown_selected)
    others = ~np.eye(len(n), dtype=bool)
    top = np.where(others, most[None, :], 0.0).max(axis=1)
    bottom = np.array(
        [_lowest_maximum(n[o], s[o], unknown - unknown_selected) for o in others], dtype=np.float64
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        low = np.where(top > 0, np.minimum(1.0, least / top), np.where(most > 0, 1.0, np.nan))
        high = np.where(bottom > 0, np.minimum(1.0, most / bottom), np.where(most > 0, 1.0, np.nan))
    return Bounds(low, high)


def _lowest_maximum(n: Floats, s: Floats, rejected: int) -> float:
    """Return the lowest that the highest rate can be made by adding people who were not selected."""
    if not (s > 0).any():
        return 0.0
    n, s = n[s > 0], s[s > 0]

    def added(top: float) -> Floats:  # rounding of s / (s / n) must not add a person
        return np.ceil(s / top * (1 - 1e-12) - n).clip(0)

    low, high = 0.0, float((s / n).max())
    for _ in range(STEPS):
        middle = (low + high) / 2
        if middle <= low or middle >= high:
            break
        fits = added(middle).sum() <= rejected
        low, high = (low, middle) if fits else (middle, high)
    return float((s / (n + added(high))).max())


def mild_bounds(n: ArrayLike, selected: ArrayLike, unknown: int) -> Bounds:
    """Return the bounds of the rates if each category has its share among the unknown, too.

    ``s / (n + m q)`` and ``(s + m q) / (n + m q)``, with ``q`` the category's share of the known
    people: all of its unknown people were not selected, or all were. Bounds of impact ratios in this
    sense divide by the observed rate of the comparator, which does not move.

    Examples
    --------
    >>> mild_bounds([10, 30], [5, 12], 4)
    Bounds(low=array([0.45454545, 0.36363636]), high=array([0.54545455, 0.45454545]))
    """
    n, s = np.asarray(n, dtype=np.float64), np.asarray(selected, dtype=np.float64)
    more = unknown * n / n.sum() if n.sum() > 0 else np.zeros_like(n)
    with np.errstate(invalid="ignore"):
        return Bounds(s / (n + more), (s + more) / (n + more))
