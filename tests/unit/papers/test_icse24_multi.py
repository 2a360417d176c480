"""The study of several attributes: a folder as the authors lay it out, counted by hand."""

from pathlib import Path

import pandas as pd
import pytest

from isonomy.papers import PAPERS, read_published
from isonomy.papers.icse24_multi.reader import _of_both

PAPER = PAPERS["icse24_multi"]
FIVE = ["accuracy", "recall", "precision", "f1score", "mcc"]


def write(place: Path, name: str, rows: dict[str, list[float]]) -> None:
    text = "".join(f"{k}\t" + "\t".join(map(str, v)) + "\n" for k, v in rows.items())
    (place / name).write_text(text)


def single(gap: float, other: float, score: float) -> dict[str, list[float]]:
    rows = dict.fromkeys(FIVE, score)
    rows |= dict.fromkeys(("spd", "aod", "eod"), gap) | dict.fromkeys(
        ("spd2", "aod2", "eod2"), other
    )
    return {name: [value + 0.001 * k for k in range(20)] for name, value in rows.items()}


def both(worst: float, precision: float, recall: float) -> dict[str, list[float]]:
    rows = dict.fromkeys([*FIVE, *_of_both(("sex", "race"))], 0.5)
    rows |= dict.fromkeys(("wcspd", "wcaod", "wceod"), worst)
    rows |= {"precision": precision, "recall": recall}
    return {name: [value + 0.001 * k for k in range(20)] for name, value in rows.items()}


@pytest.fixture
def frame(tmp_path: Path) -> pd.DataFrame:
    write(tmp_path, "default_lr_adult_sex.txt", single(0.2, 0.1, 0.8))
    write(tmp_path, "rew_lr_adult_sex.txt", single(0.1, 0.3, 0.7))
    write(tmp_path, "maat_lr_adult_sex.txt", single(0.1, 0.05, 0.8))
    write(tmp_path, "default_lr_adult_multi.txt", both(0.4, 0.8, 0.6))
    write(tmp_path, "rew_lr_adult_multi.txt", both(0.3, 0.8, 0.6))
    write(tmp_path, "maat_lr_adult_multi.txt", both(0.5, 0.7, 0.7))
    line = {name: [0.8 - 0.03 * k for k in range(11)] for name in FIVE}
    line |= {name: [0.4 - 0.04 * k for k in range(11)] for name in ("spd", "aod", "eod")}
    write(tmp_path, "adult_lr_baseline", line)
    write(tmp_path, "rew_lr_german_multi.txt", both(0.3, 0.8, 0.6))  # a stray of no task
    return read_published("icse24", tmp_path)


def test_names_say_whose_rate_and_whose_gap(frame: pd.DataFrame) -> None:
    assert {*frame["dataset"]} == {"adult"}
    metrics = {*frame["metric"]}
    assert "|statistical_parity_difference[race]|" in metrics
    assert "selection_rate[sex=0,race=1]" in metrics
    assert "true_positive_rate+false_positive_rate[race=1]" in metrics
    one = frame[(frame["mitigator"] == "reweighing") & (frame["attributes"] == "sex")]
    of_race = one[one["metric"] == "|statistical_parity_difference[race]|"]["value"]
    assert of_race.iloc[0] == 0.3


def test_who_makes_the_other_attribute_worse(frame: pd.DataFrame) -> None:
    data = PAPER.make("table5", frame).data
    assert data.loc["rw"].tolist() == [1.0, 1.0]
    assert data.loc["maat"].tolist() == [0.0, 0.0]
    assert PAPER.make("table6", frame).data.loc["adult-sex", "decreasing"] == 0.5


def test_intersectional_change(frame: pd.DataFrame) -> None:
    assert PAPER.make("table7", frame).data["intersec_increase"].to_dict() == {
        "rw": 1.0,
        "maat": 0.0,
    }
    # from 0.4095 to 0.3095
    assert PAPER.make("table8", frame).data.loc["rw", "SPD"] == "-0.100 (-24.4%)"


def test_the_swap_is_of_the_methods_runs_only(frame: pd.DataFrame) -> None:
    made = {r: PAPER.make("table9", frame, reading=r).data for r in ("as_published", "corrected")}
    rw, maat = made["corrected"].loc["rw"], made["corrected"].loc["maat"]
    assert rw["precision_multi_abso"] == pytest.approx(0.0, abs=1e-12)
    assert maat["precision_multi_abso"] == pytest.approx(-0.1)
    assert maat["recall_multi_abso"] == pytest.approx(0.1)
    # a method that changes nothing loses 0.2 of precision: its recall is set beside precision
    assert made["as_published"].loc["rw", "precision_multi_abso"] == pytest.approx(-0.2)
    assert made["as_published"].loc["rw", "recall_multi_abso"] == pytest.approx(0.2)
    single = "precision_single_abso"
    assert made["as_published"].loc["rw", single] == made["corrected"].loc["rw", single]
    for column in ("accuracy_multi_abso", "f1score_multi_abso", "mcc_multi_rela"):
        assert made["as_published"][column].equals(made["corrected"][column])


def test_regions_with_and_without_the_swap(frame: pd.DataFrame) -> None:
    # rw has a precision of 0.8 to 0.819 at a bias of 0.3 to 0.319: on top of the line or above it
    right, published = (
        PAPER.make("fig1", frame, reading=reading).data.loc["rw"]
        for reading in ("corrected", "as_published")
    )
    by_dataset = PAPER.make("fig2", frame, reading="corrected").data.loc["rw"]
    assert right["good"] + right["win-win"] == pytest.approx(by_dataset["b", "adult"])
    # of five scores precision and recall change places, so that the sums over all stay
    pd.testing.assert_series_equal(right, published)
    pairs = [
        PAPER.make("fig2", frame, reading=r).data.loc["rw", ("b", "SPD-Precision")]
        for r in ("corrected", "as_published")
    ]
    assert pairs == [1.0, 0.0]


def test_a_part_is_not_compared_with_the_print(frame: pd.DataFrame) -> None:
    for table in ("table5", "table6", "table7", "table8", "table9", "fig1", "fig2"):
        assert PAPER.make(table, frame).compare().empty


def test_findings_of_a_part(frame: pd.DataFrame) -> None:
    said = PAPER.make("findings", frame, published=True).data
    assert said.loc["RQ3 precision and recall", "survives"] in {"no", "in part"}
    assert said.loc["RQ1 the other attribute", "recomputed"].endswith("50.0% on average")
    only = frame[frame["attributes"] == "sex"]
    part = PAPER.tables["findings"].make(published=only).data
    assert part.loc["RQ1 the other attribute", "recomputed"].endswith("50.0% on average")
    assert part.loc["RQ2 intersections", "survives"] == "open: these runs cannot tell"
