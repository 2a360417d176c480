"""Scores against scikit-learn; histograms against the exact values."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk

from isonomy import Counts, get_metric
from isonomy.errors import InputError, UndefinedMetricWarning
from isonomy.metrics import ScoreTable


@pytest.fixture
def drawn():
    rng = np.random.default_rng(5)
    p = rng.beta(2, 3, 3000).round(3)  # ties
    y = (rng.random(3000) < p).astype(int)
    return y, p, rng.integers(0, 3, 3000), rng.uniform(0.2, 2.0, 3000)


@pytest.mark.parametrize("weighted", [False, True])
def test_against_scikit_learn(drawn, weighted: bool) -> None:
    y, p, _, w = drawn
    w = w if weighted else None
    known = {"sample_weight": w}
    assert get_metric("roc_auc")(y, p, **known) == pytest.approx(
        sk.roc_auc_score(y, p, **known), abs=1e-12
    )
    assert get_metric("brier")(y, p, **known) == pytest.approx(
        sk.brier_score_loss(y, p, **known), abs=1e-12
    )
    assert get_metric("log_loss")(y, p, **known) == pytest.approx(
        sk.log_loss(y, p, **known), abs=1e-12
    )


def test_calibration_error_by_hand() -> None:
    y = np.array([0, 1, 1, 1])
    p = np.array([0.2, 0.4, 0.6, 0.8])
    # two bins of two: |0.5 - 0.3| and |1 - 0.7|, half each
    assert get_metric("ece")(y, p, bins=2) == pytest.approx(0.5 * 0.2 + 0.5 * 0.3)


def test_calibration_error_does_not_see_row_order(drawn) -> None:
    y, p, _, _ = drawn
    order = np.random.default_rng(0).permutation(y.size)
    metric = get_metric("calibration_error")
    assert metric(y, p) == pytest.approx(metric(y[order], p[order]), abs=1e-12)


def test_a_calibrated_model_is_nearly_calibrated(drawn) -> None:
    y, p, _, _ = drawn
    assert get_metric("ece")(y, p) < 0.04 < get_metric("ece")(y, p**2)


def test_histogram_agrees(drawn) -> None:
    y, p, s, w = drawn
    groups = ((0,), (1,), (2,))
    table = ScoreTable.from_arrays(y == 1, p, s, groups, w, bins=5000)
    pooled = table.pooled().values()
    for name, value in pooled.items():
        assert value[0] == pytest.approx(get_metric(name)(y, p, sample_weight=w), abs=1e-12)
    for g in range(3):
        mine = {"sample_weight": w[s == g]}
        assert table.auc()[g] == pytest.approx(get_metric("auc")(y[s == g], p[s == g], **mine))
        assert table.brier()[g] == pytest.approx(get_metric("brier")(y[s == g], p[s == g], **mine))


def test_coarse_histograms_stay_within_their_stated_error(drawn) -> None:
    y, p, s, _ = drawn
    table = ScoreTable.from_arrays(y == 1, p, s, ((0,), (1,), (2,)), bins=5000)
    coarse = table.coarse(20)
    assert coarse.n.shape[-1] == 20
    assert (np.abs(coarse.auc() - table.auc()) <= coarse.auc_error()).all()
    np.testing.assert_allclose(coarse.brier(), table.brier(), atol=1e-12)


def test_histogram_made_by_the_file(drawn, tmp_path) -> None:
    y, p, s, w = drawn
    frame = pd.DataFrame({"y": y, "yhat": (p > 0.5).astype(int), "p": p, "s": s, "w": w})
    frame.to_parquet(tmp_path / "p.parquet")
    names = {"label": "y", "weight": "w"}
    counts = Counts.from_query(
        tmp_path / "p.parquet", prediction="yhat", sensitive_features="s", **names
    )
    table = ScoreTable.from_query(tmp_path / "p.parquet", counts, score="p", **names)
    assert table.probabilities
    np.testing.assert_allclose(table.n.sum(axis=(1, 2)), np.bincount(s))
    for g in range(3):
        mine = {"sample_weight": w[s == g]}
        exact = get_metric("auc")(y[s == g], p[s == g], **mine)
        assert abs(table.auc()[g] - exact) <= table.auc_error()[g] + 1e-12
        assert table.brier()[g] == pytest.approx(get_metric("brier")(y[s == g], p[s == g], **mine))
        assert table.log_loss()[g] == pytest.approx(
            get_metric("log_loss")(y[s == g], p[s == g], **mine)
        )


def test_what_scores_must_be() -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        get_metric("brier")([0, 1], [-1.0, 2.0])
    assert get_metric("auc")([0, 1], [-1.0, 2.0]) == 1.0
    with pytest.raises(InputError, match="finite"):
        get_metric("auc")([0, 1], [np.nan, 2.0])
    with pytest.warns(UndefinedMetricWarning, match="two are needed"):
        assert np.isnan(get_metric("auc")([1, 1], [0.2, 0.3]))
