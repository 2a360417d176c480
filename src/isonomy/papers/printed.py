"""Printed numbers: CSV files in a paper's folder, cell by cell as they stand in print."""

from functools import cache
from pathlib import Path

import pandas as pd


def read_printed(file: str, name: str, *, index: int = 1, header: int = 1) -> pd.DataFrame:
    """Read a printed table; every cell is text, an empty one is empty.

    Parameters
    ----------
    file : str
        ``__file__`` of a module in the paper's folder.
    name : str
        The table: ``printed/NAME.csv`` in that folder.
    index : int
        How many leading columns label the rows; 0 for none.
    header : int
        How many lines label the columns.

    Examples
    --------
    >>> from isonomy.papers.chen_2022 import tables
    >>> read_printed(tables.__file__, "fig5").loc["SPD", "large"]
    '0.509595'
    """
    return _read(Path(file).parent / "printed" / f"{name}.csv", index, header).copy()


@cache
def _read(path: Path, index: int, header: int) -> pd.DataFrame:
    table = pd.read_csv(
        path,
        dtype=str,
        keep_default_na=False,
        header=list(range(header)) if header > 1 else 0,
        index_col=list(range(index)) if index > 1 else 0 if index else False,
    )
    return table.rename_axis(index=None, columns=None) if index == header == 1 else table
