"""The domain of a table: what rows may look like, and moving about in it."""

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from isonomy.counterfactual import Domain

RNG = np.random.default_rng(0)
N = 60
TABLE = pd.DataFrame(
    {
        "job": pd.Categorical(RNG.choice(["a", "b", "c"], N)),
        "hours": RNG.integers(10, 80, N),
        "pay": RNG.normal(100, 30, N),
        "flag": RNG.choice([True, False], N),
        "scaled": RNG.choice([-0.5, 1.5], N),
        "note": pd.Series(RNG.choice(["x", None], N)),
    }
)


def test_kinds() -> None:
    kinds = {c.name: c.kind for c in Domain(TABLE).coordinates}
    assert kinds == {
        "job": "values", "hours": "integer", "pay": "number", "flag": "values",
        "scaled": "values", "note": "values",
    }  # fmt: skip


def test_a_table_survives_the_way_there_and_back() -> None:
    domain = Domain(TABLE)
    back = domain.decode(domain.encode(TABLE), TABLE)
    pd.testing.assert_frame_equal(back, TABLE)
    numbers = TABLE[["hours", "pay", "scaled"]]
    array = numbers.to_numpy()
    assert np.array_equal(Domain(array).decode(Domain(array).encode(array), array), array)
    frame = pl.from_pandas(numbers)
    assert Domain(frame).decode(Domain(frame).encode(frame), frame).equals(frame)


def test_contains() -> None:
    domain = Domain(TABLE)
    assert domain.contains(TABLE).all()
    for column, value in (("hours", 5), ("hours", 90), ("pay", 1e4), ("scaled", 0.0)):
        assert not domain.contains(TABLE.head(1).assign(**{column: value})).any()
    strange = TABLE.head(1).assign(job="d")
    assert not domain.contains(strange).any()
    assert not domain.contains(TABLE.head(1).assign(hours=40.5)).any()


def test_one_hot_columns_are_one_coordinate() -> None:
    X = np.eye(3)[RNG.integers(3, size=50)]
    domain = Domain(X, one_hot=[[0, 1, 2]])
    assert len(domain.coordinates) == 1
    assert domain.coordinates[0].shown.size == 3
    assert domain.contains(X).all()
    assert not domain.contains(np.array([[1.0, 1.0, 0.0]])).any()


def test_fixed_columns_are_no_coordinates() -> None:
    domain = Domain(TABLE, fixed=["job", "pay"])
    assert [c.name for c in domain.coordinates] == ["hours", "flag", "scaled", "note"]


@settings(max_examples=50, deadline=None)
@given(st.integers(0, N - 1), st.integers(0, 5), st.integers(0, 2**31))
def test_proposals_stay_inside(row: int, j: int, seed: int) -> None:
    domain = Domain(TABLE)
    point = domain.encode(TABLE.iloc[[row]])
    options = domain.proposals(j, float(point[0, j]), np.random.default_rng(seed))
    assert point[0, j] not in options
    moved = np.repeat(point, len(options), axis=0)
    moved[:, j] = options
    assert domain.contains(domain.decode(moved, TABLE.iloc[[row] * len(options)])).all()
