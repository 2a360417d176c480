"""Which method a benchmark chooses, on verdicts made by hand."""

from typing import Any

import numpy as np
import pytest

from isonomy.benchmark.measure import ranked
from isonomy.benchmark.recommend import (
    Change,
    MethodVerdict,
    Recommendation,
    paired_p_values,
    recommend,
    word_of,
)

STEADY = np.array([0.030, 0.031, 0.029, 0.033, 0.028, 0.032, 0.030, 0.031])


def method(name: str, advantage: float = 0.03, worth: float = 1.0, **more: Any) -> MethodVerdict:
    """A method with so large an advantage and so probable a good trade-off."""
    given: dict[str, Any] = {
        "performance": Change(0.85, 0.84, -0.012, -0.008),
        "bias": Change(0.20, 0.05, -0.16, -0.14),
        "probability": {"good": worth, "poor": 1 - worth},
        "region": "good" if worth > 0.5 else "poor",
        "advantage": advantage,
        "by_repeat": STEADY + advantage - 0.03,
    }
    return MethodVerdict(name, **{**given, **more})


def test_the_largest_advantage_is_chosen_and_the_second_named() -> None:
    found = recommend([method("b", 0.01), method("a", 0.05), method("c", -0.02, worth=0.0)])
    assert (found.method, found.runner_up) == ("a", "b")
    assert found.differ is True
    assert found.p == pytest.approx(2 / 2**8)  # exact: all eight repeats on one side
    assert found.tied == ()


def test_two_that_do_not_differ_are_said_to_be_so() -> None:
    noise = np.array([1, -1, 1, -1, 1, -1, 1, -1]) * np.linspace(0.01, 0.02, 8)
    near = method("b", 0.0299, by_repeat=STEADY + noise)
    found = recommend([method("a", 0.03), near, method("c", 0.001)])
    assert (found.method, found.runner_up) == ("a", "b")
    assert found.differ is False
    assert found.tied == ("b",)
    assert "within chance" in found.why


def test_holm_is_applied_over_all_that_are_worth_it() -> None:
    rest = [STEADY - 0.01] * 5
    assert paired_p_values(STEADY, rest) == pytest.approx([5 * 2 / 2**8] * 5)


def test_nothing_is_worth_it_names_the_nearest() -> None:
    found = recommend([method("a", 0.02, worth=0.8), method("b", 0.05, worth=0.6)])
    assert found.method is None
    assert found.nearest == "a"
    assert "none of the 2 methods" in found.why


def test_a_lone_choice_has_no_runner_up() -> None:
    found = recommend([method("a"), method("b", worth=0.3)])
    assert (found.method, found.runner_up, found.differ) == ("a", None, None)
    assert "no other" in found.why


def test_without_a_baseline_nothing_is_recommended() -> None:
    found = recommend([method("a")], reason="the model is no better than a constant")
    assert found == Recommendation(
        why="there is no baseline to judge by: the model is no better than a constant"
    )


def test_few_repeats_cannot_compare_methods() -> None:
    few = [method(n, a, by_repeat=STEADY[:4]) for n, a in (("a", 0.05), ("b", 0.01))]
    found = recommend(few)
    assert (found.method, found.runner_up, found.differ) == ("a", "b", None)
    assert found.why.startswith("4 repeats are too few")


def test_methods_of_other_repeats_are_not_compared_in_pairs() -> None:
    found = recommend([method("a", 0.05), method("b", 0.01, by_repeat=STEADY[:7])])
    assert found.differ is None
    assert "same repeats" in found.why


def test_as_many_repeats_but_other_ones_are_no_pairs() -> None:
    """One method failed in the first repeat, the other in the last: eight each, seven in common."""
    first = method("a", 0.05, repeats=tuple(range(1, 9)))
    second = method("b", 0.01, repeats=tuple(range(8)))
    found = recommend([first, second])
    assert (found.method, found.runner_up, found.differ) == ("a", "b", None)
    assert "same repeats" in found.why
    critical, groups = ranked([first, second, method("c", 0.02, repeats=second.repeats)])
    assert critical is None  # two are left that met the same splits
    assert groups is not None
    assert set(groups.labels) == {"b", "c"}


def test_a_constant_predictor_is_of_no_use_whatever_its_region() -> None:
    flat = method("flat", 0.5, constant=True)
    assert word_of(flat) == "no use"
    assert recommend([flat, method("a")]).method == "a"


def test_the_most_that_may_be_given_up_is_kept() -> None:
    cheap = method("cheap", 0.01, performance=Change(0.85, 0.849, -0.002, 0.0))
    dear = method("dear", 0.05)
    assert recommend([cheap, dear]).method == "dear"
    assert recommend([cheap, dear], max_loss=0.005).method == "cheap"
    none = recommend([dear], max_loss=0.005)
    assert none.method is None
    assert "giving up 0.005" in none.why


@pytest.mark.parametrize(
    ("worth", "word"), [(0.96, "worth it"), (0.94, "perhaps"), (0.5, "not worth it")]
)
def test_words(worth: float, word: str) -> None:
    assert word_of(method("a", worth=worth)) == word


def test_a_method_that_did_not_run_is_not_judged() -> None:
    left = MethodVerdict("op", status="skipped", reason="too many values")
    assert word_of(left) == "not judged"
    assert recommend([left]).why == "no method could be judged"


def test_unexamined_attributes_get_a_word_from_their_interval() -> None:
    assert Change(0.1, 0.2, 0.05, 0.15).word == "worse"
    assert Change(0.2, 0.1, -0.15, -0.05).word == "better"
    assert Change(0.2, 0.2, -0.05, 0.05).word == "no clear change"
    assert Change(0.2, np.nan).word == "unknown"


def test_data_is_plain() -> None:
    told = method("a", others={"race": Change(0.1, 0.2, 0.05, 0.15)}).to_dict()
    assert told["bias"]["change"] == pytest.approx(-0.15)
    assert told["others"]["race"]["word"] == "worse"
    assert told["area"] is None
