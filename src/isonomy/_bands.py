"""Numbers to be cut: in two (``income>50000``), or into bands, with their names and a suggestion."""

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from isonomy._validate import check_choice, unknown_name
from isonomy.errors import InputError

_CUT = re.compile(r"(?P<column>.+?)\s*(?P<sign>>=|<=|>|<)\s*(?P<number>[^<>=]+)")
MANY = 12
"""A number with more values than this is to be cut into bands before its groups are compared."""


@dataclass(frozen=True)
class Cut:
    """A number cut in two: the column, one of ``>``, ``>=``, ``<`` and ``<=``, and where."""

    column: str
    sign: str
    number: float


def read_cut(text: str, columns: Sequence[Any] | None = None, *, what: str = "label") -> Cut | None:
    """Read ``income>50000``; None where the text is itself a column, which must exist if not a cut.

    Examples
    --------
    >>> read_cut("income >= 50e3", ["income", "age"])
    Cut(column='income', sign='>=', number=50000.0)
    >>> read_cut("age", ["income", "age"]) is None
    True
    """
    match = None if columns is not None and text in columns else _CUT.fullmatch(text.strip())
    if match is None:
        if columns is not None and text not in columns:
            raise unknown_name("column", text, columns)
        return None
    if columns is not None:
        check_choice("column", match["column"], columns)
    try:
        return Cut(match["column"], match["sign"], float(match["number"]))
    except ValueError:
        raise InputError(
            f"A {what} must be a column or COLUMN>NUMBER (also >=, < and <=); got {text!r}."
        ) from None


def band_names(cuts: Iterable[float]) -> list[str]:
    """Return the names of the bands between sorted cuts.

    Examples
    --------
    >>> band_names([25, 60])
    ['under 25', '25 to 60', '60 and over']
    """
    low = [f"{cut:g}" for cut in cuts]
    return [f"under {low[0]}", *(f"{a} to {b}" for a, b in pairwise(low)), f"{low[-1]} and over"]


def is_number(values: "pd.Series[Any]") -> bool:
    """Return whether a column holds numbers; truth values are none."""
    return is_numeric_dtype(values) and not is_bool_dtype(values)


def quarters(values: ArrayLike, rows: ArrayLike | None = None) -> list[float]:
    """Return the cuts that make quarters of a number, to three digits; fewer where they agree.

    Parameters
    ----------
    values : array-like
        Numbers; what is not finite is left out.
    rows : array-like, optional
        How many rows have each value.

    Examples
    --------
    >>> quarters(range(18, 90))
    [36.0, 54.0, 72.0]
    >>> quarters([20, 30, 40], [10, 10, 80])
    [40.0]
    """
    numbers = np.asarray(values, dtype=np.float64)
    weight = np.ones(numbers.size) if rows is None else np.asarray(rows, dtype=np.float64)
    order = np.argsort(numbers)
    order = order[np.isfinite(numbers[order])]
    if not order.size:
        return []
    below = np.cumsum(weight[order]) / weight[order].sum()
    at = np.searchsorted(below, [0.25, 0.5, 0.75], side="right").clip(max=order.size - 1)
    cuts = {float(f"{cut:.3g}") for cut in numbers[order[at]]}
    # a cut at or below the smallest number leaves its first band empty
    return sorted(cut for cut in cuts if cut > numbers[order[0]])


def suggestion(name: Any, values: Sequence[Any], rows: ArrayLike | None = None) -> str:
    """Return the option that cuts a number into quarters; empty where values are not numbers.

    Examples
    --------
    >>> suggestion("age", range(18, 90))
    '--bins age=36,54,72'
    >>> suggestion("age (years)", range(18, 90))
    "--bins 'age (years)=36,54,72'"
    """
    known = [
        k for k, v in enumerate(values) if isinstance(v, int | float) and not isinstance(v, bool)
    ]
    words = set(values) - {values[k] for k in known}
    if len(words) > 1:  # one word may say that the number is missing
        return ""
    at = None if rows is None else np.asarray(rows)[known]
    cuts = quarters([values[k] for k in known], at)
    typed = shlex.quote(f"{name}={','.join(f'{cut:g}' for cut in cuts)}")
    return f"--bins {typed}" if cuts else ""


def too_many_numbers(name: Any, values: Sequence[Any], rows: ArrayLike | None = None) -> str:
    """Say that a number should be cut into bands; empty where it need not be.

    Examples
    --------
    >>> too_many_numbers("age", range(18, 90))
    "'age' has 72 groups, one per number: cut it into bands (--bins age=36,54,72)."
    """
    groups = len(set(values))
    hint = suggestion(name, values, rows) if groups > MANY else ""
    if not hint:
        return ""
    return f"{name!r} has {groups} groups, one per number: cut it into bands ({hint})."
