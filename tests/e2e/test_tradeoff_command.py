"""``isonomy tradeoff`` and ``isonomy tune`` as users run them."""

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isonomy.tradeoff import REGIONS, judge
from tests.e2e.command import isonomy


def run(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = isonomy(*arguments)
    assert done.returncode == code, done.stderr + done.stdout
    return done


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    rng = np.random.default_rng(0)
    n = 3000
    s = rng.choice(["F", "M"], n)
    y = rng.uniform(size=n) < 0.35 + 0.1 * (s == "M")
    score = np.clip(0.25 + 0.4 * y + 0.15 * (s == "M") + rng.normal(0, 0.2, n), 0, 1)
    base = score > 0.5
    pred = score > np.where(s == "M", 0.57, 0.45)
    path = tmp_path_factory.mktemp("tradeoff") / "people.csv"
    pd.DataFrame(
        {
            "y": np.where(y, "good", "bad"),
            "first": np.where(base, "good", "bad"),
            "second": np.where(pred, "good", "bad"),
            "all_bad": "bad",
            "score": score.round(4),
            "sex": s,
        }
    ).to_csv(path, index=False)
    return path


def options(file: Path) -> list[str]:
    return [
        "tradeoff", str(file), "--label", "y", "--base", "first", "--prediction", "second",
        "--sensitive", "sex", "--privileged", "sex=M", "--favorable", "good",
    ]  # fmt: skip


def test_file_of_predictions(file: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = run(
        *options(file), "--prediction", "all_bad", "--score", "score",
        "--json", str(tmp_path / "out.json"), "--html", str(page), "--resamples", "200",
    )  # fmt: skip
    content = json.loads((tmp_path / "out.json").read_text())
    first, constant = content["tradeoffs"]
    frame = pd.read_csv(file)
    same = judge(
        frame["y"], frame["first"], frame["second"], sensitive_features={"sex": frame["sex"]},
        favorable="good", privileged="M", resamples=200,
    )  # fmt: skip
    assert first["region"] == same.region
    assert first["area"] == same.area or same.area != same.area
    assert first["probability"] == same.probability
    assert constant["constant"] is True
    assert len(first["frontier"]["bias"]) == 21
    assert {"name", "attribute", "value", "low", "high", "verdict", "reason"} <= set(
        content["metrics"][0]
    )
    assert first["region"] in done.stdout
    text = page.read_text()
    assert "<svg" in text
    assert "http" not in text.replace("http-equiv", "")
    assert "no use" in text


def test_json_on_standard_output_and_exit_codes(file: Path) -> None:
    done = run(*options(file), "--json", "-", "--resamples", "0")
    content = json.loads(done.stdout)
    region = content["tradeoffs"][0]["region"]
    assert region in REGIONS
    run(*options(file), "--resamples", "0", "--fail-on", region, code=1)
    assert "must name a region" in run(*options(file), "--fail-on", "bad", code=2).stderr
    wrong = run("tradeoff", str(file), "--label", "y", "--base", "frst", "--prediction", "second",
                "--sensitive", "sex", code=2)  # fmt: skip
    assert "did you mean 'first'" in wrong.stderr
    assert "--sensitive" in run("tradeoff", str(file), code=2).stderr


def test_mitigators_on_a_dataset(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run(
        "tradeoff", "synthetic(n=1500)", "--method", "reweighing", "--method",
        "fairness_constrained_thresholds", "--sensitive", "group", "--fairness", "spd",
        "--fairness", "eod", "--resamples", "50", "--json", str(out),
    )  # fmt: skip
    content = json.loads(out.read_text())
    assert [t["method"] for t in content["tradeoffs"]].count("reweighing") == 2
    assert all(t["frontier"] for t in content["tradeoffs"])


def test_tune(tmp_path: Path) -> None:
    out, page, cache = tmp_path / "t.json", tmp_path / "t.html", tmp_path / "sweep.jsonl"
    arguments = [
        "tune", "prejudice_remover", "synthetic(n=1500)", "--sensitive", "group",
        "--param", "eta=0:40:20", "--cache", str(cache), "--json", str(out), "--html", str(page),
    ]  # fmt: skip
    done = run(*arguments)
    assert "tuning prejudice_remover" in done.stderr
    assert "chosen: eta" in done.stdout
    content = json.loads(out.read_text())
    assert [row["eta"] for row in content["curve"]] == [0, 20, 40]
    assert content["chosen"]["eta"] in (0, 20, 40)
    assert content["test"]["region"] in REGIONS
    assert page.read_text().count('class="plot"') == 4
    assert len(cache.read_text().splitlines()) == 3
    run(*arguments)
    assert len(cache.read_text().splitlines()) == 3  # resumed: nothing new


def test_tune_says_what_is_wrong() -> None:
    for arguments, words in (
        (["--param", "etta=0:1:1"], "did you mean 'eta'"),
        (["--param", "eta=5:1:1"], "must rise from LOW to HIGH"),
        (["--param", "eta"], "NAME=LOW:HIGH:STEP"),
        ([], "At least one parameter"),
    ):
        done = run(
            "tune", "prejudice_remover", "synthetic(n=500)", "--sensitive", "group", *arguments,
            code=2,
        )  # fmt: skip
        assert words in done.stderr
    done = run(
        "tune", "fairness_constrained_thresholds", "synthetic(n=800)", "--sensitive", "group",
        "--param", "tolerance=0,0.1", "--min-performance", "1", code=1,
    )  # fmt: skip
    assert "No setting is feasible" in done.stdout.replace("\n", " ")


def test_a_file_to_learn_from(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run(
        "tradeoff", str(file), "--method", "reweighing", "--label", "y", "--sensitive", "sex",
        "--privileged", "sex=M", "--favorable", "good", "--resamples", "0", "--json", str(out),
    )  # fmt: skip
    declared = json.loads(out.read_text())["tradeoffs"]
    assert declared[0]["method"] == "reweighing"
    # nobody named the privileged group: the better-off one is, and a note says so
    done = run(
        "tradeoff", str(file), "--method", "reweighing", "--label", "y", "--sensitive", "sex",
        "--favorable", "good", "--resamples", "0", "--json", str(out),
        "--html", str(tmp_path / "page.html"),
    )  # fmt: skip
    assert "No privileged group was named for sex: 'M'" in " ".join(done.stderr.split())
    # whoever gets the files only must know it, too
    about, chosen = json.loads(out.read_text())["notes"]
    assert about == "Label: y, favourable: 'good'. Privileged: sex = 'M'."
    assert chosen.startswith("No privileged group was named for sex: 'M'")
    assert "No privileged group was named for sex" in (tmp_path / "page.html").read_text()
    assert json.loads(out.read_text())["tradeoffs"] == declared


@pytest.fixture(scope="module")
def loans(tmp_path_factory) -> Path:
    rng = np.random.default_rng(0)
    n = 900
    black, score = rng.integers(0, 2, n), rng.normal(size=n)
    approve = (rng.uniform(size=n) < 1 / (1 + np.exp(-(1 + score - black)))).astype(int)
    table = pd.DataFrame(
        {
            "black": black,
            "age": rng.integers(18, 90, n),
            "score": score,
            "reject": 1 - approve,
            "approve": approve,
        }
    )
    path = tmp_path_factory.mktemp("loans") / "loans.csv"
    table.to_csv(path, index=False)
    return path


def test_a_leak_is_warned_of_and_dropped(loans: Path, tmp_path: Path) -> None:
    how = ["--label", "approve", "--sensitive", "black", "--resamples", "100"]
    done = run("tradeoff", str(loans), *how, "--method", "reweighing")
    assert "named for black: 0, the group" in done.stderr
    assert "reject alone predicts approve for 100% of the rows" in done.stderr
    done = run("tradeoff", str(loans), *how, "--method", "reweighing", "--drop", "reject")
    assert "alone predicts" not in done.stderr
    tuned = ["tune", "prejudice_remover", str(loans), *how[:4], "--param", "eta=1,5"]
    page, out = tmp_path / "tuned.html", tmp_path / "tuned.json"
    written = run(*tuned, "--html", str(page), "--json", str(out))
    assert "reject alone predicts approve" in written.stderr
    assert "reject alone predicts approve" in page.read_text()
    assert "reject alone predicts approve" in json.loads(out.read_text())["notes"][2]
    assert "alone predicts" not in run(*tuned, "--drop", "reject").stderr
    wrong = run("tradeoff", str(loans), *how, "--drop", "reject", code=2)
    assert "--drop is for learning" in wrong.stderr


def test_a_number_is_cut_into_bands(loans: Path, file: Path) -> None:
    how = ["--label", "approve", "--sensitive", "age", "--drop", "reject", "--resamples", "100"]
    wrong = run("tradeoff", str(loans), *how, "--method", "reweighing", code=2)
    hint = re.search(r"--bins age=\d+,\d+,\d+", wrong.stderr)
    assert hint
    done = run("tradeoff", str(loans), *how, "--method", "reweighing", *hint[0].split())
    assert " to " in done.stderr or "over" in done.stderr or "under" in done.stderr
    run("tune", "prejudice_remover", str(loans), *how[:6], "--param", "eta=1,5", *hint[0].split())
    table = pd.read_csv(file)
    aged = file.with_name("aged.csv")
    table.assign(age=np.arange(len(table)) % 60 + 18).to_csv(aged, index=False)
    unbinned = [
        *options(aged)[:-6],
        "--sensitive",
        "age",
        "--favorable",
        "good",
        "--resamples",
        "100",
    ]
    assert "'age' has 60 groups, one per number: cut it" in run(*unbinned).stderr
    bands = run(*unbinned, "--bins", "age=40", "--score", "score")
    assert "one per number" not in bands.stderr


def test_settings_of_a_dataset_by_name_are_its_own() -> None:
    done = run(
        "tradeoff", "synthetic(n=400)", "--sensitive", "group", "--method", "reweighing",
        "--bins", "group=1", code=2,
    )  # fmt: skip
    assert "--bins must be left out for a dataset that declares" in done.stderr


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of people with two protected attributes, one of them not always known."""
    rng = np.random.default_rng(5)
    n = 2500
    sex, race = rng.choice(["f", "m"], n), rng.choice(["x", "y"], n)
    skill = rng.normal(size=n) + 0.5 * (sex == "m") + 0.5 * (race == "y")
    y = skill + rng.normal(size=n) > 0.5
    first = skill > 0.5
    second = skill > 0.25 + 0.25 * ((sex == "m") & (race == "y"))
    table = pd.DataFrame({"sex": sex, "race": race, "skill": skill, "y": y, "first": first, "second": second})  # fmt: skip
    table.loc[rng.random(n) < 0.02, "race"] = None
    path = tmp_path_factory.mktemp("two") / "people.csv"
    table.astype({"y": int, "first": int, "second": int}).to_csv(path, index=False)
    return path


HOW = ["--sensitive", "sex+race", "--privileged", "sex=m", "--privileged", "race=y"]


def test_several_attributes_of_a_file_of_predictions(two: Path, tmp_path: Path) -> None:
    run(
        "tradeoff", str(two), "--label", "y", "--base", "first", "--prediction", "second", *HOW,
        "--resamples", "100", "--json", str(tmp_path / "out.json"),
    )  # fmt: skip
    (found,) = json.loads((tmp_path / "out.json").read_text())["tradeoffs"]
    frame = pd.read_csv(two)
    same = judge(
        frame["y"], frame["first"], frame["second"], sensitive_features=frame[["sex", "race"]],
        privileged={"sex": "m", "race": "y"}, resamples=100,
    )  # fmt: skip
    assert found["bias"] == pytest.approx(same.bias)
    assert found["region"] == same.region


def test_several_attributes_are_learnt_with_and_tuned(two: Path, tmp_path: Path) -> None:
    learn = [str(two), "--label", "y", *HOW]
    made = ["--drop", "first", "--drop", "second"]
    run(
        "tradeoff", *learn, *made, "--method", "reweighing,maat", "--resamples", "100",
        "--json", str(tmp_path / "out.json"),
    )  # fmt: skip
    content = json.loads((tmp_path / "out.json").read_text())["tradeoffs"]
    assert [one["attribute"] for one in content] == ["sex+race"] * 2
    run(
        "tune", "fairness_constrained_thresholds", *learn, *made, "--param", "tolerance=0,0.1",
        "--json", str(tmp_path / "tuned.json"),
    )  # fmt: skip
    assert json.loads((tmp_path / "tuned.json").read_text())["attribute"] == "sex+race"
    refused = run(
        "tune", "maat", *learn[:3], "--sensitive", "sex,race", "--param", "weight=0,1", code=2
    )
    assert "sex+race" in refused.stderr
