"""Two tails at one horizon, and what may be said about one."""

import numpy as np
import pytest
from scipy import stats

from isonomy.errors import InputError, UnknownName
from isonomy.tails import (
    diagnose,
    fit_gev,
    fit_gpd,
    goodness,
    gpd_quantile,
    nested_test,
    peaks_over_threshold,
    published_type,
    tail_test,
)
from isonomy.tails.diagnose import anderson_darling


def tail(shape: float, size: int, scale: float = 1.0, seed: int = 0) -> np.ndarray:
    return gpd_quantile(np.random.default_rng(seed).random(size), scale, shape)


def test_the_difference_is_that_of_the_levels() -> None:
    a, b = fit_gpd(tail(0.1, 80, 2.0)), fit_gpd(tail(-0.2, 120, seed=1))
    test = tail_test(a, b, horizon=400)
    assert test.difference == pytest.approx(a.return_level(400) - b.return_level(400))
    assert (test.a, test.b) == (a.return_level(400), b.return_level(400))
    turned = tail_test(b, a, horizon=400)
    assert (turned.low, turned.high) == pytest.approx((-test.high, -test.low), rel=1e-6)
    assert turned.p_value == pytest.approx(test.p_value, rel=1e-6)


def test_against_a_known_level_the_interval_is_the_level_s_own() -> None:
    a = fit_gpd(tail(0.1, 80))
    sure = fit_gpd(gpd_quantile((np.arange(20000) + 0.5) / 20000, 1e-4, -0.3))
    low, high = a.interval("return_level", horizon=400)
    test = tail_test(a, sure, horizon=400)
    assert (test.low, test.high) == pytest.approx((low, high), abs=0.01 * (high - low))


def test_large_samples_give_the_normal_interval() -> None:
    a, b = fit_gpd(tail(0.0, 20000)), fit_gpd(tail(0.0, 20000, seed=1))
    test = tail_test(a, b, horizon=1000)
    delta = tail_test(a, b, horizon=1000, method="delta")
    widths = [
        high - low
        for low, high in (f.interval("return_level", horizon=1000, method="delta") for f in (a, b))
    ]
    assert delta.high - delta.low == pytest.approx(np.hypot(*widths), rel=1e-3)
    assert test.high - test.low == pytest.approx(delta.high - delta.low, rel=0.03)
    se = np.hypot(*widths) / (2 * 1.959964)
    assert delta.p_value == pytest.approx(2 * stats.norm.sf(abs(delta.difference) / se), rel=0.02)


def test_the_p_value_agrees_with_the_interval() -> None:
    rng = np.random.default_rng(3)
    a = fit_gpd(gpd_quantile(rng.random((60, 50)), 1.3, 0.0))
    b = fit_gpd(gpd_quantile(rng.random((60, 50)), 1.0, 0.0))
    test = tail_test(a, b, horizon=100)
    outside = (test.low > 0) | (test.high < 0)
    assert 0 < outside.sum() < 60
    assert (outside == (test.p_value < 0.05)).all()
    assert test.frame().shape == (60, 7)
    some = (fit_gpd(fit.sample[:8]) for fit in (a, b))
    boot = tail_test(*some, horizon=100, method="bootstrap", resamples=499)
    assert boot.difference == pytest.approx(test.difference[:8])
    width = (test.high - test.low)[:8]
    assert np.median(np.abs(boot.low - test.low[:8]) / width) < 0.06
    assert np.median(np.abs(boot.high - test.high[:8]) / width) < 0.06


def test_the_depth_of_the_threshold_does_not_matter() -> None:
    # the same law, sampled 40 times more often: its fiftieth largest value lies deeper
    rng = np.random.default_rng(4)
    few = peaks_over_threshold(rng.exponential(size=1000), k=50)
    many = peaks_over_threshold(rng.exponential(size=40000), k=50)
    assert many.threshold - few.threshold > 3
    assert tail_test(few, many, horizon=5000).p_value > 0.05


def test_a_horizon_within_both_samples_uses_order_statistics() -> None:
    rng = np.random.default_rng(5)
    a = peaks_over_threshold(rng.exponential(2.0, size=2000), k=50)
    b = peaks_over_threshold(rng.exponential(1.0, size=3000), k=50)
    test = tail_test(a, b, horizon=30)
    assert test.low > 0
    assert test.low < np.log(30) < test.high


def test_bad_comparisons() -> None:
    a = fit_gpd(tail(0.0, 50))
    with pytest.raises(InputError, match="same leading axes"):
        tail_test(a, fit_gpd(np.stack([tail(0.0, 50)])), horizon=100)
    with pytest.raises(InputError, match="count the horizon alike"):
        tail_test(a, fit_gev(tail(0.0, 50)), horizon=100)
    with pytest.raises(InputError, match="Maxima are compared by"):
        tail_test(fit_gev(tail(0.0, 50)), fit_gev(tail(0.0, 60)), horizon=9, method="bootstrap")
    with pytest.raises(InputError, match="horizon must be"):
        tail_test(a, a, horizon=0)
    with pytest.raises(UnknownName, match="interval method"):
        tail_test(a, a, horizon=10, method="t")
    with pytest.raises(InputError, match="confidence must lie"):
        tail_test(a, a, horizon=10, confidence=5)


def test_anderson_darling_is_scipys() -> None:
    x = np.sort(np.random.default_rng(6).exponential(size=40))
    ours = float(anderson_darling(stats.expon.cdf(x, scale=x.mean())))
    with np.errstate(all="ignore"):
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SciPy announces a change of its p-values
            peer = stats.anderson(x, "expon").statistic
    assert ours == pytest.approx(peer, rel=1e-9)


def test_goodness_accepts_its_law_and_rejects_another() -> None:
    fine = goodness(fit_gpd(tail(-0.2, 100)), resamples=199)
    assert fine.p_value > 0.05
    assert (fine.low <= fine.high).all()
    assert (fine.low_all <= fine.low + 1e-12)[50:].all()
    assert (fine.high_all >= fine.high - 1e-12)[50:].all()
    assert fine.reach == 100
    two = np.concatenate([tail(0.0, 50, 0.1), 1.0 + tail(0.0, 50, 0.1, seed=1)])
    assert goodness(fit_gpd(two), resamples=199).p_value < 0.05
    maxima = goodness(fit_gev(np.random.default_rng(1).gumbel(size=60)), resamples=99)
    assert maxima.p_value > 0.05


@pytest.mark.parametrize(("shape", "kind"), [(-0.5, "finite"), (0.0, "light"), (0.8, "heavy")])
def test_the_type_comes_from_the_interval(shape: float, kind: str) -> None:
    diagnosis = diagnose(fit_gpd(tail(shape, 300)), resamples=99)
    assert diagnosis.type == kind
    assert f"{diagnosis.shape.low:.2f} to {diagnosis.shape.high:.2f}" in diagnosis.evidence
    assert (diagnosis.exponential_p > 0.05) == (kind == "light")
    assert np.isinf(diagnosis.endpoint.high) == (kind != "finite")
    assert diagnosis.horizon == 3000
    assert diagnosis.distinct == 300
    assert diagnosis.ties == 0
    assert "type" in diagnosis.frame().index


def test_a_bound_alone_does_not_make_a_tail_finite() -> None:
    y = tail(0.0, 60, 0.02)
    diagnosis = diagnose(fit_gpd(y, upper=1.0), resamples=99)
    assert diagnosis.type == "light"
    assert diagnosis.endpoint.high <= 1.0


def test_an_outlier_shortens_the_horizon() -> None:
    y = np.append(tail(-0.3, 199), 30.0)
    fit = fit_gpd(y, n=2000)
    diagnosis = diagnose(fit, resamples=199)
    assert diagnosis.horizon < 2000
    assert "leaves the envelope" in diagnosis.horizon_reason


def test_an_abrupt_end_is_finite() -> None:
    diagnosis = diagnose(fit_gpd(tail(-2.0, 60, 2.0)), resamples=99)
    assert diagnosis.type == "finite"
    assert "no maximum above -1" in diagnosis.evidence
    assert (
        f"interval up to {diagnosis.shape.high:.2f}:" in diagnosis.evidence
    )  # -1 means below, too


def test_published_types() -> None:
    assert [published_type(s) for s in (-0.05, -0.04, 0.09, 0.1)] == ["III", "I", "I", "II"]
    assert published_type(float("nan")) == ""


def test_a_batch_is_not_diagnosed() -> None:
    with pytest.raises(InputError, match="One fit"):
        diagnose(fit_gpd(np.stack([tail(0.0, 50)])))


@pytest.mark.parametrize("method", ["auto", "moments", "zhang_stephens"])
def test_the_exponential_law_is_tested_by_likelihood(method: str) -> None:
    heavy = gpd_quantile((np.arange(200) + 0.5) / 200, 0.02, 0.4)
    free = nested_test(fit_gpd(heavy))
    assert free.p_value < 0.01
    held = fit_gpd(heavy, upper=1.0, method=method)
    assert nested_test(held).p_value == pytest.approx(free.p_value, rel=1e-6)


def test_the_gumbel_law_is_tested_by_likelihood() -> None:
    values = np.random.default_rng(0).gumbel(size=100)
    by_moments = nested_test(fit_gev(values, method="moments"))
    assert by_moments.p_value == pytest.approx(nested_test(fit_gev(values)).p_value, rel=1e-6)


def test_a_largest_value_at_the_bound_itself_is_fitted_without_a_warning() -> None:
    values = np.append(gpd_quantile((np.arange(60) + 0.5) / 60, 0.05, 0.3), 1.0)
    assert diagnose(fit_gpd(values, upper=1.0), resamples=19).type == "heavy"
