"""Scores from whatever a user calls a model, and the sentence where there are none."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from isonomy.counterfactual import Scorer, score_pairs
from isonomy.errors import InputError, UnknownName

X = pd.DataFrame({"sex": [0, 1] * 10, "z": np.arange(20.0)})
Y = np.where(X["z"] > 9, "yes", "no")


def test_the_favourable_label_is_the_one_named() -> None:
    model = LogisticRegression().fit(X, Y)
    assert np.allclose(Scorer(model, "yes")(X), model.predict_proba(X)[:, 1])
    assert np.allclose(Scorer(model, "no")(X), model.predict_proba(X)[:, 0])
    with pytest.raises(InputError, match="favourable label must be named"):
        Scorer(model)
    with pytest.raises(UnknownName, match="did you mean 'yes'"):
        Scorer(model, "yess")


def test_functions_with_one_or_two_columns() -> None:
    assert Scorer(lambda X: np.full(len(X), 0.3))(X)[0] == 0.3
    assert Scorer(lambda X: np.tile([0.3, 0.7], (len(X), 1)))(X)[0] == 0.7


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda X: np.full(len(X), 1.5), "between 0 and 1"),
        (lambda X: np.full(len(X), np.nan), "finite"),
        (lambda X: np.zeros(3), "one score per row"),
        (lambda X: np.zeros((len(X), 3)), "one column"),
        (lambda X: ["a"] * len(X), "numbers"),
        (lambda X: X["zz"], "score these rows"),
    ],
)
def test_bad_answers(answer, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Scorer(answer)(X)


def test_a_model_without_probabilities() -> None:
    with pytest.raises(InputError, match="LinearSVC has none"):
        Scorer(LinearSVC())


def test_a_model_that_rejects_the_columns() -> None:
    model = LogisticRegression().fit(X[["z"]], Y)
    with pytest.raises(InputError, match="LogisticRegression said: ValueError"):
        Scorer(model, "yes")(X)


def test_two_calls_whatever_the_number_of_groups() -> None:
    frame = X.assign(race=list("abcde") * 4)
    scorer = Scorer(DummyClassifier(strategy="prior").fit(frame, Y), "yes")
    score_pairs(scorer, frame, ["race", "sex"])
    assert scorer.calls == 2
    score_pairs(scorer, frame, "race", together=True)
    assert scorer.calls == 3


def test_pairs_by_hand() -> None:
    frame = pd.DataFrame({"race": ["a", "b", "c"], "z": [0.2, 0.2, 0.2]})
    add = {"a": 0.0, "b": 0.1, "c": 0.35}
    pairs = score_pairs(lambda X: X["z"] + X["race"].map(add), frame, "race")
    assert np.allclose(pairs.cd, [0.35, 0.25, -0.25])
    assert pairs.target.tolist() == [2, 2, 1]
    assert pairs.flipped.tolist() == [True, True, True]
    one = score_pairs(lambda X: X["z"] + X["race"].map(add), frame, "race", against="b")
    assert np.allclose(one.cd, [0.1, 0.25, -0.25])


class Told:
    """A method that must be told the groups, as post-processors are."""

    needs_sensitive_at_predict = True
    classes_ = np.array([0, 1])

    def predict_proba(self, X, *, sensitive_features):
        p = 0.4 + 0.2 * (np.asarray(sensitive_features["sex"]) == "m")
        return np.column_stack([1 - p, p])


def test_a_method_that_is_told_the_groups_is_told_the_flipped_ones() -> None:
    pairs = score_pairs(Told(), np.zeros((4, 1)), {"sex": ["f", "m", "f", "m"]})
    assert np.allclose(pairs.cd, [0.2, -0.2, 0.2, -0.2])
