"""Groups against one of them: rates, ratios, significance, people."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from isonomy._arrays import Floats, divide
from isonomy._unknown import is_unknown
from isonomy._validate import MISSING, check_share, listed, match_values, resolve_favorable
from isonomy.audit.pairs import pair_columns
from isonomy.audit.stratified import within_strata
from isonomy.errors import InputError
from isonomy.templates.base import Table, number, probability, span
from isonomy.templates.impact import records
from isonomy.templates.people import People

FOUR_FIFTHS = 0.8
KOOPMAN = "Whiskers: Koopman's score interval of the ratio."
EXPECTED = 5
"""With fewer people expected in a cell than this, numbers are small."""


def read_outcomes(people: People, prediction: str, favorable: Any) -> dict[Any, bool]:
    """Return which values of the outcome are favorable; a missing one is refused.

    Examples
    --------
    >>> from isonomy.templates.people import count_people
    >>> frame = pd.DataFrame({"sex": ["m", "f"], "hired": [1, 0]})
    >>> read_outcomes(count_people(frame, ["sex", "hired"]), "hired", None)
    {0: False, 1: True}
    """
    values = people.values(prediction)
    missing = [v for v in values if v == MISSING]
    if missing:
        n = int(people.cells.loc[people.cells[prediction] == missing[0], "n"].sum())
        raise InputError(
            f"Every person must have an outcome; {n:,} of {prediction!r} are missing: drop those "
            f"rows, or say what they mean."
        )
    good = resolve_favorable(values, favorable)
    return {value: value in good for value in values}


def known_groups(attribute: str, groups: Sequence[Any]) -> list[int]:
    """Return the places of the groups that are known; at least two must be."""
    known = [k for k, group in enumerate(groups) if not is_unknown(group)]
    if len(known) < 2:
        raise InputError(
            f"At least two groups of {attribute!r} must be known to be compared; got "
            f"{listed([groups[k] for k in known])}."
        )
    return known


def find_reference(attribute: str, groups: Sequence[Any], reference: Any) -> int:
    """Return the place of the group that a user named."""
    found = match_values(reference, groups, what=f"value of {attribute}")
    if len(found) != 1:
        raise InputError(
            f"The reference of {attribute} must be one group; got {listed(found)}: merge them in "
            f"the data, or name one."
        )
    return list(groups).index(found[0])


def contrast_frame(
    groups: Sequence[Any], rows: Floats, hits: Floats, other: int, *, confidence: float = 0.95
) -> pd.DataFrame:
    """Compare every group with that at the place ``other``, whose own comparison is left open.

    Examples
    --------
    >>> frame = contrast_frame(["f", "m"], np.array([100, 100]), np.array([30, 50]), 1)
    >>> frame.loc[0, ["ratio", "shortfall"]].tolist(), frame["z"].round(2)[0].item()
    ([0.6, 20.0], -2.88)
    """
    check_share("confidence", confidence)
    sides = (hits, rows, hits[other], rows[other])
    pair = pair_columns(*sides, ratio=FOUR_FIFTHS, confidence=confidence)
    frame = pd.DataFrame(
        {
            "group": [str(g) for g in groups],
            "rows": rows.astype(np.int64),
            "selected": hits.astype(np.int64),
            "rate": divide(hits, rows),
            "ratio": divide(hits * rows[other], hits[other] * rows),
            "ratio_low": pair["koopman_low"],
            "ratio_high": pair["koopman_high"],
            "gap": hits[other] / rows[other] - divide(hits, rows),
            "z": pair["z"],
            "p": pair["fisher_mid_p"],
            "shortfall": pair["shortfall"],
            "shortfall_combined": pair["shortfall_combined"],
            "more_needed": pair["to_threshold"],
            "still_below": pair["two_more_ratio"] == "stays",
            "still_significant": pair["two_more_significance"] == "stays",
            "expected_least": expected_least(rows, hits, other),
        }
    )
    open_ = ["ratio_low", "ratio_high", "z", "p", "more_needed", "expected_least"]
    frame.loc[other, open_] = np.nan
    frame.attrs["reference"] = str(groups[other])
    return frame


def expected_least(rows: Floats, hits: Floats, other: int) -> Floats:
    """Return the fewest people expected in a cell of each group's table, were the rates equal.

    Examples
    --------
    >>> expected_least(np.array([10.0, 90.0]), np.array([1.0, 19.0]), 1)[0].item()
    2.0
    """
    total, favored = rows + rows[other], hits + hits[other]
    smaller = np.minimum(rows, rows[other])
    return np.asarray(divide(smaller * np.minimum(favored, total - favored), total))


def strata_table(
    groups: Sequence[Any],
    rows: Floats,
    hits: Floats,
    other: int,
    strata: Sequence[str],
    *,
    confidence: float,
) -> Table:
    """Compare within strata (Mantel-Haenszel); ``rows`` and ``hits`` are by group and stratum."""
    places = [k for k in range(len(groups)) if k != other]
    sides = (hits[places], rows[places], hits[other][None, :], rows[other][None, :])
    found = within_strata(*sides, confidence=confidence)
    cells = tuple(
        (
            str(groups[place]),
            number(found["odds_ratio"][k], 3),
            span(found["odds_low"][k], found["odds_high"][k], 3),
            number(found["chi2"][k]),
            probability(found["p_value"][k]),
            probability(found["breslow_day_p"][k]),
        )
        for k, place in enumerate(places)
    )
    return Table(
        f"Within {' & '.join(strata)}: against {groups[other]}",
        ("Group", "Common odds ratio", "Interval", "Mantel-Haenszel chi²", "p", "Breslow-Day p"),
        cells,
        "An odds ratio of 1 is no difference among people alike in the strata. A small Breslow-Day p "
        "says that the strata differ, so that one common ratio does not describe them.",
    )


def significance_table(frame: pd.DataFrame, against: str) -> Table:
    """Show Z, Fisher's mid-p, people short, and what two more selections would change."""
    rows = tuple(
        (
            r.group,
            number(r.z),
            probability(r.p),
            number(r.shortfall, 1),
            number(r.shortfall_combined, 1),
            _more(r),
            _two(r),
        )
        for r in records(frame)
        if r.group != against
    )
    return Table(
        f"Significance: against {against}",
        (
            "Group",
            "Z",
            "Fisher mid-p",
            f"Shortfall to the rate of {against}",
            "Shortfall to the common rate",
            "More needed for 0.80",
            "With two more selected",
        ),
        rows,
        "Z counts standard deviations (hypergeometric); 2 or more is the usual mark. p is two-sided. "
        "Shortfalls are numbers of people; a minus is a surplus.",
    )


def _more(r: Any) -> Any:
    return number(r.more_needed, 0) if r.more_needed == r.more_needed else "cannot be reached"


def _two(r: Any) -> str:
    flags = [
        words
        for words, holds in (("below 0.80", r.still_below), ("significant", r.still_significant))
        if holds
    ]
    return f"still {' and '.join(flags)}" if flags else "no flag"


def small_numbers(frame: pd.DataFrame) -> list[str]:
    """Return a caution for each group whose numbers are small."""
    return [
        f"{r.group}: small numbers ({r.rows:,} people; {r.expected_least:.1f} expected in the smallest "
        f"cell): a ratio can fall below 0.80 by a person or two."
        for r in records(frame)
        if r.expected_least < EXPECTED
    ]
