"""Shifting and stretching a sample shifts and stretches its tail, and nothing else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isonomy.tails import fit_gev, fit_gpd, gev_quantile, gpd_quantile, peaks_over_threshold

seeds = st.integers(0, 10_000)
shapes = st.floats(-0.35, 0.6)
stretches = st.floats(1e-4, 1e4)
shifts = st.floats(-100.0, 100.0)


@settings(max_examples=40, deadline=None)
@given(seeds, shapes, stretches)
def test_gpd_is_equivariant(seed: int, shape: float, stretch: float) -> None:
    y = gpd_quantile(np.random.default_rng(seed).random(60), 1.0, shape)
    one, other = fit_gpd(y), fit_gpd(stretch * y)
    if not one.converged:
        return
    assert other.shape == pytest.approx(one.shape, abs=1e-7)
    assert other.scale == pytest.approx(stretch * one.scale, rel=1e-7)
    assert other.nll == pytest.approx(one.nll + 60 * np.log(stretch), abs=1e-6)
    assert other.interval("shape") == pytest.approx(one.interval("shape"), abs=1e-5)
    level = one.interval("return_level", horizon=600)
    assert other.interval("return_level", horizon=600) == pytest.approx(
        (stretch * level.low, stretch * level.high), rel=1e-5
    )


@settings(max_examples=40, deadline=None)
@given(seeds, shapes, stretches, shifts)
def test_gev_is_equivariant(seed: int, shape: float, stretch: float, shift: float) -> None:
    x = gev_quantile(np.random.default_rng(seed).random(60), 0.0, 1.0, shape)
    one, other = fit_gev(x), fit_gev(shift * stretch + stretch * x)
    if not one.converged:
        return
    assert other.shape == pytest.approx(one.shape, abs=1e-6)
    assert other.scale == pytest.approx(stretch * one.scale, rel=1e-6)
    assert other.location == pytest.approx(
        stretch * (shift + one.location), abs=1e-6 * stretch * (1 + abs(shift))
    )


@settings(max_examples=40, deadline=None)
@given(seeds, shifts)
def test_peaks_over_a_threshold_move_with_the_sample(seed: int, shift: float) -> None:
    x = np.random.default_rng(seed).exponential(size=300)
    one, other = peaks_over_threshold(x, k=40), peaks_over_threshold(x + shift, k=40)
    assert other.shape == pytest.approx(one.shape, abs=1e-6)
    assert other.return_level(5000) == pytest.approx(one.return_level(5000) + shift, abs=1e-5)
    shuffled = np.random.default_rng(seed + 1).permutation(x)
    assert peaks_over_threshold(shuffled, k=40).shape == pytest.approx(one.shape, abs=1e-8)


@settings(max_examples=40, deadline=None)
@given(seeds, shapes)
def test_levels_grow_with_the_horizon_and_stay_below_the_end(seed: int, shape: float) -> None:
    fit = fit_gpd(gpd_quantile(np.random.default_rng(seed).random(60), 1.0, shape))
    levels = fit.return_level(np.geomspace(2, 1e9, 20))
    assert (np.diff(levels) >= 0).all()
    assert (levels <= fit.endpoint()).all()
    assert fit.endpoint() >= fit.sample.max()
