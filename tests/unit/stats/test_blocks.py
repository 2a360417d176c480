"""Friedman's test and Nemenyi's critical difference: SciPy, printed tables, by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats

from isonomy.errors import InputError
from isonomy.stats import friedman, friedman_nemenyi


@pytest.mark.parametrize("digits", [8, 1, 0])
@pytest.mark.parametrize(("n", "k"), [(4, 3), (10, 5), (30, 17)])
def test_friedman_equals_scipy(n: int, k: int, digits: int) -> None:
    rng = np.random.default_rng([n, k])
    tables = (rng.normal(size=(6, n, k)) + 0.3 * np.arange(k)).round(digits)
    ours = friedman(tables)
    for i, table in enumerate(tables):
        expected = scipy_stats.friedmanchisquare(*table.T)
        assert ours.statistic[i] == pytest.approx(expected.statistic, rel=1e-10)
        assert ours.pvalue[i] == pytest.approx(expected.pvalue, rel=1e-9)
        f = (n - 1) * expected.statistic / (n * (k - 1) - expected.statistic)
        assert ours.f[i] == pytest.approx(f, rel=1e-9)
        tail = scipy_stats.f.sf(f, k - 1, (k - 1) * (n - 1))
        assert ours.f_pvalue[i] == pytest.approx(tail, rel=1e-8)


def test_friedman_at_its_ends() -> None:
    agreed = friedman(np.tile([1.0, 2.0, 3.0, 4.0], (7, 1)))
    assert agreed.statistic == pytest.approx(21.0)
    assert agreed.f == np.inf
    assert agreed.f_pvalue == 0.0
    tied = friedman(np.ones((5, 4)))
    assert np.isnan(tied.pvalue)
    assert tied.reason == "every block is tied throughout"
    assert friedman([[1.0, np.nan, 2.0], [1.0, 2.0, 3.0]]).reason == "a value is NaN"
    with pytest.raises(InputError, match="wilcoxon"):
        friedman(np.ones((5, 2)))


@pytest.mark.parametrize("k", [3, 10, 17])
def test_pairs_are_judged_by_the_studentized_range(k: int) -> None:
    found = friedman_nemenyi(np.random.default_rng(k).normal(size=(9, k)))
    apart = np.abs(found.mean_ranks[:, None] - found.mean_ranks)
    q = np.sqrt(2) * apart / np.sqrt(k * (k + 1) / 54)
    expected = scipy_stats.studentized_range.sf(q, k, np.inf)
    np.testing.assert_allclose(found.pvalues, expected, atol=1e-10)


@pytest.mark.parametrize(
    ("k", "printed"),  # Demšar 2006, Table 5(a): q at 5 %, the range's quantile over sqrt(2)
    # (from tables of the range with three digits, so the last one may be off by one)
    [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (7, 2.949), (10, 3.164)],
)
def test_critical_difference_equals_the_printed_table(k: int, printed: float) -> None:
    if k == 2:  # the table starts with two; Friedman's test with three
        q = scipy_stats.studentized_range.ppf(0.95, 2, np.inf) / np.sqrt(2)
        assert q == pytest.approx(printed, abs=9e-4)
        return
    values = np.random.default_rng(k).normal(size=(12, k))
    found = friedman_nemenyi(values)
    unit = np.sqrt(k * (k + 1) / (6 * 12))
    assert found.critical_difference / unit == pytest.approx(printed, abs=9e-4)


def test_demsars_worked_example() -> None:
    """Demšar 2006, Table 6: four classifiers on 14 data sets, mean ranks 3.143 to 2."""
    auc = np.array(
        [
            [0.763, 0.768, 0.771, 0.798],
            [0.599, 0.591, 0.590, 0.569],
            [0.954, 0.971, 0.968, 0.967],
            [0.628, 0.661, 0.654, 0.657],
            [0.882, 0.888, 0.886, 0.898],
            [0.936, 0.931, 0.916, 0.931],
            [0.661, 0.668, 0.609, 0.685],
            [0.583, 0.583, 0.563, 0.625],
            [0.775, 0.838, 0.866, 0.875],
            [1.000, 1.000, 1.000, 1.000],
            [0.940, 0.962, 0.965, 0.962],
            [0.619, 0.666, 0.614, 0.669],
            [0.972, 0.981, 0.9751, 0.975],  # printed alike, ranked 2 and 3: more digits there
            [0.957, 0.978, 0.946, 0.970],
        ]
    )
    names = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
    found = friedman_nemenyi(pd.DataFrame(auc, columns=names))
    ranks = dict(zip(found.labels, found.mean_ranks, strict=True))
    assert ranks == pytest.approx(
        {"C4.5": 3.143, "C4.5+m": 2.000, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}, abs=5e-4
    )
    # printed 9.28 and 3.69, without the correction for ties that SciPy and we make
    assert friedman(auc).statistic == pytest.approx(9.28 / (1 - (60 + 3 * 6) / (14 * 60)), abs=0.02)
    assert found.critical_difference == pytest.approx(2.569 * np.sqrt(20 / 84), abs=1e-3)
    assert found.groups == ((0, 3),)  # 1.25 is needed, 1.18 the widest: none differ at 5 %
    assert found.differs
    # at 10 % the critical difference is 1.12 and plain C4.5 is worse than both with m
    loose = friedman_nemenyi(auc, labels=names, alpha=0.10)
    assert loose.critical_difference == pytest.approx(1.12, abs=5e-3)
    first, last = loose.labels.index("C4.5+m"), loose.labels.index("C4.5")
    assert loose.pvalues[first, last] < 0.10
    assert loose.groups == ((0, 2), (2, 3))


def test_p_values_and_groups_tell_one_story() -> None:
    rng = np.random.default_rng(7)
    found = friedman_nemenyi(rng.normal(size=(25, 8)) + np.linspace(0, 1.5, 8))
    k = len(found.labels)
    together = np.zeros((k, k), dtype=bool)
    for first, last in found.groups:
        together[first : last + 1, first : last + 1] = True
    off = ~np.eye(k, dtype=bool)
    assert ((found.pvalues > found.alpha) == together)[off].all()
    assert 1 < len(found.groups) < k
    frame = found.frame()
    assert frame["mean_rank"].is_monotonic_increasing
    assert frame.loc[0, "group"].startswith("a")
    assert "<table" in found._repr_html_()


def test_direction_holes_and_doubts_are_told() -> None:
    values = np.array([[3.0, 2.0, 1.0], [6.0, np.nan, 4.0], [9.0, 8.0, 7.0]])
    up, down = (friedman_nemenyi(values, labels="abc", larger_is_better=b) for b in (True, False))
    assert up.labels == ("a", "b", "c")
    assert down.labels == ("c", "b", "a")
    assert up.blocks == 2
    assert "1 of 3 blocks" in up.notes[0]
    assert any("2 blocks are few" in note for note in up.notes)
    flat = friedman_nemenyi(np.random.default_rng(0).normal(size=(9, 4)))
    assert not flat.differs
    assert "finds no difference" in flat.notes[0]


def test_what_cannot_be_used() -> None:
    with pytest.raises(InputError, match="one label per treatment"):
        friedman_nemenyi(np.ones((4, 3)), labels=["a", "a", "b"])
    with pytest.raises(InputError, match="hold every treatment"):
        friedman_nemenyi(np.full((4, 3), np.nan))
    with pytest.raises(InputError, match="table"):
        friedman_nemenyi(np.ones(4))
    with pytest.raises(InputError, match="alpha"):
        friedman_nemenyi(np.ones((4, 3)), alpha=5)
