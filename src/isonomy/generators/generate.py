"""Generators of rows: what else could the people of this table look like."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from isonomy._registry import Registry
from isonomy._validate import unknown_name
from isonomy.errors import InputError, NotApplicable
from isonomy.generators.columns import Columns

__all__ = [
    "BaseGenerator",
    "BootstrapNoise",
    "GENERATORS",
    "Independent",
    "check_at_least",
    "make_generator",
]

Floats = NDArray[np.float64]
Condition = Mapping[int, int]
ROUNDS = 200
"""Draws that a condition may be waited for."""

GENERATORS: "Registry[type[BaseGenerator]]" = Registry("generator")
"""Generators by name."""


class BaseGenerator(BaseEstimator, ABC):  # type: ignore[misc]
    """A generator: fitted to a frame, it draws rows in the frame's domain.

    Rows drawn hold only values that were seen, numbers within the range seen, and whole numbers
    where the column holds whole ones. A subclass sets ``name``, learns from points (see
    :class:`~isonomy.generators.columns.Columns`) and draws points.
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
            How many.
        rng : numpy.random.Generator or seed
            Where random numbers come from.
        condition : mapping of column to value, optional
            What all rows must hold, for instance ``{"sex": "Female"}``; discrete columns only.
        """
        if not hasattr(self, "columns_"):
            raise InputError(f"{self.name} must be fitted before it draws rows: call fit first.")
        if n < 0:
            raise InputError(f"The number of rows to draw must not be negative; got {n}.")
        wanted = self.columns_.condition(condition)
        rng = np.random.default_rng(rng)
        points = self.draw(n, rng, wanted) if n else np.empty((0, len(self.columns_)))
        return self.columns_.frame(self.columns_.clip(points))

    @abstractmethod
    def learn(self, points: Floats) -> None:
        """Learn from points."""

    @abstractmethod
    def draw(self, n: int, rng: np.random.Generator, condition: Condition) -> Floats:
        """Draw points that fulfil a condition: column position to value position."""

    def draw_until(self, n: int, rng: np.random.Generator, condition: Condition) -> Floats:
        """Draw by ``propose`` and keep what fulfils the condition, until there is enough."""
        kept: list[Floats] = []
        have, tried, size = 0, 0, n
        for _ in range(ROUNDS):
            points = self.propose(size, rng, condition)
            kept.append(points[_fulfils(points, condition)])
            have, tried = have + len(kept[-1]), tried + size
            if have >= n:
                return np.concatenate(kept)[:n]
            share = (have + 1) / (tried + 1)
            size = int(min(1.2 * (n - have) / share + 100, 50_000))
        held = " and ".join(
            f"{self.columns_.columns[j].name} = {self.columns_.columns[j].values[v]!r}"
            for j, v in condition.items()
        )
        raise NotApplicable(
            f"{self.name} hardly ever draws {held}: {have:,} rows of the {n:,} asked for; fit it "
            f"to the rows of that group alone."
        )

    def propose(self, n: int, rng: np.random.Generator, condition: Condition) -> Floats:
        """Draw points that need not fulfil the condition."""
        raise NotImplementedError

    def matching(self, points: Floats, condition: Condition) -> NDArray[np.intp]:
        """Give the rows seen that fulfil a condition."""
        good = _fulfils(points, condition)
        if not good.any():
            raise NotApplicable(
                "No row that was seen fulfils the whole condition, so that none can be drawn."
            )
        return np.flatnonzero(good)


def check_at_least(generator: BaseGenerator, name: str, least: int) -> None:
    """Raise unless a setting of a generator is a number that is not too small."""
    if not getattr(generator, name) >= least:
        raise InputError(f"{name} must be at least {least}; got {getattr(generator, name)}.")


def _fulfils(points: Floats, condition: Condition) -> NDArray[np.bool_]:
    good = np.ones(len(points), dtype=bool)
    for j, value in condition.items():
        good &= points[:, j] == value
    return good


@GENERATORS.register("independent", aliases=("rnd",))
class Independent(BaseGenerator):
    """Every column drawn by itself: rows that need not hang together.

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
    >>> frame = pd.DataFrame({"sex": ["F", "M"] * 20, "hours": range(20, 60)})
    >>> rows = Independent().fit(frame).sample(3, 1, condition={"sex": "F"})
    >>> rows["sex"].tolist(), bool(rows["hours"].between(20, 59).all())
    (['F', 'F', 'F'], True)
    """

    name: ClassVar[str] = "independent"
    label: ClassVar[str] = "RND"

    def __init__(self, *, by: str = "uniform") -> None:
        self.by = by

    def learn(self, points: Floats) -> None:
        """Keep the columns."""
        if self.by not in ("uniform", "marginals"):
            raise unknown_name("way to draw", str(self.by), ("uniform", "marginals"))
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


@GENERATORS.register("bootstrap_noise", aliases=("bootstrap",))
class BootstrapNoise(BaseGenerator):
    """Rows seen, drawn again with a little noise: the neighbourhood of the data.

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
    >>> frame = pd.DataFrame({"sex": ["F", "M"] * 20, "hours": range(20, 60)})
    >>> rows = BootstrapNoise(noise=0.0, replace=0.0).fit(frame).sample(5, 1)
    >>> len(rows.merge(frame))
    5
    """

    name: ClassVar[str] = "bootstrap_noise"
    label: ClassVar[str] = "bootstrap + noise"

    def __init__(self, *, noise: float = 0.1, replace: float = 0.05) -> None:
        self.noise = noise
        self.replace = replace

    def learn(self, points: Floats) -> None:
        """Keep the rows and how much each column varies."""
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


def make_generator(name: str, **options: Any) -> BaseGenerator:
    """Make a generator from its name.

    Parameters
    ----------
    name : {"independent", "bootstrap_noise", "tvae", "ctgan"}
        Which; the last two need the extra ``torch`` to fit.
    **options
        Its parameters.

    Examples
    --------
    >>> make_generator("bootstrap_noise", noise=0.2)
    BootstrapNoise(noise=0.2)
    """
    return GENERATORS[name](**options)
