"""Keep the table that a loader read as Parquet, so that the next load takes milliseconds.

The Parquet file is written and read by DuckDB. Columns of the categorical dtype are stored as
their codes, with the levels in the file's own metadata: text is what makes reading slow. The
name of a file ends with the sha256 of its content, so one look tells whether it is whole; a
damaged one is read again from the source.
"""

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from isonomy.data.fetch import cache_folder, locked, sha256_of, staging

LAYOUT = 1
"""Rises when the way a table is stored changes."""


def cached_table(key: str, stamp: str, read: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """Return a table from the cache; where it is not there, read it and keep it.

    Parameters
    ----------
    key : str
        The name of the table, such as ``adult``.
    stamp : str
        What the table depends on: the checksums of its files and the version of its loader.
    read : callable
        Reads the table from its source.
    """
    folder = cache_folder() / "tables"
    name = f"{key}-{zlib.crc32(f'{LAYOUT} {stamp}'.encode()):08x}"
    table = _newest(folder, name)
    if table is not None:
        return table
    table = read()
    with locked(name) as is_locked:
        if is_locked:
            if _newest(folder, name) is not None:  # another process was quicker
                return table
            for damaged in folder.glob(f"{name}-*.parquet"):
                damaged.unlink(missing_ok=True)
        with staging(name, sweep=is_locked) as private:
            path = private / "table.parquet"
            _write(table, path)
            folder.mkdir(parents=True, exist_ok=True)
            path.replace(folder / f"{name}-{sha256_of(path)}.parquet")
    return table


def _newest(folder: Path, name: str) -> pd.DataFrame | None:
    for path in folder.glob(f"{name}-*.parquet"):
        try:
            if path.stem.rpartition("-")[2] == sha256_of(path):
                return _read(path)
        except FileNotFoundError:  # another process replaced it meanwhile
            continue
    return None


def _write(table: pd.DataFrame, path: Path) -> None:
    import duckdb

    levels = {
        column: values.cat.categories.tolist()
        for column, values in table.items()
        if isinstance(values.dtype, pd.CategoricalDtype)
    }
    codes = pd.DataFrame(
        {c: v.cat.codes if c in levels else v for c, v in table.items()}, copy=False
    )
    metadata = json.dumps({"columns": list(table.columns), "levels": levels})
    with duckdb.connect() as connection:
        connection.register("codes", codes)
        connection.execute(
            f"COPY codes TO {_quoted(str(path))} "
            f"(FORMAT parquet, KV_METADATA {{isonomy: {_quoted(metadata)}}})"
        )


def _read(path: Path) -> pd.DataFrame:
    import duckdb

    # A cursor of DuckDB's own connection: a new one costs half of what the whole load takes.
    with duckdb.default_connection().cursor() as connection:
        result = connection.execute(
            "SELECT decode(value) FROM parquet_kv_metadata(?) WHERE decode(key) = 'isonomy'",
            [str(path)],
        ).fetchall()
        columns = connection.read_parquet(str(path)).fetchnumpy()
    metadata = json.loads(result[0][0])
    levels = metadata["levels"]
    return pd.DataFrame(
        {
            c: pd.Categorical.from_codes(columns[c], levels[c], validate=False)
            if c in levels
            else _plain(columns[c])
            for c in metadata["columns"]
        },
        copy=False,
    )


def _plain(values: Any) -> Any:
    """Undo the masked array that DuckDB gives for a column with missing numbers."""
    if isinstance(values, np.ma.MaskedArray):
        return values.filled(np.nan) if values.mask.any() else values.data
    return values


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
