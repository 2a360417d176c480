"""Calibration against closed forms, exact binomial sums and scikit-learn."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from isonomy.stats import corrected_calibration_error, logistic_calibration, spiegelhalter_z
from isonomy.stats.calibration import _absolute_gap


@pytest.fixture
def drawn():
    rng = np.random.default_rng(3)
    score = rng.beta(2, 3, 300)
    return (rng.random(300) < score**1.3).astype(int), score, rng.uniform(0.5, 2.0, 300)


@pytest.mark.parametrize(("n", "p", "score"), [(7, 0.1, 0.3), (20, 0.5, 0.5), (5, 0.9, 0.0), (9, 0.2, 1.0), (3, 0.0, 0.4)])  # fmt: skip
def test_the_gap_of_binomial_labels_is_the_exact_sum(n: int, p: float, score: float) -> None:
    x = np.arange(n + 1)
    chance, gap = stats.binom.pmf(x, n, p), np.abs(x / n - score)
    mean, variance = _absolute_gap(np.array(p), np.array(score), np.array(float(n)))
    assert mean == pytest.approx(chance @ gap, abs=1e-12)
    assert variance == pytest.approx(chance @ gap**2 - (chance @ gap) ** 2, abs=1e-12)


def test_slope_and_intercept_against_scikit_learn(drawn) -> None:
    y, score, weight = drawn
    slope, intercept = logistic_calibration(y, score, weight)
    fit = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000)
    fit.fit(logit(score)[:, None], y, sample_weight=weight)
    assert slope.value == pytest.approx(fit.coef_[0, 0], abs=1e-6)
    # the intercept makes the weighted mean of the scores that of the labels
    shifted = 1 / (1 + np.exp(-intercept.value - logit(score)))
    assert weight @ (y - shifted) == pytest.approx(0, abs=1e-9)
    assert slope.low < slope.value < slope.high


def test_one_score_has_a_closed_form() -> None:
    y = np.r_[np.ones(30), np.zeros(70)]
    slope, intercept = logistic_calibration(y, np.full(100, 0.5))
    assert np.isnan(slope.value)
    assert intercept.value == pytest.approx(logit(0.3), abs=1e-9)
    error = 1.959964 / np.sqrt(100 * 0.3 * 0.7)
    assert intercept.high - intercept.value == pytest.approx(error, rel=1e-6)


def test_entries_that_stand_for_several_rows(drawn) -> None:
    y, score, _ = drawn
    score = np.round(score, 1).clip(0.1, 0.9)
    cells, times = np.unique(np.c_[y, score], axis=0, return_counts=True)
    for a, b in zip(
        (*logistic_calibration(y, score), spiegelhalter_z(y, score)),
        (*logistic_calibration(*cells.T, rows=times), spiegelhalter_z(*cells.T, rows=times)),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-9)


def test_spiegelhalter_by_hand() -> None:
    # Σ (y - s)(1 - 2s) = 0.8 * 0.6 - 0.4 * 0.2; variances 0.36 * 0.16 + 0.04 * 0.24
    found = spiegelhalter_z([1, 0], [0.2, 0.4])
    assert found == pytest.approx((0.48 - 0.08) / np.sqrt(0.36 * 0.16 + 0.04 * 0.24))
    assert np.isnan(spiegelhalter_z([1, 0], [0.5, 0.5]))


def test_what_has_no_slope() -> None:
    for y, score in (([1, 1], [0.2, 0.4]), ([0, 1, 0], [0.0, 0.5, 0.7])):
        assert np.isnan([e.value for e in logistic_calibration(y, score)]).all()
    slope, intercept = logistic_calibration([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.7])  # separated
    assert np.isnan(slope.value)
    assert np.isfinite(intercept.value)


def test_the_error_of_many_rows_is_the_plain_one() -> None:
    share, score = np.array([0.1, 0.5, 0.9]), np.array([0.2, 0.5, 0.7])
    found = corrected_calibration_error(share, score, np.full(3, 1e7))
    np.testing.assert_allclose(found, 0.1, atol=2e-3)


def test_samples_in_a_batch_and_empty_bins() -> None:
    rng = np.random.default_rng(0)
    score, rows = rng.random((20, 6)), rng.integers(0, 30, (20, 6))
    rows[:, 0] = 5
    with np.errstate(invalid="ignore"):
        share = rng.binomial(rows, score) / rows
    found = np.array(corrected_calibration_error(share, score, rows))
    alone = [corrected_calibration_error(*row) for row in zip(share, score, rows, strict=True)]
    np.testing.assert_allclose(found, np.array(alone).T, atol=1e-12)
    assert (found[1] <= found[0] + 1e-12).all()
    assert (found[0] <= found[2] + 1e-12).all()


def test_without_an_interval_the_value_is_the_same() -> None:
    share, score = np.array([[0.1, 0.6, 0.8], [0.4, 0.5, 0.9]]), np.array([0.2, 0.5, 0.7])
    given = share, score, np.full(3, 200.0)
    whole, alone = corrected_calibration_error(*given), corrected_calibration_error(*given, confidence=None)  # fmt: skip
    np.testing.assert_array_equal(alone.value, whole.value)
    assert (alone.value > 0).all()
    assert np.isnan([alone.low, alone.high]).all()
