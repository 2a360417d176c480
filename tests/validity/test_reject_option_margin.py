"""How often reject option's bounds hold in the population, where it says that they are safe."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import beta

from isonomy.mitigators import RejectOption

SHAPES = ((2.0, 3.0), (3.5, 2.0))
"""Of the scores of the unprivileged and the privileged; they are the true probabilities."""
BOUND = 0.05


def true_disparity(rule: RejectOption) -> float:
    thresholds = rule.threshold_ - rule.margin_, rule.threshold_ + rule.margin_
    rates = [beta(*shape).sf(t) for shape, t in zip(SHAPES, thresholds, strict=True)]
    return float(rates[0] - rates[1])


def outcomes(rows: int, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return per sample whether the rule was called safe, and whether the bounds hold."""
    rng = np.random.default_rng(rows)
    safe, holds = [], []
    for _ in range(samples):
        s = (rng.random(rows) < 0.6).astype(np.intp)
        scores = rng.beta(*np.array(SHAPES).T[:, s])
        y = (rng.random(rows) < scores).astype(np.intp)
        rule = RejectOption(bounds=(-BOUND, BOUND))
        rule.fit_scores(scores, (scores > 0.5).astype(np.intp), y, s)
        safe.append(rule.safe_)
        holds.append(abs(true_disparity(rule)) <= BOUND)
    return np.array(safe), np.array(holds)


def test_bounds_that_are_safe_hold() -> None:
    safe, holds = outcomes(20_000, 60)
    assert safe.all()
    assert holds.mean() >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize("rows", [3_000, 10_000, 50_000])
def test_bounds_hold_as_often_as_promised(rows: int, record_rate: Callable[..., None]) -> None:
    safe, holds = outcomes(rows, 1000)
    record_rate(
        room="mitigators",
        verdict="reject option: safe_",
        promise="the bounds hold in >= 95 %",
        setting=f"parity within {BOUND}, {rows:,} rows",
        rate=holds[safe].mean(),
        samples=int(safe.sum()),
    )
    assert safe.mean() >= 0.95
    assert holds[safe].mean() >= 0.95
