"""Cells of a paper's tables side by side: equal as printed, or close."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from isonomy.errors import InputError
from isonomy.papers.cells import same_part, same_repeats
from isonomy.papers.judge import one_study
from isonomy.papers.paper import FINDINGS, Paper, with_others
from isonomy.papers.table import PaperTable, label_of

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


def side_by_side(
    ours: pd.DataFrame,
    published: pd.DataFrame,
    paper: Paper,
    tables: Iterable[str],
    *,
    reading: str | None = None,
    paired: bool = True,
    beside: pd.DataFrame | None = None,
) -> tuple[list[PaperTable], list[str]]:
    """Make tables of our runs and of the published ones, each row of ours above the published one.

    Parameters
    ----------
    ours, published : DataFrame
        Result frames; both are cut down to the tasks, models and methods that both hold.
    paper : Paper
        Whose tables they are.
    tables : iterable of str
        By name.
    reading : {"as_published", "corrected"}, optional
        For tables that have both.
    paired : bool
        Whether a repeat met the same test rows on both sides: tables are then made of the repeats
        that both sides hold.
    beside : DataFrame, optional
        Our runs of the paper's other studies, for the findings.

    Returns
    -------
    tuple of list of PaperTable and list of str
        The tables, and a note on each that cannot be made.
    """
    part = same_part(published, one_study(ours))
    if paired and paper.comparable:
        part = same_repeats(part, ours)
    made, left_out = [], []
    sides = {"ours": same_part(ours, part), "published": part}
    for name in tables:
        recipe = paper.tables[name]
        try:
            if name == FINDINGS:
                both = with_others(ours, beside)
                made.append(recipe.make(published=published, ours=both))
                continue
            given = reading if recipe.has_readings else None
            one, other = (paper.make(name, side, reading=given) for side in sides.values())
        except InputError as error:
            left_out.append(f"{name} cannot be made of both sides: {error}")
            continue
        made.append(
            replace(
                one,
                data=_interleaved({"ours": one.data, "published": other.data}),
                notes=(
                    (
                        f"Of the tasks, models, methods and repeats that both sides hold: {one.cases:,} "
                        f"{one.unit} of ours, {other.cases:,} published."
                    ),
                ),
                printed=None,
                drawing="",
            )
        )
    return made, left_out


def _interleaved(sides: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of several tables in turn; the last level of the index says whose they are."""
    rows, *others = (side.index for side in sides.values())
    for other in others:
        rows = rows.append(other.difference(rows, sort=False))
    # numbers of cases stay whole where a row is missing on one side
    laid = {whose: side.astype(object).reindex(rows) for whose, side in sides.items()}
    both = pd.concat(laid)
    order = np.arange(len(both)).reshape(len(sides), -1).T.ravel()
    levels = [*range(1, both.index.nlevels), 0]
    return both.iloc[order].reorder_levels(levels)


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
