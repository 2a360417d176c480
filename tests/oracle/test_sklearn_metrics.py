"""Our performance metrics against scikit-learn, live."""

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.exceptions import UndefinedMetricWarning as SklearnUndefined

from isonomy.errors import UndefinedMetricWarning
from isonomy.metrics import ZERO_DIVISION_METRICS, Counts, get_metric

FAVORABLE = {"binary": 1, "strings": "good", "three": "low", "favorable 0": 0, "weighted": 1}


def draw(name, n=2500):
    rng = np.random.default_rng(sorted(FAVORABLE).index(name))
    if name == "three":
        y = rng.choice(["high", "low", "middle"], n, p=[0.2, 0.5, 0.3])
        p = np.where(rng.random(n) < 0.6, y, rng.choice(["high", "low", "middle"], n))
    else:
        y = (rng.random(n) < 0.35).astype(int)
        p = np.where(rng.random(n) < 0.75, y, 1 - y)
    if name == "strings":
        y, p = np.array(["bad", "good"])[y], np.array(["bad", "good"])[p]
    return {
        "y": y,
        "p": p,
        "g": rng.choice(["a", "b", "c"], n),
        "w": rng.gamma(2.0, 3.0, n) if name == "weighted" else None,
        "score": np.clip(rng.beta(2, 2, n) + 0.2 * (y == FAVORABLE[name]), 0, 1),
    }


@pytest.fixture(params=FAVORABLE)
def case(request):
    rows = draw(request.param)
    favorable = FAVORABLE[request.param]
    counts = Counts.from_labels(
        rows["y"],
        rows["p"],
        sensitive_features=rows["g"],
        sample_weight=rows["w"],
        favorable=favorable,
    )
    return rows, favorable, counts


def close(value, expected):
    assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("accuracy", sk.accuracy_score),
        ("error_rate", sk.zero_one_loss),
        ("balanced_accuracy", sk.balanced_accuracy_score),
        ("mcc", sk.matthews_corrcoef),
    ],
)
def test_whole_confusion_matrix(case, ours, theirs):
    rows, _, counts = case
    close(get_metric(ours)(counts), theirs(rows["y"], rows["p"], sample_weight=rows["w"]))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("precision", sk.precision_score), ("recall", sk.recall_score), ("f1", sk.f1_score)],
)
def test_of_one_class_and_macro(case, ours, theirs):
    rows, favorable, counts = case
    y, p = rows["y"] == favorable, rows["p"] == favorable
    for side, which in (("favorable", True), ("unfavorable", False)):
        expected = theirs(y, p, pos_label=which, sample_weight=rows["w"])
        close(get_metric(f"{side}_{ours}")(counts), expected)
    expected = theirs(rows["y"], rows["p"], average="macro", sample_weight=rows["w"])
    close(get_metric(f"macro_{ours}")(counts), expected)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("roc_auc", sk.roc_auc_score),
        ("brier_score", sk.brier_score_loss),
        ("log_loss", sk.log_loss),
    ],
)
def test_scores(case, ours, theirs):
    rows, favorable, _ = case
    expected = theirs(rows["y"] == favorable, rows["score"], sample_weight=rows["w"])
    value = get_metric(ours)(rows["y"], rows["score"], favorable=favorable, sample_weight=rows["w"])
    close(value, expected)


def test_tied_and_extreme_scores():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 500)
    score = np.rint(np.clip(0.3 * y + rng.random(500), 0, 1) * 4) / 4
    assert {0.0, 1.0} <= set(score)
    close(get_metric("roc_auc")(y, score), sk.roc_auc_score(y, score))
    close(get_metric("log_loss")(y, score), sk.log_loss(y, score))


def test_auc_of_hard_labels_is_the_named_variant(case):
    rows, favorable, counts = case
    expected = sk.roc_auc_score(
        rows["y"] == favorable, rows["p"] == favorable, sample_weight=rows["w"]
    )
    close(get_metric("roc_auc_of_labels")(counts), expected)


def chen(y, p):
    """Chen's twelve as their scripts call them: scikit-learn's defaults, 0 where nothing can be divided."""
    out = [sk.accuracy_score(y, p)]
    for score in (sk.recall_score, sk.precision_score, sk.f1_score):
        out += [
            score(y, p, pos_label=1, zero_division=0),
            score(y, p, pos_label=0, zero_division=0),
            score(y, p, average="macro", zero_division=0),
        ]
    return [*out, sk.matthews_corrcoef(y, p), sk.roc_auc_score(y, p)]


@pytest.mark.parametrize("constant", [None, 0, 1])
def test_chen_2022(constant):
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 400)
    p = np.where(rng.random(400) < 0.7, y, 1 - y) if constant is None else np.full(400, constant)
    counts = Counts.from_labels(y, p, sensitive_features=rng.choice(["a", "b"], 400))
    ours = [get_metric(name)(counts) for name in ZERO_DIVISION_METRICS]
    np.testing.assert_allclose(ours, chen(y, p), rtol=0, atol=1e-12)


def test_a_class_never_predicted_is_undefined_unless_the_variant_is_named():
    y, p, g = [0, 1, 0, 1], [0, 0, 0, 0], ["a", "a", "b", "b"]
    counts = Counts.from_labels(y, p, sensitive_features=g)
    for name, theirs in (("precision", sk.precision_score), ("mcc", None)):
        with pytest.warns(UndefinedMetricWarning, match="no row has the prediction 1"):
            assert np.isnan(get_metric(name)(counts))
        if theirs:
            with pytest.warns(SklearnUndefined):
                assert theirs(y, p) == 0.0
        assert get_metric(f"{name}(zero_division=0)")(counts) == 0.0
    assert sk.matthews_corrcoef(y, p) == 0.0
