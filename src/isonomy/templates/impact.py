"""Rates and impact ratios of categories, with those of few people left out where asked."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from isonomy._arrays import Floats
from isonomy.templates.bounds import mild_bounds, rate_bounds, ratio_bounds

SMALL = 0.02
"""A category of less than this share may be left out of the impact ratios."""


def impact_frame(
    names: Sequence[str],
    n: Floats,
    selected: Floats,
    *,
    unknown: int,
    unknown_selected: int,
    leave_out_small: bool = False,
) -> pd.DataFrame:
    """Return the rate and impact ratio of each category, with bounds over the unknown.

    A category that is left out for its few people is left out before the highest rate is looked
    for: it can be no comparator. The shares are of the people whose category is known. Categories
    without people have no rate and are no comparator; the bounds are over all ways to give the
    unknown people a category that occurs.

    Examples
    --------
    >>> frame = impact_frame(["Male", "Female"], np.array([1390, 1181]), np.array([667, 555]),
    ...                      unknown=0, unknown_selected=0)
    >>> frame["ratio"].round(3).tolist()
    [1.0, 0.979]
    """
    total = n.sum()
    share = n / total if total else np.full(len(n), np.nan)
    with np.errstate(invalid="ignore"):
        rate = np.where(n > 0, selected / n, np.nan)
    left_out = (n > 0) & (share < SMALL) & leave_out_small
    compared = (n > 0) & ~left_out
    highest = rate[compared].max(initial=0.0)
    frame = pd.DataFrame(
        {
            "category": list(names),
            "applicants": n.astype(np.int64),
            "selected": selected.astype(np.int64),
            "share": share,
            "rate": rate,
            "ratio": np.where(compared & (highest > 0), rate / (highest or 1.0), np.nan),
            "left_out": left_out,
        }
    )
    frame["rate_low"], frame["rate_high"] = rate_bounds(n, selected, unknown, unknown_selected)
    sharp = ratio_bounds(n[compared], selected[compared], unknown, unknown_selected)
    mild = mild_bounds(n, selected, unknown)
    frame["mild_rate_low"], frame["mild_rate_high"] = mild
    for name, limits in (("ratio_low", sharp.low), ("ratio_high", sharp.high)):
        frame[name] = np.nan
        frame.loc[compared, name] = limits
    for name, rates in (("mild_ratio_low", mild.low), ("mild_ratio_high", mild.high)):
        frame[name] = np.where(compared & (highest > 0), rates / (highest or 1.0), np.nan)
    return frame


def records(frame: pd.DataFrame) -> list[Any]:
    """Return the rows of a frame, with the columns as attributes."""
    return list(frame.itertuples())
