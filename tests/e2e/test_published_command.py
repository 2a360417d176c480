"""``isonomy published`` as a user types it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from isonomy.cli import app
from isonomy.errors import InputError, UnknownName

GAPS = ("SPD", "AOD")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small Fairea archive: one method on one task, its baseline with three strategies."""
    runs = tmp_path / "Results" / "RQ1-RQ2" / "lr"
    runs.mkdir(parents=True)
    (runs / "rew_lr_adult_sex_0_50.txt").write_text("0.1 0.8 0.1\n0.1 0.6 0.3\n")
    lines = ["Accuracy", "0.9 0.7 0.5", "0.9 0.6 0.4", "0.9 0.5 0.3"]
    lines += [line for gap in GAPS for line in (gap, *["0.2 0.1 0.0"] * 3)]
    (tmp_path / "Results" / "RQ4").mkdir()
    (tmp_path / "Results" / "RQ4" / "lr_adult_sex.txt").write_text("\n".join(lines))
    return tmp_path


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["published", *arguments], env={"COLUMNS": "80"})
    if result.exception is not None:
        raise result.exception
    return result.stdout


def test_without_a_table_it_lists_what_the_folder_gives(folder: Path) -> None:
    told = run("fairea", str(folder))
    lines = {line.split()[0]: line for line in told.splitlines() if line.strip()}
    assert lines["table4"].rstrip().endswith("yes")
    assert "needs sweeps" in lines["fig5"]
    assert "data: adult" in told


def test_a_bare_number_is_a_table_and_the_cases_are_told(folder: Path) -> None:
    told = run("fairea", str(folder), "--table", "4")
    assert "4 mitigation cases" in told
    rows = [line.split() for line in told.splitlines() if line.startswith("RW")]
    assert rows == [["RW", "0%", "50%", "0%", "50%", "0%"], ["RW", "50%", "0%", "0%", "50%", "0%"]]


def test_json_goes_to_standard_output_alone(folder: Path) -> None:
    told = json.loads(run("fairea", str(folder), "--table", "table6", "--json", "-"))["tables"][0]
    assert told["table"] == "table6"
    by_row = {row["row"]: row for row in told["rows"]}
    # the mean (0.7, 0.1) lies on the line: good, with no area
    assert by_row["SPD RW"]["LR Adult-Sex"] == pytest.approx(0.0, abs=1e-12)
    listing = json.loads(run("fairea", str(folder), "--json", "-"))
    assert listing["held"]["runs"] == 2


def test_what_cannot_be_made_is_said_in_one_sentence(folder: Path) -> None:
    with pytest.raises(InputError, match="fig5 needs sweeps"):
        run("fairea", str(folder), "--table", "fig5")
    with pytest.raises(UnknownName, match="did you mean 'table4'"):
        run("fairea", str(folder), "--table", "tabel4")
    with pytest.raises(UnknownName, match="did you mean 'fairea'"):
        run("fairae", str(folder))


def test_it_is_short_for_the_tables_of_a_study(folder: Path) -> None:
    arguments = ["study", "tables", "fairea_2021", "--published", str(folder), "--table", "4"]
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "80"})
    assert result.stdout == run("fairea", str(folder), "--table", "4")
