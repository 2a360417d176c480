"""Calibrated equalised odds (Pleiss et al., 2017): equal costs by withholding information."""

from typing import ClassVar

import numpy as np

from isonomy._arrays import Floats, divide
from isonomy._validate import check_choice
from isonomy.errors import NotApplicable
from isonomy.mitigators._post import SEED, check_cells, label_sums, uniform
from isonomy.mitigators.base import MITIGATORS, Vector, Weights
from isonomy.mitigators.stages import PostProcessor

COSTS = ("fnr", "fpr", "weighted")


@MITIGATORS.register("calibrated_equalized_odds", aliases=("ceo",))
class CalibratedEqualizedOdds(PostProcessor):
    r"""Replaces some scores of the better-served group by its base rate until the costs are equal.

    With :math:`b_g` the rate of favourable labels in group :math:`g`, the cost of a group is its
    generalised false negative rate :math:`E[1 - p \mid y = 1]`, its generalised false positive
    rate :math:`E[p \mid y = 0]`, or :math:`\frac12 (1 - b_g)` of the latter plus
    :math:`\frac12 b_g` of the former. A random share of the group with the lower cost gets the
    score :math:`b_g`, which keeps calibrated scores calibrated and raises the cost to that of the
    other group. The favourable label is given where the score is at least one half.

    Parameters
    ----------
    estimator : classifier, optional
        The base learner; see ``PostProcessor``.
    cost : {"auto", "weighted", "fnr", "fpr"}
        The cost to equalise. ``auto`` tries all three and keeps the one after which true and
        false positive rates of the groups differ least on the rows that the rule is learnt from;
        where each of them makes these differ more, by more than a standard error, the method does
        not apply. Under as_published ``auto`` is ``weighted``.
    fit_on, privileged, favorable, sensitive_columns, protocol, random_state
        See ``PostProcessor``.

    Attributes
    ----------
    mix_rate_ : array of shape (2,)
        The share that is replaced among the unprivileged and the privileged.
    base_rate_ : array of shape (2,)
        The score that replaces them.
    chosen_cost_ : str
        The cost that is made equal.
    cost_ : array of shape (2,)
        The costs before.
    reached_ : bool
        Whether the costs can be made equal at all.

    Notes
    -----
    **Protocols**

    ==============  =======================================  ===================================
    what            as_published                             corrected
    ==============  =======================================  ===================================
    cost            ``weighted`` unless another is named     the best of three (``auto``)
    share           not clipped: above 1 acts as all,        not applicable where no share makes
                    negative or undefined as none            the costs equal
    draws           one fixed seed at every call, the        one number a row from
                    unprivileged first                       ``random_state``
    empty cell      an undefined cost replaces nothing       refused
    learnt on       the training rows' own scores            out-of-fold scores
    ==============  =======================================  ===================================

    ``predict_proba`` is the exact probability of the favourable label over the draws;
    ``mixed_scores`` returns the expected score, whose costs are the ones made equal. Two groups.

    References
    ----------
    G. Pleiss, M. Raghavan, F. Wu, J. Kleinberg and K. Q. Weinberger, "On fairness and
    calibration", NeurIPS 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import CalibratedEqualizedOdds
    >>> scores = np.array([0.9, 0.8, 0.3, 0.1, 0.7, 0.6, 0.5, 0.2])
    >>> y = np.array([1, 1, 0, 0, 1, 1, 0, 0])
    >>> group = np.array([1, 1, 1, 1, 0, 0, 0, 0])
    >>> rule = CalibratedEqualizedOdds(cost="fnr")
    >>> rule.fit_scores(scores, (scores > 0.5).astype(int), y, group)
    >>> rule.mix_rate_.round(3).tolist()
    [0.0, 0.571]
    """

    label = "CEO"
    advice = "Keeps calibration and equalises one cost, by making good scores worse."
    reference = "Pleiss et al., NeurIPS 2017"
    rule_uses_estimator = False
    aims: ClassVar = {
        "equal_opportunity": {"cost": "fnr"},
        "predictive_equality": {"cost": "fpr"},
        "equalized_odds": {"cost": "auto"},
    }
    corrected_version = "2"  # the cost is chosen; not applicable instead of clipped
    draws_to_predict = True

    cost: str = "auto"

    def fit_scores(
        self, scores: Floats, labels: Vector, y: Vector, s: Vector, w: Weights = None
    ) -> None:
        """Learn the base rates and the share to replace."""
        check_choice("cost of calibrated_equalized_odds", self.cost, ("auto", *COSTS))
        if self.cost != "auto":
            self._equalize(self.cost, scores, y, s, w)
        elif self.published:
            self._equalize("weighted", scores, y, s, w)
        else:
            self._equalize_best(scores, labels, y, s, w)

    def _equalize_best(
        self, scores: Floats, labels: Vector, y: Vector, s: Vector, w: Weights
    ) -> None:
        """Make that cost equal after which the groups' error rates differ least."""
        total = label_sums(y, s, None, w, 2)
        check_cells(total, ("unprivileged", "privileged"), who=self.name)

        def odds_gap(favorable: Floats) -> float:
            return float(np.abs(np.diff(label_sums(y, s, favorable, w, 2) / total, axis=0)).mean())

        gaps, reasons = {}, []
        for cost in COSTS:
            try:
                self._equalize(cost, scores, y, s, w)
            except NotApplicable as reason:
                reasons.append(str(reason))
            else:
                gaps[cost] = odds_gap(self.adjust_scores(scores, labels, s))
        best = min(gaps, key=gaps.__getitem__, default=None)
        before = odds_gap((scores >= 0.5).astype(np.float64))
        if best is None:
            raise NotApplicable(reasons[-1])
        # what the rates' own standard errors cannot explain: at most 0.5 / sqrt(rows) each
        luck = 0.25 * np.sqrt((1 / total).sum())
        if gaps[best] > before + luck:
            raise NotApplicable(
                f"{self.name} would make the groups' true and false positive rates differ by "
                f"{gaps[best]:.3g} instead of {before:.3g} on average, whichever cost is made "
                f"equal: use another method."
            )
        self._equalize(best, scores, y, s, w)

    def _equalize(self, cost_name: str, scores: Floats, y: Vector, s: Vector, w: Weights) -> None:
        """Learn the share to replace for one cost."""
        total = label_sums(y, s, None, w, 2)
        if self.protocol == "corrected":
            needed = total[:, {"fnr": [1], "fpr": [0], "weighted": [0, 1]}[cost_name]]
            check_cells(needed, ("unprivileged", "privileged"), who=self.name)
        gfpr, one_less_gfnr = divide(label_sums(y, s, scores, w, 2), total).T
        gfnr = 1 - one_less_gfnr
        base = total[:, 1] / total.sum(axis=1)
        cost, trivial = {
            "fnr": (gfnr, 1 - base),
            "fpr": (gfpr, base),
            "weighted": (0.5 * gfpr * (1 - base) + 0.5 * gfnr * base, base * (1 - base)),
        }[cost_name]
        better = 1 if cost[0] > cost[1] else 0
        gap, room = abs(cost[0] - cost[1]), trivial[better] - cost[better]
        self.reached_ = bool(gap == 0 or gap <= room)
        self.chosen_cost_, self.base_rate_, self.cost_ = cost_name, base, cost
        self.mix_rate_ = np.zeros(2)
        if self.published:
            self.mix_rate_[better] = divide(gap, room)
        elif not self.reached_:
            raise NotApplicable(
                f"{self.name} cannot make the {cost_name} costs equal: they are {cost[0]:.3g} and "
                f"{cost[1]:.3g}, and the base rate alone costs the better-served group "
                f"{trivial[better]:.3g}: use another cost or method."
            )
        elif gap > 0:
            self.mix_rate_[better] = gap / room

    def adjust(self, scores: Floats, labels: Vector, s: Vector) -> Vector:
        """Replace a random share of the scores by the base rate and cut at one half."""
        if self.published:
            source = np.random.RandomState(SEED)
            draw = np.empty(len(s))
            for group in (0, 1):
                rows = s == group
                draw[rows] = source.random_sample(int(rows.sum()))
            mixed = draw <= self.mix_rate_[s]
        else:
            mixed = uniform(self.random_state, len(s)) < self.mix_rate_[s]
        return (np.where(mixed, self.base_rate_[s], scores) >= 0.5).astype(np.intp)

    def adjust_scores(self, scores: Floats, labels: Vector, s: Vector) -> Floats:
        """Return the exact probability of the favourable label over the draws."""
        own = (scores >= 0.5).astype(np.float64)
        return self._mix(own, (self.base_rate_ >= 0.5).astype(np.float64), s)

    def mixed_scores(self, scores: Floats, s: Vector) -> Floats:
        """Return the expected score over the draws."""
        return self._mix(scores, self.base_rate_, s)

    def _mix(self, own: Floats, instead: Floats, s: Vector) -> Floats:
        share = np.clip(np.nan_to_num(self.mix_rate_, nan=0.0), 0.0, 1.0)[s]
        return (1 - share) * own + share * instead[s]
