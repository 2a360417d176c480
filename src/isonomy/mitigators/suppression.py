"""Suppression: the protected columns are taken out of the features."""

from typing import Any

from isonomy._tables import drop_columns
from isonomy.errors import InputError
from isonomy.mitigators.base import MITIGATORS, TrainingSet, Vector, Weights
from isonomy.mitigators.stages import PreProcessor


@MITIGATORS.register("suppression", aliases=("unawareness",))
class Suppression(PreProcessor):
    """Drops the protected columns: the naive baseline that everyone asks about.

    Fairness through unawareness. Other columns that tell the group apart stay, so the disparity
    mostly stays too; it is here so that this can be shown on one's own data. The base learner sees
    fewer columns: a ColumnTransformer inside it must not name the dropped ones (use
    ``make_column_selector``).

    Notes
    -----
    **Protocols**

    Both are the same: no study measured it.

    References
    ----------
    C. Dwork, M. Hardt, T. Pitassi, O. Reingold, R. Zemel, "Fairness through awareness",
    ITCS 2012 (why unawareness is not enough).

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import Suppression
    >>> X = np.array([[0, 5], [1, 6], [0, 8], [1, 9]])
    >>> model = Suppression(sensitive_columns=0).fit(X, [0, 0, 1, 1])
    >>> model.estimator_.n_features_in_
    1
    """

    label = "Suppression"
    advice = "To show that dropping the column does not remove the disparity."
    reference = "Dwork et al., ITCS 2012"
    transform_uses_estimator = False
    several = "all protected columns are dropped"
    multi_group = True
    multi_class = True

    def resample(self, X: Any, y: Vector, s: Vector, w: Weights = None) -> TrainingSet:
        """Return the rows without the protected columns."""
        return self.transform(X), y, s, w

    def transform(self, X: Any, s: Vector | None = None) -> Any:
        """Return rows without the protected columns."""
        positions = self._positions(X)
        if not positions:
            raise InputError(
                "suppression must know which columns of X are protected and found none named like "
                "sensitive_features: pass sensitive_columns."
            )
        if len(positions) == X.shape[1]:
            raise InputError("suppression must leave a column to learn from; all are protected.")
        return drop_columns(X, positions)
