"""The part that methods share which fit a model of their own making around the base learner."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier

from isonomy.mitigators.base import BaseMitigator, Vector, Weights
from isonomy.models import fit_model

__all__ = ["WrappedModel", "fit_or_constant"]


def fit_or_constant(estimator: Any, X: Any, y: Vector, w: Weights = None) -> Any:
    """Fit a clone of an estimator, or a constant where only one class is left to learn."""
    if (y == y[0]).all():
        return DummyClassifier(strategy="most_frequent").fit(X, y)
    return fit_model(estimator, X, y, w)


class WrappedModel(BaseMitigator):
    """A method whose fit leaves one model in ``estimator_`` that predicts by itself.

    Its stage is "in" although it takes a base learner: fitting depends on the learner, so nothing
    of it can be shared between learners.
    """

    stage = "in"
    probabilities_from_estimator = True

    def _inputs(self, X: Any) -> Any:
        """Give the rows as the fitted model wants them."""
        return X

    def _predict(self, X: Any, s: Vector | None) -> Vector:
        labels: Vector = self.estimator_.predict(self._inputs(X))
        return labels

    def _predict_proba(self, X: Any, s: Vector | None) -> NDArray[np.float64]:
        given: NDArray[np.float64] = self.estimator_.predict_proba(self._inputs(X))
        if len(self.estimator_.classes_) == len(self.classes_):
            return given
        # The rows that were kept may have lost a class, which then has probability 0.
        every = np.zeros((len(given), len(self.classes_)))
        every[:, np.searchsorted(self.classes_, self.estimator_.classes_)] = given
        return every
