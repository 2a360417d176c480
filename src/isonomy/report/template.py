"""The page of a filled template: what it is not, its fields, open ones marked, and its tables."""

import numpy as np

from isonomy._shown import SUMMARIES, Summary
from isonomy.report import blocks as b
from isonomy.templates import Document, Section
from isonomy.templates.base import Cell, Picture


@SUMMARIES.register("template")
def summarize_template(
    document: Document, *, title: str | None = None, command: str | None = None
) -> Summary:
    """Return the summary of a filled template."""
    blank = document.open_fields
    still = f"{len(blank)} of {len(document.fields)} fields must still be filled in by a person."
    given = [(f.label, f.value) for f in document.fields if f.value is not None]
    return b.summary(
        "template",
        document.title if title is None else f"{document.title}: {title}",
        verdict=b.verdict(
            "", document.headline, [document.disclaimer, *([still] if blank else [])]
        ),
        people=[
            *b.notes(document.warnings),
            b.facts(given),
            *(b.blank(f.label, f.hint) for f in blank),
        ],
        picture=[_chart(p) for section in document.sections for p in section.pictures],
        table=[block for section in document.sections for block in _blocks(section)],
        method=[b.facts([("Data", title or "")])],
        statement=document.disclaimer,
        command=command,
        headings={"people": "To be known, and to be filled in", "table": "The form"},
    )


def _blocks(section: Section) -> list[b.Block]:
    tables = [
        b.table(
            table.caption,
            [
                b.right(c) if any(isinstance(row[k], Cell) for row in table.rows) else c
                for k, c in enumerate(table.columns)
            ],
            [[_cell(c) for c in row] for row in table.rows],
            note=table.note,
        )
        for table in section.tables
    ]
    return [b.heading(section.heading), *map(b.text, section.sentences), *tables]


def _cell(cell: str | Cell) -> b.Cell:
    if isinstance(cell, str):
        return cell
    if cell.text == "undefined":
        return {"text": cell.text, "value": None, "tone": "undefined"}
    return {"text": cell.text} if cell.value is None else {"text": cell.text, "value": cell.value}


def _chart(picture: Picture) -> b.Block:
    most = max((high for *_, high in picture.rows if high < float("inf")), default=1.2)
    return b.intervals(
        picture.title,
        [b.whisker(name, *ends) for name, *ends in picture.rows],
        alt=f"{picture.title}: {len(picture.rows)} ratios; their numbers are in the table below.",
        ends=(0.0, min(2.0, max(1.2, np.ceil(10 * most) / 10))),
        ideal=1.0,
        note=picture.note,
    )
