"""Do the limits of a group's tail hold for values as models give them?

Heavy below the bound of 1, in steps, few, with a threshold chosen by a rule. A small version of
each runs with every `make test`; the rates of the full version (`make slow`)
stand in `docs/how-sure-is-sure.md`.
"""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from isonomy.counterfactual import conditional_value_at_risk
from isonomy.tails import choose_threshold, fit_gpd, goodness, gpd_quantile, peaks_over_threshold

LOGNORMAL = stats.lognorm(0.7, scale=np.exp(-3.0))
NORMAL = stats.norm(0.0, 0.1)
full = pytest.mark.slow
Check = Callable[[str, np.ndarray, float], None]
FULL = 200
"""Rates of fewer samples are not recorded."""
SLACK = 4.0
"""Standard errors of the simulation that a rate may lie below its promise."""


@pytest.fixture
def check(record_rate: Callable[..., None]) -> Callable[[str, np.ndarray, float], None]:
    """Hold a rate against what is promised; that of a full simulation is recorded."""

    def compare(setting: str, held: np.ndarray, least: float) -> None:
        rate = float(np.mean(held))
        print(f"\n{setting}: {rate:.3f} of {held.size}")
        above = "not above" in setting
        if held.size >= FULL:
            record_rate(
                room="tails", verdict="limit above" if above else "interval",
                promise=f"holds the truth in >= {95 if above else 93} %", setting=setting, rate=rate,
                samples=held.size,
            )  # fmt: skip
        assert rate >= least - SLACK * np.sqrt(least * (1 - least) / held.size), (setting, rate)

    return compare


def sample(law: object, n: int, repeats: int, seed: int) -> np.ndarray:
    uniform = np.random.default_rng(seed).random((repeats, n))
    return np.minimum(law.ppf(uniform), 1.0)  # type: ignore[attr-defined]


@pytest.mark.parametrize("repeats", [150, pytest.param(2000, marks=full)])
@pytest.mark.parametrize(
    "law", [LOGNORMAL, stats.beta(2, 8), NORMAL], ids=["lognormal", "beta", "normal"]
)
def test_levels_under_a_bound(
    law: object, repeats: int, check: Check, request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.id.split("-")[0]
    fit = peaks_over_threshold(sample(law, 400, repeats, 1), k=50, upper=1.0)
    for horizon in (500, 2000):
        truth = law.isf(1.0 / horizon)  # type: ignore[attr-defined]
        low, high = fit.interval("return_level", horizon=horizon)
        check(
            f"{name}, 50 of 400 values: level of {horizon} queries",
            (low <= truth) & (truth <= high),
            0.94,
        )
        check(
            f"{name}, 50 of 400 values: level of {horizon} queries, not above", truth <= high, 0.96
        )


@pytest.mark.parametrize("repeats", [150, pytest.param(2000, marks=full)])
@pytest.mark.parametrize("n", [400, 2000])
def test_levels_of_values_in_steps(n: int, repeats: int, check: Check) -> None:
    # rounded to 0.01, as the votes of 100 trees are
    steps = np.round(sample(LOGNORMAL, n, repeats, 2), 2)
    fit = peaks_over_threshold(steps, k=50, upper=1.0)
    fine = fit.degenerate == ""
    assert fine.mean() > 0.9
    for horizon in (500, 2000):
        truth = LOGNORMAL.isf(1.0 / horizon)
        low, high = fit.interval("return_level", horizon=horizon)
        held = ((low <= truth) & (truth <= high))[fine]
        check(f"lognormal rounded to 0.01, 50 of {n}: level of {horizon} queries", held, 0.93)


@pytest.mark.parametrize("repeats", [150, pytest.param(1000, marks=full)])
@pytest.mark.parametrize("n", [100, 400])
@pytest.mark.parametrize(
    "draw",
    [LOGNORMAL.ppf, NORMAL.ppf, lambda u: u, stats.expon.ppf],
    ids=["lognormal", "normal", "uniform", "exponential"],
)
def test_conditional_value_at_risk(
    draw: Callable[[np.ndarray], np.ndarray],
    n: int,
    repeats: int,
    check: Check,
    request: pytest.FixtureRequest,
) -> None:
    name = request.node.callspec.id.split("-")[0]
    truth = draw(0.95 + 0.05 * (np.arange(100_000) + 0.5) / 100_000).mean()
    rng = np.random.default_rng(3)
    found = [conditional_value_at_risk(draw(rng.random(n)), resamples=399) for _ in range(repeats)]
    check(
        f"CVaR 0.95 of {n} values, {name}",
        np.array([e.low <= truth <= e.high for e in found]),
        0.93,
    )


@full
@pytest.mark.parametrize("n", [400, 2000])
def test_a_threshold_chosen_by_a_rule(n: int, check: Check) -> None:
    truth, low, high = NORMAL.isf(0.1 / n), [], []
    for x in sample(NORMAL, n, 300, 4):
        fit = peaks_over_threshold(x, k=choose_threshold(x, resamples=99).k)
        ends = fit.interval("return_level", horizon=10 * n)
        low.append(ends.low)
        high.append(ends.high)
    check(
        f'normal, threshold by k="auto", {n} values: level of {10 * n} queries',
        (np.array(low) <= truth) & (truth <= np.array(high)),
        0.93,
    )
    check(
        f'normal, threshold by k="auto", {n} values: level of {10 * n} queries, not above',
        truth <= np.array(high),
        0.95,
    )


@pytest.mark.parametrize("repeats", [40, pytest.param(400, marks=full)])
def test_the_envelope_holds_all_values_at_once(repeats: int, check: Check) -> None:
    rng = np.random.default_rng(5)
    inside = [
        goodness(fit_gpd(gpd_quantile(rng.random(50), 1.0, shape)), resamples=199).reach == 50
        for shape in rng.choice([-0.3, 0.0, 0.2], repeats)
    ]
    check("the Q-Q envelope holds all of 50 excesses (shape -0.3 to 0.2)", np.array(inside), 0.95)
