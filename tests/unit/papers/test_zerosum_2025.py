"""The zero-sum study: a folder as the authors lay it out, counted by hand."""

from pathlib import Path

import pandas as pd
import pytest

from isonomy.papers import PAPERS, read_published

PAPER = PAPERS["zerosum_2025"]
ROWS = [
    "accuracy",
    "recall",
    "precision",
    "f1score",
    "mcc",
    "srp",
    "sru",
    "fprp",
    "fpru",
    "tprp",
    "tpru",
    "spd",
    "aod",
    "eod",
]


def write(place: Path, name: str, privileged: float, other: float) -> None:
    place.mkdir(exist_ok=True)
    lines = []
    for row in ROWS:
        level = privileged if row.endswith("p") else other if row.endswith("u") else 0.5
        runs = [level + 0.001 * k for k in range(20)]
        lines.append("\t".join([row, *(f"{v:.6f}" for v in (*runs, sum(runs) / 20))]))
    (place / name).write_text("\n".join(lines))


@pytest.fixture
def frame(tmp_path: Path) -> pd.DataFrame:
    for task in ("adult_sex", "german_age"):
        write(tmp_path, f"origin_lr_{task}.txt", 0.6, 0.3)
        write(tmp_path, f"rew_lr_{task}.txt", 0.5, 0.4 if task == "adult_sex" else 0.3)
    write(tmp_path, "origin_rf_adult_sex.txt", 0.7, 0.3)
    write(tmp_path, "adv_lr_adult_sex.txt", 0.65, 0.2)
    write(tmp_path / "Discussion", "rew_lr_adult_sex.txt", 0.9, 0.9)  # of training rows
    return read_published("zerosum", tmp_path)


def test_runs_are_twenty_and_of_test_rows(frame: pd.DataFrame) -> None:
    assert frame["repeat"].max() == 19
    one = frame[(frame["mitigator"] == "reweighing") & (frame["metric"] == "selection_rate[sex=1]")]
    assert one["value"].tolist() == pytest.approx([0.5 + 0.001 * k for k in range(20)])


def test_whose_rates_rise_and_fall(frame: pd.DataFrame) -> None:
    data = PAPER.make("table2", frame).data
    assert data.loc["rew", ["srp_in", "srp_tie", "srp_de"]].tolist() == [0, 0, 2]
    assert data.loc["rew", ["sru_in", "sru_tie", "sru_de"]].tolist() == [1, 1, 0]
    # one set of runs, beside lr (0.6) and rf (0.7)
    assert data.loc["adv", ["tpp_in", "tpp_tie", "tpp_de"]].tolist() == [1, 0, 1]


def test_by_how_much(frame: pd.DataFrame) -> None:
    data = PAPER.make("table3", frame).data
    assert data.loc["adv", "srp_mean"] == pytest.approx(0.0)
    assert data.loc["adv", "srp_max"] == pytest.approx(-0.05)
    assert data.loc["adv", "spr_large"] == 0.5
    assert data.loc["rew", "sru_max"] == pytest.approx(0.1)
    assert data.loc["rew", "fpu_large"] == 0.5
    assert PAPER.make("table3", frame).compare().empty


def test_findings_of_a_part(frame: pd.DataFrame) -> None:
    said = PAPER.make("findings", frame, published=True).data["recomputed"]
    assert said["RQ1 TPR"] == (
        "falls significantly for the privileged in 75% of the cases, rises for the unprivileged in 25%"
    )
    assert said["RQ1 who pays"].startswith("2 of 2 methods")
