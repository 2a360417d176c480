"""Models declared in a file and trained here."""

from pathlib import Path

import numpy as np
import pytest

from isonomy import load
from isonomy.audit import declared_model, read_declared, train_models
from isonomy.errors import InputError


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("forest", "no model 'forest'"),
        ("os.system", "hand others over as files"),
        ("sklearn.linear_model.LinearRegression", "is none"),
        ("sklearn.nowhere.Thing", "is none"),
        ("rf(depth=2)", "did you mean 'max_depth'"),
    ],
)
def test_what_is_no_model(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        declared_model(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("models = 3", "must declare models"),
        ("[models]\na = 3", "declared as text"),
        ("[model]\na = 'rf'", "did you mean 'models'"),
        ("[models", "must be a TOML file"),
    ],
)
def test_files_that_declare_nothing(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(InputError, match=said):
        read_declared(tmp_path / "m.toml")


def test_trained_on_one_part_judged_on_the_other(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(
        '[models]\na = "lr(C=0.1)"\nb = "dnn"\nc = "knn(n_neighbors=9999)"\n'
    )
    data = load("synthetic", n=400)
    done = train_models(read_declared(tmp_path / "m.toml"), data, train=0.5)
    assert "a" in done.models
    assert (done.train_rows, len(done.test)) == (200, 200)
    assert not set(done.test.X.index) - set(data.X.index)
    assert done.models["a"][-1][-1].C == 0.1
    assert np.isin(done.models["a"].predict(done.test.X), data.classes).all()
    try:
        import torch  # noqa: F401
    except ImportError:
        assert "isonomy[torch]" in done.left_out["b"]
    with pytest.raises(InputError, match="between 0 and 1"):
        train_models({"a": "lr"}, data, train=1.0)


def test_learners_neither_speak_nor_leave_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    models = {
        "cat": "catboost.CatBoostClassifier(iterations=2)",
        "light": "lightgbm.LGBMClassifier(n_estimators=2)",
        "loud": "catboost.CatBoostClassifier(iterations=2, logging_level=Silent)",
    }
    data = load("synthetic", n=200)
    quiet = train_models({name: models[name] for name in ("cat", "light")}, data)
    assert not quiet.left_out
    assert [*tmp_path.iterdir()] == []
    assert capfd.readouterr().out == ""
    assert not train_models({"loud": models["loud"]}, data).left_out
