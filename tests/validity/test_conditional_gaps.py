"""Do gaps within strata hold the truth, and is "turns" (Simpson's paradox) rarely said wrongly?"""

from collections.abc import Callable

import numpy as np
import pytest

from isonomy.audit.conditional import conditional_gaps
from isonomy.metrics import Counts, get_metric

STRICT = np.array([0.15, 0.45, 0.75])
"""Selection rates of the departments."""
NOISE = 2.6 * np.sqrt(0.05 * 0.95)
APPLY = np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]])
"""To which departments each group applies: the first to the strict ones."""


def simulated(gap: float, rows: int, samples: int) -> tuple[float, float]:
    """Return how often the interval holds the gap within strata, and how often it is said to turn."""
    rng = np.random.default_rng([rows, int(100 * gap)])
    groups = tuple((g, d) for g in ("a", "b") for d in range(3))
    chance = np.concatenate([STRICT + gap, STRICT])
    n = np.concatenate([rng.multinomial(rows, p, samples) for p in APPLY], axis=1)
    selected = rng.binomial(n, chance)
    metric = get_metric("statistical_parity_difference")
    holds = turns = 0
    for size, hits in zip(n, selected, strict=True):
        cells = np.zeros((6, 2, 2))
        cells[:, 0, 0], cells[:, 0, 1] = size - hits, hits
        counts = Counts(cells, ("g", "dept"), groups, (0, 1), (1,), {"g": ("b",)})
        (row,) = conditional_gaps(counts, "g", ["dept"], [metric], 0.95)
        holds += row.low <= gap <= row.high
        turns += row.turns
    return holds / samples, turns / samples


def test_gaps_within_strata_small() -> None:
    holds, turns = simulated(0.0, 1000, 200)
    assert holds >= 0.93 - NOISE / np.sqrt(200)
    assert turns <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("rows", [100, 300, 2000])
@pytest.mark.parametrize("gap", [0.0, 0.1])
def test_gaps_within_strata(gap: float, rows: int, record_rate: Callable[..., None]) -> None:
    samples = 1000
    holds, turns = simulated(gap, rows, samples)
    common = {
        "room": "audit", "samples": samples,
        "setting": f"two groups of {rows} in three strata that differ, gap {gap} within, the other way overall",
    }  # fmt: skip
    promise = "holds the truth in >= 93 %" if rows >= 300 else "none"
    record_rate(verdict="interval within strata", promise=promise, rate=holds, **common)
    if gap:
        record_rate(verdict="turns (power)", promise="none", rate=turns, **common)
    else:
        record_rate(verdict="turns", promise="wrong in <= 5 %", rate=turns, **common)
        assert turns <= 0.05
    assert rows < 300 or holds >= 0.93 - NOISE / np.sqrt(samples)
