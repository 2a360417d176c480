"""What rows can look like: the values, ranges and whole numbers that the data hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy._tables import column_names, get_column, row_count, set_columns, take
from isonomy.counterfactual.flip import column_position, pick
from isonomy.errors import InputError

FEW = 10
"""A column with no more distinct numbers than this takes only those."""
INSIDE = 1e-9
"""Rounding allowed at the ends of a range, relative to its width."""


@dataclass(frozen=True, eq=False)
class Coordinate:
    """One thing about a row that can be changed: a column, or one-hot columns together.

    ``kind`` is ``values`` (only what was observed), ``integer`` or ``number`` (anything in the
    observed range). In the first case a row holds the position of its value in ``shown``, the
    rows of the table that show each value; else it holds the number itself.
    """

    name: str
    columns: tuple[int, ...]
    kind: str
    low: float
    high: float
    shown: NDArray[np.intp]
    quantiles: Floats


class Domain:
    """The domain of a table: rows as points that can be moved without leaving it.

    Parameters
    ----------
    X : frame, array or sparse matrix
        The rows that were observed.
    one_hot : sequence of sequences of columns, optional
        Columns that encode one thing and may only take the combinations observed.
    fixed : sequence of columns, optional
        Columns that stay as they are (the protected attribute, what a person cannot change).

    Examples
    --------
    >>> X = pd.DataFrame({"job": ["a", "b", "a"], "hours": [40, 20, 38]})
    >>> domain = Domain(X)
    >>> points = domain.encode(X)
    >>> points.tolist()
    [[0.0, 0.0], [1.0, 1.0], [0.0, 2.0]]
    >>> domain.decode(points, X).equals(X)
    True
    """

    def __init__(
        self,
        X: Any,
        *,
        one_hot: Sequence[Sequence[Any]] | None = None,
        fixed: Sequence[Any] = (),
    ) -> None:
        self.table = X
        self.names = column_names(X)
        stuck = {column_position(X, c) for c in fixed}
        sets = [tuple(column_position(X, c) for c in columns) for columns in one_hot or ()]
        together = {p for columns in sets for p in columns}
        singles = [(p,) for p in range(X.shape[1]) if p not in together]
        self.coordinates: tuple[Coordinate, ...] = tuple(
            self._learn(columns)
            for columns in sorted([*sets, *singles])
            if not stuck & set(columns)
        )

    def _learn(self, columns: tuple[int, ...]) -> Coordinate:
        held = [_series(self.table, p) for p in columns]
        name = " + ".join(str(self.names[p]) if self.names else str(p) for p in columns)
        if len(columns) == 1:
            column = held[0]
            numeric = pd.api.types.is_numeric_dtype(column.dtype)
            if numeric and not pd.api.types.is_bool_dtype(column.dtype):
                numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
                known = numbers[np.isfinite(numbers)]
                few = np.unique(known[: 50 * FEW]).size <= FEW and np.unique(known).size <= FEW
                if known.size and not few:
                    whole = bool((known == np.round(known)).all())
                    return Coordinate(
                        name, columns, "integer" if whole else "number",
                        float(known.min()), float(known.max()), np.empty(0, dtype=np.intp),
                        np.unique(np.quantile(known, np.linspace(0, 1, 11), method="nearest")),
                    )  # fmt: skip
            seen = column
        else:
            seen = pd.Series(pd.MultiIndex.from_arrays(held).to_flat_index())
        shown = np.flatnonzero(~seen.duplicated())  # where each value stands first
        return Coordinate(name, columns, "values", 0.0, shown.size - 1.0, shown, np.empty(0))

    def encode(self, X: Any) -> Floats:
        """Return rows as points, one number per coordinate; NaN where a value is missing or new."""
        points = np.full((row_count(X), len(self.coordinates)), np.nan)
        for j, c in enumerate(self.coordinates):
            held = [_series(X, p) for p in c.columns]
            if c.kind != "values":
                points[:, j] = held[0].to_numpy(dtype=np.float64, na_value=np.nan)
                continue
            known = [_series(take(self.table, c.shown), p) for p in c.columns]
            if len(held) == 1:
                values, levels = held[0].astype(object), known[0].astype(object)
                index = pd.Index(levels.to_numpy()).get_indexer(pd.Index(values.to_numpy()))
            else:
                wanted = pd.MultiIndex.from_arrays(held)
                index = pd.MultiIndex.from_arrays(known).get_indexer(wanted)
            points[:, j] = np.where(index < 0, np.nan, index)
        return points

    def decode(self, points: Floats, like: Any) -> Any:
        """Return points as a table; columns that are no coordinate are those of the rows ``like``."""
        check = row_count(like)
        if check != len(points):
            raise InputError(f"There must be one row per point; got {check} for {len(points)}.")
        fresh: dict[int, Any] = {}
        for j, c in enumerate(self.coordinates):
            if c.kind == "values":
                lost = np.isnan(points[:, j])  # a value that was not observed stays as it came
                at = c.shown[np.where(lost, 0, points[:, j]).astype(np.intp)]
                for p in c.columns:
                    made = pick(self.table, p, at)
                    fresh[p] = _where(lost, get_column(like, p), made) if lost.any() else made
            else:
                fresh[c.columns[0]] = points[:, j]
        return set_columns(like, fresh)

    def contains(self, X: Any) -> NDArray[np.bool_]:
        """Return which rows lie in the domain: values observed, numbers in range, whole where whole.

        A missing number is in the domain only where the data miss it too.
        """
        points = self.encode(X)
        inside = np.ones(len(points), dtype=bool)
        for j, c in enumerate(self.coordinates):
            v = points[:, j]
            if c.kind == "values":
                inside &= ~np.isnan(v)
                continue
            room = INSIDE * (c.high - c.low)
            fits = (v >= c.low - room) & (v <= c.high + room)
            if c.kind == "integer":
                fits &= v == np.round(v)
            if np.isnan(v).any():
                gaps = _series(self.table, c.columns[0]).isna().any()
                fits |= np.isnan(v) & bool(gaps)
            inside &= fits
        return inside

    def proposals(self, j: int, value: float, rng: np.random.Generator, most: int = 30) -> Floats:
        """Return other values that a coordinate may take, for a row that holds ``value``."""
        c = self.coordinates[j]
        if c.kind == "values":
            others = np.arange(c.shown.size, dtype=np.float64)
            others = others[others != value]
            return others if others.size <= most else rng.choice(others, most, replace=False)
        near = np.empty(0)
        if np.isfinite(value):
            steps = np.array([-0.25, -0.05, -0.01, 0.01, 0.05, 0.25]) * (c.high - c.low)
            if c.kind == "integer":
                steps = np.concatenate([steps, [-1.0, 1.0]])
            near = value + steps
        result = self.clip(j, np.concatenate([c.quantiles, near]))
        return np.unique(result[result != value])

    def clip(self, j: int, values: Floats) -> Floats:
        """Bring numbers of a coordinate into its range, and to whole numbers where they are."""
        c = self.coordinates[j]
        inside = np.clip(values, c.low, c.high)
        return np.asarray(np.round(inside) if c.kind != "number" else inside)


def _series(X: Any, position: int) -> "pd.Series[Any]":
    column = get_column(X, position)
    if isinstance(column, pd.Series):
        return column.reset_index(drop=True)
    made = pd.Series(column)
    return made.infer_objects() if made.dtype == object else made


def _where(mask: NDArray[np.bool_], yes: Any, no: Any) -> Any:
    if isinstance(yes, pd.Series):
        return pd.Series(no, index=yes.index).mask(mask, yes).array
    return np.where(mask, yes, no)
