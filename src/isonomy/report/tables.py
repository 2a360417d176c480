"""The page of a paper's tables and figures, made from any runs."""

from collections.abc import Iterable, Sequence

import pandas as pd

from isonomy._shown import SUMMARIES, Summary
from isonomy.papers import PaperTable
from isonomy.papers.table import label_of
from isonomy.report import blocks as b
from isonomy.report.figures import figure_chart

_WIDE = 12  # columns, beyond which a table is written one cell a row


@SUMMARIES.register("tables")
def summarize_tables(
    tables: PaperTable | Sequence[PaperTable],
    *,
    title: str | None = None,
    command: str | None = None,
    notes: Iterable[str] = (),
    digits: int | None = None,
) -> Summary:
    """Return the summary of a paper's tables.

    Parameters
    ----------
    tables : PaperTable or sequence of PaperTable
    title : str, optional
        The study's name.
    command : str, optional
        The command line that makes the page again.
    notes : iterable of str
        What could not be made.
    digits : int, optional
        Decimals to show.
    """
    shown = [tables] if isinstance(tables, PaperTable) else [*tables]
    blocks: list[b.Block] = []
    agree, differ = 0, 0
    for table in shown:
        compared = table.compare()
        same = int(compared["agrees"].astype(bool).sum())
        agree, differ = agree + same, differ + len(compared) - same
        blocks += _table(table, digits)
    names = ", ".join(t.name for t in shown)
    compared_words = (
        f"{agree} of {agree + differ} cells that can be compared equal the print."
        if agree + differ
        else "No cell of these can be compared with the print."
    )
    single = shown[0] if len(shown) == 1 else None
    head = (
        f"{single.name}: {single.title}" if single else f"{len(shown)} tables, made again: {names}."
    )
    return b.summary(
        "tables",
        f"{title}: the paper's tables" if title else "A paper's tables",
        verdict=b.verdict("", head, [compared_words]),
        people=b.notes(notes),
        table=blocks,
        method=[b.facts([("Study", title or ""), ("Tables", names)])],
        limits=[
            (
                "A table that equals the print shows that the numbers can be made again, not that the "
                "paper's conclusions hold elsewhere."
            )
        ],
        command=command,
        headings={"people": "What is missing", "table": "The tables"},
    )


def _table(table: PaperTable, digits: int | None) -> list[b.Block]:
    text = table.shown(digits)
    theirs = _printed(table, text)
    beside = any(cell for row in theirs for cell in row)
    words = table.name == "findings"
    columns = [label_of(c) for c in text.columns]
    rows: list[list[b.Cell]] = []
    for (row, *ours), printed in zip(text.itertuples(), theirs, strict=True):
        cells = [
            b.word(str(cell), small=f"in print {other}" if other else "")
            for cell, other in zip(ours, printed, strict=True)
        ]
        if len(columns) > _WIDE:
            rows += [[label_of(row), c, cell] for c, cell in zip(columns, cells, strict=True)]
        else:
            rows.append([label_of(row), *cells])
    lead = str(text.index.name or "row")
    if len(columns) > _WIDE:
        heads: list[b.Cell] = [lead, "column", b.right("value")]
    else:
        heads = [lead, *(c if words else b.right(c) for c in columns)]
    note = " ".join(["Small: what the paper prints, where it is something else."] * beside)
    made = b.table(f"{table.name}: {table.title}", heads, rows, note=note)
    figure = figure_chart(table)
    count = b.soft(f"{table.cases:,} {table.unit}.")
    notes = [b.soft(said) for said in table.notes]
    if figure is not None:
        return [b.heading(table.name), count, figure | {"numbers": made}, *notes]
    return [b.heading(table.name), count, made, *notes]


def _printed(table: PaperTable, text: pd.DataFrame) -> list[list[str]]:
    """Return what the paper prints in each cell; empty where it prints the same, or nothing."""
    if table.printed is None:
        return [[""] * text.shape[1] for _ in range(len(text))]
    theirs = table.printed.reindex_like(text).astype(object).fillna("").astype(str)
    return theirs.where(theirs != table.text(), "").to_numpy().tolist()
