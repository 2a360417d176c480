"""Parameters, and the spaces they make."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomy._validate import check_choice
from isonomy.errors import InputError

Config = dict[str, Any]
"""A setting: the value of each parameter by name."""
Generator = np.random.Generator


@dataclass(frozen=True)
class Choice:
    """One of several values.

    Parameters
    ----------
    values : sequence
        The values to choose from.
    start : value, optional
        The default; the first value when None.
    """

    values: Sequence[Any]
    start: Any = None

    def __post_init__(self) -> None:
        if not len(self.values):
            raise InputError("A choice must have at least one value; got none.")
        if self.start is not None:
            check_choice("value of this choice", self.start, self.values)

    @property
    def default(self) -> Any:
        """The value to start from."""
        return self.values[0] if self.start is None else self.start

    def draw(self, rng: Generator) -> Any:
        """Draw a value."""
        return self.values[int(rng.integers(len(self.values)))]

    def step(self, value: Any, rng: Generator) -> Any:
        """Change to another value."""
        others = [v for v in self.values if v != value]
        return others[int(rng.integers(len(others)))] if others else value

    def number(self, value: Any) -> float:
        """Return a value as a surrogate sees it: a number itself, else its position."""
        if all(isinstance(v, int | float | np.number) for v in self.values):
            return float(value)
        return float(list(self.values).index(value))


@dataclass(frozen=True)
class _Range:
    low: float
    high: float
    start: float | None = None

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise InputError(
                f"The lower bound must not exceed the upper; got {self.low} and {self.high}."
            )
        if self.start is not None and not self.low <= self.start <= self.high:
            raise InputError(
                f"The default must lie between {self.low} and {self.high}; got {self.start}."
            )

    def number(self, value: float) -> float:
        """Return a value as a surrogate sees it."""
        return float(value)


@dataclass(frozen=True)
class Whole(_Range):
    """An integer between two bounds, both included; ``start`` is the default (else the middle)."""

    low: int
    high: int
    start: int | None = None

    @property
    def values(self) -> range:
        """All values in order."""
        return range(self.low, self.high + 1)

    @property
    def default(self) -> int:
        """The value to start from."""
        return (self.low + self.high) // 2 if self.start is None else self.start

    def draw(self, rng: Generator) -> int:
        """Draw a value."""
        return int(rng.integers(self.low, self.high, endpoint=True))

    def step(self, value: int, rng: Generator) -> int:
        """Draw a new value with probability 0.4, else go one up or down; never past a bound."""
        luck = rng.random()
        if luck < 0.4:
            return self.draw(rng)
        return int(np.clip(value + (1 if luck < 0.7 else -1), self.low, self.high))


@dataclass(frozen=True)
class Real(_Range):
    """A number between two bounds, drawn evenly, or evenly on a log scale with ``log=True``."""

    log: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.log and self.low <= 0:
            raise InputError(f"The bounds of a log scale must be above 0; got {self.low:g}.")

    @property
    def default(self) -> float:
        """The value to start from: the middle of the scale unless one is named."""
        low, high = self._ends
        return self._clipped((low + high) / 2) if self.start is None else self.start

    def draw(self, rng: Generator) -> float:
        """Draw a value."""
        return self._clipped(float(rng.uniform(*self._ends)))

    def step(self, value: float, rng: Generator) -> float:
        """Draw a new value with probability 0.5, else go a hundredth of the range up or down."""
        luck = rng.random()
        if luck < 0.5:
            return self.draw(rng)
        low, high = self._ends
        hundredth = (high - low) / 100
        place = math.log(value) if self.log else value
        return self._clipped(place + (hundredth if luck < 0.75 else -hundredth))

    @property
    def _ends(self) -> tuple[float, float]:
        return (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)

    def _clipped(self, place: float) -> float:
        return float(np.clip(math.exp(place) if self.log else place, self.low, self.high))


Parameter = Choice | Whole | Real
"""What values a parameter can have."""


class Space(dict[str, Parameter]):
    """Named parameters.

    Examples
    --------
    >>> space = Space(C=Choice([0.1, 1.0, 10.0], start=1.0), depth=Whole(1, 4))
    >>> space.size, space.default
    (12, {'C': 1.0, 'depth': 2})
    >>> space.at(5)
    {'C': 1.0, 'depth': 2}
    """

    @property
    def size(self) -> float:
        """The number of configurations, infinite where a parameter is Real."""
        return math.prod(math.inf if isinstance(p, Real) else len(p.values) for p in self.values())

    @property
    def default(self) -> Config:
        """The configuration to start from."""
        return {name: p.default for name, p in self.items()}

    def at(self, index: int) -> Config:
        """Return the configuration at a position of a finite space; the last parameter runs first."""
        config: Config = {}
        for name, parameter in reversed(self.items()):
            if isinstance(parameter, Real):
                raise InputError(
                    f"A space must be finite to have positions; {name!r} is Real: use Choice."
                )
            index, position = divmod(index, len(parameter.values))
            config[name] = parameter.values[position]
        return {name: config[name] for name in self}

    def draw(self, rng: Generator) -> Config:
        """Draw every parameter."""
        return {name: p.draw(rng) for name, p in self.items()}

    def numbers(self, config: Config) -> tuple[float, ...]:
        """Return a configuration as a surrogate sees it."""
        return tuple(p.number(config[name]) for name, p in self.items())
