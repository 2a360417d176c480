"""``isonomy study tables``: from a store of records to a paper's table."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from isonomy.cli import app
from isonomy.errors import InputError
from isonomy.papers import PAPERS
from isonomy.papers.monjezi_2025.generated import run_generators
from isonomy.papers.monjezi_2025.outcomes import AVERAGE_METRICS
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
            told |= dict.fromkeys(AVERAGE_METRICS.values(), 0.5)
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
    assert "needs runs of EG or Fair-SMOTE" in told
    assert "needs original runs on adult race" in told


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


def test_numbers_of_queries_are_the_labels_of_table_one(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "monjezi_2025"
    rng = np.random.default_rng(0)
    store = Store.create(path, "monjezi_2025")
    told = tail_metrics(rng.normal(0, 0.02, 500), rng.normal(0.1, 0.02, 500))
    with store.writer() as writer:
        which = ("monjezi_2025", "adult", "race", "lr", "unmitigated", 0)
        writer.append([Record(*which, told, key="k")])
    lines = [line.split() for line in run(str(path), "--table", "1").splitlines()]
    assert ["1", "repeat"] in lines
    places = [line.split() for line in run(str(path), "--table", "fig2").splitlines()]
    labels = [words[0] for words in places if len(words) == 3 and words[0][-1].isdigit()]
    assert len(labels) == 101
    assert max(map(len, labels)) <= len("-0.0001234")
    assert ["queries", "White", "Black"] in lines
    assert [line[0] for line in lines if line and line[0] in ("500", "1000", "2000")] == [
        "500",
        "1000",
        "2000",
    ]


def test_what_a_table_needs_beyond_the_study_is_run_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = partial(run_generators, tasks=["german sex"], generators=["independent"])
    paper = replace(PAPERS["monjezi_2025"], runners={"generators": made})
    monkeypatch.setattr("isonomy.papers.paper_of", lambda name: paper)
    told = run("monjezi_2025", "--table", "3", "--run")
    assert "1 records were added" in told
    assert "independent" in told
    assert (tmp_path / "out" / "monjezi_2025" / "store.json").exists()
    assert "0 records were added" in run("monjezi_2025", "--table", "3", "--run")
    with pytest.raises(InputError, match="table5 needs original runs and runs"):
        run("monjezi_2025", "--table", "5", "--run")
    with pytest.raises(InputError, match="needs --table"):
        run("monjezi_2025", "--run")


def test_runs_are_compared_with_the_print(folder: Path) -> None:
    result = CliRunner().invoke(app, ["study", "compare", str(folder)])
    assert result.exit_code == 0, result.output
    told = " ".join(result.stdout.split())
    assert "table4" in told
    assert "RQ2 guarantees" in told
    assert "corrected:" in told
    assert "table5 is not compared: our runs lack runs" in told
