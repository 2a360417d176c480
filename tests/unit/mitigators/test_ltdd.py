"""LTDD: against a regression written out, with weights, many groups, and what it leaves alone."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import f_oneway, linregress
from sklearn.linear_model import LogisticRegression

from isonomy.errors import InputError, NotApplicable
from isonomy.mitigators import Ltdd
from isonomy.mitigators.ltdd import group_means


def case(n: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    s = rng.integers(0, 2, n)
    X = np.column_stack([s, rng.normal(size=n) + s, rng.normal(size=n), rng.poisson(3 + s, n)])
    return X, (X[:, 1] + rng.normal(size=n) > 0.5).astype(int), s


@pytest.mark.parametrize("protocol", ["as_published", "corrected"])
def test_as_a_regression_of_each_column_does_it(protocol: str) -> None:
    X, y, s = case()
    test = X[:50].copy()
    expected, changed = [X.copy(), test.copy()], []
    for column in (1, 2, 3):
        line = linregress(s, X[:, column])
        if line.pvalue < 0.05:
            changed.append(column)
            for part in expected:
                part[:, column] -= line.slope * part[:, 0] + line.intercept
    method = Ltdd(LogisticRegression(), protocol=protocol, sensitive_columns=0)
    method.fit(X, y, sensitive_features=s)
    assert method.changed_columns_ == changed
    assert 0 < len(changed) < 3
    fitted = LogisticRegression().fit(expected[0][:, 1:], y)
    np.testing.assert_allclose(
        method.predict_proba(test, sensitive_features=s[:50]),
        fitted.predict_proba(expected[1][:, 1:]),
        atol=1e-6,
    )


def test_the_test_of_many_groups_is_that_of_scipy() -> None:
    rng = np.random.default_rng(1)
    s = rng.integers(0, 4, 300)
    matrix = rng.normal(size=(300, 3)) + np.outer(s, [0.0, 0.1, 1.0])
    means, p = group_means(matrix, s, np.ones(300), 4)
    for k in range(3):
        groups = [matrix[s == g, k] for g in range(4)]
        np.testing.assert_allclose(means[:, k], [g.mean() for g in groups])
        assert p[k] == pytest.approx(f_oneway(*groups).pvalue)


def test_columns_without_spread() -> None:
    s = np.repeat([0, 1], 5)
    constant, group = np.full(10, 7.3), s * 2.0
    _, p = group_means(np.column_stack([constant, group]), s, np.ones(10), 2)
    assert p.tolist() == [1.0, 0.0]


def test_weights_count_in_the_means_when_corrected() -> None:
    X, y, s = case()
    w = np.where(X[:, 1] > 1, 5.0, 1.0)
    corrected = Ltdd(sensitive_columns=0).fit(X, y, sensitive_features=s, sample_weight=w)
    at = corrected.changed_columns_.index(1)
    expected = np.average(X[s == 0, 1], weights=w[s == 0])
    assert corrected.means_[0, at] == pytest.approx(expected)
    published = Ltdd(sensitive_columns=0, protocol="as_published")
    published.fit(X, y, sensitive_features=s, sample_weight=w)
    assert published.means_[0, at] == pytest.approx(X[s == 0, 1].mean())


def test_intersections_have_means_of_their_own() -> None:
    rng = np.random.default_rng(2)
    groups = pd.DataFrame(rng.integers(0, 2, (600, 2)), columns=["sex", "race"])
    skill = rng.normal(size=600) + 2 * groups["sex"] * groups["race"]
    X = groups.assign(skill=skill)
    y = (skill + rng.normal(size=600) > 1).astype(int)
    method = Ltdd().fit(X, y, sensitive_features=groups)
    left = method.transform(X, groups.to_numpy() @ [2, 1])
    assert list(left.columns) == ["skill"]
    np.testing.assert_allclose(
        left["skill"].groupby([groups["sex"], groups["race"]]).mean(), 0, atol=1e-12
    )
    with pytest.raises(NotApplicable, match="as published takes two groups and there are 4"):
        Ltdd(protocol="as_published").fit(X, y, sensitive_features=groups)


def test_a_column_must_be_left() -> None:
    with pytest.raises(InputError, match="a column to learn from"):
        Ltdd(sensitive_columns=0).fit(np.array([[0], [1], [0], [1]]), [0, 1, 1, 0])
