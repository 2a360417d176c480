"""What every result of these rooms can do: show itself as a table, and become plain data."""

from dataclasses import fields
from typing import Any

import pandas as pd

from isonomy._brief import brief
from isonomy._tables import plain


class Result:
    """A frozen dataclass with ``frame()``, ``to_dict()``, a line for prompts, a table for notebooks."""

    __repr__ = brief

    def frame(self) -> pd.DataFrame:
        """Return the result as a frame."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; NaN and infinity are None."""
        record: Any = self  # its subclasses are the dataclasses
        return {field.name: plain(getattr(self, field.name)) for field in fields(record)}

    def _repr_html_(self) -> str:
        frame = self.frame()
        named = not isinstance(frame.index, pd.RangeIndex)
        return str(frame.to_html(index=named, float_format="{:.4f}".format))
