"""Do as many more rows as an audit names decide, as often as it says?

The rates and shares that were seen are the truth for the rows to come: that is what the audit says.
How often it decides where the rates are those that the first rows were drawn from is measured too, and
nothing is promised of that: a gap that truly is the threshold is decided by no number of rows.
"""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from isonomy.audit.deciding import OFTEN
from isonomy.audit.findings import Finding
from isonomy.audit.judge import each_group, gap, thresholds
from isonomy.metrics import Counts, get_metric

METRICS = (
    "statistical_parity_difference",
    "disparate_impact",
    "average_odds_difference",
    "equalized_odds_difference",
)
WAYS = (("privileged", 2), ("max_min", 2), ("max_min", 6), ("max_min", 20), ("each", 6))
GAPS = (0.1, 0.25)
LEAST = OFTEN - 0.1
"""How often it must be decided in any one setting: ``OFTEN`` holds over all of them."""
LARGEST = 10**6
"""More rows than that are not drawn."""


def truth(groups: int, apart: float, rare: bool) -> np.ndarray:
    """Return the chance of every cell, ``[group, label, prediction]``."""
    share = np.array([0.7, 0.3]) if groups == 2 else np.arange(groups, 0, -1) + groups / 2
    share = share / share.sum()
    base, fpr = (0.05, 0.02) if rare else (0.4, 0.2)
    tpr = 0.7 - apart * np.linspace(0, 1, groups)
    good = np.stack([1 - tpr, tpr], axis=-1) * base
    bad = np.broadcast_to(np.array([1 - fpr, fpr]) * (1 - base), good.shape)
    return np.asarray(share[:, None, None] * np.stack([bad, good], axis=1))


def audited(name: str, how: str, cells: np.ndarray) -> list[Finding]:
    metric, groups = get_metric(name), tuple((f"g{k}",) for k in range(len(cells)))
    counts = Counts(cells.astype(float), ("g",), groups, (0, 1), (1,), {"g": ("g0",)})
    accept = thresholds({}, [metric])
    if how == "each":
        return each_group([metric], "g", counts, accept, 0.95)
    return [gap(metric, "g", counts, lambda: counts, how, accept[name], 0.95)]


def decided(
    name: str, how: str, groups: int, apart: float, rare: bool, rows: int, samples: int
) -> tuple[float, float, int]:
    """Return how often it is decided, by rates as seen and by true ones, and of how many samples."""
    rng = np.random.default_rng([rows, groups, rare, int(100 * apart), *map(ord, name + how)])
    chances = truth(groups, apart, rare)
    seen, true, asked = [], [], 0
    while len(seen) < samples and asked < 5 * samples:
        asked += 1
        first = rng.multinomial(rows, chances.ravel())
        thin = [
            f
            for f in audited(name, how, first.reshape(chances.shape))
            if f.verdict == "insufficient evidence" and f.rows_more and f.rows_more < LARGEST
        ]
        if not thin:
            continue
        one = thin[rng.integers(len(thin))]
        for rates, out in ((first / rows, seen), (chances.ravel(), true)):
            both = first + rng.multinomial(one.rows_more, rates)
            again = audited(name, how, both.reshape(chances.shape))
            found = next(f for f in again if f.comparison == one.comparison)
            out.append(found.verdict in {"within", "violated"})
    return float(np.mean(seen or [1.0])), float(np.mean(true or [1.0])), len(seen)


CASES = [
    (name, how, groups, apart, rare, rows)
    for name, (how, groups), apart, rare, rows in product(
        METRICS, WAYS, GAPS, (False, True), (200, 1500)
    )
]


@pytest.mark.parametrize(("how", "groups"), WAYS)
@pytest.mark.parametrize("name", METRICS[:2])
def test_as_many_more_rows_decide_small(name: str, how: str, groups: int) -> None:
    samples = 80
    rate, _, some = decided(name, how, groups, 0.1, False, 600, samples)
    assert some == samples
    assert rate >= LEAST - 2.6 * np.sqrt(LEAST * (1 - LEAST) / samples)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "how", "groups", "apart", "rare", "rows"), CASES)
def test_as_many_more_rows_decide(
    name: str, how: str, groups: int, apart: float, rare: bool, rows: int,
    record_rate: Callable[..., None],
) -> None:  # fmt: skip
    rate, by_truth, samples = decided(name, how, groups, apart, rare, rows, 250)
    if samples < 100:
        pytest.skip("this world is decided at once, or asks for more rows than are drawn")
    words = {"privileged": "privileged", "max_min": "largest", "each": "one of the groups"}[how]
    setting = (
        f"{name}, {groups} groups ({words}), TPR {apart:g} apart, "
        f"{'rare' if rare else 'usual'} outcomes, {rows:,} rows"
    )
    for verdict, promise, value in (
        (
            "rows that would decide",
            "they decide in 70 % or more (80 % is said), rates as seen",
            rate,
        ),
        ("rows that would decide (true rates)", "none", by_truth),
    ):
        record_rate(
            room="audit",
            verdict=verdict,
            promise=promise,
            setting=setting,
            rate=value,
            samples=samples,
        )
    assert rate >= LEAST - 2.6 * np.sqrt(LEAST * (1 - LEAST) / samples)
