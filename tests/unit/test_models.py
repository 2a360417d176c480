"""Base learners by name: recipes, weights, scores."""

import numpy as np
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isonomy.errors import InputError, NotApplicable, UnknownName
from isonomy.models import (
    MODELS,
    RECIPES,
    LegacyLogisticRegression,
    WeightedNeighbors,
    fit_model,
    innermost,
    make_model,
    weight_keyword,
    with_scores,
)
from isonomy.networks import NETWORKS


@pytest.fixture
def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    return X, (X[:, 0] + rng.normal(size=200) > 0).astype(int), rng.uniform(0, 3, 200)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.torch) if n in NETWORKS else n for n in MODELS]
)
def test_every_model_accepts_weights_that_matter(name: str, rows) -> None:
    if name in NETWORKS:
        pytest.importorskip("torch", reason="the extra torch is not installed")
    X, y, _ = rows
    w = np.where(y == 1, 100.0, 0.01)
    plain = fit_model(make_model(name), X, y).predict(X).mean()
    heavy = fit_model(make_model(name), X, y, w).predict(X).mean()
    assert heavy > plain, "the heavier class is predicted more often"


@pytest.mark.parametrize("recipe", ["chen", "fairea"])
def test_recipes_are_the_studies_own(recipe: str) -> None:
    assert make_model("lr", recipe, random_state=None).get_params() == (
        LogisticRegression().get_params()
    )
    kinds = {"chen": "LinearSVC", "fairea": "PlattSVC"}
    assert type(make_model("svm", recipe)).__name__ == kinds[recipe]


def test_unknown_names_get_a_hint() -> None:
    with pytest.raises(UnknownName, match=r"did you mean 'svm'\?"):
        make_model("svn")
    with pytest.raises(UnknownName, match="recipe chen"):
        make_model("knn", "chen")
    with pytest.raises(UnknownName, match="recipe"):
        make_model("lr", "chenn")
    assert set(RECIPES) >= {"default", "chen", "evt", "fairea"}


def test_neighbours_with_equal_weights_are_scikit_learns(rows) -> None:
    X, y, _ = rows
    for weights in ("uniform", "distance"):
        ours = WeightedNeighbors(4, weights=weights).fit(X, y, np.full(200, 2.5))
        theirs = KNeighborsClassifier(4, weights=weights).fit(X, y)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_a_weight_of_two_is_a_row_twice() -> None:
    X, y = np.array([[0.0], [1.0], [5.0]]), np.array([0, 1, 1])
    weighted = WeightedNeighbors(2).fit(X, y, [2, 1, 1])
    twice = KNeighborsClassifier(3).fit(X[[0, 0, 1, 2]], y[[0, 0, 1, 2]])
    np.testing.assert_allclose(weighted.predict_proba([[0.4]]), twice.predict_proba([[0.4]]))
    with pytest.raises(InputError, match="one entry per row"):
        WeightedNeighbors().fit(X, y, [1, 1])


def test_weightless_neighbours_say_nothing() -> None:
    model = WeightedNeighbors(1).fit([[0.0], [1.0]], [0, 1], [0, 1])
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[0.5, 0.5]])


def test_weight_keyword_looks_through_pipelines_and_searches() -> None:
    search = GridSearchCV(make_pipeline(LogisticRegression()), {})
    assert weight_keyword(search) == "logisticregression__sample_weight"
    assert weight_keyword(make_pipeline(make_pipeline(LogisticRegression()))) == (
        "pipeline__logisticregression__sample_weight"
    )
    assert weight_keyword(KNeighborsClassifier()) is None


def test_scores_are_added_only_where_absent(rows) -> None:
    X, y, w = rows
    lr = make_model("lr")
    assert with_scores(lr) is lr
    p = fit_model(with_scores(make_model("svm", "chen")), X, y, w).predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_weights_reach_the_model_inside_a_calibrated_pipeline(rows) -> None:
    X, y, w = rows
    heavy = np.where(y == 1, 50.0, 1.0) * w
    plain, weighed = (
        fit_model(with_scores(make_model("svm")), X, y, weight) for weight in (w, heavy)
    )
    for a, b in zip(plain.calibrated_classifiers_, weighed.calibrated_classifiers_, strict=True):
        assert not np.allclose(a.estimator[-1].coef_, b.estimator[-1].coef_)
        # the weights are the model's: the scaler, as before, takes the rows alike
        np.testing.assert_array_equal(a.estimator[0].mean_, b.estimator[0].mean_)
    with pytest.raises(NotApplicable, match="KNeighborsClassifier takes no sample_weight"):
        fit_model(CalibratedClassifierCV(KNeighborsClassifier()), X, y, w)


@pytest.mark.parametrize("kind", [VotingClassifier, StackingClassifier])
def test_votes_and_stacks_hand_weights_on_to_their_parts(rows, kind: type) -> None:
    X, y, w = rows
    parts = [("lr", LogisticRegression()), ("rf", RandomForestClassifier(5, random_state=0))]
    model = make_pipeline(StandardScaler(), kind(parts))
    heavy = np.where(y == 1, 50.0, 1.0) * w
    plain, weighed = (fit_model(model, X, y, weight)[-1] for weight in (w, heavy))
    for a, b in zip(plain.estimators_, weighed.estimators_, strict=True):
        assert a.predict_proba(X)[:, 1].mean() < b.predict_proba(X)[:, 1].mean()
    expected = LogisticRegression().fit(StandardScaler().fit_transform(X), y, heavy)
    np.testing.assert_allclose(weighed.estimators_[0].coef_, expected.coef_)
    neighbours = kind([*parts, ("knn", KNeighborsClassifier())])
    with pytest.raises(NotApplicable, match=f"{kind.__name__} takes no sample_weight"):
        fit_model(neighbours, X, y, w)


@pytest.mark.parametrize("name", ["lr", "svm", "knn"])
def test_weights_travel_where_routing_is_switched_on(rows, name: str) -> None:
    X, y, w = rows
    model = with_scores(make_model(name))
    expected = fit_model(model, X, y, w).predict_proba(X)
    with sklearn.config_context(enable_metadata_routing=True):
        np.testing.assert_array_equal(fit_model(model, X, y, w).predict_proba(X), expected)


def test_the_logistic_regression_of_the_studies_is_logistic_regression(rows) -> None:
    X, y, w = rows
    for weight, intercept in ((None, True), (w, True), (w, False)):
        options = {"C": 0.3, "max_iter": 1000, "fit_intercept": intercept}
        ours = LegacyLogisticRegression(tol=1e-9, **options).fit(X, y, weight)
        theirs = LogisticRegression(tol=1e-12, **options).fit(X, y, weight)
        # its L-BFGS also stops when the sum of the losses falls by less than 2e-9 of itself
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    with pytest.raises(NotApplicable, match="two classes; got 3"):
        LegacyLogisticRegression().fit(X, np.arange(len(y)) % 3)


def test_the_logistic_regression_of_the_studies_stops_on_the_sum_of_the_losses(rows) -> None:
    """Twice the rows is twice the gradient: the old rule goes on where today's would stop."""
    X, y, _ = rows
    many = np.tile(X, (200, 1)), np.tile(y, 200)
    old = LegacyLogisticRegression(tol=1e-2).fit(*many)
    new = LogisticRegression(tol=1e-2).fit(*many)
    assert old.n_iter_[0] > new.n_iter_[0]
    assert isinstance(make_model("lr", "chen"), LegacyLogisticRegression)
    assert isinstance(make_model("lr", "fairea"), LegacyLogisticRegression)


class CountsClasses(LogisticRegression):
    """A learner that refuses labels other than 0, 1, ..., as XGBoost does."""

    def fit(self, X, y, sample_weight=None):
        if not np.array_equal(np.unique(y), np.arange(len(np.unique(y)))):
            raise ValueError("Invalid classes inferred from unique values of `y`.")
        return super().fit(X, y, sample_weight)


def test_a_learner_that_counts_classes_answers_in_labels(rows) -> None:
    X, y, w = rows
    words = np.array(["no", "yes"])[y]
    model, plain = fit_model(CountsClasses(), X, words, w), LogisticRegression().fit(X, y, w)
    np.testing.assert_array_equal(model.predict(X), np.array(["no", "yes"])[plain.predict(X)])
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.n_features_in_ == 3
    assert type(innermost(model)) is CountsClasses
    copied = sklearn.base.clone(model)  # stays fitted: a learner without classes has no labels
    np.testing.assert_array_equal(copied.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="Input X contains NaN"):  # it was not the labels
        fit_model(CountsClasses(), np.full_like(X, np.nan), y)


def test_a_stacked_model_has_scores_once_it_is_fitted() -> None:
    stacked = StackingClassifier([("lr", LogisticRegression())], cv=2)
    assert with_scores(stacked) is stacked
    fitted = fit_model(stacked, np.arange(20.0)[:, None], np.arange(20) > 9)
    assert hasattr(fitted, "predict_proba")
