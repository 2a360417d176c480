"""A learner fitted again and again on the same rows, under other weights or labels each time."""

from copy import copy
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

from isonomy._arrays import Floats
from isonomy.mitigators.base import Vector
from isonomy.models import fit_model, metered_fit

_STEPS = 50
_ENOUGH = 0.3
"""A step with an older Hessian must leave at most this share of the gradient."""


class Afresh:
    """Fits of one learner on the same rows, each from scratch."""

    def __init__(self, learner: BaseEstimator, X: Any) -> None:
        self.learner, self.X = learner, X

    def fit(self, y: Vector, weight: Floats) -> tuple[Any, Vector]:
        """Return the learner fitted with these labels and weights, and its labels of the rows."""
        model = fit_model(self.learner, self.X, y, weight)
        return model, np.asarray(model.predict(self.X))


class Refits(Afresh):
    """Fits of one learner on the same rows with labels 0 and 1, each as good as one from scratch.

    A logistic regression is fitted by Newton's method from where the last fit ended, and with the
    Hessian of an earlier fit as long as that serves: a fit then costs a few products of the rows
    with a vector. Any other learner is fitted as always.

    Parameters
    ----------
    learner : classifier
        Unfitted.
    X : array or table
        The rows.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> refits = Refits(LogisticRegression(), X)
    >>> even, late = (refits.fit(y, np.array(w))[0] for w in ([1.0, 1, 1, 1], [1.0, 1, 1, 5]))
    >>> float(even.coef_[0, 0].round(2)), float(late.coef_[0, 0].round(2))
    (0.45, 0.86)
    """

    def __init__(self, learner: BaseEstimator, X: Any) -> None:
        super().__init__(learner, X)
        self._newton = _Newton(learner, X) if _is_smooth(learner, X) else None

    def fit(self, y: Vector, weight: Floats) -> tuple[Any, Vector]:
        """Return the learner fitted with these labels and weights, and its labels of the rows."""
        if self._newton is not None and 0 < np.count_nonzero(y) < len(y) and weight.any():
            with metered_fit():
                solved = self._newton.solve(y, weight)
            if solved is not None:
                return solved
        return super().fit(y, weight)


def _is_smooth(learner: BaseEstimator, X: Any) -> bool:
    """Return whether a fit is what Newton's method here solves: ridge and log loss, numbers."""
    return (
        type(learner) is LogisticRegression
        and isinstance(X, np.ndarray)
        and X.dtype == np.float64
        and learner.solver == "lbfgs"
        and learner.penalty in ("l2", "deprecated")
        and not learner.l1_ratio
        and learner.class_weight is None
        and np.isfinite(learner.C)
    )


class _Newton:
    """Logistic regressions of the same rows, each begun where the one before ended."""

    def __init__(self, learner: Any, X: Floats) -> None:
        self.learner, self.X = learner, X
        self.at = np.zeros(X.shape[1] + 1)  # the intercept last
        self.ridge = np.append(np.full(X.shape[1], 1.0 / learner.C), 0.0)
        self.factor: Any = None

    def solve(self, y: Vector, weight: Floats) -> tuple[LogisticRegression, Vector] | None:
        """Minimise the loss; None where that does not succeed, and the next fit begins anew."""
        try:
            solved = self._descend(y, weight)
        except LinAlgError:  # no row adds curvature: every probability is 0 or 1
            solved = None
        if solved is None:
            self.at, self.factor = np.zeros_like(self.at), None
        return solved

    def _descend(self, y: Vector, weight: Floats) -> tuple[LogisticRegression, Vector] | None:
        at, total = self.at, float(weight.sum())
        loss, slope, curve, _ = self._look(at, y, weight)
        for step in range(1, _STEPS + 1):
            size = float(np.abs(slope).max()) / total
            # where a plane separates the classes, slopes fall with the loss: a small one says
            # nothing unless it is small beside the loss, as against that of even odds
            enough = self.learner.tol * min(1.0, loss / (total * np.log(2)))
            if self.factor is None:
                self._curve(curve)
            ahead, scale = at - cho_solve(self.factor, slope), 1.0
            new = self._look(ahead, y, weight)
            while not new[0] <= loss + 1e-10 * abs(loss) and scale > 1e-3:
                if scale == 1.0:
                    self._curve(curve)  # perhaps only the Hessian is too old
                scale /= 2
                ahead = at - scale * cho_solve(self.factor, slope)
                new = self._look(ahead, y, weight)
            if not new[0] <= loss + 1e-10 * abs(loss):
                return None
            at, (loss, slope, curve, logit) = ahead, new
            # the tolerance is met before the last step, so that no error adds up from fit to fit
            if size <= enough:
                self.at = at
                return self._fitted(step), np.asarray(logit > 0, dtype=np.intp)
            if float(np.abs(slope).max()) / total > _ENOUGH * size:
                self.factor = None
        return None

    def _look(self, at: Floats, y: Vector, weight: Floats) -> tuple[float, Floats, Floats, Floats]:
        """Return the loss, its slope, what each row adds to its curvature, and the rows' logits."""
        logit = self.X @ at[:-1] + (at[-1] if self.learner.fit_intercept else 0.0)
        p = expit(logit)
        rest = weight * (p - y)
        loss = float(weight @ (np.logaddexp(0.0, logit) - y * logit) + 0.5 * (self.ridge * at) @ at)
        slope = np.append(self.X.T @ rest, rest.sum()) + self.ridge * at
        if not self.learner.fit_intercept:
            slope[-1] = 0.0
        return loss, slope, weight * p * (1 - p), logit

    def _curve(self, curve: Floats) -> None:
        """Take the Hessian of where we are."""
        d = self.X.shape[1]
        hessian = np.empty((d + 1, d + 1))
        hessian[:d, :d] = (self.X * curve[:, None]).T @ self.X
        hessian[:d, d] = hessian[d, :d] = self.X.T @ curve if self.learner.fit_intercept else 0.0
        hessian[d, d] = curve.sum() if self.learner.fit_intercept else 1.0
        hessian[np.diag_indices(d + 1)] += self.ridge
        self.factor = cho_factor(hessian, check_finite=False)

    def _fitted(self, steps: int) -> LogisticRegression:
        model = copy(self.learner)  # its parameters are plain values; clone would inspect them all
        model.coef_, model.intercept_ = self.at[None, :-1].copy(), self.at[-1:].copy()
        model.classes_ = np.array([0, 1])
        model.n_features_in_ = self.X.shape[1]
        model.n_iter_ = np.array([steps], dtype=np.int32)
        return model
