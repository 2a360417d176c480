"""Reweighing: the weights by hand, and what they do."""

import numpy as np
import pandas as pd
import pytest

from isonomy.errors import NotApplicable
from isonomy.mitigators import Reweighing


def test_weights_by_hand() -> None:
    """6 men, 4 women; 5 men and 1 woman favoured: w(m, 1) = 6 * 6 / (10 * 5) and so on."""
    y = np.array([1, 1, 1, 1, 1, 0, 1, 0, 0, 0])
    s = np.array([1, 1, 1, 1, 1, 1, 0, 0, 0, 0])
    *_, w = Reweighing().resample(None, y, s)
    expected = np.where(
        s == 1, np.where(y == 1, 36 / 50, 24 / 10), np.where(y == 1, 24 / 10, 16 / 30)
    )
    np.testing.assert_allclose(w, expected)
    for g in (0, 1):
        assert np.average(y[s == g], weights=w[s == g]) == pytest.approx(0.6)
    assert w.sum() == pytest.approx(10)


def test_weights_multiply_those_given() -> None:
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2, 50), rng.integers(0, 3, 50)
    given = rng.integers(1, 4, 50)
    *_, w = Reweighing().resample(None, y, s, given.astype(float))
    repeated = np.repeat(np.arange(50), given)
    *_, plain = Reweighing().resample(None, y[repeated], s[repeated])
    np.testing.assert_allclose(w, np.bincount(repeated, plain))


def test_many_groups_and_classes_become_independent() -> None:
    rng = np.random.default_rng(1)
    y, s = rng.integers(0, 4, 500), rng.integers(0, 3, 500)
    *_, w = Reweighing().resample(None, y, s)
    joint = np.bincount(s * 4 + y, w).reshape(3, 4)
    np.testing.assert_allclose(joint, np.outer(joint.sum(1), joint.sum(0)) / 500)


def test_an_empty_cell_is_refused_by_name() -> None:
    X, y = np.zeros((4, 1)), np.array([1, 0, 1, 1])
    with pytest.raises(NotApplicable, match="'b' lacks one"):
        Reweighing().fit(X, y, sensitive_features=["a", "a", "b", "b"])


def test_as_published_the_weights_have_the_last_bit_of_the_reference() -> None:
    """It multiplied first and divided once, and a tree may split by the difference."""
    cells = np.array([[31, 48], [67, 101]])  # by group and label
    s, y = (np.repeat(axis.ravel(), cells.ravel()) for axis in np.indices((2, 2)))
    theirs = np.outer(cells.sum(axis=1), cells.sum(axis=0)) / (cells.sum() * cells)
    method = Reweighing(protocol="as_published")
    *_, weight = method.resample(None, y, s)
    assert (weight == theirs[s, y]).all()
    *_, plain = Reweighing().resample(None, y, s)
    np.testing.assert_allclose(weight, plain, rtol=1e-15)
    assert (weight != plain).any()


def test_as_published_the_sides_of_several_attributes_overlap() -> None:
    rng = np.random.default_rng(0)
    a, b, y = (rng.integers(0, 2, 500) for _ in range(3))
    groups = pd.DataFrame({"a": a, "b": b})
    expected = np.ones(500)
    for side in ((a == 1) | (b == 1), (a == 0) | (b == 0)):
        for label in (0, 1):
            cell = side & (y == label)
            expected[cell] *= side.sum() * (y == label).sum() / (500 * cell.sum())
    method = Reweighing(protocol="as_published", privileged={"a": 1, "b": 1})
    encoded = method.encode(groups, y, sensitive_features=groups)
    *_, weight = method.resample(*encoded)
    np.testing.assert_allclose(weight, expected)
    *_, corrected = Reweighing().resample(
        *Reweighing().encode(groups, y, sensitive_features=groups)
    )
    assert np.abs(corrected - expected).max() > 0.01
