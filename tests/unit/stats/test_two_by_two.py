"""Two proportions beside each other: by hand, by brute force, beside SciPy, and at the edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq, minimize_scalar

from isonomy.errors import InputError
from isonomy.stats import (
    deviations,
    fisher_exact,
    katz_interval,
    koopman_interval,
    more_to_reach,
    odds_ratio,
    shortfall,
    survives_more,
)


def test_koopman_by_the_published_example() -> None:
    low, high = koopman_interval(36, 40, 16, 80)  # Koopman 1984: 2.94 to 7.15
    assert (round(float(low), 2), round(float(high), 2)) == (2.94, 7.15)


@pytest.mark.parametrize(
    "table", [(66, 189, 124, 124), (7, 7, 24, 169), (3, 9, 4, 4), (5, 50, 9, 40)]
)
def test_koopman_is_where_the_score_is_the_critical_value(table: tuple[int, ...]) -> None:
    """The likelihood is maximised by brute force, also where all of a group are hits."""
    x, n, y, m = table

    def score(log: float) -> float:
        value = np.exp(log)

        def unlikely(q: float) -> float:
            out = -x * np.log(value * q) - (n - x) * np.log1p(-value * q) - y * np.log(q)
            return float(out - ((m - y) * np.log1p(-q) if m > y else 0.0))

        ends = (1e-12, min(1.0, 1 / value) - 1e-12)
        q = minimize_scalar(unlikely, bounds=ends, method="bounded", options={"xatol": 1e-13}).x
        error = np.sqrt(value * q * (1 - value * q) / n + value**2 * q * (1 - q) / m)
        return float((x / n - value * y / m) / error)

    middle, z = np.log(x / n / (y / m)), stats.norm.ppf(0.975)
    below = brentq(lambda t: score(t) - z, middle - 4, middle - 1e-6)
    above = brentq(lambda t: score(t) + z, middle + 1e-6, middle + 4)
    np.testing.assert_allclose(koopman_interval(*table), np.exp([below, above]), rtol=1e-5)


def test_zeros_leave_an_end_open_and_empty_groups_everything() -> None:
    low, high = koopman_interval(
        [0, 3, 0, 5, 0], [40, 40, 40, 5, 0], [7, 0, 0, 5, 2], [30, 30, 30, 5, 9]
    )
    assert low[0] == 0
    assert 0 < high[0] < 1
    assert low[1] > 0
    assert high[1] == np.inf
    assert (low[2], high[2]) == (0, np.inf)
    assert low[3] == pytest.approx(1 / high[3], rel=1e-6)
    assert np.isnan([low[4], high[4]]).all()
    value, low, high = odds_ratio([0, 5, 5], [40, 5, 9], [7, 2, 9], [30, 9, 9])
    assert (value[0], low[0]) == (0, 0)
    assert (value[1], high[1]) == (np.inf, np.inf)
    assert (value[2], low[2]) == (0, 0)


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_turned_round_the_interval_is_the_reciprocal(n: int, m: int, data: st.DataObject) -> None:
    x, y = data.draw(st.integers(1, n)), data.draw(st.integers(1, m))
    low, high = koopman_interval(x, n, y, m)
    other, opposite = koopman_interval(y, m, x, n)
    assert low <= x * m / (y * n) * (1 + 1e-12)
    assert high >= x * m / (y * n) * (1 - 1e-12)
    np.testing.assert_allclose([low, high], [1 / opposite, 1 / other], rtol=1e-6)


def test_katz_is_scipys() -> None:
    for x, n, y, m in ((36, 40, 16, 80), (3, 50, 9, 70), (0, 40, 7, 30), (7, 30, 0, 40)):
        theirs = stats.contingency.relative_risk(x, n, y, m).confidence_interval(0.9)
        np.testing.assert_allclose(
            katz_interval(x, n, y, m, confidence=0.9), [theirs.low, theirs.high], rtol=1e-12
        )


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_fisher_is_scipys(x: int, a: int, y: int, b: int) -> None:
    n, m = x + a, y + b
    ours = fisher_exact(x, n, y, m)
    if n == 0 or m == 0:
        assert np.isnan(ours)
        return
    exact = stats.fisher_exact([[x, a], [y, b]])[1]
    assert ours == pytest.approx(exact, rel=1e-9)
    mid = fisher_exact(x, n, y, m, mid=True)
    assert ours / 2 - 1e-12 <= mid < ours


def test_mid_p_by_hand() -> None:
    # margins 4, 4 and 4: 1, 16, 36, 16, 1 of 70; seen one of 16: (1 + 1 + (16 + 16) / 2) / 70
    assert fisher_exact(3, 4, 1, 4) == pytest.approx(34 / 70)
    assert fisher_exact(3, 4, 1, 4, mid=True) == pytest.approx(18 / 70)


def test_fisher_of_many_and_of_large_tables() -> None:
    rows = np.array([10**6, 50, 3])
    p = fisher_exact([10**5, 5, 1], rows, [100_900, 20, 0], [10**6, 60, 4])
    normal = 2 * stats.norm.sf(abs(deviations(10**5, 10**6, 100_900, 10**6)))
    assert p[0] == pytest.approx(normal, rel=0.01)
    np.testing.assert_allclose(p[1], stats.fisher_exact([[5, 45], [20, 40]])[1], rtol=1e-9)
    with pytest.raises(InputError, match="whole"):
        fisher_exact(1.5, 4, 1, 4)
    with pytest.raises(InputError, match="between 0 and the rows"):
        fisher_exact(5, 4, 1, 4)


def test_deviations_by_hand() -> None:
    # 60 of 200 selected: 30 expected, variance 100 100 60 140 / (200^2 199)
    z = deviations(20, 100, 40, 100)
    assert z == pytest.approx(-10 / np.sqrt(100 * 100 * 60 * 140 / (200**2 * 199)))
    pooled = (0.2 - 0.4) / np.sqrt(0.3 * 0.7 * (1 / 100 + 1 / 100))
    assert deviations(20, 100, 40, 100, variance="pooled") == pytest.approx(pooled)
    assert np.isnan(deviations([0, 5], [5, 5], [0, 6], [6, 6])).all()
    with pytest.raises(InputError, match="variance"):
        deviations(1, 2, 1, 2, variance="exact")  # type: ignore[arg-type]


def test_people_short_by_hand() -> None:
    assert shortfall(20, 100, 40, 100) == 10
    assert shortfall(20, 100, 40, 100, to="other") == 20
    assert more_to_reach(30, 100, 40, 100) == 2  # 32 of 100 are four fifths of 40 %
    assert more_to_reach(32, 100, 40, 100) == 0
    assert np.isnan(more_to_reach(1, 4, 10, 10, ratio=1.5))
    assert more_to_reach(0, 10, 0, 10) == 0


def test_two_more_people_turn_a_flag() -> None:
    """5 of 20 beside 20 of 60: 7 would be 35 %, so neither flag holds; 30 of 100 stays below."""
    flags = survives_more([5, 15, 0], [20, 100, 0], [20, 40, 1], [60, 100, 2])
    assert flags.ratio.tolist() == [False, True, False]
    assert flags.significance.tolist() == [False, True, False]
    # significant now, and not with two more
    now, then = (fisher_exact(k, 30, 40, 60, mid=True) for k in (12, 14))
    assert now < 0.05 < then
    assert not survives_more(12, 30, 40, 60).significance
    assert survives_more(12, 30, 40, 60, more=0).significance
