"""Thresholds: the CV tests by hand and by simulation, the pictures and the automatic choice."""

import numpy as np
import pytest

from isonomy.errors import InputError, UnknownName
from isonomy.tails import (
    choose_threshold,
    cv_test,
    gpd_quantile,
    mean_excess,
    multiple_cv_test,
    peaks_over_threshold,
    stability,
)


def test_cv_by_hand() -> None:
    x = np.random.default_rng(0).exponential(size=300)
    test = cv_test(x)
    ordered = np.sort(x)[::-1]
    for i, k in enumerate(range(10, 51)):
        top = ordered[:k]
        assert test.cv[i] == pytest.approx(top.std(ddof=1) / (top - ordered[k]).mean(), rel=1e-9)
        assert test.raw[i] == pytest.approx(top.std(ddof=1) / top.mean(), rel=1e-9)
        assert test.limit[i] == pytest.approx(1 + 1.959964 / np.sqrt(k), rel=1e-6)
        assert test.raw_limit[i] == pytest.approx(1 + 1 / (4 * k))
    assert test.passed == bool((test.cv < test.limit).all())
    assert list(test.frame()["k"]) == list(range(10, 51))


@pytest.mark.parametrize(
    ("shape", "residual", "raw"),
    [(-0.5, 1.0, 1.0), (0.0, 0.93, 1.0), (0.2, 0.68, 0.997), (0.5, 0.20, 0.85)],
)
def test_how_often_each_form_passes(shape: float, residual: float, raw: float) -> None:
    # 51 top points that lie three scales above 0; published simulation, 1,500 repetitions
    rng = np.random.default_rng(1)
    y = 3.0 + gpd_quantile(rng.random((1500, 51)), 1.0, shape)
    test = cv_test(y)
    error = 4 * 0.5 / np.sqrt(1500)
    assert test.passed.mean() == pytest.approx(residual, abs=error)
    assert test.passed_as_published.mean() == pytest.approx(raw, abs=error)


def test_equal_values_pass_and_tiny_samples_do_not_run() -> None:
    assert cv_test(np.ones(60)).passed
    with pytest.raises(InputError, match="At least 51 values"):
        cv_test(np.arange(20.0))
    with pytest.raises(InputError, match="k_min must be"):
        cv_test(np.arange(90.0), k_min=60)


def test_multiple_thresholds() -> None:
    rng = np.random.default_rng(2)
    p = [
        multiple_cv_test(rng.exponential(size=150), resamples=199, random_state=i).p_value
        for i in range(60)
    ]
    assert np.mean(np.array(p) < 0.1) < 0.1 + 3 * np.sqrt(0.09 / 60)
    heavy = gpd_quantile((np.arange(400) + 0.5) / 400, 1.0, 0.4)
    assert multiple_cv_test(heavy, resamples=199).p_value < 0.01
    # the law itself, its shape estimated: nothing to object to
    free = multiple_cv_test(gpd_quantile(rng.random(400), 1.0, -0.3), shape=None, resamples=199)
    assert free.shape == pytest.approx(-0.3, abs=0.15)
    assert free.p_value > 0.05
    assert free.k[0] == 400
    assert free.k[-1] == 16
    with pytest.raises(InputError, match="More than 16"):
        multiple_cv_test(np.arange(5.0))


def test_statistic_by_hand() -> None:
    y = np.random.default_rng(3).exponential(size=100)
    test = multiple_cv_test(y, thresholds=2, fewest=25, resamples=9)
    ordered = np.append(np.sort(y)[::-1], 0.0)
    total = 0.0
    for k, weight in ((100, 1.0), (50, 0.5), (25, 0.25)):
        top = ordered[:k]
        cv = top.std(ddof=1) / (top - ordered[k]).mean()
        total += weight * (cv - 1.0) ** 2
    assert test.statistic == pytest.approx(100 * total)


def test_mean_excess_by_hand() -> None:
    x = np.random.default_rng(4).exponential(size=500)
    frame = mean_excess(x, ks=[20, 100])
    ordered = np.sort(x)[::-1]
    for row, k in enumerate((20, 100)):
        over = ordered[:k] - ordered[k]
        assert frame["mean_excess"][row] == pytest.approx(over.mean())
        half = 1.959964 * over.std(ddof=1) / np.sqrt(k)
        assert frame["high"][row] - frame["mean_excess"][row] == pytest.approx(half, rel=1e-6)


def test_stability_is_the_fit_at_each_threshold() -> None:
    x = np.random.default_rng(5).exponential(size=500)
    frame = stability(x, ks=[30, 60])
    fit = peaks_over_threshold(x, k=60)
    assert frame["shape"][1] == fit.shape
    assert frame["low"][1] == pytest.approx(fit.interval("shape").low)
    assert frame["modified_scale"][1] == pytest.approx(fit.scale - fit.shape * fit.threshold)


@pytest.mark.parametrize("rule", ["forward_stop", "cv"])
def test_the_choice_stops_where_the_tail_begins(rule: str) -> None:
    rng = np.random.default_rng(6)
    x = np.concatenate([rng.normal(0.0, 0.02, 1600), 0.5 + rng.exponential(1.0, 400)])
    choice = choose_threshold(x, rule=rule, ks=[100, 200, 350, 600, 900], resamples=99)
    assert choice.k <= 400
    assert choice.threshold >= 0.5
    assert choice.share == choice.k / 2000
    assert choice.table["p_value"].iloc[0] < 0.05
    again = choose_threshold(x, rule=rule, ks=[100, 200, 350, 600, 900], resamples=99)
    assert again.k == choice.k


def test_a_pure_tail_is_mostly_taken_whole() -> None:
    rng = np.random.default_rng(7)
    chosen = [
        choose_threshold(rng.exponential(size=800), ks=[50, 100, 200], resamples=99)
        for _ in range(8)
    ]
    assert sum(choice.k == 200 for choice in chosen) >= 6  # each is rejected once in twenty
    assert "lowest threshold" in chosen[0].reason


def test_when_nothing_fits_the_choice_says_so() -> None:
    steps = np.repeat(np.arange(5.0), 100)
    choice = choose_threshold(steps, ks=[50, 150], resamples=19)
    assert "no candidate passes" in choice.reason
    with pytest.raises(UnknownName, match="rule for a threshold"):
        choose_threshold(steps, rule="eye")
    with pytest.raises(InputError, match="Every k must lie"):
        choose_threshold(steps, ks=[1])


def test_too_few_values_for_the_cv_rule() -> None:
    with pytest.raises(InputError, match="more than 16"):
        choose_threshold(np.random.default_rng(0).exponential(size=15), rule="cv")
