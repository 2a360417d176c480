"""What the two reductions of fairlearn share: constraints by name, a base learner it can call."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from isonomy._arrays import Floats
from isonomy._validate import check_choice, optional
from isonomy.errors import InputError, NotApplicable
from isonomy.mitigators._refits import Afresh
from isonomy.mitigators.base import Vector, Weights
from isonomy.mitigators.stages import InProcessor
from isonomy.models import fit_steps

CONSTRAINTS = {
    "demographic_parity": "DemographicParity",
    "equal_opportunity": "TruePositiveRateParity",
    "predictive_equality": "FalsePositiveRateParity",
    "equalized_odds": "EqualizedOdds",
    "error_rate_parity": "ErrorRateParity",
    "bounded_group_loss": "BoundedGroupLoss",
}
"""Our names of fairlearn's constraints."""


def lean_errors(kind: Any) -> Any:
    """Return fairlearn's error rate, working on arrays."""

    class Lean(kind):  # type: ignore[misc]
        def load_data(self, *args: Any, **options: Any) -> None:
            super().load_data(*args, **options)
            self._labels = self.tags["label"].to_numpy()

        def gamma(self, predictor: Callable[[Any], Any]) -> Any:
            errors = self._labels - predictor(self.X)
            wrong = (errors > 0).sum() * self.fn_cost + (errors < 0).sum() * self.fp_cost
            return pd.Series(wrong / self.total_samples, self.index)

    return Lean


def lean(kind: Any) -> Any:
    """Return a parity constraint of fairlearn that works on arrays and computes nothing twice.

    The numbers are fairlearn's own: its matrix ``U`` holds what each row adds to each constraint.
    """

    class Lean(kind):  # type: ignore[misc]
        def load_data(self, *args: Any, **options: Any) -> None:
            super().load_data(*args, **options)
            self._by_row, self._by_constraint = self.U.to_numpy(), self.U.T.to_numpy()
            self._bound = super().bound()
            self._projected: tuple[Any, Any] = None, None

        def default_objective(self) -> Any:
            return lean_errors(type(super().default_objective()))()

        def gamma(self, predictor: Callable[[Any], Any]) -> Any:
            used = self.utility_diff * predictor(self.X) + self.utilities[:, 0]
            return -pd.Series(self._by_constraint @ used, self.index) / self.total_samples

        def bound(self) -> Any:
            return self._bound

        def signed_weights(self, prices: Any) -> Any:
            by_constraint = prices.reindex(self.index).to_numpy()
            return pd.Series(self.utility_diff * (self._by_row @ by_constraint), self.U.index)

        def project_lambda(self, prices: Any) -> Any:
            asked, answer = self._projected  # several models are judged by the same prices
            if asked is None or not asked.equals(prices):
                asked, answer = prices, super().project_lambda(prices)
                self._projected = asked, answer
            return answer

    return Lean


def make_constraint(
    constraint: Any, bound: float | None, ratio: float | None, *, who: str, quick: bool = False
) -> Any:
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
        kind = lean(kind) if quick else kind
        if ratio is None:
            return kind(difference_bound=bound)
        return kind(ratio_bound=ratio, ratio_bound_slack=bound or 0.0)
    if bound is None or ratio is not None:
        raise InputError(
            "bounded_group_loss needs bound, the largest error rate allowed in a group, and "
            f"takes no ratio; got bound={bound} and ratio={ratio}."
        )
    return kind(moments.ZeroOneLoss(), upper_bound=bound)


def is_of_labels(constraint: Any) -> bool:
    """Return whether a constraint of fairlearn is one of labels, and not of losses."""
    moments = optional("fairlearn.reductions", extra="fairlearn", purpose="a constraint")
    return isinstance(constraint, moments.ClassificationMoment)


class Shared:
    """The same fits, sharing what they have in common.

    The steps of a pipeline before its last are fitted once, and what is asked for twice in a row is
    answered from memory.
    """

    def __init__(self, base: BaseEstimator, table: Any, y: Vector) -> None:
        self.steps, learner, rows = fit_steps(base, table, y)
        if self.steps is not None and not _ignore_labels(self.steps, table, rows):
            self.steps, learner, rows = None, base, table  # labels change from fit to fit
        self.name = None if self.steps is None else base.steps[-1][0]
        self.fits = Afresh(learner, rows)
        self.asked: tuple[Vector, Floats] | None = None
        self.answer: tuple[Any, NDArray[Any]] = (None, np.empty(0))

    def fit(self, y: Vector, weight: Floats) -> tuple[Any, NDArray[Any]]:
        """Return a fitted learner and its labels of the rows."""
        if self.asked is None or not all(map(np.array_equal, self.asked, (y, weight))):
            model, labels = self.fits.fit(y, weight)
            if self.steps is not None:
                model = Pipeline([*self.steps.steps, (self.name, model)])
            self.asked, self.answer = (y, weight), (model, labels)
        return self.answer


def _ignore_labels(steps: Pipeline, table: Any, rows: Any) -> bool:
    """Return whether steps of a pipeline make the same rows of a table without any labels."""
    try:
        without = clone(steps).fit_transform(table)
    except Exception:  # whatever a step says where it misses its labels
        return False
    return isinstance(rows, np.ndarray) and np.array_equal(rows, without)


class Learner(BaseEstimator):  # type: ignore[misc]
    """The base learner as fairlearn calls it: always on the whole training table.

    fairlearn sees row numbers in place of X. So any table, any pipeline and any way of taking
    weights will do, and the copies that fairlearn makes of its estimator do not copy the data.
    """

    def __init__(self, fits: Afresh | Shared) -> None:
        self.fits = fits

    def __sklearn_clone__(self) -> "Learner":
        return Learner(self.fits)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Learner":
        return Learner(self.fits)

    def fit(self, rows: Any, y: Any, sample_weight: Any) -> "Learner":
        """Fit a fresh base learner on the labels and weights of this round."""
        weight = np.asarray(sample_weight, dtype=np.float64)
        self.model_, self.labels_ = self.fits.fit(np.asarray(y), weight)
        return self

    def predict(self, rows: Any) -> NDArray[Any]:
        """Return the labels of the training rows, which fairlearn asks for several times."""
        return self.labels_


class Reduction(InProcessor):
    """A mitigator that calls fairlearn with a base learner of ours."""

    reference = "Agarwal et al., ICML 2018"
    costly = True
    multi_group = True
    one_against_rest = True
    # bounded_group_loss makes no rates equal
    aims: ClassVar = {
        goal: {"constraint": goal} for goal in CONSTRAINTS if goal != "bounded_group_loss"
    }

    constraint: Any = "demographic_parity"
    bound: float | None = None
    ratio: float | None = None

    def _start(
        self, kind: str, X: Any, y: Vector, parameters: Sequence[str], **options: Any
    ) -> Any:
        """Make one of fairlearn's reductions, with the parameters that are named alike here."""
        options |= {name: getattr(self, name) for name in parameters}
        fairlearn = optional("fairlearn.reductions", extra="fairlearn", purpose=self.name)
        quick = not self.published
        constraint = make_constraint(
            self.constraint, self.bound, self.ratio, who=self.name, quick=quick
        )
        base = self.base_learner()
        fits = Shared(base, X, y) if quick else Afresh(base, X)
        return getattr(fairlearn, kind)(Learner(fits), constraint, **options)

    def _reduce(self, reduction: Any, y: Vector, s: Vector, w: Weights) -> None:
        """Run a reduction of fairlearn and keep its models, not its copies of the data."""
        if w is not None and (w != w[0]).any():
            raise NotApplicable(
                f"{self.name} takes no sample_weight because fairlearn's constraints do not; "
                f"repeat rows, or use fairness_constrained_thresholds."
            )
        self.predictors_ = self._models(reduction, y, s)

    @staticmethod
    def _models(reduction: Any, y: Vector, s: Vector) -> list[Any]:
        with warnings.catch_warnings():
            # how fairlearn calls pandas is nothing that our users can mend
            for kind in (DeprecationWarning, FutureWarning):
                warnings.filterwarnings("ignore", category=kind, module=r"fairlearn\.")
            reduction.fit(np.arange(len(y))[:, None], y, sensitive_features=s)
        # where a round's labels are all alike fairlearn answers with a constant
        return [p.model_ if isinstance(p, Learner) else p for p in reduction.predictors_]
