"""Wilcoxon's signed rank test against SciPy: ties, zeros, exact and approximate."""

import itertools
import warnings

import numpy as np
import pytest
from scipy import stats as scipy_stats

from isonomy.errors import InputError
from isonomy.stats import wilcoxon

THEIRS = {"drop": "wilcox", "pratt": "pratt", "split": "zsplit"}


def differences(kind: str, n: int, rows: int = 12) -> np.ndarray:
    rng = np.random.default_rng([n, len(kind)])
    d = rng.normal(0.3, 1.0, size=(rows, n))
    if kind == "ties":
        d = d.round(1)
        return np.where(d == 0, 0.1, d)
    if kind == "zeros":
        return np.where(d.round(0) == 0, 0.0, d)
    return d.round(1) if kind == "ties and zeros" else d


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("zeros", ["drop", "pratt", "split"])
@pytest.mark.parametrize("n", [3, 9, 14, 50, 51])
@pytest.mark.parametrize("kind", ["plain", "ties", "zeros", "ties and zeros"])
def test_equals_scipy(kind: str, n: int, zeros: str, alternative: str) -> None:
    # SciPy goes through all signs one by one where there are ties
    d = differences(kind, n, rows=12 if kind == "plain" or n > 13 else 2)
    ours = wilcoxon(d, zeros=zeros, alternative=alternative)
    for i, row in enumerate(d):
        if not row.any():
            continue
        expected = scipy_stats.wilcoxon(
            row, zero_method=THEIRS[zeros], alternative=alternative, correction=False
        )
        assert ours.statistic[i] == pytest.approx(expected.statistic, abs=1e-9)
        assert ours.pvalue[i] == pytest.approx(expected.pvalue, rel=1e-10)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("zeros", ["drop", "pratt", "split"])
def test_approximation_with_continuity_equals_scipy(zeros: str, alternative: str) -> None:
    d = differences("ties and zeros", 30)
    ours = wilcoxon(d, zeros=zeros, alternative=alternative, continuity=True, method="asymptotic")
    expected = scipy_stats.wilcoxon(
        d,
        zero_method=THEIRS[zeros],
        alternative=alternative,
        correction=True,
        method="asymptotic",
        axis=-1,
    )
    np.testing.assert_allclose(ours.pvalue, expected.pvalue, rtol=1e-10)


def test_exact_with_ties_goes_through_all_signs() -> None:
    d = np.array([0.1, -0.1, 0.3, 0.3, 0.0, 0.5, -0.2, 0.4])
    ranks = scipy_stats.rankdata(np.abs(d[d != 0]))
    sums = [
        sum(r for r, sign in zip(ranks, signs, strict=True) if sign)
        for signs in itertools.product([0, 1], repeat=ranks.size)
    ]
    observed = ranks[d[d != 0] > 0].sum()
    above = np.mean(np.array(sums) >= observed - 1e-9)
    assert wilcoxon(d, alternative="greater", method="exact").pvalue == pytest.approx(above)


def test_no_difference_at_all_is_no_evidence() -> None:
    for n in (5, 40):
        for zeros in ("drop", "pratt", "split"):
            assert wilcoxon(np.zeros(n), zeros=zeros).pvalue == 1.0


def test_pairs_leading_axes_and_holes() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 4, 11)), rng.normal(size=11)
    a[0, 1, 3] = np.nan
    a[1, 2] = np.nan
    ours = wilcoxon(a, b)
    assert ours.pvalue.shape == (2, 4)
    assert ours.reason[0, 1] == "a value is NaN"
    assert ours.pvalue[1, 3] == scipy_stats.wilcoxon(a[1, 3], b).pvalue
    left = wilcoxon(a, b, nan="omit")
    known = ~np.isnan(a[0, 1])
    assert left.pvalue[0, 1] == pytest.approx(
        scipy_stats.wilcoxon(a[0, 1][known], b[known]).pvalue, rel=1e-12
    )
    assert np.isnan(left.pvalue[1, 2])
    assert left.reason[1, 2] == "no pair is left"


def test_infinite_pairs_have_no_difference() -> None:
    a, b = np.array([1.0, np.inf, 3.0]), np.array([0.0, np.inf, 1.0])
    assert wilcoxon(a, b).reason == "a value is NaN"
    assert wilcoxon(a, b, nan="omit").statistic == 0.0


def test_what_cannot_be_used() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match="one length"):
            wilcoxon([1.0, 2.0], [1.0])
        with pytest.raises(InputError, match="must broadcast"):
            wilcoxon(np.ones((2, 3)), np.ones((4, 3)))
        with pytest.raises(InputError, match="none"):
            wilcoxon([])
        with pytest.raises(InputError, match="did you mean 'pratt'"):
            wilcoxon([1.0], zeros="prat")
