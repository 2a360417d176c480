"""``isonomy study export``, ``--ours``, ``--results`` and ``--from`` as a user types them."""

import json
from pathlib import Path

import pytest

from isonomy.store import Store
from tests.e2e.command import isonomy

DEMO = (
    "study",
    "run",
    "demo",
    "--method",
    "unmitigated,reweighing,mutation",
    "--backend",
    "serial",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the demo in out/, exported to ours/."""
    folder = tmp_path_factory.mktemp("place")
    assert isonomy(*DEMO, "--repeats", "2", cwd=folder).returncode == 0
    told = isonomy("study", "export", "demo", "ours", cwd=folder)
    assert told.returncode == 0, told.stderr
    size = (folder / "ours" / "demo.parquet").stat().st_size
    assert f"demo.parquet ({size:,} bytes" in told.stdout
    return folder


def test_results_are_queried_without_a_run(place: Path) -> None:
    sql = "select mitigator, max(accuracy) a from runs group by all order by all"
    run = isonomy("study", "query", "demo", sql, "--csv", cwd=place)
    ours = isonomy("study", "query", "demo", sql, "--csv", "--results", "ours", cwd=place)
    file = isonomy("study", "query", "ours/demo.parquet", sql, "--csv", cwd=place)
    assert run.stdout.count("\n") == 14
    assert run.stdout == ours.stdout == file.stdout


def test_results_that_are_not_there_are_one_sentence(place: Path) -> None:
    told = isonomy("study", "tables", "fairea", "--results", "ours", cwd=place)
    assert told.returncode == 2
    assert "results of 'fairea_2021' in 'ours'; it holds 'demo'" in told.stderr


def test_a_run_begins_with_a_file(place: Path) -> None:
    told = isonomy(
        *DEMO, "--repeats", "3", "--out", "more", "--from", "ours/demo.parquet", cwd=place
    )
    assert told.returncode == 0, told.stderr
    held = len(Store.open(place / "out" / "demo"))
    assert f"{held} records were taken from ours/demo.parquet" in told.stdout
    assert len(Store.open(place / "more")) == held * 3 // 2


def test_a_damaged_file_is_found(place: Path, tmp_path: Path) -> None:
    assert isonomy("study", "verify", "ours/demo.parquet", cwd=place).returncode == 0
    for name in ("demo.parquet", "demo.json"):
        (tmp_path / name).write_bytes((place / "ours" / name).read_bytes())
    with (tmp_path / "demo.parquet").open("ab") as file:
        file.write(b"x")
    told = isonomy("study", "verify", "demo.parquet", cwd=tmp_path)
    assert (told.returncode, told.stdout.count("damaged or replaced")) == (1, 1)
    told = isonomy("study", "query", "demo.parquet", "select 1", cwd=tmp_path)
    assert told.returncode == 2
    assert told.stderr.count("\n") == 1


def test_views_are_for_files(place: Path) -> None:
    told = isonomy("study", "export", "demo", "elsewhere", "--view", "counts", cwd=place)
    assert told.returncode == 2
    assert "leave them out" in told.stderr
    assert not (place / "elsewhere").exists()


def test_status_of_a_file(place: Path) -> None:
    told = isonomy("study", "status", "ours/demo.parquet", "--json", "-", cwd=place)
    assert json.loads(told.stdout)["trials_done"] == 4
