"""Limits of proportions, their differences and ratios, beside exact and published ones."""

import numpy as np
import pytest
from scipy import stats

from isonomy.stats import (
    difference_interval,
    jeffreys_interval,
    mantel_haenszel,
    partial_pooling,
    ratio_interval,
    wilson_interval,
)
from isonomy.stats.proportions import jeffreys_limits, mover_difference, mover_ratio


def test_jeffreys_limits_are_quantiles_of_the_beta_distribution() -> None:
    hits, rows = np.array([1, 7, 30, 39]), 40
    low, high = jeffreys_interval(hits / rows, rows, confidence=0.9)
    law = stats.beta(hits + 0.5, rows - hits + 0.5)
    np.testing.assert_allclose(low, law.ppf(0.05), rtol=1e-10)
    np.testing.assert_allclose(high, law.ppf(0.95), rtol=1e-10)


@pytest.mark.parametrize("rows", [3, 40, 5000])
def test_jeffreys_limits_at_the_ends_are_the_exact_ones(rows: int) -> None:
    for hits in (0, rows):
        exact = stats.binomtest(hits, rows).proportion_ci(method="exact")
        low, high = jeffreys_interval(hits / rows, rows)
        assert (float(low), float(high)) == (
            pytest.approx(exact.low, abs=1e-12),
            pytest.approx(exact.high, abs=1e-12),
        )


def test_no_rows_have_no_limits_and_far_tails_stay_apart() -> None:
    assert np.isnan(jeffreys_limits(np.nan, 0, 1.96)).all()
    low, high = jeffreys_limits(0.999, 10_000, 9.0)  # one less the tail would be rounded away
    assert 0.98 < low < 0.999 < high < 1


@pytest.mark.parametrize(
    ("one", "two", "published"),
    [  # Newcombe 1998, Table II, method 10
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((6, 7), (2, 7), (0.0582, 0.8062)),
        ((5, 56), (0, 29), (-0.0381, 0.1926)),
        ((0, 10), (0, 20), (-0.1611, 0.2775)),
        ((10, 10), (0, 10), (0.6075, 1.0)),
    ],
)
def test_the_construction_is_newcombes(one, two, published) -> None:
    shares = [one[0] / one[1], two[0] / two[1]]
    limits = wilson_interval(shares, [one[1], two[1]])
    found = mover_difference(shares, *limits, coefficients=[1, -1])
    np.testing.assert_allclose(found, published, atol=6e-5)


def test_limits_of_ratios_are_where_the_difference_meets_zero() -> None:
    """By definition: p - r q has the limit 0 at the limit r of the ratio."""
    rng = np.random.default_rng(0)
    n, m = rng.integers(5, 200, (2, 300))
    p, q = rng.integers(1, n) / n, rng.integers(1, m) / m
    (l1, u1), (l2, u2) = jeffreys_interval(p, n), jeffreys_interval(q, m)
    low, high = ratio_interval(p, n, q, m)
    np.testing.assert_allclose(
        p - low * q, np.sqrt((p - l1) ** 2 + (low * (u2 - q)) ** 2), atol=1e-9
    )
    np.testing.assert_allclose(
        high * q - p, np.sqrt((u1 - p) ** 2 + (high * (q - l2)) ** 2), rtol=1e-7, atol=1e-9
    )


def test_zero_cells_give_wide_ratios_and_no_warning() -> None:
    low, high = ratio_interval([0, 0.2, 0.0], [40, 40, 40], [38 / 960, 0, 0], [960, 40, 40])
    assert low[0] == 0
    assert high[0] > 1.25  # Fisher's test says p = 0.40
    assert low[1] > 1
    assert np.isinf(high[1])
    assert (low[2], high[2]) == (0, np.inf)
    assert np.isnan(mover_ratio(np.nan, np.nan, np.nan, 0.5, 0.4, 0.6)).all()


def test_an_interval_turned_round_is_the_other_difference() -> None:
    low, high = difference_interval([0.3, 0.0], [50, 30], [0.5, 0.9], [60, 300])
    back = difference_interval([0.5, 0.9], [60, 300], [0.3, 0.0], [50, 30])
    np.testing.assert_allclose(low, -back[1])
    np.testing.assert_allclose(high, -back[0])


def test_pooling_moves_small_groups_and_beats_the_raw_share() -> None:
    rng = np.random.default_rng(1)
    truth = rng.beta(6, 14, 400)
    rows = rng.choice([5, 20, 100, 5000], 400)
    share = rng.binomial(rows, truth) / rows
    found, low, high = partial_pooling(share, rows)
    error = [np.mean((x - truth)[rows <= 20] ** 2) for x in (found, share)]
    assert error[0] < 0.5 * error[1]
    assert np.abs(found - share)[rows == 5000].max() < 0.005
    assert np.mean((low <= truth) & (truth <= high)) > 0.92


def test_pooling_finds_the_most_likely_law() -> None:
    rng = np.random.default_rng(2)
    rows = rng.integers(10, 200, 300)
    hits = rng.binomial(rows, rng.beta(3, 7, 300))
    found, _, _ = partial_pooling(hits / rows, rows)

    def loss(size: float, mean: float) -> float:
        return -stats.betabinom.logpmf(hits, rows, mean * size, (1 - mean) * size).sum()

    size, mean = min(
        ((s, m) for s in np.linspace(4, 20, 33) for m in np.linspace(0.25, 0.35, 21)),
        key=lambda pair: loss(*pair),
    )
    expected = (mean * size + hits) / (size + rows)
    np.testing.assert_allclose(found, expected, atol=0.02)


@pytest.mark.parametrize("rows", [[47, 578], [20] * 10 + [500], [1000, 1000], [5, 5]])
@pytest.mark.parametrize("spread", [0.0, 0.1])
def test_limits_of_pooled_shares_hold_the_truth_also_of_few_groups(rows, spread) -> None:
    # with the most likely width alone, equal groups had limits that held it in 8 to 37 of 100
    rng = np.random.default_rng(3)
    held = []
    for _ in range(400):
        truth = np.clip(rng.normal(0.7, spread, len(rows)), 0.01, 0.99)
        _, low, high = partial_pooling(rng.binomial(rows, truth) / rows, rows)
        held.append((low <= truth) & (truth <= high))
    assert np.mean(held) > 0.9
    assert np.mean(held, axis=0).min() > 0.85


def test_pooling_leaves_out_empty_groups() -> None:
    found, low, _ = partial_pooling([0.5, np.nan, 0.4], [100, 0, 50])
    assert np.isnan(found).tolist() == np.isnan(low).tolist() == [False, True, False]
    assert np.isnan(partial_pooling([np.nan], [0])[0]).all()


def test_mantel_haenszel_of_one_stratum_is_the_difference() -> None:
    gap, low, high = mantel_haenszel([0.6], [200], [0.4], [300])
    assert float(gap) == pytest.approx(0.2)
    assert float(high - low) / 2 == pytest.approx(1.96 * np.sqrt(0.24 / 200 + 0.24 / 300), rel=0.05)


def test_mantel_haenszel_turns_the_sign_where_strata_explain_the_gap() -> None:
    # within each department women are admitted more often; they apply where few are admitted
    women, men = np.array([0.65, 0.12]), np.array([0.60, 0.08])
    rows, others = np.array([100, 900]), np.array([900, 100])
    crude = (women * rows).sum() / 1000 - (men * others).sum() / 1000
    gap, _, _ = mantel_haenszel(women, rows, men, others)
    assert crude < -0.3 < 0 < float(gap) < 0.06


def test_a_stratum_with_one_group_says_nothing() -> None:
    two = mantel_haenszel([0.6, 0.3], [50, 40], [0.4, 0.2], [60, 30])
    three = mantel_haenszel([0.6, 0.3, 0.9], [50, 40, 80], [0.4, 0.2, np.nan], [60, 30, 0])
    np.testing.assert_allclose(two, three)


@pytest.mark.parametrize(("strata", "size"), [(5, 200), (200, 6)])
def test_mantel_haenszel_covers(strata: int, size: int) -> None:
    rng = np.random.default_rng(3)
    base = rng.uniform(0.2, 0.6, strata)
    n, m = rng.integers(1, size, (2, strata)) + 1
    p = rng.binomial(n, base + 0.1, (4000, strata)) / n
    q = rng.binomial(m, base, (4000, strata)) / m
    _, low, high = mantel_haenszel(p, n, q, m)
    assert 0.935 < np.mean((low <= 0.1) & (high >= 0.1)) < 0.965
