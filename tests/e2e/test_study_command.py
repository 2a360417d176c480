"""``isonomy study`` as users run it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from isonomy.errors import InputError
from isonomy.store import Store
from isonomy.study import Study, plan, run_trial
from tests.e2e.command import isonomy

TOML = """
name = "mine"
tasks = ["synthetic(n=300)/group"]
models = ["nb"]
repeats = 3

[[method]]
mitigator = "unmitigated"

[[method]]
mitigator = "reweighing"

[[method]]
label = "roc"
mitigator = "reject_option(metric=spd)"
"""


def command(folder: Path, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = isonomy("study", *arguments, cwd=folder, env={"COLUMNS": "200"})
    assert done.returncode == code, done.stderr + done.stdout
    return done


def inside(folder: Path, *arguments: str) -> str:
    """Run a command in this process: for all that needs no process of its own."""
    from typer.testing import CliRunner

    from isonomy.cli import app

    with contextlib.chdir(folder):
        done = CliRunner().invoke(app, ["study", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    (folder / "mine.toml").write_text(TOML)
    done = command(folder, "run", "mine.toml", "--repeats", "2", "--backend", "serial")
    assert "2 trials in" in done.stdout
    assert "new records: 6 ok" in done.stdout
    assert "of them in fits" in done.stdout
    return folder


def test_every_command_takes_the_folder_that_run_takes(ran: Path, tmp_path: Path) -> None:
    """``--out`` names the folder of a run wherever a run is named."""
    place = str(tmp_path / "place")
    run = ["run", "mine.toml", "--repeats", "1", "--backend", "serial", "--out", place]
    command(ran, *run)
    for line in (["status", "x"], ["resume", "x", "--backend", "serial"], ["verify", "x"],
                 ["query", "x", "from runs"], ["score", "x", "mcc"], ["merge", "x", "mine"],
                 ["export", "x", str(tmp_path / "x.csv")]):  # fmt: skip
        command(ran, *line, "--out", place)
    for line in ("tables", "compare"):
        done = command(ran, line, "x", "--out", place, code=2)
        assert "no run at" not in done.stderr


def test_run_status_resume(ran: Path, tmp_path: Path) -> None:
    status = command(ran, "status", "mine", "--json", str(tmp_path / "status.json"))
    assert "mine in out/mine: 2 of 2 trials, 6 of 6 records" in status.stdout
    told = json.loads((tmp_path / "status.json").read_text())
    assert told["statuses"] == {"ok": 6}
    assert told["cpu_seconds"] > told["fit_cpu_seconds"] > 0
    assert "0 trials in" in command(ran, "resume", "out/mine", "--backend", "serial").stdout
    few = ["--method", "unmitigated,roc", "--out", str(tmp_path / "few"), "--backend", "serial"]
    command(ran, "run", "mine.toml", *few)
    store = Store.open(tmp_path / "few")
    assert set(store.runs()["mitigator"]) == {"unmitigated", "roc"}
    assert len(store) == 6


def test_query_export_score_merge(ran: Path, tmp_path: Path) -> None:
    sql = "select mitigator, count(*) as runs from runs group by all order by all"
    rows = [line.split() for line in inside(ran, "query", "mine", sql).splitlines()]
    assert rows == [["mitigator", "runs"], ["reweighing", "2"], ["roc", "2"], ["unmitigated", "2"]]
    text = inside(ran, "query", "mine", sql, "--csv")
    assert text.splitlines() == ["mitigator,runs", "reweighing,2", "roc,2", "unmitigated,2"]
    inside(ran, "export", "mine", str(tmp_path / "runs.parquet"))
    assert len(pd.read_parquet(tmp_path / "runs.parquet")) == 6
    inside(ran, "export", "mine", str(tmp_path / "frame.csv"), "--view", "results")
    assert set(pd.read_csv(tmp_path / "frame.csv")["mitigator"]) == {
        "reweighing",
        "roc",
        "unmitigated",
    }
    metric = "macro_f1(zero_division=1)"
    assert "6 runs gained a metric" in inside(ran, "score", "mine", metric)
    assert "6 did not: they have it" in inside(ran, "score", "mine", metric)
    # a hundred columns cannot be read side by side: each value has its line
    wide = inside(ran, "query", "mine", "select * from runs limit 1").splitlines()
    assert ["dataset", "synthetic(n=300)"] in [line.split() for line in wide]
    assert any(line.startswith("accuracy ") for line in wide)
    assert metric in Store.open(ran / "out" / "mine").metrics
    other = tmp_path / "other"
    inside(ran, "run", "mine.toml", "--out", str(other), "--backend", "serial")
    assert "3 records were added" in inside(ran, "merge", "mine", str(other))


def test_every_answer_can_be_data(ran: Path, tmp_path: Path) -> None:
    def data(*arguments: str) -> dict[str, object]:
        return dict(json.loads(inside(ran, *arguments, "--json", "-")))

    runs = len(Store.open(ran / "out" / "mine"))
    assert data("query", "mine", "select count(*) as n from runs")["rows"] == [{"n": runs}]
    assert data("status", "mine")["trials_done"] == 2
    assert data("resume", "mine", "--backend", "serial")["done"] == 0
    assert "demo" in str(data("list"))
    file = str(tmp_path / "runs.csv")
    assert data("export", "mine", file) == {"file": file}
    assert inside(ran, "status", "mine", "--quiet") == ""


def test_brackets_in_an_answer_are_no_markup(ran: Path) -> None:
    told = inside(ran, "query", "mine", "select 'x [bold]y[/i]' as \"[red]z\"")
    assert told.split() == ["[red]z", "x", "[bold]y[/i]"]


def test_list_names_the_studies(tmp_path: Path) -> None:
    told = inside(tmp_path, "list")
    assert "chen_2022" in told
    assert "demo" in told


def test_failures_and_limits_are_told(ran: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "late")
    options = ["--time-limit", "0.001", "--repeats", "1", "--out", out, "--backend", "serial"]
    ended = command(ran, "run", "mine.toml", *options, code=1).stdout
    assert "3 timeout It took longer than the time limit of 0.001 s." in ended
    assert f"isonomy study status {out}" in ended
    told = command(ran, "status", out).stdout
    assert "It took longer than the time limit of 0.001 s." in told
    again = command(ran, "resume", out, "--retry", "--backend", "serial").stdout
    assert "new records: 3 ok" in again


@pytest.mark.parametrize("backend", ["serial", "loky"])
def test_interrupt_keeps_what_is_done_and_says_how_to_go_on(
    ran: Path, tmp_path: Path, backend: str
) -> None:
    out = tmp_path / "s"
    options = ["--backend", backend, "--workers", "2", "--repeats", "400", "--out", str(out)]
    with subprocess.Popen(
        [sys.executable, "-m", "isonomy", "study", "run", "mine.toml", *options],
        cwd=ran,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        while process.poll() is None:
            # a trial has three records; the last may be on its way, and is undone by an interrupt
            if (out / "store.json").exists() and len(Store.open(out)) > 3:
                break
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to workers, too
        told, errors = process.communicate()
    assert process.returncode == 130, told + errors
    assert "Interrupted." in told
    assert f"isonomy study resume {out}" in " ".join(told.split())
    assert "Traceback" not in errors
    assert 0 < len(Store.open(out)) < 1200
    status = command(ran, "status", str(out)).stdout
    assert f"To continue: isonomy study resume {out}" in " ".join(status.split())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "chen_2023"], "There is no study 'chen_2023'; did you mean 'chen_2022'?"),
        (["run", "nowhere.toml"], "There is no file 'nowhere.toml'"),
        (["run", "mine.toml", "--backend", "dusk"], "did you mean 'dask'?"),
        (["run", "mine.toml", "--memory-limit", "much"], "written 800M or 4G; got 'much'"),
        (["run", "mine.toml", "--protocol", "published"], "no protocol 'published'"),
        (["run", "mine.toml", "--out", "."], "must begin in a new or empty folder"),
        (["status", "nothing"], "no run at 'nothing' or 'out/nothing'"),
        (["query", "mine", "select * from nothing"], "DuckDB says:"),
        (["score", "mine", "roc_auc"], "must be a function of counts"),
        (["export", "mine", "runs.xls"], "written to .parquet or .csv"),
    ],
)
def test_mistakes_get_one_sentence(ran: Path, arguments: list[str], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        inside(ran, *arguments)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_mistake_ends_with_code_2(ran: Path) -> None:
    done = command(ran, "status", "nothing", code=2)
    assert done.stderr.startswith("isonomy: There is no run at 'nothing'")
    assert "Traceback" not in done.stderr


def test_a_run_of_other_versions_still_tells_its_status(tmp_path: Path) -> None:
    study = Study("mine", ["synthetic(n=200)/group"], ["lr"], ["unmitigated"], repeats=1)
    records = run_trial(study, plan(study)[0])
    store = Store.create(tmp_path / "mine", study.name, study.toml())
    with store.writer() as writer:
        writer.append([replace(record, key="of-another-version") for record in records])
    told = " ".join(inside(tmp_path, "status", "mine").split())
    assert "1 ok" in told
    assert "can be read, but none can be added" in told
