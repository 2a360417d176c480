"""Cells of a paper's tables side by side: equal as printed, or close."""

import re
from typing import Any

import pandas as pd

from isonomy.errors import InputError
from isonomy.papers.paper import FINDINGS, Paper
from isonomy.papers.table import label_of

_STARRED = re.compile(r"^(?P<value>-?\d+\.\d+)(?P<star>\*?)\(")


def compare_tables(
    ours: pd.DataFrame, published: pd.DataFrame | None, paper: Paper
) -> tuple[pd.DataFrame, list[str]]:
    """Make every table of both frames and compare their cells.

    Without published runs our tables are compared with the print, in the cells of which our runs
    hold all that is behind them.

    Returns
    -------
    tuple of DataFrame and list of str
        The cells (table, row, column, ours, published, equal, close, within), and a note on each
        table that one side cannot give.
    """
    rows: list[tuple[Any, ...]] = []
    notes = []
    # ours are cut down to what the published runs hold: what these lack is not said of ours
    has = paper.parts(ours)
    theirs_has = None if published is None else paper.parts(published)
    for name, recipe in paper.tables.items():
        if name == FINDINGS:
            continue
        theirs_lack = frozenset() if theirs_has is None else recipe.needs - theirs_has
        lacking = {
            "our runs": recipe.needs - has - theirs_lack,
            "the published runs of the same part": theirs_lack,
        }
        short = [
            f"{side} lack {' and '.join(sorted(parts))}" for side, parts in lacking.items() if parts
        ]
        try:
            if short:
                raise InputError(f"{', '.join(short)}.")
            our_table = recipe.make(ours)
            theirs = our_table if published is None else recipe.make(published)
        except InputError as error:  # too little for a statistic, such as two points to correlate
            notes.append(f"{name} is not compared: {error}")
            continue
        if published is not None:
            values, texts = theirs.data, theirs.text()
        elif our_table.compare().empty:
            notes.append(f"{name} is not compared: our runs hold no printed cell in full.")
            continue
        else:
            assert our_table.printed is not None
            texts = our_table.printed
            values = texts.map(lambda cell, within=recipe.close: _number_in(cell, within))
        own = our_table.text()
        before = len(rows)
        for column in own.columns.intersection(texts.columns, sort=False):
            for row in own.index.intersection(texts.index, sort=False):
                pair = str(own.loc[row, column]), str(texts.loc[row, column])
                compared = pair[1] if published is None else "".join(pair).strip("-")
                if compared:
                    equal = pair[0] == pair[1]
                    close = equal or is_close(
                        our_table.data.loc[row, column], values.loc[row, column], recipe.close
                    )
                    cell = (name, label_of(row), label_of(column), *pair, equal, close)
                    rows.append((*cell, recipe.close))
        if len(rows) == before:
            why = our_table.notes[-1] if our_table.notes else "it has no cell on both sides."
            notes.append(f"{name} is not compared: {why}")
    columns = ["table", "row", "column", "ours", "published", "equal", "close", "within"]
    return pd.DataFrame(rows, columns=columns), notes


def is_close(one: Any, other: Any, within: float) -> bool:
    """Return whether two cells are close: numbers by distance, starred ones with the same star."""
    if isinstance(one, str) and isinstance(other, str):
        a, b = _STARRED.match(one), _STARRED.match(other)
        if a is None or b is None:
            return one == other
        near = abs(float(a["value"]) - float(b["value"])) <= within
        return near and a["star"] == b["star"]
    if isinstance(one, str) or isinstance(other, str):
        return False
    return bool(abs(float(one) - float(other)) <= within)


def _number_in(text: str, within: float) -> Any:
    """Return the number of a printed cell (``48%``, ``0.024``, ``12``), or the text itself."""
    try:
        number = float(text.rstrip("%"))
    except ValueError:
        return text
    # a printed percentage of a share, unless the table itself is in percentages
    return number / 100 if text.endswith("%") and within < 1 else number
