"""FairMask: the masked values by hand, SMOTE's points, several attributes."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from isonomy.data import make_splits, prepare, rows_of
from isonomy.errors import NotApplicable
from isonomy.mitigators import FairMask
from isonomy.mitigators.fair_mask import smote
from tests.registry import real


def case(seed=0, n=500, values=2):
    rng = np.random.default_rng(seed)
    s = rng.integers(0, values, n)
    X = np.column_stack([s, rng.normal(size=n) + 0.5 * s, rng.normal(size=n)])
    y = (X[:, 2] + 0.6 * s + rng.normal(0, 0.3, n) > 0.4).astype(int)
    return X, y, s


def test_masks_by_hand() -> None:
    X, y, s = case()
    base, tree = LogisticRegression(random_state=0), DecisionTreeRegressor(random_state=3)
    method = FairMask(base, extrapolator=tree, oversample=False, sensitive_columns=[0])
    method.fit(X, y, sensitive_features=s)
    chance = LogisticRegression(random_state=0).fit(X[:, 1:], s).predict_proba(X[:, 1:])[:, 1]
    guess = DecisionTreeRegressor(random_state=3).fit(X[:, 1:], chance).predict(X[:, 1:])
    masked = np.column_stack([guess >= 0.5, X[:, 1:]])
    expected = LogisticRegression(random_state=0).fit(X, y)
    np.testing.assert_array_equal(method.predict(X), expected.predict(masked))
    np.testing.assert_allclose(method.predict_proba(X), expected.predict_proba(masked))


def test_a_pipeline_may_select_its_columns() -> None:
    X, y, s = case()
    frame = pd.DataFrame(X, columns=["sex", "a", "b"])
    every = make_column_selector(dtype_include="number")
    learner = make_pipeline(
        make_column_transformer((StandardScaler(), every)), LogisticRegression()
    )
    found = FairMask(learner, random_state=0).fit(frame, y, sensitive_features=frame["sex"])
    plain = make_pipeline(StandardScaler(), LogisticRegression())
    expected = FairMask(plain, random_state=0, sensitive_columns=[0])
    expected.fit(X, y, sensitive_features=s)
    np.testing.assert_allclose(found.predict_proba(frame), expected.predict_proba(X))


def test_the_own_value_of_a_row_never_counts() -> None:
    X, y, s = case(1)
    method = FairMask(sensitive_columns=[0]).fit(X, y, sensitive_features=s)
    moved = X.copy()
    moved[:, 0] = 1 - moved[:, 0]
    np.testing.assert_array_equal(method.predict(moved), method.predict(X))


def test_three_values_and_what_is_refused() -> None:
    X, y, s = case(2, values=3)
    method = FairMask(sensitive_columns=[0]).fit(X, y, sensitive_features=s)
    masked = method.transform(X)
    assert set(np.unique(masked[:, 0])) == {0.0, 1.0, 2.0}
    with pytest.raises(NotApplicable, match="2 to 2 values; column 0 has 3"):
        FairMask(sensitive_columns=[0], protocol="as_published").fit(X, y, sensitive_features=s)
    with pytest.raises(NotApplicable, match="column 1 has"):
        FairMask(sensitive_columns=[1]).fit(X, y, sensitive_features=s)
    with pytest.raises(NotApplicable, match="found none"):
        FairMask().fit(X[:, 1:], y, sensitive_features=s)
    with pytest.raises(NotApplicable, match="no others"):
        FairMask(sensitive_columns=[0]).fit(X[:, :1], y, sensitive_features=s)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(8, 80), classes=st.integers(2, 4))
def test_smote_balances_with_points_between_rows_of_one_class(seed, n, classes) -> None:
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(n, 2)), rng.integers(0, classes, n)
    got, of = smote(X, labels, np.random.default_rng(seed))
    counts = np.bincount(of)
    assert set(counts[counts > 0]) == {np.bincount(labels).max()}
    np.testing.assert_array_equal(got[:n], X)
    for point, label in zip(got[n:], of[n:], strict=True):
        inside = X[labels == label]
        assert (point >= inside.min(axis=0) - 1e-12).all()
        assert (point <= inside.max(axis=0) + 1e-12).all()
        # On the line between two rows of the class: the triangle has no area.
        a, b = inside[:, None], inside[None]
        area = (a[..., 0] - point[0]) * (b[..., 1] - point[1]) - (a[..., 1] - point[1]) * (
            b[..., 0] - point[0]
        )
        off = ~np.eye(len(inside), dtype=bool)
        assert len(inside) == 1 or np.abs(area[off]).min() < 1e-9


def test_sex_and_race_on_adult() -> None:
    """Each attribute has a model of its own; both columns are masked."""
    data = real("adult")
    split = make_splits(data, splitter="chen", rows=rows_of(data, "chen"))[0]
    ready = prepare(data, "chen", attribute="sex", split=split)
    columns = [ready.columns[a] for a in ("sex", "race")]
    X, y = ready.X_train[:5000], ready.y_train[:5000].astype(int)
    both = pd.DataFrame(X[:, columns], columns=["sex", "race"])
    method = FairMask(sensitive_columns=columns).fit(X, y, sensitive_features=both)
    assert len(method.extrapolators_) == 2
    test = ready.X_test.copy()
    usual = method.predict(test)
    test[:, columns] = 1 - test[:, columns]
    np.testing.assert_array_equal(method.predict(test), usual)


def test_from_the_old_stream_one_number_is_a_parent_and_its_neighbour() -> None:
    """As imbalanced-learn draws: a cell of the table of parents by neighbours, then how far."""
    rng = np.random.default_rng(2)
    X, labels = rng.normal(size=(40, 3)), np.repeat([0, 1], [12, 28])
    got, _ = smote(X, labels, np.random.RandomState(7))
    stream, few = np.random.RandomState(7), X[:12]
    cell, gap = stream.randint(0, 12 * 5, size=16), stream.uniform(size=16)
    near = np.argsort(((few[:, None] - few[None]) ** 2).sum(axis=2), axis=1)[:, 1:6]
    parents, neighbours = few[cell // 5], few[near[cell // 5, cell % 5]]
    np.testing.assert_allclose(got[40:], parents + gap[:, None] * (neighbours - parents))
