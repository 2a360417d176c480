"""Ratios, odds and strata beside statsmodels."""

import numpy as np
import pytest

from isonomy.stats import (
    breslow_day,
    koopman_interval,
    mantel_haenszel_odds,
    mantel_haenszel_ratio,
    mantel_haenszel_test,
    odds_ratio,
)

proportion = pytest.importorskip("statsmodels.stats.proportion", reason="needs the group test")
contingency = pytest.importorskip(
    "statsmodels.stats.contingency_tables", reason="needs the group test"
)


def test_score_intervals() -> None:
    """Where no group is all hits or all misses: there statsmodels loses the root that we find."""
    rng = np.random.default_rng(0)
    n, m = rng.integers(3, 300, (2, 60))
    x, y = rng.integers(1, n), rng.integers(1, m)
    ours = {"ratio": koopman_interval(x, n, y, m), "odds-ratio": odds_ratio(x, n, y, m)[1:]}
    for kind, found in ours.items():
        with np.errstate(invalid="ignore"):  # it looks too far on its way
            theirs = [
                proportion.confint_proportions_2indep(
                    *(int(v) for v in table), compare=kind, method="score", correction=False
                )
                for table in zip(x, n, y, m, strict=True)
            ]
        np.testing.assert_allclose(np.transpose(found), theirs, rtol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_strata(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 7))
    n, m = rng.integers(5, 60, (2, k))
    x, y = rng.binomial(n, 0.3), rng.binomial(m, 0.5)
    x[0], y[0] = max(x[0], 1), max(y[0], 1)
    sides = (x, n, y, m)
    theirs = contingency.StratifiedTable(
        [np.array([[a, b - a], [c, d - c]]) for a, b, c, d in zip(*sides, strict=True)]
    )
    test, null = mantel_haenszel_test(*sides), theirs.test_null_odds()
    assert (test.statistic, test.pvalue) == pytest.approx((null.statistic, null.pvalue), rel=1e-9)
    for tarone in (True, False):
        ours, equal = breslow_day(*sides, tarone=tarone), theirs.test_equal_odds(adjust=tarone)
        assert (ours.statistic, ours.pvalue) == pytest.approx(
            (equal.statistic, equal.pvalue), rel=1e-7, abs=1e-10
        )
    odds = mantel_haenszel_odds(*sides)
    assert odds == pytest.approx(
        (theirs.oddsratio_pooled, *theirs.oddsratio_pooled_confint()), rel=1e-9
    )
    assert mantel_haenszel_ratio(*sides)[0] == pytest.approx(theirs.riskratio_pooled, rel=1e-12)
