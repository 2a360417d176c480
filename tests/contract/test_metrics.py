"""Every metric keeps the contract, clause by clause."""

from collections.abc import Callable

import numpy as np
import pytest

from isonomy.metrics import METRICS, Metric
from isonomy.testing import METRIC_CHECKS, check_metric


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("check", METRIC_CHECKS.values(), ids=METRIC_CHECKS.keys())
def test_contract(name: str, check: Callable[[Metric], None]) -> None:
    check(METRICS[name])


@pytest.mark.parametrize(
    "fn",
    [
        lambda counts: counts.n.sum(axis=(-1, -2, -3)),  # grows with the rows
        lambda counts: 2.0 + 0 * counts.n.sum(axis=(-1, -2, -3)),  # out of bounds
        lambda counts: float(counts.n.mean() * 0),  # does not broadcast
    ],
)
def test_a_broken_metric_is_caught(fn: Callable[..., object]) -> None:
    broken = Metric("accuracy", fn, label="x", formula="x", sign="x", avoid="x", reference="x")
    with np.errstate(all="ignore"), pytest.raises(AssertionError):
        check_metric(broken)
