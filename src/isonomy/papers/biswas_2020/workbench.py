"""The workbench ``kaggle40``: how the scripts of the forty models ran their methods.

As published (each line is a slip of the scripts, or of the AIF360 0.2 that they called):

- R: the weights of reweighing reach no fit. The same model is fitted again, and the *test rows* are
  reweighed: accuracy, F1, DI, SPD and ERD are weighted means, the other numbers are unchanged.
- D: the training rows are repaired, the test rows are not; the protected column stays.
- E, C, O take the model that was fitted on the repaired rows, because fitting again changes the same
  object; they are fitted on the test rows that they are measured on. E solves AIF360's program of
  that time, which divides by the groups' shares of the rows instead of their base rates.
- German labels are 1 (good) and 2 (bad): C and O get the probability of *bad* as the score of good,
  and P's unfavourable labels, 0, are never counted as right.
- Trees were no longer added when the error on the test rows did not fall (GC2, AC6, BM2, HC4 to HC7).
- AC1 standardises its training and test rows, but its methods learn from rows as they are; BM1
  standardises the test rows by their own means.

Corrected, this is the workbench of every study; only what a model searches for is searched once.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import linprog
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.preprocessing import StandardScaler

from isonomy._arrays import Floats
from isonomy._names import base_name, parse_name
from isonomy._validate import optional
from isonomy.errors import DataUnavailable, MissingExtra, NotApplicable
from isonomy.mitigators import Reweighing
from isonomy.mitigators.disparate_impact_remover import repair_by_itself
from isonomy.models import metered_fit
from isonomy.papers.biswas_2020.learners import Boosted
from isonomy.papers.biswas_2020.models import kernel, settled
from isonomy.study.measure import measure_counts
from isonomy.study.plan import Trial
from isonomy.study.spec import WORKBENCHES, Method, Study, is_mitigator
from isonomy.study.workbench import Labels, Outputs, Workbench, outputs

WEIGHTED = (
    "accuracy",
    "favorable_f1",
    "disparate_impact",
    "statistical_parity_difference",
    "error_rate_difference",
)
"""The numbers of R that the weights of the test rows change."""

_SEED = 42
_INSIDE = 1e-9  # the solver of the time ended a little inside the bounds


@WORKBENCHES.register("kaggle40")
class KaggleWorkbench(Workbench):
    """One model's rows, scaled and fitted as its script did; see the module."""

    def __init__(self, study: Study, trial: Trial, preparation: str, splitter: str) -> None:
        self.published = study.protocol == "as_published"
        self.kernel = kernel(parse_name(preparation)[1]["model"])
        try:
            if self.kernel.library is not None:
                optional(self.kernel.library, extra="boost", purpose=f"Model {self.kernel.model}")
            super().__init__(study, trial, preparation, splitter)
        except (DataUnavailable, MissingExtra) as error:  # what only its user may fetch: no failure
            raise NotApplicable(str(error)) from None
        self.X_base: Floats = self.X
        # ties go to the first class, which is good in German's coding
        self._codes = np.array([2, 1] if self.kernel.dataset == "german" else [0, 1])
        scaling = self.kernel.scaling if self.published else ""
        if scaling in ("data", "test", "parts"):
            scaler = StandardScaler().fit(self.X)
            own = StandardScaler().fit(self.X_test) if scaling == "parts" else scaler
            self.X_base, self.X_test = scaler.transform(self.X), own.transform(self.X_test)
            if scaling != "test":
                self.X = self.X_base

    # One search for all fits of a model.

    def learner(self, model: str, random_state: Any = None) -> BaseEstimator:
        """Make the learner, unfitted; once the model was fitted, without what it searched for.

        The scripts set no seed of NumPy's that could be replayed: a learner gets ours.
        """
        fitted = self._done.get(("fit", model, False))
        if is_mitigator(model) or fitted is None or fitted[0] is None:
            return super().learner(model, self.seed)
        return settled(fitted[0])

    def fitted(self, model: str, *, calibrated: bool) -> Any:
        """Return the model fitted as its script fitted it first, the test rows in view."""
        if calibrated:
            self.fitted(model, calibrated=False)  # searches
        if calibrated or not self.published:
            return super().fitted(model, calibrated=calibrated)
        return self.once(("fit", model, False), lambda: self._fit(self.learner(model), self.X_base))

    def _fit(self, learner: Any, X: Floats) -> Any:
        watched = {}
        if isinstance(learner, Boosted) and learner.stop is not None:
            watched["watched"] = (self.X_test, self._codes[self.y_test])
        with metered_fit():
            return learner.fit(X, self._codes[self.y], **watched)

    # The seven methods, as the scripts ran them.

    def run(self, method: Method, model: str) -> Outputs:
        """Return a method's predictions on the test rows."""
        if not self.published:
            return super().run(method, model)
        ways = {
            "reweighing": lambda: self._reweighed(model),
            "disparate_impact_remover": lambda: self._repaired(model),
            "equalized_odds": lambda: self._equalized(model),
            "calibrated_equalized_odds": lambda: self._adjusted(method, model),
            "reject_option": lambda: self._adjusted(method, model),
            "prejudice_remover": lambda: self._without_prejudice(method, model),
        }
        way = ways.get(base_name(method.mitigator))
        result = super().run(method, model) if way is None else way()
        if not (result.labels & self.y_test).any():  # precision and recall are 0: F1 is 0 / 0
            result = replace(result, measured={**result.measured, "favorable_f1": np.nan})
        return result

    def _reweighed(self, model: str) -> Outputs:
        """Return the model's predictions, measured on reweighed test rows."""
        first = self.base(model)
        if self.kernel.scaling == "test":
            first = outputs(self._fit(self.learner(model), self.X), self.X_test)
        # otherwise the same rows and labels are fitted again: the model is the same
        rule = Reweighing(privileged=1, favorable=1)
        rule.resample(None, self.y, self.s)
        weight = rule.weight_of_[self.s_test, self.y_test]
        counts = self.count(first.labels, first.labels, weight=weight)
        (measured,) = measure_counts([counts], self.trial.attributes, WEIGHTED)
        return Outputs(first.labels, first.scores, measured)

    def _repaired_model(self, model: str) -> Any:
        def fit() -> Any:
            self.fitted(model, calibrated=False)
            return self._fit(self.learner(model), self._repaired_rows())

        return self.once(("repaired", model), fit)

    def _repaired_rows(self) -> Floats:
        def repair() -> Floats:
            column = self.ready.columns[self.attributes[0]]
            others = [j for j in range(self.X.shape[1]) if j != column]
            rows = self.X.copy()
            rows[:, others] = repair_by_itself(self.X[:, others], self.s)
            rows[:, column] = self.s
            return rows

        return self.once(("repaired rows",), repair)

    def _repaired(self, model: str) -> Outputs:
        return self.once(
            ("repaired test", model), lambda: outputs(self._repaired_model(model), self.X_test)
        )

    def _scored(self, model: str) -> tuple[Floats, Labels]:
        """Return scores and labels of the model fitted on repaired rows, as E, C and O got them."""

        def score() -> tuple[Floats, Labels]:
            given = self._repaired(model)
            scores = given.scores
            if scores is None:  # Platt's scores beside the labels of the margin
                platt = CalibratedClassifierCV(self.learner(model), ensemble=False)
                with metered_fit():
                    platt.fit(self._repaired_rows(), self._codes[self.y])
                scores = outputs(platt, self.X_test).scores
            assert scores is not None
            if self.kernel.model == "HC6":
                scores = given.labels.astype(np.float64)
            if self.kernel.dataset == "german":
                scores = 1.0 - scores
            return scores, given.labels

        return self.once(("scored", model), score)

    def _equalized(self, model: str) -> Outputs:
        _, labels = self._scored(model)
        return Outputs(old_equalized_odds(labels, self.y_test, self.s_test), None)

    def _adjusted(self, method: Method, model: str) -> Outputs:
        scores, labels = self._scored(model)
        rule = self.make(method, None)
        rule.fit_scores(scores, labels, self.y_test, self.s_test)
        return Outputs(rule.adjust(scores, labels, self.s_test).astype(np.intp), None)

    def _without_prejudice(self, method: Method, model: str) -> Outputs:
        given = super().run(method, model)
        if self.kernel.dataset != "german":
            return given
        return Outputs(
            given.labels, given.scores, unknown_label(given.labels, self.y_test, self.s_test)
        )


def unknown_label(labels: Labels, y: Labels, s: Labels) -> dict[str, float]:
    """Return accuracy and error rate difference where unfavourable predictions are no known label.

    They count neither as true negatives nor as false ones: accuracy is the share of true positives,
    and the error rate, one less the accuracy, holds them all.

    Examples
    --------
    >>> labels, y, s = (np.array(v) for v in ([1, 0, 1, 0], [1, 0, 0, 1], [1, 1, 0, 0]))
    >>> unknown_label(labels, y, s)
    {'accuracy': 0.25, 'error_rate_difference': 0.5}
    """
    right = (labels == 1) & (y == 1)
    error = [1.0 - float(right[s == group].mean()) for group in (0, 1)]
    return {"accuracy": float(right.mean()), "error_rate_difference": error[0] - error[1]}


def old_equalized_odds(labels: Labels, y: Labels, s: Labels) -> Labels:
    """Flip labels by the program of AIF360 0.2, whose solution is mostly a constant prediction.

    Its constraints divide by each group's share of the rows where its base rate belongs, so that
    the two groups can hardly meet anywhere but at no favourable prediction at all. The solver of
    the time ended a little inside the bounds, which leaves one favourable prediction in a group.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> s = (rng.random(2000) < 0.86).astype(int)
    >>> y = (rng.random(2000) < np.where(s == 1, 0.25, 0.15)).astype(int)
    >>> labels = np.where(rng.random(2000) < 0.85, y, 1 - y)
    >>> int(labels.sum()), int(old_equalized_odds(labels, y, s).sum())
    (621, 2)
    """
    cells = np.array(
        [
            [[np.mean((labels == p) & (y == t) & (s == g)) for p in (1, 0)] for t in (1, 0)]
            for g in (1, 0)
        ]
    )
    share = np.array([np.mean(s == 1), np.mean(s == 0)])
    joint = cells / share[:, None, None]  # by group, label, prediction: shares within the group
    true = (joint[:, 0] / share[:, None]) * np.array([[1], [-1]])
    false = (joint[:, 1] / (1 - share[:, None])) * np.array([[1], [-1]])
    rates = joint / joint.sum(axis=2, keepdims=True)
    (tpr, fnr), (fpr, tnr) = np.moveaxis(rates, 0, -1)[0], np.moveaxis(rates, 0, -1)[1]
    cost = np.array([fpr[0] - tpr[0], tnr[0] - fnr[0], fpr[1] - tpr[1], tnr[1] - fnr[1]])
    program = linprog(cost, A_eq=[true.ravel(), false.ravel()], b_eq=[0, 0], bounds=[(0, 1)] * 4)
    assert program.x is not None  # no favourable prediction at all is always allowed
    keep_turn = np.clip(program.x, _INSIDE, 1 - _INSIDE).reshape(2, 2)
    source, adjusted = np.random.RandomState(_SEED), labels.copy()
    for group, (keep, turn) in zip((1, 0), keep_turn, strict=True):
        good, poor = (np.flatnonzero((s == group) & (labels == value)) for value in (1, 0))
        source.shuffle(good)
        source.shuffle(poor)
        adjusted[poor[: int(len(poor) * turn)]] = 1
        adjusted[good[: int(len(good) * (1 - keep))]] = 0
    return adjusted
