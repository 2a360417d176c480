"""Densities, probabilities and quantiles against SciPy, and the likelihoods' derivatives."""

import numpy as np
import pytest
from scipy import stats

from isonomy.tails import (
    gev_cdf,
    gev_logpdf,
    gev_quantile,
    gpd_cdf,
    gpd_logpdf,
    gpd_quantile,
)
from isonomy.tails.laws import gev_value, gpd_value, growth

SHAPES = [-1.3, -0.5, -1e-3, -1e-9, 0.0, 1e-7, 0.02, 0.4, 1.5]


@pytest.mark.parametrize("shape", SHAPES)
def test_gpd_is_scipys_genpareto(shape: float) -> None:
    x = np.concatenate([np.linspace(-1, 0, 3), np.linspace(0.01, 9, 60)])
    law = stats.genpareto(shape, scale=2.0)
    assert gpd_logpdf(x, 2.0, shape) == pytest.approx(law.logpdf(x), rel=1e-9)
    assert gpd_cdf(x, 2.0, shape) == pytest.approx(law.cdf(x), rel=1e-9)
    p = np.linspace(0, 0.999, 40)
    assert gpd_quantile(p, 2.0, shape) == pytest.approx(law.ppf(p), rel=1e-7)


@pytest.mark.parametrize("shape", SHAPES)
def test_gev_is_scipys_genextreme_with_the_other_sign(shape: float) -> None:
    x = np.linspace(-3, 9, 60)
    law = stats.genextreme(-shape, loc=1.0, scale=2.0)
    assert gev_logpdf(x, 1.0, 2.0, shape) == pytest.approx(law.logpdf(x), rel=1e-6)
    assert gev_cdf(x, 1.0, 2.0, shape) == pytest.approx(law.cdf(x), rel=1e-6, abs=1e-300)
    p = np.linspace(0.001, 0.999, 40)
    assert gev_quantile(p, 1.0, 2.0, shape) == pytest.approx(law.ppf(p), rel=1e-6)


def test_quantiles_at_the_ends() -> None:
    assert gpd_quantile(1.0, 1.0, -0.5) == pytest.approx(2.0)
    assert gpd_quantile(1.0, 1.0, 0.2) == np.inf
    assert gev_quantile(1.0, 0.0, 1.0, -0.5) == pytest.approx(2.0)


@pytest.mark.parametrize("shape", [-0.4, -0.02, -1e-3, -1e-8, 0.0, 1e-5, 0.01, 0.6])
@pytest.mark.parametrize("law", ["gpd", "gev"])
def test_gradients_and_hessians_are_those_of_finite_differences(law: str, shape: float) -> None:
    rng = np.random.default_rng(1)
    sample = rng.uniform(0.0, 2.0, size=(2, 30))
    value = gpd_value if law == "gpd" else gev_value
    theta = np.array([[0.1, shape], [0.3, shape]])
    if law == "gev":
        theta = np.concatenate([[[0.5], [0.8]], theta], axis=1)
    at = value(theta, sample)
    logpdf = (
        -gpd_logpdf(sample, np.exp(theta[:, :1]), shape)
        if law == "gpd"
        else -gev_logpdf(sample, theta[:, :1], np.exp(theta[:, 1:2]), shape)
    )
    assert at.value == pytest.approx(logpdf.mean(axis=1), rel=1e-12)
    step = 1e-5
    for i in range(theta.shape[1]):
        move = np.zeros(theta.shape[1])
        move[i] = step
        up, down = value(theta + move, sample), value(theta - move, sample)
        slope = (up.value - down.value) / (2 * step)
        bend = (up.gradient - down.gradient) / (2 * step)
        assert at.gradient[:, i] == pytest.approx(slope, rel=1e-6, abs=1e-8)
        assert at.hessian[:, i] == pytest.approx(bend, rel=1e-6, abs=1e-8)


def test_outside_the_support_the_likelihood_is_infinite() -> None:
    assert gpd_value(np.array([[0.0, -0.5]]), np.array([[1.0, 2.1]])).value[0] == np.inf
    assert gev_value(np.array([[0.0, 0.0, 0.5]]), np.array([[1.0, -2.1]])).value[0] == np.inf


@pytest.mark.parametrize("shape", [-0.7, -1e-6, 0.0, 1e-9, 0.004, 0.3])
def test_growth_and_its_derivatives(shape: float) -> None:
    rate, step = np.array(4.0), 1e-5
    g, first, second = growth(np.array(shape), rate)
    assert g == pytest.approx(gpd_quantile(1 - np.exp(-4.0), 1.0, shape), rel=1e-9)
    up, down = growth(np.array(shape + step), rate), growth(np.array(shape - step), rate)
    assert first == pytest.approx((up[0] - down[0]) / (2 * step), rel=1e-6)
    assert second == pytest.approx((up[1] - down[1]) / (2 * step), rel=1e-6)
