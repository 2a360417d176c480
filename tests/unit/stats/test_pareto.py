import numpy as np
import pytest

from isonomy.stats import hypervolume, knee, pareto


def test_pareto_against_all_pairs() -> None:
    rng = np.random.default_rng(0)
    y, x = rng.integers(0, 8, (2, 60)).astype(float)
    y[5] = np.nan
    beaten = np.array(
        [any(y[j] >= y[i] and x[j] <= x[i] and (y[j] > y[i] or x[j] < x[i]) for j in range(60))
         for i in range(60)]
    )  # fmt: skip
    np.testing.assert_array_equal(pareto(y, x), ~beaten & ~np.isnan(y))
    assert pareto([], []).size == 0


def test_hypervolume_against_counting() -> None:
    rng = np.random.default_rng(1)
    y, x = rng.uniform(size=(2, 12))
    grid_y, grid_x = np.meshgrid((np.arange(400) + 0.5) / 400, (np.arange(400) + 0.5) / 400)
    covered = ((y[:, None, None] >= grid_y) & (x[:, None, None] <= grid_x)).any(axis=0)
    assert hypervolume(y, x, reference=(0.0, 1.0)) == pytest.approx(covered.mean(), abs=5e-3)
    assert hypervolume([0.5], [0.5], reference=(0.6, 1.0)) == 0


def test_knee() -> None:
    assert knee([0.9, 0.85, 0.84, 0.6], [0.3, 0.2, 0.05, 0.0]) == 2
    assert knee([0.9, 0.8], [0.1, 0.0]) is None
    assert knee([0.9, 0.75, 0.6], [0.2, 0.1, 0.0]) is None  # a straight line has none
