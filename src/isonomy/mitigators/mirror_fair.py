"""MirrorFair (Xiao et al., 2024): the model and its mirror, which learnt from flipped groups."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold

from isonomy._arrays import Floats
from isonomy._tables import as_matrix, like
from isonomy._validate import check_choice
from isonomy.errors import NotApplicable
from isonomy.mitigators._protected import group_values, protected_columns
from isonomy.mitigators.base import MITIGATORS, BaseMitigator, Vector, Weights
from isonomy.mitigators.stages import strata
from isonomy.models import fit_model, with_scores

LOW, HIGH = 0.45, 0.55
"""Between these probabilities a model is not sure."""
APART = 0.05
SCENARIOS = ("shifted", "mixed", "close")


@MITIGATORS.register("mirror_fair", aliases=("mirrorfair",))
class MirrorFair(BaseMitigator):
    r"""Averages the model with its mirror, and gives the worse-off the better of the two where unsure.

    The *mirror* is fitted on the training rows with everybody moved to the other group. Where both
    are sure of one label (probabilities of at least 0.55, or below 0.45) the mean of their
    probabilities decides. Where they are not, rows of the unprivileged group get the larger
    one of the two, or another rule by how the two models differ there (``scenario``).

    With several protected attributes there is one mirror for each, all models weigh the same,
    and who is unprivileged in every attribute gets the largest probability where they are not
    sure. A learner without probabilities is calibrated.

    Parameters
    ----------
    estimator : classifier, optional
        The base learner of all models; a scaled logistic regression when None.
    scenario : {"shifted", "mixed", "close"}, optional
        What unsure rows of the unprivileged group get. ``mixed``: the larger probability.
        ``close``: the larger one, rounded to one digit. ``shifted``: the mean, as everybody. When
        None it is read from how far the probabilities of such rows lie apart: by more than 0.05 on
        average and about alike, ``shifted``; by less and about alike, ``close``; else ``mixed``.
        Of no effect with several attributes.
    lift : bool, optional
        Whether the unprivileged group is the worse-off one. If it is not, it gets the smaller
        probability, in ``shifted`` and ``mixed``. When None it is read from the rates of favourable
        labels; as_published it is, which the study turned round for Bank.
    privileged, favorable, sensitive_columns, protocol, random_state
        As in every mitigator. ``sensitive_columns`` may be left out where a column of X is
        decided by the groups.

    Attributes
    ----------
    estimators_ : list
        The model, then a mirror for each protected column.
    scenario_ : str or None
        Which rule holds; None where the rows to be predicted decide, and with several attributes.

    Notes
    -----
    **Protocols**

    ==========  ====================================  ===========================================
    what        as_published                          corrected
    ==========  ====================================  ===========================================
    scenario    chosen on the rows passed to predict  chosen on out-of-fold probabilities of the
                (the study: on the test fold of its   training rows
                first repeat, for all repeats)
    close       unsure rows of the unprivileged get   the larger probability, rounded to one digit
                the probability 1: a bracket is
                misplaced, so that the largest of
                p, q and 1 is taken
    calibrated  the mirror of a learner without       once
                scores is calibrated twice
    ==========  ====================================  ===========================================

    The misplaced bracket changes no label: where the two are not sure of one label the larger
    probability is at least 0.45, and rounds to one half or more.

    References
    ----------
    Y. Xiao, J. M. Zhang, Y. Liu, M. R. Mousavi, S. Liu and D. Xue, "MirrorFair: fixing fairness
    bugs in machine learning software via counterfactual predictions", FSE 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import MirrorFair
    >>> rng = np.random.default_rng(0)
    >>> s = np.arange(400) % 2
    >>> X = np.column_stack([s, rng.normal(size=400)])
    >>> y = (X[:, 1] + s + rng.normal(size=400) > 0.5).astype(int)
    >>> model = MirrorFair(sensitive_columns=[0]).fit(X, y, sensitive_features=s)
    >>> before, after = model.estimators_[0].predict(X), model.predict(X, sensitive_features=s)
    >>> bool(after[s == 0].mean() > before[s == 0].mean())
    True
    """

    stage = "ensemble"
    label = "MirrorFair"
    advice = "Two fits; whoever is near the line in the worse-off group is lifted over it."
    reference = "Xiao et al., FSE 2024"
    needs_numbers = True
    needs_sensitive_at_predict = True
    randomized = True
    several = (
        "one mirror for each protected column; who is unprivileged in every attribute is lifted "
        "where the models are not sure"
    )
    multi_group = True

    scenario: str | None = None
    lift: bool | None = None

    def _fit(self, X: Any, y: Vector, s: Vector, w: Weights) -> None:
        if self.scenario is not None:
            check_choice("scenario", self.scenario, SCENARIOS)
        matrix = as_matrix(X, who=self.name)
        columns = protected_columns(matrix, s, self._positions(X), needed_by=self.name)
        values = group_values(matrix, s, columns, who=self.name, groups=self.groups_)
        self._columns = [c for c, held in zip(columns, values.T, strict=True) if np.ptp(held) > 0]
        if not self._columns:
            raise NotApplicable(
                f"{self.name} flips the protected columns, and none of them has known values that differ "
                f"between the groups: name others with sensitive_columns."
            )
        self._ends = [(float(matrix[:, c].min()), float(matrix[:, c].max())) for c in self._columns]
        self._low = self._lowest(y, s, w)
        learner = self.base_learner()
        first = with_scores(learner)
        second = first
        if self.published and not hasattr(learner, "predict_proba") and len(self._columns) == 1:
            second = CalibratedClassifierCV(first)
        models = [first, *[second] * len(self._columns)]
        self.estimators_ = self._fitted(models, X, y, w, slice(None))
        self.scenario_ = self.scenario
        if self.scenario is None and not self.published and len(self._columns) == 1:
            folds = StratifiedKFold(5, shuffle=True, random_state=self.random_state)
            both = np.empty((2, len(y)))
            for train, held in folds.split(np.zeros(len(y)), strata(y, s, 5)):
                fitted = self._fitted(models, X, y, w, train)
                both[:, held] = self._probabilities(fitted, matrix[held], X)
            self.scenario_ = scenario_of(both[:, self._low[s]])

    def _lowest(self, y: Vector, s: Vector, w: Weights) -> NDArray[np.bool_]:
        """Return which groups are unprivileged in every attribute, and settle who is lifted.

        Where nobody is named the privileged value of an attribute is the one with the highest rate.
        """
        groups = len(self.groups_)
        good, total = (np.bincount(s, v, groups) for v in (y if w is None else y * w, w))
        whole = [g if isinstance(g, tuple) else (g,) for g in self.groups_]
        named = [g if isinstance(g, tuple) else (g,) for g in self.privileged_ or ()]
        low = np.ones(groups, dtype=bool)
        for k, values in enumerate(zip(*whole, strict=True)):
            codes = [list(dict.fromkeys(values)).index(v) for v in values]
            best = {g[k] for g in named}
            if not named:
                rate = np.bincount(codes, good) / np.maximum(np.bincount(codes, total), 1e-300)
                best = {list(dict.fromkeys(values))[int(rate.argmax())]}
            low &= np.array([v not in best for v in values])
        rates = [good[side].sum() / max(total[side].sum(), 1e-300) for side in (low, ~low)]
        self._lift = (self.published or rates[0] <= rates[1]) if self.lift is None else self.lift
        return low

    def _flipped(self, matrix: Floats, column: int) -> Floats:
        """Return rows with a protected column moved to its other value."""
        at = self._columns.index(column)
        low, high = self._ends[at]
        moved = matrix.copy()
        # of more than two values everything but the largest becomes it, as published
        moved[:, column] = np.where(matrix[:, column] == high, low, high)
        return moved

    def _fitted(self, models: list[Any], X: Any, y: Vector, w: Weights, rows: Any) -> list[Any]:
        matrix = as_matrix(X, who=self.name)
        tables = [X, *(like(X, self._flipped(matrix, c)) for c in self._columns)]
        return [
            self.fit_rows(model, table, y, w, rows)
            if not isinstance(rows, slice)
            else fit_model(model, table, self.decode(y), w)
            for model, table in zip(models, tables, strict=True)
        ]

    def _probabilities(self, models: list[Any], matrix: Floats, X: Any) -> Floats:
        table = matrix if isinstance(X, np.ndarray) else like(X, matrix, same_rows=False)
        return np.array([self._favorable_scores(model, table) for model in models])

    def _scores(self, X: Any, s: Vector) -> Floats:
        each = np.array([self._favorable_scores(model, X) for model in self.estimators_])
        mean = each.mean(axis=0)
        low = self._low[s]
        sure = (each >= HIGH).all(axis=0) | (each < LOW).all(axis=0)
        if len(each) > 2:
            end: Floats = each.max(axis=0) if self._lift else each.min(axis=0)
            return np.where(low & ~sure, end, mean)
        scenario = self.scenario_ or scenario_of(each[:, low])
        changed: Floats = mean
        if scenario == "mixed":
            changed = each.max(axis=0) if self._lift else each.min(axis=0)
        elif scenario == "shifted" and not self._lift:
            changed = each.min(axis=0)
        elif scenario == "close" and self._lift:
            rounded = np.floor(10 * each + 0.5).max(axis=0) / 10
            changed = np.ones_like(mean) if self.published else rounded
        return np.where(low & ~sure, changed, mean)

    def _predict(self, X: Any, s: Vector | None) -> Vector:
        assert s is not None
        return self.decode((self._scores(X, s) >= 0.5).astype(np.intp))

    def _predict_proba(self, X: Any, s: Vector | None) -> Floats:
        assert s is not None
        return self._two_columns(self._scores(X, s))


def scenario_of(each: Floats) -> str:
    """Return how the model and its mirror differ on rows of the unprivileged that it is unsure of.

    Parameters
    ----------
    each : array of shape (2, rows)
        The model's probabilities and the mirror's.

    Examples
    --------
    >>> scenario_of(np.array([[0.5, 0.52], [0.49, 0.53]]))
    'close'
    >>> scenario_of(np.array([[0.5, 0.52], [0.6, 0.62]]))
    'shifted'
    """
    apart = np.abs(each[0] - each[1])[(each[0] >= LOW) & (each[0] <= HIGH)]
    if not apart.size or apart.max() - apart.mean() >= APART or apart.mean() == APART:
        return "mixed"
    return "close" if apart.mean() < APART else "shifted"
