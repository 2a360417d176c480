"""Tables of any kind: pandas and other frames, arrays, sparse matrices."""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils import _safe_indexing

__all__ = ["column_names", "get_column", "plain", "row_count", "set_columns", "stack", "take"]


def column_names(X: Any) -> list[Any] | None:
    """Give the names of a frame's columns, None for an array."""
    if isinstance(X, pd.DataFrame):
        return list(X.columns)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return list(frame.columns) if isinstance(frame, nw.DataFrame) else None


def row_count(X: Any) -> int:
    """Count the rows of a table."""
    return int(X.shape[0])


def take(X: Any, rows: Any) -> Any:
    """Give rows of a table by position, as the kind of table it is."""
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
    """Give one column of a table: a Series of a pandas frame, else an array."""
    if isinstance(X, pd.DataFrame):
        return X.iloc[:, position]
    if sparse.issparse(X):
        return X.tocsc()[:, [position]].toarray()[:, 0]  # type: ignore[attr-defined]
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[:, position].to_numpy()
    return np.asarray(X)[:, position]


def set_columns(X: Any, columns: Mapping[int, Any]) -> Any:
    """Give a copy of a table with other values in some columns; their types stay."""
    if isinstance(X, pd.DataFrame):
        out = X.copy()
        for position, values in columns.items():
            kind = X.dtypes.iloc[position]
            fresh = pd.Series(values, index=X.index)
            out.isetitem(position, (fresh if fresh.dtype == kind else fresh.astype(kind)).array)
        return out
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        fresh_columns = []
        for position, values in columns.items():
            name = frame.columns[position]
            made = nw.new_series(name, np.asarray(values), backend=frame.implementation)
            fresh_columns.append(made.cast(frame.schema[name]))
        return frame.with_columns(*fresh_columns).to_native()
    if sparse.issparse(X):
        return _set_sparse(X, columns)
    whole = np.array(X)
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


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: undefined is None, arrays are lists, frames are rows.

    Examples
    --------
    >>> plain({"bias": np.array([0.5, np.nan]), "rows": np.int64(3)})
    {'bias': [0.5, None], 'rows': 3}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, pd.DataFrame):
        return plain(value.to_dict("records"))
    if isinstance(value, list | tuple | set | np.ndarray | pd.Series):
        return [plain(item) for item in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and value != value else value
