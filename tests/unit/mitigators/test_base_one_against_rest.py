"""More than two classes, one against the rest: what is fitted, predicted, and made more equal."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from isonomy.errors import InputError
from isonomy.mitigators import MITIGATORS, ExponentiatedGradient, FairnessConstrainedThresholds


def case(n: int = 4000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    s = rng.integers(0, 2, n)
    skill = rng.normal(size=n) + 0.8 * s
    y = np.digitize(skill + rng.normal(0, 1, n), [0.2, 1.2])
    return np.column_stack([s, skill]), np.array(["low", "middle", "top"])[y], s


def gap(labels: np.ndarray, s: np.ndarray) -> float:
    """The largest gap in how often a class is given."""
    return max(
        abs((labels[s == 1] == c).mean() - (labels[s == 0] == c).mean()) for c in np.unique(labels)
    )


@pytest.mark.parametrize("method", [FairnessConstrainedThresholds, ExponentiatedGradient])
def test_gaps_of_all_classes_fall(method: type) -> None:
    if method is ExponentiatedGradient:
        pytest.importorskip("fairlearn")
    X, y, s = case()
    before = gap(LogisticRegression().fit(X, y).predict(X), s)
    model = method(LogisticRegression(), sensitive_columns=[0]).fit(X, y, sensitive_features=s)
    groups = s if model.needs_sensitive_at_predict else None
    share = model.predict_proba(X, sensitive_features=groups)
    labels = model.predict(X, sensitive_features=groups)
    assert list(model.classes_) == ["low", "middle", "top"]
    assert len(model.one_for_each_) == 3
    np.testing.assert_allclose(share.sum(axis=1), 1)
    np.testing.assert_array_equal(labels, model.classes_[share.argmax(axis=1)])
    assert before > 0.3
    assert gap(labels, s) < 0.4 * before
    assert (labels == y).mean() > 0.45


def test_each_is_the_mitigator_of_its_class() -> None:
    X, y, s = case(600)
    model = FairnessConstrainedThresholds().fit(X, y, sensitive_features=s)
    alone = FairnessConstrainedThresholds(favorable=True).fit(X, y == "top", sensitive_features=s)
    np.testing.assert_array_equal(
        model.one_for_each_[2].predict_proba(X, sensitive_features=s),
        alone.predict_proba(X, sensitive_features=s),
    )
    again = model.fit(X, y == "top", sensitive_features=s)  # two classes leave nothing behind
    assert again.one_for_each_ == []
    assert len(again.predict_proba(X, sensitive_features=s)[0]) == 2


def test_numbers_that_are_no_classes_are_refused() -> None:
    X, _, s = case(200)
    with pytest.raises(InputError, match="y must hold classes"):
        FairnessConstrainedThresholds().fit(X, X[:, 1], sensitive_features=s)


def test_every_method_says_how_many_classes_it_takes() -> None:
    for kind in MITIGATORS.values():
        assert not (kind.multi_class and kind.one_against_rest)
