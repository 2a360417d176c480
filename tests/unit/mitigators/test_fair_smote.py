"""Fair-SMOTE: the generator row for row, balance, domain, situation testing, refusals."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from isonomy.data import make_splits, prepare, rows_of
from isonomy.errors import InputError, NotApplicable, UnknownName
from isonomy.mitigators import FairSmote
from isonomy.mitigators._neighbors import tie_unit
from isonomy.mitigators._synthesis import column_kinds
from tests.registry import real

F, CR = 0.8, 0.8


def case(seed=0, n=200, groups=2):
    """Make a table of a group, a whole number, a fraction and a one-hot block of three."""
    rng = np.random.default_rng(seed)
    s = rng.integers(0, groups, n)
    level = rng.integers(0, 3, n)
    X = np.column_stack(
        [s, rng.integers(1, 9, n), rng.random(n).round(2), np.eye(3)[level], rng.integers(0, 2, n)]
    )
    y = (X[:, 1] / 8 + X[:, 2] + 0.3 * s + rng.normal(0, 0.3, n) > 1.1).astype(int)
    return X, y, s


def two_nearest(cell, at, published):
    """Rank by squared distance, rounded to the grain of ties, then by place."""
    grain = tie_unit(cell)
    square = [round(float(((row - cell[at]) ** 2).sum()) / grain) for row in cell]
    order = sorted(range(len(cell)), key=lambda i: (square[i], i))
    if published:
        return order[1], order[2]
    others = [i for i in order if i != at]
    return others[0], others[1]


def plain_generator(X, y, s, seed, *, published, categorical):
    """Make the synthetic rows one at a time and value by value, with the same draws."""
    rng = np.random.default_rng(seed)
    classes = int(y.max()) + 1
    counts = {
        (g, c): int(((s == g) & (y == c)).sum()) for g in np.unique(s) for c in range(classes)
    }
    most = max(counts.values())
    low, high = X.min(axis=0), X.max(axis=0)
    whole = [all(v == round(v) for v in X[:, j]) for j in range(X.shape[1])]
    taken = {j for block in categorical for j in block}
    numeric = [j for j in range(X.shape[1]) if j not in taken]
    scaled = (X - low) / np.where(high > low, high - low, 1.0)
    made = []
    for (g, c), count in counts.items():
        need = most - count
        if not need:
            continue
        inside = [i for i in range(len(X)) if s[i] == g and y[i] == c]
        cell = X[inside]
        space = cell if published else scaled[inside]
        parents = rng.integers(0, count, need)
        luck = None if published else rng.random((need, len(numeric)))
        pick = rng.integers(0, 3, (need, len(categorical)))
        for r in range(need):
            parent = cell[parents[r]]
            one, two = two_nearest(space, int(parents[r]), published)
            row = parent.copy()
            for at, j in enumerate(numeric):
                changed = parent[j] + F * (cell[one][j] - cell[two][j])
                if published:
                    row[j] = abs(changed)
                elif luck[r, at] < CR:
                    row[j] = min(max(round(changed) if whole[j] else changed, low[j]), high[j])
            for at, block in enumerate(categorical):
                source = (parent, cell[one], cell[two])[pick[r, at]]
                for j in block:
                    row[j] = source[j]
            made.append(row)
    return np.array(made)


@pytest.mark.parametrize("seed", range(5))
def test_the_generator_is_the_plain_loop_row_for_row_as_published(seed: int) -> None:
    X, y, s = case(seed)
    method = FairSmote(
        protocol="as_published",
        situation_testing=False,
        sensitive_columns=[0],
        categorical=[0, 6],
        random_state=seed,
    )
    got, *_ = method.resample(X, y, s)
    expected = plain_generator(X, y, s, seed, published=True, categorical=[(0,), (6,)])
    np.testing.assert_array_equal(got[: len(X)], X)
    np.testing.assert_allclose(got[len(X) :], expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_the_generator_is_the_plain_loop_row_for_row_corrected(seed: int, groups: int) -> None:
    X, y, s = case(seed, 300, groups)
    method = FairSmote(situation_testing=False, sensitive_columns=[0], random_state=seed)
    got, *_ = method.resample(X, y, s)
    blocks = [(0,), (3, 4, 5), (6,)] if groups == 2 else [(3, 4, 5), (6,)]
    assert method.kinds_.blocks == blocks
    expected = plain_generator(X, y, s, seed, published=False, categorical=blocks)
    np.testing.assert_allclose(got[len(X) :], expected, rtol=0, atol=1e-14)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), groups=st.integers(2, 4), n=st.integers(150, 400))
def test_cells_are_equal_and_synthetic_rows_stay_in_the_domain(seed, groups, n) -> None:
    X, y, s = case(seed, n, groups)
    counts = np.bincount(s * 2 + y, minlength=2 * groups)
    method = FairSmote(situation_testing=False, sensitive_columns=[0], random_state=seed)
    if counts.min() < 3:
        with pytest.raises(NotApplicable, match="at least 3 rows"):
            method.resample(X, y, s)
        return
    got, y_new, s_new, _ = method.resample(X, y, s)
    assert set(np.bincount(s_new * 2 + y_new)) == {counts.max()}
    new = got[n:]
    np.testing.assert_array_equal(new[:, 0], s_new[n:])
    assert (new >= X.min(axis=0)).all()
    assert (new <= X.max(axis=0)).all()
    np.testing.assert_array_equal(new[:, 1], np.rint(new[:, 1]))
    np.testing.assert_array_equal(new[:, 3:6].sum(axis=1), 1)
    assert set(np.unique(new[:, 3:])) <= {0.0, 1.0}
    np.testing.assert_array_equal(y[method.origin_], y_new)


def test_as_published_leaves_the_domain() -> None:
    """The slip that corrected mends: one-hot columns are numbers there."""
    X, y, s = case(1)
    got, *_ = FairSmote(
        protocol="as_published", situation_testing=False, sensitive_columns=[0]
    ).resample(X, y, s)
    new = got[len(X) :]
    assert not set(np.unique(new[:, 3:6])) <= {0.0, 1.0}
    assert (new >= 0).all()


def test_crossover_of_the_paper_keeps_a_fifth_of_the_numbers() -> None:
    X, y, s = case(2, 3000)
    share = {}
    for crossover in (True, False):
        method = FairSmote(
            protocol="as_published",
            situation_testing=False,
            sensitive_columns=[0],
            crossover_numeric=crossover,
        )
        got, *_ = method.resample(X, y, s)
        parent = X[method.origin_[len(X) :]]
        share[crossover] = (got[len(X) :, 2] == parent[:, 2]).mean()
    # Kept on purpose, or changed by two neighbours that happen to hold one value.
    assert share[True] == pytest.approx(0.2 + 0.8 * share[False], abs=0.03)


def by_hand(X, y, columns, model, values):
    fitted = model.fit(X, y)
    keep = []
    for row in X:
        labels = set()
        for value in values:
            moved = row.copy()
            moved[columns] = value
            labels.add(int(fitted.predict(moved[None])[0]))
        keep.append(len(labels | {int(fitted.predict(row[None])[0])}) == 1)
    return np.array(keep)


def test_situation_testing_drops_exactly_the_rows_that_a_flip_decides() -> None:
    X, y, s = case(3)
    model = LogisticRegression(solver="liblinear", random_state=0)
    method = FairSmote(
        balance=False, sensitive_columns=[0], situation_model=model, protocol="as_published"
    )
    got, *_ = method.resample(X, y, s)
    keep = by_hand(X, y, [0], model, [[0.0], [1.0]])
    assert 0 < method.n_removed_ == (~keep).sum()
    np.testing.assert_array_equal(got[:, 1:], X[keep, 1:])
    np.testing.assert_array_equal(got[:, 0], 1 - X[keep, 0], "the released loop leaves the flip")
    method = FairSmote(balance=False, sensitive_columns=[0], situation_model=model)
    np.testing.assert_array_equal(method.resample(X, y, s)[0], X[keep])


def test_situations_of_three_groups_are_all_tried() -> None:
    X, y, s = case(4, 300, 3)
    model = LogisticRegression(max_iter=500)
    method = FairSmote(balance=False, sensitive_columns=[0], situation_model=model)
    method.resample(X, y, s)
    keep = by_hand(X, y, [0], model, [[0.0], [1.0], [2.0]])
    np.testing.assert_array_equal(np.flatnonzero(keep), method.origin_)


def test_a_one_hot_attribute_is_found_and_swapped_as_a_whole() -> None:
    X, y, s = case(5, 300, 3)
    X = np.column_stack([np.eye(3)[s], X[:, 1:]])
    method = FairSmote(balance=False, situation_model=LogisticRegression(max_iter=500))
    method.resample(X, y, s)
    keep = by_hand(X, y, [0, 1, 2], LogisticRegression(max_iter=500), np.eye(3))
    np.testing.assert_array_equal(np.flatnonzero(keep), method.origin_)


def test_the_situation_model_may_be_the_base_learner() -> None:
    X, y, s = case(6)
    base = LogisticRegression(C=0.01, random_state=0)
    same = FairSmote(base, situation_model="same", sensitive_columns=[0])
    given_ = FairSmote(base, situation_model=base, sensitive_columns=[0])
    np.testing.assert_array_equal(same.resample(X, y, s)[0], given_.resample(X, y, s)[0])
    with pytest.raises(UnknownName, match="same"):
        FairSmote(situation_model="sme", sensitive_columns=[0]).resample(X, y, s)


def test_as_published_each_protected_column_is_turned_alone() -> None:
    X, y, s = case(8, 400)
    second = np.arange(len(y)) // 2 % 2
    X = np.column_stack([s, second, X[:, 1:]])
    y = (X[:, 2] + 0.8 * s - 0.8 * second > np.median(X[:, 2])).astype(int)
    model = LogisticRegression(solver="liblinear", random_state=0)
    fitted = LogisticRegression(solver="liblinear", random_state=0).fit(X, y)
    given = {"sex": s, "race": second}
    how: dict[str, Any] = {
        "balance": False,
        "sensitive_columns": [0, 1],
        "situation_model": model,
        "keep_flip": False,
        "protocol": "as_published",
    }

    def kept(*moves: tuple[int, Any]) -> np.ndarray:
        same = np.ones(len(X), dtype=bool)
        for column, value in moves:
            moved = X.copy()
            moved[:, column] = 1 - X[:, column] if value is None else value
            same &= fitted.predict(moved) == fitted.predict(X)
        return np.flatnonzero(same)

    alone = FairSmote(**how).fit(X, y, sensitive_features=given)
    np.testing.assert_array_equal(alone.origin_, kept((0, None), (1, None)))
    one = FairSmote(**how, situation_value=1).fit(X, y, sensitive_features=given)
    np.testing.assert_array_equal(one.origin_, kept((0, 1), (1, 1)))
    dropped = np.setdiff1d(np.arange(len(X)), one.origin_)
    assert dropped.size
    assert (X[dropped, :2].min(axis=1) == 0).all(), "who is privileged in both is never dropped"


def test_situations_may_be_tested_by_a_forest_of_the_original_rows() -> None:
    X, y, s = case(9)
    method = FairSmote(
        sensitive_columns=[0],
        situation_model="forest",
        situation_rows="original",
        random_state=3,
        keep_flip=False,
        protocol="as_published",
    )
    got, *_ = method.resample(X, y, s)
    plain = FairSmote(sensitive_columns=[0], situation_testing=False, protocol="as_published", random_state=3)  # fmt: skip
    balanced, *_ = plain.resample(X, y, s)
    forest = RandomForestClassifier(random_state=3).fit(X, y)
    turned = balanced.copy()
    turned[:, 0] = 1 - turned[:, 0]
    keep = forest.predict(turned) == forest.predict(balanced)
    assert (~keep).sum() > 0
    np.testing.assert_array_equal(got, balanced[keep])
    with pytest.raises(InputError, match="situation_rows"):
        FairSmote(sensitive_columns=[0], situation_rows="all").resample(X, y, s)


def test_a_small_cell_is_refused_with_its_count() -> None:
    X, y, s = case(7)
    y[s == 0] = 0
    y[np.flatnonzero(s == 0)[:2]] = 1
    words = np.where(s == 1, "b", "a")
    frame = pd.DataFrame(X[:, 1:])
    frame.columns = frame.columns.astype(str)
    with pytest.raises(NotApplicable, match=r"\('a', 1\) has fewer \(the first has 2\)"):
        FairSmote().fit(frame, y, sensitive_features=words)


def test_a_group_with_several_values_in_the_protected_column_is_refused() -> None:
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, 300).astype(float)
    X = pd.DataFrame({"age": age, "skill": rng.random(300)})
    y = (X["skill"] + 0.3 * (age > 40) > 0.6).astype(int)
    with pytest.raises(NotApplicable, match="one value there"):
        FairSmote(sensitive_columns="age").fit(X, y, sensitive_features=age > 40)


def test_weights_ride_along_with_the_parent() -> None:
    X, y, s = case(8)
    w = np.random.default_rng(0).random(len(y))
    method = FairSmote(sensitive_columns=[0])
    *_, got = method.resample(X, y, s, w)
    np.testing.assert_array_equal(got, w[method.origin_])


def test_columns_are_told_apart() -> None:
    X = np.array([[0.0, 1, 0, 1, 5, 0.5], [1, 0, 1, 0, 2, 0.1], [1, 1, 0, 0, 3, 0.2]])
    kinds = column_kinds(X, None)
    assert kinds.blocks == [(0,), (1, 2), (3,)]
    assert kinds.numeric.tolist() == [4, 5]
    assert kinds.whole.tolist() == [True] * 5 + [False]


def test_sex_and_race_on_adult() -> None:
    """Eight cells become equal, test rows are not looked at, the parts of both are swapped."""
    data = real("adult")
    split = make_splits(data, splitter="chen", rows=rows_of(data, "chen"))[0]
    ready = prepare(data, "chen", attribute="sex", split=split)
    columns = [ready.columns[a] for a in ("sex", "race")]
    X, y = ready.X_train[:6000], ready.y_train[:6000].astype(int)
    both = pd.DataFrame(X[:, columns], columns=["sex", "race"])
    method = FairSmote(sensitive_columns=columns, situation_testing=False)
    method.fit(X, y, sensitive_features=both)
    assert len(method.groups_) == 4
    cells = np.bincount((method._encoder.encode(both, len(X)) * 2 + y)[method.origin_], minlength=8)
    assert set(cells) == {cells.max()}
    assert (
        cells.max()
        == pd.Series(zip(both["sex"], both["race"], y, strict=True)).value_counts().max()
    )
    tested = FairSmote(sensitive_columns=columns).fit(X, y, sensitive_features=both)
    assert tested.n_removed_ > 0
