"""Do the limits of partially pooled rates hold the truth, on average over the groups?

The promise: in 90 % or more, for equal groups and for groups that differ, few or many, small or
large, of common and of rare outcomes.
"""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import expit, logit

from isonomy.stats import partial_pooling

LAYOUTS = {
    "two of 5": [5] * 2,
    "47 and 578": [47, 578],
    "two of 1000": [1000] * 2,
    "ten of 20, one of 500": [20] * 10 + [500],
    "20 of 30": [30] * 20,
    "50 of 200": [200] * 50,
}


def held(layout: str, base: float, spread: float, samples: int) -> float:
    """Return how often a group's limits hold its rate; log-odds differ by ``spread``."""
    rng = np.random.default_rng([len(layout), int(100 * base), int(10 * spread)])
    rows = np.array(LAYOUTS[layout])
    truth = expit(logit(base) + spread * rng.normal(size=(samples, rows.size)))
    shares = rng.binomial(rows, truth) / rows
    limits = np.array([partial_pooling(share, rows)[1:] for share in shares])
    return float(np.mean((limits[:, 0] <= truth) & (truth <= limits[:, 1])))


@pytest.mark.parametrize("layout", ["two of 5", "47 and 578", "ten of 20, one of 500"])
def test_pooled_rates_small(layout: str) -> None:
    assert held(layout, 0.05, 0.3, 150) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("base", [0.05, 0.3, 0.7])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_pooled_rates(
    layout: str, base: float, spread: float, record_rate: Callable[..., None]
) -> None:
    rate = held(layout, base, spread, 600)
    record_rate(
        room="audit",
        verdict="interval of a partially pooled rate",
        promise="holds the truth in >= 90 %",
        setting=f"groups {layout}, rates about {base}, log-odds apart by {spread}",
        rate=rate,
        samples=600,
    )
    assert rate >= 0.9
