"""The four-fifths rule of the Uniform Guidelines on Employee Selection Procedures (29 CFR 1607)."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pandas as pd

from isonomy._validate import as_names
from isonomy.stats import holm
from isonomy.templates.base import (
    TEMPLATES,
    Document,
    Field,
    Section,
    Table,
    Template,
    count,
    fill_fields,
    number,
    percent,
    picture_of,
    span,
)
from isonomy.templates.contrasts import (
    FOUR_FIFTHS,
    KOOPMAN,
    contrast_frame,
    known_groups,
    read_outcomes,
    significance_table,
    small_numbers,
    strata_table,
)
from isonomy.templates.impact import records
from isonomy.templates.people import count_people, hits_by

LAW = "the Uniform Guidelines on Employee Selection Procedures (29 CFR 1607.4 D)"
FEWEST = 30
"""A highest rate of fewer people than this is remarked upon."""

FIELDS = (
    Field("procedure", "Selection procedure and job", "what was decided, for which job"),
    Field("period", "Period", "from when to when the applicants applied"),
    Field("data_source", "Source of the data", "who counts as an applicant, where the rows come from"),
    Field("prepared_by", "Prepared by", "name and role"),
    Field("date", "Date", "YYYY-MM-DD", kind="past date"),
)  # fmt: skip


def fill_four_fifths(
    source: Any,
    *,
    sensitive_features: str | Sequence[str],
    prediction: str,
    favorable: Any = None,
    strata: str | Sequence[str] = (),
    bins: Mapping[str, Sequence[float]] | None = None,
    confidence: float = 0.95,
    fields: Mapping[str, Any] | None = None,
    table: str | None = None,
    today: date | None = None,
) -> Document:
    """Compare selection rates with the highest, as 29 CFR 1607.4 D describes adverse impact.

    Parameters
    ----------
    source : path or frame
        A row per applicant.
    sensitive_features : str or sequence of str
        Columns such as sex and race.
    prediction : str
        Column of who was selected.
    favorable : value or collection, optional
        The value that is a selection; may be left out where it is 1 of 0 / 1.
    strata : str or sequence of str
        Columns to compare within (job, month ...), by Mantel-Haenszel.
    bins : mapping of column to cut points, optional
        Cuts a number such as age into groups.
    confidence : float
        Of the intervals; a p-value below 1 less this is called significant.
    fields, table, today
        As in :func:`fill_ll144`.

    Examples
    --------
    >>> people = pd.DataFrame({"sex": ["m"] * 100 + ["f"] * 100,
    ...                        "hired": [1] * 50 + [0] * 50 + [1] * 30 + [0] * 70})
    >>> print(fill_four_fifths(people, sensitive_features="sex", prediction="hired").headline)
    1 of 1 group has a selection rate below four fifths of the highest; 1 of these is significant.
    """
    attributes, alike = as_names(sensitive_features), as_names(strata)
    filled = fill_fields(FIELDS, fields, today=today or datetime.now(UTC).date())
    people = count_people(source, [*attributes, *alike, prediction], table=table, bins=bins)
    hit = read_outcomes(people, prediction, favorable)
    sections, frames = [], {}
    for attribute in attributes:
        groups, rows, hits = hits_by(people, attribute, hit, prediction, alike)
        known = known_groups(attribute, groups)
        names, n, x = [groups[k] for k in known], rows[known], hits[known]
        other = int(np.argmax(x.sum(1) / n.sum(1)))
        frame = contrast_frame(names, n.sum(1), x.sum(1), other, confidence=confidence)
        frames[attribute] = frame
        tables = [_rates(frame, attribute), significance_table(frame, str(names[other]))]
        if alike:
            tables.append(strata_table(names, n, x, other, alike, confidence=confidence))
        unknown = int(rows.sum() - n.sum())
        said = _said(frame, attribute, other, unknown, 1 - confidence)
        picture = picture_of(f"{attribute}: ratios to the highest rate", frame, note=KOOPMAN)
        sections.append(Section(attribute, tuple(said), tuple(tables), picture))
    sections.append(Section("How it was calculated", _method(people.rows, frames, confidence)))
    return Document(
        kind="four_fifths",
        title="Selection rates by the four-fifths rule",
        law=LAW,
        headline=_headline(frames, 1 - confidence),
        sections=tuple(sections),
        fields=filled,
        warnings=tuple(dict.fromkeys(w for f in frames.values() for w in small_numbers(f))),
        frames=frames,
    )


TEMPLATES.add(
    "four_fifths",
    Template(
        "four_fifths",
        "29 CFR 1607: selection rates and the four-fifths rule",
        LAW,
        "Ratios to the highest selection rate, with statistical and practical significance.",
        FIELDS,
        fill_four_fifths,
    ),
    aliases=("four-fifths",),
)


def _rates(frame: pd.DataFrame, attribute: str) -> Table:
    rows = tuple(
        (
            r.group,
            count(r.rows),
            count(r.selected),
            percent(r.rate),
            number(r.ratio, 3),
            span(r.ratio_low, r.ratio_high, 3) if r.z == r.z or r.p == r.p else "highest",
            "below" if r.ratio < FOUR_FIFTHS else "",
        )
        for r in records(frame)
    )
    return Table(
        f"Selection rates by {attribute}",
        ("Group", "Applicants", "Selected", "Selection rate", "Ratio to the highest", "Interval (Koopman)", "Four fifths"),
        rows,
    )  # fmt: skip


def _said(frame: pd.DataFrame, attribute: str, other: int, unknown: int, level: float) -> list[str]:
    """Read each group as 4 D does: the ratio, and whether the difference is significant."""
    highest = records(frame)[other]
    said = [f"The highest rate is that of {highest.group} ({highest.rate:.1%})."]
    if highest.rows < FEWEST:
        said.append(
            f"It is that of {highest.rows} people only; a rate of few people can be the highest by chance."
        )
    if unknown:
        said.append(f"{unknown:,} people of unknown {attribute} are not compared.")
    for r in records(frame.drop(index=other)):
        if r.ratio != r.ratio:
            said.append(f"{r.group}: the ratio is undefined, as nobody was selected.")
            continue
        below, apart = r.ratio < FOUR_FIFTHS, r.p < level
        words = {
            (True, True): "below four fifths, and the difference is significant.",
            (True, False): "below four fifths, but the difference is not significant: it may rest on small numbers.",
            (False, True): "at least four fifths, but the difference is significant: it may still be adverse impact where it matters in practice.",
            (False, False): "at least four fifths, and the difference is not significant.",
        }[below, apart]  # fmt: skip
        said.append(f"{r.group}: {r.ratio:.3f} of the highest rate, {words}")
    return said


def _headline(frames: Mapping[str, pd.DataFrame], level: float) -> str:
    every = pd.concat([f[f["p"].notna()] for f in frames.values()])
    below = every[every["ratio"] < FOUR_FIFTHS]
    sure = int((below["p"] < level).sum())
    return (
        f"{len(below)} of {len(every)} group{'' if len(every) == 1 else 's'} "
        f"{'has' if len(below) == 1 else 'have'} a selection rate below four fifths of the highest; "
        f"{sure} of these {'is' if sure == 1 else 'are'} significant."
    )


def _method(rows: int, frames: Mapping[str, pd.DataFrame], confidence: float) -> tuple[str, ...]:
    p = pd.concat([f["p"].dropna() for f in frames.values()]).to_numpy()
    together = int((holm(p) < 1 - confidence).sum()) if p.size else 0
    return (
        f"{rows:,} people were counted. Each group is compared with the group of the highest rate.",
        (
            f"Intervals hold with {confidence:.0%} each (Koopman's score interval); a p-value below "
            f"{1 - confidence:.2g} is called significant. Choosing the highest rate makes differences look "
            f"larger than they are; of {p.size} comparisons {together} remain significant taken together "
            f"(Holm)."
        ),
        (
            "By 1607.4 D a smaller difference may be adverse impact where it is significant in statistical "
            "and practical terms, and a larger one may not be where it rests on small numbers and is not "
            "significant."
        ),
        "Practical significance: would a flag vanish if two more people of the group had been selected?",
    )
