"""Bounds over the unknown: every allocation is tried on small cases."""

import itertools

import numpy as np
import pytest

from isonomy.templates.bounds import mild_bounds, rate_bounds, ratio_bounds


def allocations(people: int, categories: int) -> list[tuple[int, ...]]:
    """Every way to give people to categories."""
    if categories == 1:
        return [(people,)]
    return [
        (k, *rest) for k in range(people + 1) for rest in allocations(people - k, categories - 1)
    ]


def brute_force(n: np.ndarray, s: np.ndarray, m: int, u: int) -> tuple[np.ndarray, ...]:
    rates, ratios = [], []
    for a, b in itertools.product(allocations(u, len(n)), allocations(m - u, len(n))):
        rate = (s + a) / (n + a + b)
        rates.append(rate)
        ratios.append(rate / rate.max() if rate.max() > 0 else np.full(len(n), np.nan))
    rate, ratio = np.array(rates), np.array(ratios)
    if np.isnan(ratio).all():
        return rate.min(0), rate.max(0), ratio[0], ratio[0]
    return rate.min(0), rate.max(0), np.nanmin(ratio, 0), np.nanmax(ratio, 0)


@pytest.mark.parametrize("categories", [2, 3, 4])
@pytest.mark.parametrize("seed", range(12))
def test_the_bounds_are_those_of_all_allocations(categories: int, seed: int) -> None:
    rng = np.random.default_rng([categories, seed])
    n = rng.integers(1, 9, categories)
    s = rng.binomial(n, rng.choice([0.1, 0.5, 0.9]))
    m = int(rng.integers(0, 9 - categories))
    u = int(rng.integers(0, m + 1))
    low, high, ratio_low, ratio_high = brute_force(n, s, m, u)
    assert rate_bounds(n, s, m, u).low == pytest.approx(low, rel=1e-14)
    assert rate_bounds(n, s, m, u).high == pytest.approx(high, rel=1e-14)
    assert ratio_bounds(n, s, m, u).low == pytest.approx(ratio_low, rel=1e-14, nan_ok=True)
    assert ratio_bounds(n, s, m, u).high == pytest.approx(ratio_high, rel=1e-14, nan_ok=True)


def test_many_not_selected_are_spread_over_the_others() -> None:
    """Greedy, one person at a time to whichever other category has the highest rate, is exact."""
    rng = np.random.default_rng(3)
    n = rng.integers(1, 60, 7)
    s = rng.binomial(n, 0.6)
    for rejected in (1, 5, 40, 300):
        for g in range(7):
            size, hit = np.delete(n, g).astype(float), np.delete(s, g)
            for _ in range(rejected):
                size[np.argmax(hit / size)] += 1
            expected = min(1.0, s[g] / n[g] / (hit / size).max())
            assert ratio_bounds(n, s, rejected, 0).high[g] == pytest.approx(expected, rel=1e-14)


def test_no_unknown_people_leave_no_doubt() -> None:
    n, s = np.array([50, 80, 20]), np.array([10, 40, 3])
    ratio = s / n / (s / n).max()
    assert ratio_bounds(n, s, 0, 0).low == pytest.approx(ratio)
    assert ratio_bounds(n, s, 0, 0).high == pytest.approx(ratio)
    assert mild_bounds(n, s, 0).low == pytest.approx(s / n)


def test_nobody_selected_is_undefined_until_somebody_unknown_is() -> None:
    assert np.isnan(ratio_bounds([5, 5], [0, 0], 3, 0).low).all()
    assert ratio_bounds([5, 5], [0, 0], 3, 1).low.tolist() == [0, 0]
    assert ratio_bounds([5, 5], [0, 0], 3, 1).high.tolist() == [1, 1]


def test_mild_bounds_lie_within_the_sharp_ones_of_unknown_outcomes() -> None:
    """The fact sheet's formulas, worked out by hand."""
    low, high = mild_bounds([60, 40], [30, 10], 10)
    assert low == pytest.approx([30 / 66, 10 / 44])
    assert high == pytest.approx([36 / 66, 14 / 44])


def test_rounding_adds_nobody() -> None:
    """22 / (22 / 30) may be a hair above 30: nobody is unknown, so nothing may move."""
    n, s = np.array([30, 36, 58]), np.array([22, 23, 32])
    low, high = ratio_bounds(n, s, 0, 0)
    exact = (s / n) / (s / n).max()
    np.testing.assert_allclose(low, exact, rtol=1e-15)
    np.testing.assert_allclose(high, exact, rtol=1e-15)
