"""Nearest rows: equal to a plain loop with the same rule for ties, duplicates included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isonomy.mitigators import _neighbors
from isonomy.mitigators._neighbors import nearest_rows, tie_unit


def by_loop(X, rows, k, skip_self=False):
    found, grain = [], tie_unit(X)
    for row in rows:
        square = np.array([round(float(((x - X[row]) ** 2).sum()) / grain) for x in X])
        order = [i for i in np.argsort(square, kind="stable") if not (skip_self and i == row)]
        found.append(order[:k])
    return np.array(found)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(6, 60),
    d=st.integers(1, 6),
    levels=st.integers(1, 5),
    skip=st.booleans(),
)
def test_equal_to_a_loop_whatever_the_ties(seed, n, d, levels, skip) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, (n, d)) / levels
    rows = rng.integers(0, n, 20)
    for k in (1, 2, 5):
        np.testing.assert_array_equal(
            nearest_rows(X, rows, k, skip_self=skip), by_loop(X, rows, k, skip)
        )


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e7, 1e25])
def test_the_scale_of_the_data_does_not_matter(scale: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    rows = np.arange(0, 400, 3)
    np.testing.assert_array_equal(nearest_rows(X * scale, rows, 3), nearest_rows(X, rows, 3))


def test_columns_of_very_different_size_need_double_precision() -> None:
    """A wide column drowns the others in single precision; the answer is still exact."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.integers(0, 2, 3000) * 1e6, rng.random((3000, 3))])
    rows = np.arange(0, 3000, 150)
    np.testing.assert_array_equal(nearest_rows(X, rows, 3), by_loop(X, rows, 3))


def test_chunks_and_pairs_do_not_matter(monkeypatch) -> None:
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, (300, 4)).astype(float)
    rows = rng.integers(0, 300, 200)
    plain = nearest_rows(X, rows, 3)
    monkeypatch.setattr(_neighbors, "CHUNK", 7)
    monkeypatch.setattr(_neighbors, "PAIRS", 11)
    np.testing.assert_array_equal(nearest_rows(X, rows, 3), plain)


@pytest.mark.parametrize("skip", [True, False])
def test_rows_that_repeat_a_thousand_times(skip: bool) -> None:
    """Only the first few of equal rows can be chosen, so that the others need no measuring."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (4000, 2)).astype(float)
    X[:3] = 5.0
    rows = np.array([0, 2, 3, 10, 1999, 3999])
    for k in (1, 2, 4):
        np.testing.assert_array_equal(
            nearest_rows(X, rows, k, skip_self=skip), by_loop(X, rows, k, skip)
        )
