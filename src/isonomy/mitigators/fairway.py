"""Fairway (Chakraborty et al., 2020): drop rows the group models disagree on, then tune."""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC
from sklearn.utils import _safe_indexing

from isonomy._tables import as_matrix
from isonomy._validate import make_rng
from isonomy.errors import NotApplicable
from isonomy.mitigators._post import check_cells
from isonomy.mitigators._protected import plain_logistic, protected_columns
from isonomy.mitigators.base import MITIGATORS, Vector, Weights
from isonomy.mitigators.stages import WrappedModel, strata
from isonomy.models import fit_model, fit_steps
from isonomy.search import Choice, Parameter, Search, Space, Whole, minimize


@MITIGATORS.register("fairway")
class Fairway(WrappedModel):
    r"""Drops training rows that models of the groups disagree on, then tunes the base learner.

    *Removal.* One model is fitted per group, without the protected columns. A row on which they
    do not all predict one label is dropped, whatever its true label. Only training rows are ever
    looked at.

    *Tuning.* The base learner's parameters are searched by FLASH for the smallest
    :math:`(1 - \text{recall}) + \text{false alarms} + \text{AOD} + \text{EOD}` on 30 % of the
    rows left: recall and false alarms of the favourable label, AOD the mean of the absolute TPR
    and FPR differences between groups, EOD the TPR difference; among many groups the difference
    is between the largest and the smallest rate. The search ends when nothing is left to try or when
    it has been disappointed 20 times. The winner is fitted on all rows left.

    Parameters
    ----------
    estimator : LogisticRegression, LinearSVC or RandomForestClassifier, optional
        The base learner, possibly at the end of a pipeline; a scaled logistic regression when
        None. Any other learner needs ``space``.
    tune : bool
        Whether to search; otherwise the base learner is fitted as it is.
    space : mapping of str to Choice, Whole or Real, optional
        What to search, by parameter name of the base learner; by its family when None.
    budget, life : int
        The most evaluations, and the disappointments after which to stop.
    protected_in_split_models : bool
        Whether the group models see the protected columns, as in the first release, where their
        constant takes part in the intercept of one model and not of the other.
    split_model : classifier, optional
        What is fitted per group; a logistic regression when None.
    privileged, favorable, sensitive_columns, protocol, random_state
        As in every mitigator. ``sensitive_columns`` may be left out where a column of X is
        decided by the groups: that is the protected attribute.

    Notes
    -----
    **Protocols**

    ===============  ===============================  ========================================
    what             as_published                     corrected
    ===============  ===============================  ========================================
    learners         logistic regression only         also linear SVM, random forest, any with
                                                      a space
    split models     liblinear, C = 1                 the same, scaled and converged
    searched of      the penalty's kind and strength  the strength from 0.001 to 30; every fit
    logistic         from 1 to 30, the solver, and    converges, so that neither solver nor
    regression       10 to 109 iterations, so that    iterations matter
                     fits stop early, unwarned
    inner split      plain, seed 100 in every run     stratified by class and group, seeded by
                                                      ``random_state``
    removal          training rows (the study of      training rows
                     Chen et al.; the first release
                     also removed test rows)
    ===============  ===============================  ========================================

    Under both the search is the scalarised filter of the released code, not the multi-objective
    search of the paper's text.

    Attributes
    ----------
    kept_ : array of bool
        The training rows that were not dropped.
    search_ : Search or None
        Every configuration tried, with its value.

    References
    ----------
    J. Chakraborty, S. Majumder, Z. Yu and T. Menzies, "Fairway: a way to build fair ML software",
    ESEC/FSE 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import Fairway
    >>> rng = np.random.default_rng(0)
    >>> s = np.arange(400) % 2
    >>> X = np.column_stack([s, rng.normal(size=(400, 2))])
    >>> y = (X[:, 1] + s + rng.normal(size=400) > 0.5).astype(int)
    >>> model = Fairway(sensitive_columns=[0]).fit(X, y, sensitive_features=s)
    >>> bool(0 < model.kept_.sum() < 400), len(model.search_.history)
    (True, 10)
    """

    label = "Fairway"
    advice = "When labels of the groups follow different rules; keeps accuracy high."
    reference = "Chakraborty et al., ESEC/FSE 2020"
    needs_numbers = True
    costly = True
    # what its search minimises counts both
    aims: ClassVar = {"equal_opportunity": {}, "equalized_odds": {}}
    randomized = True
    corrected_version = "2"
    several = (
        "one model for each intersection, which must all agree on a row; few "
        "rows are left where there are many"
    )
    multi_group = True

    tune: bool = True
    space: Mapping[str, Parameter] | None = None
    budget: int = 200
    life: int = 20
    protected_in_split_models: bool = False
    split_model: BaseEstimator | None = None

    def _fit(self, X: Any, y: Vector, s: Vector, w: Weights) -> None:
        base = self.base_learner()
        space = None
        if self.tune:
            base = plain(base)
            space = self._space(base)
        self.kept_ = self.agreement(X, y, s, w)
        rows = np.flatnonzero(self.kept_)
        if len(np.unique(y[rows])) < 2:
            raise NotApplicable(
                f"{self.name} would drop every row of a class: the groups' models agree on "
                f"{len(rows):,} of {len(y):,} rows, all of one class; try another method."
            )
        X, y, s = _safe_indexing(X, rows), y[rows], s[rows]
        w = None if w is None else w[rows]
        self.search_: Search | None = None
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            # The number of iterations is one of the things tuned.
            if space is not None:
                self.search_ = self._tune(base, space, X, y, s, w)
                base = clone(base).set_params(**self.search_.best.config)
            self.estimator_ = fit_model(base, X, self.decode(y), w)

    def agreement(self, X: Any, y: Vector, s: Vector, w: Weights = None) -> NDArray[np.bool_]:
        """Return a mask of the rows on which the models of all groups predict one label."""
        matrix = as_matrix(X, who=self.name)
        if not self.protected_in_split_models:
            taken = protected_columns(matrix, s, self._positions(X))
            matrix = np.delete(matrix, taken, axis=1)
        counts = np.bincount(s * 2 + y, minlength=2 * (int(s.max()) + 1)).reshape(-1, 2)
        counts[~counts.any(axis=1)] = 1  # of groups without rows there is no model
        names = getattr(self, "groups_", range(len(counts)))
        rows = counts.sum(axis=1)
        check_cells(counts, names, who=self.name, rows=rows, kind=NotApplicable)
        model = plain_logistic(self.protocol) if self.split_model is None else self.split_model
        labels = []
        for group in np.unique(s):
            inside = s == group
            weight = None if w is None else w[inside]
            fitted: Any = fit_model(model, matrix[inside], y[inside], weight)
            labels.append(fitted.predict(matrix))
        return np.asarray((np.array(labels) == labels[0]).all(axis=0))

    def _space(self, base: BaseEstimator) -> Space:
        if self.space is not None:
            return Space(self.space)
        family, space = fairway_space(base, protocol=self.protocol)
        if self.published and family != "lr":
            raise NotApplicable(
                f"{self.name} as published tunes logistic regression only; got "
                f"{type(base).__name__}: use protocol='corrected'."
            )
        return space

    def _tune(
        self, base: BaseEstimator, space: Space, X: Any, y: Vector, s: Vector, w: Weights
    ) -> Search:
        seed, cells = 100, None
        if not self.published:
            seed, cells = int(make_rng(self.random_state).integers(2**31 - 1)), strata(y, s, 2)
        inner, outer = train_test_split(
            np.arange(len(y)), test_size=0.3, random_state=seed, stratify=cells
        )
        X_inner, X_outer = _safe_indexing(X, inner), _safe_indexing(X, outer)
        labels = self.decode(y[inner])
        w_inner, w_outer = (None, None) if w is None else (w[inner], w[outer])
        prefix = ""
        if isinstance(base, Pipeline) and all(
            n.startswith(f"{base.steps[-1][0]}__") for n in space
        ):
            prefix = f"{base.steps[-1][0]}__"
            steps, base, X_inner = fit_steps(base, X_inner, labels)
            X_outer = X_outer if steps is None else steps.transform(X_outer)

        def objective(config: dict[str, Any]) -> float:
            settings = {name.removeprefix(prefix): value for name, value in config.items()}
            model: Any = clone(base).set_params(**settings)
            model = fit_model(model, X_inner, labels, w_inner)
            predicted = model.predict(X_outer) == self.favorable_
            return four_goals(y[outer], predicted, s[outer], w_outer)

        return minimize(
            objective,
            space,
            strategy="flash",
            budget=self.budget,
            life=self.life,
            random_state=make_rng(self.random_state),
        )


def plain(estimator: BaseEstimator) -> BaseEstimator:
    """Swap a logistic regression that knows one solver only for one that can be tuned."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return clone(estimator).set_params(**{name: plain(last)})
    if isinstance(estimator, LogisticRegression) and type(estimator) is not LogisticRegression:
        return LogisticRegression(**estimator.get_params(deep=False))
    return estimator


def four_goals(y: Vector, predicted: Vector, s: Vector, w: Weights = None) -> float:
    """Return Fairway's sum of goals, small when the model is both right and even-handed.

    Examples
    --------
    >>> import numpy as np
    >>> y, s = np.array([1, 1, 0, 0, 1, 1, 0, 0]), np.repeat([0, 1], 4)
    >>> four_goals(y, np.array([1, 0, 0, 0, 1, 1, 1, 0]), s)  # 0.25 + 0.25 + 0.5 + 0.5
    1.5
    """
    cell = s.astype(np.intp) * 4 + y.astype(np.intp) * 2 + predicted.astype(np.intp)
    counts = np.bincount(cell, w, 4 * (int(s.max()) + 1)).reshape(-1, 2, 2)
    counts = counts[counts.sum(axis=(1, 2)) > 0]
    with np.errstate(invalid="ignore"):
        rate = counts[:, :, 1] / counts.sum(axis=2)  # false and true positive rate by group
        overall = counts[:, :, 1].sum(axis=0) / counts.sum(axis=(0, 2))
    false_gap, true_gap = (
        np.nanmax(r) - np.nanmin(r) if not np.isnan(r).all() else np.nan for r in rate.T
    )
    return float(1 - overall[1] + overall[0] + (false_gap + true_gap) / 2 + true_gap)


def fairway_space(estimator: BaseEstimator, *, protocol: str = "corrected") -> tuple[str, Space]:
    """Return a learner's family and the parameters that Fairway searches.

    Examples
    --------
    >>> from isonomy.models import make_model
    >>> family, space = fairway_space(make_model("lr", recipe="chen"), protocol="as_published")
    >>> family, space.size
    ('lr', 12000)
    >>> list(fairway_space(make_model("lr"))[1])
    ['logisticregression__C']
    """
    prefix, learner = "", estimator
    while isinstance(learner, Pipeline):
        prefix, learner = f"{prefix}{learner.steps[-1][0]}__", learner.steps[-1][1]
    parameters: dict[str, Parameter]
    if isinstance(learner, LogisticRegression):
        family = "lr"
        parameters = (
            _published_logistic(learner)
            if protocol == "as_published"
            else {"C": Choice([10.0 ** (power / 2) for power in range(-6, 4)])}
        )
    elif isinstance(learner, LinearSVC):
        family = "svm"
        parameters = {"C": Choice([10.0**power for power in range(-6, 7)])}
    elif isinstance(learner, RandomForestClassifier):
        family = "rf"
        # more trees are never worse, and cost what they cost: the base learner says how many
        parameters = {
            "max_depth": Choice([5, 8, 15, 25, 30]),
            "min_samples_split": Choice([2, 5, 10, 15, 100]),
            "min_samples_leaf": Choice([1, 2, 5, 10]),
        }
    else:
        raise NotApplicable(
            f"fairway knows what to tune of LogisticRegression, LinearSVC and "
            f"RandomForestClassifier; got {type(learner).__name__}: pass space=... or tune=False."
        )
    return family, Space({prefix + name: p for name, p in parameters.items()})


def _published_logistic(learner: LogisticRegression) -> dict[str, Parameter]:
    # scikit-learn 1.8 turned the penalty's name into a share.
    penalty: dict[str, Parameter] = (
        {"l1_ratio": Choice([1.0, 0.0])}
        if learner.get_params()["penalty"] == "deprecated"
        else {"penalty": Choice(["l1", "l2"])}
    )
    return {
        "C": Whole(1, 30),
        **penalty,
        "solver": Choice(["liblinear", "saga"]),
        "max_iter": Whole(10, 109),
    }
