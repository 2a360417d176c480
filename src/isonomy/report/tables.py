"""A paper's tables and figures, made from any runs, as one page."""

from collections.abc import Sequence

import pandas as pd

from isonomy.papers import PaperTable
from isonomy.papers.table import label_of
from isonomy.report.figures import figure_svg
from isonomy.report.html import render


def tables_page(
    tables: Sequence[PaperTable],
    *,
    title: str,
    notes: Sequence[str] = (),
    digits: int | None = None,
) -> str:
    """Turn tables into one self-contained page.

    Parameters
    ----------
    tables : sequence of PaperTable
    title : str
        The study's name.
    notes : sequence of str
        What could not be made.
    digits : int, optional
        Decimals to show.
    """
    shown = []
    for table in tables:
        text = table.shown(digits)
        theirs = _printed(table, text)
        rows = [
            (label_of(row), [*zip(map(str, ours), print_, strict=True)])
            for (row, *ours), print_ in zip(text.itertuples(), theirs, strict=True)
        ]
        beside = any(cell for print_ in theirs for cell in print_)
        shown.append((table, [label_of(c) for c in text.columns], rows, figure_svg(table), beside))
    return render("tables.html", title=title, tables=shown, notes=notes)


def _printed(table: PaperTable, text: pd.DataFrame) -> list[list[str]]:
    """Return what the paper prints in each cell; empty where it prints the same, or nothing."""
    if table.printed is None:
        return [[""] * text.shape[1] for _ in range(len(text))]
    theirs = table.printed.reindex_like(text).astype(object).fillna("").astype(str)
    return theirs.where(theirs != table.text(), "").to_numpy().tolist()
