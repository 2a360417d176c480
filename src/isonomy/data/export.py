"""Write a table as CSV or Parquet."""

from pathlib import Path

import pandas as pd

from isonomy.errors import InputError

__all__ = ["write_table"]


def write_table(table: pd.DataFrame, file: str | Path) -> None:
    """Write a table to a file that ends in ``.csv`` or ``.parquet``.

    Parameters
    ----------
    table : pandas.DataFrame
        The table; categories are written as their values.
    file : str or path
        Where to; an existing file is replaced, and never left half written.
    """
    path = Path(file)
    partial = path.with_name(f"{path.name}.part")
    plain = table.astype(
        {c: object for c, k in table.dtypes.items() if isinstance(k, pd.CategoricalDtype)}
    )
    if path.suffix.lower() == ".csv":
        plain.to_csv(partial, index=False)
    elif path.suffix.lower() in {".parquet", ".pq"}:
        import duckdb

        with duckdb.connect() as connection:
            connection.from_df(plain).write_parquet(str(partial))
    else:
        raise InputError(f"The file to write must end in .csv or .parquet; got {str(file)!r}.")
    partial.replace(path)
