"""FairHOME: votes by hand, ties, every way to combine, several attributes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from isonomy.data import make_splits, prepare, rows_of
from isonomy.errors import InputError, NotApplicable, UnknownName
from isonomy.mitigators import FairHome
from tests.registry import real


def case(seed=0, n=500):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 2, (n, 2)), rng.normal(size=(n, 2))])
    y = (X[:, 2] + 0.6 * X[:, 0] - 0.5 * X[:, 1] + rng.normal(0, 0.3, n) > 0.2).astype(int)
    return X, y, pd.DataFrame(X[:, :2], columns=["sex", "race"])


@pytest.mark.parametrize("combine", ["vote", "mean", "confidence"])
@pytest.mark.parametrize("protocol", ["as_published", "corrected"])
def test_by_hand(combine: str, protocol: str) -> None:
    X, y, s = case()
    base = LogisticRegression(random_state=0)
    method = FairHome(base, combine=combine, protocol=protocol, sensitive_columns=[0, 1])
    method.fit(X, y, sensitive_features=s)
    fitted = LogisticRegression(random_state=0).fit(X, y)
    expected, ties = [], 0
    for row in X:
        copies = np.array([[a, b, *row[2:]] for a in (0.0, 1.0) for b in (0.0, 1.0)])
        p = fitted.predict_proba(copies)[:, 1]
        if combine == "vote":
            votes = int(fitted.predict(copies).sum())
            ties += votes == 2
            label = votes >= 2
            if votes == 2 and protocol == "corrected":
                label = p.mean() >= 0.5
        elif combine == "mean":
            label = p.mean() >= 0.5
        else:
            trust = np.abs(p - 0.5)
            label = (p * trust).sum() / trust.sum() >= 0.5
        expected.append(int(label))
    np.testing.assert_array_equal(method.predict(X), expected)
    assert combine != "vote" or ties > 0


def test_rows_that_differ_in_the_group_only_fare_alike() -> None:
    X, y, s = case(1)
    method = FairHome(sensitive_columns=[0, 1]).fit(X, y, sensitive_features=s)
    usual = method.predict(X)
    for columns in ([0], [1], [0, 1]):
        moved = X.copy()
        moved[:, columns] = 1 - moved[:, columns]
        np.testing.assert_array_equal(method.predict(moved), usual)
    assert method.mutants_.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]


def test_two_votes_tie_on_every_disagreement() -> None:
    X, y, s = case(2)
    base = LogisticRegression(random_state=0)
    method = FairHome(base, protocol="as_published", sensitive_columns=[0])
    method.fit(X, y, sensitive_features=s["sex"])
    fitted = LogisticRegression(random_state=0).fit(X, y)
    moved = X.copy()
    moved[:, 0] = 1 - moved[:, 0]
    either = fitted.predict(X) | fitted.predict(moved)
    np.testing.assert_array_equal(method.predict(X), either)


def test_a_model_in_production_is_wrapped_as_it_is() -> None:
    X, y, s = case(3)
    fitted = LogisticRegression(random_state=0).fit(X, y)
    method = FairHome(fitted, prefit=True, sensitive_columns=[0, 1])
    method.fit(X[:100], y[:100], sensitive_features=s[:100])
    assert method.estimator_ is fitted
    with pytest.raises(InputError, match="prefit=True needs an estimator"):
        FairHome(prefit=True).fit(X, y, sensitive_features=s)


def test_without_probabilities_votes_alone_decide() -> None:
    X, y, s = case(4)
    method = FairHome(LinearSVC(random_state=0), sensitive_columns=[0, 1])
    method.fit(X, y, sensitive_features=s)
    p = method.predict_proba(X)[:, 1]
    assert set(np.unique(p)) <= {0, 0.25, 0.5, 0.75, 1}
    np.testing.assert_array_equal(method.predict(X), p >= 0.5)


def test_what_it_refuses() -> None:
    X, y, s = case(5)
    with pytest.raises(NotApplicable, match="found none"):
        FairHome().fit(X[:, 2:], y, sensitive_features=s["sex"].to_numpy())
    with pytest.raises(UnknownName, match="vote"):
        FairHome(combine="votes", sensitive_columns=[0]).fit(X, y, sensitive_features=s["sex"])


def test_sex_and_race_on_adult() -> None:
    data = real("adult")
    split = make_splits(data, splitter="chen", rows=rows_of(data, "chen"))[0]
    ready = prepare(data, "chen", attribute="sex", split=split)
    columns = [ready.columns[a] for a in ("sex", "race")]
    X, y = ready.X_train[:8000], ready.y_train[:8000].astype(int)
    both = pd.DataFrame(X[:, columns], columns=["sex", "race"])
    method = FairHome(sensitive_columns=columns).fit(X, y, sensitive_features=both)
    assert method.mutants_.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    test = ready.X_test.copy()
    usual = method.predict(test)
    test[:, columns] = 1 - test[:, columns]
    np.testing.assert_array_equal(method.predict(test), usual)
