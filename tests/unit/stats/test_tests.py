"""Rank tests against SciPy, ties and degenerate samples included."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from isonomy.errors import InputError
from isonomy.stats import (
    mann_whitney,
    mean_ranks,
    rank,
    runs_needed,
    smallest_pvalue,
    spearman,
)


def samples(kind: str, rows: int = 40) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(11)
    a, b = rng.normal(size=(rows, 50)), rng.normal(0.3, 1.0, size=(rows, 37))
    if kind == "ties":
        return a.round(1), b.round(1)
    if kind == "heavy ties":
        return (a > 0).astype(float), (b > 0).astype(float)
    if kind == "shifted":
        return a, b + 5
    return a, b


@pytest.mark.parametrize("kind", ["plain", "ties", "heavy ties", "shifted"])
def test_mann_whitney_equals_scipy(kind: str) -> None:
    a, b = samples(kind)
    expected = scipy_stats.mannwhitneyu(a, b, axis=-1, method="asymptotic")
    ours = mann_whitney(a, b)
    np.testing.assert_array_equal(ours.statistic, expected.statistic)
    np.testing.assert_allclose(ours.pvalue, expected.pvalue, rtol=1e-10)


def test_mann_whitney_of_equal_constants_is_no_difference() -> None:
    a = np.full(50, 0.3)
    assert mann_whitney(a, a).pvalue == 1.0
    assert scipy_stats.mannwhitneyu(a, a, method="asymptotic").pvalue == 1.0


def test_mann_whitney_broadcasts_and_leaves_undefined_undefined() -> None:
    a, b = samples("plain", 3)
    a[1, 4] = np.nan
    many = mann_whitney(a[:, None, :], b[0])
    assert many.pvalue.shape == (3, 1)
    assert np.isnan(many.pvalue[:, 0]).tolist() == [False, True, False]
    assert np.isnan(many.statistic[1, 0])
    assert many.pvalue[2, 0] == mann_whitney(a[2], b[0]).pvalue


def test_mann_whitney_refuses_empty_and_misfitting_samples() -> None:
    with pytest.raises(InputError, match="one is empty"):
        mann_whitney([], [1.0])
    with pytest.raises(InputError, match="must broadcast"):
        mann_whitney(np.ones((2, 3)), np.ones((4, 3)))


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 2), (2, 50), (3, 5), (8, 8), (10, 12)])
def test_no_order_of_distinct_values_has_less_than_the_smallest_p_value(n: int, m: int) -> None:
    rng = np.random.default_rng(0)
    values = np.stack([rng.permutation(n + m) for _ in range(500)]).astype(float)
    values[0] = np.arange(n + m)
    p = mann_whitney(values[:, :n], values[:, n:]).pvalue
    assert p.min() == smallest_pvalue(n, m)
    if min(n, m) <= 8:  # exact: two of all choices of places
        assert smallest_pvalue(n, m) == pytest.approx(min(1.0, 2 / math.comb(n + m, n)))


def test_the_fewest_runs_come_from_the_test_itself() -> None:
    assert runs_needed(0.05) == 4  # 2 / 70; three against three reach 2 / 20
    assert runs_needed(0.01) == 5
    assert runs_needed(0.05, against=50) == 1  # 2 / 51
    assert runs_needed(0.01, against=1, most=198) is None
    assert runs_needed(0.01, against=1) == 200  # 2 / 201
    assert math.isnan(smallest_pvalue(0, 50))
    assert runs_needed(0.05, against=0, most=20) is None


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("continuity", [True, False])
@pytest.mark.parametrize("kind", ["plain", "heavy ties", "shifted"])
def test_mann_whitney_equals_scipy_one_sided(kind: str, continuity: bool, alternative: str) -> None:
    a, b = samples(kind)
    expected = scipy_stats.mannwhitneyu(
        a, b, axis=-1, alternative=alternative, use_continuity=continuity, method="asymptotic"
    )
    ours = mann_whitney(a, b, alternative=alternative, continuity=continuity)
    np.testing.assert_array_equal(ours.statistic, expected.statistic)
    np.testing.assert_allclose(ours.pvalue, expected.pvalue, rtol=1e-10)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 5), (8, 30), (12, 7), (20, 20)])
def test_small_samples_without_ties_are_exact(n: int, m: int, alternative: str) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=(30, n)), rng.normal(0.4, 1, size=(30, m))
    expected = scipy_stats.mannwhitneyu(a, b, axis=-1, alternative=alternative)
    np.testing.assert_allclose(
        mann_whitney(a, b, alternative=alternative).pvalue, expected.pvalue, rtol=1e-10
    )
    exact = scipy_stats.mannwhitneyu(a, b, axis=-1, alternative=alternative, method="exact")
    np.testing.assert_allclose(
        mann_whitney(a, b, alternative=alternative, method="exact").pvalue, exact.pvalue, rtol=1e-10
    )


def test_ties_choose_the_normal_approximation_cell_by_cell() -> None:
    a, b = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 2.0]]), np.array([4.0, 5.0, 2.5])
    ours = mann_whitney(a, b)
    for row, p in zip(a, ours.pvalue, strict=True):
        assert p == pytest.approx(scipy_stats.mannwhitneyu(row, b).pvalue, rel=1e-12)
    exact = mann_whitney(a, b, method="exact")
    assert np.isnan(exact.pvalue).tolist() == [False, True]
    assert exact.reason.tolist() == ["", "ties have no exact distribution"]


def test_mann_whitney_leaves_out_what_is_undefined_when_asked() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(25, 12)).round(1), rng.normal(size=(25, 15)).round(1)
    a[rng.random(a.shape) < 0.3] = np.nan
    b[rng.random(b.shape) < 0.3] = np.nan
    a[0] = np.nan
    ours = mann_whitney(a, b, nan="omit")
    for i in range(1, 25):
        one, other = a[i][~np.isnan(a[i])], b[i][~np.isnan(b[i])]
        expected = scipy_stats.mannwhitneyu(one, other)
        assert ours.statistic[i] == expected.statistic
        assert ours.pvalue[i] == pytest.approx(expected.pvalue, rel=1e-10)
    assert np.isnan(ours.pvalue[0])
    assert ours.reason[0] == "no value is left"
    assert not ours.reason[1:].any()
    with pytest.raises(InputError, match="must not hold NaN"):
        mann_whitney(a, b, nan="raise")


def test_mann_whitney_of_equal_constants_without_continuity() -> None:
    for alternative in ("two-sided", "less", "greater"):
        a = np.full((2, 9), 0.3)
        assert mann_whitney(a, a, alternative=alternative, continuity=False).pvalue.tolist() == [
            1,
            1,
        ]


def test_words_that_are_not_known() -> None:
    with pytest.raises(InputError, match="did you mean 'greater'"):
        mann_whitney([1.0], [2.0], alternative="greatr")
    with pytest.raises(InputError, match="must be numbers"):
        mann_whitney(["a"], [2.0])


def test_spearman_leaves_out_pairs() -> None:
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=(2, 20, 9))
    a[rng.random(a.shape) < 0.2] = np.nan
    a[0, 2:] = np.nan
    ours = spearman(a, b, nan="omit")
    for i in range(1, 20):
        known = ~np.isnan(a[i])
        expected = scipy_stats.spearmanr(a[i][known], b[i][known])
        assert ours.correlation[i] == pytest.approx(expected.statistic, rel=1e-12)
        assert ours.pvalue[i] == pytest.approx(expected.pvalue, rel=1e-10)
    assert ours.reason[0] == "fewer than three pairs are left"
    assert spearman(a, b).reason[1:].tolist() == [
        "a value is NaN" if np.isnan(row).any() else "" for row in a[1:]
    ]


@pytest.mark.parametrize("digits", [8, 1])
def test_spearman_equals_scipy(digits: int) -> None:
    rng = np.random.default_rng(5)
    a = rng.normal(size=(30, 17)).round(digits)
    b = (0.5 * a + rng.normal(size=(30, 17))).round(digits)
    ours = spearman(a, b)
    for i in range(30):
        expected = scipy_stats.spearmanr(a[i], b[i])
        assert ours.correlation[i] == pytest.approx(expected.statistic, rel=1e-12)
        assert ours.pvalue[i] == pytest.approx(expected.pvalue, rel=1e-10)


def test_spearman_at_its_ends() -> None:
    x = np.arange(6.0)
    assert tuple(spearman(x, x)) == (1.0, 0.0)
    assert tuple(spearman(x, -x)) == (-1.0, 0.0)
    flat = spearman(x, np.ones(6))
    assert np.isnan(flat.correlation)
    assert flat.reason == "a sample is constant"
    with pytest.raises(InputError, match="three pairs"):
        spearman([1.0, 2.0], [2.0, 1.0])


@pytest.mark.parametrize(("ties", "theirs"), [("mean", "average"), ("order", "ordinal")])
def test_ranks_equal_scipy(ties: str, theirs: str) -> None:
    values = np.random.default_rng(2).integers(0, 6, size=(20, 12)).astype(float)
    expected = scipy_stats.rankdata(values, method=theirs, axis=-1)
    np.testing.assert_array_equal(rank(values, ties=ties), expected)
    down = scipy_stats.rankdata(-values, method=theirs, axis=-1)
    np.testing.assert_array_equal(rank(values, ties=ties, descending=True), down)


@pytest.mark.parametrize("descending", [False, True])
def test_an_undefined_value_has_no_rank(descending: bool) -> None:
    ranks = rank([0.2, np.nan, 0.1], ties="order", descending=descending)
    assert np.isnan(ranks).tolist() == [False, True, False]
    assert sorted(ranks[[0, 2]]) == [1.0, 2.0]
    with pytest.raises(InputError, match="no treatment of ties"):
        rank([1.0], ties="min")


def test_mean_ranks_by_hand() -> None:
    table = np.array([[0.9, 0.8, np.nan], [0.7, 0.7, 0.1], [0.2, 0.3, np.nan]])
    # best first: (1, 2, -), (1.5, 1.5, 3), (2, 1, -)
    assert mean_ranks(table, descending=True).tolist() == [1.5, 1.5, 3.0]
    assert np.isnan(mean_ranks(np.full((2, 2), np.nan))).all()
    with pytest.raises(InputError, match="two axes"):
        mean_ranks([1.0, 2.0])
