"""The label of a table: one of its columns, or a number cut in two."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from isonomy._bands import MANY, is_number, read_cut
from isonomy._excel import ABSENT
from isonomy._unknown import is_unknown
from isonomy._validate import comma_hint, given_as, listed
from isonomy.errors import InputError

_SIGNS = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}


def read_label(table: pd.DataFrame, label: str, favorable: Any = None) -> "pd.Series[Any]":
    """Return the label: a column, or 1 and 0 for ``income>50000``; missing stays missing.

    Raises for a measurement that was neither cut nor given favorable values, with a cut to use.

    Examples
    --------
    >>> read_label(pd.DataFrame({"income": [20, 60]}), "income>50").tolist()
    [0, 1]
    """
    cut = read_cut(label, list(table.columns))
    column = cut.column if cut else label
    values = table[column]
    if cut:
        if not is_number(values):
            words = values.dropna().unique()
            hint = f": {say}" if (say := comma_hint(words)) else ""
            raise InputError(
                f"Only a number can be cut into a label; {column!r} holds {listed(words[:3])}{hint}."
            )
        numbers = values.to_numpy(dtype=float, na_value=np.nan)
        made = _SIGNS[cut.sign](numbers, cut.number).astype(int)
        kept = pd.Series(made, values.index, name=label)
        return kept.where(values.notna()) if values.isna().any() else kept
    if favorable is None and is_number(values) and values.nunique() > MANY:
        example = f"{column}>{np.nanmedian(values.to_numpy(dtype=float)):.3g}"
        raise InputError(
            f"A label must have few classes; {column!r} holds {values.nunique():,} numbers: cut "
            f"it in two, label={example!r} (on the command line --label '{example}')."
        )
    return values


def check_label(label: Any) -> None:
    """Raise unless a label is the name of a column, and not the column itself.

    Examples
    --------
    >>> check_label(pd.Series([0, 1], name="hired"))
    Traceback (most recent call last):
    ...
    isonomy.errors.InputError: label must be the name of a column; got a Series: pass its name, \
such as 'hired'.
    """
    if label is None:
        raise InputError("The column to predict must be named: label= (--label).")
    if np.ndim(label):
        name = getattr(label, "name", None) or "income"
        raise InputError(
            f"label must be the name of a column; got {given_as(label)}: pass its name, such as "
            f"{name!r}."
        )


def source_of_label(label: str, columns: Sequence[Any]) -> str:
    """Return the column that a label is, or is cut from.

    Examples
    --------
    >>> source_of_label("income >= 50e3", ["income", "age"])
    'income'
    """
    cut = read_cut(label, columns)
    return cut.column if cut else label


def absent_label_notes(rows: Mapping[Any, float], favorable: Collection[Any]) -> list[str]:
    """Ask about labels that are words for a missing value: they count as unfavourable.

    Parameters
    ----------
    rows : mapping of label to number of rows
    favorable : collection of labels

    Examples
    --------
    >>> absent_label_notes({"yes": 60, "no": 30, "NA": 10}, ["yes"])
    ["The label of 10 rows is 'NA', which counts as unfavourable: if it means that the label is not
    known, drop these rows."]
    """
    absent = [
        label
        for label in rows
        if label not in favorable
        and isinstance(label, str)
        and (is_unknown(label) or label.strip().casefold() in ABSENT)
    ]
    if not absent:
        return []
    n = int(sum(rows[label] for label in absent))
    of, these = ("1 row", "this row") if n == 1 else (f"{n:,} rows", "these rows")
    note = (
        f"The label of {of} is {' or '.join(map(repr, absent))}, which counts as unfavourable: if it "
        f"means that the label is not known, drop {these}."
    )
    return [note]
