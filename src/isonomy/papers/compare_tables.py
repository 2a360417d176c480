"""Cells of a paper's tables side by side: equal as printed, or close."""

import re
from typing import Any

import pandas as pd

from isonomy.errors import InputError
from isonomy.papers.paper import FINDINGS, Paper
from isonomy.papers.table import PaperTable, label_of

__all__ = ["TABLE_CELL", "compare_tables", "is_close", "near_print"]

TABLE_CELL = ["table", "row", "column", "ours", "published", "equal", "close", "within"]
"""What is told of a cell of a table."""

_STARRED = re.compile(r"^(?P<value>-?\d+\.\d+)(?P<star>\*?)\(")


def compare_tables(
    ours: pd.DataFrame, published: pd.DataFrame, paper: Paper
) -> tuple[pd.DataFrame, list[str]]:
    """Make every table of both frames and set their cells side by side.

    Returns the cells, and a note on each table that one side cannot give.
    """
    rows: list[dict[str, Any]] = []
    notes = []
    parts = {"our runs": paper.parts(ours), "the published files": paper.parts(published)}
    for name, recipe in paper.tables.items():
        if name == FINDINGS:
            continue
        short = [
            f"{side} lack {' and '.join(sorted(recipe.needs - has))}"
            for side, has in parts.items()
            if recipe.needs - has
        ]
        if short:
            notes.append(f"{name} is not compared: {', '.join(short)}.")
            continue
        try:
            made = recipe.make(ours), recipe.make(published)
        except InputError as error:  # too little for a statistic, such as two points to correlate
            notes.append(f"{name} is not compared: {error}")
            continue
        rows += _table_cells(*made, recipe.close)
    return pd.DataFrame(rows, columns=TABLE_CELL), notes


def _table_cells(mine: PaperTable, theirs: PaperTable, within: float) -> list[dict[str, Any]]:
    texts = mine.text(), theirs.text()
    out = []
    for column in mine.data.columns.intersection(theirs.data.columns, sort=False):
        for row in mine.data.index.intersection(theirs.data.index, sort=False):
            one, other = mine.data.loc[row, column], theirs.data.loc[row, column]
            written = [str(t.loc[row, column]) for t in texts]
            if not any(w.strip("-") for w in written):
                continue
            out.append(
                {
                    "table": mine.name,
                    "row": label_of(row),
                    "column": label_of(column),
                    "ours": written[0],
                    "published": written[1],
                    "equal": written[0] == written[1],
                    "close": written[0] == written[1] or is_close(one, other, within),
                    "within": within,
                }
            )
    return out


def is_close(one: Any, other: Any, within: float) -> bool:
    """Say whether two cells are close: numbers by distance, starred ones with the same star."""
    if isinstance(one, str) and isinstance(other, str):
        a, b = _STARRED.match(one), _STARRED.match(other)
        if a is None or b is None:
            return one == other
        near = abs(float(a["value"]) - float(b["value"])) <= within
        return near and a["star"] == b["star"]
    if isinstance(one, str) or isinstance(other, str):
        return False
    return bool(abs(float(one) - float(other)) <= within)


def near_print(value: Any, theirs: str, within: float) -> bool:
    """Say whether a value of ours is close to a printed cell: ``48%``, ``0.024``, ``12``, a word."""
    if isinstance(value, str):
        return is_close(value, theirs, within)
    try:
        number = float(theirs.rstrip("%"))
    except ValueError:
        return False
    # a printed per cent of a share, unless the table itself is in per cents
    scale = 100.0 if theirs.endswith("%") and within < 1 else 1.0
    return is_close(float(value), number / scale, within)
