"""``isonomy audit FILE --by month`` as a person at a terminal meets it."""

import json
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from tests.e2e.command import isonomy

OPTIONS = ["--label", "y", "--prediction", "yhat", "--sensitive", "sex", "--privileged", "sex=M"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    month = np.repeat(np.arange(12), 300)
    day = np.datetime64("2026-01") + month
    frame = pd.DataFrame({"day": day.astype("datetime64[D]").astype(str)})
    frame["sex"] = rng.choice(["F", "M"], 3600)
    frame["y"] = rng.integers(0, 2, 3600)
    denied = (frame["sex"] == "F") & (month > 6) & (rng.random(3600) < 0.5)
    frame["yhat"] = np.where(denied, 0, frame["y"])
    frame.to_csv(tmp_path / "p.csv", index=False)
    return tmp_path


def test_a_moved_gap_is_said_shown_and_fails(folder: Path) -> None:
    done = isonomy("audit", "p.csv", *OPTIONS, "--by", "month", "--fail-on", "eod", cwd=folder)
    assert done.returncode == 1
    text = " ".join(done.stdout.split())
    assert "3,600 rows in 12 periods, 2026-01 to 2026-12; 95% intervals" in text
    assert "Moved The difference in true positive rate by sex (unprivileged vs privileged)" in text
    assert "0.000 before 2026-08" in text
    assert "2026-08 300" in text
    # a slow machine reads how long the counting takes before it
    assert (
        done.stderr.splitlines()[-1]
        == "isonomy: gaps have moved: difference in true positive rate (sex)"
    )


def test_a_gap_that_did_not_move_passes(folder: Path) -> None:
    done = isonomy(
        "audit", "p.csv", *OPTIONS, "--by", "day:quarter",
        "--fail-on", "false_positive_rate_difference", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0
    assert "moved" not in done.stderr


def test_json_holds_every_gap_of_every_period(folder: Path) -> None:
    done = isonomy("audit", "p.csv", *OPTIONS, "--by", "day:month", "--json", "-", cwd=folder)
    found = json.loads(done.stdout)
    assert found["periods"][0] == "2026-01"
    assert len(found["gaps"]) == 9 * 12
    assert {m["rate"] for m in found["moves"] if m["moved"]} == {
        "selection_rate", "true_positive_rate", "error_rate",
    }  # fmt: skip


def test_reports_show_the_periods(folder: Path) -> None:
    files = ["--report", "over.html", "--report", "over.md"]
    done = isonomy("audit", "p.csv", *OPTIONS, "--by", "month", *files, cwd=folder)
    assert done.returncode == 0
    assert "Report: " in done.stdout
    for name in ("over.html", "over.md"):
        text = (folder / name).read_text(encoding="utf-8")
        assert "gaps have moved." in text
        assert "--by month" in text  # the command that makes it again
        assert "2026-08" in text


def test_counts_of_a_warehouse_say_the_same(folder: Path) -> None:
    by = ["--by", "day:month"]
    sql = isonomy("audit", "source", *OPTIONS[:-2], *by, "--print-sql", cwd=folder).stdout
    with duckdb.connect() as connection:
        connection.sql(f"CREATE TABLE source AS SELECT * FROM '{folder / 'p.csv'}'")
        connection.sql(sql.strip().rstrip(";")).write_csv(str(folder / "counts.csv"))
    columns = ["--sensitive", "sex", "--privileged", "sex=M", "--json", "-"]
    counted = isonomy("audit", "counts.csv", "--counts", *columns, *by, cwd=folder)
    rows = isonomy("audit", "p.csv", *OPTIONS, *by, "--json", "-", cwd=folder)
    first, second = json.loads(counted.stdout), json.loads(rows.stdout)
    assert first.pop("file") != second.pop("file")
    assert first == second


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--by", "sex:month"], "plays several"),
        (["--by", "yhat:month"], "plays several"),
        (["--by", "dya"], "did you mean 'day'?"),
        (["--by", "month", "--report", "x.pdf"], "must end in"),
        (["--by", "month", "--score", "s"], "--score does not go with --by"),
        (["--by", "month", "--print-sql"], "--by COLUMN:month"),
        (["--by", "month", "--metric", "accuracy"], "gap between rates"),
        (["--by", "year"], "at least two periods"),
        (["--by", "month", "--fail-on", "precision_ratio"], "add it to the metrics"),
    ],
)
def test_mistakes_are_one_sentence(folder: Path, arguments: list[str], said: str) -> None:
    done = isonomy("audit", "p.csv", *OPTIONS, *arguments, cwd=folder)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_selections_need_no_labels(folder: Path) -> None:
    pd.read_csv(folder / "p.csv").drop(columns="y").to_csv(folder / "s.csv", index=False)
    columns = ["--prediction", "yhat", "--sensitive", "sex", "--privileged", "sex=M"]
    done = isonomy("audit", "s.csv", *columns, "--by", "month", "--fail-on", "spd", cwd=folder)
    assert done.returncode == 1
    assert "Note There are no labels" in " ".join(done.stdout.split())
    done = isonomy("audit", "s.csv", *columns, "--by", "month", "--metric", "eod", cwd=folder)
    assert (done.returncode, "needs true labels" in done.stderr) == (2, True)
