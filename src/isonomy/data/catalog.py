"""The shelf of datasets: what there is, how to get it, how to load it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from isonomy._files import is_table_file, read_table
from isonomy._names import parse_name
from isonomy._registry import Registry
from isonomy.data.cache import cached_table
from isonomy.data.dataset import Dataset
from isonomy.data.fetch import File
from isonomy.errors import DataUnavailable, InputError

__all__ = ["DATASETS", "Entry", "dataset_from", "load"]


@dataclass(frozen=True)
class Entry:
    """A dataset on the shelf.

    Parameters
    ----------
    name : str
        Its name.
    title : str
        What a row is and what is predicted.
    rows : int
        The number of rows of its default version.
    attributes : tuple of str
        Its protected attributes.
    loader : callable
        Gives the Dataset; keyword parameters choose a version.
    files : tuple of File
        What ``isonomy data fetch`` gets; empty where no registry carries the data.
    by_hand : str
        What the user has to do where no registry carries the data; else empty.
    made : bool
        Whether the rows are drawn by a generator instead of read.
    """

    name: str
    title: str
    rows: int
    attributes: tuple[str, ...]
    loader: Callable[..., Dataset]
    files: tuple[File, ...] = ()
    by_hand: str = ""
    made: bool = False


DATASETS: Registry[Entry] = Registry("dataset")


def load(name: str, **options: Any) -> Dataset:
    """Load a dataset by name; it is fetched first where it is not in the cache.

    Parameters
    ----------
    name : str
        A name that ``isonomy data list`` shows; parameters may follow in brackets, as in
        ``meps(panel=21)``.
    **options
        Parameters of the dataset, such as ``panel=21`` for ``meps``, ``version="full"`` for
        ``bank`` and ``path=`` for those that have to be brought by hand.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> load("synthetic", n=500).y01.shape
    (500,)
    """
    name, given = parse_name(name)
    options = {**given, **options}
    entry = DATASETS[name]
    try:
        return entry.loader(**options)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        raise InputError(
            f"The parameters of dataset {name!r} must be those it has; {error}."
        ) from None


def dataset_from(source: str | Path, **options: Any) -> Dataset:
    """Load a dataset by name, or make one of a CSV, Parquet or DuckDB file.

    Parameters
    ----------
    source : str or path
        A name that ``isonomy data list`` shows, or a file ending in ``.csv``, ``.parquet`` or
        ``.duckdb``.
    **options
        For a name, those of ``load``; for a file, those of ``Dataset.from_frame``.

    Returns
    -------
    Dataset
    """
    if not is_table_file(source):
        return load(str(source), **options)
    options.setdefault("name", Path(source).stem)
    return Dataset.from_frame(read_table(source), **options)


def table_of(
    key: str, files: Iterable[File], read: Callable[[], pd.DataFrame], *, version: int = 1
) -> pd.DataFrame:
    """Give the table of a dataset's files from the cache, or read it from them and keep it."""
    stamp = " ".join([str(version), *(file.sha256 for file in files)])
    return cached_table(key, stamp, read)


def as_categories(table: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """Mark columns as categorical, with the raw values as sorted levels."""
    chosen = set(columns)
    return pd.DataFrame({c: v.astype("category") if c in chosen else v for c, v in table.items()})


def check_table(
    name: str, table: pd.DataFrame, *, rows: int, columns: Iterable[str]
) -> pd.DataFrame:
    """Raise unless a table has the rows and columns that were expected of it."""
    wanted = list(columns)
    missing = [c for c in wanted if c not in table.columns]
    if missing or len(table) != rows:
        found = f"without {missing[0]!r}" if missing else f"of {len(table):,} rows"
        raise DataUnavailable(
            f"{name!r} must be a table of {rows:,} rows with {len(wanted)} known columns; what "
            f"arrived is one {found}: the source has changed, please report it."
        )
    return table
