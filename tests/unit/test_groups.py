"""Protected attributes become groups by one rule, whoever asks."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from isonomy import Counts
from isonomy._groups import (
    attribute_columns,
    cross,
    near_duplicates,
    read_attributes,
    sorted_values,
)
from isonomy._validate import MISSING
from isonomy.errors import InputError
from isonomy.mitigators import make_mitigator

VALUES = ["b", None, "a", "b"]


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(VALUES),
        pd.Series(VALUES, dtype="category"),
        pd.Series(pd.Categorical(VALUES, categories=["z", "b", "a"])),
        pl.Series(VALUES),
        np.array(VALUES, dtype=object),
        {"group": VALUES},
        pd.DataFrame({"group": VALUES}),
        pl.DataFrame({"group": VALUES}),
    ],
    ids=lambda v: type(v).__module__.split(".")[0] + type(v).__name__,
)
def test_every_kind_of_column_gives_the_same_groups(values: Any) -> None:
    codes, groups = cross(attribute_columns(values), 4)
    assert groups == (("a",), ("b",), (MISSING,))
    assert codes.tolist() == [1, 2, 0, 1]


def test_names_are_those_given() -> None:
    assert read_attributes(pd.Series([1, 2], name=0))[0] == (0,)
    assert read_attributes(pl.Series([1, 2]))[0] == (None,)
    assert list(attribute_columns(np.zeros((3, 2)))) == ["attribute_0", "attribute_1"]
    assert list(attribute_columns(pd.DataFrame(np.zeros((3, 2))))) == ["0", "1"]
    with pytest.raises(InputError, match="At least one protected attribute"):
        attribute_columns({})


def test_several_attributes_are_crossed_in_order() -> None:
    frame = pd.DataFrame({"age": ["60 and over", "under 25", "25 to 60"], "n": [10, 9, 9]})
    codes, groups = cross(attribute_columns(frame), 3)
    assert groups == (("under 25", 9), ("25 to 60", 9), ("60 and over", 10))
    assert codes.tolist() == [2, 0, 1]
    assert sorted_values(frame["age"]) == ("under 25", "25 to 60", "60 and over")


def test_counts_and_mitigators_agree_about_groups() -> None:
    group = pd.Series(["m", "f", None, "m", "f", None] * 4, name="sex")
    y = np.array([0, 1] * 12)
    counts = Counts.from_labels(y, y, sensitive_features=group)
    fitted = make_mitigator("unmitigated").fit(
        np.arange(24.0)[:, None], y, sensitive_features=group
    )
    assert [g[0] for g in counts.groups] == list(fitted.groups_)


def test_an_arrow_table_names_its_columns() -> None:
    names, columns = read_attributes(pa.table({"sex": ["f", "m"], "race": ["a", "b"]}))
    assert names == ("sex", "race")
    assert [list(column) for column in columns] == [["f", "m"], ["a", "b"]]


def test_more_than_16_years_is_not_16_years() -> None:
    assert near_duplicates(["16years", ">16years", "<9years", "9years", "65", "65+"]) == []
    assert near_duplicates([">16 years", ">16years"]) == [[">16 years", ">16years"]]
