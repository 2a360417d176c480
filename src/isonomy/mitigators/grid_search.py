"""Grid search over reductions (Agarwal et al., 2018): one model instead of a lottery."""

import warnings
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from isonomy._arrays import Floats
from isonomy._validate import check_least
from isonomy.errors import UnmetConstraintWarning
from isonomy.mitigators._reductions import Reduction, is_of_labels
from isonomy.mitigators.base import MITIGATORS, Vector, Weights


@MITIGATORS.register("grid_search")
class GridSearch(Reduction):
    r"""Fits the base learner under several prices of a violation and takes the best trade-off.

    The same reduction as ``exponentiated_gradient``, but the prices are a grid and the answer is
    a single model: the one with the least ``(1 - constraint_weight)`` times the error plus
    ``constraint_weight`` times the largest violation. This wraps fairlearn (extra ``fairlearn``).

    Parameters
    ----------
    estimator : classifier, optional
        The base learner, a pipeline included; must take ``sample_weight``.
    constraint : str or fairlearn Moment
        ``demographic_parity``, ``equal_opportunity``, ``predictive_equality``,
        ``equalized_odds``, ``error_rate_parity`` or ``bounded_group_loss``, or an object of
        ``fairlearn.reductions``.
    bound, ratio : float, optional
        As in ``exponentiated_gradient``.
    constraint_weight : float
        How much a violation counts against errors.
    grid_size : int
        How many models to fit.
    grid_limit : float
        The largest price.
    privileged, favorable, sensitive_columns, protocol, random_state
        See ``BaseMitigator``.

    Attributes
    ----------
    predictors_ : list
        All models of the grid; last the original one, where the grid lacks it.
    best_ : int
        The position of the one that predicts.
    errors_, violations_ : array
        Each model's error and largest violation on the training rows.

    Notes
    -----
    **Protocols**

    As published the answer is the grid's best. Corrected, it is the original model where the grid,
    which lacks it and thins out fast with the number of groups, holds none that is as good. No
    published study that we replay used it. Not random at all. Any number of groups; no ``sample_weight``, because fairlearn's
    constraints take none.

    References
    ----------
    A. Agarwal, A. Beygelzimer, M. Dudik, J. Langford and H. Wallach, "A reductions approach to
    fair classification", ICML 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import GridSearch
    >>> rng = np.random.default_rng(0)
    >>> group = np.arange(200) % 2
    >>> X = np.column_stack([group, rng.normal(size=200)])
    >>> y = (X.sum(axis=1) + rng.normal(size=200) > 0.5).astype(int)
    >>> fair = GridSearch(grid_size=15).fit(X, y, sensitive_features=group)
    >>> labels = fair.predict(X)
    >>> bool(abs(labels[group == 1].mean() - labels[group == 0].mean()) < 0.1)
    True
    """

    label = "GS"
    corrected_version = "2"  # the original model is a candidate
    advice = "Like exponentiated_gradient, but one model and no lottery."
    strength_values: ClassVar = {"constraint_weight": (0.25, 0.5, 0.75, 0.95)}

    constraint_weight: float = 0.5
    grid_size: int = 10
    grid_limit: float = 2.0

    def fit_model(self, X: Any, y: Vector, s: Vector, w: Weights = None) -> None:
        """Fit the models of the grid and choose one."""
        check_least("grid_size", self.grid_size, 2)
        search = self._start("GridSearch", X, y, ("constraint_weight", "grid_size", "grid_limit"))
        self._reduce(search, y, s, w)
        self.best_ = int(search.best_idx_)
        self.errors_ = np.array(search.objectives_, dtype=np.float64)
        gammas = search.gammas_.to_numpy(dtype=np.float64)
        paid = search.lambda_vecs_.to_numpy().any(axis=0)  # a price for no violation: the original
        if paid.all() and not self.published and is_of_labels(search.constraints):
            # a coarse grid of several groups lacks the original, and may hold nothing as good
            free = pd.DataFrame({0: 0.0}, index=search.lambda_vecs_.index)
            original = type(search)(search.estimator, search.constraints, grid=free)
            self.predictors_ += self._models(original, y, s)
            self.errors_ = np.append(self.errors_, original.objectives_)
            gammas = np.column_stack([gammas, original.gammas_.to_numpy(dtype=np.float64)])
            paid = np.append(paid, False)
            price = self.constraint_weight
            loss = (1 - price) * self.errors_ + price * gammas.max(axis=0)
            self.best_ = self.best_ if loss[self.best_] <= loss[-1] else len(loss) - 1
        self.violations_ = gammas.max(axis=0)
        marks = np.vstack([self.errors_, gammas])
        if (marks[:, ~paid] == marks[:, [self.best_]]).all(axis=0).any():
            warnings.warn(
                f"{self.name} keeps the original model, with a violation of "
                f"{self.violations_[self.best_]:.3f}: of {len(self.errors_)} models none has a better "
                f"trade-off; raise constraint_weight (now {self.constraint_weight:g}) to count "
                f"violations for more, or grid_size to try more models.",
                UnmetConstraintWarning,
                stacklevel=2,
            )

    def predict_scores(self, X: Any, s: Vector | None = None) -> Floats:
        """Return the chosen model's probability of the favourable label, or its label."""
        model = self.predictors_[self.best_]
        if not hasattr(model, "predict_proba"):
            return np.asarray(model.predict(X), dtype=np.float64)
        favorable = np.asarray(model.classes_, dtype=np.intp) == 1
        return np.asarray(model.predict_proba(X)[:, favorable].sum(axis=1))

    def predict_labels(self, X: Any, s: Vector | None = None) -> Vector:
        """Return the chosen model's labels."""
        return np.asarray(self.predictors_[self.best_].predict(X), dtype=np.intp)
