"""Search strategies: what they may evaluate, how they stop, and that they find what is there."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

from isonomy.errors import InputError, UnknownName
from isonomy.search import STRATEGIES, Choice, Real, Space, Whole, minimize

SPACE = Space(x=Whole(-20, 20), y=Choice([0.0, 0.5, 1.0]), kind=Choice(["a", "b"]))


def bowl(config):
    return (config["x"] - 3) ** 2 + config["y"] + (config["kind"] == "a")


def test_positions_of_a_space_are_all_its_configurations_once() -> None:
    found = [tuple(SPACE.at(i).values()) for i in range(int(SPACE.size))]
    assert len(set(found)) == 41 * 3 * 2
    assert found[0] == (-20, 0.0, "a")
    assert found[1] == (-20, 0.0, "b")
    assert found[-1] == (20, 1.0, "b")


def test_defaults_and_bounds() -> None:
    assert Choice(["u", "v"], start="v").default == "v"
    assert Whole(10, 109).default == 59
    assert Real(1e-4, 1.0, log=True).default == pytest.approx(1e-2)
    assert Real(0, 1, start=0.25).default == 0.25
    for wrong in (
        lambda: Choice([]),
        lambda: Choice([1], start=2),
        lambda: Whole(3, 2),
        lambda: Real(0, 1, start=2),
        lambda: Real(0, 1, log=True),
        lambda: minimize(bowl, {}),
        lambda: minimize(bowl, SPACE, budget=0),
        lambda: minimize(bowl, SPACE, strategy="grid", budget=10),
        lambda: minimize(bowl, {"z": Real(0, 1)}, strategy="flash", acquire="best"),
    ):
        with pytest.raises(InputError, match=r"[.?]$"):
            wrong()
    with pytest.raises(UnknownName, match="flash"):
        minimize(bowl, SPACE, strategy="flsh")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_seed_repeats_a_search_and_global_numbers_stay(strategy: str) -> None:
    state = np.random.get_state()[1].copy()
    runs = [minimize(bowl, SPACE, strategy=strategy, budget=300, random_state=4) for _ in range(2)]
    assert runs[0].history == runs[1].history
    assert (np.random.get_state()[1] == state).all()
    other = minimize(bowl, SPACE, strategy=strategy, budget=300, random_state=5)
    assert strategy == "grid" or other.history != runs[0].history


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), budget=st.integers(250, 400))
def test_every_strategy_stays_in_the_space_and_the_budget(strategy, seed, budget) -> None:
    space = Space(x=Whole(-20, 20), y=Choice([0.0, 0.5, 1.0]), kind=Choice(["a", "b"]))
    found = minimize(bowl, space, strategy=strategy, budget=budget, random_state=seed)
    assert len(found.history) <= budget
    for e in found.history:
        assert -20 <= e.config["x"] <= 20
        assert e.config["y"] in (0.0, 0.5, 1.0)
        assert e.config["kind"] in ("a", "b")
        assert e.value == bowl(e.config)
    assert found.best.value == min(e.value for e in found.history)
    if strategy in ("grid", "random", "flash"):
        assert len({tuple(e.config.values()) for e in found.history}) == len(found.history)


def test_random_begins_with_the_defaults_and_uses_a_finite_space_up() -> None:
    found = minimize(bowl, SPACE, budget=1000, random_state=1)
    assert found.history[0].config == SPACE.default
    assert len(found.history) == SPACE.size
    assert found.best.config == {"x": 3, "y": 0.0, "kind": "b"}


def test_flash_follows_its_rule_step_by_step() -> None:
    """Replay: initial draws, then each draw is judged by a tree against the median so far."""
    space = Space(C=Whole(1, 30), share=Choice([1.0, 0.0]), steps=Whole(10, 109))
    asked = []

    def objective(config):
        asked.append(config)
        return math.sin(config["C"]) + config["share"] + config["steps"] / 100

    found = minimize(objective, space, strategy="flash", budget=200, random_state=3)
    rng = np.random.default_rng(3)
    stream = iter([space.at(int(i)) for i in rng.permutation(6000)])
    expected = [next(stream) for _ in range(20)]
    seed = int(rng.integers(2**31 - 1))
    values = [math.sin(c["C"]) + c["share"] + c["steps"] / 100 for c in expected]
    life = 20
    while len(expected) < 200 and life > 0:
        tree = DecisionTreeRegressor(random_state=seed).fit(
            [[c["C"], c["share"], c["steps"]] for c in expected], values
        )
        candidate = next(stream)
        guess = tree.predict([[candidate["C"], candidate["share"], candidate["steps"]]])
        if guess[0] < np.median(values):
            expected.append(candidate)
            values.append(math.sin(candidate["C"]) + candidate["share"] + candidate["steps"] / 100)
        else:
            life -= 1
    assert [e.config for e in found.history] == expected == asked
    assert 20 < len(asked) < 200


def test_flash_with_the_best_prediction_loses_a_life_without_improvement() -> None:
    flat = minimize(lambda _: 1.0, SPACE, strategy="flash", budget=200, acquire="best")
    assert len(flat.history) == 20 + 20
    found = minimize(bowl, SPACE, strategy="flash", budget=200, acquire="best", random_state=2)
    assert found.best.value <= 1


def test_flash_on_a_space_smaller_than_its_first_sample() -> None:
    found = minimize(lambda c: c["C"], {"C": Choice([3, 1, 2])}, strategy="flash")
    assert len(found.history) == 3
    assert found.best.config == {"C": 1}


def test_undefined_values_are_never_best_and_do_not_stop_a_search() -> None:
    def odd(config):
        return math.nan if config["x"] % 2 else abs(config["x"])

    for strategy in STRATEGIES:
        found = minimize(odd, SPACE, strategy=strategy, budget=300)
        assert not math.isnan(found.best.value)


def test_mutation_changes_one_parameter_of_the_best_so_far() -> None:
    space = Space(a=Whole(0, 1000), b=Real(0.0, 1.0), c=Choice([True, False]))
    value = lambda c: -c["a"] - c["b"] - c["c"]  # noqa: E731
    found = minimize(value, space, strategy="mutation", budget=400, random_state=0)
    best, single = found.history[0], 0
    for e in found.history[1:]:
        single += sum(e.config[k] != best.config[k] for k in space) <= 1
        if e.value < best.value:
            best = e
    # 99 steps with probability 1/2 and 300 with 0.95, besides draws that happen to be close.
    assert single >= 300
    assert {e.config["c"] for e in found.history} == {True, False}


def test_mutation_as_published_never_turns_the_last_parameter_and_drifts() -> None:
    space = Space(a=Whole(0, 10**6), last=Whole(0, 10**6))
    options = {"strategy": "mutation", "budget": 99, "protocol": "as_published"}
    found = minimize(lambda c: 0.0, space, **options)
    lasts = [e.config["last"] for e in found.history]
    # Only a fresh draw can change it: then both parameters move.
    for before, after in zip(found.history, found.history[1:], strict=False):
        if before.config["last"] != after.config["last"]:
            assert before.config["a"] != after.config["a"]
    assert len(set(lasts)) > 10
    steps = [e.config["a"] for e in found.history if e.config["last"] == space.default["last"]]
    assert len(set(steps)) > 3, "without improvement the released code still moves on"
    kept = minimize(lambda c: 0.0, space, strategy="mutation", budget=99)
    turned = {e.config["last"] for e in kept.history if e.config["a"] == space.default["a"]}
    assert len(turned) > 3


def test_the_frame_holds_every_evaluation() -> None:
    frame = minimize(bowl, SPACE, budget=30).frame()
    assert list(frame.columns) == ["x", "y", "kind", "value", "best"]
    assert len(frame) == 30
    assert (frame["best"] == frame["value"].cummin()).all()
    assert "<table" in minimize(bowl, SPACE, budget=3)._repr_html_()


def test_no_time_left_means_one_evaluation_and_the_strategy_keeps_its_name() -> None:
    for strategy in STRATEGIES:
        found = minimize(bowl, SPACE, strategy=strategy, budget=300, seconds=0)
        assert len(found.history) == 1
        assert found.strategy == strategy
    with pytest.raises(InputError, match="seconds"):
        minimize(bowl, SPACE, seconds=-1)
    plenty = minimize(bowl, SPACE, strategy="guided", budget=30, seconds=1e6, random_state=1)
    assert (
        plenty.history
        == minimize(bowl, SPACE, strategy="guided", budget=30, random_state=1).history
    )


def test_guided_search_changes_what_showed_a_new_behaviour() -> None:
    """With values that never improve, what a step starts from can only be a new signature."""
    asked = []

    def signature(config):
        asked.append(config)
        return config["kind"]

    found = minimize(
        lambda _: 1.0, SPACE, strategy="guided", budget=400, signature=signature, random_state=2
    )
    assert len(asked) == 400
    default = SPACE.default
    first_b = next(c for c in asked if c["kind"] == "b")
    late = [e.config for e in found.history[120:]]

    def differ(a, b):
        return sum(a[name] != b[name] for name in a)

    # 0.95 of the late steps change at most one parameter of the default or of the first "b"
    near = [min(differ(c, default), differ(c, first_b)) <= 1 for c in late]
    assert np.mean(near) > 0.85
    assert sum(differ(c, first_b) <= 1 < differ(c, default) for c in late) > 10


def test_guided_search_as_published_loses_what_it_changes() -> None:
    """A walk that replaces its start drifts away from the best; the corrected one stays near."""
    space = {f"x{i}": Whole(0, 1000, start=500) for i in range(4)}

    def distance(config):
        return sum(abs(v - 500) for v in config.values())

    ways = {}
    for protocol in ("corrected", "as_published"):
        found = minimize(
            distance, space, strategy="guided", budget=600, random_state=0, protocol=protocol
        )
        ways[protocol] = np.median([e.value for e in found.history[300:]])
    assert ways["corrected"] < ways["as_published"]
    with pytest.raises(UnknownName):
        minimize(distance, space, strategy="guided", protocol="magic")
