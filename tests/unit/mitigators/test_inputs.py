"""Tables in and out, and groups as numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from isonomy._validate import check_same_order
from isonomy.errors import InputError, UnknownName
from isonomy.mitigators._inputs import GroupEncoder, find_columns

TABLE = {"a": [1.0, 2.0], "b": ["x", "y"], "c": [True, False]}


def test_protected_columns_are_found_by_name_or_position() -> None:
    X = pd.DataFrame(TABLE)
    assert find_columns(X, None, ("c", "z")) == (2,)
    assert find_columns(X, ["a", -1], ()) == (0, 2)
    assert find_columns(X.to_numpy(), None, ("c",)) == ()
    with pytest.raises(UnknownName, match="column 'd'"):
        find_columns(X, "d", ())
    with pytest.raises(InputError, match="among the 3 columns"):
        find_columns(X, 3, ())
    with pytest.raises(InputError, match="positions when X is an array"):
        find_columns(X.to_numpy(), "a", ())


def test_order_of_rows() -> None:
    X = pd.DataFrame({"a": [1, 2, 3]})
    check_same_order(X, pd.Series([1, 2, 3]), name="y")
    check_same_order(X, pd.Series([1, 2, 3], index=[7, 8, 9]), name="y")
    with pytest.raises(InputError, match="one order"):
        check_same_order(X, pd.Series([1, 2, 3], index=[2, 1, 0]), name="y")


@pytest.mark.parametrize(
    "values",
    [
        ["b", "a", None, "b"],
        np.array([2.0, 1.0, np.nan, 2.0]),
        pd.Series(["b", "a", None, "b"], dtype="category"),
        pl.Series(["b", "a", None, "b"]),
    ],
    ids=["list", "floats", "category", "polars"],
)
def test_groups_of_every_kind(values) -> None:
    encoder, codes = GroupEncoder.learn(values, 4)
    assert codes.tolist() == [1, 0, 2, 1]
    assert encoder.labels[2] == "(missing)"
    np.testing.assert_array_equal(encoder.encode(values, 4), codes)


def test_intersections_that_occur_and_no_others() -> None:
    frame = pd.DataFrame({"sex": ["m", "f", "m"], "age": [1, 2, 1]})
    encoder, codes = GroupEncoder.learn(frame, 3)
    assert encoder.labels == [("f", 2), ("m", 1)]
    assert codes.tolist() == [1, 0, 1]
    with pytest.raises(InputError, match=r"\('m', 2\) was not among"):
        encoder.encode(frame.assign(age=2), 3)
    with pytest.raises(InputError, match=r"2 column\(s\) seen in fit"):
        encoder.encode(frame["sex"], 3)
    with pytest.raises(InputError, match=r"\('f', 3\) and \('m', 3\) were not among"):
        encoder.encode(frame.assign(age=3), 3)


def test_columns_seen_in_fit_are_found_among_others() -> None:
    frame = pd.DataFrame({"age": [1, 2, 1], "sex": ["m", "f", "m"]})
    encoder, codes = GroupEncoder.learn(frame["sex"], 3)
    assert encoder.encode(frame, 3).tolist() == codes.tolist()
    with pytest.raises(InputError, match=r"1 column\(s\) seen in fit; got 2"):
        GroupEncoder.learn(["m", "f", "m"], 3)[0].encode(frame, 3)


def test_privileged_by_tuple_value_and_attribute() -> None:
    frame = pd.DataFrame({"sex": ["m", "f", "m", "f"], "age": [1, 2, 2, 1]})
    encoder, _ = GroupEncoder.learn(frame, 4)
    encoder.settle(("m", 1), None)
    assert encoder.privileged == (("m", 1),)
    encoder.settle({"sex": "m"}, None)
    assert encoder.privileged == (("m", 1), ("m", 2))
    with pytest.raises(InputError, match="must be unprivileged"):
        encoder.settle({"sex": ["m", "f"]}, None)


def test_zero_is_a_name() -> None:
    column = pd.Series([1, 0, 1], name=0)
    encoder, _ = GroupEncoder.learn(column, 3)
    assert encoder.names == (0,)
    assert find_columns(pd.DataFrame([[1, 5], [0, 6], [1, 7]]), None, encoder.names) == (0,)
    assert GroupEncoder.learn(pl.Series(column.to_numpy()), 3)[0].names == (None,)


def test_words_may_have_any_number_of_groups_and_numbers_few() -> None:
    codes = np.arange(280) % 140
    encoder, _ = GroupEncoder.learn(codes.astype(str), 280)
    assert len(encoder.labels) == 140
    crossed, _ = GroupEncoder.learn(np.column_stack([codes % 12, codes // 12]), 280)
    assert len(crossed.labels) == 140
    with pytest.raises(InputError, match=r"has 140 numbers.*pd\.cut.*35, 70, 105"):
        GroupEncoder.learn(codes, 280)
