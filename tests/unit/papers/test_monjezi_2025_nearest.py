"""Readings of Monjezi et al. (2025) beside the print: the distance, and which is the nearest."""

import numpy as np
import pandas as pd
import pytest

from isonomy.errors import InputError
from isonomy.papers.monjezi_2025.laws import FITS
from isonomy.papers.monjezi_2025.names import TASKS
from isonomy.papers.monjezi_2025.nearest import EXCHANGED, distances, readings
from isonomy.papers.monjezi_2025.readings import ENCODINGS
from isonomy.papers.monjezi_2025.transcript import printed
from isonomy.store import Record, records_frame
from isonomy.study.tails import SIDES

MODELS = ("lr", "svm")


def hand_made(right: str, wrong: str, *, off: float = 0.03, exchange: bool = False) -> pd.DataFrame:
    """One encoding has the printed locations with one fit, everything else lies apart."""
    text = printed("table4_groups")
    acd = printed("table4_cases")["ACD"].astype(float)
    records = []
    for encoding in (right, wrong):
        for model in MODELS:
            for task, (dataset, attribute) in TASKS.items():
                metrics = {}
                for number, side in zip("12", SIDES, strict=True):
                    swap = exchange and task in EXCHANGED
                    row = text.loc[(model, task, {"1": "2", "2": "1"}[number] if swap else number)]
                    sign = -1 if swap else 1
                    metrics[f"mean_{side}"] = sign * float(acd[model, task]) * (number == "2")
                    for fit in FITS:
                        exact = encoding == right and fit == "largest_50"
                        metrics |= {
                            f"{fit}_location_{side}": float(row["mu"]) + (0 if exact else off),
                            f"{fit}_threshold_{side}": float(row["tau"]),
                            f"{fit}_scale_{side}": 0.01,
                            f"{fit}_shape_{side}": {"I": 0.0, "II": 0.5, "III": -0.5}[row["type"]],
                        }
                label = f"reading(encoding={encoding})"
                which = ("monjezi_2025", dataset, attribute, model, label, 0)
                records.append(Record(*which, metrics, preparation=ENCODINGS[encoding]))
    return records_frame(records)


def test_the_nearest_reading_is_the_one_that_the_print_was_made_of() -> None:
    frame = hand_made("codes_minmax", "onehot_minmax")
    table = distances(frame)
    assert table.index[0] == ("codes_minmax", "largest_50", "as printed")
    best = table.iloc[0]
    assert (best["tails"], best["mu"], best["within .02"]) == (40, 0, 1)
    assert (best["tau"], best["same type"]) == (0, 1)
    assert best["ECD"] == best["ACD"] == pytest.approx(0, abs=1e-12)
    other = table.loc[("onehot_minmax", "largest_50", "as printed")]
    assert other["mu"] == pytest.approx(0.03)
    assert other["within .02"] == 0
    assert other["ECD"] == pytest.approx(0)  # both groups are off by as much
    made = readings(frame)
    assert made.notes[0].startswith("Nearest: codes_minmax, largest_50, as printed. Its locations")
    assert any(note.startswith("Nearest by model: lr codes_minmax") for note in made.notes)


def test_exchanged_groups_are_a_reading_of_their_own() -> None:
    table = distances(hand_made("codes_minmax", "onehot_minmax", exchange=True))
    assert table.index[0] == ("codes_minmax", "largest_50", "by size")
    assert table.iloc[0]["mu"] == 0
    assert table.iloc[0]["ACD"] == pytest.approx(0)


def test_a_reading_that_fits_fewer_tails_is_not_called_nearest() -> None:
    frame = hand_made("codes_minmax", "onehot_minmax")
    lost = (frame["metric"] == "largest_50_location_privileged") & (frame["dataset"] == "heart")
    frame.loc[lost.to_numpy(), "value"] = np.nan
    table = distances(frame)
    assert table.iloc[0]["tails"] == 40
    assert table.loc[("codes_minmax", "largest_50", "as printed"), "mu"] == 0
    assert "not called nearest" in readings(frame).notes[-1]


def test_printed_sizes_are_those_of_the_other_sex_in_the_tasks_called_exchanged() -> None:
    """Men are the larger group of German and Heart, and the smaller of the pupils."""
    size = printed("table4_groups")["N"].astype(float)
    for task, men_are_more in (("german sex", True), ("heart sex", True), ("student sex", False)):
        for model in ("dnn", "lr", "rf"):
            assert task in EXCHANGED
            assert (size[model, task, "1"] > size[model, task, "2"]) != men_are_more


def test_frames_without_readings_are_refused() -> None:
    other = records_frame([Record("x", "german", "sex", "lr", "unmitigated", 0, {"acd": 1.0})])
    with pytest.raises(InputError, match="--table readings --run"):
        readings(other)
