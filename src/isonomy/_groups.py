"""Protected attributes become groups: one coding, one order, one rule for missing values.

Rows whose attribute is not known are a group of their own, ``"(missing)"``, which comes last.
Numbers are ordered by size, words by the alphabet, bands such as ``25 to 60`` by their number;
several attributes are crossed.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._bands import band_names, is_number, suggestion
from isonomy._unknown import is_unknown
from isonomy._validate import MISSING, as_numbers, check_length, comma_hint, listed, no_rows
from isonomy.errors import InputError

FEW = 256  # a span of whole numbers that is coded by a table
MOST_VALUES = 100
"""A column with more values than this is not a protected attribute but a measurement or a name."""
MOST_GROUPS = 10**6

Codes = NDArray[np.intp]
Group = tuple[Any, ...]

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
    if isinstance(value, int):
        return (0, value, "")  # of any size: two that no float can tell apart have an order
    try:
        return (0, float(value), "")
    except (TypeError, ValueError):
        return (1, 0.0, str(value))


def plain_value(value: Any) -> Any:
    """Return a label as a plain Python value; whole floats from a file stay floats."""
    return value.item() if isinstance(value, np.generic) else value


def near_duplicates(values: Iterable[Any]) -> list[list[Any]]:
    """Return the values that differ only in case, spaces and punctuation, put together.

    Signs that compare or add (``>16 years``, ``65+``) are no punctuation.

    Examples
    --------
    >>> near_duplicates(["Black", "White", "black ", "B-2", "b2", "16 years", ">16 years"])
    [['Black', 'black '], ['B-2', 'b2']]
    """
    alike: dict[str, list[Any]] = {}
    for value in values:
        if isinstance(value, str):
            letters = "".join(c for c in value.casefold() if c.isalnum() or c in "<>≤≥=+")
            alike.setdefault(letters, []).append(value)
    return [names for letters, names in alike.items() if letters and len(names) > 1]


def better_off(groups: pd.Series, favorable: pd.Series, *, fewest: int = 30) -> Any:
    """Return the group with the highest share of favorable labels, to compare the others with.

    Groups that are not known, and those of fewer than ``fewest`` rows, are not asked unless there
    is no other.

    Examples
    --------
    >>> import pandas as pd
    >>> race = pd.Series(["a"] * 40 + ["b"] * 40 + ["Unknown"] * 40 + ["c"])
    >>> better_off(race, pd.Series([1, 0] * 20 + [1, 0, 0, 0] * 10 + [1] * 41))
    'a'
    """
    labels = groups.astype(object)
    rates = favorable.groupby(labels).mean()
    rows = favorable.groupby(labels).size()
    known = pd.Series([not is_unknown(value) for value in rates.index], rates.index)
    for keep in (known & (rows >= fewest), known):
        if keep.any():
            return plain_value(rates[keep].idxmax())
    return plain_value(rates.idxmax())


def choose_privileged(attribute: str, groups: pd.Series, favorable: pd.Series) -> tuple[Any, str]:
    """Return the better-off group where nobody named the privileged one, and a note that says so."""
    best = better_off(groups, favorable)
    share = favorable[groups == best].mean()
    # whole numbers beside missing ones are floats: 1 in the file, 1.0 in memory
    whole = isinstance(best, float) and best.is_integer()
    shown = int(best) if whole else best
    return best, (
        f"No privileged group was named for {attribute}: {listed([shown])}, the group with the highest "
        f"share of favorable labels ({share:.0%}), is compared with the others."
    )


def bands(values: "pd.Series[Any]", cuts: Sequence[float], attribute: str) -> "pd.Series[Any]":
    """Cut a number such as age into groups; what is missing stays so.

    Examples
    --------
    >>> bands(pd.Series([20, 30, 70]), [25, 60], "age").tolist()
    ['under 25', '25 to 60', '60 and over']
    """
    if not is_number(values):
        words = values.dropna().unique()
        hint = f": {say}" if (say := comma_hint(words)) else ""
        raise InputError(
            f"Only numbers can be cut into bins; {attribute!r} holds {listed(words[:3])}{hint}."
        )
    edges = np.unique(as_numbers(cuts, f"The bins of {attribute!r}")).tolist()
    if not edges:
        raise InputError(f"At least one cut must be named for {attribute!r}; got none.")
    cut = pd.cut(values, [-np.inf, *edges, np.inf], right=False, labels=band_names(edges))
    return cut.astype(object).where(values.notna(), None)


def factorize(values: Any) -> tuple[Codes, list[Any]]:
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
            wide = values if values.dtype == np.uint64 else values.astype(np.intp)
            shifted = (wide - wide.dtype.type(low)).astype(np.intp, copy=False)
            used = np.bincount(shifted, minlength=high - low + 1) > 0
            levels = [low + int(k) for k in np.flatnonzero(used)]
            return (shifted if used.all() else (np.cumsum(used) - 1)[shifted]), levels
    try:
        codes, uniques = pd.factorize(values)
    except TypeError as error:
        raise InputError(
            f"Labels and protected attributes must be one value per row, a number or a word; got "
            f"values of type {str(error).rpartition(' ')[2]}."
        ) from None
    if uniques.dtype.kind in "mM":  # dates are words, as in files
        uniques = pd.Index(uniques).astype(str)
    return codes, [plain_value(v) for v in uniques]


def is_one_of(values: Any, chosen: Sequence[Any]) -> NDArray[np.bool_]:
    """Return which rows of a column hold one of the chosen values, of whatever types.

    Examples
    --------
    >>> is_one_of(np.array([1, "1", "good"], dtype=object), (1, "good")).tolist()
    [True, False, True]
    """
    codes, found = factorize(values)
    return np.array([*(value in chosen for value in found), False])[codes]


def sorted_values(values: Any) -> tuple[Any, ...]:
    """Return the values that occur in a column, in order, without the missing ones."""
    return tuple(sorted(factorize(values)[1], key=sort_key))


def as_column(values: Any, name: str) -> Any:
    """Make a one-dimensional column of whatever was given; a pandas Series stays one."""
    if isinstance(values, pd.Series):
        return values
    if hasattr(values, "to_numpy") and not hasattr(values, "__array__"):
        values = values.to_numpy()
    array = np.asarray(values)
    if array.dtype.kind in "US":
        array = array.astype(object)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 0:
        raise no_rows(name, values)
    if array.ndim != 1:
        raise InputError(f"{name} must be one column; got an array of shape {array.shape}.")
    return array


def read_attributes(sensitive_features: Any) -> tuple[tuple[Any, ...], list[Any]]:
    """Return the names (None where there is none) and the columns of protected attributes."""
    given = nw.from_native(
        sensitive_features, eager_only=True, allow_series=True, pass_through=True
    )
    names: Sequence[Any]
    columns: Iterable[Any]
    if isinstance(given, Mapping):
        names, columns = tuple(given), given.values()
    elif isinstance(given, nw.DataFrame):
        pandas = isinstance(sensitive_features, pd.DataFrame)  # whose names need not be words
        names = tuple(sensitive_features.columns if pandas else given.columns)
        columns = (given[:, j].to_native() for j in range(len(names)))
    elif isinstance(given, nw.Series):
        named = given.name is not None and given.name != ""  # 0 is a name
        names, columns = (given.name if named else None,), [given.to_native()]
    else:
        array = np.asarray(given)
        columns = array.T if array.ndim == 2 else [array if array.ndim else given]
        names = (None,) * len(columns)
    if not len(names):
        raise InputError("At least one protected attribute must be given; got none.")
    return tuple(names), [
        as_column(c, "sensitive_features" if n is None else str(n))
        for n, c in zip(names, columns, strict=True)
    ]


TOGETHER = "+"
"""Joins attributes that belong together: ``sex+race``."""


def together(task: str) -> list[str]:
    """Return the attributes that are mitigated, or judged, together.

    Examples
    --------
    >>> together("sex+race"), together("sex")
    (['sex', 'race'], ['sex'])
    """
    names = [name.strip() for name in task.split(TOGETHER)]
    if len(names) > 1 and ("" in names or len({*names}) < len(names)):
        raise InputError(
            f"Attributes that belong together are written sex+race, each once; got {task!r}."
        )
    return names


def attribute_columns(sensitive_features: Any) -> dict[str, Any]:
    """Return the columns of protected attributes by name; those without one are given one."""
    names, columns = read_attributes(sensitive_features)
    alone = "group" if len(names) == 1 else None
    return {
        str(name) if name is not None else alone or f"attribute_{j}": column
        for j, (name, column) in enumerate(zip(names, columns, strict=True))
    }


def joint_codes(
    columns: Mapping[Any, Any], rows: int, *, to: str = "y_true", most: int | None = MOST_VALUES
) -> tuple[Codes, list[list[Any]]]:
    """Code the joint values of the attributes; return the codes and the values of each."""
    joint: Codes = np.zeros(rows, dtype=np.intp)
    levels: list[list[Any]] = []
    size = 1
    for name, column in columns.items():
        named = f"sensitive feature {name!r}" if isinstance(name, str) else "sensitive_features"
        check_length(named, len(column), to, rows)
        codes, values = factorize(column)
        if (codes < 0).any():
            codes = np.where(codes < 0, len(values), codes)
            values = [*values, MISSING]
        if most is not None and len(values) > most:
            hint = suggestion(name, values, np.bincount(codes, minlength=len(values)))
            raise InputError(too_many(name, len(values), most, hint))
        size *= len(values)
        if size > MOST_GROUPS:
            raise InputError(too_many(" & ".join(map(str, columns)), size, MOST_GROUPS))
        joint = joint * len(values) + codes if levels else codes
        levels.append(values)
    return joint, levels


def cross(
    columns: Mapping[Any, Any], rows: int, *, to: str = "X", most: int | None = None
) -> tuple[Codes, tuple[Group, ...]]:
    """Return the group of each row and the groups that occur, in order.

    Examples
    --------
    >>> codes, groups = cross({"sex": np.array(["m", "f", "m"], dtype=object)}, 3)
    >>> codes.tolist(), groups
    ([1, 0, 1], (('f',), ('m',)))
    """
    joint, levels = joint_codes(columns, rows, to=to, most=most)
    occurring = np.flatnonzero(np.bincount(joint, minlength=1))
    places = np.unravel_index(occurring, [len(values) for values in levels]) if rows else ()
    columns_of = ([values[k] for k in at] for values, at in zip(levels, places, strict=False))
    labels = list(zip(*columns_of, strict=True))
    order = sorted(range(len(labels)), key=lambda k: sort_key(labels[k]))
    rank = np.zeros(int(occurring[-1]) + 1 if len(occurring) else 1, dtype=np.intp)
    rank[occurring[order]] = np.arange(len(order))
    return rank[joint], tuple(labels[k] for k in order)


def group_index(sensitive_features: Any, groups: Sequence[Group], rows: int) -> Codes:
    """Return to which of ``groups`` each row belongs."""
    codes, labels = cross(
        attribute_columns(sensitive_features), rows, to="y_true", most=MOST_VALUES
    )
    place = {group: i for i, group in enumerate(groups)}
    index = np.array([place.get(label, -1) for label in labels], dtype=np.intp)[codes]
    if (index < 0).any():
        raise InputError("Some rows belong to none of the groups; count and score the same rows.")
    return index


def too_many(name: Any, values: int, most: int = MOST_VALUES, hint: str = "") -> str:
    """Return the message for a column that looks like an identifier, not a protected attribute."""
    how = f"cut it into bands ({hint})" if hint else "merge its values first"
    return f"A protected attribute or stratum must have at most {most:,} values; {name!r} has {values:,}: {how}."
