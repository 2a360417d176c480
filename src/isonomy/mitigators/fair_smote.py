"""Fair-SMOTE (Chakraborty et al., 2021): balance the subgroups, then test situations."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier

from isonomy._arrays import Floats, Rows, distinct_rows
from isonomy._tables import as_matrix, like
from isonomy._validate import check_choice, listed, make_rng
from isonomy.errors import NotApplicable
from isonomy.mitigators._features import unit_scale
from isonomy.mitigators._inputs import find_columns
from isonomy.mitigators._neighbors import nearest_rows
from isonomy.mitigators._protected import (
    group_values,
    plain_logistic,
    protected_columns,
)
from isonomy.mitigators._synthesis import column_kinds, synthesize
from isonomy.mitigators.base import MITIGATORS, TrainingSet, Vector, Weights
from isonomy.mitigators.stages import PreProcessor
from isonomy.models import fit_model

LEAST = 3
"""The fewest rows of a subgroup: a parent and two neighbours."""


@MITIGATORS.register("fair_smote", aliases=("fairsmote",))
class FairSmote(PreProcessor):
    r"""Fills up every subgroup with synthetic rows, then drops rows that the group decides.

    *Balancing.* The training rows fall into cells of class by group; every cell is brought to the
    size of the largest with synthetic rows. One is made from a parent :math:`p`, drawn from the
    cell with replacement, and its two nearest neighbours :math:`c_1, c_2` in the cell: a numeric
    column becomes :math:`p + f (c_1 - c_2)`, a categorical one is drawn from the three rows.
    Synthetic rows never become parents. Class and group are those of the cell.

    *Situation testing.* A model is fitted on the balanced rows, and a row is dropped if its
    predicted label changes when it is given the protected values of any other group.

    Where one class is rare, a balanced training set makes many more favourable predictions: rates
    may then differ more than before, and accuracy is lost too (Adult; see the guide's table).

    Several protected attributes make intersectional groups: with sex and race there are eight
    cells. A cell of fewer than three rows is refused.

    Parameters
    ----------
    estimator : classifier, optional
        The base learner; a scaled logistic regression when None.
    balance, situation_testing : bool
        Which of the two steps to do.
    categorical : names or positions, optional
        The columns to treat as categories; a tuple of columns is a one-hot block that is drawn
        together. When None they are inferred: 0 / 1 columns, and runs of them that sum to 1 as
        blocks; under as_published only the protected columns.
    crossover_numeric : bool, optional
        Whether a numeric column keeps its parent's value with probability ``1 - crossover``, as
        the paper says; the released code does not. When None, by protocol.
    crossover, mutation : float
        The rates cr and f.
    situation_model : classifier, "same" or "forest", optional
        What tests the situations; "same" for the base learner, "forest" for a random forest. When
        None a logistic regression.
    situation_rows : {"balanced", "original"}
        What it learns from: the balanced rows, or the training rows without the synthetic ones.
    situation_value : float, optional
        What a protected column is set to, one at a time, to test a situation; when None, the
        values of the other groups.
    keep_flip : bool, optional
        Whether the rows left keep the flipped protected value after their situation was tested,
        as under as_published; when None, by protocol.
    privileged, favorable, sensitive_columns, protocol, random_state
        As in every mitigator. ``sensitive_columns`` may be left out where a column of X is
        decided by the groups: that is the protected attribute.

    Notes
    -----
    **Protocols**

    ==================  ============================  ===========================================
    what                as_published                  corrected
    ==================  ============================  ===========================================
    numeric columns     abs(p + f (c1 - c2)), always  with probability cr, clipped to the range of
                                                      the column, whole numbers stay whole
    one-hot columns     numbers: 0.8, 1.8 occur       categories; a block keeps its single 1
    neighbours          the three nearest without     the two nearest besides the parent; columns
                        the first, which need not be  on one scale
                        the parent where rows repeat
    cells               every cell to the largest     the same
                        (in the scripts, the largest
                        is named by hand)
    situation model     logistic regression,          the same, scaled and converged
                        liblinear, C = 1
    swap                1 - value, of one protected   the values of each other group
                        column at a time
    after the test      the swap stays: the final     undone
                        model learns from rows with
                        the protected column flipped
    ==================  ============================  ===========================================

    The last line matters most: the released loop writes the flipped value into the table that it
    reads. The results that Chen et al. (2023) published for logistic regression and linear SVM
    come out with it and not without, their SPD of logistic regression being larger than the
    unmitigated one on five of six tasks; those for random forests come out without it
    (``keep_flip=False``).

    The studies of several attributes (Chen et al. 2024, 2025) test situations by a random forest
    that has learnt from the original rows, and compare protected values written as text with a
    number, so that nobody is turned and everybody tested as privileged: of that group no row is
    dropped (``situation_model="forest", situation_rows="original", situation_value=1,
    keep_flip=False``).

    Rows at equal distance rank in their order in the training set (squared distances are compared
    to about twelve digits). ``sample_weight``: a synthetic row takes its parent's; cells are counted in rows.

    Attributes
    ----------
    n_synthetic_, n_removed_ : int
        Rows added and rows dropped.
    kinds_ : Kinds
        The columns as they were treated.

    References
    ----------
    J. Chakraborty, S. Majumder and T. Menzies, "Bias in machine learning software: why? how? what
    to do?", ESEC/FSE 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import FairSmote
    >>> rng = np.random.default_rng(0)
    >>> s = np.arange(60) % 2
    >>> X = np.column_stack([s, rng.normal(size=60)])
    >>> y = (X[:, 1] + s > 0.8).astype(int)
    >>> np.bincount(2 * y + s).tolist()
    [25, 9, 5, 21]
    >>> _, y_new, s_new, _ = FairSmote(situation_testing=False).resample(X, y, s)
    >>> np.bincount(2 * y_new + s_new).tolist()
    [25, 25, 25, 25]
    """

    label = "Fair-SMOTE"
    advice = "When small subgroups are the cause; shifts the base rate to one half."
    reference = "Chakraborty et al., ESEC/FSE 2021"
    needs_numbers = True
    costly = True
    aims: ClassVar = {"demographic_parity": {}}
    randomized = True
    multi_group = True
    multi_class = True

    balance: bool = True
    situation_testing: bool = True
    categorical: Any = None
    crossover_numeric: bool | None = None
    crossover: float = 0.8
    mutation: float = 0.8
    situation_model: Any = None
    situation_rows: str = "balanced"
    situation_value: float | None = None
    keep_flip: bool | None = None

    @property
    def transform_uses_estimator(self) -> bool:  # type: ignore[override]
        """Whether situations are tested by the base learner itself."""
        return bool(self.situation_model == "same")

    def resample(self, X: Any, y: Vector, s: Vector, w: Weights = None) -> TrainingSet:
        """Return the balanced training set without the rows that the group decides."""
        matrix = as_matrix(X, who=self.name)
        protected = protected_columns(matrix, s, self._positions(X))
        origin = np.arange(len(y))
        self.n_synthetic_ = self.n_removed_ = 0
        check_choice("situation_rows", self.situation_rows, ("balanced", "original"))
        tester, tests = None, self.situation_testing and bool(protected)
        if tests and self.situation_rows == "original":
            tester = fit_model(self._situation_model(), matrix, y, w)
        if self.balance:
            matrix, origin = self._balanced(X, matrix, y, s, protected)
            self.n_synthetic_ = len(matrix) - len(y)
            y, s, w = y[origin], s[origin], None if w is None else w[origin]
        if tests:
            tester = tester or fit_model(self._situation_model(), matrix, y, w)
            keep = self._consistent(tester, matrix, s, protected)
            self.n_removed_ = int(len(keep) - keep.sum())
            matrix, origin, y, s = matrix[keep], origin[keep], y[keep], s[keep]
            w = None if w is None else w[keep]
            if self.published if self.keep_flip is None else self.keep_flip:
                # The released loop flips a view of the table, so that the flip stays.
                matrix[:, protected] = 1 - matrix[:, protected]
        if len(np.unique(y)) < 2:
            raise NotApplicable(
                f"{self.name} dropped every row of a class: the protected attribute alone decides "
                f"the situation model; use situation_testing=False."
            )
        self.origin_ = origin
        return like(X, matrix, same_rows=False), y, s, w

    # Balancing.

    def _balanced(
        self, X: Any, matrix: Floats, y: Vector, s: Vector, protected: tuple[int, ...]
    ) -> tuple[Floats, Rows]:
        """Return the rows followed by the synthetic ones, and the parent of each."""
        self.kinds_ = column_kinds(matrix, self._declared(X, protected))
        classes, groups = int(y.max()) + 1, int(s.max()) + 1
        cell = s * classes + y
        counts = np.bincount(cell, minlength=classes * groups)
        self._refuse_small(counts.reshape(groups, classes))
        most = int(counts.max())
        rng = make_rng(self.random_state)
        crossover = not self.published if self.crossover_numeric is None else self.crossover_numeric
        made, parents = [matrix], [np.arange(len(y))]
        low, span = unit_scale(matrix)
        space = matrix if self.published else (matrix - low) / span
        for c in np.flatnonzero(counts < most):
            rows = np.flatnonzero(cell == c)
            drawn = rng.integers(0, len(rows), most - len(rows))
            asked, back = np.unique(drawn, return_inverse=True)
            if self.published:
                near = nearest_rows(space[rows], asked, 3)[back, 1:]
            else:
                near = nearest_rows(space[rows], asked, 2, skip_self=True)[back]
            made.append(
                synthesize(
                    matrix,
                    rows[drawn],
                    rows[near],
                    self.kinds_,
                    rng,
                    crossover=self.crossover if crossover else None,
                    mutation=self.mutation,
                    in_domain=not self.published,
                )
            )
            parents.append(rows[drawn])
        return np.concatenate(made), np.concatenate(parents)

    def _declared(self, X: Any, protected: tuple[int, ...]) -> list[tuple[int, ...]] | None:
        """Return the categorical columns as blocks of positions, None to infer them."""
        if self.categorical is None:
            return [(j,) for j in protected] if self.published else None
        several = isinstance(self.categorical, list | tuple | set | np.ndarray)
        wanted = self.categorical if several else [self.categorical]
        return [find_columns(X, item, ()) for item in wanted]

    def _refuse_small(self, counts: Vector) -> None:
        small = np.argwhere(counts < LEAST)
        if len(small):
            groups = getattr(self, "groups_", range(len(counts)))
            labels = getattr(self, "_label_of_code", np.arange(counts.shape[1])).tolist()
            named = [(groups[g], labels[c]) for g, c in small]
            raise NotApplicable(
                f"{self.name} needs at least {LEAST} rows in every cell of group and class; "
                f"{listed(named)} {'has' if len(small) == 1 else 'have'} fewer (the first has "
                f"{int(counts[tuple(small[0])])}): merge small groups."
            )

    # Situation testing.

    def _consistent(
        self, model: BaseEstimator, matrix: Floats, s: Vector, protected: tuple[int, ...]
    ) -> NDArray[np.bool_]:
        """Return the rows whose predicted label is the same whatever the group."""
        columns = list(protected)
        own, value = matrix[:, columns], self.situation_value
        if self.published or value is not None:
            turned = np.eye(len(columns), dtype=bool)
            others = [np.where(one, 1 - own if value is None else value, own) for one in turned]
        else:
            groups = getattr(self, "groups_", None)
            values = group_values(matrix, s, protected, who=self.name, groups=groups)
            others = list(np.unique(values[~np.isnan(values).any(axis=1)], axis=0))
        others = [np.broadcast_to(other, own.shape) for other in others]
        changed = [(own != other).any(axis=1) for other in others]
        asked = np.logical_or.reduce(changed)
        keep = np.ones(len(matrix), dtype=bool)
        if not asked.any():
            return keep
        usual, place = _labels(model, matrix[asked]), np.cumsum(asked) - 1
        for other, rows in zip(others, changed, strict=True):
            if rows.any():
                swapped = matrix[rows]
                swapped[:, columns] = other[rows]
                keep[rows] &= _labels(model, swapped) == usual[place[rows]]
        return keep

    def _situation_model(self) -> BaseEstimator:
        if self.situation_model is None:
            return plain_logistic(self.protocol)
        if isinstance(self.situation_model, str):
            check_choice("situation_model", self.situation_model, ("same", "forest"))
            if self.situation_model == "forest":
                return RandomForestClassifier(random_state=self.random_state)
            return self.base_learner()
        return self.situation_model


def _labels(model: BaseEstimator, rows: Floats) -> NDArray[Any]:
    """Return the labels of rows; a forest, which takes its time, is asked once for rows alike."""
    if not isinstance(model, RandomForestClassifier):
        return np.asarray(model.predict(rows))
    once, back, _ = distinct_rows(rows)
    return np.asarray(model.predict(once))[back]
