"""The sequential test of moves: what it spends, what it standardises, and limits known exactly."""

import numpy as np
import pytest
from scipy.stats import binomtest

from isonomy.stats.sequential import contrast_moves, spending


def test_all_looks_there_can_be_spend_the_level_once() -> None:
    looks = np.arange(1, 100_001)
    assert spending(looks).sum() == pytest.approx(1 - 1 / np.log2(100_002))
    assert (np.diff(spending(looks)) < 0).all()


def test_every_look_compares_the_last_1_2_4_periods_with_all_before() -> None:
    found = contrast_moves(np.full((5, 2), 0.5), np.full((5, 2), 100))
    tests = list(zip(found.start.tolist(), found.end.tolist(), strict=True))
    assert tests == [(1, 2), (2, 3), (1, 3), (3, 4), (2, 4), (4, 5), (3, 5), (1, 5)]


def test_what_was_said_stays_said_when_periods_are_added() -> None:
    rng = np.random.default_rng(0)
    n = np.full((20, 2), 100)
    p = np.where(np.arange(20)[:, None] < 8, 0.5, [0.25, 0.5])
    shares = rng.binomial(n, p) / n
    before, after = contrast_moves(shares[:15], n[:15]), contrast_moves(shares, n)
    kept = after.end <= 15
    np.testing.assert_array_equal(after.p_value[kept], before.p_value)
    np.testing.assert_array_equal(after.low[kept], before.low)


@pytest.mark.parametrize("ratio", [False, True])
def test_a_gap_that_stays_while_rates_and_sizes_swing_has_not_changed_at_all(ratio: bool) -> None:
    rows = np.stack([np.linspace(200, 3000, 24), np.linspace(3000, 200, 24)], axis=-1)
    level = np.linspace(0.1, 0.5, 24)
    other = level * 1.5 if ratio else level + 0.2
    found = contrast_moves(np.stack([level, other], axis=-1), rows, ratio=ratio)
    expected = 1 / 1.5 if ratio else -0.2
    np.testing.assert_allclose(found.before, expected)
    np.testing.assert_allclose(found.after, expected)
    assert np.isnan(found.p_value).all()
    pooled = level @ rows[:, 0] / rows[:, 0].sum() - other @ rows[:, 1] / rows[:, 1].sum()
    assert ratio or abs(pooled + 0.2) > 0.01  # adding up the rows would have moved it


def test_limits_are_exact_where_three_of_four_proportions_are_known() -> None:
    many = 10**8
    shares = np.array([[0.5, 0.5], [3 / 40, 0.5]])
    rows = np.array([[many, many], [40.0, many]])
    found = contrast_moves(shares, rows, level=0.05)
    exact = binomtest(3, 40).proportion_ci(1 - 0.05 * float(spending(1)), method="exact")
    assert found.low[0] == pytest.approx(exact.low - 0.5, abs=1e-4)
    assert found.high[0] == pytest.approx(exact.high - 0.5, abs=1e-4)
    two_sided = 2 * min(binomtest(3, 40, 0.5, alternative="less").pvalue, 1)
    assert found.p_value[0] == pytest.approx(two_sided / float(spending(1)), rel=1e-3)


def test_a_p_value_is_the_level_at_which_it_would_just_be_said() -> None:
    shares = np.array([[0.5, 0.5], [0.35, 0.5]])
    rows = np.full((2, 2), 900.0)
    p = float(contrast_moves(shares, rows, level=0.5).p_value[0])
    assert not np.isnan(contrast_moves(shares, rows, level=p * 1.001).p_value[0])
    assert np.isnan(contrast_moves(shares, rows, level=p * 0.999).p_value[0])


def test_sharing_the_level_with_others_multiplies_the_p_value() -> None:
    shares, rows = np.array([[0.5, 0.5], [0.3, 0.5]]), np.full((2, 2), 900.0)
    alone = contrast_moves(shares, rows).p_value
    np.testing.assert_allclose(contrast_moves(shares, rows, together=9).p_value, 9 * alone)


def test_few_rows_and_empty_periods_are_not_compared() -> None:
    shares = np.array([[0.5, 0.5], [np.nan, 0.5], [0.9, 0.1]])
    few = contrast_moves(shares, np.array([[25.0, 25.0], [0.0, 10.0], [25.0, 25.0]]))
    assert np.isnan(few.change).all()
    enough = contrast_moves(shares, np.array([[900.0, 900.0], [0.0, 10.0], [900.0, 900.0]]))
    np.testing.assert_array_equal(np.isnan(enough.change), [True, False, False])
    assert enough.p_value[1] < 1e-6


def test_a_ratio_of_nothing_has_an_open_end_and_no_alarm_by_itself() -> None:
    shares, rows = np.array([[0.02, 0.02], [0.0, 0.02]]), np.full((2, 2), 50.0)
    found = contrast_moves(shares, rows, ratio=True)
    assert found.low[0] == -np.inf
    assert np.isnan(found.p_value[0])
    always = contrast_moves(np.array([[0.5, 0.5], [0.0, 0.5]]), np.full((2, 2), 400.0), ratio=True)
    assert always.p_value[0] < 1e-6
