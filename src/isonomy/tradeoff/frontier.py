"""The second baseline: what post-processing the most accurate model reaches."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from isonomy._arrays import Floats
from isonomy._groups import attribute_columns, group_index, is_one_of
from isonomy._tables import plain
from isonomy._validate import check_length, check_score, check_weight
from isonomy.errors import InputError, NotApplicable
from isonomy.metrics import Counts, Metric, bias_of, get_metric
from isonomy.mitigators import FairnessConstrainedThresholds
from isonomy.mitigators.aims import GOAL_OF
from isonomy.stats import pareto
from isonomy.stats.results import Result

CONSTRAINT_OF = {
    metric: goal for metric, goal in GOAL_OF.items() if goal in FairnessConstrainedThresholds.aims
}
"""Which constraint on group thresholds drives a fairness metric to its ideal."""


# ---------------------------------------------------------------------- post-processing frontier


@dataclass(frozen=True, eq=False, repr=False)
class Frontier(Result):
    """Performance and bias that group thresholds on one model's scores reach.

    Attributes
    ----------
    tolerance : ndarray
        The disparity allowed where the thresholds were chosen, from 0 to no constraint.
    performance, bias : ndarray
        What they give on the rows to judge on, in expectation over the lotteries.
    performance_metric, fairness_metric, constraint : str
    larger_is_better : bool
    same_rows : bool
        Whether thresholds were chosen on the rows they are judged on (an optimistic frontier).
    as_is : tuple of (performance, bias) or None
        The model with one threshold of a half, which needs no choice and can be had as well.
    """

    tolerance: Floats
    performance: Floats
    bias: Floats
    performance_metric: str
    fairness_metric: str
    constraint: str
    larger_is_better: bool = True
    same_rows: bool = False
    as_is: tuple[float, float] | None = None

    @property
    def gain(self) -> Floats:
        """The performance turned so that more is better."""
        return self.performance if self.larger_is_better else -self.performance

    @property
    def pareto(self) -> NDArray[np.bool_]:
        """Which of the points no other beats."""
        return pareto(self.gain, self.bias)

    def reach(self) -> tuple[Floats, Floats]:
        """Return performance and bias of the points that no other beats, the fairest first.

        The model as it is counts among them.
        """
        y, x = self.performance, self.bias
        if self.as_is is not None:
            y, x = np.append(y, self.as_is[0]), np.append(x, self.as_is[1])
        keep = np.flatnonzero(pareto(y if self.larger_is_better else -y, x))
        keep = keep[np.argsort(x[keep], kind="stable")]
        return y[keep], x[keep]

    def reach_frame(self) -> pd.DataFrame:
        """Return :meth:`reach` as a frame, for plots."""
        performance, bias = self.reach()
        return pd.DataFrame({"performance": performance, "bias": bias})

    def performance_at(self, bias: ArrayLike) -> Floats:
        """Return the best performance with at most this bias, NaN where none is that fair.

        Between two points of the frontier a lottery of both is reachable, so it is straight there.

        Examples
        --------
        >>> line = Frontier(np.array([0, 1.0]), np.array([0.7, 0.9]), np.array([0, 0.2]),
        ...     "accuracy", "statistical_parity_difference", "demographic_parity")
        >>> line.performance_at([0.1, 0.3]).round(6).tolist()
        [0.8, 0.9]
        """
        y, x = self.reach()
        asked = np.asarray(bias, dtype=np.float64)
        # a constraint of 0 is kept up to rounding
        asked = np.where((asked < x[0]) & (asked >= x[0] - 1e-9), x[0], asked)
        return np.asarray(np.interp(asked, x, y, left=np.nan))

    def frame(self) -> pd.DataFrame:
        """Return one row per tolerance."""
        columns = {name: getattr(self, name) for name in ("tolerance", "performance", "bias")}
        return pd.DataFrame({**columns, "pareto": self.pareto})

    def to_dict(self) -> dict[str, Any]:
        """Return the points as plain data; undefined is None."""
        return {str(name): plain(values) for name, values in self.frame().items()}


def post_processing_frontier(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    sensitive_features: Any,
    performance: str | Metric = "accuracy",
    fairness: str | Metric = "statistical_parity_difference",
    favorable: Any = None,
    privileged: Any = None,
    sample_weight: ArrayLike | None = None,
    fit: tuple[ArrayLike, ArrayLike, Any] | None = None,
    tolerances: ArrayLike | None = None,
) -> Frontier:
    """Trace what post-processing the most accurate model reaches at every disparity allowed.

    Seven years of methods, compared with group thresholds on the scores of the most accurate
    model, mostly fell on or below this line (Cruz and Hardt). A method that does not rise above
    it can be had by post-processing; one that does is worth its trouble.

    Parameters
    ----------
    y_true, scores : array-like of shape (n,)
        Labels, and the most accurate model's probability of the favourable label, on the rows to
        judge on. A model that was trained for fairness counts too: thresholds undo ("unprocess")
        what it did.
    sensitive_features : array-like, Series, frame or mapping
        Protected attributes of these rows.
    performance : str or Metric
        Any performance metric of counts; thresholds are chosen for accuracy.
    fairness : str or Metric
        One whose ideal group thresholds can be held to: statistical parity, equal opportunity,
        false positive rate, (average or equalised) odds.
    favorable, privileged, sample_weight
        As for :meth:`isonomy.Counts.from_labels`.
    fit : tuple of (y_true, scores, sensitive_features), optional
        Rows on which thresholds are chosen, such as a validation set. Without them they are chosen
        on the rows they are judged on, which flatters the frontier.
    tolerances : array-like, optional
        Disparities to allow; 21 steps up to that of the unconstrained thresholds by default.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> s, noise = rng.integers(0, 2, 2000), rng.uniform(size=2000)
    >>> score = np.clip(0.35 + 0.15 * s + 0.4 * (noise - 0.5), 0, 1)
    >>> y = (rng.uniform(size=2000) < score).astype(int)
    >>> line = post_processing_frontier(y, score, sensitive_features=s, privileged=1)
    >>> bool(line.bias[0] < 0.02 < line.bias[-1])
    True

    References
    ----------
    Cruz, Hardt 2024, Unprocessing Seven Years of Algorithmic Fairness, ICLR.
    """
    good, fair = get_metric(performance), get_metric(fairness)
    if fair.name not in CONSTRAINT_OF:
        raise NotApplicable(
            f"Group thresholds cannot be held to {fair.name}; the frontier serves "
            f"{', '.join(CONSTRAINT_OF)}."
        )
    if good.kind != "performance" or good.needs != "counts" or good.goal not in ("max", "min"):
        raise NotApplicable(f"A frontier needs a performance metric of counts; got {good.name}.")
    if fit is not None and len(fit) != 3:
        raise InputError(
            f"fit must be labels, scores and protected attributes of the rows to choose thresholds "
            f"on; got {len(fit)} of the three."
        )
    judged = _coded(y_true, scores, sensitive_features, favorable, privileged, sample_weight)
    chosen = judged if fit is None else _coded(*fit, favorable, privileged, None)
    if chosen.counts.groups != judged.counts.groups:
        raise InputError(
            "The rows to choose thresholds on and the rows to judge on must hold the same groups."
        )
    constraint = CONSTRAINT_OF[fair.name]

    def at(tolerance: float) -> Counts:
        rule = FairnessConstrainedThresholds(constraint=constraint, tolerance=tolerance)
        labels = (chosen.score > 0.5).astype(np.intp)
        rule.fit_scores(chosen.score, labels, chosen.y, chosen.s, chosen.weight)
        chance = np.asarray(rule.adjust_scores(judged.score, labels, judged.s))
        return judged.expected(chance)

    widest = at(1.0)
    if tolerances is None:
        gap = float(bias_of(fair, fair(widest)))
        steps = np.append(np.linspace(0, min(gap * 1.1, 1.0), 20), 1.0)
    else:
        steps = np.asarray(tolerances, dtype=np.float64).ravel()
    cells = [at(float(t)) for t in steps]
    plain = judged.expected((judged.score > 0.5).astype(np.float64))
    return Frontier(
        tolerance=steps,
        performance=np.array([float(good(c)) for c in cells]),
        bias=np.array([float(bias_of(fair, fair(c))) for c in cells]),
        performance_metric=good.name,
        fairness_metric=fair.name,
        constraint=constraint,
        larger_is_better=good.goal == "max",
        same_rows=fit is None,
        as_is=(float(good(plain)), float(bias_of(fair, fair(plain)))),
    )


@dataclass(frozen=True, eq=False)
class _Coded:
    """Rows as thresholds see them: favourable labels, group numbers, scores, weights."""

    y: NDArray[np.intp]
    s: NDArray[np.intp]
    score: Floats
    weight: Floats | None
    counts: Counts

    def expected(self, chance: Floats) -> Counts:
        """Return expected counts when each row is favoured with its own chance."""
        cells = self.s * 2 + self.y
        weight = np.ones(self.y.size) if self.weight is None else self.weight
        size = 2 * len(self.counts.groups)
        favored = np.bincount(cells, weight * chance, minlength=size)
        whole = np.bincount(cells, weight, minlength=size)
        n = np.stack([whole - favored, favored], axis=-1).reshape(-1, 2, 2)
        return replace(self.counts, n=n, w=None, w2=None)


def _coded(
    y_true: ArrayLike,
    scores: ArrayLike,
    sensitive_features: Any,
    favorable: Any,
    privileged: Any,
    sample_weight: ArrayLike | None,
) -> _Coded:
    score, labels = check_score(scores), np.asarray(y_true).ravel()
    check_length("scores", score.size, "y_true", labels.size)
    columns = attribute_columns(sensitive_features)
    counts = Counts.from_labels(
        labels, labels, sensitive_features=columns, favorable=favorable, privileged=privileged
    )
    y = is_one_of(labels, counts.favorable).astype(np.intp)
    s = group_index(columns, counts.groups, labels.size)
    attributes, groups, declared = counts.attributes, counts.groups, {}
    mask = counts.is_privileged()
    if mask is not None:
        s = mask.astype(np.intp)[s]
        attributes, groups = ("group",), (("unprivileged",), ("privileged",))
        declared = {"group": groups[1]}
    two = Counts(np.zeros((len(groups), 2, 2)), attributes, groups, (0, 1), (1,), declared)
    weight = None if sample_weight is None else check_weight(sample_weight)
    return _Coded(y, s, score, weight, two)
