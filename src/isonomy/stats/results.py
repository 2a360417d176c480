"""What every result of these rooms can do: show itself as a table, and become plain data."""

from dataclasses import fields
from typing import Any, ClassVar

import pandas as pd

from isonomy._brief import brief
from isonomy._shown import Shown
from isonomy._tables import plain


class Result(Shown):
    """A frozen dataclass with ``frame()``, ``to_dict()``, a line for prompts, a table for notebooks."""

    page: ClassVar[str] = "statistics"

    __repr__ = brief

    def frame(self) -> pd.DataFrame:
        """Return the result as a frame."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; NaN and infinity are None."""
        record: Any = self  # its subclasses are the dataclasses
        return {field.name: plain(getattr(self, field.name)) for field in fields(record)}
