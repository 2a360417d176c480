"""Equalised odds (Hardt et al., 2016): flip labels at random until the error rates are equal."""

from typing import Any, ClassVar

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

    With more than two classes every predicted label is replaced by another one with a probability of
    its own in each group, such that all groups have one confusion matrix (given the true label), and
    a linear program finds the best of these. Where a class is hardly ever predicted, or predictions say
    little, few matrices can be had by all groups, and much accuracy may be lost: compare it before
    and after.

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
    replace_ : array of shape (groups, classes, classes)
        With more than two classes: the probability that a predicted label becomes another one.
    confusion_ : array of shape (classes, classes)
        With more than two classes: how often each true label (row) is predicted as each one.

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
    classes         two                                    any number
    weights         half honoured: unweighted shares       honoured
                    over weighted base rates
    constant        whatever corner the solver returns     the fewest flips
    predictions
    ==============  =====================================  ======================================

    ``predict_proba`` is the exact probability of the favourable label over the draws.

    References
    ----------
    M. Hardt, E. Price and N. Srebro, "Equality of opportunity in supervised learning",
    NeurIPS 2016. Of more classes: P. Putzel and S. Lee, "Blackbox post-processing for multiclass
    fairness", SafeAI 2022.

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
    multi_class = True
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
        if getattr(self, "favorable_", 1) is None:
            self._fit_classes(labels, y, s, w, names, objective)
            return
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

    def _fit_classes(
        self, labels: Vector, y: Vector, s: Vector, w: Weights, names: Any, objective: str
    ) -> None:
        """Learn with which probability each label of each group becomes each other one."""
        size = len(self.classes_)
        if self.published:
            raise NotApplicable(
                f"equalized_odds as published takes two classes and there are {size}; use "
                f'protocol="corrected".'
            )
        cell = (s * size + y) * size + labels
        count = np.bincount(cell, w, len(names) * size**2).reshape(-1, size, size).astype(float)
        total = count.sum(axis=2)
        check_cells(total, names, who=self.name)
        share = total.sum(axis=0) / total.sum()
        weight = share if objective == "accuracy" else np.full(size, 1.0 / size)
        rates = count / total[:, :, None]
        shares = count.sum(axis=1) / total.sum()
        self.replace_, self.confusion_ = one_confusion(rates, weight, shares)

    def _outputs(self, estimator: Any, X: Any) -> tuple[Floats, Vector]:
        if len(self.classes_) == 2:
            return super()._outputs(estimator, X)
        labels = np.searchsorted(self.classes_, estimator.predict(X))
        return labels.astype(np.float64), labels  # the labels alone decide

    def _predict_proba(self, X: Any, s: Vector | None) -> Floats:
        if len(self.classes_) == 2:
            return super()._predict_proba(X, s)
        return np.asarray(self.replace_[s, self._outputs(self.estimator_, X)[1]])

    def adjust(self, scores: Floats, labels: Vector, s: Vector) -> Vector:
        """Flip labels at random."""
        if not self.published:
            draw = uniform(self.random_state, len(s))
            if getattr(self, "favorable_", 1) is None:
                steps = self.replace_[s, labels].cumsum(axis=1)[:, :-1]
                return np.asarray((draw[:, None] >= steps).sum(axis=1), dtype=np.intp)
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


def one_confusion(rates: Floats, weight: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Return how labels of each group are replaced so that all groups have one confusion matrix.

    Parameters
    ----------
    rates : array of shape (groups, classes, classes)
        How often each true label is predicted as each one, by group.
    weight : array of shape (classes,)
        What a right prediction of each class is worth.
    shares : array of shape (groups, classes)
        How many rows are predicted so; of equally good rules the one that replaces few is taken.

    Returns
    -------
    (array of shape (groups, classes, classes), array of shape (classes, classes))
        The probabilities of replacing, and the confusion matrix.

    Examples
    --------
    >>> rates = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.75, 0.25], [0.25, 0.75]]])
    >>> replace, confusion = one_confusion(rates, np.full(2, 0.5), np.full((2, 2), 0.25))
    >>> confusion.round(6).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    groups, size = rates.shape[:2]
    moves, every = groups * size**2, size**2
    # what a label becomes, [group, predicted, new], then the confusion matrix [true, new]
    same = np.zeros((groups, size, size, moves + every))
    new = np.arange(size)
    for g in range(groups):  # groups and classes, not rows
        for y in range(size):
            for a in range(size):
                same[g, y, new, (g * size + a) * size + new] = rates[g, y, a]
            same[g, y, new, moves + y * size + new] = -1.0
    whole = np.kron(np.eye(groups * size), np.ones(size))
    equal = np.concatenate(
        [same.reshape(-1, moves + every), np.pad(whole, ((0, 0), (0, every)))], axis=0
    )
    limits = np.concatenate([np.zeros(groups * every), np.ones(groups * size)])
    kept = np.einsum("ga,ab->gab", shares, np.eye(size)).ravel()
    worth = np.concatenate([1e-7 * kept, np.diag(weight).ravel()])
    result = linprog(-worth, A_eq=equal, b_eq=limits, bounds=(0, 1), method="highs")
    assert result.x is not None, result.message  # one label for everybody is always feasible
    made = _tidy(np.clip(result.x, 0.0, 1.0))
    replace = made[:moves].reshape(groups, size, size)
    return replace / replace.sum(axis=2, keepdims=True), made[moves:].reshape(size, size)


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
