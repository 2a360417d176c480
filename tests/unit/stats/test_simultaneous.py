"""Limits for many groups at once, beside SciPy's distributions and brute force."""

import numpy as np
import pytest
from scipy import stats

from isonomy.stats import largest_difference, many_to_one_critical, range_critical
from isonomy.stats.proportions import jeffreys_limits, mover_ratio
from isonomy.stats.simultaneous import (
    candidate_pairs,
    errors_apart,
    lowest_range,
    many_to_one_probability,
    range_tail,
    ratio_to_best,
    smallest_ratio,
)


@pytest.mark.parametrize("groups", [2, 3, 8, 50])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.999])
def test_all_pairs_are_the_studentised_range(groups: int, confidence: float) -> None:
    expected = stats.studentized_range.ppf(confidence, groups, np.inf) / np.sqrt(2)
    assert range_critical(confidence, groups) == pytest.approx(expected, abs=1e-4)
    assert range_tail(expected, groups) == pytest.approx(1 - confidence, rel=1e-3)


def test_several_rates_ask_for_more_and_sums_for_most() -> None:
    one = range_critical(0.95, 6)
    two = range_critical(0.95, 6, families=2)
    summed = range_critical(0.95, 6, summed=True)
    assert one < two < summed
    rng = np.random.default_rng(0)
    spread = [np.ptp(rng.standard_normal((200_000, 6)), axis=1) / np.sqrt(2) for _ in range(2)]
    assert np.mean(np.maximum(*spread) <= two) == pytest.approx(0.95, abs=0.003)
    assert np.mean(np.hypot(*spread) <= summed) == pytest.approx(0.95, abs=0.003)


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1, 1, 1), (9, 9, 9, 1, 1, 1), (30, 1, 1, 1, 1, 1)])
@pytest.mark.parametrize("summed", [False, True])
def test_groups_apart_stray_no_more_often_than_said(sizes: tuple[int, ...], summed: bool) -> None:
    """Every corner of a range of means, whatever the errors: the tail is never understated."""
    rng = np.random.default_rng(1)
    error = 1 / np.sqrt(2 * np.array(sizes))  # at most 1 of a difference
    apart = 1.5
    tail = 1 - 0.95
    multiplier = range_critical(0.95, 6, summed=summed, apart=apart)
    assert multiplier < range_critical(0.95, 6, summed=summed) - 0.08
    z = rng.normal(0, error, (20_000, 6))
    equal = rng.normal(0, error, (20_000, 6))
    one, two = np.nonzero(~np.eye(6, dtype=bool))
    errors = np.hypot(error[one], error[two])
    for upper in ([0], [5], [0, 1], [4, 5], [0, 1, 2], [0, 2, 4], [1, 2, 3, 4, 5]):
        means = np.isin(np.arange(6), upper) * apart
        strayed = (z + means)[:, one] - (z + means)[:, two] - apart
        if summed:  # the best sum of two pairs, at most
            other = (equal[:, one] - equal[:, two]) / errors
            worst = np.hypot(np.maximum((strayed / errors).max(axis=1), 0), other.max(axis=1))
        else:
            worst = (strayed / errors).max(axis=1)
        assert np.mean(worst > multiplier) <= tail + 0.002


def test_a_multiplier_falls_with_the_distance_to_that_of_one_direction() -> None:
    found = [range_critical(0.95, 20, families=2, apart=a) for a in (0.0, 0.5, 1.0, 2.0, 8.0)]
    assert found == sorted(found, reverse=True)
    assert found[0] == range_critical(0.95, 20, families=2)
    across = 2 * 10 * 10
    assert found[-1] == pytest.approx(stats.norm.isf(1 - (1 - 0.04 / 2) ** (2 / across)), abs=1e-3)
    # two groups have one pair, whose interval has two sides
    assert range_critical(0.95, 2, apart=8.0) == range_critical(0.95, 2)


def test_the_lower_limit_is_the_smallest_range_that_is_not_refuted() -> None:
    rows, share = np.full(12, 150.0), np.linspace(0.2, 0.65, 12)

    def lowest(critical: float) -> float:
        gap, margin = candidate_pairs(share, *jeffreys_limits(share, rows, critical), above=False)
        return float((gap - margin).max())

    def critical_at(apart: float) -> float:
        return range_critical(0.95, 12, apart=apart)

    low, critical = lowest_range(lowest, 150.0, critical_at)
    assert low == lowest(critical) > lowest(critical_at(0.0))
    for gap in np.linspace(0.0, 0.5, 400):
        refuted = lowest(critical_at(float(errors_apart(gap, 150.0)))) > gap
        assert refuted == (gap < low)
    assert largest_difference(share, rows)[0] == pytest.approx(low)


@pytest.mark.parametrize(
    ("groups", "table"), [(1, 1.96), (2, 2.21), (3, 2.35), (4, 2.44), (9, 2.69)]
)
def test_dunnetts_table(groups: int, table: float) -> None:
    assert many_to_one_critical(0.95, [100] * groups, 100) == pytest.approx(table, abs=0.012)


def test_many_to_one_is_the_multivariate_normal() -> None:
    rows, reference = np.array([50.0, 300.0, 3000.0]), 400.0
    shared = np.sqrt(rows / (rows + reference))
    covariance = np.outer(shared, shared)
    np.fill_diagonal(covariance, 1.0)
    law = stats.multivariate_normal(cov=covariance, seed=0)
    expected = law.cdf(np.full(3, 2.3), lower_limit=np.full(3, -2.3))
    found = many_to_one_probability(2.3, rows, reference)
    assert expected - 0.004 < found < expected + 0.0005  # rounded towards caution


def test_many_groups_cost_no_more_than_a_few() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(30, 3000, 10_000)
    few = many_to_one_critical(0.95, rows[:100], 5000)
    assert few < many_to_one_critical(0.95, rows, 5000) < 5


@pytest.mark.parametrize("seed", range(20))
def test_no_pair_is_overlooked(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 40))
    n = rng.integers(1, 300, size)
    p = rng.binomial(n, rng.random(size)) / n
    apart = ~np.eye(size, dtype=bool)
    for critical in (1.96, 3.5):
        low, high = jeffreys_limits(p, n, critical)
        below = np.sqrt((p - low)[:, None] ** 2 + (high - p) ** 2)
        above = np.sqrt((high - p)[:, None] ** 2 + (p - low) ** 2)
        gap = p[:, None] - p
        found, margin = candidate_pairs(p, low, high, above=False)
        assert np.max(found - margin) == pytest.approx((gap - below)[apart].max())
        found, margin = candidate_pairs(p, low, high, above=True)
        assert np.max(found + margin) == pytest.approx((gap + above)[apart].max())
        ends = mover_ratio(p[:, None], low[:, None], high[:, None], p, low, high)
        expected = np.min(ends[0][apart]), min(np.min(ends[1][apart]), 1.0)
        assert smallest_ratio(p, n, critical, critical) == pytest.approx(expected, abs=1e-9)


def test_two_groups_have_the_interval_of_their_difference() -> None:
    from isonomy.stats import difference_interval

    low, high = largest_difference([0.6, 0.3], [80, 90])
    expected = difference_interval(0.6, 80, 0.3, 90)
    assert (low, high) == pytest.approx(tuple(float(e) for e in expected), abs=1e-6)


def test_the_smallest_of_the_ratios_to_the_best_is_the_smallest_ratio() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        groups = int(rng.integers(2, 12))
        n = rng.integers(30, 900, groups)
        p = rng.binomial(n, rng.uniform(0.1, 0.9, groups)) / n
        low, high = ratio_to_best(p, n, 1.96, 2.8)
        assert (low.min(), high.min()) == pytest.approx(smallest_ratio(p, n, 1.96, 2.8))
        assert (low <= p / p.max()).all()
        assert (high >= p / p.max() - 1e-12).all()
        # each by all pairs, one by one
        ends = jeffreys_limits(p, n, 2.8)
        for g in range(groups):
            pairs = [
                float(mover_ratio(p[g], ends[0][g], ends[1][g], p[h], ends[0][h], ends[1][h])[1])
                for h in range(groups)
                if h != g
            ]
            assert high[g] == pytest.approx(min(*pairs, 1.0))
