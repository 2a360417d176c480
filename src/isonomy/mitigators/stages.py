"""The three stages that a method can act in.

A method is one class in one file. It inherits from its stage and overrides what the stage asks:

- ``PreProcessor``: ``resample(X, y, s, w)`` learns and returns the training set that the base
  learner sees, ``transform(X, s)`` prepares the rows to be predicted;
- ``InProcessor``: ``fit_model(X, y, s, w)`` and ``predict_scores(X, s)``;
- ``PostProcessor``: ``fit_scores(scores, labels, y, s, w)``, ``adjust(scores, labels, s)`` and
  ``adjust_scores(scores, labels, s)``.

These work on plain arrays, so that a study can fit a base model or a transform once and share it:
``y`` is 1 where the label is favourable, ``s`` numbers the groups (with two groups 1 is the
privileged one), ``w`` is None or a vector. Used directly, a stage wants a
fresh clone.
"""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from isonomy._arrays import Floats
from isonomy._validate import check_choice
from isonomy.errors import InputError, NotApplicable
from isonomy.mitigators.base import BaseMitigator, TrainingSet, Vector, Weights
from isonomy.models import fit_model, with_scores


class WrappedModel(BaseMitigator):
    """A method whose fit leaves one model in ``estimator_`` that predicts by itself.

    Its stage is "in" although it takes a base learner: fitting depends on the learner, so nothing
    of it can be shared between learners.
    """

    stage = "in"
    probabilities_from_estimator = True

    def transform(self, X: Any, s: Vector | None = None) -> Any:
        """Return rows to be predicted as the fitted model takes them."""
        return X

    def _predict(self, X: Any, s: Vector | None) -> Vector:
        return np.asarray(self.estimator_.predict(self.transform(X, s)))

    def _predict_proba(self, X: Any, s: Vector | None) -> Floats:
        learnt: Floats = self.estimator_.predict_proba(self.transform(X, s))
        # The rows that were kept may have lost a class, which then has probability 0.
        every = np.zeros((len(learnt), len(self.classes_)))
        every[:, np.searchsorted(self.classes_, self.estimator_.classes_)] = learnt
        return every


class PreProcessor(WrappedModel):
    """Changes the training data, then fits the base learner on it."""

    stage = "pre"
    transform_uses_estimator: ClassVar[bool] = True
    """Whether ``resample`` or ``transform`` depends on the base learner.

    Where it does not, a study learns the transform once and fits every model on its rows.
    """

    def resample(self, X: Any, y: Vector, s: Vector, w: Weights = None) -> TrainingSet:
        """Learn from a training set and return the one that the base learner shall see."""
        return X, y, s, w

    def _fit(self, X: Any, y: Vector, s: Vector, w: Weights) -> None:
        X, y, s, w = self.resample(X, y, s, w)
        self.estimator_ = fit_model(self.base_learner(), X, self.decode(y), w)


class InProcessor(BaseMitigator):
    """Learns a model under a fairness penalty or constraint."""

    stage = "in"

    def fit_model(self, X: Any, y: Vector, s: Vector, w: Weights = None) -> None:
        """Learn the model."""
        raise NotImplementedError

    def predict_scores(self, X: Any, s: Vector | None = None) -> Floats:
        """Return the probability of the favourable label."""
        raise NotImplementedError

    def predict_labels(self, X: Any, s: Vector | None = None) -> Vector:
        """Return 1 where the favourable label is predicted; a tie is unfavourable."""
        return (self.predict_scores(X, s) > 0.5).astype(np.intp)

    def _fit(self, X: Any, y: Vector, s: Vector, w: Weights) -> None:
        self.fit_model(X, y, s, w)

    def _predict(self, X: Any, s: Vector | None) -> Vector:
        return self.decode(self.predict_labels(X, s))

    def _predict_proba(self, X: Any, s: Vector | None) -> Floats:
        return self._two_columns(self.predict_scores(X, s))


class PostProcessor(BaseMitigator):
    """Changes the predictions of a base learner, with the protected attribute at hand.

    Parameters
    ----------
    fit_on : {"out_of_fold", "train", "validation", "given"}, optional
        Where the scores come from that the rule is learnt on. ``out_of_fold``: five-fold scores
        of the training rows, the base learner then being fitted on all of them. ``train``: its
        scores of the very rows it was fitted on, as the published studies did. ``validation``:
        30 % of the rows, held out from the base learner. ``given``: the estimator is fitted
        already (a model in production) and only the rule is learnt; wrap it in
        ``sklearn.frozen.FrozenEstimator`` where the mitigator will be cloned. When None:
        ``out_of_fold``, and ``train`` under as_published.
    """

    stage = "post"
    needs_sensitive_at_predict = True
    randomized = True
    needs_scores: ClassVar[bool] = True
    """Whether labels alone do not suffice."""
    rule_uses_estimator: ClassVar[bool] = True
    """Whether the rule depends on the base learner by more than its scores and labels.

    Where it does not, a study fits a base learner once for all post-processors.
    """

    FIT_ON: ClassVar[tuple[str, ...]] = ("out_of_fold", "train", "validation", "given")

    fit_on: str | None = None

    def fit_scores(
        self, scores: Floats, labels: Vector, y: Vector, s: Vector, w: Weights = None
    ) -> None:
        """Learn the rule from scores and labels of a base model and the true labels."""
        raise NotImplementedError

    def adjust(self, scores: Floats, labels: Vector, s: Vector) -> Vector:
        """Return the mitigated labels, 1 = favourable."""
        raise NotImplementedError

    def adjust_scores(self, scores: Floats, labels: Vector, s: Vector) -> Floats:
        """Return the mitigated probability of the favourable label."""
        return self.adjust(scores, labels, s).astype(np.float64)

    def scores_from(self) -> str:
        """Return where the scores come from: ``fit_on``, or the default of the protocol."""
        where = self.fit_on or ("train" if self.published else "out_of_fold")
        check_choice("fit_on", where, self.FIT_ON)
        return where

    def _is_prefit(self) -> bool:
        return self.scores_from() == "given"

    def base_learner(self) -> BaseEstimator:
        """Return the unfitted base learner, calibrated where scores are needed and it has none."""
        learner = super().base_learner()
        return with_scores(learner) if self.needs_scores else learner

    def _fit(self, X: Any, y: Vector, s: Vector, w: Weights) -> None:
        where = self.scores_from()
        inner = rule = slice(None)  # all rows, without a copy of them
        if where == "validation":
            inner, rule = train_test_split(
                np.arange(len(y)),
                test_size=0.3,
                stratify=strata(y, s, 2),
                random_state=self.random_state,
            )
        self.estimator_ = (
            self._given()
            if where == "given"
            else self.fit_rows(self.base_learner(), X, y, w, inner)
        )
        if where == "out_of_fold":
            scores, labels = self.out_of_fold(X, y, s, w)
        else:
            scores, labels = self._outputs(self.estimator_, _safe_indexing(X, rule))
        self.fit_scores(scores, labels, y[rule], s[rule], None if w is None else w[rule])

    def _given(self) -> BaseEstimator:
        if self.estimator is None:
            raise InputError('fit_on="given" needs an estimator that is fitted already; got None.')
        check_is_fitted(self.estimator)
        if self.needs_scores and not hasattr(self.estimator, "predict_proba"):
            raise NotApplicable(
                f"{self.name} needs probabilities and {type(self.estimator).__name__} has none; "
                f"wrap it in CalibratedClassifierCV."
            )
        return self.estimator

    def out_of_fold(self, X: Any, y: Vector, s: Vector, w: Weights = None) -> tuple[Floats, Vector]:
        """Return scores and labels of each training row by a base learner that did not see it."""
        scores, labels = np.empty(len(y)), np.empty(len(y), dtype=np.intp)
        folds = StratifiedKFold(5, shuffle=True, random_state=self.random_state)
        for train, test in folds.split(np.zeros(len(y)), strata(y, s, 5)):
            fitted = self.fit_rows(self.base_learner(), X, y, w, train)
            scores[test], labels[test] = self._outputs(fitted, _safe_indexing(X, test))
        return scores, labels

    def _outputs(self, estimator: Any, X: Any) -> tuple[Floats, Vector]:
        """Return a model's scores and labels in our coding; labels stand in for absent scores."""
        labels = (estimator.predict(X) == self.favorable_).astype(np.intp)
        if not hasattr(estimator, "predict_proba"):
            return labels.astype(np.float64), labels
        return self._favorable_scores(estimator, X), labels

    def _predict(self, X: Any, s: Vector | None) -> Vector:
        assert s is not None
        scores, labels = self._outputs(self.estimator_, X)
        return self.decode(self.adjust(scores, labels, s))

    def _predict_proba(self, X: Any, s: Vector | None) -> Floats:
        assert s is not None
        scores, labels = self._outputs(self.estimator_, X)
        return self._two_columns(self.adjust_scores(scores, labels, s))


def strata(y: Vector, s: Vector, least: int) -> Vector:
    """Return class-by-group strata, or the classes alone where a cell is too small to spread."""
    cells = s * (int(y.max()) + 1) + y
    counts = np.bincount(cells)
    return cells if counts[counts > 0].min() >= least else y
