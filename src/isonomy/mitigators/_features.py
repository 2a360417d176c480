"""The feature matrix of a method that is itself the model: numbers, scaled where asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomy._arrays import Floats
from isonomy._tables import as_matrix, drop_columns


def unit_scale(matrix: Floats) -> tuple[Floats, Floats]:
    """Return what to shift and divide each column by so that it runs from 0 to 1."""
    low, high = matrix.min(axis=0), matrix.max(axis=0)
    return low, np.where(high > low, high - low, 1.0)


@dataclass
class Features:
    """Turns a table into the matrix that a model was fitted on.

    Parameters
    ----------
    who : str
        The method, for messages.
    dropped : sequence of int
        Columns that the model must not see.
    low, span : array, optional
        What each column is shifted and divided by; None where the table is used as it is.
    """

    who: str
    dropped: Sequence[int] = ()
    low: Floats | None = None
    span: Floats | None = None

    @classmethod
    def learn(
        cls, X: Any, *, who: str, dropped: Sequence[int] = (), scale: bool
    ) -> tuple["Features", Floats]:
        """Settle the columns and their scale; a column from 0 to 1 stays as it is."""
        features = cls(who, dropped)
        matrix = features(X)
        if scale:
            low, span = unit_scale(matrix)
            if (low != 0.0).any() or (span != 1.0).any():
                features.low, features.span = low, span
                matrix = (matrix - low) / span
        return features, matrix

    def __call__(self, X: Any) -> Floats:
        """Return the matrix of a table with the columns seen in fit."""
        matrix = as_matrix(drop_columns(X, self.dropped), who=self.who)
        if self.low is None or self.span is None:
            return matrix
        return (matrix - self.low) / self.span
