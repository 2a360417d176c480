"""Counting people: files and frames alike."""

import numpy as np
import pandas as pd
import pytest

from isonomy.errors import InputError
from isonomy.templates.people import count_people, hits_by, score_people


def test_missing_values_are_a_value_and_bands_come_in_order(tmp_path) -> None:
    frame = pd.DataFrame({"age": [20, 70, np.nan, 5, 105], "out": ["a", None, "a", "b", "a"]})
    frame.to_csv(tmp_path / "f.csv", index=False)
    here = count_people(frame, ["age", "out"], bins={"age": [18, 65]})
    there = count_people(tmp_path / "f.csv", ["age", "out"], bins={"age": [18, 65]})
    pd.testing.assert_frame_equal(here.cells, there.cells)
    assert here.values("age") == ["under 18", "18 to 65", "65 and over", "(missing)"]
    assert here.values("out") == ["a", "b", "(missing)"]


def test_a_number_may_be_cut_into_an_outcome(tmp_path) -> None:
    frame = pd.DataFrame(
        {"s": ["a", "b", "a"], "points": [50.0, 70.0, np.nan], "word": list("xyz")}
    )
    frame.to_csv(tmp_path / "f.csv", index=False)
    for source in (frame, tmp_path / "f.csv"):
        people = count_people(source, ["s", "points>=70"])
        assert people.cells.to_dict("list") == {
            "s": ["a", "a", "b"], "points>=70": [0, "(missing)", 1], "n": [1, 1, 1],
        }  # fmt: skip
        with pytest.raises(InputError, match="'word' holds"):
            count_people(source, ["s", "word>=70"])
        with pytest.raises(InputError, match="no column 'point'; did you mean 'points'"):
            count_people(source, ["s", "point"])


def test_the_median_is_numpys() -> None:
    for rows in (4, 5):
        frame = pd.DataFrame(
            {"g": ["a"] * rows, "s": np.random.default_rng(rows).normal(size=rows)}
        )
        assert count_people(frame, ["g"], score="s").median == np.median(frame["s"])


def test_moments_are_numpys() -> None:
    frame = pd.DataFrame(
        {"g": list("aabbb"), "s": [1.0, 2.0, 4.0, 8.0, 16.0], "y": [0, 1, 0, 1, 1]}
    )
    found = score_people(frame, "g", "s", less="y")
    less = frame["s"] - frame["y"]
    assert found.mean.tolist() == pytest.approx([1.0, less[2:].mean()])
    assert found.variance[1] == pytest.approx(less[2:].var())
    assert found.spread == pytest.approx(less.std())


def test_hits_by_stratum() -> None:
    frame = pd.DataFrame({"g": list("aabb"), "j": list("xyxy"), "p": [1, 0, 1, 1]})
    people = count_people(frame, ["g", "j", "p"])
    groups, rows, hits = hits_by(people, "g", {0: False, 1: True}, "p", ["j"])
    assert groups == ["a", "b"]
    assert rows.tolist() == [[1, 1], [1, 1]]
    assert hits.sum(1).tolist() == [1, 2]


def test_nothing_to_count_is_refused() -> None:
    with pytest.raises(InputError, match="at least one person"):
        count_people(pd.DataFrame({"g": []}), ["g"])
    with pytest.raises(InputError, match="at least one person"):
        score_people(pd.DataFrame({"g": [], "s": []}), "g", "s")


@pytest.mark.parametrize("name", ["age", "Age at application", "applicant_age"])
def test_negative_ages_are_refused(tmp_path, name: str) -> None:
    frame = pd.DataFrame({name: [20, -1, 70], "out": [0, 1, 1]})
    frame.to_csv(tmp_path / "f.csv", index=False)
    for source in (frame, tmp_path / "f.csv"):
        with pytest.raises(InputError, match=f"Ages must not be negative; 1 of {name!r}"):
            count_people(source, [name, "out"], bins={name: [40]})


def test_other_numbers_may_be_negative() -> None:
    frame = pd.DataFrame({"balance": [-5, 5], "mileage": [-1, 2], "out": [0, 1]})
    bins = {"balance": [0], "mileage": [0]}
    assert count_people(frame, [*bins, "out"], bins=bins).rows == 2
