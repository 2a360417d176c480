"""``isonomy audit-models`` as a person at a terminal meets it."""

import json
import pickle
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from isonomy.data.splits import seeded_order
from tests.e2e.command import isonomy

COLUMNS = ["--label", "y", "--favorable", "good", "--sensitive", "sex", "--drop", "yhat,race"]


@pytest.fixture
def folder(predictions: pd.DataFrame, tmp_path: Path) -> Path:
    predictions.to_csv(tmp_path / "p.csv", index=False)
    models = tmp_path / "models"
    models.mkdir()
    model = LogisticRegression().fit(predictions[["score"]], predictions["y"])
    (models / "mine.pkl").write_bytes(pickle.dumps(model))
    (models / "own.toml").write_text(
        '[models]\ntree = "dt(max_depth=3)"\n'
        'bayes = "sklearn.naive_bayes.GaussianNB(var_smoothing=0.1)"\nodd = "rf(depth=1)"\n'
    )
    for place, files in (("twice", ("a.toml", "b.toml")), ("named", ("a.toml", "tree.pkl"))):
        (tmp_path / place).mkdir()
        for file in files:
            (tmp_path / place / file).write_text('[models]\ntree = "dt"\n')
    return tmp_path


def test_a_folder_of_files_and_declared_models(folder: Path) -> None:
    options = [*COLUMNS, "--html", "page.html", "--json", "out.json", "--resamples", "100"]
    done = isonomy("audit-models", "models", "p.csv", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    data = json.loads((folder / "out.json").read_text())
    assert {m["model"] for m in data["models"]} == {"tree", "bayes"}
    assert "--trust" in data["left_out"]["mine"]
    assert "did you mean 'max_depth'" in data["left_out"]["odd"]
    assert "judged on the other 600" in " ".join(data["notes"])
    assert (folder / "page.html").read_text().startswith("<!DOCTYPE html>")
    for text in ("2 models on p.csv", "Pareto front", "left out"):
        assert text in done.stdout
    trusted = isonomy("audit-models", "models", "p.csv", *options, "--trust", cwd=folder)
    assert trusted.returncode == 0, trusted.stderr
    assert "3 models on p.csv" in trusted.stdout
    assert "flatter" in trusted.stdout


def test_a_gate_holds_for_all_models_together(folder: Path) -> None:
    options = [*COLUMNS, "--resamples", "100", "--json", "out.json"]
    ask = ["audit-models", "models", "p.csv", *options]
    gate = ["--threshold", "difference=0.001", "--fail-on", "statistical_parity_difference"]
    done = isonomy(*ask, *gate, cwd=folder)
    assert done.returncode == 1, done.stderr
    assert "thresholds violated: " in done.stderr
    assert "bayes: statistical_parity_difference (" in done.stderr
    assert isonomy(*ask, "--threshold", "difference=1", *gate[2:], cwd=folder).returncode == 0
    open_gate = isonomy(*ask, "--fail-on", "auc", cwd=folder)
    assert open_gate.returncode == 2
    assert "Only metrics that are judged can be violated" in open_gate.stderr


def test_the_privileged_group_is_chosen_from_all_rows(folder: Path) -> None:
    n = 400
    group = np.where(np.arange(n) % 2 == 0, "a", "b")
    test = np.zeros(n, dtype=bool)
    test[seeded_order(n, "q", 0, 0)[int(0.7 * n) :]] = True
    # in the rows that models are judged on b is better off, in all rows a
    chance = np.where(test, np.where(group == "a", 0.3, 0.6), np.where(group == "a", 0.9, 0.2))
    y = (np.random.default_rng(0).uniform(size=n) < chance).astype(int)
    pd.DataFrame({"y": y, "sex": group, "x": np.arange(n) % 7}).to_csv(folder / "q.csv")
    (folder / "own.toml").write_text('[models]\ntree = "dt"\n')
    options = ["--label", "y", "--sensitive", "sex", "--resamples", "100", "--json", "-"]
    done = isonomy("audit-models", "own.toml", "q.csv", *options, cwd=folder)
    data = json.loads(done.stdout)
    assert data["settings"]["privileged"] == {"sex": ["a"]}
    assert any("No privileged group was named for sex: 'a'" in note for note in data["notes"])


def test_models_that_lack_something_are_named_and_the_others_go_on(
    predictions: pd.DataFrame, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = folder / "models"
    margin = LinearSVC().fit(predictions[["score"]], predictions["y"])
    other = LogisticRegression().fit(
        predictions[["score"]].set_axis(["z"], axis=1), predictions["y"]
    )
    (models / "margin.pkl").write_bytes(pickle.dumps(margin))
    (models / "other.pkl").write_bytes(pickle.dumps(other))
    (models / "own.toml").write_text(
        '[models]\nboosted = "xgboost.XGBClassifier(n_estimators=9)"\n'
    )
    options = [*COLUMNS, "--trust", "--resamples", "100", "--json", "out.json"]
    for found in ({"mine", "margin", "boosted"}, {"mine", "margin"}):
        done = isonomy("audit-models", "models", "p.csv", *options, cwd=folder)
        assert done.returncode == 0, done.stderr
        data = json.loads((folder / "out.json").read_text())
        # labels are words: XGBoost counts classes, and knows its columns by name all the same
        assert {m["model"] for m in data["models"]} == found
        assert "'z' is not there" in data["left_out"]["other"]
        assert any("Without probabilities" in n and "margin" in n for n in data["notes"])
        monkeypatch.setitem(sys.modules, "xgboost", None)
    assert data["left_out"]["boosted"].endswith('run: pip install "isonomy[boost]".')


def test_what_gives_the_label_away_is_said_where_models_are_trained(
    folder: Path, predictions: pd.DataFrame
) -> None:
    predictions.assign(paid=(predictions["y"] == "good") * 1).to_csv(folder / "p.csv", index=False)
    options = [*COLUMNS, "--resamples", "100"]
    done = isonomy("audit-models", "models/own.toml", "p.csv", *options, cwd=folder)
    assert "paid alone predicts y for 100% of the rows" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["models", "p.csv", "--label", "y", "--favorable", "good"], "--sensitive COLUMN"),
        (["models", "p.csv", "--sensitive", "sex"], "--label must name"),
        (["nowhere.pkl", "p.csv", *COLUMNS], "there is none at"),
        (["models/mine.pkl", "p.csv", *COLUMNS], "--trust"),
        (["models", "p.csv", *COLUMNS, "--train", "2"], "between 0 and 1"),
        (["models", "p.csv", *COLUMNS, "--performance", "auc"], "performance metric of counts"),
        (["twice", "p.csv", *COLUMNS], "'tree' of 'b.toml' is another model, too"),
        (["named", "p.csv", *COLUMNS], "'tree' of 'a.toml' is another model, too"),
        (
            ["models", "synthetic", "--sensitive", "group", "--label", "y", "--favorable", "1"],
            "--label and --favorable must be left out for a dataset",
        ),
    ],
)
def test_bad_input_is_one_sentence(arguments: list[str], sentence: str, folder: Path) -> None:
    done = isonomy("audit-models", *arguments, cwd=folder)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
