"""Fairea's tables from the authors' files (lr, dt) against the paper's print."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isonomy.papers.fairea_2021 import tables as fairea_2021
from isonomy.papers.fairea_2021.findings import findings
from isonomy.papers.fairea_2021.reader import read_fairea

PREFIX = {
    "LFR": "lfr",
    "OP": "op",
    "RW": "rew",
    "CO_fnr": "co1",
    "CO_fpr": "co2",
    "CO_weighted": "co3",
    "ROC_SPD": "roc1",
    "ROC_AOD": "roc2",
    "ROC_EOD": "roc3",
    "EO": "eo",
}


@pytest.fixture(scope="module")
def folder() -> Path:
    place = Path(__file__).parents[2].parent / "shared" / "published" / "fairea"
    if not place.is_dir():
        pytest.skip("needs Fairea's archive in shared/published beside the repository")
    return place


@pytest.fixture(scope="module")
def frame(folder: Path) -> pd.DataFrame:
    return read_fairea(folder)


def region_by_hand(x: float, y: float, bx: np.ndarray, by: np.ndarray) -> str:
    """The paper's regions for a falling baseline, without any of our geometry."""
    if x > 1:
        return "inverted" if y > 1 else "lose-lose"
    if y > 1 or (x == 0 and y < 0):  # the second: the constant predictors of Table 4
        return "win-win"
    return "good" if y >= np.interp(x, bx[::-1], by[::-1]) else "poor"


def counted_by_hand(folder: Path, method: str) -> dict[str, dict[str, int]]:
    counts = {gap: dict.fromkeys(fairea_2021.REGIONS, 0) for gap in ("SPD", "AOD")}
    for model in ("lr", "dt"):
        for dataset, attribute in fairea_2021.TASKS.values():
            if (model, dataset) == ("dt", "german"):
                continue
            baseline = (folder / f"Results/RQ4/{model}_{dataset}_{attribute}.txt").read_text()
            lines = baseline.splitlines()
            line = {
                name: np.array(lines[lines.index(name) + 1].split(), dtype=float)
                for name in ("Accuracy", "SPD", "AOD")
            }
            pattern = f"{PREFIX[method]}_{model}_{dataset}_{attribute}_*.txt"
            (file,) = (folder / "Results/RQ1-RQ2" / model).glob(pattern)
            for row in file.read_text().splitlines():
                spd, accuracy, aod = map(float, row.split())
                low, high = line["Accuracy"].min(), line["Accuracy"].max()
                for gap, value in (("SPD", spd), ("AOD", aod)):
                    top, bottom = line[gap].max(), line[gap].min()
                    region = region_by_hand(
                        (value - bottom) / (top - bottom),
                        (accuracy - low) / (high - low),
                        (line[gap] - bottom) / (top - bottom),
                        (line["Accuracy"] - low) / (high - low),
                    )
                    counts[gap][region] += 1
    return counts


@pytest.mark.parametrize("method", PREFIX)
def test_table4_of_lr_and_dt_equals_counts_by_hand(
    folder: Path, frame: pd.DataFrame, method: str
) -> None:
    table = fairea_2021.table4(frame).data
    for gap, regions in counted_by_hand(folder, method).items():
        assert sum(regions.values()) == 450
        ours = (table.loc[method, gap] * 450).round(9).to_dict()
        assert ours == {region: float(n) for region, n in regions.items()}


def test_table4_rows_that_are_whole_equal_the_print_but_for_two_known_cells(
    frame: pd.DataFrame,
) -> None:
    table = fairea_2021.table4(frame)
    compared = table.compare()
    assert set(compared["row"]) == {"PR", "AD"}
    assert len(compared) == 20
    wrong = compared[~compared["agrees"]]
    assert wrong[["row", "column", "printed", "recomputed"]].to_numpy().tolist() == [
        ["AD", "SPD poor", "5%", "4%"],
        ["AD", "SPD inverted", "12%", "13%"],
    ]
    assert any(n.startswith("AD: the paper's row does not reproduce") for n in table.notes)
    assert table.cases == 2 * (10 * 450 + 100 + 250)


def test_table5_equals_the_print_for_lr_and_says_that_dt_does_not_reproduce(
    frame: pd.DataFrame,
) -> None:
    table = fairea_2021.table5(frame)
    compared = table.compare()
    assert compared[compared["row"] == "LR"]["agrees"].all()
    assert len(compared[compared["row"] == "LR"]) == 5
    dt = (table.data.loc["DT"] * 100).round(1).tolist()
    assert dt == [48.7, 9.2, 13.0, 15.5, 13.6]
    assert not compared[compared["row"] == "DT"]["agrees"].any()
    assert any(n.startswith("DT: the paper's row does not reproduce") for n in table.notes)
    assert (table.data.loc["LR"] * 100).round(1).tolist() == [29.9, 19.7, 3.3, 40.7, 6.4]


def test_table6_equals_the_print_in_every_cell_of_lr_and_dt(frame: pd.DataFrame) -> None:
    compared = fairea_2021.table6(frame).compare()
    assert len(compared) == 20 * 9
    assert compared["agrees"].all()
    by_code = fairea_2021.table6(frame, rule="code").compare()
    assert set(by_code[~by_code["agrees"]]["recomputed"]) == {"inverted"}


def test_table7_equals_the_print(frame: pd.DataFrame) -> None:
    table = fairea_2021.table7(frame)
    compared = table.compare()
    assert len(compared) == 20
    assert compared["agrees"].all()
    assert table.cases == 2 * (100 + 250)


def test_figure5_turns_where_an_independent_area_is_largest(
    folder: Path, frame: pd.DataFrame
) -> None:
    # the same area by slicing: integrate the height between point and baseline over x
    data = fairea_2021.fig5(frame).data
    for method, part, sweep in (
        ("PR", "RQ3_prejudice", "eta"),
        ("AD", "RQ3_adversarial", "weights"),
    ):
        lines = (folder / f"Results/{part}/adult_sex.txt").read_text().splitlines()
        accuracy, spd = (
            np.array(lines[lines.index(n) + 1].split(), dtype=float) for n in ("Accuracy", "SPD")
        )
        blocks: dict[float, list[list[float]]] = {}
        for text in (folder / f"Results/{part}/{sweep}_adult_sex.txt").read_text().splitlines():
            numbers = [float(word) for word in text.split()]
            if len(numbers) == 1:
                here = blocks.setdefault(numbers[0], [])
            else:
                here.append(numbers)
        by = (accuracy - accuracy.min()) / np.ptp(accuracy)
        bx = (spd - spd.min()) / np.ptp(spd)
        areas = {}
        for value, rows in blocks.items():
            mean = np.mean(rows, axis=0)
            x, y = (
                (mean[0] - spd.min()) / np.ptp(spd),
                (mean[1] - accuracy.min()) / np.ptp(accuracy),
            )
            grid = np.linspace(x, 1.0, 200_001)
            height = np.clip(y - np.interp(grid, bx[::-1], by[::-1]), 0.0, None)
            areas[value] = float(np.trapezoid(height, grid))
        mine = data[data["method"] == method].set_index("parameter")["area SPD"].astype(float)
        np.testing.assert_allclose(mine.index, [*areas], rtol=1e-12)
        np.testing.assert_allclose(mine.to_numpy(), [*areas.values()], atol=1e-8)
        assert mine.idxmax() == {"PR": 35.0, "AD": 0.3}[method]


def test_figure5_names_the_identical_runs_of_the_authors(frame: pd.DataFrame) -> None:
    notes = fairea_2021.fig5(frame).notes
    assert [note for note in notes if "identical" in note] == [
        "PR: the runs at 6, 7, 8, 9, 10 are identical."
    ]


def test_figures_4_and_6_hold_the_authors_points(frame: pd.DataFrame) -> None:
    four = fairea_2021.fig4(frame)
    assert four.cases == (16 + 20) * 50
    assert len(four.data) == 16 + 20 + 2 * 11
    six = fairea_2021.fig6(frame)
    assert len(six.data) == 2 * 3 * 11
    # lr and dt: two other strategies; the switched-off PR and AD: one; ten points, two gaps
    assert six.notes[0].startswith(f"{(2 * 2 + 2) * 10 * 2} of 120 points")


def test_findings_recompute_the_four_answers(frame: pd.DataFrame) -> None:
    told = findings(frame).data["recomputed"]
    assert told["RQ1"].startswith("52% of 9,700 cases (dt, lr): 38% lose-lose, 14% poor")
    assert "0.024 against 0.014" in told["RQ2"]
    assert "CO_fpr 2" in told["RQ2"]
    assert "PR under SPD: largest area 0.263 at 35" in told["RQ3"]
    assert told["RQ4"].startswith("500 of 500")
