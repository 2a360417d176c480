"""Limits for many groups at once, beside SciPy's distributions and brute force."""

import numpy as np
import pytest
from scipy import stats

from isonomy.stats import largest_difference, many_to_one_critical, range_critical
from isonomy.stats.proportions import jeffreys_limits, mover_ratio
from isonomy.stats.simultaneous import (
    candidate_pairs,
    many_to_one_probability,
    range_tail,
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
