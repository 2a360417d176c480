"""What can be turned: parameters and the spaces they make."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomy._validate import unknown_name
from isonomy.errors import InputError

__all__ = ["Choice", "Config", "Generator", "Parameter", "Real", "Space", "Whole"]

Config = dict[str, Any]
Generator = np.random.Generator


@dataclass(frozen=True)
class Choice:
    """One of several values.

    Parameters
    ----------
    values : sequence
        What can be chosen.
    start : value, optional
        The default; the first value when None.
    """

    values: Sequence[Any]
    start: Any = None

    def __post_init__(self) -> None:
        if not len(self.values):
            raise InputError("A choice must have at least one value; got none.")
        if self.start is not None and self.start not in self.values:
            raise unknown_name("value of this choice", str(self.start), list(self.values))

    @property
    def default(self) -> Any:
        """Give the value to start from."""
        return self.values[0] if self.start is None else self.start

    @property
    def size(self) -> float:
        """Give the number of values."""
        return len(self.values)

    def at(self, position: int) -> Any:
        """Give the value at a position."""
        return self.values[position]

    def draw(self, rng: Generator) -> Any:
        """Draw a value."""
        return self.values[int(rng.integers(len(self.values)))]

    def step(self, value: Any, rng: Generator) -> Any:
        """Change to another value."""
        others = [v for v in self.values if v != value]
        return others[int(rng.integers(len(others)))] if others else value

    def number(self, value: Any) -> float:
        """Give a value as a surrogate sees it: a number itself, else its position."""
        if all(isinstance(v, int | float | np.number) for v in self.values):
            return float(value)
        return float(list(self.values).index(value))


@dataclass(frozen=True)
class Whole:
    """An integer between two bounds, both included; ``start`` is the default (else the middle)."""

    low: int
    high: int
    start: int | None = None

    def __post_init__(self) -> None:
        _check_bounds(self.low, self.high, self.start)

    @property
    def default(self) -> int:
        """Give the value to start from."""
        return (self.low + self.high) // 2 if self.start is None else self.start

    @property
    def size(self) -> float:
        """Give the number of values."""
        return self.high - self.low + 1

    def at(self, position: int) -> int:
        """Give the value at a position."""
        return self.low + position

    def draw(self, rng: Generator) -> int:
        """Draw a value."""
        return int(rng.integers(self.low, self.high, endpoint=True))

    def step(self, value: int, rng: Generator) -> int:
        """Draw anew with probability 0.4, else go one up or down; never past a bound."""
        luck = rng.random()
        if luck < 0.4:
            return self.draw(rng)
        return int(np.clip(value + (1 if luck < 0.7 else -1), self.low, self.high))

    def number(self, value: int) -> float:
        """Give a value as a surrogate sees it."""
        return float(value)


@dataclass(frozen=True)
class Real:
    """A number between two bounds, drawn evenly, or evenly on a log scale with ``log=True``."""

    low: float
    high: float
    start: float | None = None
    log: bool = False

    def __post_init__(self) -> None:
        _check_bounds(self.low, self.high, self.start)
        if self.log and self.low <= 0:
            raise InputError(f"A log scale needs bounds above 0; got {self.low:g}.")

    @property
    def default(self) -> float:
        """Give the value to start from: the middle of the scale where none is named."""
        return self._back((self._on(self.low) + self._on(self.high)) / 2, self.start)

    @property
    def size(self) -> float:
        """Give the number of values."""
        return math.inf

    def at(self, position: int) -> float:
        """Refuse: a number has no positions."""
        raise InputError("A Real parameter has no positions; use Choice for a grid.")

    def draw(self, rng: Generator) -> float:
        """Draw a value."""
        return self._back(float(rng.uniform(self._on(self.low), self._on(self.high))))

    def step(self, value: float, rng: Generator) -> float:
        """Draw anew with probability 0.5, else go a hundredth of the range up or down."""
        luck = rng.random()
        if luck < 0.5:
            return self.draw(rng)
        hundredth = (self._on(self.high) - self._on(self.low)) / 100
        return self._back(self._on(value) + (hundredth if luck < 0.75 else -hundredth))

    def number(self, value: float) -> float:
        """Give a value as a surrogate sees it."""
        return float(value)

    def _on(self, value: float) -> float:
        return math.log(value) if self.log else value

    def _back(self, value: float, named: float | None = None) -> float:
        if named is not None:
            return named
        return float(np.clip(math.exp(value) if self.log else value, self.low, self.high))


Parameter = Choice | Whole | Real


def _check_bounds(low: float, high: float, start: float | None) -> None:
    if not low <= high:
        raise InputError(f"The lower bound must not exceed the upper; got {low} and {high}.")
    if start is not None and not low <= start <= high:
        raise InputError(f"The default must lie between {low} and {high}; got {start}.")


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
        """Give the number of configurations, infinite where a parameter is Real."""
        return math.prod(p.size for p in self.values())

    @property
    def default(self) -> Config:
        """Give the configuration to start from."""
        return {name: p.default for name, p in self.items()}

    def at(self, index: int) -> Config:
        """Give the configuration at a position of a finite space; the last parameter runs first."""
        config: Config = {}
        for name, parameter in reversed(self.items()):
            index, position = divmod(index, int(parameter.size))
            config[name] = parameter.at(position)
        return {name: config[name] for name in self}

    def draw(self, rng: Generator) -> Config:
        """Draw every parameter."""
        return {name: p.draw(rng) for name, p in self.items()}

    def numbers(self, config: Config) -> tuple[float, ...]:
        """Give a configuration as a surrogate sees it."""
        return tuple(p.number(config[name]) for name, p in self.items())
