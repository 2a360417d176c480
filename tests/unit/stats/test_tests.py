"""Rank tests against SciPy, ties and degenerate samples included."""

import warnings

import numpy as np
import pytest
from scipy import stats as scipy_stats

from isonomy.errors import InputError
from isonomy.stats import cohens_d, mann_whitney, rank, spearman


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
    assert spearman(x, x) == (1.0, 0.0)
    assert spearman(x, -x) == (-1.0, 0.0)
    assert np.isnan(spearman(x, np.ones(6)).correlation)
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
    with pytest.raises(InputError, match="ties must be"):
        rank([1.0], ties="min")


def test_cohens_d_by_hand_and_of_constants() -> None:
    a, b = np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 3.0])
    # means 4 and 2, variances 4 and 1
    assert cohens_d(a, b) == pytest.approx(2 / np.sqrt(2.5))
    assert cohens_d(b, a) == -cohens_d(a, b)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cohens_d(np.ones(3), np.zeros(3)) == np.inf
        assert np.isnan(cohens_d(np.ones(3), np.ones(3)))
