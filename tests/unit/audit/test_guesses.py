"""Guesses of what columns are: right on the usual names, and harmless on any."""

import numpy as np
import pandas as pd
import pytest

from isonomy.audit import guess_columns
from tests.results import HOSTILE


def roles(table: pd.DataFrame) -> dict[str, str]:
    return {c.name: c.role for c in guess_columns(table)}


def test_a_usual_table() -> None:
    rng = np.random.default_rng(0)
    n = 400
    table = pd.DataFrame(
        {
            "customer_id": rng.permutation(n) + 5000,
            "Gender": rng.choice(["male", "female"], n),
            "age": rng.integers(18, 80, n),
            "car_age": rng.integers(0, 20, n),
            "proba": rng.random(n),
            "prediction": rng.integers(0, 2, n),
            "label": rng.integers(0, 2, n),
        }
    )
    assert roles(table) == {
        "customer_id": "drop",
        "Gender": "sensitive",
        "age": "sensitive",
        "car_age": "feature",
        "proba": "score",
        "prediction": "prediction",
        "label": "label",
    }


def test_a_column_that_looks_protected_is_never_the_label() -> None:
    groups = ("married", "old", "black", "hispan", "male", "white")  # more than are taken
    table = pd.DataFrame({name: [0, 1, 1, 0] * 20 for name in (*groups[:4], "gift", *groups[4:])})
    assert {c.name: c.role for c in guess_columns(table)}["gift"] == "label"
    for name, favorable in (("approve", 1), ("reject", 0)):
        found = {c.name: c for c in guess_columns(table.assign(**{name: [1, 0, 0, 1] * 20}))}
        assert found[name].role == "label"
        assert found[name].favorable == favorable


def test_dummies_of_years_are_no_outcomes() -> None:
    rng = np.random.default_rng(0)
    years = {f"y{k}": rng.integers(0, 2, 300) for k in (94, 96, 98)}
    table = pd.DataFrame(
        {"married": rng.integers(0, 2, 300), **years, "happy": ["yes", "no"] * 150}
    )
    assert roles(table) == {
        "married": "sensitive", "y94": "feature", "y96": "feature", "y98": "feature", "happy": "label",
    }  # fmt: skip
    assert roles(table.rename(columns={"y94": "Y"}))["Y"] == "label"


def test_a_score_is_a_probability() -> None:
    table = pd.DataFrame({"credit_score": np.arange(300.0) % 97, "y": [0, 1] * 150})
    assert roles(table)["credit_score"] == "feature"


def test_the_last_column_of_two_values_is_the_label_where_no_name_says_so() -> None:
    assert (
        roles(pd.DataFrame({"a": [0, 1] * 9, "b": ["x", "z"] * 9, "sex": ["f", "m"] * 9}))["b"]
        == "label"
    )


@pytest.mark.parametrize(
    ("name", "values", "favorable"),
    [
        ("hired", ["no", "yes"], "yes"),
        ("income", ["<=50K", ">50K"], ">50K"),
        ("default", [0, 1], 0),
        ("two_year_recid", [0, 1], 0),
        ("credit", ["bad", "good"], "good"),
        ("label", [1, 2], 1),
        ("outcome", [False, True], True),
    ],
)
def test_the_value_that_is_good_to_get(name: str, values: list[object], favorable: object) -> None:
    (found,) = guess_columns(pd.DataFrame({name: values * 20}))
    assert found.favorable == favorable


def test_any_table_is_described() -> None:
    table = pd.DataFrame({name: ["a", None] * 30 for name in HOSTILE if name})
    table["empty"], table["one"] = np.nan, 1
    table["lists"] = [[1]] * 60
    table["infinite"] = [np.inf, -np.inf, 1.0] * 20
    found = {c.name: c for c in guess_columns(table)}
    assert found["empty"].missing == 1.0
    assert found["one"].distinct == 1
    assert len(found) == table.shape[1]
    assert guess_columns(pd.DataFrame()) == ()
