"""How rows become cells: from arrays, frames and lazy engines, in one pass."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from isonomy._validate import MISSING, check_columns, check_length, check_weight, listed
from isonomy.errors import InputError

__all__ = [
    "Cells",
    "as_column",
    "attribute_columns",
    "check_weight_sums",
    "from_arrays",
    "from_frame",
    "from_rows",
    "group_index",
    "is_missing",
    "sort_key",
    "too_many",
]

FEW = 256  # a span of whole numbers that is coded by a table
MOST_VALUES = 100
"""A column with more values than this is not a protected attribute but a measurement or a name."""

_W, _W2, _ABSENT = "__weight", "__weight_squared", "__weight_absent"

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Cells:
    """Counted cells and what their axes mean."""

    n: Floats
    w: Floats | None
    w2: Floats | None
    attributes: tuple[str, ...]
    groups: tuple[tuple[Any, ...], ...]
    classes: tuple[Any, ...]


_BAND = re.compile(r"(?P<under>under )?(?P<cut>-?\d+(\.\d+)?)(?P<rest> to .*| and over)?$")


def sort_key(value: Any) -> Any:
    """Order labels of any type: numbers by size, then text, missing last."""
    if isinstance(value, tuple):
        return tuple(sort_key(v) for v in value)
    if isinstance(value, str):
        band = _BAND.match(value)  # bands of a number go by the number
        at = 0.0
        if band is not None and bool(band["under"]) != bool(band["rest"]):
            at = float(band["cut"]) - (1e-9 if band["under"] else 0.0)
        return (2, 0.0, "") if value == MISSING else (1, at, value)
    try:
        return (0, float(value), "")
    except (TypeError, ValueError):
        return (1, 0.0, str(value))


def _plain(value: Any) -> Any:
    """Give a label as a plain Python value; whole floats from a file stay floats."""
    return value.item() if isinstance(value, np.generic) else value


def _factorize(values: Any) -> tuple[NDArray[np.intp], list[Any]]:
    """Code a column; -1 is missing. Categoricals are not walked through again."""
    if isinstance(values, pd.Series) and isinstance(values.dtype, pd.CategoricalDtype):
        codes, levels = np.asarray(values.cat.codes, dtype=np.intp), list(values.cat.categories)
        used = np.bincount(codes + 1, minlength=len(levels) + 1)[1:] > 0
        if used.all():
            return codes, levels
        # a level that no row has is not a value that occurs
        place = np.append(np.cumsum(used) - 1, -1)
        return place[codes], [level for level, u in zip(levels, used, strict=True) if u]
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.size:
        low, high = int(values.min()), int(values.max())
        if high - low < FEW:  # small whole numbers are their own codes: nothing to hash
            shifted = values.astype(np.intp) - low
            used = np.bincount(shifted, minlength=high - low + 1) > 0
            found = [low + int(k) for k in np.flatnonzero(used)]
            return (shifted if used.all() else (np.cumsum(used) - 1)[shifted]), found
    if isinstance(values, np.ndarray) and values.dtype.kind in "bu" and values.itemsize == 1:
        values = values.astype(np.int64) if values.dtype.kind == "u" else values
    codes, found = pd.factorize(values)
    return codes, [_plain(v) for v in found]


def as_column(values: Any, name: str) -> Any:
    """Make a one-dimensional column of whatever was given."""
    if isinstance(values, pd.Series):
        return values
    if hasattr(values, "to_numpy") and not isinstance(values, np.ndarray):
        values = values.to_numpy()
    array = np.asarray(values)
    if array.dtype.kind in "US":
        array = array.astype(object)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"{name} must be one column; got an array of shape {array.shape}.")
    return array


def attribute_columns(sensitive_features: Any) -> dict[str, Any]:
    """Name the columns of whatever was given as ``sensitive_features``."""
    if isinstance(sensitive_features, Mapping):
        columns = {str(k): as_column(v, str(k)) for k, v in sensitive_features.items()}
    elif isinstance(sensitive_features, pd.Series):
        name = "group" if sensitive_features.name is None else str(sensitive_features.name)
        columns = {name: sensitive_features}
    elif isinstance(sensitive_features, pd.DataFrame):
        columns = {str(c): sensitive_features[c] for c in sensitive_features.columns}
    else:
        native = nw.from_native(sensitive_features, allow_series=True, pass_through=True)
        if isinstance(native, nw.DataFrame):
            columns = {c: as_column(native[c].to_numpy(), c) for c in native.columns}
        elif isinstance(native, nw.Series):
            columns = {native.name or "group": as_column(native.to_numpy(), "group")}
        else:
            array = np.asarray(sensitive_features)
            if array.ndim == 2 and array.shape[1] > 1:
                columns = {f"attribute_{j}": as_column(c, "") for j, c in enumerate(array.T)}
            else:
                columns = {"group": as_column(array, "sensitive_features")}
    if not columns:
        raise InputError("At least one protected attribute must be given; got none.")
    return columns


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
            "pass scores as `score` and their thresholded labels as predictions"
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
            f"occur as labels, such as {listed(strange[:3])}: pass scores as `score`."
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
) -> Cells:
    """Count arrays; a shard whose classes are declared may hold one class or one group only."""
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
        codes, found = _factorize(column)
        _no_missing(name, int((codes < 0).sum()))
        coded.append((codes, found))
    (true_codes, true_found), (pred_codes, pred_found) = coded
    classes, true_place, pred_place = _unify(true_found, pred_found, declared)

    joint, levels = _join(columns, rows)
    size = int(np.prod([len(found) for found in levels]))
    c = len(classes)
    index = (joint * c + true_place[true_codes]) * c + pred_place[pred_codes]
    shape = (size, c, c)

    def total(values: Floats | None) -> Floats:
        return np.bincount(index, values, minlength=size * c * c).reshape(shape).astype(float)

    n = total(None)
    occurs = n.any(axis=(1, 2))
    labels = [_label(int(i), levels) for i in np.flatnonzero(occurs)]
    order = sorted(range(len(labels)), key=lambda k: sort_key(labels[k]))
    keep = np.flatnonzero(occurs)[order]
    groups = tuple(labels[k] for k in order)
    if declared is None:
        _several_groups(tuple(columns), groups)
    return Cells(
        n=n[keep],
        w=None if weight is None else total(weight)[keep],
        w2=None if weight is None else total(weight**2)[keep],
        attributes=tuple(columns),
        groups=groups,
        classes=classes,
    )


def _join(columns: Mapping[str, Any], rows: int) -> tuple[NDArray[np.intp], list[list[Any]]]:
    """Code the joint values of the attributes; missing is a value of its own."""
    joint: NDArray[np.intp] = np.zeros(rows, dtype=np.intp)
    levels: list[list[Any]] = []
    size = 1
    for name, column in columns.items():
        check_length(f"sensitive feature {name!r}", len(column), "y_true", rows)
        codes, found = _factorize(column)
        if (codes < 0).any():
            codes = np.where(codes < 0, len(found), codes)
            found = [*found, MISSING]
        if len(found) > MOST_VALUES:
            raise InputError(too_many(name, len(found)))
        size *= len(found)
        if size > 10**6:
            raise InputError(too_many(" & ".join(columns), size))
        joint = joint * len(found) + codes if levels else codes
        levels.append(found)
    return joint, levels


def group_index(
    sensitive_features: Any, groups: Sequence[tuple[Any, ...]], rows: int
) -> NDArray[np.intp]:
    """Say to which of ``groups`` each row belongs."""
    joint, levels = _join(attribute_columns(sensitive_features), rows)
    place = {group: i for i, group in enumerate(groups)}
    size = int(np.prod([len(found) for found in levels]))
    lookup = np.array([place.get(_label(code, levels), -1) for code in range(size)], dtype=np.intp)
    index = lookup[joint]
    if (index < 0).any():
        raise InputError("Some rows belong to none of the groups; count and score the same rows.")
    return index


def _label(code: int, levels: list[list[Any]]) -> tuple[Any, ...]:
    """Take a joint code apart into one value per attribute."""
    out: list[Any] = []
    for found in reversed(levels):
        code, k = divmod(code, len(found))
        out.append(found[k])
    return tuple(reversed(out))


def too_many(name: str, found: int) -> str:
    """Say that a column is an identifier rather than a protected attribute."""
    return (
        f"A protected attribute must have at most {MOST_VALUES:,} values; {name!r} has {found:,}: "
        f"group it first (on the command line --bins {name}=25,40,60)."
    )


def _no_missing(name: str, missing: int) -> None:
    if missing:
        raise InputError(
            f"{name} must be known for every row; it is missing in {missing:,}: drop those rows."
        )


def _several_groups(attributes: Sequence[str], groups: Sequence[tuple[Any, ...]]) -> None:
    for k, name in enumerate(attributes):
        found = {g[k] for g in groups}
        if len(found) < 2:
            raise InputError(
                f"A protected attribute must hold at least two groups; every row of {name!r} is "
                f"{next(iter(found))!r}."
            )


def from_rows(
    rows: Iterable[Sequence[Any]],
    attributes: Sequence[str],
    *,
    weighted: bool,
    declared: Sequence[Any] | None = None,
) -> Cells:
    """Lay out rows of ``(*attribute values, y_true, y_pred, n[, w, w2])``, one per cell."""
    table = [[_plain(v) for v in row] for row in rows]
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
        found = len({g[k_th] for g in groups})
        if found > MOST_VALUES:
            raise InputError(too_many(name, found))
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
    return Cells(
        n=cells[0],
        w=cells[1] if weighted else None,
        w2=cells[2] if weighted else None,
        attributes=tuple(attributes),
        groups=groups,
        classes=classes,
    )


def is_missing(value: Any) -> bool:
    """Say whether an engine gave a value that is not known."""
    return value is None or value is pd.NaT or (isinstance(value, float) and np.isnan(value))


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
    columns = [grouped[c].to_list() for c in grouped.columns]
    rows = list(zip(*columns, strict=True))
    if weight:
        check_weight_sums(weight, [r[-2] for r in rows], [r[-1] for r in rows])
        rows = [r[:-2] for r in rows]
    return from_rows(rows, sensitive, weighted=bool(weight), declared=declared)


def check_weight_sums(name: str, absent: Sequence[Any], least: Sequence[Any]) -> None:
    """Raise unless weights that an engine has added up were all present and none negative."""
    missing = sum(int(a) for a in absent if a is not None)
    if missing or any(v is None or v != v for v in least):
        raise InputError(
            f"{name} must be finite numbers; it is missing or not a number in some rows: "
            f"drop or mend them."
        )
    if min(least) < 0:
        raise InputError(f"{name} must not be negative; the smallest is {min(least):g}.")
