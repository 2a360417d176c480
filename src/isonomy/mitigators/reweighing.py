"""Reweighing (Kamiran and Calders, 2012): weights that make label and group independent."""

from typing import Any, ClassVar

import numpy as np

from isonomy._arrays import Floats
from isonomy.errors import NotApplicable
from isonomy.mitigators._post import check_cells
from isonomy.mitigators.base import MITIGATORS, TrainingSet, Vector, Weights
from isonomy.mitigators.stages import PreProcessor


@MITIGATORS.register("reweighing", aliases=("rw",))
class Reweighing(PreProcessor):
    r"""Weights the training rows so that the label is independent of the group.

    A row of group :math:`s` and label :math:`y` gets the weight it would need for the two to be
    independent: :math:`w(s, y) = n_s n_y / (n \, n_{sy})`, where the :math:`n` are sums of the
    weights passed to fit. Features and labels stay as they are, so any learner that takes weights
    can be used, and the protected attribute is not needed to predict.

    Notes
    -----
    **Protocols**

    ==========  ============================  ==============================================
    what        as_published                  corrected
    ==========  ============================  ==============================================
    weights     as above                      the same
    empty cell  a division by zero            refused, in both protocols: a group without
                                              one of the labels cannot be balanced by
                                              weights
    several     sides that overlap: who is    each intersection by itself
    attributes  privileged in some attribute
                and who is not in some; rows
                of both get both weights
    ==========  ============================  ==============================================

    Attributes
    ----------
    weight_of_ : array of shape (groups, classes)
        The weight of each cell.

    References
    ----------
    F. Kamiran and T. Calders, "Data preprocessing techniques for classification without
    discrimination", Knowledge and Information Systems 33, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import Reweighing
    >>> y, s = np.array([1, 1, 0, 1, 0, 0]), np.array([1, 1, 1, 0, 0, 0])
    >>> *_, weight = Reweighing().resample(None, y, s)
    >>> weight.tolist()
    [0.75, 0.75, 1.5, 1.5, 0.75, 0.75]
    """

    label = "RW"
    advice = "The first thing to try: any learner with weights, little to lose."
    reference = "Kamiran and Calders, KAIS 2012"
    aims: ClassVar = {"demographic_parity": {}}
    version = "2"  # as published, the last bit of the weights is the reference's
    corrected_version = "1"
    transform_uses_estimator = False
    multi_group = True
    multi_class = True

    def resample(self, X: Any, y: Vector, s: Vector, w: Weights = None) -> TrainingSet:
        """Return the same rows with the weights multiplied by those of their cells."""
        classes, groups = int(y.max()) + 1, int(s.max()) + 1
        cell = s * classes + y
        n = np.bincount(cell, w, groups * classes).reshape(groups, classes).astype(np.float64)
        if self.published and (sides := self._overlapping(groups)) is not None:
            self.weight_of_ = _both_weights(n, *sides)
            weight = self.weight_of_.ravel()[cell]
            return X, y, s, weight if w is None else weight * w
        expected = n.sum(axis=1, keepdims=True) * n.sum(axis=0) / n.sum()
        names = getattr(self, "groups_", range(groups))
        check_cells(np.where(expected > 0, n, 1.0), names, who=self.name, kind=NotApplicable)
        top, bottom = expected, n
        if self.published:
            # The same number but for its last bit, which decides ties between the splits of trees.
            top, bottom = n.sum(axis=1, keepdims=True) * n.sum(axis=0), n.sum() * n
        self.weight_of_ = np.divide(top, bottom, out=np.zeros_like(n), where=n > 0)
        weight = self.weight_of_.ravel()[cell]
        return X, y, s, weight if w is None else weight * w

    def _overlapping(self, groups: int) -> tuple[Any, Any] | None:
        """Return who is privileged in some attribute, and who is not in some, of several attributes."""
        named = getattr(self, "privileged_", None)
        if not named or not isinstance(self.groups_[0], tuple) or len(self.groups_) != groups:
            return None
        best = [{g[k] for g in named} for k in range(len(named[0]))]
        told = np.array([[v in b for v, b in zip(g, best, strict=True)] for g in self.groups_])
        return told.any(axis=1), ~told.all(axis=1)


def _both_weights(n: Floats, *sides: Any) -> Floats:
    """Return the product of the weights of every side that a group is on."""
    out = np.ones_like(n)
    for side in sides:
        own = n[side].sum(axis=0)
        out[side] *= np.divide(
            own.sum() * n.sum(axis=0), n.sum() * own, out=np.zeros_like(own), where=own > 0
        )
    return out
