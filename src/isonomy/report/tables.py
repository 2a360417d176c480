"""The page of a paper's tables and figures, made from any runs."""

from collections.abc import Iterable, Sequence

import pandas as pd

from isonomy._shown import SUMMARIES, Summary
from isonomy.papers import PaperTable
from isonomy.papers.paper import FINDINGS
from isonomy.papers.table import label_of
from isonomy.report import blocks as b
from isonomy.report.figures import figure_chart

_WIDE = 12  # columns, beyond which a table is written one cell a row
_MANY = 8  # columns, beyond which only the note below a table says what its small numbers are


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
    head = [b.heading(table.name), b.soft(f"{table.size}.")]
    notes = [b.soft(said) for said in table.notes]
    if table.name == FINDINGS:
        names, cells = [*map(str, text.columns)], text.astype(str).to_numpy()
        said = [
            b.more(label_of(row), [b.facts(zip(names, line, strict=True))], unfolded=True)
            for row, line in zip(text.index, cells, strict=True)
        ]
        return [*head, *said, *notes]
    theirs = _printed(table, text)
    figure = figure_chart(table)
    caption = f"{table.name}: {table.title}"
    if figure is not None:
        return [*head, figure | {"numbers": _grid(caption, text, theirs)}, *notes]
    # the paper's full width fits no screen: one table for each gap, model or side
    split = text.columns.nlevels > 1 and text.shape[1] > _WIDE
    parts = [*dict.fromkeys(text.columns.get_level_values(0))] if split else []
    grids = [_grid(f"{caption}, {part}", text[part], theirs[part]) for part in parts]
    return [*head, *(grids or [_grid(caption, text, theirs)]), *notes]


def _grid(caption: str, text: pd.DataFrame, theirs: pd.DataFrame) -> b.Block:
    """Return cells as a table, with what is in print below them; one cell a row if it is wide."""
    columns = [label_of(c) for c in text.columns]
    said = "" if _MANY < len(columns) <= _WIDE else "in print "
    rows: list[list[b.Cell]] = []
    for (row, *ours), printed in zip(text.itertuples(), theirs.to_numpy().tolist(), strict=True):
        cells = [
            b.word(str(cell), small=f"{said}{other}" if other else "")
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
        heads = [lead, *map(b.right, columns)]
    beside = bool(theirs.to_numpy().astype(bool).any())
    note = "Small: what the paper prints, where it is something else." if beside else ""
    return b.table(caption, heads, rows, note=note)


def _printed(table: PaperTable, text: pd.DataFrame) -> pd.DataFrame:
    """Return what the paper prints in each cell; empty where it prints the same, or nothing."""
    if table.printed is None:
        return text.map(lambda _: "")
    theirs = table.printed.reindex_like(text).astype(object).fillna("").astype(str)
    return theirs.where(theirs != table.text(), "")
