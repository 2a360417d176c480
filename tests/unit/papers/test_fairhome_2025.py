"""The FairHOME study: a folder as the authors lay it out, counted by hand."""

from pathlib import Path

import pandas as pd
import pytest

from isonomy.papers import PAPERS, read_published

PAPER = PAPERS["fairhome_2025"]
ROWS = [
    "accuracy",
    "recall",
    "precision",
    "f1score",
    "mcc",
    "spd0",
    "aod0",
    "eod0",
    "spd1",
    "aod1",
    "eod1",
    "wcspd",
    "wcaod",
    "wceod",
    "avespd",
    "aveaod",
    "aveeod",
]


def write(place: Path, name: str, bias: float, *, score: float = 0.8, extra: bool = False) -> None:
    values = {row: score if row in ROWS[:5] else bias for row in ROWS}
    runs = [[value + 0.001 * k for k in range(20)] for value in values.values()]
    text = "".join(
        f"{row}\t" + "\t".join(f"{v:.6f}" for v in (*line, *([9.0] if extra else []))) + "\n"
        for row, line in zip(values, runs, strict=True)
    )
    (place / name).write_text(text)


@pytest.fixture
def frame(tmp_path: Path) -> pd.DataFrame:
    for model in ("lr", "rf"):
        write(tmp_path, f"origin_{model}_adult.txt", 0.4)
        write(tmp_path, f"fairhome_{model}_adult.txt", 0.1, score=0.79, extra=True)
        write(tmp_path, f"rew_{model}_adult.txt", 0.1 if model == "lr" else 0.2)
    write(tmp_path, "gry_lr_adult.txt", 0.05)
    return read_published("fairhome", tmp_path)


def test_a_value_behind_the_runs_is_left_out_and_said(frame: pd.DataFrame) -> None:
    ours = frame[frame["mitigator"] == "fairhome"]
    assert ours["value"].max() < 1
    assert "the first 20 are the runs" in ours["reason"].iloc[0]
    assert "|average_odds_difference[race]|" in {*frame["metric"]}


def test_means_and_changes(frame: pd.DataFrame) -> None:
    two = PAPER.make("table2", frame)
    assert two.text().loc[("rf", "adult", "fairhome"), "wcspd"] == "0.110"
    # one dataset, all runs: these cells can be compared, and none of them is the paper's
    assert two.compare()["row"].nunique() == 4
    three = PAPER.make("table3", frame).data
    assert three.loc["wcspd"].tolist() == ["0.409", "0.110", "-0.300", "-73.3%"]
    assert three.loc["accuracy", "relac"] == "-1.2%"
    four = PAPER.make("table4", frame).data
    assert four.loc["rew", "acspdrelac"] == "-61.1%"
    assert four.loc["gry", "wcspdabsc"] == "-0.350"  # run once, counted beside lr and rf


def test_wins_ties_and_losses(frame: pd.DataFrame) -> None:
    five = PAPER.make("table5", frame)
    assert five.data["rew"].to_dict() == dict.fromkeys(five.data.index, "1/1/0") | {
        "Overall": "6/6/0"
    }
    assert five.data.loc["wcspd", "gry"] == "0/0/2"
    assert five.compare().empty


def test_findings_of_a_part(frame: pd.DataFrame) -> None:
    said = PAPER.make("findings", frame, published=True).data["recomputed"]
    assert said["RQ1 fairness"] == "FairHOME changes intersectional bias by -73.3% on average"
    assert said["RQ2 next best"].startswith("the next best method (gry)")
