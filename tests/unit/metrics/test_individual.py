"""Inequality by hand; neighbours against a plain double loop; ties shared."""

import numpy as np
import pytest

from isonomy import Counts, get_metric
from isonomy.errors import InputError
from isonomy.metrics import neighbours


def test_entropy_by_hand() -> None:
    y, yhat = np.array([1, 0, 1, 0, 0]), np.array([1, 1, 0, 0, 0])
    b = yhat - y + 1.0
    mu = b.mean()
    counts = Counts.from_labels(y, yhat, sensitive_features=list("aabbb"))
    safe = np.where(b > 0, b, 1.0)
    assert get_metric("theil_index")(counts) == pytest.approx(
        np.mean(np.where(b > 0, b / mu * np.log(safe / mu), 0))
    )
    assert get_metric("generalized_entropy")(counts) == pytest.approx(
        np.mean((b / mu) ** 2 - 1) / 2
    )
    assert get_metric("coefficient_of_variation")(counts) == pytest.approx(b.std() / mu)


def by_loop(X: np.ndarray, y: np.ndarray, k: int, include_self: bool) -> float:
    """Share the k places by distance, contested ones equally: the rule, row by row."""
    gaps = []
    for i in range(len(X)):
        d = ((X - X[i]) ** 2).sum(axis=1)
        others = [j for j in range(len(X)) if include_self or j != i]
        last = sorted(d[others])[k - 1]
        near = [j for j in others if d[j] < last - 1e-12]
        tied = [j for j in others if abs(d[j] - last) <= 1e-12]
        mean = (y[near].sum() + (k - len(near)) * y[tied].mean()) / k
        gaps.append(abs(y[i] - mean))
    return 1 - float(np.mean(gaps))


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("kind", ["smooth", "ties", "duplicates", "few", "many"])
def test_consistency_equals_the_plain_rule(kind: str, k: int, include_self: bool) -> None:
    rng = np.random.default_rng(2)
    X = {
        "smooth": rng.normal(size=(120, 4)) + 1000.0,
        "ties": rng.integers(0, 2, (120, 9)).astype(float),
        "duplicates": np.repeat(rng.normal(size=(30, 3)), 4, axis=0),
        "few": rng.integers(0, 2, (60, 2)).astype(float),
        "many": np.hstack([rng.integers(0, 2, (701, 6)), rng.integers(0, 9, (701, 1)) / 8]),
    }[kind]
    y = rng.integers(0, 2, len(X)).astype(float)
    metric = get_metric("consistency")
    assert metric(X, y, k=k, include_self=include_self) == pytest.approx(
        by_loop(X, y, k, include_self), abs=1e-12
    )


def test_row_order_does_not_matter_with_ties() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (200, 4)).astype(float), rng.integers(0, 2, 200)
    order = rng.permutation(200)
    metric = get_metric("consistency")
    assert metric(X, y) == pytest.approx(metric(X[order], y[order]), abs=1e-12)
    assert 0 < neighbours(X).tie_share <= 1
    assert neighbours(rng.normal(size=(50, 3))).tie_share == 0


def test_blocks_do_not_matter() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, 300)
    small = neighbours(X, chunk_bytes=5000)
    metric = get_metric("consistency")
    assert metric(None, y, near=small) == pytest.approx(metric(X, y), abs=1e-14)


def test_flip_rate() -> None:
    assert get_metric("flip_rate")([0, 1, 1, 0], [0, 1, 0, 1]) == 0.5


def test_bad_neighbours() -> None:
    with pytest.raises(InputError, match="k must be between"):
        neighbours(np.ones((3, 2)), k=4)
    with pytest.raises(InputError, match="finite"):
        neighbours(np.array([[np.nan], [1.0]]), k=1)
    with pytest.raises(InputError, match="same number of rows"):
        get_metric("consistency")(np.ones((6, 2)), [0, 1])
