"""Intervals against SciPy and by hand."""

import numpy as np
import pytest
from scipy.stats import binomtest

from isonomy.errors import InputError
from isonomy.stats import percentile_interval, wilson_interval


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 10), (10, 10), (250, 1000), (1, 3)])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_wilson_equals_scipy(k: int, n: int, confidence: float) -> None:
    low, high = wilson_interval(k / n, n, confidence=confidence)
    expected = binomtest(k, n).proportion_ci(confidence, method="wilson")
    assert low == pytest.approx(expected.low, abs=1e-12)
    assert high == pytest.approx(expected.high, abs=1e-12)


def test_percentiles_equal_numpy_without_gaps() -> None:
    x = np.random.default_rng(0).normal(size=(500, 3))
    low, high = percentile_interval(x, confidence=0.9)
    np.testing.assert_allclose(low, np.quantile(x, 0.05, axis=0))
    np.testing.assert_allclose(high, np.quantile(x, 0.95, axis=0))


def test_undefined_resamples_are_left_out_and_infinite_ones_kept() -> None:
    x = np.array([np.nan, 1.0, 2.0, 3.0, np.nan])
    assert percentile_interval(x, confidence=0.5) == (pytest.approx(1.5), pytest.approx(2.5))
    low, high = percentile_interval(np.array([0.0] * 50 + [np.inf] * 50))
    assert (low, high) == (0.0, np.inf)
    assert np.isnan(percentile_interval(np.array([np.nan, np.nan]))).all()
    # the quarter falls on a value whose neighbour is infinite
    assert percentile_interval(np.array([0.0, 1.0, np.inf, np.inf, np.inf]), confidence=0.5) == (
        1.0,
        np.inf,
    )


def test_confidence() -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        percentile_interval([1.0], confidence=95)
