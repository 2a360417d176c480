"""Scorers: the value and its sign by hand, both ways to the attribute, and what is undefined."""

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isonomy import Counts, get_metric, scorer
from isonomy.errors import InputError, NotApplicable, UndefinedMetricWarning
from isonomy.mitigators import EqualizedOdds, Reweighing


class Says(ClassifierMixin, BaseEstimator):
    """Predicts the column ``says``; its probabilities are the column ``chance``."""

    def fit(self, X: Any, y: Any) -> "Says":
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: pd.DataFrame) -> Any:
        return X["says"].to_numpy()

    def predict_proba(self, X: pd.DataFrame) -> Any:
        return np.column_stack([1 - X["chance"], X["chance"]])


# women: 1 of 4 selected; men: 3 of 4
X = pd.DataFrame(
    {"sex": list("FFFFMMMM"), "says": [1, 0, 0, 0, 1, 1, 1, 0], "chance": np.arange(1, 9) / 10}
)
Y = np.array([1, 1, 0, 0, 1, 1, 0, 0])


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def people() -> tuple[pd.DataFrame, Any, Any]:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc"))
    table["sex"] = rng.integers(0, 2, 400)
    y = (table["a"] + table["sex"] * 0.8 + rng.normal(size=400) > 0.4).astype(int)
    return table, y, np.where(table["sex"] == 1, "M", "F")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("statistical_parity_difference", -0.5),
        ("disparate_impact", -(1 - 1 / 3)),
        ("accuracy", 6 / 8),  # one woman and one man are wrong
        ("error_rate", -2 / 8),
        ("brier_score", -np.mean((np.arange(1, 9) / 10 - Y) ** 2)),
        ("calibration_slope", None),
    ],
)
def test_greater_is_better(name: str, expected: float | None) -> None:
    model = Says().fit(X, Y)
    if expected is None:
        expected = -abs(get_metric(name)(Y, X["chance"].to_numpy()) - 1)
    score = scorer(name, sensitive_features="sex", privileged="M")(model, X, Y)
    assert score == pytest.approx(expected)


def test_both_signs_of_a_gap_score_alike() -> None:
    model = Says().fit(X, Y)
    women, men = (
        scorer("spd", sensitive_features="sex", privileged=p)(model, X, Y) for p in ("F", "M")
    )
    assert women == men == -0.5


def test_a_perfect_gap_scores_zero_and_not_minus_zero() -> None:
    fair = X.assign(says=[1, 0, 0, 1, 1, 0, 0, 1])
    score = scorer("spd", sensitive_features="sex")(Says().fit(fair, Y), fair, Y)
    assert str(score) == "0.0"


def test_the_value_is_that_of_the_metric_on_the_same_rows(people: Any) -> None:
    table, y, _ = people
    model = LogisticRegression().fit(table, y)
    counts = Counts.from_labels(y, model.predict(table), sensitive_features=table["sex"])
    for name in ("spd", "aod", "equalized_odds_difference", "error_rate_difference"):
        found = scorer(name, sensitive_features="sex")(model, table, y)
        assert found == -abs(get_metric(name)(counts))


def test_rows_of_one_group_are_undefined_with_the_reason() -> None:
    model, women = Says().fit(X, Y), X["sex"] == "F"
    with pytest.warns(UndefinedMetricWarning, match="hold group 'F' only"):
        score = scorer("spd", sensitive_features="sex")(model, X[women], Y[women])
    assert np.isnan(score)


def test_rows_without_the_privileged_group_are_not_compared_some_other_way() -> None:
    three = pd.concat([X, X.assign(sex="D")])
    labels = np.r_[Y, Y]
    model = Says().fit(three, labels)
    few = (three["sex"] != "M").to_numpy()
    named = scorer("spd", sensitive_features="sex", privileged="M")
    with pytest.warns(UndefinedMetricWarning, match="hold no privileged group"):
        assert np.isnan(named(model, three[few], labels[few]))


def test_a_rate_without_rows_is_undefined_with_the_reason() -> None:
    none = X[X["sex"] == "F"].assign(sex="D")
    both, labels = pd.concat([X, none]), np.r_[Y, np.zeros(4, dtype=int)]  # no D merits it
    with pytest.warns(UndefinedMetricWarning, match="'unprivileged' has no rows with a favourable"):
        score = scorer(
            "equal_opportunity_difference", sensitive_features="sex", privileged=["M", "F"]
        )(Says().fit(both, labels), both, labels)
    assert np.isnan(score)


def test_a_fold_with_one_class_still_has_selection_rates() -> None:
    model, poor = Says().fit(X, Y), Y == 0
    score = scorer("spd", sensitive_features="sex")(model, X[poor], Y[poor])
    assert score == -0.5  # 0 of 2 women, 1 of 2 men


def test_columns_of_a_frame_without_routing(people: Any) -> None:
    table, y, _ = people
    fair = {
        "spd": scorer("spd", sensitive_features="sex"),
        "acc": "accuracy",
        "auc": scorer("roc_auc"),
    }
    found = cross_validate(LogisticRegression(), table, y, scoring=fair, cv=3)
    assert (found["test_spd"] < -0.1).all()
    assert (found["test_acc"] > 0.6).all()
    search = GridSearchCV(LogisticRegression(), {"C": [1e-6, 1.0]}, scoring=fair, refit="spd", cv=3)
    search.fit(table, y)
    assert search.best_params_ == {"C": 1e-6}  # says one label to nearly everybody: no gap
    assert search.score(table, y) == pytest.approx(-0.0, abs=0.02)


def test_routed_attributes_reach_the_scorer_and_predict(people: Any, routing: None) -> None:
    table, y, sex = people
    given = {"sensitive_features": sex}
    for model in (EqualizedOdds(), make_pipeline(StandardScaler(), EqualizedOdds()), Reweighing()):
        for name in ("equalized_odds_difference", "balanced_accuracy", "roc_auc"):
            scores = cross_val_score(model, table, y, scoring=scorer(name), params=given, cv=3)
            assert np.isfinite(scores).all()
    plain = LogisticRegression()  # predict takes no attribute; the scorer alone does
    assert (cross_val_score(plain, table, y, scoring=scorer("spd"), params=given) < 0).all()
    scoring = {"spd": scorer("spd"), "acc": scorer("accuracy")}
    search = GridSearchCV(
        EqualizedOdds(), {"protocol": ["corrected"]}, scoring=scoring, refit="acc", cv=3
    )
    search.fit(table, y, **given)
    assert np.isfinite(search.cv_results_["mean_test_spd"]).all()
    assert search.score(table, y, **given) > 0.6
    assert clone(search).scoring["spd"].metric.name == "statistical_parity_difference"


def test_what_scikit_learns_own_scorer_does_has_a_sentence(people: Any, routing: None) -> None:
    table, y, sex = people
    with pytest.warns(UserWarning, match=r"passes nothing to predict; isonomy.scorer\(...\) does"):
        scores = cross_val_score(
            EqualizedOdds(),
            table,
            y,
            scoring="balanced_accuracy",
            params={"sensitive_features": sex},
        )
    assert np.isnan(scores).all()


def test_weights_are_asked_for(people: Any, routing: None) -> None:
    table, y, sex = people
    weight = np.where(sex == "F", 0.01, 1.0)
    model = LogisticRegression().set_fit_request(sample_weight=True)
    weighted = scorer("accuracy").set_score_request(sensitive_features=False, sample_weight=True)
    found = cross_val_score(model, table, y, scoring=weighted, params={"sample_weight": weight})
    plain = cross_val_score(LogisticRegression(), table, y, scoring="accuracy")
    assert not np.allclose(found, plain)


def test_requests_survive_a_copy() -> None:
    wanted = scorer("spd").set_score_request(sample_weight=True)
    copied = pickle.loads(pickle.dumps(wanted))
    assert copied.get_metadata_routing().score.requests == {
        "sensitive_features": True,
        "sample_weight": True,
    }
    named = scorer("spd", sensitive_features="sex").get_metadata_routing()
    assert named.score.requests["sensitive_features"] is False
    assert repr(copied) == "scorer('statistical_parity_difference')"


def test_mistakes() -> None:
    model = Says().fit(X, Y)
    with pytest.raises(InputError, match="enable scikit-learn's metadata routing"):
        scorer("spd")(model, X, Y)
    with pytest.raises(InputError, match="no column 'sexe'"):
        scorer("spd", sensitive_features="sexe")(model, X, Y)
    with pytest.raises(InputError, match="X must be a frame"):
        scorer("spd", sensitive_features="sex")(model, X.to_numpy(), Y)
    with pytest.raises(NotApplicable, match="needs neighbours"):
        scorer("consistency")
    with pytest.raises(NotApplicable, match="one per group"):
        scorer("spd(compare=each)")
    with pytest.raises(InputError, match="sensitive_features and sample_weight; got 'groups'"):
        scorer("spd").set_score_request(groups=True)
