"""Pairs of models on shared rows, against counting and resampling."""

import numpy as np
import pytest

from isonomy.audit.paired import (
    Comparison,
    SharedRows,
    compare_bias,
    compare_performance,
    influence_of,
    taken_together,
    values_of,
)
from isonomy.metrics import JointCounts, get_metric


def drawn(n: int = 4000, seed: int = 0):
    rng = np.random.default_rng(seed)
    side, y = rng.integers(0, 2, n), rng.integers(0, 2, n)
    core = rng.random(n)
    preds = [(core < 0.3 + 0.3 * y + 0.1 * k * side).astype(np.intp) for k in range(3)]
    preds[2] = np.where(rng.random(n) < 0.2, 1 - preds[2], preds[2])
    return side, y, preds


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_and_differing_rows(weighted: bool) -> None:
    side, y, preds = drawn()
    weight = np.random.default_rng(1).uniform(0.5, 2, y.size) if weighted else None
    shared = SharedRows.from_codes(side, y, preds, (0, 1), (1,), weight)
    counts = shared.counts()
    for k, p in enumerate(preds):
        cell = (side == 1) & (y == 0) & (p == 1)
        assert counts.n[k, 1, 0, 1] == cell.sum()
        if weight is not None:
            assert counts.w[k, 1, 0, 1] == pytest.approx(weight[cell].sum())
    assert shared.differing()[0, 2] == (preds[0] != preds[2]).sum()


@pytest.mark.parametrize("name", ["accuracy", "mcc", "spd", "di", "aod"])
def test_standard_errors_are_those_of_paired_resamples(name: str) -> None:
    side, y, preds = drawn()
    metric = get_metric(name)
    shared = SharedRows.from_codes(side, y, preds, (0, 1), (1,))
    counts = shared.counts()
    influence = influence_of(metric, counts)
    # a metric of rates does not change when all rows are doubled
    np.testing.assert_allclose((influence * counts.n).sum(axis=(1, 2, 3)), 0, atol=1e-6)
    joint = JointCounts.from_labels(
        y, preds[0], preds[2], sensitive_features={"g": side}, privileged=1
    ).resample(4000)
    one, other = (np.asarray(metric(c)) for c in (joint.base, joint.method))
    for sign in (-1.0, 1.0):
        spread = np.sqrt(shared.variance(influence, sign)[0, 2])
        assert spread == pytest.approx(np.std(one + sign * other), rel=0.06)
    np.testing.assert_allclose(values_of(metric, counts)[0], metric(joint_base(side, y, preds)))


def joint_base(side, y, preds):
    return JointCounts.from_labels(
        y, preds[0], preds[2], sensitive_features={"g": side}, privileged=1
    ).base


def test_a_bias_is_a_size() -> None:
    n = 2000
    side, y = np.repeat([0, 1], n), np.tile([0, 1], n)
    rng = np.random.default_rng(0)
    for_men = (rng.random(2 * n) < np.where(side == 1, 0.6, 0.4)).astype(np.intp)
    mirrored = (rng.random(2 * n) < np.where(side == 1, 0.4, 0.6)).astype(np.intp)
    even = (rng.random(2 * n) < 0.5).astype(np.intp)
    shared = SharedRows.from_codes(side, y, [for_men, mirrored, even], (0, 1), (1,))
    found = compare_bias(shared, get_metric("spd"))
    assert found.pvalue[0, 1] > 0.05  # gaps of 0.2 and -0.2 are one size
    assert found.pvalue[0, 2] < 1e-6
    assert found.difference[0, 2] > 0.1


def test_few_rows_and_few_differences() -> None:
    side, y, preds = drawn(200)
    shared = SharedRows.from_codes(np.where(np.arange(200) < 20, 0, 1), y, preds, (0, 1), (1,))
    assert np.isnan(compare_bias(shared, get_metric("spd")).pvalue).all()
    same = SharedRows.from_codes(side, y, [preds[0], preds[0]], (0, 1), (1,))
    assert compare_performance(same, get_metric("accuracy")).pvalue[0, 1] == 1


def test_both_goals_are_one_family() -> None:
    p = np.full((3, 3), 0.02)
    good, fair = taken_together(Comparison(p, p), Comparison(p, np.full((3, 3), np.nan)))
    assert good[0, 1] == pytest.approx(0.06)  # three tests; what is not tested does not count
    assert np.isnan(fair).all()
