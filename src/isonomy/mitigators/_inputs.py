"""Tables, labels and groups as every mitigator wants them: matrices and small integers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from isonomy._groups import cross, read_attributes
from isonomy._validate import MISSING, listed, match_values, unknown_name
from isonomy.errors import InputError

__all__ = [
    "GroupEncoder",
    "as_matrix",
    "as_vector",
    "column_names",
    "drop_columns",
    "find_columns",
    "like",
    "numeric_columns",
    "replace_columns",
    "take_columns",
]


def _frame(X: Any) -> nw.DataFrame[Any] | None:
    found = nw.from_native(X, eager_only=True, pass_through=True)
    return found if isinstance(found, nw.DataFrame) else None


def column_names(X: Any) -> list[Any] | None:
    """Give the names of a frame's columns, None for an array."""
    if isinstance(X, pd.DataFrame):
        return list(X.columns)
    frame = _frame(X)
    return None if frame is None else list(frame.columns)


def as_matrix(X: Any, *, who: str) -> NDArray[np.float64]:
    """Give a table as finite floats, or say which column is not a number."""
    if sparse.issparse(X):
        X = X.toarray()  # type: ignore[attr-defined]
    elif (frame := _frame(X)) is not None:
        words = [c for c in frame.columns if not _numeric(frame[c].dtype)]
        if words:
            raise InputError(
                f"{who} needs numeric columns; {listed(words)} "
                f"{'is' if len(words) == 1 else 'are'} not: encode such columns first "
                f"(OneHotEncoder)."
            )
        X = frame.to_numpy()
    try:
        matrix = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{who} needs numbers; got {error}: encode such columns first.") from None
    if matrix.ndim != 2:
        raise InputError(f"{who} needs a table of rows and columns; got {matrix.ndim} dimensions.")
    if not np.isfinite(matrix).all():
        raise InputError(f"{who} needs finite numbers; fill missing values first (SimpleImputer).")
    return matrix


def _numeric(dtype: Any) -> bool:
    return bool(dtype.is_numeric()) or dtype == nw.Boolean


def numeric_columns(X: Any) -> list[int]:
    """Give the positions of the columns that hold numbers; all of them in an array."""
    frame = _frame(X)
    if frame is None:
        return list(range(X.shape[1]))
    return [j for j, c in enumerate(frame.columns) if _numeric(frame[c].dtype)]


def take_columns(X: Any, positions: Sequence[int]) -> Any:
    """Give the columns at these positions, as the kind of table that X is."""
    if isinstance(X, pd.DataFrame):
        return X.iloc[:, list(positions)]
    frame = _frame(X)
    if frame is not None:
        return frame.select([frame.columns[p] for p in positions]).to_native()
    return X[:, list(positions)]


def replace_columns(X: Any, positions: Sequence[int], columns: Sequence[Any]) -> Any:
    """Give a copy of a table with other values in the columns at these positions."""
    if isinstance(X, pd.DataFrame):
        out = X.copy()
        for p, values in zip(positions, columns, strict=True):
            out.isetitem(p, values)
        return out
    frame = _frame(X)
    if frame is not None:
        fresh = [
            nw.new_series(frame.columns[p], np.asarray(values), backend=frame.implementation)
            for p, values in zip(positions, columns, strict=True)
        ]
        return frame.with_columns(*fresh).to_native()
    whole = X.toarray() if sparse.issparse(X) else np.array(X)  # type: ignore[attr-defined]
    for p, values in zip(positions, columns, strict=True):
        whole[:, p] = values
    return whole


def like(X: Any, values: NDArray[np.float64]) -> Any:
    """Wrap a matrix in the kind of frame that it came from."""
    if isinstance(X, pd.DataFrame):
        return pd.DataFrame(values, columns=X.columns, index=X.index)
    frame = _frame(X)
    if frame is None:
        return values
    return nw.from_numpy(values, schema=frame.columns, backend=frame.implementation).to_native()


def drop_columns(X: Any, positions: Sequence[int]) -> Any:
    """Give a table without the columns at these positions."""
    if not positions:
        return X
    if isinstance(X, pd.DataFrame):
        return X.drop(columns=X.columns[list(positions)])
    frame = _frame(X)
    if frame is not None:
        return frame.drop([frame.columns[p] for p in positions]).to_native()
    keep = np.setdiff1d(np.arange(X.shape[1]), positions)
    return X[:, keep]


def find_columns(X: Any, wanted: Any, names: Sequence[Any]) -> tuple[int, ...]:
    """Give the positions of the protected columns of X: those wanted, else those named alike."""
    known = column_names(X)
    if wanted is None:
        return tuple(known.index(n) for n in names if n in known) if known else ()
    several = isinstance(wanted, list | tuple | set | np.ndarray)
    width = X.shape[1]
    positions = []
    for item in wanted if several else [wanted]:
        if known is not None and item in known:
            positions.append(known.index(item))
        elif isinstance(item, int | np.integer) and not isinstance(item, bool):
            if not -width <= item < width:
                raise InputError(
                    f"sensitive_columns must lie among the {width} columns of X; got {item}."
                )
            positions.append(int(item) % width)
        elif known is None:
            raise InputError(
                f"sensitive_columns must be positions when X is an array; got {item!r}: "
                f"pass a frame or a number."
            )
        else:
            raise unknown_name("column", str(item), known)
    return tuple(positions)


def as_vector(values: Any, *, name: str) -> NDArray[Any]:
    """Give labels as a one-dimensional array, from a list, an array or any series."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    vector = series.to_numpy() if isinstance(series, nw.Series) else np.asarray(values)
    if vector.ndim == 2 and vector.shape[1] == 1:
        vector = vector[:, 0]
    if vector.ndim != 1:
        raise InputError(f"{name} must be one column; got {vector.ndim} dimensions.")
    if vector.dtype.kind in "fO" and bool(pd.isna(vector).any()):
        raise InputError(f"{name} must not be missing; drop the rows where it is.")
    return vector


def _groups_of(columns: list[Any], n_rows: int) -> tuple[NDArray[np.intp], list[Any]]:
    """Return the group of each row; those of a single attribute are called by its plain values."""
    codes, groups = cross(dict(enumerate(columns)), n_rows)
    return codes, [group[0] if len(columns) == 1 else group for group in groups]


@dataclass
class GroupEncoder:
    """Numbers the groups of a training set and recognises them again.

    ``codes`` are positions in ``labels``. Where exactly two groups occur, or where a method takes
    two only, 1 is the privileged one; ``labels`` always names the groups as they were given.
    """

    names: tuple[Any, ...]
    labels: list[Any]
    privileged: tuple[Any, ...] | None = None

    @classmethod
    def learn(cls, sensitive: Any, n_rows: int) -> tuple["GroupEncoder", NDArray[np.intp]]:
        """Read the attributes and number the groups in sorted order."""
        names, columns = read_attributes(sensitive)
        codes, labels = _groups_of(columns, n_rows)
        return cls(names, labels), codes

    def encode(self, sensitive: Any, n_rows: int) -> NDArray[np.intp]:
        """Give the groups of other rows the numbers they have in the training set."""
        names, columns = read_attributes(sensitive)
        if len(columns) != len(self.names):
            raise InputError(
                f"sensitive_features must have the {len(self.names)} column(s) seen in fit; "
                f"got {len(columns)}."
            )
        if None not in names and None not in self.names and set(names) == set(self.names):
            columns = [columns[names.index(n)] for n in self.names]
        codes, labels = _groups_of(columns, n_rows)
        known = {label: position for position, label in enumerate(self.labels)}
        strange = [label for label in labels if label not in known]
        if strange:
            raise InputError(
                f"Every group must have been seen in fit; {listed(strange)} was not among "
                f"{listed(self.labels)}."
            )
        return np.array([known[label] for label in labels], dtype=np.intp)[codes]

    def settle(self, privileged: Any, rates: NDArray[np.float64] | None) -> None:
        """Decide which groups are privileged: those named, else the better-off one of two."""
        if privileged is not None:
            chosen = (
                self._by_attribute(privileged)
                if isinstance(privileged, Mapping)
                else self._by_value(privileged)
            )
            if len(chosen) == len(self.labels):
                raise InputError(
                    f"At least one group must be unprivileged; all of {listed(self.labels)} "
                    f"were named."
                )
            self.privileged = chosen
        elif len(self.labels) == 2 and rates is not None:
            if MISSING in self.labels:
                raise InputError(
                    f"The privileged group must be named where one of two groups is "
                    f"{MISSING!r}; the groups are {listed(self.labels)}: pass privileged=..."
                )
            self.privileged = (self.labels[int(np.argmax(rates))],)

    def _by_value(self, privileged: Any) -> tuple[Any, ...]:
        if isinstance(privileged, tuple) and privileged in self.labels:
            return (privileged,)
        return match_values(privileged, self.labels, what="group")

    def _by_attribute(self, privileged: Mapping[Any, Any]) -> tuple[Any, ...]:
        """Give the groups that are privileged in every attribute named."""
        rows = [label if len(self.names) > 1 else (label,) for label in self.labels]
        chosen = set(range(len(rows)))
        for attribute, values in privileged.items():
            if attribute not in self.names:
                raise unknown_name(
                    "protected attribute", str(attribute), [str(n) for n in self.names]
                )
            j = self.names.index(attribute)
            known = list(dict.fromkeys(row[j] for row in rows))
            wanted = match_values(values, known, what=f"value of {attribute}")
            chosen &= {i for i, row in enumerate(rows) if row[j] in wanted}
        if not chosen:
            raise InputError("At least one group must be privileged; no row holds all the values.")
        return tuple(self.labels[i] for i in sorted(chosen))
