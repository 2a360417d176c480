"""Disparate impact remover (Feldman et al., 2015): features whose distribution tells no group."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy._tables import as_matrix, drop_columns, numeric_columns, set_columns, take_columns
from isonomy._validate import check_weight
from isonomy.errors import InputError
from isonomy.mitigators.base import MITIGATORS, TrainingSet, Vector, Weights
from isonomy.mitigators.stages import PreProcessor


@MITIGATORS.register("disparate_impact_remover", aliases=("dir",))
class DisparateImpactRemover(PreProcessor):
    """Moves each feature, group by group, to a distribution that all groups share.

    A value is replaced by the value that the groups' median distribution has at the same quantile,
    so that ranks within a group are kept and the group can no longer be read off a column. The
    protected columns themselves are taken out of the features. Labels stay as they are: this
    changes X, not the disparity of the labels. A column of 0 and 1 that both groups fill, and so a
    one-hot column, has nothing that could be moved; columns of words are left alone for the same
    reason. The protected attribute is needed to predict.

    Notes
    -----
    **Protocols**

    ==============  ================================  ===========================================
    what            as_published                      corrected
    ==============  ================================  ===========================================
    rows to         repaired by themselves: the       repaired by the map learnt in fit, so
    predict         prediction of a row depends on    that a row's prediction depends on
                    the rows that come with it        nothing but the row
    quantiles       of the distinct values, however   of the rows (mid-ranks), so that groups
                    often each occurs                 do agree in distribution
    two groups      the smaller of the two medians    half-way between the two
    partial repair  a share of the way in ranks       a share of the way in the value
    a column one    all rows become that group's      the same
    group has       only value
    only one
    value of
    weights         ignored                           used
    ==============  ================================  ===========================================

    Parameters
    ----------
    estimator, privileged, favorable, sensitive_columns, protocol, random_state
        See ``BaseMitigator``.
    repair_level : float
        From 0, nothing, to 1, all the way.

    References
    ----------
    M. Feldman, S. Friedler, J. Moeller, C. Scheidegger, S. Venkatasubramanian, "Certifying and
    removing disparate impact", KDD 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import DisparateImpactRemover
    >>> X, s = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    >>> repaired, *_ = DisparateImpactRemover().resample(X, np.array([0, 1, 0, 1]), s)
    >>> repaired.ravel().tolist()
    [2.0, 3.0, 2.0, 3.0]
    """

    label = "DIR"
    advice = "Numeric features that give the group away; keeps ranks within groups."
    reference = "Feldman et al., KDD 2015"
    aims: ClassVar = {"demographic_parity": {}}
    strength_values: ClassVar = {"repair_level": (0.25, 0.5, 0.75, 1.0)}
    transform_uses_estimator = False
    needs_sensitive_at_predict = True
    several = (
        "every intersection is moved to the distribution that all of them "
        "share, and all protected columns are taken out"
    )
    multi_group = True
    multi_class = True

    repair_level: float = 1.0

    def resample(self, X: Any, y: Vector, s: Vector, w: Weights = None) -> TrainingSet:
        """Learn the map and return the repaired rows."""
        if not 0 <= self.repair_level <= 1:
            raise InputError(f"repair_level must be between 0 and 1; got {self.repair_level}.")
        protected = self._positions(X)
        self.repaired_columns_ = [j for j in numeric_columns(X) if j not in protected]
        if X.shape[1] == len(protected):
            raise InputError(
                "disparate_impact_remover must have a column to learn from besides the protected "
                "ones; X has none."
            )
        if self.protocol == "corrected":
            matrix = as_matrix(take_columns(X, self.repaired_columns_), who=self.name, gaps=True)
            self.maps_ = _learn(matrix, s, None if w is None else check_weight(w))
        return self.transform(X, s), y, s, w

    def transform(self, X: Any, s: Vector | None = None) -> Any:
        """Return repaired rows without the protected columns."""
        assert s is not None
        corrected = self.protocol == "corrected"
        matrix = as_matrix(take_columns(X, self.repaired_columns_), who=self.name, gaps=corrected)
        if not corrected:
            matrix = repair_by_itself(matrix, s, self.repair_level)
        else:
            matrix = self._apply(matrix, s)
        protected = self._positions(X)
        if isinstance(X, np.ndarray) and len(self.repaired_columns_) + len(protected) == X.shape[1]:
            return matrix
        repaired = dict(zip(self.repaired_columns_, matrix.T, strict=True))
        return drop_columns(set_columns(X, repaired, keep_types=False), protected)

    def _apply(self, matrix: Floats, s: Vector) -> Floats:
        out = matrix.copy()
        for g in np.unique(s).tolist():
            rows = np.flatnonzero(s == g)
            for column, knots in self.maps_.items():
                if g not in knots:
                    raise InputError(f"Group number {g} was not seen in fit.")
                old = matrix[rows, column]
                out[rows, column] = old + self.repair_level * (np.interp(old, *knots[g]) - old)
        return out


def _learn(
    matrix: Floats, s: Vector, w: Floats | None
) -> dict[int, dict[int, tuple[Floats, Floats]]]:
    """Return, per column and group, values and the value at the same mid-quantile of the median distribution.

    Mid-ranks (half of a tie below, half above) leave a column alone whose distribution is the same
    in all groups, ties or not. A missing value stays missing, and a column of which some group has
    no value stays as it is.
    """
    groups = np.unique(s).tolist()
    given = ~np.isnan(matrix)
    members = [np.flatnonzero(s == g) for g in groups]
    maps = {}
    for column in _movable(matrix, s):
        values, levels = [], []
        known = [rows[given[rows, column]] for rows in members]
        if not all(map(len, known)):
            continue
        for rows in known:
            distinct, inverse = np.unique(matrix[rows, column], return_inverse=True)
            mass = np.bincount(inverse, None if w is None else w[rows]).astype(np.float64)
            values.append(distinct)
            levels.append((np.cumsum(mass) - mass / 2) / mass.sum())
        targets = [
            np.median([np.interp(p, q, v) for v, q in zip(values, levels, strict=True)], axis=0)
            for p in levels
        ]
        maps[column] = dict(zip(groups, zip(values, targets, strict=True), strict=True))
    return maps


def _movable(matrix: Floats, s: Vector) -> list[int]:
    """Return the columns that a repair could change: not those of two values that all groups hold."""
    low, high = np.fmin.reduce(matrix), np.fmax.reduce(matrix)
    zeros, ones = matrix == low, matrix == high
    two = (zeros | ones | np.isnan(matrix)).all(axis=0)
    mixed = np.ones(matrix.shape[1], dtype=bool)
    for g in np.unique(s):
        mixed &= ones[s == g].any(axis=0) & zeros[s == g].any(axis=0)
    constant = low == high
    return np.flatnonzero(~(two & (mixed | constant))).tolist()


def repair_by_itself(matrix: NDArray[Any], s: Vector, repair_level: float = 1.0) -> Floats:
    """Repair a table by its own distribution, as the published study's library did.

    Quantiles are of the distinct values: as many quantiles as the group with fewest distinct
    values has, each group's cut at rounded ranks; the target of a quantile is the lower median of
    the groups' lower medians; a value moves by its rounded share of the way in ranks of all
    distinct values.

    Examples
    --------
    >>> import numpy as np
    >>> X, s = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    >>> repair_by_itself(X, s).ravel().tolist()
    [1.0, 2.0, 1.0, 2.0]
    """
    repaired = np.array(matrix, dtype=np.float64)
    _, s = np.unique(s, return_inverse=True)
    for column in _movable(repaired, s):
        values, position = np.unique(repaired[:, column], return_inverse=True)
        table = _move_table(position, s, len(values), repair_level)
        repaired[:, column] = values[table[s, position]]
    return repaired


def _move_table(position: Vector, s: Vector, k: int, level: float) -> NDArray[np.intp]:
    """Return the new position of each of k distinct values, per group."""
    groups = int(s.max()) + 1
    occurs = np.bincount(s * k + position, minlength=groups * k).reshape(groups, k) > 0
    own = [np.flatnonzero(row) for row in occurs]
    quantiles = min(map(len, own))
    # Summed step by step: the reference adds 1 / quantiles up and its rounding shows.
    edge = np.concatenate([[0.0], np.cumsum(np.full(quantiles, 1.0 / quantiles))])
    edges = [np.rint(edge * len(values)).astype(np.intp) for values in own]
    medians = [
        values[cut[:-1] + (np.diff(cut) - 1) // 2] for values, cut in zip(own, edges, strict=True)
    ]
    target = np.sort(medians, axis=0)[(groups - 1) // 2]
    table = np.tile(np.arange(k), (groups, 1))
    for g, (values, cut) in enumerate(zip(own, edges, strict=True)):
        quantile = np.searchsorted(cut, np.arange(len(values)), side="right") - 1
        table[g, values] += np.rint((target[quantile] - values) * level).astype(np.intp)
    return table
