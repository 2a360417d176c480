"""Every group's selection rate beside the reference's, or the best one's, within strata."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from isonomy._arrays import Floats, divide
from isonomy.audit.ratios import SELECTED, contrasts_of
from isonomy.metrics import Counts
from isonomy.stats import (
    breslow_day,
    mantel_haenszel_odds,
    mantel_haenszel_ratio,
    mantel_haenszel_test,
)


def stratified_table(
    counts: Counts, attribute: str, strata: Sequence[str], confidence: float
) -> pd.DataFrame:
    """Compare every group with the reference (else the best) within strata, and ask whether they agree."""
    whole = counts.select(attribute)
    part = counts.select(attribute, *strata)
    share, size = SELECTED.evidence(whole)
    known = whole.known & (size > 0)
    contrasts = contrasts_of(whole)  # the reference comes last
    mask = contrasts[-1].other if contrasts else np.zeros(size.size, dtype=bool)
    group_at = {g[0]: k for k, g in enumerate(whole.groups)}
    stratum_at = {s: k for k, s in enumerate(dict.fromkeys(g[1:] for g in part.groups))}
    at = (
        np.array([group_at[g[0]] for g in part.groups]),
        np.array([stratum_at[g[1:]] for g in part.groups]),
    )
    cells = np.zeros((2, size.size, len(stratum_at)))
    inside, rows = SELECTED.evidence(part)
    cells[0][at], cells[1][at] = np.nan_to_num(inside * rows), rows
    hits, rows = cells
    others = hits[mask].sum(axis=0), rows[mask].sum(axis=0)
    shown = np.flatnonzero(known & ~mask)
    sides = (hits[shown], rows[shown], *others)
    labels = np.array(whole.labels(), dtype=object)
    crude = divide(share[shown], divide(others[0].sum(), others[1].sum()))
    return pd.DataFrame(
        {
            "attribute": attribute,
            "group": labels[shown],
            "against": contrasts[-1].against if contrasts else None,
            "other": " or ".join(labels[mask]),
            "strata": " & ".join(strata),
            "strata_used": ((rows[shown] > 0) & (others[1] > 0)).sum(axis=-1),
            "ratio": crude,
            **within_strata(*sides, confidence=confidence),
        }
    )


def within_strata(
    hits: Floats, rows: Floats, other_hits: Floats, other_rows: Floats, *, confidence: float
) -> dict[str, Any]:
    """Return common ratios and odds ratios of groups by stratum, and their tests, as columns.

    ``hits`` and ``rows`` are by group and stratum, those of the group compared with by stratum.

    Examples
    --------
    >>> hits, rows = np.array([[30.0, 10.0]]), np.array([[100.0, 50.0]])
    >>> other = np.array([50.0, 20.0]), np.array([100.0, 50.0])
    >>> found = within_strata(hits, rows, *other, confidence=0.95)
    >>> found["odds_ratio"].round(3).tolist(), found["ratio_within"].round(3).tolist()
    ([0.412], [0.571])
    """
    sides = (hits, rows, other_hits, other_rows)
    test, alike = mantel_haenszel_test(*sides), breslow_day(*sides)
    ratio, ratio_low, ratio_high = mantel_haenszel_ratio(*sides, confidence=confidence)
    odds, odds_low, odds_high = mantel_haenszel_odds(*sides, confidence=confidence)
    reasons = np.broadcast_arrays(test.reason, alike.reason)
    return {
        "ratio_within": ratio,
        "ratio_low": ratio_low,
        "ratio_high": ratio_high,
        "odds_ratio": odds,
        "odds_low": odds_low,
        "odds_high": odds_high,
        "chi2": test.statistic,
        "p_value": test.pvalue,
        "breslow_day": alike.statistic,
        "breslow_day_p": alike.pvalue,
        "reason": [
            str(a) or (f"strata cannot be compared: {b}" if b else None)
            for a, b in zip(*reasons, strict=True)
        ],
    }
