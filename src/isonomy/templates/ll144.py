"""New York City Local Law 144: the bias audit of an automated employment decision tool (AEDT)."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pandas as pd

from isonomy._arrays import Floats
from isonomy._validate import MISSING, resolve_favorable
from isonomy.errors import InputError
from isonomy.templates.base import TEMPLATES, Document, Field, Section, Template, fill_fields
from isonomy.templates.categories import (
    CATEGORIES,
    HISPANIC,
    UNKNOWN,
    Reading,
    race_with_ethnicity,
    read_values,
)
from isonomy.templates.impact import impact_frame
from isonomy.templates.ll144_shown import (
    NON_HISPANIC,
    PAST,
    bounds_section,
    headline,
    method,
    outcome_section,
    readings_section,
    warnings_of,
)
from isonomy.templates.people import People, count_people

LAW = "New York City Local Law 144 of 2021 (6 RCNY 5-300 to 5-304)"
MOST_CLASSES = 20

FIELDS = (
    Field("tool", "Tool (AEDT)", "name and version of the tool"),
    Field("auditor", "Independent auditor", "who made the audit; not who made or uses the tool"),
    Field("audit_date", "Date of the most recent audit", "YYYY-MM-DD", kind="past date"),
    Field("distribution_date", "Distribution date of the tool", "YYYY-MM-DD, when its use began", kind="date"),
    Field("data_source", "Source and explanation of the data", "whose data, of what period, how they were collected"),
    Field("data_kind", "Historical or test data", "5-302: historical data of the tool, unless they are insufficient", options=("historical", "test")),
    Field("test_data_reason", "Why test data, and how they were made", "only with test data", required=False),
    Field("exclusion_justification", "Justification for leaving out small categories", "giving it leaves categories under 2% out of the impact ratios (5-301(d))", required=False),
)  # fmt: skip

SEX, RACE = CATEGORIES["sex"], CATEGORIES["race"]


def fill_ll144(
    source: Any,
    *,
    sex: str,
    race: str,
    ethnicity: str | None = None,
    prediction: str | None = None,
    score: str | None = None,
    favorable: Any = None,
    categories: Mapping[str, Mapping[str, str]] | None = None,
    ratio_context: float | None = None,
    fields: Mapping[str, Any] | None = None,
    table: str | None = None,
    today: date | None = None,
) -> Document:
    """Fill the tables of a bias audit under New York City Local Law 144.

    Parameters
    ----------
    source : path or frame
        A row per applicant or candidate who was assessed.
    sex, race : str
        Columns; ``race`` may hold race and ethnicity together.
    ethnicity : str, optional
        Column that says who is Hispanic or Latino, where ``race`` does not.
    prediction : str, optional
        Column of the outcome: selected or not, or a class. Of more than two classes each has its
        tables, unless ``favorable`` names those that are a selection.
    score : str, optional
        Column of scores: counted are those strictly above the median of all rows.
    favorable : value or collection, optional
        The outcome that is a selection; may be left out where it is 1 of 0 / 1.
    categories : mapping of role to mapping of value to category, optional
        What values mean that are not plainly spelled: ``{"race": {"Other": "Unknown"}}``.
    ratio_context : float, optional
        Say how many impact ratios lie below this number. The law itself sets no threshold.
    fields : mapping, optional
        What only a person can say; see ``TEMPLATES["ll144"].fields``.
    table : str, optional
        Table of a DuckDB file, sheet of an Excel file.
    today : date, optional
        The day from which the age of the audit is reckoned.

    Returns
    -------
    Document

    Examples
    --------
    >>> people = pd.DataFrame({
    ...     "sex": ["M", "F"] * 50, "race": ["White", "White", "Asian", "Black"] * 25,
    ...     "hired": [1, 0, 1, 1] * 25})
    >>> document = fill_ll144(people, sex="sex", race="race", prediction="hired")
    >>> document.frames["sex"][["category", "rate", "ratio"]].values.tolist()
    [['Male', 1.0, 1.0], ['Female', 0.5, 0.5]]
    """
    today = today or datetime.now(UTC).date()
    if prediction is None and score is None:
        raise InputError(
            "A column of outcomes or of scores must be named: prediction= (--prediction) or score= "
            "(--score)."
        )
    if ratio_context is not None and not 0 < ratio_context <= 1:
        raise InputError(
            f"An impact ratio lies between 0 and 1; got {ratio_context:g} for context."
        )
    filled = fill_fields(FIELDS, fields, today=today)
    given = {f.name: f.value for f in filled}
    roles = {"sex": sex, "race": race, **({"ethnicity": ethnicity} if ethnicity else {})}
    columns = [*roles.values(), *([prediction] if prediction else [])]
    people = count_people(source, columns, score=score, table=table)
    readings = {
        role: read_values(role, people.values(column), (categories or {}).get(role))
        for role, column in roles.items()
    }
    sections: list[Section] = []
    frames: dict[str, pd.DataFrame] = {}
    kinds = [
        *(_selections(people, prediction, favorable) if prediction else []),
        *([("Scoring", "above", people.cells["above"])] if score else []),
    ]
    where = _places(people, roles, readings)
    for title, word, hits in kinds:
        counts = np.zeros((2, len(SEX) + 1, len(RACE) + 1))
        np.add.at(counts, (0, *where), people.cells["n"].to_numpy(np.float64))
        np.add.at(counts, (1, *where), hits.to_numpy(np.float64))
        made = _tables_of(counts, leave_out=given["exclusion_justification"] is not None)
        for frame in made.values():
            frame.attrs["hit"] = PAST[word]
        frames |= {(name if len(kinds) == 1 else f"{title}: {name}"): f for name, f in made.items()}
        sections.append(outcome_section(title, word, made, counts, given, people))
    warnings = warnings_of(frames, people, given, today, score)
    sections += [bounds_section(frames), readings_section(people, roles, readings)]
    sections.append(Section("How it was calculated", method(people, score, ratio_context, frames)))
    return Document(
        kind="ll144",
        title="Bias audit tables of an automated employment decision tool",
        law=LAW,
        headline=headline(frames),
        sections=tuple(sections),
        fields=filled,
        warnings=tuple(warnings),
        frames=frames,
    )


TEMPLATES.add(
    "ll144",
    Template(
        "ll144",
        "New York City Local Law 144: bias audit of an employment decision tool",
        LAW,
        "Selection or scoring rates and impact ratios by sex, race/ethnicity and their intersections.",
        FIELDS,
        fill_ll144,
    ),
    aliases=("local-law-144",),
)


# ------------------------------------------------------------------ counting


def _selections(
    people: People, prediction: str, favorable: Any
) -> list[tuple[str, str, "pd.Series[Any]"]]:
    """Return title, word and selected people of each kind of outcome."""
    cells = people.cells
    classes = people.values(prediction)
    if MISSING in classes:
        missing = int(cells.loc[cells[prediction] == MISSING, "n"].sum())
        raise InputError(
            f"Every person must have an outcome; {missing:,} of {prediction!r} are missing: drop "
            f"those rows, or say what they mean."
        )
    if favorable is None and len(classes) > 2:
        if len(classes) > MOST_CLASSES:
            raise InputError(
                f"Outcomes must be at most {MOST_CLASSES} classes; {prediction!r} holds "
                f"{len(classes):,} values: name a score by --score, or what a selection is by --favorable."
            )
        return [
            (f"Class {c}", "in the class", cells["n"].where(cells[prediction] == c, 0))
            for c in classes
        ]
    chosen = resolve_favorable(classes, favorable)
    return [("Selection", "selected", cells["n"].where(cells[prediction].isin(chosen), 0))]


def _places(
    people: People, roles: Mapping[str, str], readings: Mapping[str, Sequence[Reading]]
) -> tuple[Any, Any]:
    """Return the place of each cell among the sexes and the races; the last place is unknown."""
    read = {role: {r.value: r.category for r in found} for role, found in readings.items()}
    category = {
        role: [read[role][v] for v in people.cells[column]] for role, column in roles.items()
    }
    race = category["race"]
    if "ethnicity" in category:
        race = [
            race_with_ethnicity(*pair) for pair in zip(race, category["ethnicity"], strict=True)
        ]
    return (
        np.array([[*SEX, UNKNOWN].index(c) for c in category["sex"]]),
        np.array([[*RACE, UNKNOWN].index(c) for c in race]),
    )


def _tables_of(counts: Floats, *, leave_out: bool) -> dict[str, pd.DataFrame]:
    """Return the numbers of the three tables; ``counts`` are people and hits by sex and race."""
    everyone = counts.sum(axis=(1, 2))
    by_sex, by_race = counts.sum(axis=2)[:, :-1], counts.sum(axis=1)[:, :-1]
    # in the order of the rule: Hispanic or Latino men and women, then the other races by sex
    both = np.concatenate([counts[:, :-1, 0], counts[:, :-1, 1:-1].reshape(2, -1)], axis=1)
    names = [f"{HISPANIC}, {s}" for s in SEX]
    names += [f"{NON_HISPANIC}, {s}, {r}" for s in SEX for r in RACE[1:]]
    races = [RACE[0], *(f"{r} (Not Hispanic or Latino)" for r in RACE[1:])]
    out = {}
    for name, categories, (n, hits) in (
        ("sex", SEX, by_sex),
        ("race", races, by_race),
        ("intersectional", names, both),
    ):
        m, u = everyone - (n.sum(), hits.sum())
        out[name] = impact_frame(
            categories, n, hits, unknown=int(m), unknown_selected=int(u), leave_out_small=leave_out
        )
        out[name].attrs = {"unknown": int(m), "unknown_selected": int(u)}
    return out
