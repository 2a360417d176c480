"""Fairway: removal row by row, the goals by hand, the search, and what it refuses."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from isonomy.audit import audit
from isonomy.data import make_splits, prepare, rows_of
from isonomy.errors import NotApplicable
from isonomy.mitigators import Fairway
from isonomy.mitigators.fairway import fairway_space, four_goals
from isonomy.models import make_model
from isonomy.search import Choice
from tests.registry import real


def case(seed=0, n=300, groups=2):
    rng = np.random.default_rng(seed)
    s = rng.integers(0, groups, n)
    X = np.column_stack([s, rng.normal(size=(n, 3))])
    y = (X[:, 1] * (1 - 0.8 * s) + X[:, 2] + 0.7 * s + rng.normal(0, 0.5, n) > 0.3).astype(int)
    return X, y, s


def agreement_by_loop(X, y, s, columns, model, first=None):
    """Fit a model per group without the protected columns and ask all about every row."""
    rest = np.delete(X, columns, axis=1)
    models = []
    for group in np.unique(s):
        fitted = LogisticRegression(**model.get_params()).fit(rest[s == group], y[s == group])
        models.append(fitted)
    return np.array(
        [len({int(m.predict(row[None])[0]) for m in models}) == 1 for row in rest[:first]]
    )


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("protocol", ["as_published", "corrected"])
def test_removal_is_the_plain_loop(groups: int, protocol: str) -> None:
    X, y, s = case(1, 400, groups)
    model = LogisticRegression(solver="liblinear", random_state=0)
    method = Fairway(sensitive_columns=[0], split_model=model, protocol=protocol)
    keep = agreement_by_loop(X, y, s, [0], model)
    np.testing.assert_array_equal(method.agreement(X, y, s), keep)
    assert 0 < keep.sum() < len(y)
    if protocol == "as_published":
        default = Fairway(sensitive_columns=[0], protocol=protocol)
        np.testing.assert_array_equal(default.agreement(X, y, s), keep)


def test_the_protected_column_does_not_reach_the_split_models() -> None:
    X, y, s = case(2)
    wild = X.copy()
    wild[:, 0] = 100 * s - 7
    plain, other = Fairway(sensitive_columns=[0]), Fairway(sensitive_columns=[0])
    np.testing.assert_array_equal(plain.agreement(X, y, s), other.agreement(wild, y, s))
    seen = Fairway(sensitive_columns=[0], protected_in_split_models=True, protocol="as_published")
    unseen = Fairway(sensitive_columns=[0], protocol="as_published")
    assert (seen.agreement(wild, y, s) != unseen.agreement(wild, y, s)).any()


def test_the_model_learns_from_the_rows_kept_and_from_no_others() -> None:
    X, y, s = case(3)
    base = LogisticRegression(random_state=0)
    method = Fairway(base, tune=False, sensitive_columns=[0]).fit(X, y, sensitive_features=s)
    expected = LogisticRegression(random_state=0).fit(X[method.kept_], y[method.kept_])
    np.testing.assert_allclose(method.estimator_.coef_, expected.coef_)
    assert method.search_ is None
    # Rows to be predicted are never dropped.
    assert len(method.predict(X)) == len(X)


def test_goals_by_hand() -> None:
    y = np.array([1, 1, 1, 0, 0, 0, 1, 1, 0, 0])
    p = np.array([1, 1, 0, 1, 0, 0, 1, 0, 0, 0])
    s = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
    tpr, fpr = (2 / 3, 1 / 2), (1 / 3, 0.0)
    recall, far = 3 / 5, 1 / 5
    aod = (abs(tpr[0] - tpr[1]) + abs(fpr[0] - fpr[1])) / 2
    expected = (1 - recall) + far + aod + abs(tpr[0] - tpr[1])
    assert four_goals(y, p, s) == pytest.approx(expected)
    assert four_goals(y, p, s, np.full(10, 2.5)) == pytest.approx(expected)
    assert four_goals(y, y, s) == 0
    # An empty group has no say, and where no group has a positive the goal is undefined.
    assert four_goals(y, p, s * 2) == pytest.approx(expected)
    assert np.isnan(four_goals(np.zeros(4, int), np.ones(4, int), np.array([0, 0, 1, 1])))


def test_the_search_scores_what_it_says() -> None:
    X, y, s = case(4)
    method = Fairway(
        LogisticRegression(random_state=0), sensitive_columns=[0], protocol="as_published"
    )
    method.fit(X, y, sensitive_features=s)
    rows = np.flatnonzero(method.kept_)
    inner, held = train_test_split(rows, test_size=0.3, random_state=100)
    best = method.search_.best
    assert set(best.config) >= {"C", "solver", "max_iter"}
    again = LogisticRegression(random_state=0).set_params(**best.config)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        again.fit(X[inner], y[inner])
    assert best.value == pytest.approx(four_goals(y[held], again.predict(X[held]), s[held]))
    assert best.value == min(e.value for e in method.search_.history)
    for name, value in best.config.items():
        assert getattr(method.estimator_, name) == value
    assert 20 <= len(method.search_.history) <= 200


def test_spaces_by_family() -> None:
    published = fairway_space(LogisticRegression(), protocol="as_published")[1]
    assert published.size == 12_000
    assert fairway_space(LogisticRegression())[1].size == 10
    assert fairway_space(LinearSVC())[1].size == 13
    family, space = fairway_space(RandomForestClassifier())
    assert (family, space.size) == ("rf", 100)
    _, piped = fairway_space(make_model("lr"))
    assert all(name.startswith("logisticregression__") for name in piped)
    with pytest.raises(NotApplicable, match="GaussianNB"):
        fairway_space(GaussianNB())


def test_the_steps_before_the_learner_are_fitted_once_for_the_same_values() -> None:
    X, y, s = case(4)
    X = X * [1.0, 1000.0, 1.0, 1.0]
    fair = Fairway(sensitive_columns=[0]).fit(X, y, sensitive_features=s)
    values = {e.config["logisticregression__C"]: e.value for e in fair.search_.history}
    assert len(values) == 10
    rows = np.flatnonzero(fair.kept_)
    seed = int(np.random.default_rng(0).integers(2**31 - 1))
    cells = 2 * s[rows] + y[rows]
    inner, held = train_test_split(rows, test_size=0.3, random_state=seed, stratify=cells)
    for strength, value in values.items():
        whole = make_model("lr").set_params(logisticregression__C=strength).fit(X[inner], y[inner])
        assert value == pytest.approx(four_goals(y[held], whole.predict(X[held]), s[held]))


def test_other_learners_need_a_space_and_as_published_only_logistic_regression() -> None:
    X, y, s = case(5)
    forest = RandomForestClassifier(n_estimators=5, random_state=0)
    with pytest.raises(NotApplicable, match="as published tunes logistic"):
        Fairway(forest, protocol="as_published").fit(X, y, sensitive_features=s)
    own = Fairway(GaussianNB(), space={"var_smoothing": Choice([1e-9, 1e-3, 0.1])})
    own.fit(X, y, sensitive_features=s)
    assert len(own.search_.history) == 3
    svm = Fairway(make_model("svm"), sensitive_columns=[0]).fit(X, y, sensitive_features=s)
    assert len(svm.search_.history) == 13


def test_a_logistic_regression_of_its_own_kind_is_made_tunable() -> None:
    class Stubborn(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            raise AssertionError("its solver cannot be changed")

    X, y, s = case(6)
    fitted = Fairway(Stubborn(C=2.0, random_state=0), budget=5, split_model=LogisticRegression())
    fitted.fit(X, y, sensitive_features=s)
    assert type(fitted.estimator_) is LogisticRegression


def test_a_group_of_one_class_is_refused_with_its_count() -> None:
    X, y, s = case(7)
    y[s == 1] = 0
    with pytest.raises(NotApplicable, match=f"first has {(s == 1).sum()}"):
        Fairway().fit(X, y, sensitive_features=s)


def test_sex_and_race_on_adult() -> None:
    """Four models must agree; the audit still tells of each attribute."""
    data = real("adult")
    split = make_splits(data, splitter="chen", rows=rows_of(data, "chen"))[0]
    ready = prepare(data, "chen", attribute="sex", split=split)
    columns = [ready.columns[a] for a in ("sex", "race")]
    X, y = ready.X_train[:6000], ready.y_train[:6000].astype(int)
    both = pd.DataFrame(X[:, columns], columns=["sex", "race"])
    model = LogisticRegression(solver="liblinear", random_state=0)
    method = Fairway(sensitive_columns=columns, tune=False, split_model=model)
    method.fit(X, y, sensitive_features=both)
    codes = method._encoder.encode(both, len(X))
    keep = agreement_by_loop(X, y, codes, columns, model, first=300)
    np.testing.assert_array_equal(method.kept_[:300], keep)
    one = Fairway(sensitive_columns=columns[:1], tune=False, split_model=model)
    one.fit(X, y, sensitive_features=both["sex"])
    assert method.kept_.sum() < one.kept_.sum()
    test = pd.DataFrame(ready.X_test[:, columns], columns=["sex", "race"])
    found = audit(ready.y_test, method.predict(ready.X_test), sensitive_features=test)
    assert {"sex", "race"} <= set(found.frame()["attribute"])
