"""A group's selections beside another's: what is computed of such a pair by itself."""

from typing import Any

import numpy as np

from isonomy._arrays import Floats, divide
from isonomy.stats import (
    deviations,
    fisher_exact,
    koopman_interval,
    more_to_reach,
    odds_ratio,
    shortfall,
    survives_more,
)

TWO = 2
"""People whose selection must not make a flag vanish (the two-person test)."""


def pair_columns(
    hits: Floats,
    rows: Floats,
    other_hits: float,
    other_rows: float,
    *,
    ratio: float,
    confidence: float,
    effective: tuple[Floats, Floats, float, float] | None = None,
    people: bool = True,
) -> dict[str, Floats]:
    """Compare each group's selections with those of another group, each pair by itself.

    Parameters
    ----------
    hits, rows : array
        How many were selected, of how many, by group; sums of weights where rows have some.
    other_hits, other_rows : float
        The same of the group compared with.
    ratio : float
        The ratio below which a group is flagged.
    confidence : float
        Of the intervals; a p-value below the rest is a flag.
    effective : tuple, optional
        The four of them in effective rows, for intervals and deviations of weighted rows.
    people : bool
        Whether the numbers count people; exact tests and numbers of people are NaN otherwise.

    Returns
    -------
    dict of str to array
        ``koopman_low``, ``koopman_high``, ``odds_ratio`` with its interval, ``z``,
        ``fisher_mid_p``, ``shortfall``, ``shortfall_combined``, ``to_threshold``, and what becomes
        of the flags with two more selected: "no flag", "vanishes" or "stays".

    Examples
    --------
    >>> pair = pair_columns(
    ...     np.array([30.0]), np.array([100.0]), 50.0, 100.0, ratio=0.8, confidence=0.95
    ... )
    >>> pair["shortfall"].tolist(), pair["two_more_ratio"].tolist()
    ([20.0], ['stays'])
    """
    sides = (hits, rows, other_hits, other_rows)
    rest = sides if effective is None else effective
    low, high = koopman_interval(*rest, confidence=confidence)
    odds, odds_low, odds_high = odds_ratio(*rest, confidence=confidence)
    unknown = np.full(np.shape(hits), np.nan)
    out = {
        "koopman_low": low,
        "koopman_high": high,
        "odds_ratio": odds,
        "odds_low": odds_low,
        "odds_high": odds_high,
        "z": deviations(*rest),
        "fisher_mid_p": unknown,
        "shortfall": shortfall(*sides, to="other"),
        "shortfall_combined": shortfall(*sides),
        "to_threshold": unknown,
        "two_more_ratio": np.full(np.shape(hits), None, dtype=object),
        "two_more_significance": np.full(np.shape(hits), None, dtype=object),
    }
    if people:
        level = 1 - confidence
        p = fisher_exact(*sides, mid=True)
        still = survives_more(*sides, more=TWO, ratio=ratio, level=level)
        less = hits * other_rows < other_hits * rows
        below = divide(hits * other_rows, other_hits * rows) < ratio
        out |= {
            "fisher_mid_p": p,
            "to_threshold": more_to_reach(*sides, ratio=ratio),
            "two_more_ratio": _flag(below, still.ratio),
            "two_more_significance": _flag(less & (p < level), still.significance),
        }
    return {name: np.asarray(values) for name, values in out.items()}


def _flag(raised: Any, stays: Any) -> Any:
    words = np.where(stays, "stays", np.where(raised, "vanishes", "no flag"))
    return words.astype(object)
