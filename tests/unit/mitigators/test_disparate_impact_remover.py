"""Disparate impact remover: the published rule by hand and by a plain loop; the learnt map."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier

from isonomy.errors import InputError
from isonomy.mitigators import DisparateImpactRemover
from isonomy.mitigators.disparate_impact_remover import repair_by_itself


def reference(column: np.ndarray, s: np.ndarray, level: float) -> np.ndarray:
    """The rule of the fact sheet, value by value."""
    whole = sorted(set(column))
    place = {v: i for i, v in enumerate(whole)}
    own = {g: sorted(set(column[s == g])) for g in sorted(set(s))}
    quantiles = min(len(v) for v in own.values())
    unit, offset = 1.0 / quantiles, 0.0
    out = column.copy()
    for _ in range(quantiles):
        slices, medians = {}, []
        for g, values in own.items():
            a, b = round(offset * len(values)), round((offset + unit) * len(values))
            slices[g] = values[a:b]
            medians.append(slices[g][(b - a - 1) // 2])
        target = place[sorted(medians)[(len(medians) - 1) // 2]]
        for g, values in slices.items():
            for v in values:
                moved = place[v] + round((target - place[v]) * level)
                out[(s == g) & (column == v)] = whole[moved]
        offset += unit
    return out


@pytest.mark.parametrize("level", [1.0, 0.5, 0.3])
@pytest.mark.parametrize("groups", [2, 3])
def test_published_rule_equals_a_plain_loop(level: float, groups: int) -> None:
    rng = np.random.default_rng(0)
    n = 300
    s = rng.integers(0, groups, n)
    X = np.column_stack(
        [
            rng.normal(size=n).round(1) + 0.3 * s,
            rng.integers(0, 7, n) + s,
            rng.integers(0, 2, n),
            (s == 1) * rng.integers(0, 2, n),
            np.ones(n),
        ]
    )
    ours = repair_by_itself(X, s, level)
    for j in range(X.shape[1]):
        np.testing.assert_array_equal(ours[:, j], reference(X[:, j], s, level), f"column {j}")


def test_by_hand() -> None:
    """Group 0 holds 1 3 5, group 1 holds 2 4 6 8 9: three quantiles, lower medians."""
    X = np.array([1, 3, 5, 2, 4, 6, 8, 9.0])[:, None]
    s = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    # Ranks cut at round(5/3) = 2 and round(10/3) = 3: (2 4), (6), (8 9) -> medians 2, 6, 8.
    np.testing.assert_array_equal(repair_by_itself(X, s).ravel(), [1, 3, 5, 1, 1, 3, 5, 5])


def test_one_hot_columns_stay_and_lonely_ones_vanish() -> None:
    s = np.array([0, 0, 1, 1])
    X = np.array([[0, 0], [1, 0], [0, 1], [1, 0.0]])
    np.testing.assert_array_equal(repair_by_itself(X, s), [[0, 0], [1, 0], [0, 0], [1, 0]])


def test_learnt_map_gives_the_groups_one_distribution() -> None:
    rng = np.random.default_rng(1)
    s = np.arange(2000) % 2
    X = (rng.normal(size=2000) * (1 + s) + 3 * s)[:, None]
    m = DisparateImpactRemover()
    T, *_ = m.resample(X, (X[:, 0] > 1).astype(int), s)
    q = np.linspace(0.05, 0.95, 10)
    np.testing.assert_allclose(np.quantile(T[s == 0], q), np.quantile(T[s == 1], q), atol=0.02)
    for g in (0, 1):
        order = np.argsort(X[s == g, 0])
        assert (np.diff(T[s == g, 0][order]) >= 0).all(), "ranks within a group are kept"


def test_equal_distributions_are_left_alone() -> None:
    values = np.tile([1.0, 1, 1, 2, 5, 5, 9], 2)
    s = np.repeat([0, 1], 7)
    T, *_ = DisparateImpactRemover().resample(values[:, None], s, s)
    np.testing.assert_allclose(T[:, 0], values)


def test_a_rows_prediction_depends_on_the_row_alone() -> None:
    rng = np.random.default_rng(2)
    s = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 2)) + s[:, None]
    y = (X[:, 0] + rng.normal(size=300) > 0.5).astype(int)
    m = DisparateImpactRemover().fit(X, y, sensitive_features=s)
    whole = m.predict_proba(X, sensitive_features=s)
    np.testing.assert_allclose(m.predict_proba(X[:1], sensitive_features=s[:1]), whole[:1])


def test_partial_repair_goes_part_of_the_way() -> None:
    rng = np.random.default_rng(3)
    s = rng.integers(0, 2, 100)
    X = (rng.normal(size=100) + s)[:, None]
    full, none, half = (
        DisparateImpactRemover(repair_level=level).resample(X, s, s)[0] for level in (1, 0, 0.5)
    )
    np.testing.assert_array_equal(none, X)
    np.testing.assert_allclose(half, (X + full) / 2)
    with pytest.raises(InputError, match="between 0 and 1"):
        DisparateImpactRemover(repair_level=1.5).resample(X, s, s)


def test_weights_are_rows_repeated() -> None:
    rng = np.random.default_rng(4)
    s, w = rng.integers(0, 2, 60), rng.integers(1, 4, 60)
    X = rng.normal(size=(60, 1)).round(1) + s[:, None]
    weighted, *_ = DisparateImpactRemover().resample(X, s, s, w.astype(float))
    again = np.repeat(np.arange(60), w)
    repeated, *_ = DisparateImpactRemover().resample(X[again], s[again], s[again])
    np.testing.assert_allclose(weighted[again], repeated)


def test_frames_keep_words_and_lose_the_protected_column() -> None:
    rng = np.random.default_rng(5)
    s = rng.integers(0, 2, 80)
    X = pd.DataFrame({"sex": s, "job": rng.choice(["a", "b"], 80), "pay": rng.normal(size=80) + s})
    m = DisparateImpactRemover(sensitive_columns="sex")
    T, *_ = m.resample(X, s, s)
    assert list(T.columns) == ["job", "pay"]
    assert (T["job"] == X["job"]).all()
    gaps = [frame["pay"][s == 1].mean() - frame["pay"][s == 0].mean() for frame in (X, T)]
    assert abs(gaps[1]) < 0.1 < gaps[0]
    with pytest.raises(InputError, match="besides the protected"):
        m.resample(X[["sex"]], s, s)


def test_sparse_tables_are_repaired_like_dense_ones() -> None:
    rng = np.random.default_rng(0)
    s = np.arange(60) % 2
    X = np.column_stack([s, rng.normal(size=60) + s, rng.integers(0, 3, 60)])
    y = (X[:, 1] + rng.normal(size=60) > 0.5).astype(int)
    ask = DisparateImpactRemover(sensitive_columns=0)
    dense = ask.fit(X, y, sensitive_features=s).predict_proba(X, sensitive_features=s)
    table = sparse.csr_array(X)
    thin = ask.fit(table, y, sensitive_features=s).predict_proba(table, sensitive_features=s)
    np.testing.assert_allclose(thin, dense, rtol=1e-12)


def test_missing_numbers_stay_missing_and_the_others_are_repaired_without_them() -> None:
    rng = np.random.default_rng(6)
    s = np.arange(200) % 2
    whole = np.column_stack([rng.normal(size=200) + s, rng.integers(0, 2, 200), s * 0.0])
    X = whole.copy()
    X[::7, 0], X[1::9, 1], X[s == 1, 2] = np.nan, np.nan, np.nan
    given = ~np.isnan(X[:, 0])
    found, *_ = DisparateImpactRemover().resample(X, s, s)
    alone, *_ = DisparateImpactRemover().resample(X[given, :1], s[given], s[given])
    np.testing.assert_array_equal(found[given, :1], alone)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(X))
    np.testing.assert_array_equal(found[:, 1:], X[:, 1:])  # a flag, and a group without values
    with pytest.raises(InputError, match="fill missing values"):
        DisparateImpactRemover(protocol="as_published").resample(X, s, s)


def test_a_learner_that_takes_missing_numbers_gets_them() -> None:
    rng = np.random.default_rng(7)
    s = np.arange(200) % 2
    X = pd.DataFrame({"sex": s, "pay": rng.normal(size=200) + s, "age": rng.normal(size=200)})
    y = (X["pay"] > 0.5).astype(int)
    X.loc[::5, "pay"] = np.nan
    model = DisparateImpactRemover(HistGradientBoostingClassifier(max_iter=5))
    model.fit(X, y, sensitive_features=X["sex"])
    assert model.score(X, y, sensitive_features=X["sex"]) > 0.6
