"""Do the intervals of a tail contain the truth as often as they say?

Exact excesses, so that nothing but the interval is on trial. Profile intervals of the shape, of a
return level ten times beyond the sample and of the difference of two such levels must cover at
93-97 %. What is reached outside the regular shapes is written down in `docs/guide/7-tails.md` and
checked here to stay what it says.
"""

import numpy as np
import pytest

from isonomy.tails import TailFit, fit_gpd, gpd_quantile, peaks_over_threshold, tail_test
from isonomy.tails.levels import Interval

pytestmark = pytest.mark.slow

SIZES = [50, 200, 2000]
REPEATS = 2000
SHAPES = [-0.25, 0.0, 0.2]


def draw(size: int, shape: float, repeats: int, seed: int, scale: float = 1.0) -> np.ndarray:
    return gpd_quantile(np.random.default_rng(seed).random((repeats, size)), scale, shape)


def covers(interval: Interval, truth: float) -> float:
    return float(np.mean((interval.low <= truth) & (truth <= interval.high)))


def level(horizon: float, shape: float, scale: float = 1.0) -> float:
    return float(gpd_quantile(1.0 - 1.0 / horizon, scale, shape))


def report(fit: TailFit, other: TailFit, shape: float, horizon: float) -> dict[str, float]:
    """Give and print (`pytest -s`) what the guide's table holds; the other's scale is 1.5."""
    test = tail_test(fit, other, horizon=horizon)
    gap = level(horizon, shape) - level(horizon, shape, 1.5)
    reached = {
        "shape": covers(fit.interval("shape"), shape),
        "level": covers(fit.interval("return_level", horizon=horizon), level(horizon, shape)),
        "difference": covers(Interval(test.low, test.high), gap),
    }
    print(f"\n{fit.k} excesses of shape {shape}: {reached}")
    return reached


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", SIZES)
def test_profile_intervals_cover(size: int, shape: float) -> None:
    seed = size + int(100 * shape)
    fit = fit_gpd(draw(size, shape, REPEATS, seed))
    horizon = 10 * size
    other = fit_gpd(draw(size, shape, REPEATS, seed + 1_000_000, scale=1.5))
    reached = report(fit, other, shape, horizon)
    assert all(0.93 <= share <= 0.97 for share in reached.values()), reached


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


@pytest.mark.parametrize("size", SIZES)
def test_at_shape_minus_one_half(size: int) -> None:
    # the edge of the regular shapes: reported in the guide
    fit = fit_gpd(draw(size, -0.5, REPEATS, 6))
    other = fit_gpd(draw(size, -0.5, REPEATS, 7, scale=1.5))
    reached = report(fit, other, -0.5, 10 * size)
    reached["endpoint"] = covers(fit.interval("endpoint"), 2.0)
    assert list(reached.values()) == pytest.approx([0.955] * 4, abs=0.02)


def test_why_the_root_is_corrected() -> None:
    # the guide's numbers for 50 excesses: the plain profile misses on one side
    fit = fit_gpd(draw(50, -0.25, 4000, 8))
    plain = fit.interval("shape", method="profile_plain")
    assert 0.90 <= covers(plain, -0.25) <= 0.93
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


def test_intervals_cut_off_at_a_bound_cover() -> None:
    # an endpoint of 1 under a bound of 1.1, at which many limits are cut off
    fit = fit_gpd(draw(50, -0.25, 2000, 10, scale=0.25), upper=1.1)
    assert 0.93 <= covers(fit.interval("shape"), -0.25) <= 0.99
    assert 0.93 <= covers(fit.interval("endpoint"), 1.0) <= 0.99
    found = fit.interval("return_level", horizon=500)
    assert 0.93 <= covers(found, level(500, -0.25, 0.25)) <= 0.99
