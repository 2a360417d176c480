"""How rows become cells: from arrays, frames and lazy engines, in one pass."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from isonomy._arrays import Floats
from isonomy._bands import suggestion
from isonomy._groups import (
    MOST_VALUES,
    as_column,
    attribute_columns,
    cross,
    factorize,
    plain_value,
    sort_key,
    too_many,
)
from isonomy._unknown import is_missing
from isonomy._validate import MISSING, check_columns, check_length, check_weight, listed
from isonomy.errors import InputError

MOST_ROWS = 2**53
"""More rows than a float can count."""

_W, _W2, _ABSENT = "__weight", "__weight_squared", "__weight_absent"


@dataclass(frozen=True)
class Cells:
    """Counted cells and what their axes mean."""

    n: Floats
    w: Floats | None
    w2: Floats | None
    attributes: tuple[str, ...]
    groups: tuple[tuple[Any, ...], ...]
    classes: tuple[Any, ...]


def _unify(
    true: list[Any], pred: list[Any], declared: Sequence[Any] | None = None
) -> tuple[tuple[Any, ...], NDArray[np.intp], NDArray[np.intp]]:
    """Order the classes and say where the codes of labels and of predictions go."""
    coded = true
    if declared is not None:
        true = list(dict.fromkeys([*declared, *true]))
    if len(true) > MOST_VALUES:
        raise InputError(
            f"Labels must be classes, {MOST_VALUES} at most; got {len(true):,} values such as "
            f"{listed(true[:3])}: cut a number into classes first."
        )
    if len(true) < 2:
        raise InputError(f"Labels must hold at least two classes; all of them are {true[0]!r}.")
    if not set(true) & set(pred):
        numbers = all(isinstance(p, float) and not p.is_integer() for p in pred)
        hint = (
            "pass scores as score= (--score), and what was decided by them as predictions, such as "
            "score >= 0.5 (on the command line --prediction 'SCORE>=0.5')"
            if numbers
            else "predictions and labels must use the same values and type"
        )
        raise InputError(
            f"Predictions must be labels ({listed(true)}); got {listed(pred, most=4)}: {hint}."
        )
    strange = [p for p in pred if p not in true]
    if len(strange) > max(8, len(true)):
        raise InputError(
            f"Predictions must be labels ({listed(true)}); got {len(strange):,} values that never "
            f"occur as labels, such as {listed(strange[:3])}: pass scores as score= (--score)."
        )
    classes = tuple(sorted({*true, *pred}, key=sort_key))
    place = {c: i for i, c in enumerate(classes)}
    return (
        classes,
        np.array([place[v] for v in coded], dtype=np.intp),
        np.array([place[v] for v in pred], dtype=np.intp),
    )


def from_arrays(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    sensitive_features: Any,
    sample_weight: ArrayLike | None = None,
    declared: Sequence[Any] | None = None,
    most: int = MOST_VALUES,
) -> Cells:
    """Count arrays; a shard whose classes are declared may hold one class or one group only.

    No attribute may have more values than ``most``.
    """
    true_column, pred_column = as_column(y_true, "y_true"), as_column(y_pred, "y_pred")
    rows = len(true_column)
    if rows == 0:
        raise InputError("There must be at least one row; got none.")
    check_length("y_pred", len(pred_column), "y_true", rows)
    columns = attribute_columns(sensitive_features)
    weight = None if sample_weight is None else check_weight(sample_weight)
    if weight is not None:
        check_length("sample_weight", len(weight), "y_true", rows)

    coded = []
    for name, column in (("y_true", true_column), ("y_pred", pred_column)):
        codes, values = factorize(column)
        _no_missing(name, int((codes < 0).sum()))
        coded.append((codes, values))
    (true_codes, true_found), (pred_codes, pred_found) = coded
    classes, true_place, pred_place = _unify(true_found, pred_found, declared)

    group, groups = cross(columns, rows, to="y_true", most=most)
    shape = (len(groups), len(classes), len(classes))
    index = (group * shape[1] + true_place[true_codes]) * shape[2] + pred_place[pred_codes]

    def total(values: Floats | None) -> Floats:
        return np.bincount(index, values, math.prod(shape)).reshape(shape).astype(float)

    if declared is None:
        _several_groups(tuple(columns), groups)
    return Cells(
        n=total(None),
        w=None if weight is None else total(weight),
        w2=None if weight is None else total(weight**2),
        attributes=tuple(columns),
        groups=groups,
        classes=classes,
    )


def _no_missing(name: str, missing: int) -> None:
    if missing:
        raise InputError(
            f"{name} must be known for every row; it is missing in {missing:,}: drop those rows."
        )


def _several_groups(attributes: Sequence[str], groups: Sequence[tuple[Any, ...]]) -> None:
    for k, name in enumerate(attributes):
        values = {g[k] for g in groups}
        if len(values) < 2:
            raise InputError(
                f"A protected attribute must hold at least two groups; every row of {name!r} is "
                f"{next(iter(values))!r}."
            )


def from_rows(
    rows: Iterable[Sequence[Any]],
    attributes: Sequence[str],
    *,
    weighted: bool,
    declared: Sequence[Any] | None = None,
    most: int = MOST_VALUES,
) -> Cells:
    """Lay out rows of ``(*attribute values, y_true, y_pred, n[, w, w2])``, one per cell."""
    table = [[plain_value(v) for v in row] for row in rows]
    if not table:
        raise InputError("There must be at least one row; got none.")
    k = len(attributes)
    for name, column in (("label", k), ("prediction", k + 1)):
        missing = sum(int(row[k + 2]) for row in table if is_missing(row[column]))
        _no_missing(name, missing)
    for row in table:
        row[:k] = [MISSING if is_missing(v) else v for v in row[:k]]
    true = sorted({row[k] for row in table}, key=sort_key)
    classes, _, _ = _unify(true, sorted({row[k + 1] for row in table}, key=sort_key), declared)
    groups = tuple(sorted({tuple(row[:k]) for row in table}, key=sort_key))
    for k_th, name in enumerate(attributes):
        size = len({g[k_th] for g in groups})
        if size > most:
            hint = suggestion(name, [r[k_th] for r in table], [r[k + 2] for r in table])
            raise InputError(too_many(name, size, most, hint))
    if declared is None:
        _several_groups(attributes, groups)
    group_at = {g: i for i, g in enumerate(groups)}
    class_at = {c: i for i, c in enumerate(classes)}
    cells = np.zeros((3, len(groups), len(classes), len(classes)))
    for row in table:
        at = (group_at[tuple(row[:k])], class_at[row[k]], class_at[row[k + 1]])
        sums = [row[k + 2], *(row[k + 3 : k + 5] if weighted else (0.0, 0.0))]
        if any(is_missing(v) for v in sums):
            raise InputError("Weights must be known for every row; some are missing.")
        cells[(slice(None), *at)] += [float(v) for v in sums]
    if not np.isfinite(cells).all() or (cells < 0).any():
        raise InputError("Counts and weights must be finite and not negative; some are not.")
    part = cells[0] % 1 > 0
    if part.any() or cells[0].sum() > MOST_ROWS:
        strange = cells[0][part][0] if part.any() else cells[0].sum()
        raise InputError(
            f"Counts must be whole numbers, {MOST_ROWS:,} at most in all; got {strange:,g}: "
            f"sums of weights go into w, those of their squares into w2."
        )
    return Cells(
        n=cells[0],
        w=cells[1] if weighted else None,
        w2=cells[2] if weighted else None,
        attributes=tuple(attributes),
        groups=groups,
        classes=classes,
    )


def from_frame(
    frame: Any,
    label: str,
    prediction: str,
    sensitive: Sequence[str],
    weight: str | None,
    declared: Sequence[Any] | None = None,
) -> Cells:
    """Count a frame by column names; a lazy one is grouped by its own engine."""
    table = nw.from_native(frame, pass_through=True)
    if not isinstance(table, nw.DataFrame | nw.LazyFrame):
        raise InputError(
            f"A frame must be one that narwhals knows (pandas, polars, pyarrow, DuckDB, Dask, "
            f"PySpark ...); got {type(frame).__name__}."
        )
    names = [*sensitive, label, prediction]
    check_columns([*names, *([weight] if weight else [])], table.collect_schema().names())
    if isinstance(table, nw.DataFrame):
        native = table.to_native()
        pick = native.__getitem__ if isinstance(native, pd.DataFrame) else table.__getitem__
        return from_arrays(
            as_column(pick(label), label),
            as_column(pick(prediction), prediction),
            {a: as_column(pick(a), a) for a in sensitive},
            None if weight is None else as_column(pick(weight), weight),
            declared,
        )
    sums = [nw.len().alias("n")]
    if weight:
        # a sum skips nulls, so they are counted; some engines add up plain columns only
        w = nw.col(weight)
        table = table.select(
            *names,
            w.alias(_W),
            (w * w).alias(_W2),
            nw.when(w.is_null()).then(nw.lit(1)).otherwise(nw.lit(0)).alias(_ABSENT),
        )
        sums += [
            nw.col(_W).sum().alias("w"),
            nw.col(_W2).sum().alias("w2"),
            nw.col(_ABSENT).sum().alias("absent"),
            nw.col(_W).min().alias("least"),
        ]
    grouped = table.group_by(*names).agg(*sums).collect()
    rows = grouped.rows()
    if weight:
        check_weight_sums(weight, [r[-2] for r in rows], [r[-1] for r in rows])
        rows = [r[:-2] for r in rows]
    return from_rows(rows, sensitive, weighted=bool(weight), declared=declared)


def check_weight_sums(name: str, absent: Sequence[Any], least: Sequence[Any]) -> None:
    """Raise unless weights that an engine has added up were all present and none negative."""
    missing = sum(int(a) for a in absent if a is not None)
    if missing or any(v is None or v != v for v in least):
        raise InputError(
            f"Weights must be finite numbers; {name!r} is missing or not a number in some rows: "
            f"drop or correct them."
        )
    if min(least) < 0:
        raise InputError(
            f"Weights must not be negative; the smallest of {name!r} is {min(least):g}."
        )
