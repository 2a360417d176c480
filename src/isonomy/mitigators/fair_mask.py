"""FairMask (Peng et al., 2023): predict from the protected values a row's other columns suggest."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.tree import DecisionTreeRegressor

from isonomy._arrays import Floats
from isonomy._tables import as_matrix, drop_columns, like
from isonomy._validate import make_rng
from isonomy.errors import NotApplicable
from isonomy.mitigators._features import unit_scale
from isonomy.mitigators._neighbors import nearest_rows
from isonomy.mitigators._protected import protected_columns
from isonomy.mitigators.base import MITIGATORS, Vector, Weights
from isonomy.mitigators.stages import WrappedModel
from isonomy.models import fit_model, with_scores

MOST_VALUES = 10
"""A protected column of more values is a number, not a group."""


def smote(
    X: Floats,
    labels: Vector,
    rng: np.random.Generator | np.random.RandomState,
    *,
    neighbors: int = 5,
) -> tuple[Floats, Vector]:
    """Bring every class to the size of the largest with points between neighbours.

    A synthetic row lies at a random place between a row of the class, drawn with replacement, and
    one of its nearest neighbours in the class.

    Parameters
    ----------
    X : array of float
        The rows.
    labels : array
        Their classes.
    rng : Generator or RandomState
        Draws, per class: parents, which neighbour, how far. A RandomState draws parent and
        neighbour as one number, as imbalanced-learn does.
    neighbors : int
        How many neighbours to choose from; fewer where a class is small.

    Returns
    -------
    X, labels
        The rows followed by the synthetic ones.

    References
    ----------
    N. V. Chawla, K. W. Bowyer, L. O. Hall and W. P. Kegelmeyer, "SMOTE: synthetic minority
    over-sampling technique", Journal of Artificial Intelligence Research 16, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> X, labels = smote(np.array([[0.0], [2.0], [5.0], [6.0], [7.0]]), np.array([0, 0, 1, 1, 1]),
    ...                   np.random.default_rng(0))
    >>> bool(0 <= X[5, 0] <= 2), int(labels[5])
    (True, 0)
    """
    classes, counts = np.unique(labels, return_counts=True)
    made, of = [X], [labels]
    for label, count in zip(classes, counts, strict=True):
        need = int(counts.max() - count)
        if not need:
            continue
        rows = np.flatnonzero(labels == label)
        k = min(neighbors, int(count) - 1)
        if isinstance(rng, np.random.RandomState):
            parents, which = np.divmod(rng.randint(0, count * max(k, 1), need), max(k, 1))
        else:
            parents = rng.integers(0, count, need)
            which = rng.integers(0, max(k, 1), need)
        gap = rng.random((need, 1))
        start = X[rows[parents]]
        if k:
            asked, back = np.unique(parents, return_inverse=True)
            near = nearest_rows(X[rows], asked, k, skip_self=True)[back, which]
            start = start + gap * (X[rows[near]] - start)
        made.append(start)
        of.append(np.full(need, label))
    return np.concatenate(made), np.concatenate(of)


@MITIGATORS.register("fair_mask", aliases=("fairmask",))
class FairMask(WrappedModel):
    r"""Masks the protected columns of the rows to be predicted by what the others suggest.

    The base learner is fitted on the training rows as they are. For each protected column an
    extrapolation model learns it from the unprotected columns: the values of the column are
    balanced by SMOTE, a copy of the base learner gives their probabilities, and a regression tree
    learns these. A row to be predicted gets the values that the trees find more likely, never its
    own, so that rows that differ in the protected columns only always get one label.

    Parameters
    ----------
    estimator : classifier, optional
        The base learner; a scaled logistic regression when None. Where it has no probabilities,
        the copy that predicts the protected column is calibrated.
    extrapolator : regressor, optional
        What learns the probabilities; a regression tree when None.
    oversample : bool
        Whether the values of the protected column are balanced first.
    privileged, favorable, sensitive_columns, protocol, random_state
        As in every mitigator. ``sensitive_columns`` may be left out where a column of X is
        decided by the groups: that is the protected attribute.

    Notes
    -----
    **Protocols**

    ==========  ===========================  =================================================
    what        as_published                 corrected
    ==========  ===========================  =================================================
    distances   SMOTE's on columns as given  on columns of one scale
    values      two; 1 from 0.5 on           any number up to ten; the most likely one
    draws       from a RandomState as the    NumPy's generator
                released code draws: its
                runs can be replayed
    ==========  ===========================  =================================================

    Attributes
    ----------
    extrapolators_ : list of regressor
        One for each protected column.

    References
    ----------
    K. Peng, J. Chakraborty and T. Menzies, "FairMask: better fairness via model-based rebalancing
    of protected attributes", IEEE Transactions on Software Engineering 49, 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import FairMask
    >>> rng = np.random.default_rng(0)
    >>> s = np.arange(400) % 2
    >>> X = np.column_stack([s, rng.normal(size=400)])
    >>> y = (X[:, 1] + s > 0.5).astype(int)
    >>> model = FairMask(sensitive_columns=[0]).fit(X, y, sensitive_features=s)
    >>> flipped = np.column_stack([1 - s, X[:, 1]])
    >>> bool((model.predict(X) == model.predict(flipped)).all())
    True
    """

    label = "FairMask"
    advice = "Needs no protected attribute to predict; rows alike but for it agree."
    reference = "Peng et al., IEEE TSE 2023"
    needs_numbers = True
    costly = True
    randomized = True
    several = (
        "each protected column has an extrapolation model of its own, and all are masked at once"
    )
    multi_group = True
    multi_class = True
    version = "2"  # as published, draws follow the released code's
    corrected_version = "1"

    extrapolator: BaseEstimator | None = None
    oversample: bool = True

    def _fit(self, X: Any, y: Vector, s: Vector, w: Weights) -> None:
        matrix = as_matrix(X, who=self.name)
        named = self._positions(X)
        self._columns = list(protected_columns(matrix, s, named, needed_by=self.name))
        if len(self._columns) == matrix.shape[1]:
            raise NotApplicable(
                f"{self.name} predicts the protected columns from the others; X has no others."
            )
        stream = self.random_state
        replayed = self.published and isinstance(stream, np.random.RandomState)
        rng = stream if replayed else make_rng(stream)
        others = np.delete(matrix, self._columns, axis=1)
        unprotected = drop_columns(X, self._columns)
        learner = with_scores(self.base_learner())
        tree = self.extrapolator
        if tree is None:
            seed = stream if replayed else int(rng.integers(2**31 - 1))
            tree = DecisionTreeRegressor(random_state=seed)
        self._values, self.extrapolators_ = [], []
        for column in self._columns:
            values, codes = np.unique(matrix[:, column], return_inverse=True)
            self._check_values(column, values)
            rows, target = self._balanced(others, codes, rng)
            # a pipeline may select its columns by type or by name
            table = like(unprotected, rows, same_rows=False)
            model: Any = fit_model(learner, table, target)
            chance = model.predict_proba(table)
            # With two values the second's probability says it all, as in the released code.
            goal = chance[:, 1] if len(values) == 2 else chance
            self.extrapolators_.append(fit_model(tree, rows, goal))
            self._values.append(values)
        self.estimator_ = fit_model(self.base_learner(), X, self.decode(y), w)

    def _check_values(self, column: int, values: Floats) -> None:
        most = 2 if self.published else MOST_VALUES
        if not 2 <= len(values) <= most:
            raise NotApplicable(
                f"{self.name} needs protected columns of 2 to {most} values; column {column} has "
                f"{len(values)}: put the grouped attribute into X."
            )

    def _balanced(
        self, others: Floats, codes: Vector, rng: np.random.Generator | np.random.RandomState
    ) -> tuple[Floats, Vector]:
        if not self.oversample:
            return others, codes
        if self.published:
            return smote(others, codes, rng)
        low, span = unit_scale(others)
        rows, target = smote((others - low) / span, codes, rng)
        return rows * span + low, target

    def transform(self, X: Any, s: Vector | None = None) -> Any:
        """Return rows whose protected columns hold what the others suggest."""
        matrix = as_matrix(X, who=self.name)
        others = np.delete(matrix, self._columns, axis=1)
        masked = matrix.copy()
        for column, values, model in zip(
            self._columns, self._values, self.extrapolators_, strict=True
        ):
            chance = model.predict(others)
            chosen = (chance >= 0.5).astype(np.intp) if chance.ndim == 1 else chance.argmax(axis=1)
            masked[:, column] = values[chosen]
        return like(X, masked)
