"""The forty models: every line makes a learner that fits, and what the study's scripts did to it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV

from isonomy.data import encode, load
from isonomy.errors import InputError, UnknownName
from isonomy.papers import load_study
from isonomy.papers.biswas_2020.learners import Boosted, ForestSearch, smote
from isonomy.papers.biswas_2020.models import FAMILIES, kernel, kernels, settled
from isonomy.papers.biswas_2020.workbench import (
    KaggleWorkbench,
    old_equalized_odds,
    unknown_label,
)
from isonomy.store import Store
from isonomy.study import plan, run, run_trial
from tests.contract.test_datasets import home_credit_file


def rows(n: int = 160) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + 0.5 * rng.normal(size=n) > 0.3).astype(int)


def test_there_are_eight_models_of_five_datasets_and_twelve_families() -> None:
    table = pd.Series({name: row.dataset for name, row in kernels().items()})
    assert table.value_counts().tolist() == [8] * 5
    assert {row.family for row in kernels().values()} == set(FAMILIES)
    study = load_study("biswas_2020")
    assert study.models == tuple(kernels())
    by_dataset = {row.dataset: [] for row in kernels().values()}
    for name, row in kernels().items():
        by_dataset[row.dataset].append(name)
    assert {name: list(models) for name, models in study.models_of} == by_dataset
    with pytest.raises(UnknownName, match="GC9"):
        kernel("GC9")


SMALL = {"n_estimators": 5, "iterations": 5}


@pytest.mark.parametrize(
    "model", ["GC3", "BM2", "AC4", "GC4", "GC8", "AC1", "AC3", "AC8", "HC3", "TM3"]
)
def test_a_model_of_every_family_is_fitted(model: str) -> None:
    X, y = rows()
    learner = kernel(model).make(seed=1)
    if isinstance(learner, Boosted):
        smaller = {k: v for k, v in (learner.parameters or {}).items() if k not in SMALL}
        trees = "iterations" if learner.library == "catboost" else "n_estimators"
        learner.set_params(parameters=smaller | {trees: 40}, stop=None)
    fitted = learner.fit(X, y)
    assert (fitted.predict(X) == y).mean() > 0.7
    assert type(settled(fitted)) is type(fitted)


def test_a_forest_search_is_scikit_learn_s_grid_search() -> None:
    X, y = rows(400)
    grid = {"n_estimators": [3, 9, 5], "max_depth": [3, 4], "criterion": ["gini", "entropy"]}
    for scoring in ("accuracy", "precision", "recall", "roc_auc"):
        forest = RandomForestClassifier(random_state=3)
        ours = ForestSearch(forest, grid, scoring=scoring).fit(X, y)
        theirs = GridSearchCV(forest, grid, scoring=scoring).fit(X, y)
        assert ours.best_params_ == theirs.best_params_
        assert ours.best_score_ == pytest.approx(theirs.best_score_)
        assert (ours.predict_proba(X) == theirs.predict_proba(X)).all()
    assert settled(ours).get_params()["max_depth"] == ours.best_params_["max_depth"]
    with pytest.raises(InputError, match="n_estimators"):
        ForestSearch(forest, {"max_depth": [1]}).fit(X, y)


def test_trees_stop_on_the_rows_in_view_and_are_counted() -> None:
    X, y = rows(300)
    for library, trees in (
        ("xgboost", "n_estimators"),
        ("lightgbm", "n_estimators"),
        ("catboost", "iterations"),
    ):
        learner = Boosted(library, {trees: 60, "learning_rate": 0.5}, stop=3)
        fitted = learner.fit(X[:200], y[:200], watched=(X[200:], y[200:]))
        assert 1 <= fitted.n_trees_ < 60
        again = fitted.settled()
        if library == "xgboost":
            same = again.fit(X[:200], y[:200])
            assert (same.predict_proba(X) == fitted.predict_proba(X)).all()
    held = Boosted("xgboost", {"n_estimators": 60, "learning_rate": 0.5}, stop=3, smote=True)
    assert held.fit(X, y, np.ones(300)).n_trees_ < 60


def test_xgboost_cuts_halfway_as_it_did_in_2020() -> None:
    # BM1's test rows are standardised by means of their own, a little off the training rows'
    X, y = np.repeat([[-1.0], [1.0]], 50, axis=0), np.repeat([0, 1], 50)
    model = Boosted("xgboost", {"n_estimators": 5}).fit(X, y)
    assert model.predict([[-0.9], [-0.1], [0.1], [0.9]]).tolist() == [0, 0, 1, 1]


def test_lightgbm_stops_by_the_area_alone() -> None:
    X, y = rows(400)
    model = Boosted("lightgbm", {"n_estimators": 20}, stop=5)
    model.fit(X[:200], y[:200], watched=(X[200:], y[200:]))
    (watched,) = model.model_.evals_result_.values()
    assert [*watched] == ["auc"]  # and not the log loss beside it
    best = int(np.argmax(watched["auc"])) + 1
    assert model.n_trees_ == best


def test_an_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(ImportError, match=r'pip install "isonomy\[boost\]"'):
        Boosted().fit(*rows())
    # in a study the model is skipped with what to do, and the others go on
    study = load_study("biswas_2020").with_(
        models=("GC3", "GC8"), tasks=["german/sex"], methods=["unmitigated", "reweighing"]
    )
    records = run_trial(study, plan(study)[0])
    assert {r.status for r in records if r.model == "GC8"} == {"ok"}
    (reason,) = {r.reason for r in records if r.model == "GC3"}
    assert {r.status for r in records if r.model == "GC3"} == {"skipped"}
    assert reason.startswith("Model GC3 needs xgboost, which is not installed; run: pip install")


def test_smote_brings_classes_to_balance_between_neighbours() -> None:
    X = np.array([[0.0, 0], [0, 1], [0, 2], [0, 3], [5, 5], [7, 5]])
    more, y = smote(X, np.array([0, 0, 0, 0, 1, 1]), random_state=1)
    assert np.bincount(y).tolist() == [4, 4]
    assert ((more[6:, 0] >= 5) & (more[6:, 0] <= 7) & (more[6:, 1] == 5)).all()
    with pytest.raises(InputError, match="two classes"):
        smote(X, np.array([0, 0, 0, 0, 0, 1]))


def test_the_old_equalized_odds_leaves_one_favourable_prediction_in_a_group() -> None:
    rng = np.random.default_rng(1)
    s = (rng.random(2000) < 0.86).astype(int)
    y = (rng.random(2000) < np.where(s == 1, 0.25, 0.15)).astype(int)
    labels = np.where(rng.random(2000) < 0.85, y, 1 - y)
    flipped = old_equalized_odds(labels, y, s)
    assert [int(flipped[s == g].sum()) for g in (0, 1)] == [1, 1]


def test_labels_that_are_not_known_are_never_right() -> None:
    labels, y = np.array([1, 1, 0, 0, 1, 0]), np.array([1, 0, 0, 1, 0, 0])
    s = np.array([1, 1, 1, 0, 0, 0])
    measured = unknown_label(labels, y, s)
    assert measured == {
        "accuracy": pytest.approx(1 / 6),
        "error_rate_difference": pytest.approx(1 - 2 / 3),
    }


def published(model: str, **changes: object) -> dict[str, dict[str, float]]:
    study = load_study("biswas_2020").with_(models=(model,), tasks=["german/sex"], **changes)
    return {r.mitigator: r.metrics for r in run_trial(study, plan(study)[0])}


def test_the_rows_of_a_model_as_published() -> None:
    rows = published("GC7")
    base, weighed = rows["unmitigated"], rows["reweighing"]
    for same in (
        "equal_opportunity_difference",
        "average_odds_difference",
        "consistency",
        "theil_index",
    ):
        assert weighed[same] == base[same]
    for other in ("accuracy", "statistical_parity_difference", "error_rate_difference"):
        assert weighed[other] != base[other]
    repaired, calibrated = (
        rows[m] for m in ("disparate_impact_remover", "calibrated_equalized_odds(cost=fnr)")
    )
    # the score of good is the probability of bad: labels are turned round
    assert calibrated["accuracy"] == pytest.approx(1 - repaired["accuracy"])
    assert calibrated["consistency"] == pytest.approx(repaired["consistency"])
    assert rows["equalized_odds"]["accuracy"] < 0.4
    assert (
        rows["prejudice_remover(eta=1)"]["accuracy"]
        < rows["prejudice_remover(eta=1)"]["favorable_f1"]
    )


def test_scaling_as_the_scripts_had_it() -> None:
    study = load_study("biswas_2020").with_(tasks=["german/sex"])
    trial = plan(study)[0]
    data = KaggleWorkbench(study, trial, "kaggle40(model=GC6)", "aif360")
    assert np.abs(data.X.mean(axis=0)).max() < 1e-9
    assert data.X is data.X_base
    assert np.abs(data.X_test.mean(axis=0)).max() > 1e-3  # by the means of the training rows
    plain = KaggleWorkbench(study, trial, "kaggle40(model=GC8)", "aif360")
    assert plain.X.max() > 1000


def test_home_credit_runs_on_a_file_of_its_schema(tmp_path: Path) -> None:
    file = home_credit_file(tmp_path)
    dataset = f"home_credit(path='{file}', partial=True)"
    study = load_study("biswas_2020").with_(
        models=("HC2", "HC3", "HC8"),
        tasks=[f"{dataset}/sex"],
        methods=["unmitigated", "reweighing"],
    )
    done = run_trial(study, plan(study)[0])
    assert {r.model for r in done} == {"HC2", "HC3", "HC8"}
    assert {r.status for r in done} == {"ok"}, [r.reason for r in done]
    frame = encode(load("home_credit", path=file, partial=True), "kaggle40_corrected")
    assert frame.y.mean() > 0.5  # repaying is favourable


@pytest.mark.slow
def test_all_eight_models_of_home_credit_run_with_every_method(tmp_path: Path) -> None:
    dataset = f"home_credit(path='{home_credit_file(tmp_path)}', partial=True)"
    models = tuple(name for name, row in kernels().items() if row.dataset == "home_credit")
    study = load_study("biswas_2020").with_(models=models, tasks=[f"{dataset}/sex"])
    done = run_trial(study, plan(study)[0])
    assert len(done) == 8 * 8
    assert {r.status for r in done} == {"ok"}, [r.reason for r in done]


def test_home_credit_without_its_file_is_skipped_with_the_reason(tmp_path: Path) -> None:
    absent = f"home_credit(path='{tmp_path}')"
    study = load_study("biswas_2020").with_(
        models=("HC3", "GC8"),
        tasks=[f"{absent}/sex", "german/sex"],
        methods=["unmitigated", "equalized_odds"],
        repeats=1,
    )
    assert run(study, tmp_path / "out", backend="serial").statuses == {"ok": 2, "skipped": 2}
    missing = run_trial(study, plan(study)[0])
    assert {r.status for r in missing} == {"skipped"}
    assert all("application_train.csv" in r.reason and "download" in r.reason for r in missing)
    home_credit_file(tmp_path)  # it is there now, though not whole: tried again, and told so
    again = run(study, tmp_path / "out", backend="serial", retry=["skipped"])
    assert again.statuses["skipped"] == 2
    reasons = Store.open(tmp_path / "out").runs("status = 'skipped'")["reason"]
    assert reasons.str.contains("partial=True").all()
