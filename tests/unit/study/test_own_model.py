"""Learners of the user's own: one text per model, refused where there is none."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

from isonomy.errors import InputError
from isonomy.mitigators import Reweighing
from isonomy.store import Store
from isonomy.study import OwnModel, Study, Trial, keys, run
from isonomy.study.own_model import write_out

TRIAL = Trial("synthetic(n=300)", "group", 0)


class Mine(ClassifierMixin, BaseEstimator):
    """A classifier of the user's own, in a module of their own."""

    def __init__(self, lock: Any = None) -> None:
        self.lock = lock

    def fit(self, X: Any, y: Any) -> "Mine":
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


def study(model: Any, **changes: Any) -> Study:
    own = OwnModel.of("mine", model)
    fields = {"methods": ["unmitigated", "reweighing"], "own_models": [own]} | changes
    return Study("s", ["synthetic(n=300)/group"], ["mine"], **fields)


def test_other_parameters_classes_steps_and_functions_are_other_models() -> None:
    models = [
        LogisticRegression(),
        LogisticRegression(C=2),
        DecisionTreeClassifier(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(StandardScaler(with_mean=False), LogisticRegression()),
        make_pipeline(FunctionTransformer(np.abs), LogisticRegression()),
        make_pipeline(FunctionTransformer(np.sqrt), LogisticRegression()),
        LogisticRegression(class_weight={0: 1, 1: 2}),
        GaussianNB(priors=np.array([0.5, 0.5])),
        GaussianNB(priors=np.array([0.4, 0.6])),
        GridSearchCV(LogisticRegression(), {"C": [1, 2]}, cv=KFold(3)),
        GridSearchCV(LogisticRegression(), {"C": [1, 2]}, cv=KFold(4)),
        VotingClassifier([("a", GaussianNB()), ("b", LogisticRegression())]),
        XGBClassifier(max_depth=2),
        XGBClassifier(max_depth=3),
        Mine(),
    ]
    texts = [OwnModel.of("m", model).text for model in models]
    assert len(set(texts)) == len(models)
    assert texts == [OwnModel.of("m", model).text for model in models]
    assert not any(" at 0x" in text for text in texts)
    every = {key for model in models for key in keys(study(model), TRIAL)}
    assert len(every) == 2 * len(models)
    # what changes no result, and what a fit leaves behind, is not in it
    fitted = RandomForestClassifier(n_estimators=3, n_jobs=2).fit(np.eye(4), [0, 1, 0, 1])
    assert OwnModel.of("m", fitted).text == OwnModel.of("m", fitted.set_params(n_jobs=1)).text
    assert write_out({"b": 1, "a": {2, 1}}) == write_out({"a": {1, 2}, "b": 1})


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (LinearRegression(), "must be a classifier .* LinearRegression"),
        (LogisticRegression, "must be a classifier .* LogisticRegression"),
        ("text", "must be a classifier"),
        (Reweighing(), "is the mitigator reweighing: name it among the methods"),
        (make_pipeline(FunctionTransformer(lambda X: X), GaussianNB()), "lambda .* cannot be"),
        (LogisticRegression(random_state=np.random.RandomState(0)), "a random generator"),
        (Mine(threading.Lock()), r"cannot be: TypeError: cannot pickle"),
        (
            make_pipeline(
                make_column_transformer((StandardScaler(), make_column_selector("x"))),
                GaussianNB(),
            ),
            "begins by selecting columns",
        ),
    ],
)
def test_what_cannot_be_one_is_refused_in_words(model: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        OwnModel.of("mine", model)


def test_its_runs_are_those_of_the_named_learner_and_never_mixed(tmp_path: Path) -> None:
    named = Study("s", ["synthetic(n=300)/group"], ["rf"], ["unmitigated", "reweighing"])
    mine = study(RandomForestClassifier())  # no seed: it gets that of the split
    run(named, tmp_path / "named")
    outcome = run(mine, tmp_path / "mine", backend="loky", workers=1)
    assert outcome.statuses == {"ok": 2}
    frames = [Store.open(tmp_path / name).frame() for name in ("named", "mine")]
    np.testing.assert_array_equal(*(f["value"].to_numpy() for f in frames))
    assert run(mine, tmp_path / "mine").done == 0
    with pytest.raises(InputError, match="under another one"):
        run(study(RandomForestClassifier(max_depth=2)), tmp_path / "mine")
    # from the file of the study its results can be read, and none added
    again = Study.from_toml(mine.toml())
    assert again == mine
    assert run(again, tmp_path / "mine").done == 0
    with pytest.raises(InputError, match="was given as an object in Python"):
        run(again.with_(repeats=2), tmp_path / "mine")
    with pytest.raises(InputError, match="must have a name of its own; 'rf' is one of ours"):
        Study("s", named.tasks, ["rf"], named.methods, own_models=[OwnModel.of("rf", Mine())])


def test_a_learner_that_names_no_number_of_threads_gets_one() -> None:
    made = OwnModel.of("mine", make_pipeline(StandardScaler(), LGBMClassifier())).make(3)
    assert made[-1].get_params()["n_jobs"] == 1
    assert OwnModel.of("mine", LGBMClassifier(n_jobs=2)).make(3).get_params()["n_jobs"] == 2
