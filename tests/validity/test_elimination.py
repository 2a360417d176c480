"""Does a benchmark keep the best method? Real logistic regressions on splits that share rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from isonomy.benchmark.eliminate import ALPHA, leaders, looks
from tests.validity.test_benchmark_verdicts import equal_methods

Array = np.ndarray[Any, Any]


def dropped(runs: Array, lead: float = 0.0) -> Array:
    """Which methods are dropped by some look, ``[data set, method]``; the first leads all others."""
    runs = runs + np.where(np.arange(runs.shape[2]) == 0, lead, 0.0)
    every = looks(runs.shape[1])
    out = np.zeros((len(runs), runs.shape[2]), dtype=bool)
    for d, table in enumerate(runs):
        for splits in every:
            left = np.flatnonzero(~out[d])
            p = leaders(table[:splits, left], [True] * len(left), looks=len(every))[2]
            out[d, left[p < ALPHA]] = True
    return out


def test_the_best_method_is_seldom_dropped() -> None:
    gone = dropped(equal_methods(300, 10, 40, seed=8))
    assert gone[:, 0].mean() <= ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / 40)


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [10, 50])
def test_the_best_method_is_dropped_in_five_per_cent_at_most(
    repeats: int, record_rate: Callable[..., None]
) -> None:
    count, n = 400, 500
    runs = equal_methods(n, repeats, count, seed=9)
    for lead in (0.0, 0.02, 0.05, 0.1):
        gone = dropped(runs, lead)
        rate = float(gone[:, 0].mean())
        others = float(gone[:, 1:].mean())
        print(repeats, "lead", lead, "best dropped", rate, "others dropped", others)
        assert rate <= ALPHA
        record_rate(
            room="benchmark",
            verdict="dropped",
            promise="the best method in <= 5 %",
            setting=f"8 methods, {n} rows, {repeats} splits, true lead {lead:g}",
            rate=rate,
            samples=count,
        )
