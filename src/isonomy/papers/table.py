"""A table or figure of a paper, recomputed: its numbers, what they rest on, what was printed."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import pandas as pd

from isonomy._shown import Shown
from isonomy._tables import plain

Reading = Literal["as_published", "corrected"]
"""How a table that has both is made: as the authors made it, or without their slips."""

ABSENT = {"recomputed": "the authors' files were not given", "ours": "not yet run"}
"""What a column of findings says where there are no runs behind it."""


def percent(value: Any) -> str:
    """Write a share as the papers do: a whole percentage."""
    return "" if value is None or value != value else f"{100 * value:.0f}%"


def decimals(digits: int, *, undefined: str = "") -> Callable[[Any], str]:
    """Return a function that writes a number with so many decimals, anything else as it is.

    Examples
    --------
    >>> [decimals(2)(value) for value in (-0.001, 0.125, float("nan"), 310, "III")]
    ['0.00', '0.12', '', '310', 'III']
    """

    def write(value: Any) -> str:
        if isinstance(value, float):
            # a minus before nothing would be a cell of its own
            return undefined if value != value else f"{value:z.{digits}f}"
        return "" if value is None or value is pd.NA else str(value)

    return write


def four_digits(value: Any) -> str:
    """Write a number with four significant digits, anything else as it is."""
    if isinstance(value, float):
        return "" if value != value else f"{value:.4g}"
    return "" if value is None or value is pd.NA else str(value)


@dataclass(frozen=True)
class PaperTable(Shown):
    """A recomputed table or figure.

    Attributes
    ----------
    name : str
        Such as ``table4``.
    title : str
        What it shows.
    data : DataFrame
        The recomputed values; rows and columns as in the paper.
    cases : int
        How many cases the values rest on.
    unit : str
        What a case is.
    notes : tuple of str
        What a reader must know: what was left out, what does not reproduce.
    printed : DataFrame, optional
        What the paper prints in the same cells, as text; empty where the folder does not hold
        all the cases of a cell.
    write : callable
        How a cell is written where it is compared with the print.
    shares : bool
        Whether the cells are shares, which a screen shows as percentages.
    drawing : {"", "bars", "grid"}
        How a page draws it above its numbers: bars, a group for each row, or the cells as shades.
    drawn : tuple of str
        The columns that are drawn; all that hold numbers by default.
    """

    page: ClassVar[str] = "tables"

    name: str
    title: str
    data: pd.DataFrame
    cases: int
    unit: str = "mitigation cases"
    notes: tuple[str, ...] = ()
    printed: pd.DataFrame | None = None
    write: Callable[[Any], str] = four_digits
    shares: bool = False
    drawing: str = ""
    drawn: tuple[str, ...] = ()

    @property
    def size(self) -> str:
        """The number of cases, in words.

        Examples
        --------
        >>> PaperTable("fig1", "", pd.DataFrame(), 1, "mitigation cases").size
        '1 mitigation case'
        """
        unit = re.sub(r"s\b", "", self.unit, count=1) if self.cases == 1 else self.unit
        return f"{self.cases:,} {unit}"

    def frame(self) -> pd.DataFrame:
        """Return the recomputed values."""
        return self.data

    def text(self) -> pd.DataFrame:
        """Return the cells as the paper would print them."""
        return self.data.map(self.write)

    def shown(self, digits: int | None = None) -> pd.DataFrame:
        """Return the cells for a screen: shares as percentages, or numbers with ``digits`` decimals.

        Parameters
        ----------
        digits : int, optional
            Decimals of every number; by default as in print, with one decimal for percentages.

        Examples
        --------
        >>> made = PaperTable("fig3", "", pd.DataFrame({"a": [0.517058]}), 1, shares=True)
        >>> made.shown()["a"].tolist(), made.shown(6)["a"].tolist()
        (['51.7%'], ['0.517058'])
        """
        if digits is None and not self.shares:
            return self.text()

        def cell(value: Any) -> str:
            if not isinstance(value, float):
                return self.write(value)
            if value != value:
                return ""
            return f"{100 * value:.1f}%" if digits is None else f"{value:.{digits}f}"

        return self.data.map(cell)

    def compare(self) -> pd.DataFrame:
        """Return every cell that can be compared: row, column, printed, recomputed, agrees."""
        names = ["row", "column", "printed", "recomputed", "agrees"]
        if self.printed is None:
            return pd.DataFrame(columns=names)
        text = self.text()
        ours = {(row, column): v for column in text for row, v in text[column].items()}
        rows = [
            (label_of(row), label_of(column), theirs, ours[row, column])
            for column in self.printed
            for row, theirs in self.printed[column].items()
            if theirs and (row, column) in ours
        ]
        return pd.DataFrame([(*r, r[2] == r[3]) for r in rows], columns=names)

    def agreement(self, whose: str = "the paper's") -> list[str]:
        """Return notes: how many cells equal the print, and every one that does not."""
        compared = self.compare()
        if compared.empty:
            return []
        agrees = compared["agrees"].astype(bool)
        return [
            f"{int(agrees.sum())} of {len(compared)} cells that can be compared equal {whose}.",
            *(
                f"{cell.row}, {cell.column}: {cell.recomputed}, printed {cell.printed}."
                for cell in compared[~agrees].itertuples()
            ),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data: undefined is None."""
        rows = [
            {"row": label_of(row)} | {label_of(c): plain(v) for c, v in cells.items()}
            for row, cells in self.data.iterrows()
        ]
        compared = self.compare().to_dict(orient="records")
        return {
            "table": self.name,
            "title": self.title,
            "cases": self.cases,
            "unit": self.unit,
            "rows": rows,
            "notes": list(self.notes),
            "compared_with_the_paper": compared,
        }

    def __repr__(self) -> str:
        return f"PaperTable({self.name!r}, {self.title!r}, {self.size})"


@dataclass(frozen=True)
class Recipe:
    """How a table is made, and what a frame must hold for it.

    Attributes
    ----------
    make : callable
        From a result frame to the table.
    title : str
        One line for a list.
    needs : frozenset of str
        Parts of a frame, as ``Paper.parts`` names them.
    close : float
        How far two cells may lie apart and still be called close, in the unit of the table.
    """

    make: Callable[..., PaperTable]
    title: str
    needs: frozenset[str]
    close: float = 0.05

    @property
    def has_readings(self) -> bool:
        """Whether the table is made as published or corrected, by the keyword ``reading``."""
        return "reading" in inspect.signature(self.make).parameters


def label_of(key: Any) -> str:
    """Write the name of a row or column, of several levels too."""
    return " ".join(map(str, key)) if isinstance(key, tuple) else str(key)
