"""The base class of generators, and generators by name."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from isonomy._arrays import Floats
from isonomy._registry import Registry
from isonomy._validate import check_least
from isonomy.errors import InputError, NotApplicable
from isonomy.generators.columns import Columns

Condition = Mapping[int, int]
ROUNDS = 200
"""How often rows are proposed before a condition is given up."""

GENERATORS: "Registry[type[BaseGenerator]]" = Registry("generator")
"""Generators by name."""


class BaseGenerator(BaseEstimator, ABC):  # type: ignore[misc]
    """Base class: a generator is fitted to a frame and draws rows in the frame's domain.

    Rows drawn hold only values that were seen, numbers within the range seen, and whole numbers
    where the column holds whole ones. A subclass sets ``name``, learns from points (see
    :class:`~isonomy.generators.columns.Columns`) and either draws points that fulfil a condition
    (``draw``) or proposes points from which those that fulfil it are taken (``propose``).
    """

    name: ClassVar[str]
    label: ClassVar[str]
    columns_: Columns

    def fit(self, frame: pd.DataFrame, *, discrete: Collection[Any] | None = None) -> Self:
        """Learn from the rows of a frame.

        Parameters
        ----------
        frame : pandas.DataFrame
            The rows; numbers must be finite, anything else may be missing.
        discrete : collection of names, optional
            Columns that take only values seen. Text, categories and truth values do in any case,
            and so do numbers of which no more than ten differ.
        """
        self.columns_ = Columns(frame, discrete)
        self.learn(self.columns_.points(frame))
        return self

    def sample(
        self,
        n: int,
        rng: np.random.Generator | int | None = None,
        *,
        condition: Mapping[Any, Any] | None = None,
    ) -> pd.DataFrame:
        """Draw rows.

        Parameters
        ----------
        n : int
            The number of rows.
        rng : numpy.random.Generator or seed
            The source of randomness.
        condition : mapping of column to value, optional
            Values that all rows must hold, for instance ``{"sex": "Female"}``; discrete columns only.
        """
        if not hasattr(self, "columns_"):
            raise InputError(f"{self.name} must be fitted before it draws rows: call fit first.")
        check_least("The number of rows to draw", n, 0)
        wanted = self.columns_.condition(condition)
        rng = np.random.default_rng(rng)
        points = self.draw(n, rng, wanted) if n else np.empty((0, len(self.columns_)))
        return self.columns_.frame(self.columns_.clip(points))

    @abstractmethod
    def learn(self, points: Floats) -> None:
        """Learn from points."""

    def draw(self, n: int, rng: np.random.Generator, condition: Condition) -> Floats:
        """Draw points that fulfil a condition (column position to value position), by rejection."""
        accepted: list[Floats] = []
        count, tried, size = 0, 0, n
        for _ in range(ROUNDS):
            points = self.propose(size, rng, condition)
            accepted.append(points[_fulfils(points, condition)])
            count, tried = count + len(accepted[-1]), tried + size
            if count >= n:
                return np.concatenate(accepted)[:n]
            share = (count + 1) / (tried + 1)
            size = int(min(1.2 * (n - count) / share + 100, 50_000))
        wanted = " and ".join(
            f"{self.columns_.columns[j].name} = {self.columns_.columns[j].values[v]!r}"
            for j, v in condition.items()
        )
        raise NotApplicable(
            f"{self.name} hardly ever draws {wanted}: {count:,} rows of the {n:,} asked for; fit it "
            f"to the rows of that group alone."
        )

    def propose(self, n: int, rng: np.random.Generator, condition: Condition) -> Floats:
        """Draw points that need not fulfil the condition."""
        raise NotImplementedError

    def matching(self, points: Floats, condition: Condition) -> NDArray[np.intp]:
        """Return the positions of the rows seen that fulfil a condition."""
        good = _fulfils(points, condition)
        if not good.any():
            raise NotApplicable(
                "No row that was seen fulfils the whole condition, so that none can be drawn."
            )
        return np.flatnonzero(good)


def _fulfils(points: Floats, condition: Condition) -> NDArray[np.bool_]:
    good = np.ones(len(points), dtype=bool)
    for j, value in condition.items():
        good &= points[:, j] == value
    return good


def make_generator(name: str, **options: Any) -> BaseGenerator:
    """Make a generator from its name.

    Parameters
    ----------
    name : {"independent", "bootstrap_noise", "tvae", "ctgan"}
        The generator; the last two need the extra ``torch`` to fit.
    **options
        Its parameters.

    Examples
    --------
    >>> make_generator("bootstrap_noise", noise=0.2)
    BootstrapNoise(noise=0.2)
    """
    return GENERATORS[name](**options)
