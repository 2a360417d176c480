"""Black-box search over parameter spaces: any number to make small, any parameters to turn.

A space maps names to parameters; an objective takes one configuration (a dict) and gives a number
that shall be small. Nothing here knows what the number means, so the same strategies tune a
learner for accuracy, a mitigator for a trade-off, or a sampler for a tail.

=============  ==================================================================================
``grid``       every configuration of a finite space, in order
``random``     the defaults first, then independent draws
``flash``      a regression tree, refitted on what was evaluated, decides which draws are worth an
               evaluation (Nair et al., 2018, as Fairway and MAAT use it)
``mutation``   changes one parameter of the best configuration so far, with fresh draws in between
               (the black-box strategy of Parfait-ML: Tizpaz-Niari et al., 2022)
=============  ==================================================================================
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._registry import Registry
from isonomy._validate import unknown_name
from isonomy.errors import InputError

__all__ = [
    "Choice",
    "Evaluation",
    "Parameter",
    "Real",
    "STRATEGIES",
    "Search",
    "Space",
    "Whole",
    "flash_search",
    "grid_search",
    "minimize",
    "mutation_search",
    "random_search",
]

Config = dict[str, Any]
Objective = Callable[[Config], float]
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


@dataclass(frozen=True)
class Evaluation:
    """One configuration and its value."""

    config: Config
    value: float


@dataclass(frozen=True)
class Search:
    """What a search did: every evaluation in order, and the best one.

    Parameters
    ----------
    strategy : str
        The strategy.
    history : tuple of Evaluation
        All evaluations in order.
    """

    strategy: str
    history: tuple[Evaluation, ...] = field(repr=False)

    @property
    def best(self) -> Evaluation:
        """Give the evaluation with the smallest value; the first of several, NaN never."""
        values = np.array([e.value for e in self.history])
        return self.history[int(np.argmin(np.where(np.isnan(values), np.inf, values)))]

    def frame(self) -> pd.DataFrame:
        """Give one row per evaluation with its parameters, value and best value so far."""
        table = pd.DataFrame([e.config for e in self.history])
        table["value"] = [e.value for e in self.history]
        table["best"] = table["value"].cummin()
        return table

    def _repr_html_(self) -> str:
        return self.frame().to_html(index=False)


STRATEGIES: Registry[Callable[..., Search]] = Registry("search strategy")
"""Every strategy by name; each takes (objective, space, budget, rng) and its own options."""


def minimize(
    objective: Objective,
    space: Mapping[str, Parameter],
    *,
    strategy: str = "random",
    budget: int = 100,
    random_state: Any = 0,
    **options: Any,
) -> Search:
    """Look for the configuration with the smallest value.

    Parameters
    ----------
    objective : callable
        Takes a configuration (a dict) and gives a number; infinity refuses a configuration, NaN
        is never the best.
    space : mapping of str to Choice, Whole or Real
        What can be turned.
    strategy : {"grid", "random", "flash", "mutation"}
        How to look.
    budget : int
        The most evaluations.
    random_state : int, Generator or RandomState
        Seed.
    **options
        Options of the strategy.

    Returns
    -------
    Search

    Examples
    --------
    >>> space = {"x": Whole(-5, 5), "mode": Choice(["up", "down"])}
    >>> found = minimize(lambda c: c["x"] ** 2 + (c["mode"] == "up"), space, strategy="grid")
    >>> found.best.config, found.best.value, len(found.history)
    ({'x': 0, 'mode': 'down'}, 0, 22)
    """
    if budget < 1:
        raise InputError(f"budget must be at least 1; got {budget}.")
    if not space:
        raise InputError("space must have at least one parameter; got none.")
    rng = _generator(random_state)
    return STRATEGIES[strategy](objective, Space(space), budget, rng, **options)


def _generator(random_state: Any) -> Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


def _stream(space: Space, rng: Generator) -> Iterator[Config]:
    """Draw configurations without repeating one; ends when a finite space is used up."""
    if space.size <= 1_000_000:
        for index in rng.permutation(int(space.size)):
            yield space.at(int(index))
        return
    seen: set[tuple[float, ...]] = set()
    while True:
        config = space.draw(rng)
        key = space.numbers(config)
        if key not in seen:
            seen.add(key)
            yield config


@STRATEGIES.register("grid")
def grid_search(objective: Objective, space: Space, budget: int, rng: Generator) -> Search:
    """Evaluate every configuration of a finite space, in order."""
    if space.size > budget:
        raise InputError(
            f"A grid search must fit its budget; the space has {space.size:,} configurations and "
            f"the budget is {budget:,}: raise it or choose another strategy."
        )
    configs = [space.at(index) for index in range(int(space.size))]
    return Search("grid", tuple(Evaluation(c, objective(c)) for c in configs))


@STRATEGIES.register("random")
def random_search(objective: Objective, space: Space, budget: int, rng: Generator) -> Search:
    """Evaluate the defaults, then draws that do not repeat."""
    history = [Evaluation(space.default, objective(space.default))]
    for config in _stream(space, rng):
        if len(history) >= budget:
            break
        if config != space.default:
            history.append(Evaluation(config, objective(config)))
    return Search("random", tuple(history))


@STRATEGIES.register("flash")
def flash_search(
    objective: Objective,
    space: Space,
    budget: int,
    rng: Generator,
    *,
    initial: int = 20,
    life: int = 20,
    acquire: Literal["filter", "best"] = "filter",
) -> Search:
    """Let a regression tree decide which configurations are worth an evaluation.

    Parameters
    ----------
    objective, space, budget, rng
        As in ``minimize``.
    initial : int
        How many random configurations are evaluated first.
    life : int
        After how many disappointments to stop; it never grows again.
    acquire : {"filter", "best"}
        ``filter``, as Fairway's code does: draw one configuration that was not looked at yet and
        evaluate it if the tree predicts less than the median of all values so far, else lose a
        life. ``best``, as the paper on FLASH has it: evaluate the configuration of those left
        that the tree predicts to be best, and lose a life if it is no improvement; needs a finite
        space.

    Returns
    -------
    Search

    References
    ----------
    V. Nair, Z. Yu, T. Menzies, N. Siegmund and S. Apel, "Finding faster configurations using
    FLASH", IEEE Transactions on Software Engineering 46, 2018.
    """
    # Imported here: the other strategies need no learner.
    from sklearn.tree import DecisionTreeRegressor

    if acquire not in ("filter", "best"):
        raise unknown_name("way to acquire", str(acquire), ("filter", "best"))
    if acquire == "best" and space.size > 1_000_000:
        raise InputError("acquire='best' needs a finite space of at most 1,000,000 configurations.")
    draws = _stream(space, rng)
    history: list[Evaluation] = []
    for config in draws:
        history.append(Evaluation(config, objective(config)))
        if len(history) >= min(initial, budget):
            break
    known = [space.numbers(e.config) for e in history]
    pool = list(draws) if acquire == "best" else []
    numbers = np.array([space.numbers(c) for c in pool])
    left = np.ones(len(pool), dtype=bool)
    seed = int(rng.integers(2**31 - 1))
    tree, fitted_on = DecisionTreeRegressor(random_state=seed), 0
    while len(history) < budget and life > 0:
        values = _finite([e.value for e in history])
        if fitted_on < len(history):
            tree.fit(known, values)
            fitted_on = len(history)
        if acquire == "filter":
            candidate = next(draws, None)
            if candidate is None:
                break
            worth = tree.predict([space.numbers(candidate)])[0] < np.median(values)
        else:
            if not left.any():
                break
            where = np.flatnonzero(left)[int(np.argmin(tree.predict(numbers[left])))]
            left[where], candidate, worth = False, pool[where], True
        if worth:
            best = values.min()
            history.append(Evaluation(candidate, objective(candidate)))
            known.append(space.numbers(candidate))
            worth = acquire == "filter" or history[-1].value < best
        life -= not worth
    return Search("flash", tuple(history))


def _finite(values: Sequence[float]) -> NDArray[np.float64]:
    """Give values a tree can learn: what is undefined or refused counts as the worst seen."""
    given = np.asarray(values, dtype=np.float64)
    good = np.isfinite(given)
    return np.where(good, given, given[good].max() if good.any() else 0.0)


@STRATEGIES.register("mutation")
def mutation_search(
    objective: Objective,
    space: Space,
    budget: int,
    rng: Generator,
    *,
    protocol: Literal["corrected", "as_published"] = "corrected",
) -> Search:
    """Change one parameter of the best configuration so far, with fresh draws in between.

    The defaults come first. Then a step is a fresh draw with probability 0.5 in the first hundred
    and 0.05 later; otherwise one parameter of the best configuration changes: a choice to another
    value; an integer anew (0.4), up (0.3) or down (0.3) by one; a number anew (0.5) or by a
    hundredth of its range up or down.

    Parameters
    ----------
    objective, space, budget, rng
        As in ``minimize``.
    protocol : {"corrected", "as_published"}
        As published, the changed configuration takes the place of the one it came from whether it
        was better or not, the last parameter never changes, and the small step of a Real is
        computed but not kept: three slips of the released code.

    Returns
    -------
    Search

    References
    ----------
    S. Tizpaz-Niari, A. Kumar, G. Tan and A. Trivedi, "Fairness-aware configuration of machine
    learning libraries", ICSE 2022.
    """
    if protocol not in ("corrected", "as_published"):
        raise unknown_name("protocol", str(protocol), ("corrected", "as_published"))
    slips = protocol == "as_published"
    names = list(space)
    turning = names[:-1] if slips and len(names) > 1 else names
    current = space.default
    history = [Evaluation(current, objective(current))]
    best = math.inf if math.isnan(history[0].value) else history[0].value
    while len(history) < budget:
        counter = len(history)
        fresh = 0.5 if counter < 100 else 0.05
        if slips and counter == 100:
            fresh = 0.0
        if rng.random() < fresh:
            config = space.draw(rng)
        else:
            name = turning[int(rng.integers(len(turning)))]
            parameter = space[name]
            if slips and isinstance(parameter, Real):
                value = parameter.draw(rng) if rng.random() < 0.5 else current[name]
            else:
                value = parameter.step(current[name], rng)
            config = {**current, name: value}
            if slips:
                current = config
        history.append(Evaluation(config, objective(config)))
        if history[-1].value < best:
            best, current = history[-1].value, config
    return Search("mutation", tuple(history))
