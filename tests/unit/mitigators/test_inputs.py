"""Tables in and out, and groups as numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from isonomy._validate import check_same_order
from isonomy.errors import InputError, UnknownName
from isonomy.mitigators._inputs import (
    GroupEncoder,
    as_matrix,
    as_vector,
    drop_columns,
    find_columns,
    like,
    numeric_columns,
    replace_columns,
    take_columns,
)

TABLE = {"a": [1.0, 2.0], "b": ["x", "y"], "c": [True, False]}


def tables() -> list[object]:
    return [pd.DataFrame(TABLE), pl.DataFrame(TABLE)]


@pytest.mark.parametrize("X", tables(), ids=["pandas", "polars"])
def test_frames_are_taken_apart_and_put_together(X) -> None:
    assert numeric_columns(X) == [0, 2]
    np.testing.assert_array_equal(as_matrix(take_columns(X, [0, 2]), who="m"), [[1, 1], [2, 0]])
    with pytest.raises(InputError, match="'b' is not"):
        as_matrix(X, who="m")
    other = replace_columns(X, [0, 1], [np.array([5.0, 6.0]), np.array(["p", "q"])])
    assert type(other) is type(X)
    assert list(other["b"]) == ["p", "q"]
    assert list(X["b"]) == ["x", "y"], "the original stays"
    assert list(drop_columns(X, [1]).columns) == ["a", "c"]
    wrapped = like(X, np.zeros((2, 3)))
    assert type(wrapped) is type(X)
    assert list(wrapped.columns) == ["a", "b", "c"]


def test_arrays_are_taken_apart_and_put_together() -> None:
    X = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(drop_columns(X, [1]), X[:, [0, 2]])
    np.testing.assert_array_equal(replace_columns(X, [2], [[9, 9]])[:, 2], [9, 9])
    assert X[0, 2] == 2
    np.testing.assert_array_equal(as_matrix(sparse.csr_array(X), who="m"), X)
    for wrong, words in (
        ([["a"]], "needs numbers"),
        ([1.0], "rows and columns"),
        ([[np.nan]], "finite"),
    ):
        with pytest.raises(InputError, match=words):
            as_matrix(np.array(wrong), who="m")


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


def test_labels_must_be_one_complete_column() -> None:
    assert as_vector([[1], [2]], name="y").tolist() == [1, 2]
    with pytest.raises(InputError, match="must not be missing"):
        as_vector(["a", None], name="y")
    with pytest.raises(InputError, match="one column"):
        as_vector(np.zeros((2, 2)), name="y")


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
