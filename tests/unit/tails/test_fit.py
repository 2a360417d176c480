"""Fits: against SciPy's optimiser, in batches, near the edges of what the likelihood allows."""

import numpy as np
import pytest
from scipy import stats

from isonomy.errors import InputError, UnknownName
from isonomy.tails import (
    fit_gev,
    fit_gpd,
    gev_quantile,
    gpd_quantile,
    nested_test,
    peaks_over_threshold,
)


def gpd(rng: np.random.Generator, rows: int, size: int) -> np.ndarray:
    shape = rng.uniform(-0.4, 0.5, size=(rows, 1))
    scale = rng.uniform(0.1, 10.0, size=(rows, 1))
    return gpd_quantile(rng.random((rows, size)), scale, shape)


def gev(rng: np.random.Generator, rows: int, size: int) -> np.ndarray:
    shape = rng.uniform(-0.4, 0.5, size=(rows, 1))
    scale = rng.uniform(0.1, 10.0, size=(rows, 1))
    return gev_quantile(rng.random((rows, size)), rng.normal(size=(rows, 1)) * 5, scale, shape)


def test_gpd_is_never_worse_than_scipy() -> None:
    y = gpd(np.random.default_rng(11), 50, 50)
    ours = fit_gpd(y)
    for row in range(50):
        c, _, scale = stats.genpareto.fit(y[row], floc=0)
        peer = -stats.genpareto.logpdf(y[row], c, scale=scale).sum()
        assert ours.nll[row] <= peer + 1e-9 * abs(peer)


def test_gev_is_never_worse_than_scipy() -> None:
    x = gev(np.random.default_rng(12), 50, 50)
    ours = fit_gev(x)
    for row in range(50):
        with np.errstate(all="ignore"):
            c, loc, scale = stats.genextreme.fit(x[row])
            peer = -stats.genextreme.logpdf(x[row], c, loc, scale).sum()
        # SciPy may run into the region where the likelihood has no bound
        if c < 1.0:
            assert ours.nll[row] <= peer + 1e-9 * abs(peer)


def test_nearly_all_of_a_thousand_samples_converge() -> None:
    rng = np.random.default_rng(13)
    excesses, maxima = fit_gpd(gpd(rng, 1000, 50)), fit_gev(gev(rng, 1000, 50))
    assert excesses.converged.mean() >= 0.98
    assert maxima.converged.mean() >= 0.98
    # converged means what it says: the gradient of the mean vanishes
    assert (excesses.method[excesses.converged] == "ml").all()


def test_a_batch_equals_one_by_one() -> None:
    rng = np.random.default_rng(14)
    y, x = gpd(rng, 6, 40).reshape(2, 3, 40), gev(rng, 6, 40).reshape(2, 3, 40)
    many, others = fit_gpd(y), fit_gev(x)
    assert many.shape.shape == (2, 3)
    assert many.se.shape == (2, 3, 2)
    assert many.return_level([10, 100]).shape == (2, 3, 2)
    for i in range(2):
        for j in range(3):
            one, other = fit_gpd(y[i, j]), fit_gev(x[i, j])
            assert one.shape == pytest.approx(many.shape[i, j], rel=1e-9)
            assert one.scale == pytest.approx(many.scale[i, j], rel=1e-9)
            assert one.se == pytest.approx(many.se[i, j], rel=1e-8)
            assert other.location == pytest.approx(others.location[i, j], rel=1e-7)
            assert other.shape == pytest.approx(others.shape[i, j], rel=1e-6)
            assert one.return_level(100) == pytest.approx(many.return_level(100)[i, j])
    assert list(many.frame().columns) == ["scale", "shape", "nll", "converged"]


def test_the_gradient_vanishes_at_the_fit() -> None:
    from isonomy.tails.laws import gev_value, gpd_value

    rng = np.random.default_rng(15)
    y, x = gpd(rng, 100, 50), gev(rng, 100, 50)
    fit = fit_gpd(y)
    unit = y.mean(axis=1)
    at = np.stack([np.log(fit.scale / unit), fit.shape], axis=-1)[fit.converged]
    assert np.abs(gpd_value(at, (y / unit[:, None])[fit.converged]).gradient).max() < 1e-8
    other = fit_gev(x)
    at = np.stack([other.location, np.log(other.scale), other.shape], axis=-1)
    scaled = gev_value(at, x).gradient * np.stack(
        [other.scale, np.ones(100), np.ones(100)], axis=-1
    )
    assert np.abs(scaled[other.converged]).max() < 1e-7


def test_a_tail_that_ends_abruptly_has_no_likelihood_maximum() -> None:
    rng = np.random.default_rng(16)
    y = gpd_quantile(rng.random((50, 50)), 2.0, -2.0)
    strict, auto = fit_gpd(y, method="ml"), fit_gpd(y)
    assert not auto.converged.any()
    assert (auto.method == "zhang_stephens").all()
    assert (strict.shape == -1.0).all()
    assert (auto.endpoint() >= y.max(axis=1)).all()
    assert np.median(auto.shape) == pytest.approx(-2.0, abs=0.35)
    assert np.isnan(auto.se).all()


def test_very_heavy_tails_converge_too() -> None:
    # one value may outweigh all the others together
    rng = np.random.default_rng(22)
    excesses = fit_gpd(gpd_quantile(rng.random((200, 50)), 1.0, 3.0))
    maxima = fit_gev(gev_quantile(rng.random((200, 50)), 0.0, 1.0, 1.5))
    assert excesses.converged.mean() >= 0.98
    assert maxima.converged.mean() >= 0.98
    assert np.median(excesses.shape) == pytest.approx(3.0, abs=0.2)
    assert np.median(maxima.shape) == pytest.approx(1.5, abs=0.2)


@pytest.mark.parametrize("method", ["moments", "zhang_stephens"])
@pytest.mark.parametrize("shape", [-0.4, 0.0, 0.3])
def test_the_other_estimators_find_the_shape_of_a_large_sample(method: str, shape: float) -> None:
    y = gpd_quantile((np.arange(4000) + 0.5) / 4000, 3.0, shape)
    fit = fit_gpd(y, method=method)
    assert fit.shape == pytest.approx(shape, abs=0.03)
    assert fit.scale == pytest.approx(3.0, rel=0.03)
    assert fit.method == method
    assert fit.endpoint() >= y.max()
    assert np.isfinite(fit.nll)
    assert fit.nll >= fit_gpd(y).nll


def test_gev_moments_of_a_large_sample() -> None:
    fit = fit_gev(gev_quantile((np.arange(4000) + 0.5) / 4000, 1.0, 2.0, -0.2), method="moments")
    assert [fit.location, fit.scale, fit.shape] == pytest.approx([1.0, 2.0, -0.2], rel=0.01)


def test_bounds_of_the_support_must_hold_for_the_data() -> None:
    with pytest.raises(InputError, match="No observation may exceed upper, 1"):
        fit_gpd([0.2, 0.5, 1.2], upper=1.0)


def test_nested_laws() -> None:
    rng = np.random.default_rng(18)
    y, x = rng.exponential(3.0, (400, 60)), rng.gumbel(1.0, 2.0, (400, 60))
    exponential, gumbel = nested_test(fit_gpd(y)), nested_test(fit_gev(x))
    assert exponential.law == "exponential"
    assert gumbel.law == "gumbel"
    assert exponential.scale == pytest.approx(y.mean(axis=1))
    assert exponential.nll == pytest.approx(
        -stats.expon.logpdf(y, scale=exponential.scale[:, None]).sum(axis=1)
    )
    loc, scale = stats.gumbel_r.fit(x[0])
    assert [gumbel.location[0], gumbel.scale[0]] == pytest.approx([loc, scale], rel=1e-5)
    assert (exponential.statistic >= 0).all()
    # 400 p-values of true laws: 5 % within three standard errors
    assert (exponential.p_value < 0.05).mean() == pytest.approx(0.05, abs=0.033)
    assert (gumbel.p_value < 0.05).mean() == pytest.approx(0.05, abs=0.033)
    heavy = nested_test(fit_gpd(gpd_quantile((np.arange(500) + 0.5) / 500, 1.0, 0.5)))
    assert heavy.p_value < 1e-6


def test_paper_mode_raises_the_shape_of_an_exponential_tail() -> None:
    rng = np.random.default_rng(19)
    x = rng.exponential(size=(200, 2000))
    corrected = peaks_over_threshold(x, k=50)
    published = peaks_over_threshold(x, k=50, protocol="as_published")
    assert published.family == "gev"
    assert np.median(corrected.shape) == pytest.approx(-0.05, abs=0.08)
    assert np.median(published.shape) == pytest.approx(0.45, abs=0.08)
    assert (published.location > published.threshold).all()


def test_bad_input_gets_one_sentence() -> None:
    with pytest.raises(UnknownName, match="did you mean 'moments'"):
        fit_gpd(np.arange(1.0, 20.0), method="moment")
    with pytest.raises(InputError, match="at least 3 values"):
        fit_gpd([1.0, 2.0])
    with pytest.raises(InputError, match="must not be negative"):
        fit_gpd([1.0, -2.0, 3.0])
    with pytest.raises(InputError, match="finite"):
        fit_gpd([1.0, np.nan, 3.0])
    with pytest.raises(InputError, match="numbers"):
        fit_gev(["a", "b", "c", "d"])
    with pytest.raises(InputError, match="at least the number of excesses"):
        fit_gpd([1.0, 2.0, 3.5], n=2)
    with pytest.raises(InputError, match="k must lie between 3 and 9"):
        peaks_over_threshold(np.arange(10.0), k=50)
    with pytest.raises(InputError, match="not both"):
        peaks_over_threshold(np.arange(10.0), k=5, threshold=3.0)
    with pytest.raises(InputError, match="one sample"):
        peaks_over_threshold(np.ones((2, 10)), threshold=3.0)
    with pytest.raises(InputError, match="At least 3 values must exceed"):
        peaks_over_threshold(np.arange(10.0), threshold=8.0)
    with pytest.raises(UnknownName, match="protocol"):
        peaks_over_threshold(np.arange(100.0), protocol="published")
    with pytest.raises(InputError, match="positive number of queries"):
        fit_gpd(np.arange(1.0, 20.0)).return_level(0)


def test_a_threshold_or_k_name_the_same_tail() -> None:
    x = np.random.default_rng(20).exponential(size=500)
    by_k = peaks_over_threshold(x, k=40)
    by_threshold = peaks_over_threshold(x, threshold=by_k.threshold)
    assert by_threshold.k == 40
    assert by_threshold.shape == pytest.approx(by_k.shape, rel=1e-9)
