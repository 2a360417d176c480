"""What must hold for every sample, whatever its values and ties."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from isonomy.stats import (
    a12,
    benjamini_hochberg,
    benjamini_yekutieli,
    cliffs_delta,
    friedman,
    holm,
    mann_whitney,
    rank,
    scott_knott,
    scott_knott_esd,
    spearman,
    wilcoxon,
)

# few distinct values, so that ties are the rule; whole numbers, so that a monotone map keeps them
VALUES = st.integers(-6, 6).map(float)
SAMPLE = st.lists(VALUES, min_size=2, max_size=14).map(np.array)
SPREAD = st.lists(st.integers(-(10**6), 10**6).map(float), min_size=2, max_size=14, unique=True)


def bent(x: np.ndarray) -> np.ndarray:
    """Map monotonically, far from linearly."""
    return np.sign(x) * np.abs(x) ** 3 + x


@st.composite
def tables(draw):
    rows, columns = draw(st.integers(2, 6)), draw(st.integers(3, 5))
    cells = draw(st.lists(VALUES, min_size=rows * columns, max_size=rows * columns))
    return np.array(cells).reshape(rows, columns)


@given(SAMPLE, SAMPLE)
@settings(deadline=None)
def test_swapping_the_samples_swaps_the_sides(a, b) -> None:
    one, other = mann_whitney(a, b), mann_whitney(b, a)
    assert one.statistic + other.statistic == a.size * b.size
    assert np.isclose(one.pvalue, other.pvalue, rtol=1e-12)
    less, greater = (
        mann_whitney(a, b, alternative="less"),
        mann_whitney(b, a, alternative="greater"),
    )
    assert np.isclose(less.pvalue, greater.pvalue, rtol=1e-12)
    assert cliffs_delta(a, b) == -cliffs_delta(b, a)


@given(SAMPLE, SAMPLE)
@settings(deadline=None)
def test_ranks_only(a, b) -> None:
    assert mann_whitney(a, b).pvalue == mann_whitney(bent(a), bent(b)).pvalue
    assert cliffs_delta(a, b) == cliffs_delta(bent(a), bent(b))
    assert np.isclose(a12(a, b), (cliffs_delta(a, b) + 1) / 2, rtol=0, atol=1e-15)
    assert (rank(a) == rank(bent(a))).all()


@given(SAMPLE, SAMPLE)
@settings(deadline=None)
def test_p_values_are_probabilities_and_one_sided_ones_add_up(a, b) -> None:
    sides = [mann_whitney(a, b, alternative=s).pvalue for s in ("two-sided", "less", "greater")]
    assert all(0 <= p <= 1 for p in sides)
    assert sides[1] + sides[2] >= 1 - 1e-12  # both count what was observed
    assert np.isclose(sides[0], min(1.0, 2 * min(sides[1:])), rtol=1e-9)


@given(SAMPLE)
@settings(deadline=None)
def test_wilcoxon_is_symmetric_and_does_not_see_the_unit(d) -> None:
    for zeros in ("drop", "pratt", "split"):
        p = wilcoxon(d, zeros=zeros).pvalue
        assert 0 <= p <= 1
        assert np.isclose(p, wilcoxon(-d, zeros=zeros).pvalue, rtol=1e-12)
        assert np.isclose(p, wilcoxon(8 * d, zeros=zeros).pvalue, rtol=1e-12)
        less = wilcoxon(d, zeros=zeros, alternative="less").pvalue
        assert np.isclose(less, wilcoxon(-d, zeros=zeros, alternative="greater").pvalue, rtol=1e-12)


@given(SPREAD, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_spearman_of_a_monotone_map_is_one(x, random) -> None:
    if len(x) < 3:
        x = [*x, 10**6 + 1.0]
    x = np.array(x)
    assert np.isclose(spearman(x, bent(x)).correlation, 1.0)
    y = x.copy().tolist()
    random.shuffle(y)
    y = np.array(y)
    one = spearman(x, y)
    assert np.isclose(one.correlation, spearman(y, x).correlation)
    assert np.isclose(one.correlation, -spearman(x, -y).correlation)


@given(tables())
@settings(deadline=None)
def test_friedman_sees_neither_order_nor_scale(table) -> None:
    plain = friedman(table)
    for other in (friedman(table[:, ::-1]), friedman(table[::-1]), friedman(bent(table))):
        assert other.reason == plain.reason
        assert np.isclose(plain.statistic, other.statistic, rtol=1e-9, equal_nan=True)
        assert np.isclose(plain.f_pvalue, other.f_pvalue, rtol=1e-7, equal_nan=True)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20).map(np.array))
@settings(deadline=None)
def test_adjusted_p_values_keep_their_order_and_only_grow(p) -> None:
    order = np.argsort(p, kind="stable")
    for rule in (holm, benjamini_hochberg, benjamini_yekutieli):
        adjusted = rule(p)
        assert (adjusted >= p).all()
        assert (adjusted <= 1).all()
        assert (np.diff(adjusted[order]) >= 0).all()
    assert (benjamini_hochberg(p) <= holm(p) + 1e-15).all()
    assert (holm(p) <= np.minimum(p * p.size, 1.0) + 1e-15).all()


@given(st.lists(st.lists(VALUES, min_size=3, max_size=8), min_size=2, max_size=6))
@settings(deadline=None, max_examples=50)
def test_groups_do_not_hang_on_the_unit_and_cover_everything(samples) -> None:
    runs = {k: np.array(sample) for k, sample in enumerate(samples)}
    for rule in (
        lambda r: scott_knott(r, resamples=100),
        lambda r: scott_knott(r, resamples=100, protocol="corrected"),
        lambda r: scott_knott_esd(r, version="nonparametric"),
    ):
        found = rule(runs)
        assert sorted(found.labels) == sorted(runs)
        assert sorted(set(found.ranks.tolist())) == list(range(1, found.ranks.max() + 1))
        scaled = rule({k: 4 * v for k, v in runs.items()})
        assert scaled.groups == found.groups
