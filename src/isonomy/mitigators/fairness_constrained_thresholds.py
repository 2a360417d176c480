"""Group thresholds under a fairness constraint: the exact optimum over the groups' ROC hulls."""

from typing import ClassVar

import numpy as np

from isonomy._arrays import Floats
from isonomy._validate import check_choice
from isonomy.errors import InputError, NotApplicable
from isonomy.mitigators._hulls import (
    Curve,
    Mixture,
    best_pair,
    best_window,
    concave_hull,
    equal_odds,
    level_rates,
    relaxed_odds,
    roc_curve,
)
from isonomy.mitigators._post import check_cells, label_sums, recentre, uniform
from isonomy.mitigators.base import MITIGATORS, Vector, Weights
from isonomy.mitigators.stages import PostProcessor

CONSTRAINTS = ("demographic_parity", "equal_opportunity", "predictive_equality", "equalized_odds")
OBJECTIVES = ("accuracy", "balanced_accuracy")


@MITIGATORS.register("fairness_constrained_thresholds", aliases=("thresholds",))
class FairnessConstrainedThresholds(PostProcessor):
    r"""Chooses a threshold, or a lottery of thresholds, for each group under a fairness constraint.

    A threshold gives a group one point of its ROC curve; a lottery between thresholds gives any
    point under the curve's concave hull. Among all lotteries that keep the constraint, this takes
    the ones with the best objective, exactly: along one rate the objective is concave and
    piecewise linear, so that its best value sits on a vertex of some group's hull; equalised odds
    is the highest point under all hulls.

    Parameters
    ----------
    estimator : classifier, optional
        The base learner; see ``PostProcessor``.
    constraint : {"demographic_parity", "equal_opportunity", "predictive_equality", "equalized_odds"}
        What the groups shall have in common: the rate of favourable predictions, the true
        positive rate, the false positive rate, or the latter two.
    tolerance : float
        The largest difference allowed between two groups, in each constrained rate.
    objective : {"accuracy", "balanced_accuracy"}
        What is made as large as the constraint allows.
    randomize : bool
        Whether a group may have several thresholds with probabilities. Without it the result
        is one threshold for each group, which meets a tolerance of 0 mostly by one label for all.
    fit_on, privileged, favorable, sensitive_columns, protocol, random_state
        See ``PostProcessor``.

    Attributes
    ----------
    thresholds_ : list of arrays
        Each group's thresholds, falling; a score above one is favourable under it.
    probabilities_ : list of arrays
        How often each of them is drawn.
    objective_ : float
        The expected objective on the rows the rule was learnt from.

    Notes
    -----
    **Protocols**

    No published study used it, so the two protocols differ only in where the rule is learnt:
    as_published on the training rows' own scores, corrected on out-of-fold scores. Weights are
    honoured, and any number of groups; equalised odds without a lottery takes two. The result is
    that of fairlearn's ThresholdOptimizer without its grid.

    ``predict_proba`` is the exact probability of the favourable label over the lottery; without a
    lottery the scores are moved so that each group's threshold sits at one half.

    References
    ----------
    M. Hardt, E. Price and N. Srebro, "Equality of opportunity in supervised learning",
    NeurIPS 2016. S. Corbett-Davies et al., "Algorithmic decision making and the cost of
    fairness", KDD 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import FairnessConstrainedThresholds
    >>> scores = np.array([0.9, 0.7, 0.6, 0.4, 0.6, 0.45, 0.3, 0.2])
    >>> y = np.array([1, 1, 0, 0, 1, 1, 0, 0])
    >>> group = np.array([1, 1, 1, 1, 0, 0, 0, 0])
    >>> rule = FairnessConstrainedThresholds(constraint="demographic_parity")
    >>> rule.fit_scores(scores, (scores > 0.5).astype(int), y, group)
    >>> rule.adjust(scores, None, group).tolist(), rule.objective_
    ([1, 1, 0, 0, 1, 1, 0, 0], 1.0)
    """

    label = "Thresholds"
    advice = "The strongest post-processor: best accuracy at the disparity you allow."
    reference = "Hardt, Price and Srebro, NeurIPS 2016"
    rule_uses_estimator = False
    aims: ClassVar = {goal: {"constraint": goal} for goal in CONSTRAINTS}
    objectives: ClassVar = {name: {"objective": name} for name in OBJECTIVES}
    strength_values: ClassVar = {"tolerance": (0.1, 0.05, 0.02, 0.0)}
    cheap_to_tune = True
    draws_to_predict = True
    multi_group = True
    one_against_rest = True

    constraint: str = "demographic_parity"
    tolerance: float = 0.0
    objective: str = "accuracy"
    randomize: bool = True

    def fit_scores(
        self, scores: Floats, labels: Vector, y: Vector, s: Vector, w: Weights = None
    ) -> None:
        """Learn the thresholds of each group and their probabilities."""
        check_choice("constraint", self.constraint, CONSTRAINTS)
        check_choice("objective", self.objective, OBJECTIVES)
        if not 0 <= self.tolerance <= 1:
            raise InputError(f"tolerance must lie in [0, 1]; got {self.tolerance:g}.")
        names = getattr(self, "groups_", range(int(s.max()) + 1))
        total = label_sums(y, s, None, w, len(names))
        check_cells(total, names, who=self.name)
        curves = [roc_curve(scores, y, w, np.flatnonzero(s == g)) for g in range(len(names))]
        # the objective of a group is gain @ (false, true) plus a constant
        everyone = total.sum(axis=0) * 2 if self.objective == "balanced_accuracy" else total.sum()
        gain = np.array([-1.0, 1.0]) / everyone
        constant = (total.sum(axis=0) / everyone)[0]
        if self.randomize:
            hulls = [c.at(concave_hull(c.false, c.true)) for c in curves]
            mixtures = self._lotteries(hulls, total, gain)
        else:
            hulls = curves
            chosen = self._single(curves, total, gain)
            mixtures = [(np.array([position]), np.ones(1)) for position in chosen]
        self.thresholds_ = [h.threshold[i] for h, (i, _) in zip(hulls, mixtures, strict=True)]
        self.probabilities_ = [p for _, p in mixtures]
        self.objective_ = float(constant) + sum(
            float(p @ (gain[0] * h.false[i] + gain[1] * h.true[i]))
            for h, (i, p) in zip(hulls, mixtures, strict=True)
        )

    def _lotteries(self, hulls: list[Curve], total: Floats, gain: Floats) -> list[Mixture]:
        if self.constraint != "equalized_odds":
            return level_rates(hulls, total, gain, self.constraint, self.tolerance)
        if self.tolerance > 0:
            return relaxed_odds(hulls, total, gain, self.tolerance)
        return equal_odds(hulls, total, gain)

    def _single(self, curves: list[Curve], total: Floats, gain: Floats) -> list[int]:
        if self.constraint != "equalized_odds":
            return best_window(curves, total, gain, self.constraint, self.tolerance)
        if len(curves) > 2:
            raise NotApplicable(
                f"fairness_constrained_thresholds takes two groups for equalized_odds without a "
                f"lottery and there are {len(curves)}; use randomize=True."
            )
        return best_pair(curves, total, gain, self.tolerance)

    def adjust(self, scores: Floats, labels: Vector, s: Vector) -> Vector:
        """Draw a threshold for each row and compare its score with it."""
        draw = uniform(self.random_state, len(s)) if self.randomize else 0.5
        return (draw < self._probability(scores, s)).astype(np.intp)

    def adjust_scores(self, scores: Floats, labels: Vector, s: Vector) -> Floats:
        """Return the exact probability of the favourable label, or the scores moved."""
        if self.randomize:
            return self._probability(scores, s)
        each = np.array([t[0] for t in self.thresholds_])
        return recentre(scores, np.clip(each, np.nextafter(0, -1), 1.0)[s])

    def _probability(self, scores: Floats, s: Vector) -> Floats:
        """Add up the probabilities of the thresholds below each score."""
        p = np.empty(len(scores))
        for g, (t, q) in enumerate(zip(self.thresholds_, self.probabilities_, strict=True)):
            rows = np.flatnonzero(s == g)
            rising = np.append(0.0, np.cumsum(q[::-1]))
            rising[-1] = 1.0
            p[rows] = rising[np.searchsorted(t[::-1], scores[rows], side="left")]
        return p
