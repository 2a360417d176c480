"""Reject option classification (Kamiran et al., 2012): doubtful cases go to the worse-off group."""

import warnings
from typing import ClassVar

import numpy as np

from isonomy._arrays import Floats
from isonomy._validate import check_choice
from isonomy.errors import InputError, UnmetConstraintWarning
from isonomy.mitigators._post import check_cells, label_sums, recentre
from isonomy.mitigators.base import MITIGATORS, Vector, Weights
from isonomy.mitigators.stages import PostProcessor

METRICS = ("spd", "aod", "eod")
Z = 1.96
"""Standard errors between a disparity and its bounds."""
MOST_OF_ROOM = 0.8
"""The most of the bounds that this margin may take: few rows must not leave constant rules only."""
OBJECTIVES = ("accuracy", "balanced_accuracy")


@MITIGATORS.register("reject_option", aliases=("roc",))
class RejectOption(PostProcessor):
    r"""Gives the favourable label to doubtful cases of the worse-off group and not of the other.

    Scores within a margin :math:`m` of the threshold :math:`t` are doubtful. There the
    unprivileged get the favourable label and the privileged the other one, which is the same as
    a threshold for each group: :math:`t + m` for the privileged, :math:`t - m` for the
    unprivileged. Of a grid of :math:`(t, m)` the pair with the best balanced accuracy (or
    accuracy, by ``objective``) is taken among those whose disparity lies within ``bounds``.

    The scores of the four cells of group and label are sorted once and all thresholds are looked
    up at once, so that the search costs about as much as the sort.

    Parameters
    ----------
    estimator : classifier, optional
        The base learner; see ``PostProcessor``.
    metric : {"spd", "aod", "eod"}
        The disparity that ``bounds`` limit, unprivileged less privileged: of the rate of
        favourable predictions, of the mean of true and false positive rate, of the true positive
        rate.
    bounds : (float, float)
        The least and the largest disparity allowed.
    objective : {"balanced_accuracy", "accuracy"}
        What is made as large as the bounds allow; the first is the paper's.
    low, high : float
        The ends of the grid of thresholds.
    n_thresholds, n_margins : int
        How many thresholds, and how many margins for each: from 0 to the nearer of 0 and 1.
    fit_on, privileged, favorable, sensitive_columns, protocol, random_state
        See ``PostProcessor``.

    Attributes
    ----------
    threshold_, margin_ : float
        The pair that was chosen.
    disparity_, balanced_accuracy_ : float
        What it reached on the rows it was learnt from.
    feasible_ : bool
        Whether any pair was within the bounds.
    safe_ : bool
        Whether the disparity is 1.96 standard errors away from both bounds, so that it can be
        expected to be within them on new rows; corrected only.

    Notes
    -----
    **Protocols**

    ======================  ================================  ====================================
    what                    as_published                      corrected
    ======================  ================================  ====================================
    no pair within bounds   the most negative disparity       the disparity nearest to the bounds,
                            (a slip of the reference)         with a warning
    ties                    lowest threshold, then margin     smaller disparity, then margin
    margin of safety        none                              bounds are narrowed by 1.96 standard
                                                              errors of the disparity, by four fifths
                                                              at most
    learnt on               the training rows' own scores     out-of-fold scores
    ======================  ================================  ====================================

    Scores on a threshold are unfavourable in both. ``predict_proba`` moves the scores so that a
    group's threshold sits at one half and their order within the group stays. Two groups.

    References
    ----------
    F. Kamiran, A. Karim and X. Zhang, "Decision theory for discrimination-aware classification",
    ICDM 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import RejectOption
    >>> scores = np.array([0.9, 0.7, 0.6, 0.4, 0.6, 0.45, 0.3, 0.2])
    >>> y = np.array([1, 1, 0, 0, 1, 1, 0, 0])
    >>> group = np.array([1, 1, 1, 1, 0, 0, 0, 0])
    >>> rule = RejectOption(metric="spd")
    >>> rule.fit_scores(scores, (scores > 0.5).astype(int), y, group)
    >>> rule.adjust(scores, None, group).tolist()
    [1, 1, 0, 0, 1, 1, 0, 0]
    """

    label = "ROC"
    advice = "Reaches a chosen limit on one disparity by two thresholds; repeatable."
    reference = "Kamiran, Karim and Zhang, ICDM 2012"
    rule_uses_estimator = False
    aims: ClassVar = {
        "demographic_parity": {"metric": "spd"},
        "equal_opportunity": {"metric": "eod"},
        "equalized_odds": {"metric": "aod"},
    }
    objectives: ClassVar = {name: {"objective": name} for name in OBJECTIVES}
    strength_values: ClassVar = {
        "bounds": ((-0.1, 0.1), (-0.05, 0.05), (-0.02, 0.02), (-0.01, 0.01))
    }
    cheap_to_tune = True
    corrected_version = "2"  # a margin of safety

    metric: str = "spd"
    bounds: tuple[float, float] = (-0.05, 0.05)
    objective: str = "balanced_accuracy"
    low: float = 0.01
    high: float = 0.99
    n_thresholds: int = 100
    n_margins: int = 50

    def fit_scores(
        self, scores: Floats, labels: Vector, y: Vector, s: Vector, w: Weights = None
    ) -> None:
        """Choose the threshold and the margin."""
        check_choice("metric of reject_option", self.metric, METRICS)
        check_choice("objective of reject_option", self.objective, OBJECTIVES)
        if not 0 <= self.low <= self.high <= 1:
            raise InputError(
                f"low and high must satisfy 0 <= low <= high <= 1; got {self.low:g} and "
                f"{self.high:g}."
            )
        needed = total = label_sums(y, s, None, w, 2)
        if self.metric == "spd":
            # the parity of rates needs no label in every group, balanced accuracy both in all
            needed = total.sum(axis=0) * total.sum(axis=1, keepdims=True)
        check_cells(needed, ("unprivileged", "privileged"), who=self.name)
        t = np.linspace(self.low, self.high, self.n_thresholds)
        m = np.linspace(0.0, np.where(t <= 0.5, t, 1 - t), self.n_margins, axis=1)
        t = np.broadcast_to(t[:, None], m.shape)
        chosen = np.empty((2, 2, *m.shape))
        for group, threshold in enumerate((t - m, t + m)):
            for true in (0, 1):
                rows = np.flatnonzero((s == group) & (y == true))
                chosen[group, true] = _weight_above(
                    scores[rows], None if w is None else w[rows], threshold
                )
        disparity, balanced = _criteria(chosen, total[:, :, None, None], self.metric)
        spread = np.zeros(m.shape)
        if self.protocol == "corrected":
            # Kish's effective number: how many rows each cell's weight is worth
            rows_behind = total if w is None else total**2 / label_sums(y, s, w, w, 2)
            spread = _standard_error(chosen, total, rows_behind, self.metric)
        right = balanced
        if self.objective == "accuracy":
            right = (chosen[:, 1] - chosen[:, 0]).sum(axis=0) / total.sum()
        best = self._choose(m, disparity, spread, right)
        self.threshold_, self.margin_ = float(t[best]), float(m[best])
        self.disparity_, self.balanced_accuracy_ = float(disparity[best]), float(balanced[best])

    def _choose(
        self, m: Vector, disparity: Vector, spread: Vector, right: Vector
    ) -> tuple[int, int]:
        """Return the position of the best pair in the grid."""
        least, largest = self.bounds
        if not least <= largest:
            raise InputError(
                f"bounds must be the least and the largest {self.metric} allowed, in this order; got "
                f"{self.bounds}."
            )
        feasible = (disparity >= least) & (disparity <= largest)
        self.feasible_ = bool(feasible.any())
        if self.published:
            aim = np.where(feasible, right, -np.inf) if self.feasible_ else -disparity
            row, column = divmod(int(np.argmax(aim)), int(m.shape[1]))
            return row, column
        if not self.feasible_:
            away = np.maximum(least - disparity, disparity - largest)
            feasible = away == away.min()
            warnings.warn(
                f"reject_option found no threshold and margin with {self.metric} between "
                f"{least:g} and {largest:g}; the nearest disparity is "
                f"{disparity[feasible][0]:.3g}: widen bounds.",
                UnmetConstraintWarning,
                stacklevel=2,
            )
        room = np.minimum(disparity - least, largest - disparity)
        margin = np.minimum(Z * spread, MOST_OF_ROOM * (largest - least) / 2)
        safe = feasible & (room >= margin)
        if safe.any():
            feasible = safe
        rows, columns = np.nonzero(feasible)
        first = np.lexsort((m[feasible], np.abs(disparity[feasible]), -right[feasible]))[0]
        best = int(rows[first]), int(columns[first])
        self.safe_ = bool(room[best] >= Z * spread[best])
        return best

    def _threshold_of(self, s: Vector) -> Floats:
        pair = np.array([self.threshold_ - self.margin_, self.threshold_ + self.margin_])
        return pair[s]

    def adjust(self, scores: Floats, labels: Vector, s: Vector) -> Vector:
        """Return 1 where the score exceeds the threshold of its group."""
        return (scores > self._threshold_of(s)).astype(np.intp)

    def adjust_scores(self, scores: Floats, labels: Vector, s: Vector) -> Floats:
        """Return the scores, moved so that each group's threshold sits at one half."""
        return recentre(scores, self._threshold_of(s))


def _standard_error(chosen: Floats, total: Floats, rows: Floats, metric: str) -> Floats:
    """Return the standard error of a disparity; a rate of 0 or 1 has one too (Agresti)."""
    if metric == "spd":
        chosen, rows = chosen.sum(axis=1), rows.sum(axis=1)
        total = total.sum(axis=1)
    rate = chosen / total[..., None, None]
    rows = rows[..., None, None]
    rate = (rate * rows + 1) / (rows + 2)
    variance = rate * (1 - rate) / (rows + 2)
    if metric == "eod":
        variance = variance[:, 1]
    elif metric == "aod":
        variance = variance.sum(axis=1) / 4
    return np.asarray(np.sqrt(variance.sum(axis=0)))


def _weight_above(scores: Floats, w: Weights, threshold: Floats) -> Floats:
    """Weigh the scores above each threshold; none weighs exactly nothing."""
    order = np.argsort(-scores)
    weight = np.ones(len(scores)) if w is None else w[order]
    cumulated = np.append(0.0, np.cumsum(weight))
    count = len(scores) - np.searchsorted(scores[order[::-1]], threshold, side="right")
    return cumulated[count]


def _criteria(chosen: Floats, total: Floats, metric: str) -> tuple[Floats, Floats]:
    """Return disparity and balanced accuracy from favourable predictions by (group, label).

    The order of the operations is the reference's, because ties are broken by equality.
    """
    if metric == "spd":
        rate = chosen.sum(axis=1) / total.sum(axis=1)
        disparity = rate[0] - rate[1]
    else:
        fpr, tpr = np.moveaxis(chosen / total, 1, 0)
        disparity = tpr[0] - tpr[1]
        if metric == "aod":
            disparity = 0.5 * ((fpr[0] - fpr[1]) + disparity)
    selected, everyone = chosen.sum(axis=0), total.sum(axis=0)
    balanced = 0.5 * (selected[1] / everyone[1] + (everyone[0] - selected[0]) / everyone[0])
    return disparity, balanced
