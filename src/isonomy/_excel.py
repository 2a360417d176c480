"""Sheets of an Excel file as tables (extra ``excel``)."""

import zipfile
from datetime import datetime
from typing import Any

import pandas as pd

from isonomy._validate import check_names, optional, repeated_names
from isonomy.errors import InputError

ABSENT = ("na", "n/a", "nan", "null", "none", "")
"""In a column of numbers, the words for a missing one."""


def read_sheets(name: str) -> dict[str, pd.DataFrame]:
    """Read the sheets of a file that hold anything: cells as they were stored, empty rows left out."""
    optional("openpyxl", extra="excel", purpose="Reading an Excel file")
    try:
        sheets = pd.read_excel(
            name, sheet_name=None, header=None, dtype=object, keep_default_na=False,
            na_values=[""], engine="openpyxl",
        )  # fmt: skip
    except (OSError, KeyError, ValueError, SyntaxError, zipfile.BadZipFile) as error:
        raise InputError(f"The file {name!r} cannot be read as an Excel file: {error}.") from None
    cells = {
        title: grid.dropna(how="all").dropna(axis=1, how="all") for title, grid in sheets.items()
    }
    filled = {title: grid for title, grid in cells.items() if not grid.empty}
    if not filled:
        raise InputError(f"The file must hold rows; {name!r} is empty.")
    return filled


def sheet_table(grid: pd.DataFrame, title: str) -> pd.DataFrame:
    """Make a table of a sheet; its first row names the columns."""
    names = ["" if pd.isna(cell) else str(cell).strip() for cell in grid.iloc[0]]
    if len(names) > 1 and not names[0]:  # the row numbers of pandas
        grid, names = grid.iloc[:, 1:], names[1:]
    if "" in names:
        raise InputError(
            f"The first row of sheet {title!r} must name its columns; column "
            f"{names.index('') + 1} has no name."
        )
    cells = grid.iloc[1:]
    copies = {k for a, k in repeated_names(names) if cells.iloc[:, a].equals(cells.iloc[:, k])}
    kept = [k for k in range(len(names)) if k not in copies]
    check_names([names[k] for k in kept], what=f"sheet {title!r}", fold=True)
    return pd.DataFrame({names[k]: _typed(cells.iloc[:, k]) for k in kept})


def _typed(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Make a column of cells: numbers or truth values if all of them are, else words."""
    known = column[~column.astype(str).str.strip().str.lower().isin(ABSENT)]
    kinds = set(map(type, known))
    if kinds == {bool}:
        return column.where(column.index.isin(known.index), None).astype("boolean")
    numbers = pd.to_numeric(column, errors="coerce")
    # text that only looks like a number, such as a code with leading zeros, stays text
    if kinds & {int, float} and kinds <= {int, float, str} and numbers[known.index].notna().all():
        return numbers
    return column.map(_word, na_action="ignore").astype(object)


def _word(cell: Any) -> str:
    """Write a cell as a word; a day as 2024-05-31."""
    return str(cell).removesuffix(" 00:00:00") if isinstance(cell, datetime) else str(cell)
