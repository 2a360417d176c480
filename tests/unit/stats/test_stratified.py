"""Strata by hand, as one table, and where they say nothing."""

import numpy as np
import pytest

from isonomy.stats import (
    breslow_day,
    deviations,
    mantel_haenszel_odds,
    mantel_haenszel_ratio,
    mantel_haenszel_test,
    odds_ratio,
)


def test_one_stratum_is_its_table() -> None:
    sides = ([20], [100], [40], [100])
    assert mantel_haenszel_test(*sides).statistic == pytest.approx(
        deviations(20, 100, 40, 100) ** 2
    )
    assert mantel_haenszel_odds(*sides)[0] == pytest.approx(odds_ratio(20, 100, 40, 100)[0])
    assert mantel_haenszel_ratio(*sides)[0] == pytest.approx(0.5)
    agree = breslow_day(*sides)
    assert np.isnan(agree.statistic)
    assert "fewer than two strata" in str(agree.reason)


def test_a_paradox_by_hand() -> None:
    """Women are selected more often in either job, and less often in all."""
    women, rows, men, others = [80, 40], [100, 400], [280, 5], [400, 100]
    ratio, low, high = mantel_haenszel_ratio(women, rows, men, others)
    # (80 400 / 500 + 40 100 / 500) / (280 100 / 500 + 5 400 / 500)
    assert ratio == pytest.approx((64 + 8) / (56 + 4))
    assert low < ratio < high
    assert sum(women) / sum(rows) < sum(men) / sum(others)
    odds, _, _ = mantel_haenszel_odds(women, rows, men, others)
    assert odds == pytest.approx(
        (80 * 120 / 500 + 40 * 95 / 500) / (20 * 280 / 500 + 360 * 5 / 500)
    )


def test_strata_without_both_groups_say_nothing_and_axes_broadcast() -> None:
    two = ([3, 5], [10, 20], [4, 9], [12, 30])
    more = ([3, 5, 7], [10, 20, 9], [4, 9, 0], [12, 30, 0])
    for f in (mantel_haenszel_test, breslow_day):
        assert f(*two).statistic == pytest.approx(f(*more).statistic)
        assert f(*two).pvalue == pytest.approx(f(*more).pvalue)
    stacked = mantel_haenszel_odds([two[0]] * 3, [two[1]] * 3, two[2], two[3])
    np.testing.assert_allclose(stacked[0], mantel_haenszel_odds(*two)[0])
    nothing = mantel_haenszel_test([0, 0], [5, 5], [0, 0], [5, 5])
    assert np.isnan(nothing.statistic)
    assert "no stratum" in str(nothing.reason)
    assert "0 or infinite" in str(breslow_day([0, 0], [5, 5], [2, 3], [5, 5]).reason)


def test_continuity_takes_half_a_person() -> None:
    sides = ([20, 9], [100, 30], [40, 20], [100, 40])
    plain, corrected = (mantel_haenszel_test(*sides, continuity=c).statistic for c in (False, True))
    assert corrected < plain
