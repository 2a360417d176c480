"""Which method a benchmark chooses, on verdicts made by hand."""

from typing import Any

import numpy as np
import pytest
import scipy

from isonomy.benchmark.measure import ranked
from isonomy.benchmark.recommend import (
    Change,
    MethodVerdict,
    Recommendation,
    SignedGap,
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
    assert found.p < 1e-6  # eight repeats that hardly vary
    assert found.tied == ()


def test_two_that_do_not_differ_are_said_to_be_so() -> None:
    noise = np.array([1, -1, 1, -1, 1, -1, 1, -1]) * np.linspace(0.01, 0.02, 8)
    near = method("b", 0.0299, by_repeat=STEADY + noise)
    found = recommend([method("a", 0.03), near, method("c", 0.001)])
    assert (found.method, found.runner_up) == ("a", "b")
    assert found.differ is False
    assert found.tied == ("b",)
    assert "within chance" in found.why


def test_all_pairs_of_methods_are_allowed_for() -> None:
    rng = np.random.default_rng(0)
    rest = [STEADY - 0.01 + rng.normal(0, 0.01, 8) for _ in range(5)]
    # the corrected resampled t-test by hand, for splits of 70 / 30
    gap = STEADY - rest[0]
    t = gap.mean() / np.sqrt((1 / 8 + 3 / 7) * gap.var(ddof=1))
    alone = 2 * scipy.stats.t.sf(abs(t), 7)
    assert paired_p_values(STEADY, rest[:1]) == pytest.approx([alone])
    several = paired_p_values(STEADY, rest)
    assert several[0] >= alone
    assert several.max() <= 1.0


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
    assert isinstance(found, Recommendation)
    assert found.method is None
    assert found.why == "the model is no better than a constant"


def test_what_is_said_of_the_best_is_less_its_luck() -> None:
    rng = np.random.default_rng(1)
    runs = 0.03 + rng.normal(0, 0.01, size=(10, 6))
    runs[:, 0] += 0.002
    equal = [
        method(
            f"m{k}",
            float(runs[:, k].mean()),
            by_repeat=runs[:, k],
            moves=np.column_stack([runs[:, k] - 0.04, np.full(10, -0.15)]),
        )
        for k in range(6)
    ]
    found = recommend(equal)
    best = next(v for v in equal if v.method == found.method)
    assert found.among == 6
    assert found.advantage < best.advantage
    assert found.performance is not None
    assert found.performance.after < best.performance.after
    assert found.performance.high - found.performance.low == pytest.approx(0.004)
    assert found.bias is not None
    assert found.bias.after == pytest.approx(0.05)  # it does not vary: no luck in it


def test_without_a_bias_every_method_is_said_to_have_nothing_to_mitigate() -> None:
    assert word_of(method("a", biased=False)) == "no bias shown"
    assert SignedGap(0.02, -0.01, 0.05).shown is False
    assert SignedGap(-0.2, -0.3, -0.1).shown is True
    assert SignedGap(0.02, np.nan, np.nan, signed=False).shown is True


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
