"""What the tables of Local Law 144 show: sections, notes and warnings."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import pandas as pd

from isonomy._arrays import Floats
from isonomy._validate import listed
from isonomy.templates.base import (
    Cell,
    Section,
    Table,
    count,
    number,
    parse_day,
    percent,
    picture_of,
    span,
)
from isonomy.templates.categories import Reading
from isonomy.templates.impact import SMALL, records
from isonomy.templates.people import People

MANY_TIES = 0.01
"""A warning is given where more than this share of the scores equals the median."""

NON_HISPANIC = "Non-Hispanic or Latino"
_HEADINGS = {
    "sex": ("Sex Categories",),
    "race": ("Race/Ethnicity Categories",),
    "intersectional": ("Intersectional Categories", "Sex", "Race"),
}
_WHO = {"sex": "sex", "race": "race/ethnicity", "intersectional": "sex or race/ethnicity"}


def outcome_section(
    title: str,
    word: str,
    made: Mapping[str, pd.DataFrame],
    counts: Floats,
    given: Mapping[str, str | None],
    people: People,
) -> Section:
    """Show the three tables of a kind of outcome."""
    scoring = word == "above"
    sentences = []
    if scoring:
        sentences.append(
            f"The median score of the full sample of {people.rows:,} is {people.median:g}; the "
            f"scoring rate is the share of a category with a score above it."
        )
    everyone, hits = counts.sum(axis=(1, 2))
    sentences.append(f"{int(hits):,} of {int(everyone):,} people assessed {PAST[word]}.")
    tables = []
    for name, frame in made.items():
        columns = [*_HEADINGS[name], "# of Applicants"]
        columns += ["Scoring Rate"] if scoring else ["# Selected", "Selection Rate"]
        rows = tuple(_row(r, name, scoring=scoring) for r in records(frame))
        caption = f"{title}: {_HEADINGS[name][0].lower()}"
        note = _note(frame, name, given["exclusion_justification"])
        tables.append(Table(caption, (*columns, "Impact Ratio"), rows, note))
    pictures = tuple(
        picture
        for name, frame in made.items()
        for picture in picture_of(
            f"{title}: impact ratios, {_HEADINGS[name][0].lower()}",
            frame,
            "category",
            note=_WHISKERS,
        )
    )
    return Section(title, tuple(sentences), tuple(tables), pictures)


_WHISKERS = "Whiskers: over every way to give the people of unknown category one that occurs."


PAST = {
    "selected": "were selected",
    "above": "scored above the median",
    "in the class": "were assigned to the class",
}


def _row(r: Any, name: str, *, scoring: bool) -> tuple[str | Cell, ...]:
    first = [*r.category.split(", ", 2), ""][:3] if name == "intersectional" else [r.category]
    ratio = (
        Cell("left out") if r.left_out else number(r.ratio, 3 if name == "intersectional" else 2)
    )
    hits = [] if scoring else [count(r.selected)]
    return (*first, count(r.applicants), *hits, percent(r.rate), ratio)


def _note(frame: pd.DataFrame, name: str, justification: str | None) -> str:
    parts = [
        (
            f"Note: The AEDT was also used to assess {frame.attrs['unknown']:,} individuals with an "
            f"unknown {_WHO[name]} category. Data on those individuals was not included in the "
            f"calculations above."
        )
    ]
    small = frame[frame["left_out"]]
    parts += [
        f"{r.category} is less than 2% of the data ({r.share:.1%}) and left out of the impact ratios: "
        f"{justification}; number of applicants {r.applicants:,}, rate {r.rate:.1%}."
        for r in records(small)
    ]
    return " ".join(parts)


def headline(frames: Mapping[str, pd.DataFrame]) -> str:
    """Return the main result: the lowest impact ratio."""
    every = pd.concat(list(frames.values()), keys=list(frames))
    known = every.dropna(subset="ratio")
    if known.empty:
        return "No impact ratio is defined: nobody whose category is known was selected."
    worst = records(known.nsmallest(1, "ratio"))[0]
    return (
        f"The lowest impact ratio is {worst.ratio:.3f} ({worst.category}: "
        f"{worst.selected:,} of {worst.applicants:,}). The law sets no threshold."
    )


def warnings_of(
    frames: Mapping[str, pd.DataFrame],
    people: People,
    given: Mapping[str, str | None],
    today: date,
    score: str | None,
) -> list[str]:
    """Return what must be put right or known: ties, age, test data, small categories."""
    said = []
    if score and people.ties > MANY_TIES * people.rows:
        said.append(
            f"{people.ties:,} of {people.rows:,} scores ({people.ties / people.rows:.1%}) equal the "
            f"median {people.median:g}; they count as not above it, so that the scoring rates "
            f"depend on how ties are treated."
        )
    if given["audit_date"] is not None:
        day = parse_day("audit_date", given["audit_date"])
        if _a_year_after(day) < today:
            said.append(
                f"The audit of {day.isoformat()} is older than one year on {today.isoformat()}: the "
                f"tool may not be used on the strength of it (5-301(a))."
            )
    if given["data_kind"] == "test" and given["test_data_reason"] is None:
        said.append(
            "With test data the summary must say why historical data are insufficient and how the "
            "test data were made (5-302): give the field test_data_reason."
        )
    if not any(
        frame.loc[0, "applicants"] for name, frame in frames.items() if name.endswith("race")
    ):
        said.append(
            "Nobody is Hispanic or Latino in these data; the other categories are of people who are not. "
            "If ethnicity was asked for apart, name its column: --sensitive ethnicity=COLUMN."
        )
    if given["exclusion_justification"] is None:
        small = {
            r.category: None
            for frame in frames.values()
            for r in records(frame[(frame["applicants"] > 0) & (frame["share"] < SMALL)])
        }
        if small:
            said.append(
                f"Less than 2% of the data each: {listed(small, most=14)}. They are in the impact "
                f"ratios; an independent auditor may leave them out, with a justification (5-301(d)): "
                f"give the field exclusion_justification."
            )
    return said


def _a_year_after(day: date) -> date:
    leap = day.month == 2 and day.day == 29
    return day.replace(year=day.year + 1, day=28 if leap else day.day)


def bounds_section(frames: Mapping[str, pd.DataFrame]) -> Section:
    """Show how far the unknown could move each number."""
    tables = []
    for name, frame in frames.items():
        if not frame.attrs["unknown"]:
            continue
        rows = tuple(
            (
                r.category,
                percent(r.rate),
                span(r.rate_low, r.rate_high, percents=True),
                span(r.mild_rate_low, r.mild_rate_high, percents=True),
                number(r.ratio, 3),
                span(r.ratio_low, r.ratio_high, 3),
                span(r.mild_ratio_low, r.mild_ratio_high, 3),
            )
            for r in records(frame[frame["applicants"] > 0])
        )
        tables.append(
            Table(
                f"{name}: {frame.attrs['unknown']:,} unknown, {frame.attrs['unknown_selected']:,} of them {frame.attrs['hit']}",
                ("Category", "Rate", "All allocations", "By share", "Impact Ratio", "All allocations", "By share"),
                rows,
            )
        )  # fmt: skip
    if not tables:
        return Section("People whose category is unknown", ("There are none.",))
    return Section(
        "People whose category is unknown",
        (
            (
                "All allocations: the lowest and highest value over every way to give the unknown people "
                "a category that occurs in the table, the most selected category changing with them. "
                "Whether each was selected is known and kept. In the intersectional table somebody of "
                "known sex and unknown race is given any intersection, so that its bounds are never too "
                "narrow, and may be wider than need be."
            ),
            (
                "By share: each category is given its share among the known people, of whom none or all "
                "were selected; ratios are divided by the highest rate observed."
            ),
        ),
        tuple(tables),
    )


_READ = {True: "declared", False: "recognised"}


def readings_section(
    people: People, roles: Mapping[str, str], readings: Mapping[str, Sequence[Reading]]
) -> Section:
    """Show how each value of each column was read, and how many people have it."""
    rows = []
    for role, column in roles.items():
        sizes = people.cells.groupby(column)["n"].sum()
        rows += [
            (column, str(r.value), r.category, _READ[r.declared], count(sizes[r.value]))
            for r in readings[role]
        ]
    return Section(
        "How the values were read",
        ("Check this reading: a wrong category makes every number above wrong.",),
        (Table("Values and EEO-1 categories", ("Column", "Value", "Category", "Read", "# of Applicants"), tuple(rows)),),
    )  # fmt: skip


def method(
    people: People,
    score: str | None,
    ratio_context: float | None,
    frames: Mapping[str, pd.DataFrame],
) -> tuple[str, ...]:
    """Say how the numbers were calculated."""
    said = [
        (
            f"{people.rows:,} people were counted. The impact ratio is the rate of a category divided by "
            f"that of the category with the highest rate; a category that is left out is left out before "
            f"the highest rate is taken."
        ),
        (
            "Each table holds everybody whose category is known for it; a person of known sex and unknown "
            "race is in the table of sex only."
        ),
        "The law sets no threshold for an impact ratio.",
    ]
    if score:
        said.append("Scores equal to the median count as not above it.")
    if ratio_context is not None:
        below = sum(int((f["ratio"] < ratio_context).sum()) for f in frames.values())
        among = sum(int(f["ratio"].notna().sum()) for f in frames.values())
        said.append(
            f"For context only, as it was asked for: {below} of {among} impact ratios lie below "
            f"{ratio_context:g}."
        )
    return tuple(said)
