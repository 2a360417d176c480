"""Words and gaps as numbers, only where nobody else takes care of them."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from xgboost import XGBClassifier

from isonomy.errors import InputError, IsonomyWarning
from isonomy.mitigators import (
    FairMask,
    FairSmote,
    Minimax,
    PrejudiceRemover,
    RejectOption,
    Reweighing,
    Suppression,
)
from isonomy.mitigators._encode import TableEncoder, is_plain, takes_table

WORDS = pd.DataFrame({"sex": ["f", "m"] * 20, "job": ["nurse", "cook", "nurse", "clerk"] * 10})
GAPS = pd.DataFrame({"pay": [1.0, np.nan] * 20})


def test_what_learners_take() -> None:
    code = make_column_transformer((OneHotEncoder(), ["job"]), remainder="drop")
    assert takes_table(make_pipeline(code, LogisticRegression()), WORDS)
    assert not takes_table(make_pipeline(StandardScaler(), LogisticRegression()), WORDS)
    assert not takes_table(LogisticRegression(), GAPS)
    assert takes_table(RandomForestClassifier(), GAPS)
    assert not takes_table(RandomForestClassifier(), WORDS)
    assert takes_table(HistGradientBoostingClassifier(), WORDS.astype("category"))
    assert takes_table(make_pipeline(SimpleImputer(), LogisticRegression()), GAPS)
    assert not takes_table(make_pipeline(StandardScaler(), LogisticRegression()), GAPS)


def test_a_protected_column_of_two_values_is_one_column() -> None:
    encoder, table, protected = TableEncoder.learn(WORDS, [0], who="test")
    assert protected == (0,)
    assert table.iloc[:4, 0].tolist() == [0, 1, 0, 1]
    assert is_plain(table)
    strange = encoder(pd.DataFrame({"sex": ["m"], "job": ["pilot"]}))
    assert list(strange.columns) == list(table.columns)
    several = WORDS.assign(sex=np.resize(["f", "m", "x"], 40))
    _, table, protected = TableEncoder.learn(several, [0], who="test")
    assert [table.columns[j] for j in protected] == ["sex=f", "sex=m", "sex=x"]
    named = several.rename(columns={"sex": "job=2"})
    _, table, protected = TableEncoder.learn(named, [0], who="test")
    assert [table.columns[j] for j in protected] == ["job=2=f", "job=2=m", "job=2=x"]
    _, table, protected = TableEncoder.learn(named, [1], who="test")
    assert [table.columns[j] for j in protected] == ["job=clerk", "job=cook", "job=nurse"]


def test_numbers_must_stay_numbers() -> None:
    encoder, table, _ = TableEncoder.learn(GAPS, [], who="test")
    assert table["pay"].tolist() == [0.0] * 40  # the median is the only value
    with pytest.raises(InputError, match="must hold numbers, as in fit"):
        encoder(pd.DataFrame({"pay": ["much"]}))
    with pytest.raises(InputError, match="infinite"):
        encoder(pd.DataFrame({"pay": [np.inf]}))


def test_a_pipeline_of_ones_own_sees_the_words() -> None:
    code = make_column_transformer((OneHotEncoder(), ["job"]))
    model = Suppression(make_pipeline(code, LogisticRegression()))
    y = (WORDS["job"] == "nurse").to_numpy().astype(int)
    model.fit(WORDS, y, sensitive_features=WORDS["sex"])
    assert list(model.estimator_.feature_names_in_) == ["job"]


def test_a_pipeline_that_misses_its_columns_is_refused_with_the_way_out() -> None:
    y = np.resize([0, 0, 1, 1], 40)
    code = make_column_transformer((OneHotEncoder(), ["sex", "job"]))
    for method in (Suppression, FairSmote):
        model = method(make_pipeline(code, LogisticRegression()))
        with pytest.raises(InputError, match="the last step of the pipeline"):
            model.fit(WORDS, y, sensitive_features=WORDS["sex"])


@pytest.mark.parametrize("words", ["str", "object", "category"])
def test_an_encoder_is_saved_by_skops(words: str) -> None:
    skops = pytest.importorskip("skops.io", reason="needs the extra skops")
    X = WORDS.assign(pay=np.resize([1.0, np.nan, 3.0], 40)).astype({"job": words})
    y = (WORDS["job"] == "nurse").to_numpy().astype(int)
    model = PrejudiceRemover(sensitive_columns="sex").fit(X, y)
    saved = skops.dumps(model)
    again = skops.loads(saved, trusted=skops.get_untrusted_types(data=saved))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def people(sexes: str = "fm") -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"sex": np.resize([*sexes], 300), "job": rng.choice(["cook", "clerk"], 300)})
    X["pay"] = rng.normal(size=300) + 2.0 * (X["sex"] == "m")
    return X, (X["pay"] + (X["sex"] == "m") + rng.normal(size=300) > 1.5).to_numpy().astype(int)


@pytest.mark.parametrize("method", [Reweighing, PrejudiceRemover, RejectOption])
@pytest.mark.parametrize("sexes", ["fm", "fmxfmfmfmfmfmfmfmfmfmfmfmfmfmfmfmfmf"])
@pytest.mark.parametrize("lack", [None, "unheard of"])
def test_a_protected_column_that_is_not_known_is_no_group(
    method: Any, sexes: str, lack: str | None
) -> None:
    X, y = people(sexes)  # the second has a group of so few rows that its level is not its own
    asked = X.iloc[:30].assign(sex=lack)
    strict = method(privileged="m", sensitive_columns="sex").fit(X, y)
    with pytest.raises(InputError, match="seen in fit"):
        strict.predict_proba(asked)
    model = method(privileged="m", sensitive_columns="sex", missing="drop").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsonomyWarning)  # a group that fit has not seen
        told = model.predict_proba(asked)
    as_one = {sex: model.predict_proba(asked.assign(sex=sex)) for sex in X["sex"].unique()}
    assert np.abs(as_one["f"] - as_one["m"]).max() > 0
    low, high = np.min([*as_one.values()], axis=0), np.max([*as_one.values()], axis=0)
    assert ((told >= low - 1e-12) & (told <= high + 1e-12)).all()
    if sexes == "fm":
        np.testing.assert_allclose(told, (as_one["f"] + as_one["m"]) / 2, atol=1e-12)
    # the others are as they would be without them
    both = pd.concat([asked, X.iloc[30:60]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsonomyWarning)
        rest = model.predict_proba(both)[30:]
    np.testing.assert_array_equal(rest, model.predict_proba(X.iloc[30:60]))


def test_a_method_without_the_column_asks_for_nothing() -> None:
    X, y = people()
    for model in (Suppression(sensitive_columns="sex"), FairMask(sensitive_columns="sex")):
        fitted = model.fit(X, y)
        told = fitted.predict_proba(X.assign(sex=None))
        np.testing.assert_array_equal(told, fitted.predict_proba(X))


def test_the_group_that_is_known_fills_the_column() -> None:
    X, y = people()
    model = PrejudiceRemover(privileged="m", missing="drop").fit(
        X, y, sensitive_features=X[["sex"]]
    )
    told = model.predict_proba(X.assign(sex=np.nan), sensitive_features=X[["sex"]])
    np.testing.assert_array_equal(told, model.predict_proba(X, sensitive_features=X[["sex"]]))


@pytest.mark.parametrize("table", ["frame", "array", "sparse"])
def test_a_missing_attribute_in_a_table_of_numbers_follows_missing_too(table: str) -> None:
    """Without an encoder, too: the rest of the rows is as it was, and no group is guessed."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 200), rng.normal(size=200)])
    y = (X.sum(axis=1) + rng.normal(size=200) > 0.7).astype(int)
    make = {"frame": lambda a: pd.DataFrame(a, columns=["sex", "z"]), "array": np.array,
            "sparse": sparse.csr_array}[table]  # fmt: skip
    column = "sex" if table == "frame" else 0
    gone = X[:6].copy()
    gone[:3, 0] = np.nan
    for method in (Reweighing, Minimax):
        kept = method(LogisticRegression(), privileged=1, sensitive_columns=column).fit(
            make(X), y, sensitive_features=X[:, 0]
        )
        with pytest.raises(InputError, match=r"3 of 6 rows hold none: with missing='drop'"):
            kept.predict_proba(make(gone))
        fair = method(LogisticRegression(), privileged=1, sensitive_columns=column, missing="drop")
        fair.fit(make(X), y, sensitive_features=X[:, 0])
        p = [fair.predict_proba(make(np.column_stack([np.full(6, g), X[:6, 1]]))) for g in (0, 1)]
        share = X[:, 0].mean()
        mean = (1 - share) * p[0] + share * p[1]
        np.testing.assert_allclose(fair.predict_proba(make(gone))[:3], mean[:3])
        np.testing.assert_array_equal(
            fair.predict_proba(make(gone))[3:], fair.predict_proba(make(X[:6]))[3:]
        )


def test_minimax_refuses_other_missing_numbers_instead_of_calling_them_unfavourable() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = (X[:, 0] > 0).astype(int)
    fair = Minimax(rounds=5).fit(X, y, sensitive_features=rng.integers(0, 2, 100))
    with pytest.raises(InputError, match="minimax needs finite numbers"):
        fair.predict(np.array([[np.nan, 1.0]]))


@pytest.mark.parametrize(
    "learner", [XGBClassifier(n_estimators=2), LGBMClassifier(n_estimators=2, verbose=-1)]
)
def test_levels_may_be_called_what_boosters_refuse(learner: Any) -> None:
    X = pd.DataFrame(
        {
            "school": ["1. < HS Grad", '2. "HS" [or] more'] * 60,
            "race": ["a, b", "a, b", "c: d", "c: d"] * 30,
        }
    )
    y = np.arange(120) % 2  # as school says: neither learner says one thing to all
    model = Reweighing(learner).fit(X, y, sensitive_features=X["race"])
    assert len(model.predict(X)) == 120


def test_rows_of_no_group_are_found_under_any_name() -> None:
    X = pd.DataFrame({"race": ["a, b", "c [d]", "e: f"] * 40, "x": np.arange(120.0)})
    encoder, _, protected = TableEncoder.learn(X, (0,), who="it")
    table = encoder(X.assign(race=["new", *X["race"][1:]]))
    assert table.iloc[0, list(protected)].isna().all()
    assert table.iloc[1:].notna().all(axis=None)
