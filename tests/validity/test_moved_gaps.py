"""Is "has moved" rarely said of a gap that stays, over all periods, and mostly of one that moves?"""

from collections.abc import Callable

import numpy as np
import pytest

from isonomy.audit.moves import find_moves
from isonomy.metrics import Counts, get_metric
from isonomy.stats.sequential import contrast_moves

LEVEL = 0.05
SPREAD = 2.6 * np.sqrt(LEVEL * (1 - LEVEL))


def worlds(kind: str, periods: int) -> tuple[np.ndarray, np.ndarray]:
    """Return selection rates ``[period, group]`` whose differences stay, and sizes over their mean."""
    t = np.linspace(0, 1, periods)[:, None]
    even = np.ones((periods, 2))
    odd = np.arange(periods)[:, None] % 2 == 0
    if kind == "still":
        return even * [0.3, 0.5], even
    if kind == "rare":
        return even * [0.02, 0.03], even
    if kind == "common":
        return even * [0.97, 0.99], even
    if kind == "rates drift together, sizes swing":
        return 0.1 + 0.6 * t + [0.2, 0.0], np.where(odd, [0.33, 1.67], [1.67, 0.33])
    if kind == "rates jump together, sizes swing":
        return np.where(odd, [0.05, 0.15], [0.5, 0.6]), np.where(odd, [0.33, 1.67], [1.67, 0.33])
    assert kind == "10 groups"
    return np.full((periods, 10), 0.3), np.ones((periods, 10))


KINDS = (
    "still", "rare", "common", "rates drift together, sizes swing",
    "rates jump together, sizes swing", "10 groups",
)  # fmt: skip


def alarms(rates: np.ndarray, rows: np.ndarray, *, ratio: bool, samples: int, seed: int) -> float:
    """Return how often any group is said to have moved against the last, at any period."""
    rng = np.random.default_rng([seed, int(rows.sum()), ratio])
    n = np.broadcast_to(rows.astype(np.int64), (samples, *rates.shape))
    shares = rng.binomial(n, rates) / n
    said = np.zeros(samples, dtype=bool)
    others = rates.shape[1] - 1
    for k in range(others):
        pair = [k, others]
        found = contrast_moves(shares[..., pair], n[..., pair], ratio=ratio, together=others)
        said |= ~np.isnan(found.p_value).all(axis=-1)
    return float(said.mean())


def constant(kind: str, periods: int, ratio: bool) -> tuple[np.ndarray, np.ndarray]:
    rates, sizes = worlds(kind, periods)
    if ratio and rates.shape[1] == 2:  # the ratio stays, and not the difference
        rates = np.stack([rates[:, 1] * 0.7, rates[:, 1]], axis=-1)
    return rates, sizes


@pytest.mark.parametrize("kind", KINDS)
def test_false_alarms_small(kind: str) -> None:
    rates, sizes = constant(kind, 12, False)
    rate = alarms(rates, np.round(60 * sizes), ratio=False, samples=300, seed=1)
    assert rate <= LEVEL + SPREAD / np.sqrt(300)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("periods", [12, 60])
@pytest.mark.parametrize("ratio", [False, True])
def test_false_alarms(
    kind: str, periods: int, ratio: bool, record_rate: Callable[..., None]
) -> None:
    samples = {12: 2000, 60: 400}[periods] // (4 if kind == "10 groups" else 1)
    for rows in (20, 40, 200, 1000):
        rates, sizes = constant(kind, periods, ratio)
        rate = alarms(rates, np.round(rows * sizes), ratio=ratio, samples=samples, seed=2)
        record_rate(
            room="audit", verdict="has moved", promise="wrong in <= 5 %, over all periods",
            setting=f"{periods} periods of {rows} a group, {kind}, {'ratio' if ratio else 'difference'}",
            rate=rate, samples=samples,
        )  # fmt: skip
        assert rate <= LEVEL + SPREAD / np.sqrt(samples)


@pytest.mark.slow
@pytest.mark.parametrize("periods", [12, 60])
def test_a_gap_that_moves_is_found(periods: int, record_rate: Callable[..., None]) -> None:
    samples = {12: 1000, 60: 300}[periods]
    expected = {
        (12, 200, 0.2): 0.95,
        (12, 1000, 0.1): 0.95,
        (60, 40, 0.2): 0.95,
        (60, 200, 0.1): 0.95,
    }
    for rows in (40, 200, 1000):
        for move in (0.05, 0.1, 0.2):
            rates = np.full((periods, 2), 0.5)
            rates[periods // 2 :, 0] -= move
            rate = alarms(rates, np.full((periods, 2), rows), ratio=False, samples=samples, seed=3)
            record_rate(
                room="audit", verdict="has moved (power)", promise="none",
                setting=f"{periods} periods of {rows} a group, the gap moves by {move} half-way",
                rate=rate, samples=samples,
            )  # fmt: skip
            assert rate >= expected.get((periods, rows, move), 0.0)


def whole_audits(samples: int, periods: int, rows: int) -> float:
    """Return how often an audit of nine gaps, of which none moves, says that any has."""
    rng = np.random.default_rng([samples, periods, rows])
    names = [
        "statistical_parity_difference", "disparate_impact", "equalized_odds_difference",
        "average_odds_difference", "error_rate_difference", "precision_difference",
    ]  # fmt: skip
    chances = [[0.3, 0.15, 0.15, 0.4], [0.4, 0.1, 0.2, 0.3]]
    cells = rng.multinomial(rows, chances, size=(samples, periods, 2))
    metrics, said = [get_metric(name) for name in names], 0
    for n in cells.reshape(samples, periods, 2, 2, 2).astype(float):
        counts = Counts(n, ("g",), (("a",), ("b",)), (0, 1), (1,), {"g": ("b",)})
        said += any(m.moved for m in find_moves({"g": counts}, range(periods), metrics, LEVEL))
    return said / samples


def test_all_gaps_of_an_audit_together_small() -> None:
    assert whole_audits(200, 12, 150) <= LEVEL + SPREAD / np.sqrt(200)


@pytest.mark.slow
def test_all_gaps_of_an_audit_together(record_rate: Callable[..., None]) -> None:
    samples = 1000
    for rows in (60, 400):
        rate = whole_audits(samples, 12, rows)
        record_rate(
            room="audit", verdict="has moved", promise="wrong in <= 5 %, over all periods",
            setting=f"12 periods of {rows} a group, any of six gaps of an audit", rate=rate,
            samples=samples,
        )  # fmt: skip
        assert rate <= LEVEL + SPREAD / np.sqrt(samples)
