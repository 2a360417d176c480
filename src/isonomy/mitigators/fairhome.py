"""FairHOME (Chen et al., 2025): ask the model about a row in every group, then let it vote."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy._tables import as_matrix, like
from isonomy._validate import check_choice
from isonomy.errors import InputError
from isonomy.mitigators._protected import group_values, protected_columns
from isonomy.mitigators.base import MITIGATORS, BaseMitigator, Vector, Weights
from isonomy.models import fit_model, with_scores

COMBINE = ("vote", "mean", "confidence")


@MITIGATORS.register("fairhome")
class FairHome(BaseMitigator):
    r"""Lets one model vote on a row and on the same row moved to every other group.

    The base learner is fitted on the training rows as they are. A row to be predicted is repeated
    once for each group that training saw, its protected columns replaced by that group's values
    ("mutants", of higher order where several attributes change at once), and the predictions are
    combined. Rows that differ in the protected columns only always get one label. Nothing is
    learnt beyond the model, so a model in production can be wrapped.

    Parameters
    ----------
    estimator : classifier, optional
        The base learner; a scaled logistic regression when None.
    combine : {"vote", "mean", "confidence"}
        ``vote``: the label most copies get. ``mean``: the mean of their probabilities, favourable
        from 0.5. ``confidence``: the mean weighted by each one's distance from 0.5.
    prefit : bool
        Whether the estimator is fitted already and only to be wrapped.
    privileged, favorable, sensitive_columns, protocol, random_state
        As in every mitigator. ``sensitive_columns`` may be left out where a column of X is
        decided by the groups: that is the protected attribute.

    Notes
    -----
    **Protocols**

    =====  ===============================  ==================================================
    what   as_published                     corrected
    =====  ===============================  ==================================================
    tie    the favourable label             the side of the mean probability, where the model
                                            has probabilities; else the favourable label
    =====  ===============================  ==================================================

    With one attribute of two groups there are two votes, so that every disagreement is a tie:
    as published, either vote for the favourable label then wins.

    Attributes
    ----------
    mutants_ : array of shape (groups, protected columns)
        The values that are tried.

    References
    ----------
    Z. Chen, X. Li, J. M. Zhang, F. Sarro and Y. Liu, "Diversity drives fairness: ensemble of
    higher order mutants for intersectional fairness of machine learning software", ICSE 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import FairHome
    >>> rng = np.random.default_rng(0)
    >>> s = np.arange(400) % 2
    >>> X = np.column_stack([s, rng.normal(size=400)])
    >>> y = (X[:, 1] + s > 0.5).astype(int)
    >>> model = FairHome(sensitive_columns=[0]).fit(X, y, sensitive_features=s)
    >>> flipped = np.column_stack([1 - s, X[:, 1]])
    >>> bool((model.predict(X) == model.predict(flipped)).all())
    True
    """

    stage = "ensemble"
    label = "FairHOME"
    advice = "No retraining; two rows that differ in the group only fare alike."
    reference = "Chen et al., ICSE 2025"
    needs_numbers = True
    several = (
        "every row is moved to every intersection that training saw, several attributes at once"
    )
    multi_group = True

    combine: str = "vote"
    prefit: bool = False

    def _fit(self, X: Any, y: Vector, s: Vector, w: Weights) -> None:
        check_choice("way to combine", self.combine, COMBINE)
        matrix = as_matrix(X, who=self.name)
        columns = protected_columns(matrix, s, self._positions(X), needed_by=self.name)
        self._columns = list(columns)
        values = group_values(matrix, s, columns, who=self.name, groups=self.groups_)
        self.mutants_ = np.unique(values, axis=0)
        if self.prefit:
            if self.estimator is None:
                raise InputError("prefit=True needs an estimator that is fitted already; got None.")
            self.estimator_: Any = self.estimator
            return
        base = self.base_learner()
        model = base if self.combine == "vote" else with_scores(base)
        self.estimator_ = fit_model(model, X, self.decode(y), w)

    def _is_prefit(self) -> bool:
        return self.prefit

    def _copies(self, X: Any) -> list[Any]:
        """Return the rows once for each group, moved there."""
        matrix = as_matrix(X, who=self.name)
        copies = []
        for values in self.mutants_:
            moved = matrix.copy()
            moved[:, self._columns] = values
            copies.append(like(X, moved))
        return copies

    def _mean(self, scores: Floats) -> Floats:
        if self.combine != "confidence":
            return np.asarray(scores.mean(axis=0))
        trust = np.abs(scores - 0.5)
        total = trust.sum(axis=0)
        # Copies that all say one half are worth the same.
        share = np.divide(trust, total, out=np.full_like(trust, 1 / len(trust)), where=total > 0)
        return np.asarray((scores * share).sum(axis=0))

    def _predict(self, X: Any, s: Vector | None) -> Vector:
        copies = self._copies(X)
        if self.combine == "vote":
            votes = self._votes(copies)
            margin = 2 * votes.sum(axis=0) - len(votes)
            favorable = margin >= 0
            tied = margin == 0
            scored = hasattr(self.estimator_, "predict_proba")
            if self.protocol == "corrected" and scored and tied.any():
                mean = self._mean(self._every_score(copies))
                favorable = np.where(tied, mean >= 0.5, favorable)
        else:
            favorable = self._mean(self._every_score(copies)) >= 0.5
        return self.decode(favorable.astype(np.intp))

    def _votes(self, copies: list[Any]) -> NDArray[np.bool_]:
        return np.array([self.estimator_.predict(c) == self.favorable_ for c in copies])

    def _every_score(self, copies: list[Any]) -> Floats:
        return np.array([self._favorable_scores(self.estimator_, c) for c in copies])

    def _predict_proba(self, X: Any, s: Vector | None) -> Floats:
        copies = self._copies(X)
        if not hasattr(self.estimator_, "predict_proba"):
            return self._two_columns(self._votes(copies).mean(axis=0))
        return self._two_columns(self._mean(self._every_score(copies)))
