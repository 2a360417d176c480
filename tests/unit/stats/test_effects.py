"""Effect sizes by hand, by brute force, and at their edges."""

import warnings

import numpy as np
import pytest

from isonomy.errors import InputError
from isonomy.stats import (
    a12,
    cliffs_delta,
    cliffs_delta_interval,
    cohens_d,
    effect_class,
    hedges_g,
    standardized_difference,
)


def brute(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.sign(a[:, None] - b[None, :]).mean())


def test_cohens_d_by_hand_and_of_constants() -> None:
    a, b = np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 3.0])
    # means 4 and 2, variances 4 and 1
    assert cohens_d(a, b) == pytest.approx(2 / np.sqrt(2.5))
    assert cohens_d(b, a) == -cohens_d(a, b)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cohens_d(np.ones(3), np.zeros(3)) == np.inf
        assert np.isnan(cohens_d(np.ones(3), np.ones(3)))
        assert np.isnan(cohens_d([1.0], [2.0]))


def test_the_two_variances_part_where_sizes_do() -> None:
    a, b = np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 3.0, 2.0, 2.0])
    # variances 4 and 0.5 on 2 and 4 degrees of freedom
    assert cohens_d(a, b) == pytest.approx(2 / np.sqrt(2.25))
    assert cohens_d(a, b, variance="pooled") == pytest.approx(2 / np.sqrt(10 / 6))
    assert cohens_d(a, a + 1, variance="pooled") == pytest.approx(cohens_d(a, a + 1))
    with pytest.raises(InputError, match="variance"):
        cohens_d(a, b, variance="welch")


def test_hedges_correction_near_its_usual_approximation() -> None:
    a, b = np.arange(10.0), np.arange(10.0) + 2
    factor = hedges_g(a, b) / cohens_d(a, b, variance="pooled")
    assert factor == pytest.approx(1 - 3 / (4 * 18 - 1), abs=2e-4)
    # two degrees of freedom: gamma(1) / (1 * gamma(1/2))
    assert hedges_g([0.0, 1.0], [2.0, 3.0]) == pytest.approx(
        cohens_d([0.0, 1.0], [2.0, 3.0]) / np.sqrt(np.pi)
    )


@pytest.mark.parametrize("digits", [8, 0])
def test_cliffs_delta_is_the_mean_sign(digits: int) -> None:
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(20, 13)).round(digits), rng.normal(0.4, 1, (20, 9)).round(digits)
    delta = cliffs_delta(a, b)
    np.testing.assert_allclose(delta, [brute(x, y) for x, y in zip(a, b, strict=True)], atol=1e-15)
    np.testing.assert_allclose(a12(a, b), (delta + 1) / 2, atol=1e-15)


def test_holes() -> None:
    a, b = np.array([[1.0, np.nan, 3.0], [1.0, 2.0, 4.0]]), np.array([0.0, 2.0])
    for effect in (cliffs_delta, a12, cohens_d, hedges_g):
        assert np.isnan(effect(a, b)).tolist() == [True, False]
        assert effect(a, b, nan="omit")[0] == pytest.approx(float(effect(a[0, [0, 2]], b)))
        assert np.isnan(effect([np.nan, np.nan], b, nan="omit"))


def test_classes_at_their_limits() -> None:
    assert effect_class([0.146, 0.147, 0.33, 0.474, -1.0]).tolist() == [
        "negligible",
        "small",
        "medium",
        "large",
        "large",
    ]
    assert effect_class([0.19, -0.2, 0.5, 0.8, np.inf, np.nan], scale="cohen").tolist() == [
        "negligible",
        "small",
        "medium",
        "large",
        "large",
        "undefined",
    ]
    a = np.array([0.5, 0.559, 0.56, 0.64, 0.71])
    expected = ["negligible", "negligible", "small", "medium", "large"]
    assert effect_class(a, scale="a12").tolist() == expected
    assert effect_class(1 - a, scale="a12").tolist() == expected
    with pytest.raises(InputError, match="scale of effects"):
        effect_class(0.1, scale="glass")


def test_the_interval_of_cliffs_delta_solves_newcombes_equation() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.7, size=(5, 12)), rng.normal(size=(5, 9))
    low, high = cliffs_delta_interval(a, b, confidence=0.9)
    share = a12(a, b)
    more = (12 + 9) / 2 - 1
    for end in (low, high):
        at = (end + 1) / 2
        spread = at * (1 - at) * (1 + more * ((1 - at) / (2 - at) + at / (1 + at))) / (12 * 9)
        assert np.abs(share - at) / np.sqrt(spread) == pytest.approx(np.full(5, 1.6448536))
    assert (low < cliffs_delta(a, b)).all()
    assert (high > cliffs_delta(a, b)).all()


def test_the_interval_of_cliffs_delta_at_its_ends_and_with_holes() -> None:
    low, high = cliffs_delta_interval([[5.0, 6.0, 7.0], [1.0, 2.0, np.nan]], [3.0, 4.0, 4.5])
    assert high[0] == 1.0
    assert -1.0 < low[0] < 1.0
    assert np.isnan([low[1], high[1]]).all()
    low, high = cliffs_delta_interval([1.0, 2.0], [3.0, 4.0, 5.0])
    assert low == -1.0
    assert high < 1.0


def test_standardized_differences_from_moments_are_cohens_d() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 1, 30), rng.normal(0.5, 2, 50)
    moments = (a.mean(), a.var(ddof=1), a.size, b.mean(), b.var(ddof=1), b.size)
    value, low, high = standardized_difference(*moments)
    assert value == pytest.approx(float(cohens_d(a, b, variance="pooled")))
    assert low < value < high
    everyone = np.concatenate([a, b]).std(ddof=1)
    assert standardized_difference(*moments, spread=everyone)[0] == pytest.approx(
        (a.mean() - b.mean()) / everyone
    )


def test_standardized_differences_of_constants_and_single_values() -> None:
    value, low, high = standardized_difference([1.0, 2.0, 1.0], 0.0, [9, 9, 1], 1.0, 0.0, 9)
    assert np.isnan([value[0], low[0], high[0], low[2], high[2]]).all()
    assert value[1] == np.inf
