"""Columns that look protected: found under many names and codes, with few false alarms."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from isonomy.audit import audit, audit_file, looks_protected, unexamined_columns


@pytest.mark.parametrize(
    "column",
    [
        "male", "Female", "is_female", "isfemale", "black", "white", "afam", "single", "nonwhite",
        "race_black", "sex_Male", "gender_code", "RaceWhite", "black_flag", "white_dummy", "hisp",
        "marr", "married", "muslim", "applicant_single", "female1", "agesq", "old", "d_black",
        "blackfemale", "white_male", "malehisp", "homo",
    ],
)  # fmt: skip
def test_names_of_groups_and_their_encodings(column: str) -> None:
    assert looks_protected(column)
    assert looks_protected(column, [0, 1])


@pytest.mark.parametrize(
    "column",
    [
        "white_wine", "black_box", "single_family", "blacklist", "whitespace", "old_balance",
        "man_hours", "senior_manager", "vehicle_age", "account_age_days", "mail", "malware",
        "wage", "bracelet", "self_employed", "color", "isolation", "mandate", "singles_tax",
        "blackwhite", "mailman", "homoscedastic",
    ],
)  # fmt: skip
def test_other_names(column: str) -> None:
    assert not looks_protected(column)
    assert not looks_protected(column, [0, 1])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["M", "F"], True), (["m", "f", None], True), (["Male", "Female", "Unknown"], True),
        (["White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"], True),
        (["Never-married", "Divorced", "Widowed", "Separated"], True),
        (["Christian", "Muslim", "None"], True), (["husband", "wife", "child"], True),
        (["white", "black", "red", "silver"], False), (["single", "double", "suite"], False),
        (["M", "L", "S"], False), (["yes", "no"], False), ([0, 1], False), (["north"], False),
        ([f"a man said {k} things of a woman" for k in range(20)], False),
        (["men's shoes", "toys", "garden", "kitchen", "women's shoes"], False),
    ],
)  # fmt: skip
def test_values_are_looked_at_whatever_the_name(values: list[Any], expected: bool) -> None:
    assert looks_protected("x7", values) is expected


def test_a_share_named_like_a_group_is_no_membership() -> None:
    assert not looks_protected("female", np.linspace(0, 1, 50))
    assert looks_protected("age", range(50))


@pytest.fixture
def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    race = rng.choice(["a", "b", "c"], 900)
    return pd.DataFrame(
        {
            "race": race,
            "race_b": (race == "b").astype(int),
            "town": pd.Series(race).map({"a": "x", "b": "y", "c": "z"}),
            "g": rng.choice(["M", "F"], 900),
            "single": rng.integers(0, 2, 900),
            "hours": rng.integers(0, 60, 900),
            "y": rng.integers(0, 2, 900),
            "p": rng.integers(0, 2, 900),
        }
    )


def test_what_the_attribute_tells_is_not_listed_again(people: pd.DataFrame) -> None:
    assert unexamined_columns(people.drop(columns=["y", "p"]), ["race"]) == ("g", "single")


def test_audits_of_rows_and_of_files_agree(people: pd.DataFrame, tmp_path) -> None:
    X = people.drop(columns=["race", "y", "p"])
    of_rows = audit(people["y"], people["p"], sensitive_features=people[["race"]], X=X)
    people.to_csv(tmp_path / "people.csv", index=False)
    of_file = audit_file(
        tmp_path / "people.csv", label="y", prediction="p", sensitive_features="race"
    )
    for found in (of_rows, of_file):
        assert found.unexamined == ("g", "single")
        assert any(note.startswith("town alone predicts race") for note in found.notes)
