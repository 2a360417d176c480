"""Do the intervals of a tail contain the truth as often as they say?

Exact excesses, so that nothing but the interval is on trial. Profile intervals of the shape, of a
return level ten times beyond the sample and of the difference of two such levels must cover at
93-97 %. What is reached outside the regular shapes is written down in `docs/guide/7-tails.md` and
checked here to stay what it says.
"""

import numpy as np
import pytest

from isonomy.tails import fit_gpd, gpd_quantile, peaks_over_threshold, tail_test
from isonomy.tails.intervals import Interval

pytestmark = pytest.mark.slow

SIZES = {50: 2000, 200: 2000, 2000: 1000}
SHAPES = [-0.25, 0.0, 0.2]


def draw(size: int, shape: float, repeats: int, seed: int, scale: float = 1.0) -> np.ndarray:
    return gpd_quantile(np.random.default_rng(seed).random((repeats, size)), scale, shape)


def covers(interval: Interval, truth: float) -> float:
    return float(np.mean((interval.low <= truth) & (truth <= interval.high)))


def level(horizon: float, shape: float, scale: float = 1.0) -> float:
    return float(gpd_quantile(1.0 - 1.0 / horizon, scale, shape))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", SIZES)
def test_profile_intervals_cover(size: int, shape: float) -> None:
    seed = size + int(100 * shape)
    fit = fit_gpd(draw(size, shape, SIZES[size], seed))
    horizon = 10 * size
    assert 0.93 <= covers(fit.interval("shape"), shape) <= 0.97
    found = fit.interval("return_level", horizon=horizon)
    assert 0.93 <= covers(found, level(horizon, shape)) <= 0.97
    other = fit_gpd(draw(size, shape, SIZES[size], seed + 1_000_000, scale=1.5))
    test = tail_test(fit, other, horizon=horizon)
    truth = level(horizon, shape) - level(horizon, shape, 1.5)
    assert 0.93 <= covers(Interval(test.low, test.high), truth) <= 0.97


def test_unlike_tails_of_unlike_samples() -> None:
    a = fit_gpd(draw(50, 0.2, 2000, 1))
    b = fit_gpd(draw(200, -0.25, 2000, 2))
    test = tail_test(a, b, horizon=1000)
    truth = level(1000, 0.2) - level(1000, -0.25)
    assert 0.93 <= covers(Interval(test.low, test.high), truth) <= 0.97


def test_the_p_value_of_equal_tails_is_uniform() -> None:
    a, b = fit_gpd(draw(50, 0.0, 2000, 3)), fit_gpd(draw(50, 0.0, 2000, 4))
    p = tail_test(a, b, horizon=500).p_value
    assert np.mean(p < 0.05) == pytest.approx(0.05, abs=0.02)
    assert np.mean(p < 0.5) == pytest.approx(0.5, abs=0.045)


@pytest.mark.parametrize("shape", [-0.25, 0.2])
@pytest.mark.parametrize("horizon", [30, 60, 400, 20_000])
def test_peaks_over_a_threshold_count_their_share_as_an_estimate(
    horizon: int, shape: float
) -> None:
    fit = peaks_over_threshold(draw(2000, shape, 2000, 5 + horizon), k=50)
    found = fit.interval("return_level", horizon=horizon)
    assert 0.93 <= covers(found, level(horizon, shape)) <= 0.97


@pytest.mark.parametrize("size", [50, 200])
def test_at_shape_minus_one_half(size: int) -> None:
    # the edge of the regular shapes: reported in the guide, 94 to 97 %
    fit = fit_gpd(draw(size, -0.5, 2000, 6))
    assert covers(fit.interval("shape"), -0.5) == pytest.approx(0.955, abs=0.02)
    found = fit.interval("return_level", horizon=10 * size)
    assert covers(found, level(10 * size, -0.5)) == pytest.approx(0.955, abs=0.02)
    assert covers(fit.interval("endpoint"), 2.0) == pytest.approx(0.955, abs=0.02)
    other = fit_gpd(draw(size, -0.5, 2000, 7))
    test = tail_test(fit, other, horizon=10 * size)
    assert covers(Interval(test.low, test.high), 0.0) == pytest.approx(0.955, abs=0.02)


def test_why_the_root_is_corrected() -> None:
    # the guide's numbers for 50 excesses: the plain profile misses on one side
    fit = fit_gpd(draw(50, -0.25, 4000, 8))
    plain = fit.interval("shape", method="profile_plain")
    assert covers(plain, -0.25) == pytest.approx(0.925, abs=0.012)
    assert np.mean(plain.high < -0.25) > 4 * np.mean(plain.low > -0.25)
    delta = fit.interval("return_level", horizon=500, method="delta")
    assert covers(delta, level(500, -0.25)) < 0.85


def test_an_abrupt_end_is_covered() -> None:
    # shape -2, the tail of a logistic regression's counterfactual differences
    fit = peaks_over_threshold(draw(2000, -2.0, 300, 9, scale=2.0), k=50)
    assert not fit.converged.any()
    assert 0.9 <= covers(fit.interval("endpoint"), 1.0) <= 1.0
    found = fit.interval("return_level", horizon=2000)
    assert 0.9 <= covers(found, level(2000, -2.0, 2.0)) <= 1.0


def test_a_bound_that_holds_makes_intervals_careful() -> None:
    # an endpoint of 1 under a bound of 1.1: a quarter of the fits touch it
    fit = fit_gpd(draw(50, -0.25, 2000, 10, scale=0.25), upper=1.1)
    assert 0.93 <= covers(fit.interval("shape"), -0.25) <= 0.99
    assert 0.93 <= covers(fit.interval("endpoint"), 1.0) <= 0.99
    found = fit.interval("return_level", horizon=500)
    assert 0.93 <= covers(found, level(500, -0.25, 0.25)) <= 0.99
