"""Do audits of selections keep their promise? Groups with known rates, judged as an audit does.

The promises: where every group's ratio to the truly best group is four fifths or more, some group
is told "violated" in at most 5 % of samples, whatever the number and the size of the groups, also
where several are tied for the best and the data choose one; where a group is truly below, it is
told "within" in at most 5 %; and the limits hold for all groups together in 93 % or more.
"""

from collections.abc import Callable

import numpy as np
import pytest

from isonomy.audit.ratios import ratio_table
from isonomy.metrics import Counts
from isonomy.stats import (
    breslow_day,
    fisher_exact,
    koopman_interval,
    mantel_haenszel_odds,
    mantel_haenszel_ratio,
    mantel_haenszel_test,
    standardized_difference,
)

Record = Callable[..., None]
FOUR_FIFTHS = (0.8, 1.25)


def table(hits: np.ndarray, rows: np.ndarray, reference: bool = False) -> "object":
    """Return the table of one sample."""
    n = np.zeros((rows.size, 2, 2))
    n[:, 0, 0], n[:, 1, 1] = rows - hits, hits
    groups = tuple((f"g{k:02d}",) for k in range(rows.size))
    given = {"g": ("g00",)} if reference else {}
    counts = Counts(n, ("g",), groups, (0, 1), (1,), given)
    found = ratio_table("g", counts, FOUR_FIFTHS, 0.95)
    return found[found["against"] == ("reference" if reference else "best")]


def sizes(kind: str, groups: int) -> np.ndarray:
    k = np.arange(groups)
    return {
        "forty": np.full(groups, 40),
        "two hundred": np.full(groups, 200),
        "few large, many small": np.where(k % 5 == 0, 3000, 60),
        "one large": np.where(k == 0, 5000, 100),
    }[kind]


def truth(kind: str, groups: int, base: float) -> np.ndarray:
    k = np.arange(groups)
    lean = {
        "all alike": np.zeros(groups),
        "half at four fifths": (k >= groups / 2).astype(float),
        "all but one at four fifths": (k > 0).astype(float),
        "one at four fifths": (k == groups - 1).astype(float),
        "half just below": (k >= groups / 2) * 1.05,
    }[kind]
    return base * (1 - 0.2 * lean)


def judged(
    kind: str, rows: str, groups: int, base: float, samples: int, reference: bool = False
) -> dict[str, float]:
    """Return how often some group is wrongly judged, and how often all limits hold."""
    rng = np.random.default_rng([groups, int(1000 * base), samples, len(kind), len(rows)])
    n, p = sizes(rows, groups), truth(kind, groups, base)
    ratio = p / (p[0] if reference else p.max())
    fair = ratio >= 0.8 - 1e-9
    wrong = held = naive = within = 0.0
    for _ in range(samples):
        hits = rng.binomial(n, p)
        found = table(hits, n, reference)
        verdict = found["verdict"].to_numpy()
        low, high = found["low"].to_numpy(), found["high"].to_numpy()
        known = ~np.isnan(low)
        wrong += ((verdict == "violated") & fair).any()
        within += ((verdict == "within") & ~fair).any()
        held += ((low <= ratio + 1e-9) & (ratio <= high + 1e-9) | ~known).all()
        naive += ((found["koopman_high"].to_numpy() < 0.8) & fair).any()
    return {name: x / samples for name, x in
            {"wrong": wrong, "within": within, "held": held, "naive": naive}.items()}  # fmt: skip


def noise(samples: int) -> float:
    """Return how much a rate of 5 % may stray: the promise is of the rate, not of one draw."""
    return float(2.6 * np.sqrt(0.05 * 0.95 / samples))


@pytest.mark.parametrize(
    ("kind", "rows", "groups", "base"),
    [
        ("all alike", "two hundred", 20, 0.5),
        ("half at four fifths", "forty", 5, 0.3),
        ("all but one at four fifths", "few large, many small", 6, 0.5),
    ],
)
def test_ratios_to_the_best_small(kind: str, rows: str, groups: int, base: float) -> None:
    rates = judged(kind, rows, groups, base, 120)
    assert rates["wrong"] <= 0.05
    assert rates["held"] >= 0.93


def test_the_best_taken_as_given_would_not_keep_it() -> None:
    """Half of twenty groups at four fifths: the interval of a pair misleads, ours does not."""
    rates = judged("half at four fifths", "two hundred", 20, 0.3, 100)
    assert rates["naive"] > 0.2
    assert rates["wrong"] <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("base", [0.05, 0.3])
@pytest.mark.parametrize("rows", ["forty", "few large, many small", "one large"])
@pytest.mark.parametrize(
    "kind", ["all alike", "half at four fifths", "all but one at four fifths", "half just below"]
)
@pytest.mark.parametrize("groups", [2, 5, 20])
@pytest.mark.parametrize("reference", [False, True])
def test_ratios(
    groups: int, kind: str, rows: str, base: float, reference: bool, record_rate: Record
) -> None:
    samples = 300
    rates = judged(kind, rows, groups, base, samples, reference)
    against = "a named reference" if reference else "the best"
    setting = (
        f"selection rates beside {against}, {groups} groups {kind}, {rows} rows, best rate {base:g}"
    )
    common = {"room": "audit", "setting": setting, "samples": samples}
    promise = "wrong of any group in <= 5 %"
    record_rate(verdict="violated", promise=promise, rate=rates["wrong"], **common)
    record_rate(verdict="within", promise=promise, rate=rates["within"], **common)
    record_rate(
        verdict="interval", promise="holds for all in >= 93 %", rate=rates["held"], **common
    )
    assert rates["wrong"] <= 0.05 + noise(samples)
    assert rates["within"] <= 0.05 + noise(samples)
    assert rates["held"] >= 0.93 - noise(samples)


# ------------------------------------------------------------------ one pair at a time


@pytest.mark.parametrize("rows", [(40, 960), (100, 100), (400, 50)])
@pytest.mark.parametrize("share", [0.1, 0.4])
@pytest.mark.parametrize("times", [0.5, 1.0])
def test_koopman_covers(share: float, times: float, rows: tuple[int, int]) -> None:
    """A score interval holds its level on average and not at every rate: 93 % is the floor."""
    rng = np.random.default_rng(3)
    x, y = rng.binomial(rows[0], share * times, 20_000), rng.binomial(rows[1], share, 20_000)
    low, high = koopman_interval(x, rows[0], y, rows[1])
    defined = (x > 0) | (y > 0)
    assert np.mean((low <= times) & (times <= high) | ~defined) >= 0.93


@pytest.mark.parametrize(("n", "m", "share"), [(20, 30, 0.2), (60, 200, 0.5), (40, 400, 0.05)])
def test_mid_p_keeps_its_level_about_and_the_exact_test_always(
    n: int, m: int, share: float
) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.binomial(n, share, 20_000), rng.binomial(m, share, 20_000)
    assert np.mean(fisher_exact(x, n, y, m) < 0.05) <= 0.05
    assert np.mean(fisher_exact(x, n, y, m, mid=True) < 0.05) <= 0.06


@pytest.mark.parametrize(("strata", "size"), [(3, 80), (30, 8)])
def test_strata_keep_their_levels(strata: int, size: int) -> None:
    """Few large strata and many small ones; only few large ones can be asked whether they agree."""
    rng = np.random.default_rng(5)
    q = rng.uniform(0.2, 0.6, strata)
    draws = 4000
    n, m = np.full(strata, size), np.full(strata, size + size // 2)
    x, y = rng.binomial(n, q, (draws, strata)), rng.binomial(m, q, (draws, strata))
    assert np.mean(mantel_haenszel_test(x, n, y, m).pvalue < 0.05) == pytest.approx(0.05, abs=0.012)
    for common in (mantel_haenszel_odds, mantel_haenszel_ratio):
        _, low, high = common(x, n, y, m)
        assert np.mean((low <= 1) & (high >= 1)) >= 0.93
    agree = breslow_day(x, n, y, m)
    if strata == 3:
        assert np.mean(agree.pvalue < 0.05) == pytest.approx(0.05, abs=0.012)


@pytest.mark.parametrize("draw", ["normal", "exponential"])
def test_standardized_differences_cover(draw: str) -> None:
    rng = np.random.default_rng(6)
    samples, n, m, apart = 4000, 60, 200, 0.3
    a, b = (
        getattr(rng, f"standard_{draw}")((samples, n)),
        getattr(rng, f"standard_{draw}")((samples, m)),
    )
    a -= apart
    moments = [f(v) for v in (a, b) for f in (_mean, _variance)]
    _, low, high = standardized_difference(moments[0], moments[1], n, moments[2], moments[3], m)
    assert np.mean((low <= -apart) & (-apart <= high)) >= 0.93


def _mean(values: np.ndarray) -> np.ndarray:
    return values.mean(axis=1)


def _variance(values: np.ndarray) -> np.ndarray:
    return values.var(axis=1, ddof=1)
