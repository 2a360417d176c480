"""Exponentiated gradient (Agarwal et al., 2018): a lottery of models that keeps a constraint."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from isonomy._arrays import Floats
from isonomy._validate import check_least, optional
from isonomy.errors import InputError
from isonomy.mitigators._mixture import check_scores, favorable_share
from isonomy.mitigators._post import uniform
from isonomy.mitigators._reductions import Reduction
from isonomy.mitigators.base import MITIGATORS, Vector, Weights


@MITIGATORS.register("exponentiated_gradient", aliases=("eg",))
class ExponentiatedGradient(Reduction):
    r"""Draws one of several models at random, such that the constraint holds on average.

    The constrained problem is a game: one player sets a price on each violation, the other
    answers with the base learner fitted on labels and weights that the prices imply. The mixture
    of the answers is an approximate optimum; a row is judged by one model drawn from it. This
    wraps fairlearn (extra ``fairlearn``), which has the reference implementation.

    Parameters
    ----------
    estimator : classifier, optional
        The base learner, a pipeline included; must take ``sample_weight``.
    constraint : str or fairlearn Moment
        ``demographic_parity``, ``equal_opportunity``, ``predictive_equality``,
        ``equalized_odds``, ``error_rate_parity`` or ``bounded_group_loss``, or an object of
        ``fairlearn.reductions``.
    bound : float, optional
        The largest difference between a group and all rows together; fairlearn's default is
        0.01. With a ratio, its slack; for ``bounded_group_loss`` the largest error rate of a group.
    ratio : float, optional
        Constrain the ratio to the rate of all rows instead of the difference.
    costs : mapping, optional
        The costs of ``"fp"`` and ``"fn"`` in the objective, which is otherwise the error rate.
    eps, max_iter, nu, eta0, run_linprog_step
        fairlearn's: the inverse of the bound on the prices, the number of rounds, the duality
        gap to stop at (chosen from the data when None), the step, and whether the mixture is
        improved by a linear program each round.
    draws : int, optional
        Estimate probabilities from so many random predictions instead of exactly. When None:
        exactly, and 100 under as_published.
    scores : {"votes", "probabilities"}
        What ``predict_proba`` is the mean of: the models' labels, which makes it the probability
        of the label that ``predict`` draws, or the models' own probabilities, which change gradually
        from row to row. Labels are drawn by the votes either way: the constraint is about them.
    privileged, favorable, sensitive_columns, protocol, random_state
        See ``BaseMitigator``.

    Attributes
    ----------
    predictors_ : list
        The models.
    weights_ : array
        Their probabilities.
    gap_ : float
        The duality gap reached.

    Notes
    -----
    **Protocols**

    ==============  =======================================  ====================================
    what            as_published                             corrected
    ==============  =======================================  ====================================
    probability     the mean of 100 random predictions,      exact: the weight of the models that
                    off by up to 0.05 (one standard error)   say favourable
                    where it is near one half
    draws           NumPy's legacy generator, as fairlearn   one number a row from
                                                             ``random_state``
    ==============  =======================================  ====================================

    The noise of the former is that of Monjezi et al. (2025) and inflates differences between
    counterfactual pairs. The models are the same. Any number of groups; no ``sample_weight``,
    because fairlearn's constraints take none.

    References
    ----------
    A. Agarwal, A. Beygelzimer, M. Dudik, J. Langford and H. Wallach, "A reductions approach to
    fair classification", ICML 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import ExponentiatedGradient
    >>> rng = np.random.default_rng(0)
    >>> group = np.arange(200) % 2
    >>> X = np.column_stack([group, rng.normal(size=200)])
    >>> y = (X.sum(axis=1) + rng.normal(size=200) > 0.5).astype(int)
    >>> fair = ExponentiatedGradient().fit(X, y, sensitive_features=group)
    >>> p = fair.predict_proba(X)[:, 1]
    >>> bool(abs(p[group == 1].mean() - p[group == 0].mean()) < 0.05)
    True
    """

    label = "EG"
    advice = "A guarantee for a learner of your choice, at the price of a lottery."
    strength_values: ClassVar = {"bound": (0.1, 0.05, 0.02, 0.01)}
    draws_to_predict = True
    randomized = True
    free_after_fit = ("scores",)

    costs: Mapping[str, float] | None = None
    eps: float = 0.01
    max_iter: int = 50
    nu: float | None = None
    eta0: float = 2.0
    run_linprog_step: bool = True
    draws: int | None = None
    scores: str = "votes"

    def fit_model(self, X: Any, y: Vector, s: Vector, w: Weights = None) -> None:
        """Play the game and keep the mixture."""
        if self.draws is not None and self.draws < 1:
            raise InputError(f"draws must be at least 1; got {self.draws}.")
        check_least("eps", self.eps, 0)
        check_least("max_iter", self.max_iter, 1)
        check_scores(self.scores, self.base_learner(), who=self.name)
        costs = self.costs
        if costs is not None:
            fairlearn = optional("fairlearn.reductions", extra="fairlearn", purpose=self.name)
            costs = fairlearn.ErrorRate(costs=dict(costs))
        names = ("eps", "max_iter", "nu", "eta0", "run_linprog_step")
        game = self._start("ExponentiatedGradient", X, y, names, objective=costs)
        self._reduce(game, y, s, w)
        weights = game.weights_.sort_index().to_numpy(dtype=np.float64)
        used = np.flatnonzero(weights)
        self.predictors_ = [self.predictors_[t] for t in used]
        self.weights_ = weights[used]
        self.gap_ = float(game.best_gap_)

    def mixture(self, X: Any) -> Floats:
        """Return the exact probability of the favourable label."""
        labels = np.array([model.predict(X) for model in self.predictors_], dtype=np.float64)
        return np.asarray(np.clip(self.weights_ @ labels, 0.0, 1.0))

    def predict_scores(self, X: Any, s: Vector | None = None) -> Floats:
        """Return the probability of the favourable label, exact or from random predictions."""
        if self.scores == "probabilities":
            own = [favorable_share(model, X) for model in self.predictors_]
            return np.asarray(np.clip(self.weights_ @ np.array(own), 0.0, 1.0))
        p = self.mixture(X)
        draws = self.draws or (100 if self.published else None)
        if draws is None:
            return p
        source, hits = check_random_state(self.random_state), np.zeros(len(p))
        for _ in range(draws):
            hits += p >= source.random_sample(len(p))
        return hits / draws

    def predict_labels(self, X: Any, s: Vector | None = None) -> Vector:
        """Draw a model for each row."""
        p = self.mixture(X)
        if self.published:
            draw = check_random_state(self.random_state).random_sample(len(p))
            return np.asarray(p >= draw, dtype=np.intp)
        return np.asarray(uniform(self.random_state, len(p)) < p, dtype=np.intp)
