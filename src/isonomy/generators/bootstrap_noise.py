"""Rows of the data with a little noise: the smoothed bootstrap (Efron, 1979)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from isonomy._arrays import Floats
from isonomy.errors import InputError
from isonomy.generators.base import GENERATORS, BaseGenerator, Condition


@GENERATORS.register("bootstrap_noise", aliases=("bootstrap",))
@dataclass(kw_only=True, eq=False, repr=False)
class BootstrapNoise(BaseGenerator):
    """Draws rows seen again, with a little noise: the neighbourhood of the data.

    Numbers get normal noise whose deviation is a share of the column's own; discrete columns are,
    with a small probability, replaced by a value of another row. What a condition names stays.

    Parameters
    ----------
    noise : float, default 0.1
        The deviation of the noise as a share of the column's deviation.
    replace : float, default 0.05
        The probability with which a discrete value is exchanged.

    References
    ----------
    B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 1979 (the
    smoothed bootstrap).

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": ["F", "M"] * 20, "hours": range(20, 60)})
    >>> rows = BootstrapNoise(noise=0.0, replace=0.0).fit(frame).sample(5, 1)
    >>> len(rows.merge(frame))
    5
    """

    label: ClassVar[str] = "bootstrap + noise"

    noise: float = 0.1
    replace: float = 0.05

    def learn(self, points: Floats) -> None:
        """Store the rows and the deviation of each column."""
        if not self.noise >= 0 or not 0 <= self.replace <= 1:
            raise InputError(
                f"noise must not be negative and replace must lie in 0 ... 1; got {self.noise} "
                f"and {self.replace}."
            )
        self.points_ = points
        self.spread_ = np.array(
            [0.0 if c.discrete else points[:, j].std() for j, c in enumerate(self.columns_)]
        )

    def draw(self, n: int, rng: np.random.Generator, condition: Condition) -> Floats:
        """Draw rows and disturb them."""
        rows = self.matching(self.points_, condition)
        out = self.points_[rows[rng.integers(len(rows), size=n)]]
        out += self.noise * self.spread_ * rng.normal(size=out.shape)
        exchanged = rng.random(out.shape) < self.replace
        exchanged &= [c.discrete for c in self.columns_]
        exchanged[:, list(condition)] = False
        other = rows[rng.integers(len(rows), size=out.shape)]
        return np.where(exchanged, np.take_along_axis(self.points_, other, axis=0), out)
