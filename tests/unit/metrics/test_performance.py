"""Performance of hard labels against scikit-learn, weights and many classes included."""

import numpy as np
import pytest
from sklearn import metrics as sk

from isonomy import Counts, get_metric
from isonomy.errors import UndefinedMetricWarning
from isonomy.metrics import ZERO_DIVISION_METRICS


def draw(classes: int, seed: int = 0, n: int = 400):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    yhat = np.where(rng.random(n) < 0.6, y, rng.integers(0, classes, n))
    return y, yhat, rng.integers(0, 2, n), rng.uniform(0.1, 3.0, n)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_against_scikit_learn(classes: int, weighted: bool) -> None:
    y, yhat, s, w = draw(classes)
    w = w if weighted else None
    counts = Counts.from_labels(y, yhat, sensitive_features=s, sample_weight=w, favorable=1)
    macro = {"average": "macro", "sample_weight": w}
    expected = {
        "accuracy": sk.accuracy_score(y, yhat, sample_weight=w),
        "balanced_accuracy": sk.balanced_accuracy_score(y, yhat, sample_weight=w),
        "macro_precision": sk.precision_score(y, yhat, **macro),
        "macro_recall": sk.recall_score(y, yhat, **macro),
        "macro_f1": sk.f1_score(y, yhat, **macro),
        "mcc": sk.matthews_corrcoef(y, yhat, sample_weight=w),
        "favorable_precision": sk.precision_score(y == 1, yhat == 1, sample_weight=w),
        "favorable_recall": sk.recall_score(y == 1, yhat == 1, sample_weight=w),
        "favorable_f1": sk.f1_score(y == 1, yhat == 1, sample_weight=w),
        "unfavorable_precision": sk.precision_score(y != 1, yhat != 1, sample_weight=w),
        "unfavorable_recall": sk.recall_score(y != 1, yhat != 1, sample_weight=w),
        "unfavorable_f1": sk.f1_score(y != 1, yhat != 1, sample_weight=w),
        "roc_auc_of_labels": sk.roc_auc_score(y == 1, yhat == 1, sample_weight=w),
        "error_rate": sk.zero_one_loss(y, yhat, sample_weight=w),
        "selection_rate": np.average(yhat == 1, weights=w),
        "base_rate": np.average(y == 1, weights=w),
    }
    for name, value in expected.items():
        assert get_metric(name)(counts) == pytest.approx(value, abs=1e-12), name


def test_chens_twelve_count_undefined_as_zero() -> None:
    y, _, s, _ = draw(2)
    counts = Counts.from_labels(y, np.zeros_like(y), sensitive_features=s)
    values = dict(
        zip(
            ZERO_DIVISION_METRICS,
            (get_metric(m)(counts) for m in ZERO_DIVISION_METRICS),
            strict=True,
        )
    )
    kwargs = {"zero_division": 0}
    assert len(values) == 12
    assert values["favorable_precision(zero_division=0)"] == 0
    assert values["macro_precision(zero_division=0)"] == pytest.approx(
        sk.precision_score(y, np.zeros_like(y), average="macro", **kwargs)
    )
    assert values["macro_f1(zero_division=0)"] == pytest.approx(
        sk.f1_score(y, np.zeros_like(y), average="macro", **kwargs)
    )
    assert values["mcc(zero_division=0)"] == sk.matthews_corrcoef(y, np.zeros_like(y)) == 0
    assert values["roc_auc_of_labels(zero_division=0)"] == 0.5


@pytest.mark.parametrize("name", ["favorable_precision", "macro_precision", "mcc"])
def test_a_constant_classifier_is_undefined_not_zero(name: str) -> None:
    y, _, s, _ = draw(2)
    counts = Counts.from_labels(y, np.zeros_like(y), sensitive_features=s)
    with pytest.warns(UndefinedMetricWarning, match="no row has the prediction 1"):
        assert np.isnan(get_metric(name)(counts))
