"""``isonomy benchmark`` as a user types it: on names and files, stopped, killed and continued."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from isonomy.cli import app
from isonomy.errors import InputError, UnknownName
from isonomy.store import Store
from isonomy.store.log import HEADER
from tests.e2e.command import isonomy

FEW = ["--method", "reweighing,suppression", "--resamples", "60", "--backend", "serial"]


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["benchmark", *arguments], env={"COLUMNS": "100"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code
    return result.stdout


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with text labels, text groups, a number that looks protected, and holes."""
    rng = np.random.default_rng(1)
    n = 700
    sex, race = rng.choice(["woman", "man"], n), rng.choice(["a", "b", "c"], n)
    skill = rng.normal(size=n)
    hired = rng.uniform(size=n) < 1 / (1 + np.exp(-(2 * skill + 1.2 * (sex == "man") - 0.6)))
    table = pd.DataFrame(
        {
            "sex": sex,
            "race": race,
            "age": rng.integers(18, 80, n),
            "skill": skill,
            "city": rng.choice(["north", "south"], n),
            "outcome": np.where(hired, "hired", "rejected"),
        }
    )
    for column in ("skill", "city", "race", "sex"):
        table.loc[rng.uniform(size=n) < 0.05, column] = None
    path = tmp_path_factory.mktemp("jobs") / "jobs.csv"
    table.to_csv(path, index=False)
    return path


FILE = ["--label", "outcome", "--favorable", "hired"]


def test_a_registered_dataset_from_end_to_end(tmp_path: Path) -> None:
    out = ["--out", str(tmp_path / "b"), "--json", str(tmp_path / "b.json")]
    told = run("synthetic(n=600)", "--sensitive", "group", "--repeats", "3", *FEW, *out)
    assert "reweighing" in told
    assert f"Report: {tmp_path / 'b' / 'report.html'}" in told.replace("\n", "")
    page = (tmp_path / "b" / "report.html").read_text()
    for word in ("http:", "https:", "@import", "url("):
        assert word not in page
    data = json.loads((tmp_path / "b.json").read_text())
    (section,) = data["sections"]
    assert section["repeats"] == 3
    assert {m["method"] for m in section["methods"]} == {"reweighing", "suppression"}
    assert section["frontier"] is not None
    assert set(section["baselines"]) == {"majority", "random", "minority"}


def test_what_is_wrong_with_the_data_is_said_before_the_first_fit(
    jobs: Path, tmp_path: Path
) -> None:
    table = pd.read_csv(jobs)
    table["letter"] = table["outcome"].map({"hired": "offer", "rejected": "sorry"})
    table.to_csv(tmp_path / "leak.csv", index=False)
    out = ["--out", str(tmp_path / "b")]
    told = " ".join(
        run(str(tmp_path / "leak.csv"), "--sensitive", "sex", "--repeats", "2", *FILE, *FEW, *out)
        .split()
    )  # fmt: skip
    leak = "letter alone predicts"
    assert told.count(leak) == 1
    assert told.startswith("Note ")
    assert told.index(leak) < told.index("original")
    assert leak in (tmp_path / "b" / "report.html").read_text()


def test_another_metric_has_a_folder_of_its_own_and_a_refusal_names_a_free_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ask = ["synthetic(n=200)", "--sensitive", "group", "--repeats", "2", "--backend", "serial"]
    ask += ["--resamples", "60", "--method", "reject_option"]
    run(*ask)
    run(*ask, "--fairness", "eod")
    made = sorted(p.name for p in (tmp_path / "out" / "benchmark").iterdir())
    assert made == ["synthetic-n-200", "synthetic-n-200-equal_opportunity_difference"]
    with pytest.raises(InputError, match=r"--out out/benchmark/synthetic-n-200-2\.$"):
        run(*ask, "--seed", "1")


def test_a_file_of_ones_own_with_text_labels_and_holes(jobs: Path, tmp_path: Path) -> None:
    out = ["--out", str(tmp_path / "b"), "--json", "-"]
    data = json.loads(run(str(jobs), "--sensitive", "sex", "--repeats", "4", *FILE, *FEW, *out))
    (section,) = data["sections"]
    assert (section["attribute"], section["model"]) == ("sex", "lr")
    others = section["methods"][0]["others"]
    assert set(others) == {"race", "age (quarter)"}
    notes = " ".join(data["notes"])
    assert "'man', the group with the highest share of favorable labels" in notes
    assert "rows without sex are left out" in notes


def test_a_number_is_cut_into_bands(jobs: Path, tmp_path: Path) -> None:
    bins = ["--bins", "age=30,60", "--privileged", "age=30 to 60"]
    out = ["--out", str(tmp_path / "b"), "--json", "-"]
    data = json.loads(
        run(str(jobs), "--sensitive", "age", "--repeats", "2", *bins, *FILE, *FEW, *out)
    )
    assert data["sections"][0]["attribute"] == "age"
    assert not [n for n in data["notes"] if "No privileged group" in n]


def test_several_attributes_and_models_are_sections_in_the_order_asked_for(
    jobs: Path, tmp_path: Path
) -> None:
    asked = ["--sensitive", "race", "--sensitive", "sex", "--model", "dt,lr", "--repeats", "2"]
    out = ["--out", str(tmp_path / "b"), "--json", "-"]
    data = json.loads(run(str(jobs), *asked, *FILE, *FEW, *out))
    found = [(s["attribute"], s["model"]) for s in data["sections"]]
    assert found == [("race", "dt"), ("race", "lr"), ("sex", "dt"), ("sex", "lr")]


def test_more_repeats_go_on_from_those_that_are_there(tmp_path: Path) -> None:
    first = ["synthetic(n=400)", "--sensitive", "group", *FEW, "--out", str(tmp_path / "b")]
    run(*first, "--repeats", "2")
    done = isonomy("benchmark", *first, "--repeats", "3")
    assert "2 of 3 splits were done before" in done.stderr
    file = tmp_path / "found.json"
    run(*first, "--repeats", "3", "--json", str(file))
    assert json.loads(file.read_text())["sections"][0]["repeats"] == 3


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (["--sensitive", "sx", *FILE], UnknownName, "did you mean 'sex'"),
        (["--sensitive", "sex", "--label", "outcom"], UnknownName, "did you mean 'outcome'"),
        (["--sensitive", "sex"], InputError, "column to predict must be named"),
        (["--sensitive", "sex", "--label", "outcome"], InputError, "favourable label must be"),
        (
            ["--sensitive", "age", *FILE],
            InputError,
            r"cut it into bands \(--bins age=\d\d,\d\d,\d\d",
        ),
        ([*FILE], InputError, "At least one protected attribute"),
        (["--sensitive", "sex", *FILE, "--privileged", "sex=men"], UnknownName, "mean 'man'"),
        (["--sensitive", "sex", *FILE, "--bins", "sex=3"], InputError, "Only numbers can be cut"),
        (["--sensitive", "sex", *FILE, "--method", "reweighting"], UnknownName, "reweighing"),
        (["--sensitive", "sex", *FILE, "--model", "lrr"], UnknownName, "mean 'lr'"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(
    jobs: Path, tmp_path: Path, arguments: list[str], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        run(str(jobs), *arguments, "--out", str(tmp_path / "b"))
    assert not (tmp_path / "b" / "report.html").exists()


def test_files_that_cannot_be_judged(jobs: Path, tmp_path: Path) -> None:
    table = pd.read_csv(jobs)
    one, tiny = tmp_path / "one.csv", tmp_path / "tiny.csv"
    table[table["sex"] == "man"].to_csv(one, index=False)
    table.head(20).to_csv(tiny, index=False)
    with pytest.raises(InputError, match="holds only 'man'"):
        run(str(one), "--sensitive", "sex", *FILE)
    with pytest.raises(InputError, match="needs 40 rows or more"):
        run(str(tiny), "--sensitive", "sex", *FILE)
    with pytest.raises(InputError, match="must be left out"):
        run("synthetic", "--sensitive", "group", "--label", "y")
    with pytest.raises(InputError, match="folder that can be written"):
        run(str(jobs), "--sensitive", "sex", *FILE, "--out", str(one / "below-a-file"))


# ---------------------------------------------------------------------- stopped and continued


def start(folder: Path, *more: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "isonomy", "benchmark", "synthetic(n=1500)"]
    command += ["--sensitive", "group", "--method", "reweighing,fair_mask,prejudice_remover"]
    command += ["--resamples", "60", "--backend", "serial", "--repeats", "5", "--out", str(folder)]
    return subprocess.Popen(
        [*command, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def stored(folder: Path) -> int:
    """Count the splits that a reader of the store sees."""
    store = folder / "store"
    return Store.open(store).runs()["repeat"].nunique() if (store / HEADER).is_file() else 0


def until_something_is_stored(folder: Path, child: "subprocess.Popen[str]") -> None:
    end = time.monotonic() + 120
    while not stored(folder):
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < end, "nothing was stored in two minutes"
        time.sleep(0.01)


def judgement(folder: Path) -> Any:
    """Run to the end and give the data, without times."""
    file = folder / "found.json"
    child = start(folder, "--json", str(file))
    out, err = child.communicate(timeout=300)
    assert child.returncode == 0, out + err
    found = json.loads(file.read_text())
    for section in found["sections"]:
        for method in section["methods"]:
            del method["seconds"]
    return found, out, err


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return judgement(tmp_path_factory.mktemp("undisturbed"))[0]


def test_ctrl_c_keeps_what_is_done_and_judges_it(tmp_path: Path, undisturbed: Any) -> None:
    child = start(tmp_path)
    until_something_is_stored(tmp_path, child)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=120)
    assert child.returncode == 130, out + err
    assert "of 5 splits are done; the same command goes on" in " ".join(out.split())
    assert (tmp_path / "report.html").exists()
    found, _, err = judgement(tmp_path)
    assert "splits were done before; going on" in err
    assert found == undisturbed


def test_a_kill_loses_only_what_was_in_flight(tmp_path: Path, undisturbed: Any) -> None:
    child = start(tmp_path)
    until_something_is_stored(tmp_path, child)
    child.kill()
    child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL
    assert judgement(tmp_path)[0] == undisturbed


@pytest.mark.parametrize("kind", [int, bool, float])
def test_groups_coded_as_numbers_or_truth_values(tmp_path: Path, kind: type) -> None:
    rng = np.random.default_rng(2)
    black, skill = rng.integers(0, 2, 300), rng.normal(size=300)
    hired = (rng.uniform(size=300) < 1 / (1 + np.exp(-(skill - black)))).astype(int)
    file = tmp_path / "people.parquet"
    pd.DataFrame(
        {"black": black.astype(kind), "skill": skill, "hired": hired, "letter": 1 - hired}
    ).to_parquet(file)
    some = ["--method", "reweighing", "--repeats", "2", "--resamples", "60", "--backend", "serial"]
    shown = run(
        str(file), "--label", "hired", "--sensitive", "black", "--out", str(tmp_path / "o"), *some
    )
    shown_as = False if kind is bool else 0
    assert f"named for black: {shown_as}, the group" in " ".join(shown.split())
    assert "np." not in shown
    assert "letter alone predicts hired for 100% of the rows" in " ".join(shown.split())


def test_an_excel_file_and_a_label_that_is_cut(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    female = rng.integers(0, 2, 200)
    wage = 8 + rng.normal(size=200) - female
    file = tmp_path / "wages.xlsx"
    with pd.ExcelWriter(file) as book:
        pd.DataFrame(
            {"female": female, "educ": wage + rng.normal(size=200), "wage": wage}
        ).to_excel(book, sheet_name="people", index=False)
        pd.DataFrame({"note": ["made up"]}).to_excel(book, sheet_name="notes", index=False)
    arguments = [
        str(file), "--label", "wage>7.5", "--sensitive", "female", "--out", str(tmp_path / "o"),
        "--method", "reweighing", "--repeats", "2", "--resamples", "60", "--backend", "serial",
    ]  # fmt: skip
    with pytest.raises(
        InputError, match="must be named with --table; it holds 'people' and 'notes'"
    ):
        run(*arguments)
    assert "female, lr" in run(*arguments, "--table", "people")
