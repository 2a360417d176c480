"""Equalised odds (Hardt et al., 2016): flip labels at random until the error rates are equal."""

from typing import ClassVar

import numpy as np
from scipy.optimize import linprog
from sklearn.base import BaseEstimator

from isonomy._arrays import Floats
from isonomy._validate import check_choice
from isonomy.errors import NotApplicable
from isonomy.mitigators._post import SEED, check_cells, label_sums, uniform
from isonomy.mitigators.base import MITIGATORS, Vector, Weights
from isonomy.mitigators.stages import PostProcessor
from isonomy.models import with_scores

OBJECTIVES = ("accuracy", "balanced")
DUST = 1e-12  # what rounding leaves of a 0 or of a 1


@MITIGATORS.register("equalized_odds", aliases=("eo", "eop"))
class EqualizedOdds(PostProcessor):
    r"""Flips labels at random so that all groups have one true and one false positive rate.

    With labels alone a group can reach every point :math:`p\,(f, t) + q\,(1 - f, 1 - t)` of the
    plane of false and true positive rates, where :math:`f, t` are its own rates, :math:`p` is
    the probability that a favourable prediction is kept and :math:`q` that an unfavourable one
    is turned. Of the points that all groups can reach the best one is chosen: by a closed form
    for two groups, by a linear program in two unknowns for more.

    Parameters
    ----------
    estimator : classifier, optional
        The base learner; see ``PostProcessor``.
    objective : {"accuracy", "balanced"}, optional
        What is best: the share of rows that are right, or true less false positive rate. When
        None: ``accuracy``, and ``balanced`` under as_published.
    fit_on, privileged, favorable, sensitive_columns, protocol, random_state
        See ``PostProcessor``.

    Attributes
    ----------
    keep_ : array of shape (groups,)
        The probability that a favourable prediction stays favourable.
    turn_ : array of shape (groups,)
        The probability that an unfavourable prediction becomes favourable.
    false_positive_rate_, true_positive_rate_ : float
        The rates that all groups are brought to, on the rows the rule was learnt from.

    Notes
    -----
    **Protocols**

    ==============  =====================================  ======================================
    what            as_published                           corrected
    ==============  =====================================  ======================================
    objective       ``balanced``: sizes and base rates     ``accuracy``
                    of the groups do not enter
    flips           a whole number of the rows passed      each row by itself, with its
                    to predict, cut down, so that a        probability
                    single row is never flipped
    draws           one fixed seed at every call, the      one number a row from
                    privileged first                       ``random_state``
    learnt on       the training rows' own labels          out-of-fold labels
    groups          two                                    any number
    weights         half honoured: unweighted shares       honoured
                    over weighted base rates
    constant        whatever corner the solver returns     the fewest flips
    predictions
    ==============  =====================================  ======================================

    ``predict_proba`` is the exact probability of the favourable label over the draws.

    References
    ----------
    M. Hardt, E. Price and N. Srebro, "Equality of opportunity in supervised learning",
    NeurIPS 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import EqualizedOdds
    >>> labels = np.array([1, 1, 0, 0, 1, 0, 0, 0])
    >>> y = np.array([1, 1, 0, 0, 1, 1, 0, 0])
    >>> group = np.array([1, 1, 1, 1, 0, 0, 0, 0])
    >>> rule = EqualizedOdds()
    >>> rule.fit_scores(labels.astype(float), labels, y, group)
    >>> rule.keep_.tolist(), rule.true_positive_rate_
    ([1.0, 0.5], 0.5)
    """

    label = "EO"
    advice = "Equal error rates from labels alone, any number of groups; random."
    reference = "Hardt, Price and Srebro, NeurIPS 2016"
    rule_uses_estimator = False
    # one true and one false positive rate for all groups: each of the two goals, and both
    aims: ClassVar = {"equal_opportunity": {}, "predictive_equality": {}, "equalized_odds": {}}
    objectives: ClassVar = {
        "accuracy": {"objective": "accuracy"},
        "balanced_accuracy": {"objective": "balanced"},
    }
    draws_to_predict = True
    multi_group = True
    needs_scores = False

    objective: str | None = None

    def base_learner(self) -> BaseEstimator:
        """Return the unfitted base learner."""
        # the studies took the labels of the calibrated model, though scores are not used
        base = super().base_learner()
        return with_scores(base) if self.published else base

    def fit_scores(
        self, scores: Floats, labels: Vector, y: Vector, s: Vector, w: Weights = None
    ) -> None:
        """Learn the probabilities of keeping and of turning a label."""
        objective = self.objective or ("balanced" if self.published else "accuracy")
        check_choice("objective of equalized_odds", objective, OBJECTIVES)
        names = getattr(self, "groups_", range(int(s.max()) + 1))
        if self.published and len(names) != 2:
            raise NotApplicable(
                f"equalized_odds as published takes two groups and there are {len(names)}; "
                f'use protocol="corrected".'
            )
        total = label_sums(y, s, None, w, len(names))
        check_cells(total, names, who=self.name)
        fpr, tpr = (label_sums(y, s, labels, w, len(names)) / total).T
        share = total[:, 1].sum() / total.sum() if objective == "accuracy" else 0.5
        if self.published and (w is not None or (np.abs(tpr - fpr) <= DUST).any()):
            # weights meet a slip of the reference; labels that say nothing have many optima
            self.keep_, self.turn_ = _as_published(labels, y, s, fpr, tpr, total)
        else:
            solve = closed_form if len(names) == 2 else linear_program
            self.keep_, self.turn_ = _flips(*solve(fpr, tpr, share), fpr, tpr)
        self.false_positive_rate_ = float(fpr[0] * self.keep_[0] + (1 - fpr[0]) * self.turn_[0])
        self.true_positive_rate_ = float(tpr[0] * self.keep_[0] + (1 - tpr[0]) * self.turn_[0])

    def adjust(self, scores: Floats, labels: Vector, s: Vector) -> Vector:
        """Flip labels at random."""
        if not self.published:
            draw = uniform(self.random_state, len(s))
            return (draw < self.adjust_scores(scores, labels, s)).astype(np.intp)
        adjusted = labels.copy()
        source = np.random.RandomState(SEED)
        for group in (1, 0):
            good = np.flatnonzero((s == group) & (labels == 1))
            poor = np.flatnonzero((s == group) & (labels == 0))
            source.shuffle(good)
            source.shuffle(poor)
            adjusted[poor[: int(len(poor) * self.turn_[group])]] = 1
            adjusted[good[: int(len(good) * (1 - self.keep_[group]))]] = 0
        return adjusted

    def adjust_scores(self, scores: Floats, labels: Vector, s: Vector) -> Floats:
        """Return the exact probability of the favourable label over the draws."""
        return np.where(labels == 1, self.keep_[s], self.turn_[s])


def _upper(fpr: Floats, tpr: Floats) -> tuple[Floats, Floats]:
    """Turn the groups whose labels are worse than chance upside down."""
    worse = tpr < fpr
    return np.where(worse, 1 - fpr, fpr), np.where(worse, 1 - tpr, tpr)


def closed_form(fpr: Floats, tpr: Floats, share: float) -> tuple[float, float]:
    """Return the best point that two groups can both reach.

    A group's upper boundary runs from (0, 0) over its own corner to (1, 1), so what both reach
    ends in the corner of one that lies under the other, or else where the later part of the one
    boundary crosses the earlier part of the other; a one-sided objective may prefer an end.

    Parameters
    ----------
    fpr, tpr : array of shape (2,)
        The groups' own rates.
    share : float
        The share of favourable labels; ``share * tpr - (1 - share) * fpr`` is maximised.

    Returns
    -------
    (float, float)
        False and true positive rate.

    Examples
    --------
    >>> closed_form(np.array([0.0, 0.25]), np.array([1.0, 0.75]), 0.5)
    (0.25, 0.75)
    """
    F, T = _upper(fpr, tpr)
    points = [(0.0, 0.0), (1.0, 1.0)]
    for one, other in ((0, 1), (1, 0)):
        early = F[other] * T[one] <= T[other] * F[one]
        late = (1 - F[other]) * (1 - T[one]) >= (1 - T[other]) * (1 - F[one])
        if early and late:
            points.append((float(F[one]), float(T[one])))
    if len(points) == 2:
        left, right = (0, 1) if F[0] < F[1] else (1, 0)
        rise = T[right] / F[right]
        rest = (1 - T[left]) / (1 - F[left])
        x = (1 - rest) / (rise - rest)
        points.append((float(x), float(rise * x)))
    return max(reversed(points), key=lambda at: share * at[1] - (1 - share) * at[0])


def linear_program(fpr: Floats, tpr: Floats, share: float) -> tuple[float, float]:
    """Return the best point that any number of groups can all reach.

    Each group adds two lines that the point must not be above; they are all that is needed,
    because the objective pushes up and to the left.

    Examples
    --------
    >>> linear_program(np.array([0.0, 0.25]), np.array([1.0, 0.75]), 0.5)
    (0.25, 0.75)
    """
    F, T = _upper(fpr, tpr)
    lines = np.concatenate([np.column_stack([-T, F]), np.column_stack([T - 1, 1 - F])])
    limits = np.concatenate([np.zeros_like(F), T - F])
    result = linprog([1 - share, -share], A_ub=lines, b_ub=limits, bounds=(0, 1), method="highs")
    assert result.x is not None, result.message  # (0, 0) is always feasible
    x, z = np.clip(result.x, 0.0, 1.0)  # the solver may overstep its bounds by a rounding
    return float(x), float(z)


def _flips(x: float, z: float, fpr: Floats, tpr: Floats) -> tuple[Floats, Floats]:
    """Return each group's probabilities of keeping and turning that lead to the point (x, z)."""
    apart = tpr - fpr
    plain = np.abs(apart) > DUST
    gap = np.where(plain, apart, 1.0)
    # labels that say nothing reach the diagonal only, there with the fewest flips
    up = np.divide(z - tpr, 1 - tpr, out=np.zeros_like(tpr), where=z > tpr)
    down = np.divide(z, tpr, out=np.ones_like(tpr), where=z < tpr)
    keep = np.where(plain, (z * (1 - fpr) - x * (1 - tpr)) / gap, down)
    turn = np.where(plain, (x * tpr - z * fpr) / gap, up)
    return _tidy(keep), _tidy(turn)


def _tidy(p: Floats) -> Floats:
    p = np.where(p < DUST, 0.0, p)
    return np.where(p > 1 - DUST, 1.0, p)


def _as_published(
    labels: Vector, y: Vector, s: Vector, fpr: Floats, tpr: Floats, total: Floats
) -> tuple[Floats, Floats]:
    """Solve the published program in the four probabilities, privileged first.

    Its constraints divide unweighted shares by weighted base rates; without weights they are the
    rates. Where the optimum is not unique, the corner that the solver comes to is the answer.
    """
    counts = np.bincount((y * 2 + s) * 2 + labels, minlength=8).reshape(2, 2, 2)
    joint = counts / np.bincount(s, minlength=2)[:, None]
    share = (total / total.sum(axis=1, keepdims=True)).T[:, :, None]
    order = [1, 0]
    own = (joint / share)[:, order, ::-1]  # (label, group, prediction), favourable first
    equal = (own * np.array([[1.0], [-1.0]])).reshape(2, 4)[::-1]
    gain = np.column_stack([fpr - tpr, tpr - fpr])[order].ravel()
    result = linprog(gain, A_eq=equal, b_eq=[0.0, 0.0], bounds=(0, 1), method="highs")
    assert result.x is not None, result.message  # all zero is always feasible
    keep, turn = result.x.reshape(2, 2)[order].T
    return _tidy(keep), _tidy(turn)
