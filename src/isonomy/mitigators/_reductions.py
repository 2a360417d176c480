"""What the two reductions of fairlearn share: constraints by name, a base learner it can call."""

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from isonomy._validate import check_choice, optional
from isonomy.errors import InputError, NotApplicable
from isonomy.mitigators.base import Vector, Weights
from isonomy.mitigators.stages import InProcessor
from isonomy.models import fit_model

CONSTRAINTS = {
    "demographic_parity": "DemographicParity",
    "equal_opportunity": "TruePositiveRateParity",
    "predictive_equality": "FalsePositiveRateParity",
    "equalized_odds": "EqualizedOdds",
    "error_rate_parity": "ErrorRateParity",
    "bounded_group_loss": "BoundedGroupLoss",
}
"""Our names of fairlearn's constraints."""


def make_constraint(constraint: Any, bound: float | None, ratio: float | None, *, who: str) -> Any:
    """Make fairlearn's object for a constraint, or pass on the one that was given."""
    moments = optional("fairlearn.reductions", extra="fairlearn", purpose=who)
    if isinstance(constraint, moments.Moment):
        if bound is not None or ratio is not None:
            raise InputError(
                "bound and ratio must not be given along with a fairlearn constraint, which "
                "has its own."
            )
        return constraint
    check_choice("constraint", constraint, list(CONSTRAINTS))
    kind = getattr(moments, CONSTRAINTS[constraint])
    if constraint != "bounded_group_loss":
        if ratio is None:
            return kind(difference_bound=bound)
        return kind(ratio_bound=ratio, ratio_bound_slack=bound or 0.0)
    if bound is None or ratio is not None:
        raise InputError(
            "bounded_group_loss needs bound, the largest error rate allowed in a group, and "
            f"takes no ratio; got bound={bound} and ratio={ratio}."
        )
    return kind(moments.ZeroOneLoss(), upper_bound=bound)


class Learner(BaseEstimator):  # type: ignore[misc]
    """The base learner as fairlearn calls it: always on the whole training table.

    fairlearn sees row numbers in place of X. So any table, any pipeline and any way of taking
    weights will do, and the copies that fairlearn makes of its estimator do not copy the data.
    """

    def __init__(self, base: BaseEstimator, table: Any) -> None:
        self.base = base
        self.table = table

    def __sklearn_clone__(self) -> "Learner":
        return Learner(self.base, self.table)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Learner":
        return Learner(self.base, self.table)

    def fit(self, rows: Any, y: Any, sample_weight: Any = None) -> "Learner":
        """Fit a fresh base learner on the labels and weights of this round."""
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.model_ = fit_model(self.base, self.table, np.asarray(y), weight)
        return self

    def predict(self, rows: Any) -> NDArray[Any]:
        """Return the labels of the training rows."""
        return np.asarray(self.model_.predict(self.table))


class Reduction(InProcessor):
    """A mitigator that calls fairlearn with a base learner of ours."""

    multi_group = True
    # bounded_group_loss makes no rates equal
    aims: ClassVar = {
        goal: {"constraint": goal} for goal in CONSTRAINTS if goal != "bounded_group_loss"
    }

    constraint: Any = "demographic_parity"
    bound: float | None = None
    ratio: float | None = None

    def _start(self, kind: str, X: Any, parameters: Sequence[str], **options: Any) -> Any:
        """Make one of fairlearn's reductions, with the parameters that are named alike here."""
        options |= {name: getattr(self, name) for name in parameters}
        fairlearn = optional("fairlearn.reductions", extra="fairlearn", purpose=self.name)
        constraint = make_constraint(self.constraint, self.bound, self.ratio, who=self.name)
        return getattr(fairlearn, kind)(Learner(self.base_learner(), X), constraint, **options)

    def _reduce(self, reduction: Any, y: Vector, s: Vector, w: Weights) -> None:
        """Run a reduction of fairlearn and keep its models, not its copies of the data."""
        if w is not None and (w != w[0]).any():
            raise NotApplicable(
                f"{self.name} takes no sample_weight because fairlearn's constraints do not; "
                f"repeat rows, or use fairness_constrained_thresholds."
            )
        with warnings.catch_warnings():
            # how fairlearn calls pandas is nothing that our users can mend
            for kind in (DeprecationWarning, FutureWarning):
                warnings.filterwarnings("ignore", category=kind, module=r"fairlearn\.")
            reduction.fit(np.arange(len(y))[:, None], y, sensitive_features=s)
        self.predictors_ = [
            # where a round's labels are all alike fairlearn answers with a constant
            p.model_ if isinstance(p, Learner) else p
            for p in reduction.predictors_
        ]
