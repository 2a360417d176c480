"""``isonomy tail`` as users run it: a Pipeline in a file, a black-box command, a function."""

import json
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from isonomy.counterfactual import tail
from tests.e2e.command import isonomy

SCRIPT = """
import csv, math, sys
for row in csv.DictReader(sys.stdin):
    odds = float(row["skill"]) + (0.9 if row["sex"] == "m" else 0.0) * float(row["weight"])
    print(1 / (1 + math.exp(-odds)))
"""


def run(
    *arguments: str, code: int = 0, cwd: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    done = isonomy(*arguments, cwd=cwd)
    assert done.returncode == code, done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """Give a folder with people, models and a program."""
    folder = tmp_path_factory.mktemp("tail")
    rng = np.random.default_rng(0)
    n = 1500
    people = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "race": rng.choice(["a", "b", "c"], n),
            "skill": rng.normal(size=n).round(4),
            "weight": rng.uniform(0, 1, n).round(4),
            "role": rng.choice(["wife", "husband", "single"], n),
            "id": np.arange(n),
        }
    )
    odds = people["skill"] + 0.9 * (people["sex"] == "m") * people["weight"]
    people["y"] = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "good", "bad")
    people.to_csv(folder / "people.csv", index=False)
    X, y = people.drop(columns=["y", "id"]), people["y"]
    words = ["sex", "race", "role"]

    def pipeline(model):
        encode = make_column_transformer(
            (OneHotEncoder(), words), (StandardScaler(), ["skill", "weight"])
        )
        return make_pipeline(encode, model).fit(X, y)

    joblib.dump(pipeline(LogisticRegression()), folder / "lr.joblib")
    joblib.dump(pipeline(DummyClassifier(strategy="prior")), folder / "constant.joblib")
    joblib.dump(pipeline(LinearSVC()), folder / "svm.joblib")
    stump = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["sex"])), DecisionTreeClassifier(max_depth=1)
    )
    joblib.dump(stump.fit(X, y), folder / "stump.joblib")
    (folder / "score.py").write_text(SCRIPT)
    (folder / "my_tail_scores.py").write_text(
        "def score(X):\n    return 0.5 + 0.1 * (X['sex'] == 'm') * X['weight']\n"
        "def wild(X):\n    return 3 + X['weight']\n"
    )
    return folder


def options(place: Path, model: str) -> list[str]:
    return [
        "tail", str(place / model), str(place / "people.csv"), "--label", "y",
        "--sensitive", "sex", "--favorable", "good",
    ]  # fmt: skip


def test_a_users_pipeline(place: Path, tmp_path: Path) -> None:
    page, data = tmp_path / "tail.html", tmp_path / "tail.json"
    done = run(
        *options(place, "lr.joblib"), "--privileged", "sex=m", "--trust", "--search",
        "--queries", "3000", "--html", str(page), "--json", str(data),
    )  # fmt: skip
    people = pd.read_csv(place / "people.csv")
    same = tail(
        joblib.load(place / "lr.joblib"), people.drop(columns=["y", "id"]), "sex",
        privileged="m", favorable="good",
    )  # fmt: skip
    found = json.loads(data.read_text())["tails"][0]
    group = found["groups"][0]
    line = same.frame().iloc[0]
    for name in ("acd", "cvar", "ecd", "level_1000", "level_1000_low", "exact", "largest"):
        assert group[name] == pytest.approx(line[name])
    assert group["searched"] >= group["largest"]
    assert [p["row"] for p in found["worst"]] == same.worst["row"].tolist()
    assert found["model_calls"] <= 3
    for word in ("ACD", "CVaR", "level, 2,000 queries", "exact maximum", "10 worst individuals"):
        assert word in done.stdout
    text = page.read_text()
    for sentence in same.sentences():  # the same words on the terminal and on the page
        assert sentence in " ".join(done.stdout.split())
        assert sentence in text
    assert text.count("<svg") >= 2
    assert "http" not in text.replace("http-equiv", "")
    assert "Proxies: a model that never sees the attribute" in text


def test_a_black_box_command(place: Path, tmp_path: Path) -> None:
    data = tmp_path / "out.json"
    run(
        "tail", str(place / "people.csv"), "--label", "y", "--sensitive", "sex", "--drop", "id",
        "--command", f"{sys.executable} {place / 'score.py'}", "--json", str(data),
    )  # fmt: skip
    found = json.loads(data.read_text())["tails"][0]
    people = pd.read_csv(place / "people.csv")
    women = people[people["sex"] == "f"]
    odds = women["skill"]
    gain = 1 / (1 + np.exp(-(odds + 0.9 * women["weight"]))) - 1 / (1 + np.exp(-odds))
    assert found["groups"][0]["acd"] == pytest.approx(gain.mean(), abs=1e-9)
    assert found["groups"][0]["largest"] == pytest.approx(gain.max(), abs=1e-9)
    assert found["groups"][0]["tail"] != "none fitted"


def test_a_function_and_data_on_standard_output(place: Path) -> None:
    done = run(
        "tail", "people.csv", "--sensitive", "sex", "--callable", "my_tail_scores:score",
        "--json", "-", cwd=place,
    )  # fmt: skip
    content = json.loads(done.stdout)
    weight = pd.read_csv(place / "people.csv").query("sex == 'f'")["weight"]
    assert content["tails"][0]["groups"][0]["largest"] == pytest.approx(0.1 * weight.max())


def test_several_attributes_companions_and_generated_rows(place: Path, tmp_path: Path) -> None:
    data = tmp_path / "out.json"
    done = run(
        *options(place, "lr.joblib"), "--trust", "--sensitive", "race", "--intersections",
        "--group", "race=a", "--group", "race=b", "--resamples", "0", "--generator",
        "independent", "--json", str(data), "--companion", "role:m:wife=husband",
    )  # fmt: skip
    found = json.loads(data.read_text())["tails"]
    assert [t["attribute"] for t in found] == [["sex"], ["race"], ["sex", "race"]]
    assert [len(t["groups"]) for t in found] == [2, 2, 4]
    assert found[0]["tail_samples"][0]["generator"] == "independent"
    assert "generated rows (independent, corrected)" in done.stdout.replace("\n", " ")


def test_encoded_columns_move_together(place: Path, tmp_path: Path) -> None:
    people = pd.read_csv(place / "people.csv")
    coded = pd.get_dummies(people[["sex", "skill", "weight"]], columns=["sex"], dtype=int)
    model = LogisticRegression().fit(coded, people["y"])
    joblib.dump(model, tmp_path / "coded.joblib")
    coded.to_parquet(tmp_path / "coded.parquet")
    run(
        "tail", str(tmp_path / "coded.joblib"), str(tmp_path / "coded.parquet"), "--trust",
        "--favorable", "good", "--sensitive", "sex_m", "--columns", "sex_m=sex_f,sex_m",
        "--privileged", "sex_m=1", "--resamples", "0", "--json", str(tmp_path / "out.json"),
    )  # fmt: skip
    group = json.loads((tmp_path / "out.json").read_text())["tails"][0]["groups"][0]
    step = model.coef_[0][list(coded).index("sex_m")] - model.coef_[0][list(coded).index("sex_f")]
    sign = 1 if model.classes_[1] == "good" else -1
    assert group["exact"] == pytest.approx(np.tanh(sign * step / 4))


def test_degenerate_models_get_a_plain_sentence(place: Path) -> None:
    done = run(*options(place, "constant.joblib"), "--trust")
    assert "The model gives every row the score" in done.stdout
    assert "none fitted" in done.stdout
    assert "worst individuals" not in done.stdout  # nobody is
    done = run(*options(place, "stump.joblib"), "--trust")
    assert "rows shows the same value" in done.stdout.replace("\n", " ")


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ([], "pass --trust"),
        (["--trust", "--sensitive", "sx"], "did you mean 'sex'"),
        (["--trust", "--label", "yy"], "did you mean 'y'"),
        (["--trust", "--favorable", "goood"], "did you mean 'good'"),
        (["--trust", "--privileged", "sex=x"], "no group 'x'"),
        (["--trust", "--privileged", "race=a"], "--sensitive race"),
        (["--trust", "--drop", "skill"], "every column that the model was fitted on"),
        (["--trust", "--companion", "role=wife"], "COLUMN:GROUP:OLD=NEW"),
        (["--trust", "--group", "sex=f"], "at least two groups"),
        (["--command", "cat"], "DATA alone"),
    ],
)
def test_errors_are_one_sentence(place: Path, extra: list[str], said: str) -> None:
    done = run(*options(place, "lr.joblib"), *extra, code=2)
    assert said in done.stderr.replace("\n", " ")
    assert done.stderr.startswith("isonomy: ")


def test_models_that_cannot_be_asked(place: Path) -> None:
    done = run(*options(place, "svm.joblib"), "--trust", code=2)
    assert "must have predict_proba" in done.stderr
    base = ["tail", "people.csv", "--sensitive", "sex"]
    for more, said in (
        (["--callable", "my_tail_scores:wild"], "between 0 and 1"),
        (["--command", f"{sys.executable} -c 'print(1)'"], "printed 1 lines"),
        (["--command", f"{sys.executable} -c 'raise SystemExit(3)'"], "ended with 3"),
        (["--command", "no-such-program-here"], "was not found"),
    ):
        assert said in run(*base, *more, code=2, cwd=place).stderr
    stump = [*options(place, "stump.joblib"), "--trust", "--sensitive", "id"]
    assert "fitted without 'id'" in run(*stump, code=2).stderr
