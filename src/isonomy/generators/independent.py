"""Rows whose columns are drawn independently (RND of Monjezi et al., 2025)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from isonomy._arrays import Floats
from isonomy._validate import check_choice
from isonomy.generators.base import GENERATORS, BaseGenerator, Condition


@GENERATORS.register("independent", aliases=("rnd",))
@dataclass(kw_only=True, eq=False, repr=False)
class Independent(BaseGenerator):
    """Draws every column by itself, so that values of a row need not go together.

    Parameters
    ----------
    by : {"uniform", "marginals"}
        ``uniform`` gives every value seen, and every number in the range, the same chance: RND of
        Monjezi et al. ``marginals`` draws from the column as it is.

    References
    ----------
    V. Monjezi, A. Trivedi, V. Kreinovich and S. Tizpaz-Niari, "Fairness testing through extreme
    value theory", ICSE 2025.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": ["F", "M"] * 20, "hours": range(20, 60)})
    >>> rows = Independent().fit(frame).sample(3, 1, condition={"sex": "F"})
    >>> rows["sex"].tolist(), bool(rows["hours"].between(20, 59).all())
    (['F', 'F', 'F'], True)
    """

    label: ClassVar[str] = "RND"

    by: str = "uniform"

    def learn(self, points: Floats) -> None:
        """Store the rows."""
        check_choice("way to draw", self.by, ("uniform", "marginals"))
        self.points_ = points

    def draw(self, n: int, rng: np.random.Generator, condition: Condition) -> Floats:
        """Draw every column by itself; conditioned ones are set."""
        if self.by == "marginals":
            rows = self.matching(self.points_, condition)
            at = rows[rng.integers(len(rows), size=(n, len(self.columns_)))]
            return np.take_along_axis(self.points_, at, axis=0)
        out = rng.random((n, len(self.columns_)))
        for j, column in enumerate(self.columns_):
            if column.kind == "number":
                out[:, j] = column.low + (column.high - column.low) * out[:, j]
            else:  # whole numbers: the ends as likely as the rest
                out[:, j] = column.low + np.floor((column.high - column.low + 1) * out[:, j])
        for j, value in condition.items():
            out[:, j] = value
        return out
