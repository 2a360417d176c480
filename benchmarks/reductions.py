"""Part 4: group thresholds and the reductions on Adult-sex, against fairlearn's own.

The thresholds get the same scores on both sides, so that no base model is on the clock. The reductions fit
the same base learner as often as fairlearn does; there a ratio near one is all that can be promised.
"""

from typing import Any

import fairlearn.postprocessing as fp
import fairlearn.reductions as fr
import numpy as np
import pandas as pd
from mitigators import Recorded, Task, adult_sex
from sklearn.linear_model import LogisticRegression
from table import Row, faster, within
from timing import cpu_seconds

from isonomy.mitigators import ExponentiatedGradient, FairnessConstrainedThresholds, GridSearch

__all__ = ["TITLE", "rows"]

TITLE = "Part 4: thresholds and reductions"
PEER = "fairlearn"
CONSTRAINTS = {
    "demographic parity": ("demographic_parity", "demographic_parity", None),
    "equal opportunity": ("equal_opportunity", "true_positive_rate_parity", None),
    "equalized odds": ("equalized_odds", "equalized_odds", None),
    "demographic parity within 0.05": ("demographic_parity", "demographic_parity", 0.05),
}


def _accuracy(p: np.ndarray, y: np.ndarray) -> float:
    return float(np.where(y == 1, p, 1 - p).mean())


def _thresholds(task: Task, title: str) -> Row:
    mine, theirs, tolerance = CONSTRAINTS[title]
    table, test = pd.DataFrame(task.X), pd.DataFrame(task.X_test)
    base = Recorded((task.score, task.score_test))

    def ours() -> FairnessConstrainedThresholds:
        rule = FairnessConstrainedThresholds(constraint=mine, tolerance=tolerance or 0.0)
        rule.fit_scores(task.score, task.label, task.y, task.s)
        rule.adjust(task.score_test, task.label_test, task.s_test)
        return rule

    def peer() -> fp.ThresholdOptimizer:
        rule = fp.ThresholdOptimizer(
            estimator=base,
            constraints=theirs,
            objective="accuracy_score",
            prefit=True,
            predict_method="predict_proba",
            tol=tolerance,
        )
        rule.fit(table, task.y, sensitive_features=task.s)
        rule.predict(test, sensitive_features=task.s_test, random_state=0)
        return rule

    seconds, rule = cpu_seconds(ours, repeat=9)
    peer_seconds, peer_rule = cpu_seconds(peer, repeat=3)
    best = _accuracy(rule.adjust_scores(task.score, task.label, task.s), task.y)
    other = peer_rule._pmf_predict(table, sensitive_features=task.s)[:, 1]
    note = f"training accuracy {best:.6f}, fairlearn's {_accuracy(other, task.y):.6f}"
    return faster(f"group thresholds, {title}", PEER, seconds, peer_seconds, 30, note)


def _gap(ours: np.ndarray, theirs: np.ndarray) -> str:
    return f"probabilities agree to {np.abs(ours - theirs).max():.0e}"


def _reduction(task: Task, ours: Any, theirs: Any, title: str, limit: float | None) -> Row:
    def mine() -> np.ndarray:
        return ours().fit(task.X, task.y, sensitive_features=task.s).predict_proba(task.X_test)

    def peer() -> np.ndarray:
        fitted = theirs()
        fitted.fit(task.X, task.y, sensitive_features=task.s)
        ask = getattr(fitted, "_pmf_predict", None) or fitted.predict_proba
        return ask(task.X_test)

    seconds, p = cpu_seconds(mine, repeat=3)
    peer_seconds, q = cpu_seconds(peer, repeat=3)
    return within(title, PEER, seconds, peer_seconds, limit, _gap(p, q))


def rows() -> list[Row]:
    """Measure every line that has fairlearn as its peer."""
    task = adult_sex()
    learner = LogisticRegression(max_iter=1000)
    return [
        *(_thresholds(task, title) for title in CONSTRAINTS),
        _reduction(
            task,
            lambda: ExponentiatedGradient(learner, privileged=1),
            lambda: fr.ExponentiatedGradient(learner, fr.DemographicParity()),
            "exponentiated gradient, demographic parity, logistic regression",
            1.05,
        ),
        _reduction(
            task,
            lambda: GridSearch(learner, privileged=1),
            lambda: fr.GridSearch(learner, fr.DemographicParity()),
            "grid search of 10, demographic parity, logistic regression",
            None,
        ),
    ]
