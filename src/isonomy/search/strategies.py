"""The strategies, and the result of a search."""

import itertools
import math
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._registry import Registry
from isonomy._validate import check_choice, check_least, make_rng
from isonomy.errors import InputError
from isonomy.search.space import Config, Generator, Parameter, Real, Space
from isonomy.stats.results import Result

Objective = Callable[[Config], float]
Protocol = Literal["corrected", "as_published"]
PROTOCOLS = ("corrected", "as_published")
LARGEST = 1_000_000
"""A space with more configurations is not laid out as a list."""


@dataclass(frozen=True)
class Evaluation:
    """One configuration and its value."""

    config: Config
    value: float


@dataclass(frozen=True, repr=False)
class Search(Result):
    """The result of a search: every evaluation in order, and the best one.

    Parameters
    ----------
    strategy : str
        The strategy.
    history : tuple of Evaluation
        All evaluations in order.
    """

    strategy: str
    history: tuple[Evaluation, ...]

    @property
    def best(self) -> Evaluation:
        """The evaluation with the smallest value; the first of several, NaN never."""
        values = np.array([e.value for e in self.history])
        return self.history[int(np.argmin(np.where(np.isnan(values), np.inf, values)))]

    def frame(self) -> pd.DataFrame:
        """Return one row per evaluation with its parameters, value and best value so far."""
        table = pd.DataFrame([e.config for e in self.history])
        table["value"] = [e.value for e in self.history]
        table["best"] = table["value"].cummin()
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return the search as plain data; an undefined or infinite value is None."""
        return {
            "strategy": self.strategy,
            "history": [
                {**e.config, "value": e.value if math.isfinite(e.value) else None}
                for e in self.history
            ],
        }


History = list[Evaluation]
Configs = Iterator[Config]
STRATEGIES: Registry[Callable[..., Configs]] = Registry("search strategy")
"""Every strategy by name: a generator of configurations to evaluate next.

Each takes (space, history, budget, rng) and its own options; ``history`` grows with every
configuration that was evaluated, the last of them being the one yielded last.
"""


def minimize(
    objective: Objective,
    space: Mapping[str, Parameter],
    *,
    strategy: str = "random",
    budget: int = 100,
    seconds: float | None = None,
    random_state: Any = 0,
    **options: Any,
) -> Search:
    """Search for the configuration with the smallest value.

    Parameters
    ----------
    objective : callable
        Takes a configuration (a dict) and returns a number; infinity refuses a configuration, NaN
        is never the best.
    space : mapping of str to Choice, Whole or Real
        The parameters.
    strategy : {"grid", "random", "flash", "mutation", "guided"}
        The search strategy.
    budget : int
        The most evaluations.
    seconds : float, optional
        The most time: no evaluation starts later, the first one excepted. What is found then
        depends on the machine; a budget alone repeats itself.
    random_state : int, Generator or RandomState
        Seed.
    **options
        Options of the strategy.

    Returns
    -------
    Search

    Examples
    --------
    >>> from isonomy.search import Choice, Whole
    >>> space = {"x": Whole(-5, 5), "mode": Choice(["up", "down"])}
    >>> result = minimize(lambda c: c["x"] ** 2 + (c["mode"] == "up"), space, strategy="grid")
    >>> result.best.config, result.best.value, len(result.history)
    ({'x': 0, 'mode': 'down'}, 0, 22)
    """
    check_least("budget", budget, 1)
    if not space:
        raise InputError("space must have at least one parameter; got none.")
    if seconds is not None:
        check_least("seconds", seconds, 0)
    rng = make_rng(random_state)
    end = math.inf if seconds is None else time.monotonic() + seconds
    history: list[Evaluation] = []
    for config in STRATEGIES[strategy](Space(space), history, budget, rng, **options):
        if history and time.monotonic() >= end:
            break
        history.append(Evaluation(config, objective(config)))
    return Search(STRATEGIES.resolve(strategy), tuple(history))


def _stream(space: Space, rng: Generator) -> Iterator[Config]:
    """Draw configurations without repeating one; ends when a finite space is used up."""
    if space.size <= LARGEST:
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
def grid_search(space: Space, history: History, budget: int, rng: Generator) -> Configs:
    """Propose every configuration of a finite space, in order."""
    if space.size > budget:
        raise InputError(
            f"A grid search must fit its budget; the space has {space.size:,} configurations and "
            f"the budget is {budget:,}: raise it or choose another strategy."
        )
    yield from (space.at(index) for index in range(int(space.size)))


@STRATEGIES.register("random")
def random_search(space: Space, history: History, budget: int, rng: Generator) -> Configs:
    """Propose the defaults, then draws that do not repeat."""
    yield space.default
    others = (config for config in _stream(space, rng) if config != space.default)
    while len(history) < budget and (config := next(others, None)) is not None:
        yield config


@STRATEGIES.register("flash")
def flash_search(
    space: Space,
    history: History,
    budget: int,
    rng: Generator,
    *,
    initial: int = 20,
    life: int = 20,
    acquire: Literal["filter", "best"] = "filter",
) -> Configs:
    """Let a regression tree decide which configurations are worth an evaluation.

    Parameters
    ----------
    space, history, budget, rng
        As for every strategy.
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

    References
    ----------
    V. Nair, Z. Yu, T. Menzies, N. Siegmund and S. Apel, "Finding faster configurations using
    FLASH", IEEE Transactions on Software Engineering 46, 2018.
    """
    # Imported here: the other strategies need no learner.
    from sklearn.tree import DecisionTreeRegressor

    check_choice("way to acquire", acquire, ("filter", "best"))
    if acquire == "best" and space.size > LARGEST:
        raise InputError(
            f"acquire='best' needs a finite space of at most {LARGEST:,} configurations."
        )
    draws = _stream(space, rng)
    yield from itertools.islice(draws, min(initial, budget))
    pool = list(draws) if acquire == "best" else []
    numbers = np.array([space.numbers(config) for config in pool])
    left = np.ones(len(pool), dtype=bool)
    tree, fitted_on = DecisionTreeRegressor(random_state=int(rng.integers(2**31 - 1))), 0
    while len(history) < budget and life > 0:
        values = _finite([e.value for e in history])
        if fitted_on < len(history):
            tree.fit([space.numbers(e.config) for e in history], values)
            fitted_on = len(history)
        if acquire == "filter":
            candidate = next(draws, None)
            if candidate is None:
                return
            if tree.predict([space.numbers(candidate)])[0] < np.median(values):
                yield candidate
            else:
                life -= 1
        else:
            if not left.any():
                return
            best = np.flatnonzero(left)[int(np.argmin(tree.predict(numbers[left])))]
            left[best] = False
            yield pool[best]
            life -= not history[-1].value < values.min()


def _finite(values: Sequence[float]) -> NDArray[np.float64]:
    """Return values a tree can learn: what is undefined or refused counts as the worst seen."""
    numbers = np.asarray(values, dtype=np.float64)
    good = np.isfinite(numbers)
    return np.where(good, numbers, numbers[good].max() if good.any() else 0.0)


@STRATEGIES.register("mutation")
def mutation_search(
    space: Space, history: History, budget: int, rng: Generator, *, protocol: Protocol = "corrected"
) -> Configs:
    """Change one parameter of the best configuration so far, with fresh draws in between.

    The defaults come first. Then a step is a fresh draw with probability 0.5 in the first hundred
    and 0.05 later; otherwise one parameter of the best configuration changes: a choice to another
    value; an integer anew (0.4), up (0.3) or down (0.3) by one; a number anew (0.5) or by a
    hundredth of its range up or down.

    Parameters
    ----------
    space, history, budget, rng
        As for every strategy.
    protocol : {"corrected", "as_published"}
        As published, the changed configuration takes the place of the one it came from whether it
        was better or not, the last parameter never changes, and the small step of a Real is
        computed but not kept: three slips of the released code.

    References
    ----------
    S. Tizpaz-Niari, A. Kumar, G. Tan and A. Trivedi, "Fairness-aware configuration of machine
    learning libraries", ICSE 2022.
    """
    check_choice("protocol", protocol, PROTOCOLS)
    slips = protocol == "as_published"
    current = config = space.default
    best = math.inf
    while True:
        yield config
        if history[-1].value < best:
            best, current = history[-1].value, config
        counter = len(history)
        if counter >= budget:
            return
        fresh = 0.5 if counter < 100 else 0.05
        if slips and counter == 100:
            fresh = 0.0
        if rng.random() < fresh:
            config = space.draw(rng)
        else:
            config = _mutated(space, current, rng, slips=slips)
            if slips:
                current = config


def _mutated(space: Space, config: Config, rng: Generator, *, slips: bool) -> Config:
    """Change one parameter; with the slips never the last, and a Real only by a fresh draw."""
    names = list(space)
    names = names[:-1] if slips and len(names) > 1 else names
    name = names[int(rng.integers(len(names)))]
    parameter = space[name]
    if slips and isinstance(parameter, Real):
        value = parameter.draw(rng) if rng.random() < 0.5 else config[name]
    else:
        value = parameter.step(config[name], rng)
    return {**config, name: value}


@STRATEGIES.register("guided")
def guided_search(
    space: Space,
    history: History,
    budget: int,
    rng: Generator,
    *,
    signature: Callable[[Config], Hashable] | None = None,
    protocol: Protocol = "corrected",
) -> Configs:
    """Change configurations that were best once, or that did something not seen before.

    The defaults come first. A step is a fresh draw with probability 0.9 in the first hundred and
    0.05 later. Otherwise one parameter of a configuration changes as in ``mutation``: with
    probability 0.6 of the last that improved on all before it, 0.2 of an earlier one of these
    (later ones more likely, in proportion to their place), 0.15 of the last whose signature was
    new and 0.05 of an earlier one of those.

    Parameters
    ----------
    space, history, budget, rng
        As for every strategy.
    signature : callable, optional
        Returns a hashable value for what the last evaluation did; called once after each
        evaluation. The released code hashes the lines of the learner's source that ran; anything
        that distinguishes kinds of behaviour will do. Without one every configuration counts as
        seen, and only improvements are changed.
    protocol : {"corrected", "as_published"}
        As published, what is changed loses its place to the changed one, better or not, and the
        slips of ``mutation`` apply.

    References
    ----------
    S. Tizpaz-Niari, A. Kumar, G. Tan and A. Trivedi, "Fairness-aware configuration of machine
    learning libraries", ICSE 2022.
    """
    check_choice("protocol", protocol, PROTOCOLS)
    slips = protocol == "as_published"
    config, best = space.default, math.inf
    seen: set[Hashable] = set()
    improved: list[Config] = []
    new: list[Config] = []
    while True:
        yield config
        value = history[-1].value
        if not improved or value < best:
            improved.append(config)
            best = best if math.isnan(value) else value
        if signature is not None and (mark := signature(config)) not in seen:
            seen.add(mark)
            new.append(config)
        if len(history) >= budget:
            return
        if rng.random() < (0.9 if len(history) < 100 else 0.05):
            config = space.draw(rng)
            continue
        luck = rng.random()
        pool = new if new and luck >= 0.8 else improved
        place = len(pool) - 1
        if 0.6 <= luck < 0.8 or luck >= 0.95:
            weight = np.arange(1, len(pool) + 1)  # later ones are more likely
            place = int(rng.choice(len(pool), p=weight / weight.sum()))
        config = _mutated(space, pool[place], rng, slips=slips)
        if slips:
            pool[place] = config
