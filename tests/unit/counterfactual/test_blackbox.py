"""Files, commands and functions as models; every way they fail is one sentence."""

import pickle
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from isonomy.counterfactual import CommandModel, load_function, load_model, load_models
from isonomy.errors import InputError, MissingExtra
from tests.e2e.command import isonomy

X = pd.DataFrame({"sex": ["f", "m"], "z": [0.25, 0.5]})


def program(text: str) -> CommandModel:
    return CommandModel([sys.executable, "-c", text])


def test_command() -> None:
    text = "import sys, csv; [print(r['z']) for r in csv.DictReader(sys.stdin)]"
    assert program(text)(X).tolist() == [0.25, 0.5]
    header = "print('score'); print(0.1); print(0.2)"
    assert program(header)(X).tolist() == [0.1, 0.2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("print(0.5)", "got 2 rows and printed 1 lines"),
        ("print('a'); print('b')", "must print numbers; it printed 'a'"),
        ("import sys; sys.exit('no licence')", "ended with 1: no licence"),
    ],
)
def test_command_that_fails(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        program(text)(X)


def test_command_that_is_none() -> None:
    with pytest.raises(InputError, match="not found"):
        CommandModel("no-such-program-anywhere --x")(X)
    with pytest.raises(InputError, match="cannot be read"):
        CommandModel("a 'b")
    with pytest.raises(InputError, match="got nothing"):
        CommandModel("  ")
    with pytest.raises(InputError, match="within"):
        CommandModel([sys.executable, "-c", "import time; time.sleep(9)"], timeout=0.2)(X)


def test_function(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "my_scores_cf.py").write_text("def score(X):\n    return X['z']\nnumber = 3\n")
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    assert load_function("my_scores_cf:score")(X).tolist() == [0.25, 0.5]
    assert sys.path == before
    for name, said in (
        ("my_scores_cf", "module:function"),
        ("my_scores_cf:nothing", "it has not"),
        ("no_such_module_cf:f", "importable"),
        ("my_scores_cf:number", "neither"),
    ):
        with pytest.raises(InputError, match=said):
            load_function(name)


def test_files(tmp_path: Path) -> None:
    model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    joblib.dump(model, tmp_path / "m.joblib")
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(model))
    for name in ("m.joblib", "m.pkl"):
        with pytest.raises(InputError, match="--trust"):
            load_model(tmp_path / name)
        loaded = load_model(tmp_path / name, trust=True)
        assert np.array_equal(loaded.coef_, model.coef_)
    (tmp_path / "broken.pkl").write_bytes(b"nonsense")
    with pytest.raises(InputError, match="cannot be loaded"):
        load_model(tmp_path / "broken.pkl", trust=True)
    (tmp_path / "m.onnx").write_bytes(b"")
    with pytest.raises(InputError, match="must end in"):
        load_model(tmp_path / "m.onnx")
    with pytest.raises(InputError, match="there is none at"):
        load_model(tmp_path / "absent.pkl")


def test_skops(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "m.skops"
    path.write_bytes(b"")
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(MissingExtra, match=r"isonomy\[skops\]"):
        load_model(path)
    monkeypatch.undo()
    io = pytest.importorskip("skops.io", reason="needs the extra skops")
    model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    io.dump(model, path)
    assert np.array_equal(load_model(path).coef_, model.coef_)
    strange = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    strange.score_ = CommandModel("x")
    io.dump(strange, path)
    with pytest.raises(InputError, match="does not know"):
        load_model(path)


def test_skops_names_the_types_of_a_tree(tmp_path: Path) -> None:
    io = pytest.importorskip("skops.io", reason="needs the extra skops")
    tree = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    io.dump(tree, tmp_path / "tree.skops")
    with pytest.raises(InputError, match=r"'sklearn\.tree\._tree\.Tree'.*trust=True \(--trust\)"):
        load_model(tmp_path / "tree.skops")
    assert load_model(tmp_path / "tree.skops", trust=True).predict([[1.0]]) == 1
    for name in ("tail", "audit-models"):
        told = " ".join(isonomy(name, "--help").stdout.split())
        assert "skops files that hold types skops does not know (trees do)" in told


def test_a_folder_of_models(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is empty"):
        load_models(tmp_path)
    with pytest.raises(InputError, match="must exist"):
        load_models(tmp_path / "nowhere")
    model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    joblib.dump(model, tmp_path / "m.joblib")
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(model))
    (tmp_path / "notes.txt").write_text("no model")
    (tmp_path / "declared.toml").write_text("")
    (tmp_path / ".hidden").write_text("")
    models, left_out = load_models(tmp_path)
    assert models == {}
    assert set(left_out) == {"m.joblib", "m.pkl", "notes"}
    assert "--trust" in left_out["m.pkl"]
    models, left_out = load_models(tmp_path, trust=True)
    assert set(models) == {"m.joblib", "m.pkl"}
    assert "must end in" in left_out["notes"]
