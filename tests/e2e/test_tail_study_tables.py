"""``isonomy study tables``: from a store of records to a paper's table."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from isonomy.cli import app
from isonomy.errors import InputError
from isonomy.store import Record, Store
from isonomy.study.tails import tail_metrics


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of one model on one task of the study of tails."""
    path = tmp_path_factory.mktemp("run") / "monjezi_2025"
    rng = np.random.default_rng(0)
    store = Store.create(path, "monjezi_2025")
    with store.writer() as writer:
        for repeat in range(2):
            told = tail_metrics(rng.normal(0, 0.02, 500), rng.normal(0.1, 0.02, 500))
            writer.append(
                [
                    Record(
                        "monjezi_2025",
                        "german",
                        "sex",
                        "lr",
                        "unmitigated",
                        repeat,
                        told,
                        key=f"k{repeat}",
                    )
                ]
            )
    return path


def run(*words: str) -> str:
    result = CliRunner().invoke(app, ["study", "tables", *words])
    if isinstance(result.exception, InputError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_tables_are_listed_with_what_they_need(folder: Path) -> None:
    told = " ".join(run(str(folder)).split())
    assert "table4 tails by model, task and group yes" in told
    assert "table5 exponentiated gradient and Fair-SMOTE needs runs" in told


def test_a_table_is_shown_and_written(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "table4.json"
    told = run(str(folder), "--table", "IV", "--json", str(file))
    assert "german sex" in told
    written = json.loads(file.read_text(encoding="utf-8"))
    assert written["paper"] == "monjezi_2025"
    assert [row["N"] for row in written["tables"][0]["rows"]] == [500, 500]
    assert written["tables"][0]["rows"][0]["ACD"] == pytest.approx(0.1, abs=0.01)
    corrected = run(str(folder), "--table", "4", "--reading", "corrected")
    assert "level 1000" in corrected


def test_what_cannot_be_made_is_said(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="table7 needs runs"):
        run(str(folder), "--table", "7")
    with pytest.raises(InputError, match="one reading only"):
        run(str(folder), "--table", "1", "--reading", "corrected")
    with pytest.raises(InputError, match="as_published or corrected"):
        run(str(folder), "--table", "4", "--reading", "other")
    with pytest.raises(InputError, match="There is no table"):
        run(str(folder), "--table", "2")
    Store.create(tmp_path / "own", "own")
    with pytest.raises(InputError, match="belong to a paper"):
        run(str(tmp_path / "own"))
