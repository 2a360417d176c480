"""Grid search: fairlearn's choice, exactly, behind our contract."""

from contextlib import nullcontext

import fairlearn.reductions as fr
import numpy as np
import pytest
from sklearn.base import ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from isonomy.errors import UnmetConstraintWarning
from isonomy.mitigators import GridSearch

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:fairlearn"),
    pytest.mark.filterwarnings("ignore:grid_search keeps the original"),
]


def case(groups: int = 2, n: int = 300) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    s = np.arange(n) % groups
    X = np.column_stack([s, rng.normal(s, 1.0), rng.normal(size=n)])
    return X, (X[:, 1] + X[:, 2] + rng.normal(0, 1, n) > 0.6).astype(int), s


@pytest.mark.parametrize(
    ("constraint", "moment"),
    [
        ("demographic_parity", fr.DemographicParity()),
        ("equalized_odds", fr.EqualizedOdds()),
        ("error_rate_parity", fr.ErrorRateParity()),
        ("equal_opportunity", fr.TruePositiveRateParity()),
    ],
)
def test_the_choice_is_fairlearns_own(constraint: str, moment: fr.Moment) -> None:
    X, y, s = case()
    options = {"grid_size": 9, "grid_limit": 3.0, "constraint_weight": 0.7}
    theirs = fr.GridSearch(LogisticRegression(), moment, **options)
    theirs.fit(X, y, sensitive_features=s)
    ours = GridSearch(LogisticRegression(), constraint=constraint, **options)
    ours.fit(X, y, sensitive_features=s)
    assert ours.best_ == theirs.best_idx_
    np.testing.assert_array_equal(ours.errors_, theirs.objectives_)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_bounded_group_loss() -> None:
    X, y, s = case()
    moment = fr.BoundedGroupLoss(fr.ZeroOneLoss(), upper_bound=0.2)
    theirs = fr.GridSearch(LogisticRegression(), moment, grid_size=5)
    theirs.fit(X, y, sensitive_features=s)
    ours = GridSearch(
        LogisticRegression(), constraint="bounded_group_loss", bound=0.2, grid_size=5
    ).fit(X, y, sensitive_features=s)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_more_weight_on_the_constraint_is_less_disparity() -> None:
    X, y, s = case()
    gaps = []
    for weight in (0.0, 0.95):
        fair = GridSearch(LogisticRegression(), constraint_weight=weight, grid_size=21)
        with nullcontext() if weight else pytest.warns(UnmetConstraintWarning, match="keeps the"):
            labels = fair.fit(X, y, sensitive_features=s).predict(X)
        gaps.append(abs(labels[s == 1].mean() - labels[s == 0].mean()))
        assert fair.violations_[fair.best_] == fair.violations_.min() or weight == 0
    assert gaps[1] < 0.05 < 0.2 < gaps[0]


@pytest.mark.parametrize("learner", [LogisticRegression(), DecisionTreeClassifier(random_state=0)])
def test_keeping_the_original_model_is_said(learner: ClassifierMixin) -> None:
    """A tree that learns its rows by heart is the same model at most prices."""
    X, y, s = case()
    weight = 0.0 if isinstance(learner, LogisticRegression) else 0.5
    fair = GridSearch(learner, constraint_weight=weight)
    with pytest.warns(UnmetConstraintWarning, match="keeps the original model") as said:
        labels = fair.fit(X, y, sensitive_features=s).predict(X)
    np.testing.assert_array_equal(labels, clone(learner).fit(X, y).predict(X))
    assert f"violation of {fair.violations_[fair.best_]:.3f}" in str(said[0].message)


def test_a_grid_that_lacks_the_original_is_not_worse_than_it() -> None:
    """Of four groups ten models hold no price of 0, and all are worse here by both goals."""
    rng = np.random.default_rng(0)
    s = rng.choice(4, 400, p=[0.6, 0.25, 0.1, 0.05])
    skill = rng.normal(size=400)
    X = np.column_stack([s == 1, s == 2, s == 3, skill]).astype(float)
    y = (2 * skill + rng.normal(size=400) > 0).astype(int)
    theirs = GridSearch(LogisticRegression(), protocol="as_published")
    theirs.fit(X, y, sensitive_features=s)
    ours = GridSearch(LogisticRegression())
    with pytest.warns(UnmetConstraintWarning, match="keeps the original model"):
        ours.fit(X, y, sensitive_features=s)
    np.testing.assert_array_equal(ours.errors_[:-1], theirs.errors_)
    np.testing.assert_array_equal(ours.violations_[:-1], theirs.violations_)
    labels = LogisticRegression().fit(X, y).predict(X)
    np.testing.assert_array_equal(ours.predict(X), labels)
    assert ours.best_ == 10
    assert ours.errors_[-1] == np.mean(labels != y) < theirs.errors_.min()
    rates = np.array([labels[s == g].mean() for g in range(4)])
    assert ours.violations_[-1] == pytest.approx(np.abs(rates - labels.mean()).max())
    assert ours.violations_[-1] < theirs.violations_[theirs.best_]


def test_a_learner_without_probabilities_gives_its_labels() -> None:
    X, y, s = case()
    fair = GridSearch(LinearSVC(), grid_size=3).fit(X, y, sensitive_features=s)
    np.testing.assert_array_equal(fair.predict_proba(X)[:, 1], fair.predict(X))
