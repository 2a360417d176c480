"""Group thresholds against fairlearn's ThresholdOptimizer, live: same constraint, no worse."""

import numpy as np
import pandas as pd
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from sklearn.base import BaseEstimator, ClassifierMixin

from isonomy.mitigators import FairnessConstrainedThresholds

OURS = {
    "demographic_parity": "demographic_parity",
    "true_positive_rate_parity": "equal_opportunity",
    "false_positive_rate_parity": "predictive_equality",
    "equalized_odds": "equalized_odds",
}


class GivenScores(ClassifierMixin, BaseEstimator):
    """A fitted model whose only feature is its score."""

    def __init__(self) -> None:
        self.classes_ = np.array([0, 1])
        self.fitted_ = True

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        p = np.asarray(X)[:, 0]
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return (np.asarray(X)[:, 0] > 0.5).astype(int)


def data(seed: int, groups: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n = 600
    s = rng.integers(0, groups, n)
    z = rng.normal(0.3 * s - 0.4, 1)
    y = (z + rng.normal(0, 1, n) > 0).astype(int)
    return 1 / (1 + np.exp(-1.5 * z)), y, s


def spreads(p: np.ndarray, y: np.ndarray, s: np.ndarray, constraint: str) -> np.ndarray:
    rows = {
        "demographic_parity": [y >= 0],
        "true_positive_rate_parity": [y == 1],
        "false_positive_rate_parity": [y == 0],
        "equalized_odds": [y == 1, y == 0],
    }[constraint]
    return np.array([np.ptp([p[r & (s == g)].mean() for g in np.unique(s)]) for r in rows])


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("objective", ["accuracy", "balanced_accuracy"])
@pytest.mark.parametrize(
    ("constraint", "tolerance"),
    # fairlearn does not relax equalised odds
    [(c, t) for c in OURS for t in (0.0, 0.05) if (c, t) != ("equalized_odds", 0.05)],
)
def test_equal_constraint_and_no_worse(
    constraint: str, objective: str, tolerance: float, groups: int
) -> None:
    for seed in range(3):
        scores, y, s = data(seed, groups)
        theirs = ThresholdOptimizer(
            estimator=GivenScores(),
            constraints=constraint,
            objective=f"{objective}_score",
            prefit=True,
            predict_method="predict_proba",
            tol=tolerance or None,
        )
        X = pd.DataFrame({"score": scores})
        theirs.fit(X, y, sensitive_features=s)
        p = theirs._pmf_predict(X, sensitive_features=s)[:, 1]

        ours = FairnessConstrainedThresholds(
            constraint=OURS[constraint], objective=objective, tolerance=tolerance
        )
        ours.fit_scores(scores, (scores > 0.5).astype(int), y, s)
        q = ours.adjust_scores(scores, None, s)

        def worth(p: np.ndarray, y: np.ndarray = y) -> float:
            right = np.where(y == 1, p, 1 - p)
            if objective == "accuracy":
                return float(right.mean())
            return float(right[y == 1].mean() + right[y == 0].mean()) / 2

        assert spreads(q, y, s, constraint).max() <= tolerance + 1e-9
        assert spreads(p, y, s, constraint).max() <= tolerance + 1e-9
        assert worth(q) >= worth(p) - 1e-12
        # theirs looks at 1,000 rates, ours at the vertices: little is between them; but its
        # balanced accuracy is the mean over groups of each group's own, not that of all rows
        assert objective != "accuracy" or worth(q) - worth(p) < 2e-3
