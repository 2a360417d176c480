"""Columns of any frame, array or matrix."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from isonomy._tables import (
    as_matrix,
    as_vector,
    drop_columns,
    get_column,
    like,
    numeric_columns,
    set_columns,
    take_columns,
)
from isonomy.errors import InputError
from isonomy.mitigators import make_mitigator

TABLE = {"a": [1.0, 2.0], "b": ["x", "y"], "c": [True, False]}


def tables() -> list[object]:
    return [pd.DataFrame(TABLE), pl.DataFrame(TABLE)]


@pytest.mark.parametrize("X", tables(), ids=["pandas", "polars"])
def test_frames_are_taken_apart_and_put_together(X) -> None:
    assert numeric_columns(X) == [0, 2]
    np.testing.assert_array_equal(as_matrix(take_columns(X, [0, 2]), who="m"), [[1, 1], [2, 0]])
    with pytest.raises(InputError, match="'b' is not"):
        as_matrix(X, who="m")
    other = set_columns(X, {0: np.array([5.0, 6.0]), 1: np.array(["p", "q"])}, keep_types=False)
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
    np.testing.assert_array_equal(set_columns(X, {2: [9, 9]})[:, 2], [9, 9])
    assert X[0, 2] == 2
    np.testing.assert_array_equal(as_matrix(sparse.csr_array(X), who="m"), X)
    for wrong, words in (
        ([["a"]], "needs numbers"),
        ([1.0], "rows and columns"),
        ([[np.nan]], "finite"),
    ):
        with pytest.raises(InputError, match=words):
            as_matrix(np.array(wrong), who="m")


def test_labels_must_be_one_complete_column() -> None:
    assert as_vector([[1], [2]], name="y").tolist() == [1, 2]
    with pytest.raises(InputError, match="must not be missing"):
        as_vector(["a", None], name="y")
    with pytest.raises(InputError, match="one column"):
        as_vector(np.zeros((2, 2)), name="y")


@pytest.mark.parametrize("names", [[0, 1, 2], [5, 3, 1], ["a", 1, 2.5], ["a", "a", "b"]])
def test_columns_may_have_any_names(names) -> None:
    X = pd.DataFrame([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], columns=names)
    assert numeric_columns(X) == [0, 1, 2]
    assert as_matrix(X, who="m").tolist() == X.to_numpy().tolist()
    assert list(take_columns(X, [2]).columns) == names[2:]
    assert list(drop_columns(X, [0]).columns) == names[1:]
    assert get_column(set_columns(X, {1: [7.0, 8.0]}), 1).tolist() == [7.0, 8.0]
    assert list(like(X, np.zeros((2, 3))).columns) == names


@pytest.mark.parametrize(
    "name", ["suppression", "disparate_impact_remover", "learning_fair_representations"]
)
def test_mitigators_take_frames_of_numbered_columns(name: str) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)))
    y, s = rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    fitted = make_mitigator(name, sensitive_columns=2).fit(X, y, sensitive_features=s)
    assert len(fitted.predict(X, sensitive_features=s)) == 60


def test_sparse_tables_stay_sparse() -> None:
    X = sparse.csr_array(np.eye(3))
    changed = set_columns(X, {1: [1.0, 2.0, 3.0]})
    assert sparse.issparse(changed)
    assert changed.toarray().tolist() == [[1, 1, 0], [0, 2, 0], [0, 3, 1]]
