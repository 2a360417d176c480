"""LTDD (Li et al., 2022): take out of every feature what the protected attribute explains of it."""

from typing import Any, ClassVar

import numpy as np
from scipy.stats import f as f_law

from isonomy._arrays import Floats
from isonomy._tables import as_matrix, drop_columns, numeric_columns, set_columns, take_columns
from isonomy._validate import check_share
from isonomy.errors import InputError, NotApplicable
from isonomy.mitigators.base import MITIGATORS, TrainingSet, Vector, Weights
from isonomy.mitigators.stages import PreProcessor


@MITIGATORS.register("ltdd")
class Ltdd(PreProcessor):
    r"""Takes out of each feature the part that a linear regression on the group explains.

    A feature whose mean differs between the groups (:math:`p` below ``alpha``) is replaced by what is
    left of it once its group's mean is taken off; the others stay as they are, and the protected
    columns are dropped. Rows to be predicted lose the means of the training rows. Means only are
    made equal: a group that is spread wider stays so, and what several features tell together
    stays in them.

    Parameters
    ----------
    estimator : classifier, optional
        The base learner; a scaled logistic regression when None.
    alpha : float
        The level of the test that a feature depends on the group.
    privileged, favorable, sensitive_columns, protocol, random_state
        As in every mitigator.

    Attributes
    ----------
    changed_columns_ : list of int
        The features that depend on the group.
    means_ : array of shape (groups, changed columns)
        What is taken off them.

    Notes
    -----
    **Protocols**

    =======  =====================================  ========================================
    what     as_published                           corrected
    =======  =====================================  ========================================
    groups   two, of one attribute                  any number, intersections too; an F-test,
                                                    which for two groups is the same
    weights  ignored                                used in the means and the test
    =======  =====================================  ========================================

    A regression on an attribute of two values goes through the means of the groups, so that the
    published intercept and slope are these means. Each feature has a test of its own, at one level,
    as published.

    References
    ----------
    Y. Li, L. Meng, L. Chen, L. Yu, D. Wu, Y. Zhou and B. Xu, "Training data debugging for the
    fairness of machine learning software", ICSE 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import Ltdd
    >>> s = np.repeat([0, 1], 50)
    >>> X = np.column_stack([s, s + np.tile([0.0, 0.1], 50), np.tile([0.0, 1.0], 50)])
    >>> left, *_ = Ltdd(sensitive_columns=0).resample(X, s, s)
    >>> left[[0, 50]].round(3).tolist()  # the first feature loses its means, the second stays
    [[-0.05, 0.0], [-0.05, 0.0]]
    """

    label = "LTDD"
    advice = "Numeric features whose means give the group away; one fit, nothing drawn."
    reference = "Li et al., ICSE 2022"
    aims: ClassVar = {"demographic_parity": {}}
    transform_uses_estimator = False
    needs_sensitive_at_predict = True
    several = "every intersection has means of its own, and all protected columns are dropped"
    multi_group = True
    multi_class = True

    alpha: float = 0.05

    def resample(self, X: Any, y: Vector, s: Vector, w: Weights = None) -> TrainingSet:
        """Learn the means of the groups and return the rows without them."""
        check_share("alpha", self.alpha)
        groups = int(s.max()) + 1
        if self.published and groups > 2:
            raise NotApplicable(
                f"{self.name} as published takes two groups and there are {groups}; use "
                f'protocol="corrected".'
            )
        protected = self._positions(X)
        if X.shape[1] == len(protected):
            raise InputError(
                f"{self.name} must have a column to learn from besides the protected ones; X has none."
            )
        columns = [j for j in numeric_columns(X) if j not in protected]
        matrix = as_matrix(take_columns(X, columns), who=self.name)
        weight = np.ones(len(s)) if w is None or self.published else w
        means, p = group_means(matrix, s, weight, groups)
        chosen = np.flatnonzero(p < self.alpha)
        self.changed_columns_ = [columns[k] for k in chosen]
        self.means_ = means[:, chosen]
        return self.transform(X, s), y, s, w

    def transform(self, X: Any, s: Vector | None = None) -> Any:
        """Return rows less the means of their groups, without the protected columns."""
        assert s is not None
        if not self.changed_columns_:
            return drop_columns(X, self._positions(X))
        left = as_matrix(take_columns(X, self.changed_columns_), who=self.name) - self.means_[s]
        moved = dict(zip(self.changed_columns_, left.T, strict=True))
        return drop_columns(set_columns(X, moved, keep_types=False), self._positions(X))


def group_means(matrix: Floats, s: Vector, weight: Floats, groups: int) -> tuple[Floats, Floats]:
    """Return each column's mean by group, and the p-value of the F-test that they are equal.

    Weights are scaled so that they add up to the number of rows. A constant column depends on
    nothing (p = 1); one that is constant within all groups, and not between them, on the group (p = 0).

    Examples
    --------
    >>> means, p = group_means(np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 0, 1, 1]),
    ...                        np.ones(4), 2)
    >>> means.ravel().tolist(), round(float(p[0]), 3)
    ([1.5, 3.5], 0.106)
    """
    member = np.equal.outer(np.arange(groups), s) * (weight * len(s) / weight.sum())
    size = member.sum(axis=1)
    known = size > 0
    means = np.divide(
        member @ matrix,
        size[:, None],
        out=np.zeros((groups, matrix.shape[1])),
        where=known[:, None],
    )
    centre = size @ means / size.sum()
    between = size @ (means - centre) ** 2
    # of each row from its group's mean: a difference of sums of squares would lose digits
    within = member.sum(axis=0) @ (matrix - means[s]) ** 2
    free = int(known.sum()) - 1, len(s) - int(known.sum())
    dust = 1e-12 * (between + within + centre**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (between / free[0]) / (within / free[1])
    p = np.where(within > dust, f_law.sf(ratio, *free), np.where(between > dust, 0.0, 1.0))
    return means, np.nan_to_num(p, nan=1.0)
