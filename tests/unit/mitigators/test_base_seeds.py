"""One seed, one answer: whatever learner without a seed a mitigator is given."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from isonomy.errors import NotApplicable
from isonomy.mitigators import MITIGATORS

QUICK: dict[str, dict[str, Any]] = {
    "adversarial_debiasing": {"n_epochs": 3},
    "ecd_fair": {"budget": 4},
    "exponentiated_gradient": {"max_iter": 3},
    "fairway": {"budget": 12},
    "grid_search": {"grid_size": 4},
    "minimax": {"rounds": 6},
    "optimized_preprocessing": {"epsilon": 0.6},
}
RNG = np.random.default_rng(0)
S = RNG.integers(0, 2, 200)
X = np.column_stack([np.round(RNG.normal(size=200) + S), RNG.integers(0, 3, 200), S]).astype(float)
Y = (X[:, 0] + X[:, 1] + RNG.normal(size=200) > 1.5).astype(int)
EXTREME = 10.0 ** RNG.choice([-6, 0, 3], 200)


def predictions(name: str, weight: Any, **options: Any) -> Any:
    model = MITIGATORS[name](
        **options, **QUICK.get(name, {}), random_state=5, sensitive_columns=[2]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few trees, rounds and steps
        model.fit(X, Y, sensitive_features=S, sample_weight=weight)
        return model.predict(X, sensitive_features=S)


@pytest.mark.parametrize("protocol", ["corrected", "as_published"])
@pytest.mark.parametrize("name", MITIGATORS)
def test_an_unseeded_learner_gets_the_seed(name: str, protocol: str) -> None:
    # of logistic regressions, this solver alone draws random numbers
    learner: Any = RandomForestClassifier(n_estimators=3)
    if (name, protocol) in {
        ("fairway", "as_published"),
        ("calibrated_equalized_odds", "corrected"),
    }:
        learner = LogisticRegression(solver="liblinear")
    options = {"estimator": learner, "protocol": protocol}
    first = predictions(name, None, **options)
    for _ in range(2):
        np.testing.assert_array_equal(predictions(name, None, **options), first)
    try:
        weighted = predictions(name, EXTREME, **options)
    except NotApplicable:
        return  # a method without weights, or for which these are too extreme
    np.testing.assert_array_equal(predictions(name, EXTREME, **options), weighted)
