"""What a preparation gives: features, label and protected attribute of each part of a split."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._arrays import Floats, Rows


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of one part of a split, ready to learn from or to test on.

    Parameters
    ----------
    X : array of float, (n, d)
        The features.
    y : array of int8
        The label, 1 = favourable.
    s : array of int8
        The protected attribute under test, 1 = privileged.
    rows : array of int
        The positions of the rows in the dataset.
    frame : pandas.DataFrame
        The prepared frame before encoding and scaling.
    sensitive : pandas.DataFrame
        All protected attributes with their raw values.
    weight : array of float, optional
        The weights of the dataset.
    """

    X: Floats
    y: NDArray[np.int8]
    s: NDArray[np.int8]
    rows: Rows
    frame: pd.DataFrame
    sensitive: pd.DataFrame
    weight: Floats | None = None

    def __len__(self) -> int:
        return len(self.y)

    def at(self, rows: Rows) -> "Part":
        """Return some of the rows, by their positions in this part."""
        return Part(
            X=self.X[rows],
            y=self.y[rows],
            s=self.s[rows],
            rows=self.rows[rows],
            frame=self.frame.iloc[rows],
            sensitive=self.sensitive.iloc[rows],
            weight=None if self.weight is None else self.weight[rows],
        )


@dataclass(frozen=True, eq=False)
class Prepared:
    """One split of a dataset, prepared.

    ``X_train, y_train, s_train, X_test, y_test, s_test`` are short for the fields of ``train``
    and ``test``.

    Parameters
    ----------
    dataset, preparation, attribute : str
        What was prepared, how, and the protected attribute under test.
    train, test : Part
        The two parts.
    validation : Part, optional
        The third, where the split has one.
    feature_names : tuple of str
        The names of the columns of ``X``; a one-hot column is ``column=level``.
    columns : mapping of str to int
        Per protected attribute, the index of its column in ``X``.
    values : mapping of str to (float, float)
        Per protected attribute, what that column holds for the unprivileged and for the
        privileged group, after scaling; to flip the attribute, swap them.
    """

    dataset: str
    preparation: str
    attribute: str
    train: Part
    test: Part
    feature_names: tuple[str, ...]
    columns: Mapping[str, int]
    values: Mapping[str, tuple[float, float]]
    validation: Part | None = None

    @property
    def sensitive_column(self) -> int:
        """The index in ``X`` of the protected attribute under test."""
        return self.columns[self.attribute]

    @property
    def X_train(self) -> Floats:  # noqa: N802 - the field's own letters
        """The features of the training rows."""
        return self.train.X

    @property
    def y_train(self) -> NDArray[np.int8]:
        """The label of the training rows, 1 = favourable."""
        return self.train.y

    @property
    def s_train(self) -> NDArray[np.int8]:
        """The protected attribute of the training rows, 1 = privileged."""
        return self.train.s

    @property
    def X_test(self) -> Floats:  # noqa: N802
        """The features of the test rows."""
        return self.test.X

    @property
    def y_test(self) -> NDArray[np.int8]:
        """The label of the test rows, 1 = favourable."""
        return self.test.y

    @property
    def s_test(self) -> NDArray[np.int8]:
        """The protected attribute of the test rows, 1 = privileged."""
        return self.test.s

    def flipped(self, X: Floats, attribute: str | None = None) -> Floats:
        """Return a copy of a feature matrix with a protected attribute flipped in every row."""
        attribute = attribute or self.attribute
        column, (low, high) = self.columns[attribute], self.values[attribute]
        other = X.copy()
        other[:, column] = low + high - X[:, column]
        return other
