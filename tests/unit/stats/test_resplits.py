"""Means over repeated splits, by hand and by simulation of the model behind them."""

import numpy as np
import pytest
import scipy

from isonomy.errors import InputError
from isonomy.stats import (
    pairs_over_splits,
    scott_knott_paired,
    selection_bias,
    split_mean,
    split_weights,
)

RUNS = np.random.default_rng(3).normal(0.02, 0.03, size=(4, 10))


def test_the_corrected_t_is_nadeau_and_bengios() -> None:
    found = split_mean(RUNS, test_share=0.3)
    error = np.sqrt((1 / 10 + 0.3 / 0.7) * RUNS.var(axis=-1, ddof=1))
    t = RUNS.mean(axis=-1) / error
    assert found.error == pytest.approx(error)
    assert found.pvalue == pytest.approx(2 * scipy.stats.t.sf(np.abs(t), 9))
    assert found.low == pytest.approx(RUNS.mean(axis=-1) - scipy.stats.t.ppf(0.975, 9) * error)


def test_without_overlap_to_speak_of_it_is_the_paired_t_test() -> None:
    found = split_mean(RUNS, test_share=1e-9)
    assert found.pvalue == pytest.approx(scipy.stats.ttest_1samp(RUNS, 0, axis=-1).pvalue)


def test_p_value_and_interval_agree() -> None:
    for within in (None, np.full(10, 0.0004)):
        for values in RUNS:
            p = float(split_mean(values, within=within).pvalue)
            edge = split_mean(values, within=within, confidence=1 - p)
            assert min(abs(edge.low), abs(edge.high)) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("trained", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("repeats", [10, 50])
def test_training_and_test_rows_both_count(trained: float, repeats: int) -> None:
    """Values that are a mean over training rows plus a mean over test rows: the model itself."""
    rng = np.random.default_rng(0)
    n, count = 400, 500
    a, b = np.sqrt(trained) * rng.normal(size=(count, n)), rng.normal(size=(count, n))
    train = rng.permuted(np.tile(np.arange(n), (count, repeats, 1)), axis=-1) < 280
    tested = 1.0 - train
    values = np.einsum("dn,drn->dr", a, train) / 280 + np.einsum("dn,drn->dr", b, tested) / 120
    middle = np.einsum("dn,drn->dr", b, tested) / 120
    within = (np.einsum("dn,drn->dr", b**2, tested) / 120 - middle**2) / 119
    both = split_mean(values, within=within)
    covered = np.mean((both.low <= 0) & (both.high >= 0))
    assert covered >= 0.93
    # Nadeau and Bengio's variance is right where only the test rows count
    plain = split_mean(values)
    held = np.mean((plain.low <= 0) & (plain.high >= 0))
    assert held >= 0.92 if trained == 0 else held < covered - 0.03


def test_one_split_has_its_rows_only() -> None:
    assert np.isnan(split_mean([0.1]).low)
    found = split_mean([0.1], within=[0.0025])
    assert (float(found.low), float(found.high)) == pytest.approx((0.002, 0.198), abs=1e-3)
    with pytest.raises(InputError, match="one split or more"):
        split_mean([])


def test_values_that_do_not_vary() -> None:
    assert split_mean([0.0, 0.0, 0.0]).pvalue == 1.0
    assert split_mean([0.5, 0.5, 0.5]).pvalue == 0.0


def test_weighted_means_vary_as_the_corrected_t_says() -> None:
    drawn = split_weights(10, 200_000, random_state=1) @ RUNS[0]
    found = split_mean(RUNS[0])
    assert np.quantile(drawn, [0.025, 0.975]) == pytest.approx([found.low, found.high], abs=2e-3)
    with pytest.raises(InputError, match="Two splits or more"):
        split_weights(1, 5)


def test_pairs_are_corrected_by_holm_over_all() -> None:
    p = pairs_over_splits(RUNS.T)
    assert p == pytest.approx(p.T)
    assert np.diag(p).tolist() == [1.0] * 4
    alone = split_mean(RUNS[0] - RUNS[1]).pvalue
    assert pairs_over_splits(RUNS[:2].T)[0, 1] == pytest.approx(alone)
    assert p[0, 1] >= alone
    with pytest.raises(InputError, match="table"):
        pairs_over_splits([1.0, 2.0])


def test_equal_treatments_are_one_group() -> None:
    rng = np.random.default_rng(2)
    split = rng.normal(size=(20, 1))  # easy and hard splits, for all alike
    runs = split + rng.normal([0, 0, 1, 1, 1], 0.1, size=(20, 5))
    found = scott_knott_paired(runs, labels=list("abcde"), larger_is_better=True)
    assert [set(g) for g in found.groups] == [set("cde"), set("ab")]
    parted = [len(scott_knott_paired(rng.normal(size=(10, 8))).groups) > 1 for _ in range(200)]
    assert np.mean(parted) <= 0.05


def test_luck_is_what_the_best_of_equals_shows() -> None:
    rng = np.random.default_rng(4)
    raw, less = [], []
    for _ in range(300):
        # splits of one data set: what they share decides who looks best
        runs = rng.normal(0, np.sqrt(0.3 / 0.7), size=8) + rng.normal(size=(10, 8))
        best = runs.mean(axis=0).argmax()
        raw.append(runs[:, best].mean())
        less.append(raw[-1] - selection_bias(runs, runs[..., None], draws=400)[0])
    assert np.mean(raw) > 0.9
    assert abs(np.mean(less)) < 0.25 * np.mean(raw)
    clear = rng.normal([9.0, 0, 0], 0.1, size=(10, 3))
    assert selection_bias(clear, clear[..., None])[0] == pytest.approx(0.0, abs=0.01)
