"""Unmitigated: exactly the base learner."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from isonomy.mitigators import Unmitigated


def test_it_is_the_base_learner() -> None:
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(100, 2)), rng.uniform(0.5, 2, 100)
    y = np.where(X[:, 0] + rng.normal(size=100) > 0, "no", "yes")
    m = Unmitigated(LogisticRegression(), favorable="yes")
    m.fit(X, y, sensitive_features=rng.integers(0, 3, 100), sample_weight=w)
    base = LogisticRegression().fit(X, y, sample_weight=w)
    np.testing.assert_array_equal(m.predict(X), base.predict(X))
    np.testing.assert_array_equal(m.predict_proba(X), base.predict_proba(X))
    assert m.score(X, y) == base.score(X, y)
