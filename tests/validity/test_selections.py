"""Do audits of selections keep their promise? Groups with known rates, judged as an audit does.

The promises, for all groups of all attributes of an audit together, beside the best group and
beside a named reference: where every ratio lies within four fifths and five quarters, some verdict
of the audit is "violated" in at most 5 % of samples, whatever the number and the size of the groups,
also where several are tied for the best and the data choose one; where some are outside, one of
them is told "within" in at most 5 %; and all limits hold at once in 93 % or more.
"""

from collections.abc import Callable

import numpy as np
import pytest

from isonomy.audit.ratios import contrasts_of, judge_ratios
from isonomy.audit.selections import audit_selection_counts
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


def counted(hits: np.ndarray, rows: np.ndarray, reference: int) -> Counts:
    """Return the counts of one attribute in one sample."""
    n = np.zeros((rows.size, 2, 2))
    n[:, 0, 0], n[:, 1, 1] = rows - hits, hits
    groups = tuple((f"g{k:02d}",) for k in range(rows.size))
    return Counts(n, ("g",), groups, (0, 1), (1,), {"g": groups[reference]})


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
    kind: str, rows: str, groups: int, base: float, samples: int,
    attributes: int = 1, reference: int = 0,
) -> dict[str, float]:  # fmt: skip
    """Return how often some verdict of an audit is wrong, and how often all of its limits hold.

    The attributes are independent of each other, which leaves errors least in common.
    """
    rng = np.random.default_rng(
        [groups, int(1000 * base), samples, len(kind), len(rows), attributes, abs(reference)]
    )
    n, p = sizes(rows, groups), truth(kind, groups, base)
    true = {"best": p / p.max(), "reference": p / p[reference]}
    tally = dict.fromkeys(("wrong", "within", "held"), 0)
    for _ in range(samples):
        views = [counted(rng.binomial(n, p), n, reference) for _ in range(attributes)]
        made = [(view, contrasts_of(view)) for view in views]
        together = sum(len(contrasts) for _, contrasts in made)
        wrong = within = False
        held = True
        for view, contrasts in made:
            for found in judge_ratios(view, contrasts, FOUR_FIFTHS, 0.95, together=together):
                ratio = true[found.contrast.against]
                fair = (ratio >= 0.8 - 1e-9) & (ratio <= 1.25 + 1e-9)
                verdict, known = np.array(found.verdicts), ~np.isnan(found.low)
                wrong |= bool(((verdict == "violated") & fair).any())
                within |= bool(((verdict == "within") & ~fair).any())
                inside = (found.low <= ratio + 1e-9) & (ratio <= found.high + 1e-9)
                held &= bool((inside | ~known).all())
        for name, said in (("wrong", wrong), ("within", within), ("held", held)):
            tally[name] += said
    return {name: times / samples for name, times in tally.items()}


def noise(samples: int) -> float:
    """Return how much a rate of 5 % may stray: the promise is of the rate, not of one draw."""
    return float(2.6 * np.sqrt(0.05 * 0.95 / samples))


@pytest.mark.parametrize(
    ("kind", "rows", "groups", "base", "attributes", "reference"),
    [
        ("all alike", "two hundred", 20, 0.5, 1, 0),
        ("half at four fifths", "forty", 20, 0.3, 3, -1),
        ("all but one at four fifths", "few large, many small", 6, 0.5, 2, 0),
    ],
)
def test_verdicts_on_ratios_small(
    kind: str, rows: str, groups: int, base: float, attributes: int, reference: int
) -> None:
    rates = judged(kind, rows, groups, base, 120, attributes, reference)
    assert rates["wrong"] <= 0.05
    assert rates["held"] >= 0.93


def test_the_best_taken_as_given_would_not_keep_it() -> None:
    """Half of twenty groups at four fifths: the interval of a pair misleads, ours does not."""
    rng = np.random.default_rng(8)
    n, p = sizes("two hundred", 20), truth("half at four fifths", 20, 0.3)
    wrong = 0
    for hits in rng.binomial(n, p, (200, 20)):
        best = int(np.argmax(hits))
        wrong += bool((koopman_interval(hits, n, hits[best], n[best])[1] < 0.8).any())
    assert wrong / 200 > 0.2
    assert judged("half at four fifths", "two hundred", 20, 0.3, 60)["wrong"] <= 0.05


def test_an_audit_holds_its_ratios_over_all_attributes_and_both_comparisons() -> None:
    """The limits of an audit of three attributes with references are those of six contrasts."""
    rng = np.random.default_rng(7)
    cells = [(a, b, c) for a in "xyz" for b in "uv" for c in "st"]
    hits, rows = rng.binomial(90, 0.4, len(cells)), 90
    n = np.array([[[rows - h, 0], [0, h]] for h in hits], dtype=float)
    given = {"a": ("x",), "b": ("u",), "c": ("s",)}
    counts = Counts(n, ("a", "b", "c"), tuple(cells), (0, 1), (1,), given)
    found = audit_selection_counts(counts, strata=["c"], resamples=100).ratios
    for name in ("a", "b"):
        part = counts.select(name)
        for one in judge_ratios(part, contrasts_of(part), FOUR_FIFTHS, 0.95, together=4):
            shown = found[(found["attribute"] == name) & (found["against"] == one.contrast.against)]
            np.testing.assert_array_equal(shown["low"], one.low)
            np.testing.assert_array_equal(shown["high"], one.high)


@pytest.mark.slow
@pytest.mark.parametrize("base", [0.05, 0.3])
@pytest.mark.parametrize("rows", ["forty", "few large, many small", "one large"])
@pytest.mark.parametrize(
    "kind", ["all alike", "half at four fifths", "all but one at four fifths", "half just below"]
)
@pytest.mark.parametrize("groups", [2, 5, 20])
@pytest.mark.parametrize(("attributes", "reference"), [(1, 0), (3, -1)])
def test_verdicts_on_ratios(
    groups: int, kind: str, rows: str, base: float, attributes: int, reference: int,
    record_rate: Record,
) -> None:  # fmt: skip
    samples = 300
    rates = judged(kind, rows, groups, base, samples, attributes, reference)
    which = "the first group" if reference == 0 else "the last group"
    setting = (
        f"{attributes} attribute{'s' * (attributes > 1)}, {groups} groups {kind}, {rows} rows, best "
        f"rate {base:g}, beside the best and {which}"
    )
    common = {"room": "audit", "setting": setting, "samples": samples}
    promise = "wrong of any ratio of the audit in <= 5 %"
    for verdict, rate in (("violated", "wrong"), ("within", "within")):
        record_rate(
            verdict=f"ratio of selection rates {verdict}",
            promise=promise,
            rate=rates[rate],
            **common,
        )
    record_rate(
        verdict="limits of ratios of selection rates", promise="all hold at once in >= 93 %",
        rate=rates["held"], **common,
    )  # fmt: skip
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


@pytest.mark.parametrize(
    ("strata", "size", "shares"), [(3, 80, (0.2, 0.6)), (30, 8, (0.2, 0.6)), (30, 40, (0.02, 0.08))]
)
def test_strata_keep_their_levels(strata: int, size: int, shares: tuple[float, float]) -> None:
    """Few large strata and many small ones; only few large ones can be asked whether they agree."""
    rng = np.random.default_rng(5)
    q = rng.uniform(*shares, strata)
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
