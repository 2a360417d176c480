"""The meta-estimator: coding of labels and groups, stages, weights, warnings."""

import re
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_info, threadpool_limits

from isonomy.errors import (
    DegenerateOutputWarning,
    InputError,
    IsonomyWarning,
    NotApplicable,
    UnknownName,
)
from isonomy.mitigators import (
    EcdFair,
    FairSmote,
    Maat,
    MetaFairClassifier,
    Minimax,
    PostProcessor,
    PrejudiceRemover,
    PreProcessor,
    RejectOption,
    Reweighing,
    Stealth,
    Unmitigated,
    make_mitigator,
)


class Watcher(PreProcessor):
    """Keeps what its stage was given."""

    name: ClassVar[str] = "watcher"

    def resample(self, X: Any, y: Any, s: Any, w: Any = None) -> Any:
        self.seen_ = (X, y, s, w)
        return X, y, s, w


class Counting(PreProcessor):
    """Keeps how many threads BLAS may use while it is fitted."""

    name: ClassVar[str] = "counting"

    def resample(self, X: Any, y: Any, s: Any, w: Any = None) -> Any:
        self.threads_ = [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"]
        return X, y, s, w


def test_blas_has_one_thread_while_a_method_is_fitted_and_its_own_number_after() -> None:
    X, s = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    with threadpool_limits(2, user_api="blas"):
        before = [p["num_threads"] for p in threadpool_info()]
        fitted = Counting().fit(X, (X[:, 0] > 0) * 1, sensitive_features=s)
        assert [p["num_threads"] for p in threadpool_info()] == before
    assert set(fitted.threads_) <= {1}


class Flipper(PostProcessor):
    """Gives the unprivileged the favourable label above half the mean score."""

    name: ClassVar[str] = "flipper"

    def fit_scores(self, scores: Any, labels: Any, y: Any, s: Any, w: Any = None) -> None:
        self.seen_ = (scores, labels, y, s, w)
        self.mean_ = float(scores.mean())

    def adjust(self, scores: Any, labels: Any, s: Any) -> Any:
        return np.where((s == 0) & (scores > self.mean_ / 2), 1, labels)


@pytest.fixture
def rows() -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    n = 300
    s = rng.choice(["f", "m"], n)
    X = pd.DataFrame({"sex": s, "a": rng.normal(size=n), "b": rng.choice(["x", "y"], n)})
    y = np.where(X["a"] + (s == "m") + rng.normal(0, 0.5, n) > 0.5, "good", "bad")
    return X, y, s


def mixed() -> Any:
    columns = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    return make_pipeline(columns, LogisticRegression())


def test_labels_and_groups_become_small_integers(rows) -> None:
    X, y, s = rows
    m = Watcher(mixed(), favorable="bad", privileged="f").fit(X, y, sensitive_features=s)
    _, y01, codes, w = m.seen_
    np.testing.assert_array_equal(y01, y == "bad")
    np.testing.assert_array_equal(codes, s == "f")
    assert w is None
    assert m.groups_ == ["m", "f"]
    assert m.classes_.tolist() == ["bad", "good"]


def test_the_better_off_of_two_groups_is_privileged(rows) -> None:
    X, y, s = rows
    for favorable, expected in (("good", ("m",)), ("bad", ("f",))):
        m = Watcher(mixed(), favorable=favorable).fit(X, y, sensitive_features=s)
        assert m.privileged_ == expected


def test_weights_decide_who_is_better_off() -> None:
    y, s = np.array([1, 0, 1, 0]), np.array([0, 0, 1, 1])
    w = np.array([3.0, 1.0, 1.0, 3.0])
    m = Watcher(LogisticRegression(C=100)).fit(
        np.array([[1.0], [0.0], [1.0], [0.0]]), y, sensitive_features=s, sample_weight=w
    )
    assert m.privileged_ == (0,)
    assert m.groups_ == [1, 0]


def test_the_favourable_label_must_be_named_unless_plain(rows) -> None:
    X, y, s = rows
    with pytest.raises(InputError, match="favourable label must be named"):
        Unmitigated(mixed()).fit(X, y, sensitive_features=s)
    m = Unmitigated(mixed()).fit(X, y == "good", sensitive_features=s)
    assert m.favorable_ is True


def test_missing_attribute_is_a_group_of_its_own(rows) -> None:
    X, y, s = rows
    s = s.astype(object)
    s[:30] = None
    m = Reweighing(mixed(), favorable="good").fit(X, y, sensitive_features=s)
    assert m.groups_ == ["f", "m", "(missing)"]


def test_intersections_and_privileged_by_attribute(rows) -> None:
    X, y, s = rows
    two = pd.DataFrame({"sex": s, "b": X["b"]})
    m = Watcher(mixed(), favorable="good", privileged={"sex": "m", "b": ["y"]})
    m.fit(X, y, sensitive_features=two)
    assert m.privileged_ == (("m", "y"),)
    np.testing.assert_array_equal(m.seen_[2], (s == "m") & (X["b"] == "y"))
    assert m.sensitive_columns_ == (0, 2)
    with pytest.raises(UnknownName, match="protected attribute"):
        Watcher(mixed(), favorable="good", privileged={"age": 1}).fit(X, y, sensitive_features=two)


def test_columns_in_another_order_are_found_by_name(rows) -> None:
    X, y, s = rows
    two = pd.DataFrame({"sex": s, "b": X["b"]})
    m = Flipper(mixed(), favorable="good", privileged={"sex": "m"})
    m.fit(X, y, sensitive_features=two)
    np.testing.assert_array_equal(
        m.predict(X, sensitive_features=two), m.predict(X, sensitive_features=two[["b", "sex"]])
    )


def test_rows_in_another_order_are_refused(rows) -> None:
    X, y, s = rows
    shuffled = pd.Series(s).sample(frac=1, random_state=0)
    with pytest.raises(InputError, match="one order"):
        Unmitigated(mixed(), favorable="good").fit(X, y, sensitive_features=shuffled)


def test_weights_reach_the_last_step_of_a_pipeline(rows) -> None:
    X, y, s = rows
    plain = Reweighing(mixed(), favorable="good").fit(X, y, sensitive_features=s)
    _, _, _, w = clone(plain).resample(X, (y == "good") * 1, (s == "m") * 1)
    by_hand = mixed().fit(X, y, logisticregression__sample_weight=w)
    np.testing.assert_allclose(plain.predict_proba(X), by_hand.predict_proba(X))


def test_a_learner_without_weights_is_refused(rows) -> None:
    X, y, s = rows
    with pytest.raises(NotApplicable, match="KNeighborsClassifier takes no sample_weight"):
        Reweighing(KNeighborsClassifier(), favorable="good").fit(X[["a"]], y, sensitive_features=s)


def test_one_class_only_is_a_warning() -> None:
    X, s = np.arange(20.0)[:, None], np.arange(20) % 2
    y = np.r_[1, 1, np.zeros(18, int)]
    flat = LogisticRegression(C=1e-9)
    with pytest.warns(DegenerateOutputWarning, match="for every training row"):
        m = Unmitigated(flat).fit(X, y, sensitive_features=s)
    assert m.degenerate_


def test_degenerate_head_but_not_the_rest_is_no_warning() -> None:
    n = 3000
    X = np.r_[np.zeros(1500), np.ones(1500)][:, None]
    y = X[:, 0].astype(int)
    m = Unmitigated().fit(X, y, sensitive_features=np.arange(n) % 2)
    assert not m.degenerate_


def test_routing_works_and_is_never_switched_on(rows) -> None:
    X, y, s = rows
    assert not sklearn.get_config()["enable_metadata_routing"]
    with sklearn.config_context(enable_metadata_routing=True):
        m = Reweighing(mixed(), favorable="good").set_fit_request(sensitive_features=True)
        m.set_score_request(sensitive_features=True)
        search = GridSearchCV(m, {"estimator__logisticregression__C": [0.1, 1.0]}, cv=2)
        search.fit(X, y, sensitive_features=s)
        assert search.best_score_ > 0.6
        f = Flipper(mixed(), favorable="good").set_fit_request(sensitive_features=True)
        pipe = make_pipeline("passthrough", f.set_predict_request(sensitive_features=True))
        pipe.fit(X, y, sensitive_features=s)
        assert len(pipe.predict(X, sensitive_features=s)) == len(y)


def test_grid_search_over_the_base_learner_without_routing(rows) -> None:
    X, y, s = rows
    m = Reweighing(mixed(), favorable="good")
    search = GridSearchCV(m, {"estimator__logisticregression__C": [0.01, 1.0]}, cv=2)
    search.fit(X, y, sensitive_features=s)
    assert set(search.cv_results_["param_estimator__logisticregression__C"]) == {0.01, 1.0}


def test_variants_are_written_in_brackets() -> None:
    m = make_mitigator("rw(privileged=m, random_state=3)", favorable="good")
    assert m.get_params(deep=False)["privileged"] == "m"
    assert m.random_state == 3
    assert m.favorable == "good"
    with pytest.raises(UnknownName, match=r"did you mean 'reweighing'\?"):
        make_mitigator("reweighting")
    with pytest.raises(UnknownName, match=r"did you mean 'protocol'\?"):
        make_mitigator("reweighing(protocl=corrected)")
    for wrong in ("reject_option(metric)", "reject_option(metric=spd", "rw()x"):
        with pytest.raises(InputError, match=r"name\(key=value"):
            make_mitigator(wrong)
    assert make_mitigator("rw()").name == "reweighing"
    with pytest.raises(UnknownName, match="no parameter of reweighing 'estimator'"):
        make_mitigator("rw(estimator=lr)")


# The post stage: where the scores come from.


def numbers(n: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 3))
    s = (rng.random(n) < 0.4).astype(int)
    y = (X[:, 0] + s + rng.normal(size=n) > 0.6).astype(int)
    return X, y, s


def test_train_scores_are_those_of_the_fitted_model() -> None:
    X, y, s = numbers()
    m = Flipper(LogisticRegression(), fit_on="train").fit(X, y, sensitive_features=s)
    base = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(m.seen_[0], base.predict_proba(X)[:, 1])
    np.testing.assert_array_equal(m.seen_[1], base.predict(X))


def test_as_published_learns_on_the_training_scores() -> None:
    X, y, s = numbers()
    published = Flipper(LogisticRegression(), protocol="as_published")
    published.fit(X, y, sensitive_features=s)
    train = Flipper(LogisticRegression(), fit_on="train").fit(X, y, sensitive_features=s)
    np.testing.assert_array_equal(published.seen_[0], train.seen_[0])


def test_out_of_fold_scores_are_of_models_that_never_saw_the_row() -> None:
    """One-neighbour scores of its own rows are perfect; of others' they are not."""
    X, y, s = numbers()
    one = KNeighborsClassifier(1)
    train = Flipper(one, fit_on="train").fit(X, y, sensitive_features=s)
    folds = Flipper(one).fit(X, y, sensitive_features=s)
    assert (train.seen_[0] == y).all()
    assert 0.55 < np.mean(folds.seen_[0] == y) < 0.9
    assert len(folds.seen_[0]) == len(y)
    assert (folds.estimator_.predict(X) == y).all(), "the base learner is fitted on all rows"


def test_validation_rows_are_held_out_and_weighted() -> None:
    X, y, s = numbers()
    w = np.arange(1.0, 401.0)
    m = Flipper(LogisticRegression(), fit_on="validation")
    m.fit(X, y, sensitive_features=s, sample_weight=w)
    scores, _, truth, _, weight = m.seen_
    assert len(scores) == len(truth) == len(weight) == 120
    held = weight.astype(int) - 1
    np.testing.assert_array_equal(truth, y[held])
    rest = np.setdiff1d(np.arange(400), held)
    base = LogisticRegression().fit(X[rest], y[rest], sample_weight=w[rest])
    np.testing.assert_allclose(m.estimator_.predict_proba(X), base.predict_proba(X), atol=1e-3)


def test_a_given_model_is_used_as_it_is() -> None:
    X, y, s = numbers()
    base = LogisticRegression().fit(X[:200], y[:200])
    m = Flipper(base, fit_on="given").fit(X[200:], y[200:], sensitive_features=s[200:])
    assert m.estimator_ is base
    frozen = clone(Flipper(FrozenEstimator(base), fit_on="given"))
    frozen.fit(X[200:], y[200:], sensitive_features=s[200:])
    np.testing.assert_array_equal(
        frozen.predict(X, sensitive_features=s), m.predict(X, sensitive_features=s)
    )
    with pytest.raises(InputError, match="fitted already"):
        Flipper(fit_on="given").fit(X, y, sensitive_features=s)
    with pytest.raises(NotApplicable, match="CalibratedClassifierCV"):
        Flipper(LinearSVC().fit(X, y), fit_on="given").fit(X, y, sensitive_features=s)


def test_a_learner_without_scores_is_calibrated() -> None:
    X, y, s = numbers()
    m = Flipper(make_pipeline(StandardScaler(), LinearSVC())).fit(X, y, sensitive_features=s)
    assert ((m.seen_[0] > 0) & (m.seen_[0] < 1)).all()


def test_fit_on_gets_a_did_you_mean() -> None:
    X, y, s = numbers()
    with pytest.raises(UnknownName, match=r"did you mean 'out_of_fold'\?"):
        Flipper(fit_on="out_of_folds").fit(X, y, sensitive_features=s)


def test_scores_follow_the_favourable_label_not_the_last_class() -> None:
    X, y, s = numbers()
    m = Flipper(LogisticRegression(), fit_on="train", favorable="a")
    m.fit(X, np.where(y == 1, "a", "b"), sensitive_features=s)
    base = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(m.seen_[0], base.predict_proba(X)[:, 1], atol=1e-3)


@pytest.mark.parametrize("name", ["reweighing", "unmitigated", "fair_mask"])
def test_no_probabilities_where_the_learner_has_none(name: str) -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    from isonomy.mitigators import make_mitigator

    assert not hasattr(make_mitigator(name, LinearSVC()), "predict_proba")
    assert hasattr(make_mitigator(name, LogisticRegression()), "predict_proba")
    assert hasattr(make_mitigator(name), "predict_proba")


class ZeroBased(ClassifierMixin, BaseEstimator):
    """A learner that knows the labels 0, 1, ... only, as gradient boosting elsewhere does."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ZeroBased":
        self.classes_ = np.unique(y)
        if self.classes_.tolist() != list(range(len(self.classes_))):
            raise ValueError(f"Expected: [0 1], got {self.classes_}")
        self.inner_ = GaussianNB().fit(X, y, sample_weight)
        return self

    def predict(self, X: Any) -> Any:
        return self.inner_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        return self.inner_.predict_proba(X)


@pytest.mark.parametrize("kind", [Reweighing, RejectOption, Maat, Stealth])
def test_a_learner_that_counts_classes_from_zero_serves_words(kind: Any) -> None:
    X, y, s = two_groups()
    words = np.where(y == 1, "granted", "refused")
    plain = kind(ZeroBased()).fit(X, y, sensitive_features=s)
    named = kind(ZeroBased(), favorable="granted").fit(X, words, sensitive_features=s)
    same = named.predict(X, sensitive_features=s) == np.where(
        plain.predict(X, sensitive_features=s) == 1, "granted", "refused"
    )
    assert same.mean() > 0.97


def test_xgboost_serves_words() -> None:
    xgboost = pytest.importorskip("xgboost")
    X, y, s = two_groups()
    words = np.where(y == 1, "granted", "refused")
    model = Reweighing(xgboost.XGBClassifier(n_estimators=5), favorable="granted")
    assert (model.fit(X, words, sensitive_features=s).predict(X) == words).mean() > 0.7
    frame = pd.DataFrame(X, columns=["s", "a", "b"]).assign(city=np.where(s == 1, "up", "down"))
    assert (model.fit(frame, words, sensitive_features=s).predict(frame) == words).mean() > 0.7


def test_the_name_of_a_learner_is_no_estimator() -> None:
    X, y, s = two_groups()
    with pytest.raises(InputError, match=r"use isonomy.models.make_model\('lr'\)"):
        Reweighing("lr").fit(X, y, sensitive_features=s)


def two_groups() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    s = np.arange(300) % 2
    X = np.column_stack([s, rng.normal(size=(300, 2))])
    return X, (X[:, 1] + s + rng.normal(size=300) > 0.5).astype(int), s


@pytest.mark.parametrize("kind", [Reweighing, EcdFair, Stealth, FairSmote])
def test_a_learner_without_a_seed_gets_one(kind: Any) -> None:
    X, y, s = two_groups()
    options: dict[str, Any] = {"budget": 3} if kind is EcdFair else {}
    forest = RandomForestClassifier(n_estimators=3)
    one, two = (
        kind(forest, sensitive_columns=[0], **options).fit(X, y, sensitive_features=s)
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    assert forest.random_state is None


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_probabilities_that_are_no_numbers_are_refused() -> None:
    _, y, s = two_groups()
    model = Unmitigated(GaussianNB())
    with pytest.warns(DegenerateOutputWarning):
        model.fit(np.zeros((300, 2)), y, sensitive_features=s)
    with pytest.raises(NotApplicable, match="GaussianNB gives NaN for 300 of 300 rows"):
        model.predict_proba(np.zeros((300, 2)))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (PrejudiceRemover(eta="abc"), "eta must be a number; got 'abc'"),
        (RejectOption(bounds=1), "bounds must be two numbers; got 1"),
        (Minimax(rounds=2.5), "rounds must be a whole number or None; got 2.5"),
        (FairSmote(balance="no"), "balance must be True or False; got 'no'"),
    ],
    ids=["number", "pair", "whole", "truth"],
)
def test_parameters_of_a_wrong_type_are_one_sentence(model: Any, words: str) -> None:
    X, y, s = two_groups()
    with pytest.raises(InputError, match=re.escape(words)):
        model.fit(X, y, sensitive_features=s)


def test_a_refusal_names_the_way_out_where_attributes_are_missing() -> None:
    X, y, s = two_groups()
    unknown = s.astype(object)
    unknown[0] = None
    with pytest.raises(NotApplicable, match=r"\(missing\).*missing='drop' leaves them out"):
        Reweighing().fit(X, y, sensitive_features=unknown)
    assert Reweighing(missing="drop").fit(X, y, sensitive_features=unknown).groups_ == [0, 1]


def test_a_row_of_no_known_group_gets_the_mean_over_the_groups() -> None:
    X, y, s = two_groups()
    model = RejectOption(missing="drop").fit(X, y, sensitive_features=s)
    each = [model.predict_proba(X, sensitive_features=np.full(300, g)) for g in (0, 1)]
    lost = model.predict_proba(X, sensitive_features=[None] * 300)
    np.testing.assert_allclose(lost, (each[0] + each[1]) / 2)
    with pytest.warns(IsonomyWarning, match="7 was not among the groups"):
        model.predict(X, sensitive_features=np.full(300, 7))


def test_too_few_rows_for_the_folds_are_one_sentence() -> None:
    X, y, s = np.eye(4), [0, 1, 0, 1], [0, 0, 1, 1]
    with pytest.raises(InputError, match="reject_option could not be fitted on these 4 rows"):
        RejectOption().fit(X, y, sensitive_features=s)


def test_a_model_of_its_own_says_that_it_leaves_a_learner_unused(rows) -> None:
    X, y, s = rows
    with pytest.warns(
        IsonomyWarning, match=r"meta_fair_classifier .* \(LogisticRegression\) unused"
    ):
        MetaFairClassifier(LogisticRegression(), favorable="good").fit(X, y, sensitive_features=s)
    MetaFairClassifier(favorable="good").fit(
        X, y, sensitive_features=s
    )  # a warning is an error here
