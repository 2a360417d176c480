"""Calibrated equalised odds: the better-served group is told less."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from isonomy.errors import InputError, NotApplicable, UnknownName
from isonomy.mitigators import CalibratedEqualizedOdds

SCORES = np.array([0.9, 0.8, 0.3, 0.1, 0.7, 0.6, 0.5, 0.2])
Y = np.array([1, 1, 0, 0, 1, 1, 0, 0])
S = np.array([1, 1, 1, 1, 0, 0, 0, 0])


def learn(rule, scores=SCORES, y=Y, s=S, w=None):
    rule.fit_scores(scores, (scores > 0.5).astype(int), y, s, w)
    return rule


def test_by_hand() -> None:
    # false negatives: privileged (0.1 + 0.2) / 2 = 0.15, unprivileged (0.3 + 0.4) / 2 = 0.35;
    # half of each group is favourable, so replacing all costs 0.5: (0.35 - 0.15) / (0.5 - 0.15)
    rule = learn(CalibratedEqualizedOdds(cost="fnr"))
    np.testing.assert_allclose(rule.cost_, [0.35, 0.15])
    np.testing.assert_allclose(rule.mix_rate_, [0.0, 4 / 7])
    np.testing.assert_allclose(rule.base_rate_, [0.5, 0.5])
    # false positives: 0.2 and 0.35; weighted: a quarter of either
    np.testing.assert_allclose(
        learn(CalibratedEqualizedOdds(cost="fpr")).mix_rate_, [0.0, 0.15 / 0.3]
    )
    np.testing.assert_allclose(
        learn(CalibratedEqualizedOdds(cost="weighted")).mix_rate_,
        [0.0, (0.175 - 0.0875) / (0.25 - 0.0875)],
    )


def costs(scores, y, s, w):
    mean = lambda v, rows: (v * w)[rows].sum() / w[rows].sum()  # noqa: E731
    out = []
    for g in (0, 1):
        gfnr, gfpr = mean(1 - scores, (s == g) & (y == 1)), mean(scores, (s == g) & (y == 0))
        b = mean(y, s == g)
        out.append({"fnr": gfnr, "fpr": gfpr, "weighted": (gfpr * (1 - b) + gfnr * b) / 2})
    return out


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    cost=st.sampled_from(["fnr", "fpr", "weighted"]),
    weighted=st.booleans(),
)
def test_the_mixed_scores_have_equal_costs(seed: int, cost: str, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    y, s = np.arange(40) % 2, (np.arange(40) // 2) % 2
    scores = np.clip(0.25 + 0.5 * y + rng.normal(0, 0.15, 40) * (1 + s), 0, 1)
    w = rng.integers(1, 5, 40).astype(float) if weighted else None
    rule = CalibratedEqualizedOdds(cost=cost)
    try:
        learn(rule, scores, y, s, w)
    except NotApplicable:
        assume(False)
    assert rule.reached_
    after = costs(rule.mixed_scores(scores, s), y, s, np.ones(40) if w is None else w)
    assert after[0][cost] == pytest.approx(after[1][cost], abs=1e-12)


@pytest.mark.parametrize("protocol", ["corrected", "as_published"])
def test_probabilities_are_the_frequencies_of_the_labels(protocol: str) -> None:
    rule = learn(CalibratedEqualizedOdds(cost="fnr", protocol=protocol, random_state=3))
    many = np.repeat(SCORES, 20_000), None, np.repeat(S, 20_000)
    frequency = rule.adjust(*many).reshape(8, -1).mean(axis=1)
    p = rule.adjust_scores(SCORES, None, S)
    assert set(p[S == 0]) <= {0.0, 1.0}
    assert np.abs(frequency - p).max() < 4 * np.sqrt(0.25 / 20_000)


def test_a_share_above_one_does_not_apply() -> None:
    # the unprivileged are served so badly that even the base rate is not as bad
    scores = np.array([0.9, 0.8, 0.3, 0.1, 0.1, 0.2, 0.5, 0.2])
    published = learn(CalibratedEqualizedOdds(cost="fnr", protocol="as_published"), scores)
    assert published.mix_rate_[1] == pytest.approx((0.85 - 0.15) / 0.35)
    assert not published.reached_
    assert published.adjust(scores, None, S)[S == 1].tolist() == [1, 1, 1, 1]
    assert published.adjust_scores(scores, None, S)[S == 1].tolist() == [1, 1, 1, 1]
    with pytest.raises(NotApplicable, match="cannot make the fnr costs equal"):
        learn(CalibratedEqualizedOdds(cost="fnr"), scores)


def test_a_negative_share_replaces_nothing() -> None:
    # the base rate of the better-served group costs less than its scores: no share can help
    scores = np.array([0.3, 0.4, 0.3, 0.1, 0.1, 0.2, 0.5, 0.2])
    published = learn(CalibratedEqualizedOdds(cost="fnr", protocol="as_published"), scores)
    assert published.mix_rate_[1] < 0
    np.testing.assert_array_equal(published.adjust(scores, None, S), scores >= 0.5)
    with pytest.raises(NotApplicable):
        learn(CalibratedEqualizedOdds(cost="fnr"), scores)


def lenders(base_rates: tuple[float, float], n: int = 4000) -> tuple[np.ndarray, ...]:
    """Calibrated scores of two groups whose rates of good labels differ."""
    rng = np.random.default_rng(3)
    s = rng.integers(0, 2, n)
    mean = np.array(base_rates)[s]
    scores = rng.beta(4 * mean, 4 * (1 - mean))
    return scores, (rng.random(n) < scores).astype(int), s


def odds_gap(labels: np.ndarray, y: np.ndarray, s: np.ndarray) -> float:
    rate = [[labels[(s == g) & (y == c)].mean() for c in (0, 1)] for g in (0, 1)]
    return float(np.abs(np.subtract(*rate)).mean())


def test_of_three_costs_the_one_is_chosen_that_brings_error_rates_nearest() -> None:
    # Most labels are favourable: by fnr and weighted the privileged lose information and are all
    # favoured, by fpr the unprivileged are.
    scores, y, s = lenders((0.7, 0.74))
    rule = learn(CalibratedEqualizedOdds(), scores, y, s)
    assert rule.chosen_cost_ == "fpr"
    gaps = {}
    for cost in ("fnr", "fpr", "weighted"):
        other = learn(CalibratedEqualizedOdds(cost=cost), scores, y, s)
        gaps[cost] = odds_gap(other.adjust_scores(scores, None, s), y, s)
    assert min(gaps, key=gaps.get) == "fpr"
    assert gaps["fpr"] < odds_gap(scores >= 0.5, y, s) < min(gaps["fnr"], gaps["weighted"])
    np.testing.assert_array_equal(
        rule.mix_rate_, learn(CalibratedEqualizedOdds(cost="fpr"), scores, y, s).mix_rate_
    )


def test_auto_as_published_is_weighted() -> None:
    scores, y, s = lenders((0.7, 0.74))
    auto = learn(CalibratedEqualizedOdds(protocol="as_published"), scores, y, s)
    named = learn(CalibratedEqualizedOdds(cost="weighted", protocol="as_published"), scores, y, s)
    np.testing.assert_array_equal(auto.mix_rate_, named.mix_rate_)


def test_where_every_cost_makes_errors_differ_more_it_does_not_apply() -> None:
    # base rates on both sides of one half: who loses information is always or never favoured
    scores, y, s = lenders((0.3, 0.65))
    with pytest.raises(NotApplicable, match="whichever cost is made equal"):
        learn(CalibratedEqualizedOdds(), scores, y, s)
    # no cost at all can be made equal
    scores = np.array([0.9, 0.8, 0.3, 0.1, 0.1, 0.2, 0.9, 0.9])
    with pytest.raises(NotApplicable, match="cannot make the"):
        learn(CalibratedEqualizedOdds(), scores)


def test_equal_costs_need_no_mixing() -> None:
    same = np.tile([0.9, 0.8, 0.3, 0.1], 2)
    assert learn(CalibratedEqualizedOdds(), same).mix_rate_.tolist() == [0.0, 0.0]
    assert learn(CalibratedEqualizedOdds(), same).reached_
    assert learn(CalibratedEqualizedOdds(cost="fnr"), same).mix_rate_.tolist() == [0.0, 0.0]


def test_repeatable_and_seeded() -> None:
    scores, s = np.tile(SCORES, 50), np.tile(S, 50)
    first = learn(CalibratedEqualizedOdds(cost="fnr", random_state=1))
    other = learn(CalibratedEqualizedOdds(cost="fnr", random_state=2))
    np.testing.assert_array_equal(first.adjust(scores, None, s), first.adjust(scores, None, s))
    assert (first.adjust(scores, None, s) != other.adjust(scores, None, s)).any()


def test_refusals() -> None:
    with pytest.raises(UnknownName, match="did you mean 'weighted'"):
        learn(CalibratedEqualizedOdds(cost="weight"))
    lacking = np.array([1, 1, 0, 0, 0, 0, 0, 0])
    with pytest.raises(InputError, match="'unprivileged' lacks one"):
        learn(CalibratedEqualizedOdds(cost="fnr"), y=lacking)
    # the other cost is defined: 0.5 for the one, 0.2 for the other, whose base rate costs 0.5
    rule = learn(CalibratedEqualizedOdds(cost="fpr"), y=np.array([1, 1, 0, 0, 0, 0, 0, 0]))
    np.testing.assert_allclose(rule.mix_rate_, [0.0, 1.0])
