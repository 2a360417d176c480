"""How to look: the strategies, and what a search gives."""

import math
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._registry import Registry
from isonomy._validate import unknown_name
from isonomy.errors import InputError
from isonomy.search.space import Config, Generator, Parameter, Real, Space

__all__ = [
    "Evaluation",
    "STRATEGIES",
    "Search",
    "flash_search",
    "grid_search",
    "guided_search",
    "minimize",
    "mutation_search",
    "random_search",
]

Objective = Callable[[Config], float]


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
    seconds: float | None = None,
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
    strategy : {"grid", "random", "flash", "mutation", "guided"}
        How to look.
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
    >>> found = minimize(lambda c: c["x"] ** 2 + (c["mode"] == "up"), space, strategy="grid")
    >>> found.best.config, found.best.value, len(found.history)
    ({'x': 0, 'mode': 'down'}, 0, 22)
    """
    if budget < 1:
        raise InputError(f"budget must be at least 1; got {budget}.")
    if not space:
        raise InputError("space must have at least one parameter; got none.")
    if seconds is not None and not seconds >= 0:
        raise InputError(f"seconds must be 0 or more; got {seconds}.")
    rng = _generator(random_state)
    search = STRATEGIES[strategy]
    if seconds is None:
        return search(objective, Space(space), budget, rng, **options)
    timed = _Timed(objective, seconds)
    try:
        return search(timed, Space(space), budget, rng, **options)
    except _TimeUp:
        return Search(STRATEGIES.resolve(strategy), tuple(timed.history))


class _TimeUp(Exception):
    """No evaluation may start any more."""


class _Timed:
    """An objective that keeps what it gave and refuses to start after its time."""

    def __init__(self, objective: Objective, seconds: float) -> None:
        self.objective, self.end = objective, time.monotonic() + seconds
        self.history: list[Evaluation] = []

    def __call__(self, config: Config) -> float:
        if self.history and time.monotonic() >= self.end:
            raise _TimeUp
        value = self.objective(config)
        self.history.append(Evaluation(config, value))
        return value


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
    slips = _slips(protocol)
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
            config = _turned(space, current, rng, slips=slips)
            if slips:
                current = config
        history.append(Evaluation(config, objective(config)))
        if history[-1].value < best:
            best, current = history[-1].value, config
    return Search("mutation", tuple(history))


def _slips(protocol: str) -> bool:
    if protocol not in ("corrected", "as_published"):
        raise unknown_name("protocol", str(protocol), ("corrected", "as_published"))
    return protocol == "as_published"


def _turned(space: Space, config: Config, rng: Generator, *, slips: bool) -> Config:
    """Change one parameter; with the slips never the last, and a Real only by a fresh draw."""
    names = list(space)
    turning = names[:-1] if slips and len(names) > 1 else names
    name = turning[int(rng.integers(len(turning)))]
    parameter = space[name]
    if slips and isinstance(parameter, Real):
        value = parameter.draw(rng) if rng.random() < 0.5 else config[name]
    else:
        value = parameter.step(config[name], rng)
    return {**config, name: value}


@STRATEGIES.register("guided")
def guided_search(
    objective: Objective,
    space: Space,
    budget: int,
    rng: Generator,
    *,
    signature: Callable[[Config], Hashable] | None = None,
    protocol: Literal["corrected", "as_published"] = "corrected",
) -> Search:
    """Change configurations that were best once, or that did something not seen before.

    The defaults come first. A step is a fresh draw with probability 0.9 in the first hundred and
    0.05 later. Otherwise one parameter of a configuration changes as in ``mutation``: with
    probability 0.6 of the last that improved on all before it, 0.2 of an earlier one of these
    (later ones more likely, in proportion to their place), 0.15 of the last whose signature was
    new and 0.05 of an earlier one of those.

    Parameters
    ----------
    objective, space, budget, rng
        As in ``minimize``.
    signature : callable, optional
        Says in a hashable value what the evaluation that was just made did; asked once after each
        evaluation. The released code hashes the lines of the learner's source that ran; anything
        that tells kinds of behaviour apart will do. Without one every configuration counts as
        seen, and only improvements are changed.
    protocol : {"corrected", "as_published"}
        As published, what is changed loses its place to the changed one, better or not, and the
        slips of ``mutation`` apply.

    Returns
    -------
    Search

    References
    ----------
    S. Tizpaz-Niari, A. Kumar, G. Tan and A. Trivedi, "Fairness-aware configuration of machine
    learning libraries", ICSE 2022.
    """
    slips = _slips(protocol)
    history: list[Evaluation] = []
    best = math.inf
    seen: set[Hashable] = set()
    improved: list[Config] = []
    new: list[Config] = []

    def evaluate(config: Config) -> None:
        nonlocal best
        value = objective(config)
        history.append(Evaluation(config, value))
        if not improved or value < best:
            improved.append(config)
            best = best if math.isnan(value) else value
        if signature is not None and (mark := signature(config)) not in seen:
            seen.add(mark)
            new.append(config)

    evaluate(space.default)
    while len(history) < budget:
        if rng.random() < (0.9 if len(history) < 100 else 0.05):
            evaluate(space.draw(rng))
            continue
        luck = rng.random()
        pool = new if new and luck >= 0.8 else improved
        last = luck < 0.6 or 0.8 <= luck < 0.95
        place = len(pool) - 1 if last else _late(len(pool), rng)
        config = _turned(space, pool[place], rng, slips=slips)
        if slips:
            pool[place] = config
        evaluate(config)
    return Search("guided", tuple(history))


def _late(n: int, rng: Generator) -> int:
    """Draw a place out of n in proportion to its number, the first being 1."""
    weight = np.arange(1, n + 1)
    return int(rng.choice(n, p=weight / weight.sum()))
