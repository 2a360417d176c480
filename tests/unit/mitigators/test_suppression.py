"""Suppression: the column is gone, and what it leaves behind is not."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from isonomy.errors import InputError
from isonomy.mitigators import Suppression


@pytest.fixture
def rows() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    s = rng.integers(0, 2, 200)
    X = pd.DataFrame({"a": rng.normal(size=200), "sex": s, "proxy": s + rng.normal(0, 0.1, 200)})
    return X, (X["a"] + 2 * s + rng.normal(size=200) > 1).astype(int).to_numpy()


def test_the_learner_never_sees_the_column(rows) -> None:
    X, y = rows
    m = Suppression(LogisticRegression()).fit(X, y, sensitive_features=X["sex"])
    assert list(m.estimator_.feature_names_in_) == ["a", "proxy"]
    flipped = X.assign(sex=1 - X["sex"])
    np.testing.assert_array_equal(m.predict(X), m.predict(flipped))


def test_a_proxy_keeps_the_disparity(rows) -> None:
    X, y = rows
    labels = Suppression().fit(X, y, sensitive_features=X["sex"]).predict(X)
    by_group = [labels[X["sex"] == g].mean() for g in (0, 1)]
    assert by_group[1] - by_group[0] > 0.4


def test_columns_must_be_known_and_something_must_stay(rows) -> None:
    X, y = rows
    with pytest.raises(InputError, match="pass sensitive_columns"):
        Suppression().fit(X.to_numpy(), y, sensitive_features=X["sex"])
    with pytest.raises(InputError, match="leave a column"):
        Suppression().fit(X[["sex"]], y, sensitive_features=X["sex"])


def test_the_stage_alone_takes_positions() -> None:
    X = np.arange(12.0).reshape(4, 3)
    np.testing.assert_array_equal(Suppression(sensitive_columns=-1).transform(X), X[:, :2])
