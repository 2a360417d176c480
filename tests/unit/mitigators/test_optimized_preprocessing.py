"""Optimized pre-processing: the program by hand and against the plain one, and the rewriting."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from isonomy.errors import InputError, NotApplicable
from isonomy.mitigators import OptimizedPreprocessing
from isonomy.mitigators.optimized_preprocessing import (
    ADULT,
    Costs,
    Distortion,
    _deal,
    _draw,
    optimal_mapping,
)


def full_program(counts, distortion, epsilon, clist, dlist) -> float:
    """The program of the paper with every variable and both halves of the distance."""
    groups, cells = counts.shape
    p = counts / counts.sum()
    joint = p.sum(axis=0)
    n = groups * cells * cells

    def block(weight: np.ndarray) -> np.ndarray:
        return weight.reshape(-1)

    A, b = [], []
    for j in range(cells):
        pick = np.zeros((groups, cells, cells))
        pick[:, :, j] = p
        slack = np.eye(cells)[j]
        A += [np.r_[block(pick), -slack], np.r_[-block(pick), -slack]]
        b += [joint[j], -joint[j]]
    for c, share in zip(clist, dlist, strict=True):
        for i in np.flatnonzero(joint):
            pick = np.zeros((groups, cells, cells))
            pick[:, i, :] = (p[:, i] / joint[i])[:, None] * (distortion[i] >= c)
            A.append(np.r_[block(pick), np.zeros(cells)])
            b.append(share)
    for g in range(groups):
        for h in range(groups):
            for label in (0, 1):
                pick = np.zeros((groups, cells, cells))
                good = np.arange(cells) % 2 == label
                pick[g][:, good] += (p[g] / p[g].sum())[:, None]
                pick[h][:, good] -= (p[h] / p[h].sum())[:, None]
                A.append(np.r_[block(pick), np.zeros(cells)])
                b.append(epsilon)
    E = np.zeros((groups * cells, n + cells))
    for r in range(groups * cells):
        E[r, r * cells : (r + 1) * cells] = 1
    cost = np.r_[np.zeros(n), np.full(cells, 0.5)]
    return linprog(cost, np.array(A), b, E, np.ones(len(E)), bounds=(0, None)).fun


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_reduced_program_has_the_optimum_of_the_full_one(seed: int, groups: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 20, (groups, 6))
    counts[0, 1::2] //= 2
    x, y = np.arange(6) // 2, np.arange(6) % 2
    distortion = np.abs(x[:, None] - x) * 1.0 + (y[:, None] != y)
    limits = {"epsilon": 0.05, "clist": [0.99, 1.99], "dlist": [0.4, 0.0]}
    mapping, objective = optimal_mapping(counts, distortion, **limits)
    assert objective == pytest.approx(full_program(counts, distortion, **limits), abs=1e-9)

    p = counts / counts.sum()
    np.testing.assert_allclose(mapping.sum(axis=2), 1)
    new = np.einsum("gi,gij->j", p, mapping)
    assert np.abs(new - p.sum(axis=0)).sum() / 2 == pytest.approx(objective, abs=1e-6)
    rates = np.einsum("gi,gij->gj", p, mapping)[:, 1::2].sum(axis=1) / p.sum(axis=1)
    assert np.ptp(rates) <= 0.05 + 1e-6
    for c, share in zip(limits["clist"], limits["dlist"], strict=True):
        moved = np.einsum("gi,gij->i", p, mapping * (distortion >= c))
        assert (moved <= share * p.sum(axis=0) + 1e-7).all()
    empty = np.argwhere(counts == 0)
    for g, i in empty:
        assert mapping[g, i, i] == 1


def test_by_hand_one_cell() -> None:
    """Rates .8 and .2; the label may change for half the rows: the mean label can stay."""
    counts = np.array([[80, 20], [20, 80]])
    _, objective = optimal_mapping(counts, 1 - np.eye(2), epsilon=0.0, clist=[0.5], dlist=[1.0])
    assert objective == pytest.approx(0, abs=1e-9)
    with pytest.raises(NotApplicable, match=r"within epsilon=0\.0"):
        optimal_mapping(counts, 1 - np.eye(2), epsilon=0.0, clist=[0.5], dlist=[0.0])


def test_draws_invert_the_distribution_function() -> None:
    mapping = np.array([[0.25, 0.0, 0.75], [0.0, 1.0, 0.0]])
    draw = np.array([0.0, 0.24, 0.25, 0.99, 0.0, 1.0])
    found = _draw(mapping, np.array([0, 0, 0, 0, 1, 1]), draw)
    assert found.tolist() == [0, 0, 2, 2, 1, 1]


def test_dealt_draws_are_spread_evenly_in_each_cell() -> None:
    row = np.random.default_rng(0).integers(0, 4, 1000)
    draw = _deal(row, np.random.RandomState(0))
    for cell in range(4):
        u = np.sort(draw[row == cell])
        expected = np.arange(len(u)) / len(u)
        assert ((u >= expected) & (u < expected + 1 / len(u) + 1e-12)).all()
    dealt = _draw(np.tile([[0.3, 0.7]], (4, 1)), row, draw)
    for cell in range(4):
        n = (row == cell).sum()
        assert abs((dealt[row == cell] == 0).sum() - 0.3 * n) <= 1


@pytest.fixture
def people() -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    s = rng.integers(0, 2, 2000)
    X = pd.DataFrame(
        {
            "sex": s,
            "skill": rng.integers(0, 4, 2000),
            "job": pd.Categorical(rng.choice(["clerk", "cook"], 2000)),
            "note": rng.normal(size=2000),
        }
    )
    return X, (X["skill"] + 0.8 * s + rng.normal(size=2000) > 1.8).astype(int).to_numpy(), s


def test_rows_are_rewritten_within_the_limits(people) -> None:
    X, y, s = people
    m = OptimizedPreprocessing(columns=["skill", "job"], sensitive_columns="sex")
    T, new, *_ = m.resample(X, y, s)
    gap = [abs(label[s == 1].mean() - label[s == 0].mean()) for label in (y, new)]
    assert gap[0] > 0.15
    assert gap[1] < 0.055, "epsilon, and what dealing out whole rows adds"
    pd.testing.assert_frame_equal(T[["sex", "note"]], X[["sex", "note"]])
    assert T.dtypes.equals(X.dtypes)
    step = np.abs(T["skill"] - X["skill"])
    price = step + 2 * (T["job"] != X["job"]) + np.where(new > y, 1, np.where(new < y, 2, 0))
    assert (price < 2.99).all(), "what dlist forbids never happens"
    assert 0 < (price > 0).mean() < 0.12


def test_published_draws_differ_row_by_row(people) -> None:
    X, y, s = people
    m = OptimizedPreprocessing(
        columns=["skill", "job"], sensitive_columns="sex", protocol="as_published"
    )
    _, new, *_ = m.resample(X, y, s)
    assert abs(abs(new[s == 1].mean() - new[s == 0].mean()) - 0.05) < 0.03


def test_weights_count_as_rows(people) -> None:
    X, y, s = people
    w = np.where(s == 1, 2.0, 1.0)
    again = np.repeat(np.arange(len(y)), w.astype(int))
    options = {"columns": ["skill", "job"], "sensitive_columns": "sex"}
    weighted, repeated = OptimizedPreprocessing(**options), OptimizedPreprocessing(**options)
    weighted.resample(X, y, s, w)
    repeated.resample(X.iloc[again], y[again], s[again])
    assert weighted.objective_ == pytest.approx(repeated.objective_, abs=1e-9)


def test_a_callable_prices_changes(people) -> None:
    X, y, s = people
    spec = Distortion(label=((0, 1), (1, 0)), other=3.0)

    def price(old, new):
        kept = (old["skill"] == new["skill"]) & (old["job"] == new["job"])
        return 1.0 * (old["label"] != new["label"]) + np.where(kept, 0, 3)

    options = {"columns": ["skill", "job"], "sensitive_columns": "sex", "dlist": (0.3, 0.1, 0.0)}
    a = OptimizedPreprocessing(distortion=spec, **options)
    b = OptimizedPreprocessing(distortion=price, **options)
    a.resample(X, y, s)
    b.resample(X, y, s)
    assert a.objective_ == pytest.approx(b.objective_, abs=1e-9)


def test_costs_as_data() -> None:
    assert Costs.ranked("a", "b", "c").table[0] == (0, 1, 2)
    steps = Costs.stepped("abcd", down=(2, 3), up=(0, 3))
    assert steps.table[1] == (2, 0.0, 0, 3)
    assert steps.table[3] == (3, 3, 2, 0.0)
    age = ADULT.columns["Age (decade)"]
    assert age.table[0][:3] == (0.0, 2, 3)


def test_refusals_in_words(people) -> None:
    X, y, s = people
    with pytest.raises(NotApplicable, match="combinations of the columns' values"):
        OptimizedPreprocessing(sensitive_columns="sex").resample(X, y, s)
    with pytest.raises(InputError, match="must not name the protected"):
        OptimizedPreprocessing(columns=["sex"], sensitive_columns="sex").resample(X, y, s)
    with pytest.raises(InputError, match="of one length"):
        OptimizedPreprocessing(clist=(1,), sensitive_columns="sex").resample(X, y, s)
    table = Distortion({"skill": Costs.ranked(0, 1, 2)})
    with pytest.raises(InputError, match=r"must hold the levels .* got 3"):
        OptimizedPreprocessing(
            columns=["skill"], sensitive_columns="sex", distortion=table
        ).resample(X, y, s)
    with pytest.raises(InputError, match="'sum' and 'max'"):
        OptimizedPreprocessing(
            columns=["job"], sensitive_columns="sex", distortion=Distortion(combine="mean")
        ).resample(X, y, s)


def test_end_to_end_with_words_and_the_default_learner(people) -> None:
    X, y, _ = people
    m = OptimizedPreprocessing(columns=["skill", "job"], sensitive_columns="sex")
    labels = m.fit(X.drop(columns="note"), y, sensitive_features=X["sex"]).predict(
        X.drop(columns="note")
    )
    assert np.mean(labels == y) > 0.7


def test_missing_values_make_it_not_applicable() -> None:
    X = pd.DataFrame({"g": [0, 1] * 4, "level": ["a", None, "b", "a"] * 2})
    with pytest.raises(NotApplicable, match="'level' has missing ones"):
        OptimizedPreprocessing(sensitive_columns="g").fit(
            X, [0, 1, 1, 0] * 2, sensitive_features=X["g"]
        )
