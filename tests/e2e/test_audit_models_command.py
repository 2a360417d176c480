"""``isonomy audit-models`` as a person at a terminal meets it."""

import json
import pickle
import sys
from pathlib import Path

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

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
    assert (folder / "page.html").read_text().startswith("<!doctype html>")
    for text in ("2 models on p.csv", "Pareto front", "left out"):
        assert text in done.stdout
    trusted = isonomy("audit-models", "models", "p.csv", *options, "--trust", cwd=folder)
    assert trusted.returncode == 0, trusted.stderr
    assert "3 models on p.csv" in trusted.stdout
    assert "flatter" in trusted.stdout


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
