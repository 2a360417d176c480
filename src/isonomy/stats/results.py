"""What every result of these rooms can do: show itself as a table, and become plain data."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd


def to_plain(value: Any) -> Any:
    """Return numbers, arrays, frames and records as plain data; NaN and infinity are None.

    Examples
    --------
    >>> to_plain({"p": np.array([0.5, np.nan]), "n": np.int64(3)})
    {'p': [0.5, None], 'n': 3}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, pd.DataFrame):
        value = value.to_dict("records")
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if hasattr(value, "_asdict"):
        return to_plain(value._asdict())
    if is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    return value if isinstance(value, str | int | float | None) else str(value)


class Result:
    """A frozen dataclass with ``frame()``, ``to_dict()`` and a table for notebooks."""

    def frame(self) -> pd.DataFrame:
        """Return the result as a frame."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; NaN and infinity are None."""
        return dict(to_plain(self))

    def _repr_html_(self) -> str:
        frame = self.frame()
        named = not isinstance(frame.index, pd.RangeIndex)
        return str(frame.to_html(index=named, float_format="{:.4f}".format))
