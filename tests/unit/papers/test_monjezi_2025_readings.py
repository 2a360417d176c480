"""Readings of Monjezi et al. (2025): each law by hand, and the distance from the print."""

import numpy as np
import pandas as pd
import pytest

from isonomy.data import make_splits, prepare
from isonomy.errors import InputError
from isonomy.papers.monjezi_2025.cases import TASKS, printed
from isonomy.papers.monjezi_2025.readings import (
    ENCODINGS,
    EXCHANGED,
    FITS,
    distances,
    law_of_blocks,
    law_of_largest,
    law_of_peaks,
    reading_records,
    readings,
)
from isonomy.store import Record, records_frame
from isonomy.study.tails import SIDES
from isonomy.tails import gpd_quantile
from tests.registry import real

MODELS = ("lr", "svm")


def test_laws_are_of_the_largest_values_of_blocks_or_of_peaks() -> None:
    """Exponential values: the largest of a block of n has location log n and shape 0."""
    rng = np.random.default_rng(0)
    cd = rng.exponential(size=40_000)
    blocks = law_of_blocks(cd, 50)
    assert blocks.location == pytest.approx(np.log(50), abs=0.15)
    assert blocks.shape == pytest.approx(0, abs=0.08)
    tail = gpd_quantile((np.arange(40_000) + 0.5) / 40_000, 1.0, 0.0)
    implied = law_of_peaks(tail, 1000)
    assert implied.location == pytest.approx(np.log(1000), abs=0.1)
    mean = law_of_peaks(tail, None)
    assert mean.location == pytest.approx(mean.threshold + 1, abs=0.1)  # without memory
    top = np.sort(cd)[::-1]
    for k in (25, 50, 100):
        law = law_of_largest(cd, k)
        assert law.threshold == top[k]
        assert top[k] < law.location < top[0]


def test_where_no_law_can_be_fitted_there_is_a_location_at_most() -> None:
    steps = np.repeat([0.0, 0.2, 0.4], [900, 30, 20])
    law = law_of_largest(steps, 50)
    assert law.location == 0.2
    assert np.isnan([law.scale, law.shape]).all()
    assert law_of_largest(np.ones(300), 50).location == 1
    assert np.isnan(law_of_largest(np.ones(50), 50).location)
    assert np.isnan(law_of_blocks(steps, 365).location)  # two blocks
    assert np.isnan(law_of_peaks(np.ones(300), None).location)
    # one in 1,000 of 60,000 is below a threshold that 50 exceed
    assert np.isnan(law_of_peaks(np.random.default_rng(0).normal(size=60_000), 1000).location)


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


def test_readings_are_measured_on_the_data() -> None:
    real("german")
    records = [*reading_records(["german sex"], ["lr"], ["onehot_minmax", "codes_unscaled"])]
    assert [r.status for r in records] == ["ok", "ok"]
    one, other = (r.metrics for r in records)
    assert one["mean_privileged"] != other["mean_privileged"]
    assert one["largest_50_location_unprivileged"] > one["largest_50_threshold_unprivileged"]
    again = reading_records(
        ["german sex"], ["lr"], ["onehot_minmax"], known={r.key for r in records}
    )
    assert [*again] == []


def test_the_switches_of_the_encoding_do_what_they_say() -> None:
    data = real("german")
    split = make_splits(data, 1, splitter="evt")[0]

    def names(**options: object) -> tuple[str, ...]:
        return prepare(data, "evt", attribute="sex", split=split, **options).feature_names

    assert sum("=" in name for name in names()) > 40
    assert not any("=" in name for name in names(codes=True))
    raw = prepare(data, "evt", attribute="sex", split=split, scale=None)
    assert raw.X_train.max() > 1000
    heart = real("heart")
    part = make_splits(heart, 1, splitter="evt")[0]
    years = prepare(heart, "evt", attribute="sex", split=part, age_bins=False).feature_names
    assert "age" in years
    assert "age" not in prepare(heart, "evt", attribute="sex", split=part).feature_names


def test_frames_without_readings_are_refused() -> None:
    other = records_frame([Record("x", "german", "sex", "lr", "unmitigated", 0, {"acd": 1.0})])
    with pytest.raises(InputError, match="--table readings --run"):
        readings(other)
