"""Scott-Knott, published and ESD: by hand, by plain loops, and where the rules part."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats

from isonomy.errors import InputError
from isonomy.stats import scott_knott, scott_knott_esd
from isonomy.stats.ranking import kruskal


def treatments(gaps: list[float], n: int = 20, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {f"t{i}": rng.normal(gap, 1.0, n) for i, gap in enumerate(gaps)}


def upper_median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def plain_scott_knott(runs: dict[str, np.ndarray], negligible: float) -> dict[str, int]:
    """Do the recursion with lists, the effect size alone deciding."""
    rows = sorted(
        ((name, v.tolist()) for name, v in runs.items()), key=lambda r: upper_median(r[1])
    )
    ranks: dict[str, int] = {}

    def pooled(some):
        return [x for _, values in some for x in values]

    def cut(some, rank):
        best, where = 0.0, None
        middle = upper_median(pooled(some))
        for j in range(1, len(some)):
            low, high = pooled(some[:j]), pooled(some[j:])
            n = len(low) + len(high)
            worth = len(low) / n * (upper_median(low) - middle) ** 2
            worth += len(high) / n * (upper_median(high) - middle) ** 2
            delta = sum((y > x) - (y < x) for x in low for y in high) / (len(low) * len(high))
            if worth > best and abs(delta) > negligible:
                best, where = worth, j
        if where is None:
            ranks.update({name: rank for name, _ in some})
            return rank
        return cut(some[where:], cut(some[:where], rank) + 1)

    cut(rows, 1)
    return ranks


@pytest.mark.parametrize("seed", range(8))
def test_recursion_equals_plain_loops(seed: int) -> None:
    rng = np.random.default_rng(seed)
    runs = treatments(list(rng.normal(0, 0.8, 9)), n=int(rng.integers(5, 16)), seed=seed)
    # a bootstrap that never rejects leaves Cliff's delta alone to decide
    ours = scott_knott(runs, alpha=1e-9)
    assert {name: ours[name] for name in runs} == plain_scott_knott(runs, 0.147)


def test_by_hand() -> None:
    runs = {"low": [1, 2, 3, 4, 5], "same": [1, 2, 3, 4, 5], "high": [11, 12, 13, 14, 15]}
    # medians 3, 3, 13; of all fifteen 4: the cut before "high" is worth
    # 10/15 * 1 + 5/15 * 81 = 27.67, the one after "low" 5/15 * 1 + 10/15 * 49 = 33: it differs
    # too (delta 0.5) and is taken, and then "same" and "high" part
    assert scott_knott(runs).groups == (("low",), ("same",), ("high",))
    # four fours: the upper median of all is 11, which the cut before "d" moves furthest (37.75,
    # the one in the middle 34); of the rest it is 4, and the cut before "b" is best (33, the next
    # 27.67), though "a" and "b" are the same: as published, equal treatments may part
    four = {"a": [1, 2, 3, 4], "b": [1, 2, 3, 4], "c": [11, 12, 13, 14], "d": [11, 12, 13, 14]}
    expected = {"a": 1, "b": 2, "c": 3, "d": 4}
    assert plain_scott_knott({k: np.array(v) for k, v in four.items()}, 0.147) == expected
    assert {name: scott_knott(four)[name] for name in four} == expected
    # between medians of treatments (2.5 twice and 12.5 twice) the middle is the best place
    assert scott_knott(four, protocol="corrected").groups == (("a", "b"), ("c", "d"))


def test_either_test_is_enough_as_published_and_both_are_needed_corrected() -> None:
    # far apart in effect, far too few to be significant: three values each
    few = {"a": [1.0, 5.0, 3.0], "b": [2.0, 6.0, 4.0]}
    assert scott_knott(few).groups == (("a",), ("b",))
    assert scott_knott(few, protocol="corrected").groups == (("a", "b"),)
    # significant and negligible: many values, a small shift
    rng = np.random.default_rng(1)
    many = {"a": rng.normal(0.0, 1.0, 4000), "b": rng.normal(0.12, 1.0, 4000)}
    assert scott_knott(many).groups == (("a",), ("b",))
    assert scott_knott(many, protocol="corrected").groups == (("a", "b"),)


def test_the_published_bootstrap_looks_one_way() -> None:
    # b has the higher median and the lower mean: one-sided, its difference cannot be seen
    a = np.concatenate([np.full(100, 1.0), np.full(95, 9.0)])
    b = np.concatenate([np.full(80, -20.0), np.full(115, 2.0)])
    runs = {"a": a, "b": b}
    assert np.median(a) < np.median(b)
    assert a.mean() > b.mean()
    wide = {"negligible": 0.9}  # leaves the decision to the bootstrap
    assert scott_knott(runs, **wide).groups == (("a", "b"),)
    # in both directions the difference of means is plain
    assert scipy_stats.ttest_ind(a, b, equal_var=False).pvalue < 1e-6
    assert scott_knott(runs, protocol="corrected", negligible=0.0).groups == (("a",), ("b",))


def test_the_bootstrap_has_about_its_level() -> None:
    rejected = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        runs = {"a": rng.normal(size=20), "b": rng.normal(size=20)}
        ranks = scott_knott(runs, negligible=1.0, random_state=seed)
        rejected += len(ranks.groups) == 2
    # sorted by medians, one-sided at 5 %: about a tenth; a binomial(200, 0.1) stays below 36
    assert 5 <= rejected <= 36


def test_ranks_and_direction() -> None:
    runs = treatments([0, 0, 5, 5, 10], seed=3)
    low = scott_knott(runs, protocol="corrected")
    high = scott_knott(runs, protocol="corrected", larger_is_better=True)
    assert low.ranks.tolist() == [1, 1, 2, 2, 3]
    assert high.groups == tuple(tuple(reversed(g)) for g in reversed(low.groups))
    assert low["t4"] == 3
    assert high["t4"] == 1
    frame = high.frame()
    assert list(frame.columns) == ["rank", "treatment", "median", "values"]
    assert frame["rank"].is_monotonic_increasing
    assert (frame["values"] == 20).all()
    assert "<table" in high._repr_html_()


def test_a_seed_makes_it_repeatable() -> None:
    runs = treatments(list(np.linspace(0, 1, 8)), n=10, seed=5)
    first, again = (scott_knott(runs, random_state=3) for _ in range(2))
    assert first.groups == again.groups


def test_frames_arrays_and_holes() -> None:
    runs = treatments([0, 0, 4], n=9)
    frame = pd.DataFrame(runs)
    frame.loc[2, "t1"] = np.nan
    found = scott_knott(frame)
    assert found.notes == ("1 undefined values were left out.",)
    assert found.sizes[found.labels.index("t1")] == 8
    plain = scott_knott(np.column_stack(list(runs.values())), labels=list(runs))
    assert plain.groups == scott_knott(runs).groups
    one = scott_knott({"only": [1.0, 2.0]})
    assert one.groups == (("only",),)


def test_constants_are_told_apart_and_equal_ones_are_not() -> None:
    runs = {"a": [1.0] * 5, "b": [1.0] * 5, "c": [2.0] * 5, "d": [2.0] * 5}
    expected = (("a", "b"), ("c", "d"))
    assert scott_knott(runs, protocol="corrected").groups == expected
    for version in ("parametric", "nonparametric"):
        found = scott_knott_esd(runs, version=version, larger_is_better=False)
        assert found.groups == expected


@pytest.mark.parametrize("version", ["parametric", "nonparametric", "original"])
def test_esd_parts_what_is_far_and_joins_what_is_near(version: str) -> None:
    runs = treatments([0.0, 0.02, 3.0, 3.02, 6.0], n=400, seed=2)
    found = scott_knott_esd(runs, version=version)
    assert [set(g) for g in found.groups] == [{"t4"}, {"t2", "t3"}, {"t0", "t1"}]
    assert found.ranks.tolist() == [1, 2, 2, 3, 3]


def test_esd_keeps_significant_but_negligible_differences_together() -> None:
    runs = treatments([0.0, 0.1], n=6000, seed=4)
    assert scipy_stats.ttest_ind(*runs.values()).pvalue < 1e-4
    for version in ("parametric", "nonparametric", "original"):
        assert len(scott_knott_esd(runs, version=version).groups) == 1
    # without the merge the original test would part them
    assert len(scott_knott_esd(runs, version="original", negligible=0.0).groups) == 2


def test_esd_cuts_by_hand() -> None:
    # means 0, 1, 10: between-group squares 1*2/3*(0-5.5)^2 = 20.2 and 2*1/3*(0.5-10)^2 = 60.2
    base = np.array([-1.0, 0.0, 1.0])
    runs = {"a": base, "b": base + 1, "c": base + 10}
    found = scott_knott_esd(runs, version="parametric", larger_is_better=False)
    assert found.groups == (("a",), ("b",), ("c",))
    # d between a and b is 1: negligible only if told so, and the first cut stands
    loose = scott_knott_esd(runs, version="parametric", negligible=1.5, larger_is_better=False)
    assert loose.groups == (("a", "b"), ("c",))


def test_scott_knotts_own_test_by_hand() -> None:
    """One cut of two means: the ratio of Scott and Knott 1974 with its chi-square."""
    base = np.array([-1.0, 0.0, 1.0, 0.5, -0.5])
    for gap, groups in ((0.4, 1), (2.4, 2)):
        b0 = gap**2 / 2
        noise = 2 * base.var() * 5 / 8 / 5  # pooled variance over 8 degrees, of a mean of five
        variance = (gap**2 / 2 + 8 * noise) / (2 + 8)
        ratio = np.pi / (2 * (np.pi - 2)) * b0 / variance
        p = scipy_stats.chi2.sf(ratio, 2 / (np.pi - 2))
        assert (p < 0.05) == (groups == 2)
        found = scott_knott_esd({"a": base, "b": base + gap}, version="original", negligible=0.0)
        assert len(found.groups) == groups


def test_kruskal_equals_scipy() -> None:
    rng = np.random.default_rng(3)
    for digits in (8, 0):
        samples = [rng.normal(i / 3, 1, n).round(digits) for i, n in enumerate((14, 9, 5))]
        for some in (samples, samples[:2]):
            expected = scipy_stats.kruskal(*some)
            assert kruskal(some) == pytest.approx(tuple(expected), rel=1e-10)
    assert kruskal([np.ones(3), np.ones(4)]) == (0.0, 1.0)


def test_esd_groups_are_runs_of_the_order_for_unequal_sizes() -> None:
    rng = np.random.default_rng(11)
    runs = {f"t{i}": rng.normal(i / 4, 1, int(rng.integers(4, 30))) for i in range(12)}
    for version in ("parametric", "nonparametric", "original"):
        found = scott_knott_esd(runs, version=version)
        centres = [np.mean if version != "nonparametric" else np.median]
        values = [centres[0](runs[name]) for name in found.labels]
        assert all(a >= b for a, b in pairwise(values))
        assert (np.diff(found.ranks) >= 0).all()


def test_what_cannot_be_used() -> None:
    with pytest.raises(InputError, match="two values or more"):
        scott_knott({"a": [1.0], "b": [1.0, 2.0]})
    with pytest.raises(InputError, match="keys are the labels"):
        scott_knott({"a": [1.0, 2.0]}, labels=["a"])
    with pytest.raises(InputError, match="table"):
        scott_knott_esd([1.0, 2.0])
    with pytest.raises(InputError, match="did you mean 'parametric'"):
        scott_knott_esd({"a": [1.0, 2.0]}, version="parametrik")
    with pytest.raises(InputError, match="protocol"):
        scott_knott({"a": [1.0, 2.0]}, protocol="published")


def test_infinite_values_have_ranks_but_no_means() -> None:
    runs = {"a": [1.0, 2.0, 3.0, 2.0], "b": [1.0, 2.0, 3.0, 2.5], "c": [9.0, np.inf, np.inf, 8.0]}
    assert scott_knott(runs)["c"] == scott_knott(runs).ranks.max() > 1
    assert scott_knott(runs, protocol="corrected").groups == (("a", "b", "c"),)
    assert scott_knott_esd(runs)["c"] == 1
    with pytest.raises(InputError, match="nonparametric"):
        scott_knott_esd(runs, version="parametric")
    # where the middle itself is infinite the cut is the most even one
    four = {"a": [1.0] * 3, "b": [1.0] * 3, "c": [np.inf] * 3, "d": [np.inf] * 3}
    assert scott_knott(four)["a"] < scott_knott(four)["c"]
