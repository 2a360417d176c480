"""Tables of any kind: pandas and other frames, arrays, sparse matrices.

Columns are addressed by position, so that every name works, the whole numbers of
``pd.DataFrame(array)`` too; what is made of a table is a table of the same kind.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_list_like, is_numeric_dtype
from scipy import sparse
from sklearn.utils import _safe_indexing

from isonomy._validate import given_as, listed, no_rows
from isonomy.errors import InputError


def _frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return a frame of another kind than pandas, None for anything else."""
    if isinstance(X, pd.DataFrame | np.ndarray):
        return None
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def column_names(X: Any) -> list[Any] | None:
    """Return the names of a frame's columns, None for an array."""
    frame = X if isinstance(X, pd.DataFrame) else _frame(X)
    return None if frame is None else list(frame.columns)


def row_count(X: Any) -> int:
    """Return the number of rows of a table."""
    return int(X.shape[0])


def take(X: Any, rows: Any) -> Any:
    """Return rows of a table by position."""
    return _safe_indexing(X, np.asarray(rows))


def stack(tables: Sequence[Any]) -> Any:
    """Put tables of one kind under each other."""
    first = tables[0]
    if len(tables) == 1:
        return first
    if isinstance(first, pd.DataFrame):
        return pd.concat(tables, ignore_index=True)
    if sparse.issparse(first):
        return sparse.vstack(tables, format="csr")
    frames = [nw.from_native(t, eager_only=True, pass_through=True) for t in tables]
    if isinstance(frames[0], nw.DataFrame):
        return nw.concat(frames).to_native()
    return np.concatenate(tables)


def get_column(X: Any, position: int) -> Any:
    """Return one column of a table: a Series of a pandas frame, else an array."""
    if isinstance(X, pd.DataFrame):
        return X.iloc[:, position]
    if sparse.issparse(X):
        return X.tocsc()[:, [position]].toarray()[:, 0]  # type: ignore[attr-defined]
    frame = _frame(X)
    return np.asarray(X)[:, position] if frame is None else frame[:, position].to_numpy()


def take_columns(X: Any, positions: Sequence[int]) -> Any:
    """Return the columns at these positions."""
    if isinstance(X, pd.DataFrame):
        return X.iloc[:, list(positions)]
    frame = _frame(X)
    if frame is not None:
        return frame.select([frame.columns[p] for p in positions]).to_native()
    return X[:, list(positions)]


def drop_columns(X: Any, positions: Sequence[int]) -> Any:
    """Return a table without the columns at these positions."""
    keep = np.setdiff1d(np.arange(X.shape[1]), list(positions)).tolist()
    return take_columns(X, keep) if len(positions) else X


def set_columns(X: Any, columns: Mapping[int, Any], *, keep_types: bool = True) -> Any:
    """Return a copy of a table with other values in some columns.

    With ``keep_types`` they are cast to the types that were there, and a sparse matrix stays one;
    otherwise the values decide, and it becomes an array.
    """
    if isinstance(X, pd.DataFrame):
        out = X.copy()
        for position, values in columns.items():
            fresh = pd.Series(values, index=X.index)
            kind = X.dtypes.iloc[position] if keep_types else fresh.dtype
            out.isetitem(position, (fresh if fresh.dtype == kind else fresh.astype(kind)).array)
        return out
    frame = _frame(X)
    if frame is not None:
        made = {frame.columns[position]: np.asarray(values) for position, values in columns.items()}
        series = [nw.new_series(c, v, backend=frame.implementation) for c, v in made.items()]
        if keep_types:
            series = [one.cast(frame.schema[one.name]) for one in series]
        return frame.with_columns(*series).to_native()
    if sparse.issparse(X) and keep_types:
        return _set_sparse(X, columns)
    whole = X.toarray() if sparse.issparse(X) else np.array(X)  # type: ignore[attr-defined]
    for position, values in columns.items():
        whole[:, position] = values
    return whole


def _set_sparse(X: Any, columns: Mapping[int, Any]) -> Any:
    keep = np.ones(X.shape[1])
    keep[list(columns)] = 0.0
    fresh = sparse.lil_array(X.shape)
    for position, values in columns.items():
        fresh[:, [position]] = np.asarray(values)[:, None]
    return X.tocsr() @ sparse.diags_array(keep) + fresh.tocsr()


def numeric_columns(X: Any) -> list[int]:
    """Return the positions of the columns that hold numbers; all of them in an array."""
    if isinstance(X, pd.DataFrame):
        return [j for j, k in enumerate(X.dtypes) if is_numeric_dtype(k) or is_bool_dtype(k)]
    frame = _frame(X)
    kinds = [nw.Float64()] * X.shape[1] if frame is None else frame.schema.values()
    return [j for j, kind in enumerate(kinds) if kind.is_numeric() or kind == nw.Boolean]


def check_cells(X: Any, *, advice: str) -> None:
    """Raise where a cell holds a list or another collection, by the first of each column.

    Examples
    --------
    >>> check_cells(pd.DataFrame({"tags": [["a", "b"], []]}), advice="leave it out")
    Traceback (most recent call last):
    ...
    isonomy.errors.InputError: Each cell must hold one number or word; column 'tags' holds a list: \
leave it out, or make a column of each of its values.
    """
    names = column_names(X)
    if names is None and (sparse.issparse(X) or np.asarray(X).dtype != object):
        return
    numbers = [] if names is None else numeric_columns(X)
    for j in sorted(set(range(X.shape[1])) - set(numbers)):
        cells = np.asarray(get_column(X, j))
        known = np.flatnonzero(pd.notna(cells) if cells.dtype == object else [])
        if known.size and is_list_like(cells[known[0]]):
            named = f"column {j if names is None else names[j]!r}"
            raise InputError(
                f"Each cell must hold one number or word; {named} holds "
                f"{given_as(cells[known[0]])}: {advice}, or make a column of each of its values."
            )


def as_matrix(X: Any, *, who: str, gaps: bool = False) -> NDArray[np.float64]:
    """Return a table as finite floats, missing ones where asked, or say what is not a number."""
    if sparse.issparse(X):
        X = X.toarray()  # type: ignore[attr-defined]
    names = column_names(X)
    if names is not None:
        words = [names[j] for j in sorted(set(range(len(names))) - set(numeric_columns(X)))]
        if words:
            raise InputError(
                f"{who} needs numeric columns; {listed(words)} "
                f"{'is' if len(words) == 1 else 'are'} not: encode such columns first "
                f"(OneHotEncoder)."
            )
        X = X.to_numpy() if isinstance(X, pd.DataFrame) else nw.from_native(X).to_numpy()
    try:
        matrix = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{who} needs numbers; got {error}: encode such columns first.") from None
    if matrix.ndim != 2:
        raise InputError(f"{who} needs a table of rows and columns; got {matrix.ndim} dimensions.")
    if not np.isfinite(matrix).all() and not (gaps and not np.isinf(matrix).any()):
        raise InputError(f"{who} needs finite numbers; fill missing values first (SimpleImputer).")
    return matrix


def like(X: Any, values: NDArray[np.float64], *, same_rows: bool = True) -> Any:
    """Wrap a matrix in the kind of frame that it came from; other rows get a new index."""
    if isinstance(X, pd.DataFrame):
        return pd.DataFrame(values, columns=X.columns, index=X.index if same_rows else None)
    frame = _frame(X)
    if frame is None:
        return values
    return nw.from_numpy(values, schema=frame.columns, backend=frame.implementation).to_native()


def as_vector(values: Any, *, name: str) -> NDArray[Any]:
    """Return labels as a one-dimensional array, from a list, an array or any series."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    vector = series.to_numpy() if isinstance(series, nw.Series) else np.asarray(values)
    if vector.ndim == 2 and vector.shape[1] == 1:
        vector = vector[:, 0]
    if vector.ndim == 0:
        raise no_rows(name, values)
    if vector.ndim != 1:
        raise InputError(f"{name} must be one column; got {vector.ndim} dimensions.")
    if vector.dtype.kind in "fO" and bool(pd.isna(vector).any()):
        raise InputError(f"{name} must not be missing; drop the rows where it is.")
    return vector


def as_pandas(table: Any) -> pd.DataFrame:
    """Return any frame that is held in memory as a pandas one."""
    if isinstance(table, pd.DataFrame):
        return table
    try:
        frame = nw.from_native(table, eager_only=True)
    except TypeError:
        raise InputError(
            f"A table must be held in memory, with named columns (pandas, polars, Arrow); got "
            f"{given_as(table)}: name the columns of an array with pd.DataFrame(array, "
            f"columns=[...]), collect a lazy table, read a file with Dataset.from_csv."
        ) from None
    # by columns of Python values: polars' own way to pandas needs pyarrow
    return pd.DataFrame({name: frame[name].to_list() for name in frame.columns})


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: None where undefined or infinite, rows for a frame.

    Arrays are lists; records and objects with ``to_dict()`` are dictionaries.

    Examples
    --------
    >>> plain({"bias": np.array([0.5, np.nan]), "rows": np.int64(3)})
    {'bias': [0.5, None], 'rows': 3}
    """
    if isinstance(value, pd.DataFrame):
        value = value.to_dict("records")
    elif isinstance(value, np.ndarray | np.generic | pd.Series):
        value = value.tolist()
    elif hasattr(value, "to_dict"):
        return value.to_dict()
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    elif is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    if value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value if isinstance(value, str | int | float | None) else str(value)
