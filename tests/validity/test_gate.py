"""Does a gate keep its promises? Known truth on the edge of what is accepted.

* "violated", of the range or of "no wider than before": in at most 5 % where every gap is accepted.
* "pass", and "shown to be no wider": in at most 5 % where one gap is not.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from isonomy import Counts, Policy, audit_counts, check
from isonomy.gate import Earlier
from isonomy.gate.earlier import compare_gap
from isonomy.metrics import get_metric


def draw(
    rng: np.random.Generator, rates: Sequence[float], rows: Sequence[int], privileged: bool
) -> Counts:
    """People of several groups, half with either label, who are selected at their group's rate."""
    half = np.array([[n // 2, n - n // 2] for n in rows])
    good = rng.binomial(half, np.array(rates)[:, None])
    names = tuple((f"g{k}",) for k in range(len(rows)))
    return Counts(
        n=np.stack([half - good, good], axis=-1).astype(float),
        attributes=("sex",),
        groups=names,
        classes=(0, 1),
        favorable=(1,),
        privileged={"sex": names[-1]} if privileged else {},
    )


def rates_of(name: str, size: float, groups: int, base: float, layout: str) -> list[float]:
    """Rates with a gap of that size: the first group lower (or higher), or all on a line."""
    far = base * (1 - size) if name == "di" else base + size if layout == "turned" else base - size
    if layout == "line":
        return np.linspace(far, base, groups).tolist()
    return [far, *[base] * (groups - 1)]


def errors_at_the_edge(
    name: str,
    groups: int,
    rows: Sequence[int],
    before: float,
    margin: float,
    layout: str,
    base: float,
    samples: int,
) -> tuple[float, float]:
    """Return how often growth of exactly the margin is said to be more, and no more, than it."""
    rng = np.random.default_rng(
        [groups, *rows, int(100 * before), int(100 * margin), len(name + layout)]
    )
    policy = Policy(attributes="sex", metrics={name: 0.5})
    earlier = Earlier("old.json", margin)
    signed = groups == 2
    then = rates_of(name, before, groups, base, "apart" if layout == "turned" else layout)
    now = rates_of(name, before + margin, groups, base, layout)
    worse = no_worse = 0
    for _ in range(samples):
        pair = [draw(rng, r, rows, signed) for r in (now, then)]
        state = compare_gap(get_metric(name), "sex", *pair, policy, earlier, 0.95).state
        worse += state == "violated"
        no_worse += state == "within"
    return worse / samples, no_worse / samples


def limit(samples: int) -> float:
    return 0.05 + 2.6 * float(np.sqrt(0.05 * 0.95 / samples))


WORLDS = [
    (2, (200, 200), "apart", 0.5),
    (2, (60, 940), "apart", 0.5),
    (2, (2000, 2000), "turned", 0.5),
    (2, (300, 300), "turned", 0.5),
    (2, (1000, 1000), "apart", 0.45),
    (5, (200,) * 5, "apart", 0.5),
    (5, (300,) * 5, "line", 0.5),
    (20, (100,) * 20, "apart", 0.5),
]


@pytest.mark.slow
@pytest.mark.parametrize("margin", [0.0, 0.05])
@pytest.mark.parametrize("before", [0.0, 0.1, 0.3])
@pytest.mark.parametrize(("groups", "rows", "layout", "base"), WORLDS)
@pytest.mark.parametrize("name", ["spd", "di", "equalized_odds_difference"])
def test_no_wider_than_before(
    name: str, groups: int, rows: Sequence[int], layout: str, base: float, before: float,
    margin: float, record_rate: Callable[..., None],
) -> None:  # fmt: skip
    samples = 1000 if groups < 20 else 400
    worse, no_worse = errors_at_the_edge(name, groups, rows, before, margin, layout, base, samples)
    setting = (
        f"{name}, {groups} groups of {', '.join(map(str, rows[:2]))} ... rows ({layout}), gap "
        f"{before} before, wider by the margin {margin}"
    )
    for verdict, rate in (("shown to be wider", worse), ("shown to be no wider", no_worse)):
        record_rate(
            room="gate", verdict=f"a gap is {verdict} than in an earlier audit",
            promise="wrong in <= 5 %", setting=setting, rate=rate, samples=samples,
        )  # fmt: skip
        assert rate <= limit(samples), verdict


def test_no_wider_than_before_small() -> None:
    worse, no_worse = errors_at_the_edge("spd", 2, (300, 300), 0.1, 0.05, "turned", 0.5, 150)
    assert max(worse, no_worse) <= limit(150)


def gate_rates(
    gaps: Sequence[float], rows: int, samples: int, *, privileged: bool
) -> dict[str, float]:
    """Return how often a gate on three metrics gives each verdict."""
    rng = np.random.default_rng([rows, samples, *(int(100 * g) for g in gaps)])
    metrics = {"spd": 0.1, "eod": 0.1, "equalized_odds_difference": 0.1}
    policy = Policy(attributes="sex", metrics=metrics)
    rates = [*(0.5 - g for g in gaps), 0.5]
    seen = []
    for _ in range(samples):
        counts = draw(rng, rates, [rows] * len(rates), privileged)
        found = audit_counts(counts, metrics=list(metrics), resamples=100)
        seen.append(check(found, policy).verdict)
    return {word: seen.count(word) / samples for word in ("pass", "violated")}


@pytest.mark.slow
@pytest.mark.parametrize("privileged", [True, False])
@pytest.mark.parametrize("rows", [200, 2000])
@pytest.mark.parametrize("gaps", [(0.1,), (0.1, 0.0, 0.1), (0.1, 0.0, 0.0, 0.0, 0.0, 0.0)])
def test_a_gate_on_three_metrics(
    gaps: Sequence[float], rows: int, privileged: bool, record_rate: Callable[..., None]
) -> None:
    """A gap on the threshold is accepted, and anything above it is not: neither error beyond 5 %."""
    samples = 400
    rates = gate_rates(gaps, rows, samples, privileged=privileged)
    for word, rate in rates.items():
        record_rate(
            room="gate", verdict=f"isonomy check: {word}", promise="wrong in <= 5 %", rate=rate,
            samples=samples,
            setting=f"three metrics, {len(gaps) + 1} groups of {rows} rows, gaps {gaps} at a "
            f"threshold of 0.1, {'against a privileged group' if privileged else 'largest vs smallest'}",
        )  # fmt: skip
        assert rate <= limit(samples), word


def test_a_gate_on_three_metrics_small() -> None:
    rates = gate_rates((0.1, 0.0), 400, 80, privileged=True)
    assert max(rates.values()) <= limit(80)
