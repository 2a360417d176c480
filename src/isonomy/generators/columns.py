"""A table as numbers, column by column, and numbers as rows that the table could have held."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from isonomy._arrays import Floats
from isonomy._validate import check_choice, match_values
from isonomy.errors import InputError

FEW = 10
"""A column with no more distinct numbers than this takes only those."""


@dataclass(frozen=True, eq=False)
class Column:
    """What one column holds.

    Parameters
    ----------
    name : str
        Its name.
    kind : {"discrete", "integer", "number"}
        Only values seen, whole numbers in the range seen, or numbers in it.
    dtype : numpy or pandas dtype
        Of the column, so that rows made are typed as the rows seen.
    values : pandas.Index
        The values seen of a discrete column, sorted; empty for numbers.
    low, high : float
        The range; of a discrete column, of the positions in ``values``.
    """

    name: Any
    kind: str
    dtype: Any
    values: "pd.Index[Any]"
    low: float
    high: float

    @property
    def discrete(self) -> bool:
        """Whether only values seen are taken."""
        return self.kind == "discrete"

    @property
    def count(self) -> int:
        """How many values a discrete column takes."""
        return len(self.values)


class Columns:
    """The columns of a table, learnt once: to points, which are numbers, and back.

    A point holds per column the position of the value among those seen, or the number itself.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows.
    discrete : collection of names, optional
        Columns that take only values seen. Text, categories and truth values do in any case, and
        so do numbers of which no more than ten differ.

    Examples
    --------
    >>> frame = pd.DataFrame({"job": ["a", "b", "a"], "hours": [40, 20, 38]})
    >>> columns = Columns(frame)
    >>> [column.kind for column in columns]
    ['discrete', 'discrete']
    >>> columns.points(frame).tolist()
    [[0.0, 2.0], [1.0, 0.0], [0.0, 1.0]]
    >>> columns.frame(columns.points(frame)).equals(frame)
    True
    """

    def __init__(self, frame: pd.DataFrame, discrete: Collection[Any] | None = None) -> None:
        if not isinstance(frame, pd.DataFrame) or frame.empty:
            raise InputError("A generator must be fitted to a pandas frame that holds rows.")
        if not frame.columns.is_unique:
            raise InputError("The names of the columns must differ; some stand twice.")
        for name in discrete or ():
            check_choice("column", name, list(frame.columns))
        declared = set(discrete or ())
        self.columns = tuple(_learn(frame[name], name in declared) for name in frame.columns)

    def __iter__(self) -> Any:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def points(self, frame: pd.DataFrame) -> Floats:
        """Return rows as points; NaN where a value was not seen."""
        out = np.empty((len(frame), len(self)))
        for j, column in enumerate(self):
            check_choice("column", column.name, list(frame.columns))
            series = frame[column.name]
            if column.discrete:
                at = column.values.get_indexer(pd.Index(series.astype(object)))
                out[:, j] = np.where(at < 0, np.nan, at)
            else:
                out[:, j] = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return out

    def clip(self, points: Floats) -> Floats:
        """Bring points into the domain: into the range, and to whole numbers where they are."""
        low = np.array([c.low for c in self])
        high = np.array([c.high for c in self])
        out: Floats = np.clip(points, low, high)
        whole = [j for j, c in enumerate(self) if c.kind != "number"]
        out[:, whole] = np.round(out[:, whole])
        return out

    def frame(self, points: Floats) -> pd.DataFrame:
        """Return points of the domain as rows, typed as the rows seen."""
        made = {}
        for j, column in enumerate(self):
            if column.discrete:
                taken = column.values.take(points[:, j].astype(np.intp))
                made[column.name] = pd.Series(taken, dtype=column.dtype)
            else:
                made[column.name] = pd.Series(points[:, j]).astype(column.dtype)
        return pd.DataFrame(made)

    def condition(self, wanted: Mapping[Any, Any] | None) -> dict[int, int]:
        """Return the positions of conditioned columns and of the values they must hold."""
        names = [c.name for c in self]
        result = {}
        for name, value in (wanted or {}).items():
            check_choice("column", name, names)
            column = self.columns[names.index(name)]
            if not column.discrete:
                raise InputError(
                    f"A condition must be on a discrete column; {name!r} holds numbers: name it in "
                    f"discrete= when fitting, or cut it into bands."
                )
            value = match_values([value], list(column.values), what=f"value of {name}")[0]
            result[names.index(name)] = int(
                column.values.get_indexer(pd.Index([value], dtype=object))[0]
            )
        return result


def _learn(series: "pd.Series[Any]", declared: bool) -> Column:
    numeric = pd.api.types.is_numeric_dtype(series.dtype)
    numeric = numeric and not pd.api.types.is_bool_dtype(series.dtype)
    if not declared and numeric:
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        if not np.isfinite(numbers).all():
            raise InputError(
                f"A column of numbers must hold finite ones; {series.name!r} holds missing or "
                f"infinite ones: fill them, or name the column in discrete=."
            )
        if len(np.unique(numbers)) > FEW:
            whole = bool((numbers == np.round(numbers)).all())
            return Column(
                series.name,
                "integer" if whole else "number",
                series.dtype,
                pd.Index([], dtype=object),
                float(numbers.min()),
                float(numbers.max()),
            )
    seen = pd.Index(series.astype(object).unique(), dtype=object)
    try:  # the order of the rows must not decide
        seen = seen.sort_values()
    except TypeError:
        seen = seen[np.argsort([str(v) for v in seen], kind="stable")]
    return Column(series.name, "discrete", series.dtype, seen, 0.0, float(len(seen) - 1))
