"""Samples that are no tail are named, not fitted; values in steps are spread."""

import numpy as np
import pytest

from isonomy.tails import diagnose, fit_gev, fit_gpd, peaks_over_threshold, tail_test


@pytest.mark.parametrize("fit", [fit_gpd, fit_gev])
def test_a_constant_is_named(fit) -> None:
    out = fit(np.full(50, 0.25))
    assert out.degenerate == "all 50 values equal 0.25: nothing lies beyond it to extrapolate"
    assert np.isnan([out.scale, out.shape, out.nll]).all()
    assert not out.converged
    assert np.isnan(out.return_level(100))
    assert np.isnan(out.endpoint())


def test_few_distinct_values_are_named_with_the_largest() -> None:
    values = np.concatenate([np.zeros(900), np.repeat([0.1, 0.2, 0.3], [60, 30, 10])])
    fit = peaks_over_threshold(values, k=50)
    assert "only 3 distinct values among 50" in fit.degenerate
    assert "the largest, 0.3, occurs 10 time(s)" in fit.degenerate


def test_an_attained_maximum_is_named() -> None:
    values = np.concatenate([np.random.default_rng(0).random(44), np.full(6, 1.5)])
    fit = fit_gpd(values, threshold=1.0)
    assert fit.degenerate == (
        "the largest value, 2.5, is attained by 6 of 50 observations: it is the end of the tail, "
        "not a draw from one"
    )
    # four copies of 50 may be rounding
    assert (
        fit_gpd(np.concatenate([np.random.default_rng(0).random(46), np.full(4, 1.5)])).degenerate
        == ""
    )


def test_a_small_sample_without_ties_is_fitted() -> None:
    assert fit_gpd([0.1, 0.4, 0.5, 0.9, 1.7, 2.2]).degenerate == ""


def test_only_the_degenerate_of_a_batch_are_left_out() -> None:
    rng = np.random.default_rng(1)
    batch = np.stack([rng.exponential(size=30), np.ones(30), rng.exponential(size=30)])
    fit = fit_gpd(batch)
    assert (fit.degenerate != "").tolist() == [False, True, False]
    assert np.isnan(fit.shape).tolist() == [False, True, False]
    assert fit.shape[2] == pytest.approx(fit_gpd(batch[2]).shape)


def test_a_comparison_says_why_there_is_none() -> None:
    fine = fit_gpd(np.random.default_rng(2).exponential(size=50))
    test = tail_test(fine, fit_gpd(np.ones(50)), horizon=500)
    assert np.isnan([test.difference, test.low, test.high, test.p_value]).all()
    assert test.reason.startswith("all 50 values equal 1")


def test_the_diagnosis_repeats_the_sentence() -> None:
    diagnosis = diagnose(fit_gpd(np.ones(50)))
    assert diagnosis.type == "degenerate"
    assert diagnosis.evidence == diagnosis.degenerate
    assert diagnosis.horizon == 0
    assert diagnosis.goodness is None
    assert diagnosis.distinct == 1


def test_a_tail_that_begins_with_a_step_is_named_and_not_fitted() -> None:
    """A lottery of models: most of the largest values are 0, the rest scattered above it."""
    values = np.concatenate([np.zeros(500), np.linspace(0.1, 0.8, 15)])
    fit = peaks_over_threshold(values, k=50, upper=1.0)
    assert "35 of 50 values equal the smallest, 0" in fit.degenerate
    assert np.isnan(fit.shape)
    assert "35 of 50" in peaks_over_threshold(values, k=50, protocol="as_published").degenerate
    apart = np.concatenate([np.zeros(500), np.linspace(0.1, 0.8, 60)])
    assert not peaks_over_threshold(apart, k=50, upper=1.0).degenerate


def test_tied_values_are_spread_within_half_a_step() -> None:
    values = np.random.default_rng(3).exponential(0.1, 400)
    steps = np.round(values, 2)
    fit = peaks_over_threshold(steps, k=50, upper=1.0)
    assert fit.step == pytest.approx(0.01)
    assert np.unique(fit.sample).size == 50
    near = np.sort(fit.sample + fit.threshold) - np.sort(steps)[-50:]
    assert np.abs(near).max() <= 0.01  # half a step, and half a step of the value next to it
    shuffled = np.random.default_rng(4).permutation(steps)
    again = peaks_over_threshold(np.stack([values, shuffled]), k=50, upper=1.0)
    assert again.shape[1] == fit.shape  # by itself and in a batch, whatever the order
    assert again.step[0] == 0
    assert again.shape[0] == peaks_over_threshold(values, k=50).shape
    assert peaks_over_threshold(steps, k=50, random_state=1).shape != fit.shape
    over = peaks_over_threshold(steps, threshold=0.2)
    assert over.k == (steps > 0.2).sum()
    assert over.step == pytest.approx(0.01)
    assert diagnose(fit, resamples=19).ties > 25  # what was seen, not what was fitted
