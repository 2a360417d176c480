"""``isonomy audit`` of a file of selections or scores, without a label, as a person meets it."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.e2e.command import isonomy


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    n = 900
    race = rng.choice(["White", "Black", "Asian"], n, p=[0.6, 0.3, 0.1])
    score = rng.normal(60, 10, n).round(1) - 6 * (race == "Black")
    frame = pd.DataFrame(
        {"race": race, "job": rng.choice(["a", "b"], n), "score": score, "hired": score >= 62}
    )
    frame["hired"] = frame["hired"].map({True: "yes", False: "no"})
    frame.to_csv(tmp_path / "p.csv", index=False)
    return tmp_path


HIRED = ["--prediction", "hired", "--favorable", "yes", "--sensitive", "race"]


def test_selections_are_audited_without_a_label(folder: Path) -> None:
    done = isonomy(
        "audit", "p.csv", *HIRED, "--reference", "race=White", "--strata", "job", "--score", "score",
        "--json", "found.json", "--html", "found.html", cwd=folder, env={"COLUMNS": "140"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for words in (
        "race beside the best group", "race beside the reference, White", "two more", "Mantel-Haenszel",
        "Mean scores by race", "among the best scores", "There are no labels", "violated",
    ):  # fmt: skip
        assert words in done.stdout
    found = json.loads((folder / "found.json").read_text())
    frame = pd.read_csv(folder / "p.csv")
    black = next(r for r in found["ratios"] if (r["group"], r["against"]) == ("Black", "reference"))
    rates = frame["hired"].eq("yes").groupby(frame["race"]).mean()
    assert black["ratio"] == pytest.approx(rates["Black"] / rates["White"])
    assert len(found["cutoffs"]) == 30
    assert "<html" in (folder / "found.html").read_text()


def test_a_narrow_screen_explains_only_what_it_shows(folder: Path) -> None:
    done = isonomy("audit", "p.csv", *HIRED, cwd=folder, env={"COLUMNS": "80"})
    assert done.returncode == 0, done.stderr
    assert "Fisher" not in done.stdout
    assert "two more" not in done.stdout
    assert "Gaps by race: largest vs smallest" in done.stdout
    assert "statistical_parity_difference " in done.stdout  # in one piece


def test_scores_alone_are_cut_in_two(folder: Path) -> None:
    scored = ["audit", "p.csv", "--sensitive", "race", "--score", "score"]
    done = isonomy(*scored, "--prediction", "score>=62", "--json", "-", cwd=folder)
    assert done.returncode == 0, done.stderr
    selected = isonomy("audit", "p.csv", *HIRED, "--json", "-", cwd=folder)
    one, two = (json.loads(d.stdout)["ratios"] for d in (done, selected))
    assert one == two
    bare = isonomy(*scored, cwd=folder)
    assert bare.returncode == 2
    assert "no column 'y_true'" in bare.stderr


@pytest.mark.parametrize(
    ("more", "way"),
    [(["--score", "score"], "--prediction 'score>=0.5'."), ([], "--prediction.")],
)
def test_without_any_decision_both_ways_are_named(folder: Path, more: list[str], way: str) -> None:
    done = isonomy("audit", "p.csv", "--sensitive", "race", *more, cwd=folder)
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert said.endswith(f"name yours with --label, or without labels who is selected with {way}")


def test_gates_close(folder: Path) -> None:
    done = isonomy("audit", "p.csv", *HIRED, "--fail-on", "any", cwd=folder)
    assert done.returncode == 1
    assert "thresholds violated" in done.stderr
    open_ = isonomy(
        "audit",
        "p.csv",
        *HIRED,
        "--threshold",
        "ratio=0.1,difference=0.9",
        "--fail-on",
        "any",
        cwd=folder,
    )
    assert open_.returncode == 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--metric", "eod"], "needs true labels"),
        (["--reference", "race=Purple"], "Purple"),
        (["--strata", "jobb"], "job"),
    ],
)
def test_mistakes_are_one_sentence(folder: Path, more: list[str], message: str) -> None:
    done = isonomy("audit", "p.csv", *HIRED, *more, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("isonomy: ") == 1  # a slow machine says first how far it has come
    assert done.stderr.rstrip().splitlines()[-1].startswith("isonomy: ")
