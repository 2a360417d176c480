"""What a model says of the rows: its columns, the data's labels, scores of the favourable ones."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from isonomy.audit.answers import ask
from isonomy.errors import InputError
from isonomy.mitigators import FairnessConstrainedThresholds

X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0], "sex": list("mfmf")})
Y = ["no", "no", "yes", "yes"]


def test_a_model_gets_its_own_columns_and_scores_favourable_labels() -> None:
    model = LogisticRegression().fit(X[["a"]], Y)
    notes: list[str] = []
    said = ask("m", model, X, {"sex": X["sex"]}, ["no", "yes"], ["yes"], notes)
    assert said.labels.tolist() == model.predict(X[["a"]]).tolist()
    assert said.score == pytest.approx(model.predict_proba(X[["a"]])[:, 1])
    other = ask("m", model, X, {"sex": X["sex"]}, ["no", "yes"], ["no"], notes)
    assert other.score == pytest.approx(1 - said.score)
    assert notes == []


def test_labels_are_written_as_in_the_data() -> None:
    model = DummyClassifier(strategy="constant", constant=1).fit(X[["a"]], [0, 0, 1, 1])
    said = ask("m", model, X, {}, ["0", "1"], ["1"], [])
    assert said.labels.tolist() == ["1"] * 4


def test_warnings_are_noted_under_the_name() -> None:
    class Loud(DummyClassifier):
        def predict(self, X: object) -> np.ndarray:
            warnings.warn("too hot\nand more", stacklevel=1)
            return super().predict(X)

    notes: list[str] = []
    ask("loud", Loud().fit(X[["a"]], Y), X, {}, ["no", "yes"], ["yes"], notes)
    assert "loud warns: too hot" in notes


def test_shapes_that_do_not_fit_are_one_sentence() -> None:
    class Two(DummyClassifier):
        def predict(self, X: object) -> np.ndarray:
            return np.array(["yes", "no"])

    with pytest.raises(InputError, match="one label per row; it gave an array of shape"):
        ask("m", Two().fit(X[["a"]], Y), X, {}, ["no", "yes"], ["yes"], [])
    nameless = LogisticRegression().fit(X[["a", "b"]].to_numpy(), Y)
    with pytest.raises(InputError, match=r"2 columns without names; the data have 3.*--drop"):
        ask("m", nameless, X, {}, ["no", "yes"], ["yes"], [])


@pytest.mark.parametrize("columns", [None, "sex"])
def test_a_mitigator_of_one_attribute_is_asked_where_several_are_audited(columns) -> None:
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"a": rng.normal(size=200), "sex": rng.choice([0, 1], 200)})
    y = (people["a"] + people["sex"] > 0.5).astype(int)
    model = FairnessConstrainedThresholds(LogisticRegression(), sensitive_columns=columns)
    model.fit(people, y, sensitive_features=people["sex"])
    several = {"race": rng.choice(["b", "w"], 200), "sex": people["sex"]}
    said = ask("m", model, people, several, [0, 1], [1], [])
    assert (said.labels == model.predict(people, sensitive_features=people["sex"])).all()


def test_a_mitigator_that_names_its_columns_reads_them_where_others_are_audited() -> None:
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"a": rng.normal(size=200), "sex": rng.choice([0, 1], 200)})
    y = (people["a"] + people["sex"] > 0.5).astype(int)
    model = FairnessConstrainedThresholds(LogisticRegression(), sensitive_columns="sex")
    model.fit(people, y)
    said = ask("m", model, people, {"race": rng.choice(["b", "w"], 200)}, [0, 1], [1], [])
    assert (said.labels == model.predict(people)).all()
