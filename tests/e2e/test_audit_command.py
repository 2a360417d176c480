"""``isonomy audit`` as a person at a terminal meets it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from tests.e2e.command import isonomy

COLUMNS = ["--label", "y", "--prediction", "yhat", "--favorable", "good"]


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return isonomy(*arguments, cwd=cwd)


@pytest.fixture
def folder(predictions: pd.DataFrame, tmp_path: Path) -> Path:
    predictions.to_csv(tmp_path / "p.csv", index=False)
    predictions.to_parquet(tmp_path / "p.parquet")
    with duckdb.connect(str(tmp_path / "p.duckdb")) as connection:
        connection.register("source", predictions)
        connection.execute("CREATE TABLE preds AS SELECT * FROM source")
        connection.execute("CREATE TABLE other AS SELECT 1 AS x")
    return tmp_path


def metrics(text: str) -> dict[tuple[str, str | None], dict]:
    return {(m["name"], m["attribute"]): m for m in json.loads(text)["metrics"]}


def test_three_kinds_of_file_and_counts_agree(folder: Path) -> None:
    options = [*COLUMNS, "--sensitive", "sex", "--sensitive", "race", "--privileged", "sex=M"]
    results = {}
    for name, more in (("p.csv", []), ("p.parquet", []), ("p.duckdb", ["--table", "preds"])):
        done = run("audit", name, *options, *more, "--json", "-", cwd=folder)
        assert done.returncode == 0, done.stderr
        results[name] = metrics(done.stdout)
    assert results["p.csv"] == results["p.parquet"] == results["p.duckdb"]

    sql = run(
        "audit", "--print-sql", "preds", "--label", "y", "--prediction", "yhat",
        "--sensitive", "sex", "--sensitive", "race", cwd=folder,
    )  # fmt: skip
    with duckdb.connect(str(folder / "p.duckdb"), read_only=True) as connection:
        connection.sql(sql.stdout.strip().rstrip(";")).write_csv(str(folder / "counts.csv"))
    done = run(
        "audit", "--counts", "counts.csv", "--sensitive", "sex", "--sensitive", "race",
        "--favorable", "good", "--privileged", "sex=M", "--json", "-", cwd=folder,
    )  # fmt: skip
    assert metrics(done.stdout) == results["p.csv"]


def test_weighted_counts_travel_with_their_squares(folder: Path) -> None:
    common = ["--sensitive", "sex", "--privileged", "sex=M"]
    sql = run(
        "audit", "--print-sql", "preds", "--label", "y", "--prediction", "yhat", "--sensitive", "sex",
        "--weight", "weight", cwd=folder,
    )  # fmt: skip
    with duckdb.connect(str(folder / "p.duckdb"), read_only=True) as connection:
        connection.sql(sql.stdout.strip().rstrip(";")).write_csv(str(folder / "counts.csv"))
    direct = run(
        "audit", "p.parquet", *COLUMNS, *common, "--weight", "weight", "--json", "-", cwd=folder
    )
    counted = run(
        "audit", "--counts", "counts.csv", "--favorable", "good", *common, "--json", "-", cwd=folder
    )
    one, two = metrics(direct.stdout), metrics(counted.stdout)
    assert one.keys() == two.keys()
    for key in one:
        for field in ("value", "low", "high"):
            assert one[key][field] == pytest.approx(two[key][field], abs=1e-9)


def test_the_page_and_the_screen(folder: Path) -> None:
    done = run(
        "audit", "p.csv", *COLUMNS, "--sensitive", "race", "--privileged", "race=a", "--score", "score",
        "--html", "page.html", "--intersections", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for text in ("Rates by race", "Gaps by race", "roc_auc", "Verdicts:", "Unexamined", "age"):
        assert text in done.stdout
    page = (folder / "page.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "statistical parity difference" in page
    assert "http:" not in page  # nothing is fetched
    assert "https:" not in page
    assert "isonomy audit " in page  # the command to reproduce it


def test_brackets_in_names_are_shown(folder: Path, predictions: pd.DataFrame) -> None:
    names = {"a": "white [latino]", "b": "white [other]", "c": "[/bold]"}
    frame = predictions.assign(**{"race [self]": predictions["race"].map(names)})
    frame.to_csv(folder / "odd [x].csv", index=False)
    done = run(
        "audit", "odd [[]x].csv", *COLUMNS, "--sensitive", "race [self]",
        "--privileged", "race [self]=white [latino]", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for name in ("white [latino] *", "white [other]", "[/bold]", "by race [self]"):
        assert name in done.stdout


def test_gates(folder: Path) -> None:
    base = ["audit", "p.csv", *COLUMNS, "--sensitive", "sex", "--privileged", "sex=M"]
    assert run(*base, cwd=folder).returncode == 0
    strict = run(*base, "--fail-on", "spd", "--threshold", "spd=0.01", cwd=folder)
    assert strict.returncode == 1
    assert "thresholds violated: statistical_parity_difference (sex)" in strict.stderr
    other = run(*base, "--fail-on", "erd", "--threshold", "spd=0.01", cwd=folder)
    assert other.returncode == 0
    assert (
        run(*base, "--fail-on", "any", "--threshold", "difference=0.01", cwd=folder).returncode == 1
    )
    # "any" beside a name still means any
    both = run(*base, "--fail-on", "any", "--fail-on", "erd", "--threshold", "spd=0.01", cwd=folder)
    assert both.returncode == 1


def test_a_gate_that_could_never_close_is_refused(folder: Path) -> None:
    base = ["audit", "p.csv", *COLUMNS, "--sensitive", "sex", "--privileged", "sex=M"]
    for metric in ("false_negative_rate_difference", "theil_index"):
        done = run(*base, "--fail-on", metric, "--json", "out.json", cwd=folder)
        assert done.returncode == 2
        assert metric in done.stderr
        assert not (folder / "out.json").exists()
    asked = ["--metric", "false_negative_rate_difference", "--threshold", "difference=0.01"]
    done = run(*base, *asked, "--fail-on", "false_negative_rate_difference", cwd=folder)
    assert done.returncode == 1


def test_age_in_bands(folder: Path) -> None:
    done = run(
        "audit", "p.csv", *COLUMNS, "--sensitive", "age", "--bins", "age=25,60", "--score", "score",
        "--json", "-", cwd=folder,
    )  # fmt: skip
    assert {g["group"] for g in json.loads(done.stdout)["groups"]} == {
        "under 25",
        "25 to 60",
        "60 and over",
    }


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["p.csv", *COLUMNS, "--sensitive", "sx"], "did you mean 'sex'"),
        (["p.csv", *COLUMNS], "--sensitive COLUMN"),
        (["p.csv", "--label", "y", "--prediction", "yhat", "--sensitive", "sex"], "favourable label must"),
        (["p.csv", *COLUMNS, "--sensitive", "sex", "--privileged", "sex=Q"], "no value of sex 'Q'"),
        (["p.csv", *COLUMNS, "--sensitive", "sex", "--privileged", "M"], "ATTRIBUTE=VALUE"),
        (["q.csv", *COLUMNS, "--sensitive", "sex"], "did you mean 'p.csv'"),
        (["p.duckdb", *COLUMNS, "--sensitive", "sex"], "must be named with --table"),
        (["p.csv", *COLUMNS, "--sensitive", "score"], "at most 100 values"),
        (["p.csv", *COLUMNS, "--sensitive", "sex", "--metric", "spdd"], "did you mean 'spd'"),
        (["p.csv", *COLUMNS, "--sensitive", "sex", "--threshold", "spd"], "METRIC=NUMBER"),
        (["p.csv", *COLUMNS, "--sensitive", "age", "--bins", "age=young"], "CUT,CUT"),
        (["--counts", "p.csv", "--sensitive", "sex"], "y_true, y_pred and n"),
        (["p.csv", *COLUMNS, "--sensitive", "sex", "--confidence", "95"], "between 0 and 1"),
        (["p.csv", *COLUMNS, "--sensitive", "sex", "--score", "race"], "Scores must be numbers"),
        (["p.csv", *COLUMNS, "--sensitive", "sex", "--weight", "race"], "must hold numbers"),
        (["p.csv", *COLUMNS, "--sensitive", "sex", "--bins", "sex=1,2"], "must hold numbers"),
        (["p.csv", *COLUMNS, "--sensitive", "sex", "--bins", "age=1,2"], "add --sensitive age"),
        (["p.csv", *COLUMNS, "--sensitive", "sex", "--seed", "-1"], "0 or more"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence_and_writes_nothing(
    arguments: list[str], sentence: str, folder: Path
) -> None:
    before = sorted(p.name for p in folder.iterdir())
    done = run("audit", *arguments, "--html", "page.html", "--json", "out.json", cwd=folder)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.startswith("isonomy: ")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert sorted(p.name for p in folder.iterdir()) == before


def test_usage_errors_are_two_as_well(folder: Path) -> None:
    assert run("audit", cwd=folder).returncode == 2
    assert run("audit", "p.csv", "--nonsense", cwd=folder).returncode == 2


def test_metrics_command(folder: Path) -> None:
    listing = run("metrics", cwd=folder)
    assert "statistical_parity_difference" in listing.stdout
    one = run("metrics", "spd", cwd=folder)
    assert "when_not_to_use" in one.stdout
    data = json.loads(run("metrics", "--json", "-", cwd=folder).stdout)
    assert len(data["metrics"]) > 40
    assert run("metrics", "spdd", cwd=folder).returncode == 2


def test_yes_and_no_stay_words_in_a_csv(folder: Path) -> None:
    table = pd.DataFrame({"y": ["yes", "no"] * 60, "p": ["yes", "no", "no", "no"] * 30})
    table["s"] = ["t", "t", "f"] * 40
    table["truth"] = table["y"] == "yes"
    table.to_csv(folder / "words.csv", index=False)
    options = ["--label", "y", "--prediction", "p", "--sensitive", "s", "--privileged", "s=t"]
    done = run("audit", "words.csv", *options, "--favorable", "yes", "--json", "-", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["favorable"] == ["yes"]
    assert found["privileged"] == {"s": ["t"]}
    # what a data frame writes for truth values needs no word
    plain = ["--label", "truth", "--prediction", "truth2", "--sensitive", "s"]
    table.assign(truth2=table["p"] == "yes").to_csv(folder / "truth.csv", index=False)
    done = run("audit", "truth.csv", *plain, "--json", "-", cwd=folder)
    assert json.loads(done.stdout)["favorable"] == [True]


def test_no_number_is_cut_on_80_columns(folder: Path) -> None:
    table = pd.read_csv(folder / "p.csv")
    table["region"] = np.where(table.index % 2, "[b]old territories and dependencies", "new")
    table.to_csv(folder / "long.csv", index=False)
    command = [sys.executable, "-m", "isonomy", "audit", "long.csv", *COLUMNS, "--intersections"]
    command += ["--sensitive", "sex", "--sensitive", "region", "--score", "score"]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env={**os.environ, "COLUMNS": "80"},
        check=True,
    )  # fmt: skip
    assert "…" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "[b]old" in done.stdout  # a group's name is never read as markup


def test_files_that_are_not_what_they_say(folder: Path) -> None:
    torn = "y,yhat,sex\n1,1,M\n0,1,Zürich\n".encode() + b"1,0,Z\xfcrich\n"
    for name, content, sentence in (
        ("damaged.csv", torn, "UTF-8 text with damaged letters (the first in line 4)"),
        ("zeros.csv", b"y,yhat,sex\n1,1,M\n0,1,\0\xfc\n", "bytes that no text in UTF-8 holds"),
    ):
        (folder / name).write_bytes(content)
        done = run("audit", name, *COLUMNS, "--sensitive", "sex", cwd=folder)
        assert done.returncode == 2
        assert sentence in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--html", "-"], "must name a file"),
        (["--html", "o.json", "--json", "o.json"], "two files"),
    ],
)
def test_places_that_cannot_hold_the_result(folder: Path, more: list[str], sentence: str) -> None:
    done = run("audit", "p.csv", *COLUMNS, "--sensitive", "sex", *more, cwd=folder)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert not (folder / more[1]).exists()


def test_strata_are_compared_within_and_not_audited(folder: Path) -> None:
    done = run(
        "audit", "p.csv", *COLUMNS, "--sensitive", "sex", "--privileged", "sex=M", "--strata", "race",
        "--json", "out.json", "--html", "page.html", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Gaps within race (Mantel-Haenszel)" in done.stdout
    data = json.loads((folder / "out.json").read_text())
    assert {row["strata"] for row in data["conditional"]} == {"race"}
    assert {row["attribute"] for row in data["metrics"]} == {None, "sex"}
    assert "Gaps within race" in (folder / "page.html").read_text()


def test_the_count_on_top_includes_single_groups(folder: Path) -> None:
    done = run(
        "audit", "p.csv", *COLUMNS, "--sensitive", "race", "--privileged", "race=a",
        "--threshold", "difference=0.001", "--threshold", "ratio=0.999", "--json", "out.json", cwd=folder,
    )  # fmt: skip
    data = json.loads((folder / "out.json").read_text())
    every = [*data["metrics"], *data["comparisons"]]
    violated = sum(row["verdict"] == "violated" for row in every)
    assert f"Verdicts: {violated} violated" in done.stdout or not violated
    assert done.stdout.index("Verdicts:") < done.stdout.index("Overall")


def test_an_age_that_was_not_cut_is_summed_up_and_the_cuts_come_first(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n = 4000
    age = rng.integers(18, 90, n)
    good = rng.uniform(size=n) < 0.2 + 0.006 * (age - 18)
    table = pd.DataFrame({"age": age, "y_true": rng.integers(0, 2, n), "y_pred": good.astype(int)})
    table.to_csv(tmp_path / "p.csv", index=False)
    for more, shown in ([], 6), (["--privileged", "age=50"], 7):
        done = isonomy(
            "audit", "p.csv", "--sensitive", "age", "--html", "p.html", "--json", "p.json",
            "--resamples", "100", *more, cwd=tmp_path,
        )  # fmt: skip
        told = " ".join(done.stdout.split())
        cuts = "(--bins age=36,54,72)"
        assert told.index(cuts) < told.index("Overall") < told.index("Rates by age")
        assert told.count(cuts) == 1
        assert f"{72 - shown} of 72 groups of age are not shown" in told
        assert len(done.stdout.splitlines()) < 75
        page = (tmp_path / "p.html").read_text()
        assert f"{72 - shown} of 72 groups of age are not shown" in page
        assert page.index(cuts) < page.index("<table")
        assert page.count("<tr>") < 60
        data = json.loads((tmp_path / "p.json").read_text())
        assert len({row["group"] for row in data["groups"]}) == 72


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """3,000 people; women of b are selected less often, and nobody asked about them."""
    rng = np.random.default_rng(3)
    n = 3000
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "race": rng.choice(["a", "b", "c"], n),
            "age": rng.integers(18, 80, n),
            "y_true": rng.integers(0, 2, n),
        }
    )
    inside = (frame["sex"] == "F") & (frame["race"] == "b")
    frame["y_pred"] = (rng.random(n) < np.where(inside, 0.25, 0.5)).astype(int)
    frame["score"] = rng.random(n)
    frame.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def test_a_scan_finds_who_nobody_asked_about(planted: Path) -> None:
    done = isonomy(
        *["audit", "people.csv", "--sensitive", "sex,race,age", "--scan", "--confirm", "--metric", "spd"],
        *["--json", "out.json", "--report", "page.html", "--report", "page.md"], cwd=planted,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "1 group departs beyond chance" in done.stdout.replace("\n", " ")
    found = json.loads((planted / "out.json").read_text())["scan"]
    assert [f["group"] for f in found["findings"]] == ["sex = F & race = b"]
    assert found["findings"][0]["confirmed"] is True
    assert list(found["searched"]) == ["selection_rate"]
    assert len(found["settings"]["values"]["age"]) == 4  # cut into quarters, as in the audit
    page = (planted / "page.html").read_text(encoding="utf-8")
    assert "Groups nobody asked about" in page
    assert "sex = F &amp; race = b" in page
    assert "confirmed" in (planted / "page.md").read_text(encoding="utf-8")


def test_a_scan_of_selections_and_of_counts(planted: Path) -> None:
    done = isonomy(
        *["audit", "people.csv", "--prediction", "y_pred", "--sensitive", "sex,race", "--scan", "--json", "out.json"],
        "--report", "page.html", cwd=planted,
    )  # fmt: skip
    # there is a column y_true: with labels
    assert done.returncode == 0, done.stderr
    assert "error_rate" in json.loads((planted / "out.json").read_text())["scan"]["searched"]
    frame = pd.read_csv(planted / "people.csv").drop(columns="y_true")
    frame.to_csv(planted / "selected.csv", index=False)
    done = isonomy(
        *["audit", "selected.csv", "--prediction", "y_pred", "--sensitive", "sex,race", "--scan", "--json", "out.json"],
        "--report", "page.html", cwd=planted,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = json.loads((planted / "out.json").read_text())["scan"]
    assert list(rows["searched"]) == ["selection_rate"]
    assert "sex = F &amp; race = b" in (planted / "page.html").read_text(encoding="utf-8")
    people = pd.read_csv(planted / "people.csv")
    people.groupby(["sex", "race", "y_true", "y_pred"]).size().rename("n").reset_index().to_csv(
        planted / "counts.csv", index=False
    )
    done = isonomy(
        *[
            "audit",
            "counts.csv",
            "--counts",
            "--sensitive",
            "sex,race",
            "--scan",
            "--metric",
            "spd",
            "--json",
            "out.json",
        ],
        cwd=planted,
    )
    assert done.returncode == 0, done.stderr
    counted = json.loads((planted / "out.json").read_text())["scan"]
    assert [f["group"] for f in counted["findings"]] == [f["group"] for f in rows["findings"]]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("--depth 2", "--depth and --confirm are for a scan; add --scan."),
        ("--confirm", "--depth and --confirm are for a scan; add --scan."),
        ("--scan --weight score", "--weight does not go with --scan"),
        ("--scan --by age", "--by does not go with --scan"),
        ("--scan --strata race", "--strata does not go with --scan"),
    ],
)
def test_mistakes_with_a_scan_are_one_sentence(planted: Path, more: str, said: str) -> None:
    done = isonomy(*f"audit people.csv --sensitive sex {more}".split(), cwd=planted)
    assert done.returncode == 2
    assert said in done.stderr
