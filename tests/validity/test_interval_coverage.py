"""Do the audit's intervals of signed gaps contain the truth as often as they say, weights or not?

Largest-against-smallest gaps, rare outcomes, composites and families are in
`test_audit_verdicts.py`.
"""

from collections.abc import Callable

import numpy as np
import pytest

from isonomy import Counts, get_metric
from isonomy.audit.limits import evidence_of, pair_limits

SIGNED = [
    "statistical_parity_difference",
    "log_disparate_impact",
    "equal_opportunity_difference",
    "false_positive_rate_difference",
    "average_odds_difference",
    "error_rate_difference",
    "precision_difference",
]


def world(gap: float) -> np.ndarray:
    """Give the probability of each cell; two groups differ in TPR and FPR by ``gap``."""
    cells = []
    for lean in (0.0, gap):
        tpr, fpr, base = 0.5 + lean, 0.25 + lean, 0.4
        cells.append([[(1 - base) * (1 - fpr), (1 - base) * fpr], [base * (1 - tpr), base * tpr]])
    return np.array(cells) / 2


def counts_of(n: np.ndarray, **weights: np.ndarray) -> Counts:
    return Counts(n, ("g",), (("g0",), ("g1",)), (0, 1), (1,), {"g": ("g0",)}, **weights)


def coverage(name: str, rows: int, gap: float, samples: int, weighted: bool = False) -> float:
    """Share of samples whose interval holds the truth, each judged as the audit judges."""
    rng = np.random.default_rng([rows, int(100 * gap)])
    p = world(gap)
    metric = get_metric(name)
    assert metric.parts is not None
    n = rng.multinomial(rows, p.ravel(), size=samples).reshape(samples, *p.shape).astype(float)
    counts, truth = counts_of(n), metric(counts_of(p * 1e6), compare="privileged")
    if weighted:  # those selected weigh more, and weights vary
        mean = np.array([1.0, 3.0])
        w = rng.gamma(2 * np.maximum(n, 1e-9), mean / 2)
        w2 = n * mean**2 * 1.5 * rng.normal(1, 0.02, n.shape)
        counts = counts_of(n, w=np.where(n > 0, w, 0), w2=np.maximum(w2, w**2 / np.maximum(n, 1)))
        truth = metric(counts_of(p * mean * 1e6), compare="privileged")
    found = evidence_of(metric.parts, counts)  # rates by samples by groups
    sides = [type(found)(metric.parts, found.shares[..., k], found.rows[..., k]) for k in (1, 0)]
    limits = pair_limits(sides[0], sides[1], None, 0.95)
    return float(np.mean((limits.low <= truth) & (truth <= limits.high)))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", SIGNED)
def test_signed_gaps_cover_small(name: str, weighted: bool) -> None:
    assert 0.93 <= coverage(name, 1000, 0.1, 3000, weighted) <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.0, 0.1, 0.2])
@pytest.mark.parametrize("rows", [300, 1000, 4000])
@pytest.mark.parametrize("name", SIGNED)
@pytest.mark.parametrize("weighted", [False, True])
def test_signed_gaps_cover(
    name: str, rows: int, gap: float, weighted: bool, record_rate: Callable[..., None]
) -> None:
    rate = coverage(name, rows, gap, 20_000, weighted)
    record_rate(
        room="audit", verdict="interval", promise="holds the truth in >= 93 %", rate=rate, samples=20_000,
        setting=f"{name}, two groups of {rows // 2}{', weighted' if weighted else ''}, true gap {gap}",
    )  # fmt: skip
    assert 0.93 <= rate <= 0.975
