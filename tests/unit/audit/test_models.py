"""Several models on the same rows: each as its own audit says, ranks, the front, what is left out."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from isonomy import audit, audit_models
from isonomy.audit import run
from isonomy.errors import InputError, NotApplicable
from isonomy.report import summarize, to_html


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n = 1500
    table = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    table["sex"] = np.where(table["a"] + rng.normal(size=n) > 0, "m", "f")
    good = table["a"] + table["b"] + 0.5 * rng.normal(size=n) > 0
    return table.assign(y=np.where(good, "yes", "no"))


@pytest.fixture(scope="module")
def models(rows):
    X, y = rows[["a", "b", "c"]][:700], rows["y"][:700]
    return {
        "both": LogisticRegression().fit(X, y),
        "biased": LogisticRegression().fit(X[["a"]], y),
        "blind": LogisticRegression().fit(X[["b"]], y),
        "noise": DecisionTreeClassifier(max_depth=1, random_state=0).fit(X[["c"]], y),
        "svm": LinearSVC().fit(X, y),
    }


@pytest.fixture(scope="module")
def found(rows, models):
    test = rows[700:]
    return audit_models(
        {**models, "other columns": LogisticRegression().fit(test[["a"]].set_axis(["z"], axis=1), test["y"]),
         "a list": [1], "numbers": LogisticRegression().fit(test[["a"]], test["y"] == "yes"),
         "unfitted": LogisticRegression()},
        test[["a", "b", "c", "sex"]], test["y"], sensitive_features=test[["sex"]], favorable="yes",
        privileged="m", left_out={"gone": "it was not there"},
    )  # fmt: skip


def test_each_model_is_audited_as_by_itself(found, rows, models) -> None:
    test = rows[700:]
    alone = audit(
        test["y"], models["blind"].predict(test[["b"]]), sensitive_features=test[["sex"]],
        favorable="yes", privileged="m",
    )  # fmt: skip
    mine = {f.name: f for f in found.audits["blind"].metrics}
    for f in alone.metrics:
        assert (mine[f.name].value, mine[f.name].low, mine[f.name].verdict) == (
            f.value, f.low, f.verdict,
        )  # fmt: skip
    assert "roc_auc" in mine
    assert "roc_auc" not in {f.name for f in found.audits["svm"].metrics}
    assert any("Without probabilities" in note and "svm" in note for note in found.notes)


def test_ranks_front_and_what_is_shown(found) -> None:
    table = found.frame().set_index("model")
    gain, bias = table["performance"], table["bias"]
    assert (table["performance_rank"] == gain.rank(ascending=False, method="min")).all()
    assert (table["bias_rank"] == bias.rank(method="min")).all()
    assert bias.equals(table["gap"].abs())
    beaten = [
        ((gain >= g) & (bias <= b) & ((gain > g) | (bias < b))).any()
        for g, b in zip(gain, bias, strict=True)
    ]
    assert (table["front"] == ~np.array(beaten)).all()
    pairs = found.frame("pairs").set_index(["one", "other"])
    assert pairs.loc[("both", "biased"), "better"] == "both"
    assert pairs.loc[("biased", "blind"), "fairer"] == "blind"
    assert pd.isna(pairs.loc[("both", "svm"), "better"])
    low, high = zip(*table["performance_ranks"], strict=True)
    assert (np.array(low) <= table["performance_rank"]).all()
    assert (table["performance_rank"] <= np.array(high)).all()


def test_models_that_cannot_answer_are_left_out_with_a_sentence(found) -> None:
    why = dict(found.left_out)
    assert why["gone"] == "it was not there"
    assert "'z' is not there" in why["other columns"]
    assert "it is a list" in why["a list"]
    assert "must predict the labels of the data" in why["numbers"]
    assert "NotFittedError" in why["unfitted"]
    assert list(found.audits) == ["both", "biased", "blind", "noise", "svm"]


def test_plain_data_and_page(found) -> None:
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert {m["model"] for m in data["models"]} == set(found.audits)
    assert len(found.frame("metrics")) == sum(len(a.metrics) for a in found.audits.values())
    page = to_html(summarize(found, title="t <b>"))
    for text in ("t &lt;b&gt;", "Left out", "All 10 pairs", "is fairer", "<svg"):
        assert text in page
    assert page.count("<script") == 1
    with pytest.raises(InputError, match="what must be"):
        found.frame("x")


def test_the_better_off_group_is_chosen_and_said(rows, models) -> None:
    test = rows[700:]
    found = audit_models(
        {"both": models["both"]}, test, test["y"], sensitive_features=test["sex"], favorable="yes",
        resamples=100, fairness="equalized_odds_difference",
    )  # fmt: skip
    assert found.settings["privileged"] == {"sex": ["m"]}
    assert any("No privileged group was named" in note for note in found.notes)
    with pytest.raises(InputError, match=r"'age' has 50 groups.*--bins age=30,43,55"):
        audit_models(
            {"both": models["both"]}, test, test["y"], favorable="yes",
            sensitive_features={"age": np.arange(len(test)) % 50 + 18},
        )  # fmt: skip


def test_goals_that_cannot_be_ranked(rows, models) -> None:
    known = {"sensitive_features": rows["sex"], "favorable": "yes"}
    with pytest.raises(NotApplicable, match="roc_auc"):
        audit_models(models, rows, rows["y"], performance="roc_auc", **known)
    with pytest.raises(NotApplicable, match="accuracy"):
        audit_models(models, rows, rows["y"], fairness="accuracy", **known)
    with pytest.raises(InputError, match="At least one model"):
        audit_models({"x": 3}, rows, rows["y"], **known)
    found = audit_models(
        {k: models[k] for k in ("both", "blind")}, rows, rows["y"], resamples=100,
        fairness="equalized_odds_difference", **known,
    )  # fmt: skip
    assert all(p.fairer is None and np.isnan(p.bias_p) for p in found.pairs)
    assert any("No model is called fairer" in note for note in found.notes)


def test_arrays_and_sparse_matrices_are_audited_like_frames(rows) -> None:
    X, y, sex = rows[["a", "b", "c"]].to_numpy(), rows["y"], rows["sex"]
    models = {"both": LogisticRegression().fit(X, y)}
    known = {"sensitive_features": {"sex": sex}, "favorable": "yes", "privileged": "m"}
    dense, framed = (
        audit_models(models, table, y, metrics=["consistency"], resamples=100, **known)
        for table in (X, rows[["a", "b", "c"]])
    )
    assert dense.frame("metrics").equals(framed.frame("metrics"))
    assert "consistency" in set(dense.frame("metrics")["name"])
    matrix = audit_models(models, sparse.csr_array(X), y, resamples=100, **known)
    assert matrix.frame("pairs").equals(dense.frame("pairs"))
    assert matrix.frame()["performance"].equals(dense.frame()["performance"])


def test_columns_are_looked_at_once_for_all_models(
    rows, models, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, near = [], []
    look, find = run.look_for_others, run.neighbours
    monkeypatch.setattr(run, "look_for_others", lambda *a: looked.append(1) or look(*a))
    monkeypatch.setattr(run, "neighbours", lambda *a, **k: near.append(1) or find(*a, **k))
    test = rows[700:].assign(title=np.where(rows["sex"][700:] == "m", "Mr", "Ms"))
    found = audit_models(
        {name: models[name] for name in ("both", "biased", "blind")},
        test[["a", "b", "c", "title"]].assign(title=(test["title"] == "Mr") * 1.0), test["y"],
        sensitive_features=test[["sex"]], favorable="yes", resamples=100,
        metrics=["statistical_parity_difference", "consistency"],
    )  # fmt: skip
    assert (len(looked), len(near)) == (1, 1)
    (note,) = [note for note in found.notes if "title alone predicts sex" in note]
    assert all(note in audit.notes for audit in found.audits.values())


def test_violations_hold_for_all_models_together(found) -> None:
    every = found.violated("statistical_parity_difference")
    assert "biased" in every
    assert "blind" not in every
    for name, some in every.items():
        assert set(some) <= set(found.audits[name].violated("statistical_parity_difference"))


def test_nothing_is_said_of_violations_where_there_are_none(rows, models) -> None:
    test = rows[700:]
    few = {name: models[name] for name in ("blind", "biased")}
    known = {"sensitive_features": test[["sex"]], "favorable": "yes", "privileged": "m"}
    wide = audit_models(few, test, test["y"], thresholds={"spd": 0.9}, metrics=["spd"], **known)
    narrow = audit_models(few, test, test["y"], metrics=["spd"], **known)
    assert not any("violated" in note for note in wide.notes)
    assert any("Of 1 violated, 1 holds for all 2 verdicts" in note for note in narrow.notes)


def test_models_have_names() -> None:
    with pytest.raises(InputError, match="must name each model"):
        audit_models([LogisticRegression()], [[0.0]], [1], sensitive_features=[0])


def test_score_metrics_are_for_the_models_that_have_scores(rows, models) -> None:
    test = rows[700:]
    some = {name: models[name] for name in ("both", "svm")}
    found = audit_models(
        some, test[["a", "b", "c"]], test["y"], sensitive_features=test[["sex"]], favorable="yes",
        privileged="m", metrics=["brier_score"], resamples=100,
    )  # fmt: skip
    assert set(found.audits) == {"both", "svm"}
    table = found.frame("metrics")
    assert set(table.loc[table["name"] == "brier_score", "model"]) == {"both"}
    assert any("Without probabilities" in n and n.endswith("svm.") for n in found.notes)


def test_neighbours_of_rows_with_words_are_refused_in_one_sentence(rows, models) -> None:
    test = rows[700:]
    with pytest.raises(InputError, match=r"distance between rows needs numeric.*'sex'"):
        audit_models(
            {"both": models["both"]}, test[["a", "b", "c", "sex"]], test["y"],
            sensitive_features=test[["sex"]], favorable="yes", metrics=["consistency"],
        )  # fmt: skip
