"""The protected attribute as columns of X: where it stands, what it holds, how to swap it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

from isonomy._arrays import Floats
from isonomy._validate import listed
from isonomy.errors import NotApplicable
from isonomy.models import make_model

Codes = NDArray[Any]


def protected_columns(
    matrix: Floats, s: Codes, named: tuple[int, ...], *, needed_by: str | None = None
) -> tuple[int, ...]:
    """Return the columns that hold the protected attributes: those named, else those they decide.

    Where nothing was named, the columns that are constant within every group but not between
    groups are the attribute itself, one-hot or otherwise coded. A method that cannot do without
    them gives its name.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 5.0], [1.0, 5.0], [1.0, 6.0], [0.0, 6.0]])
    >>> protected_columns(X, np.array([0, 1, 1, 0]), ())
    (0,)
    """
    if named:
        return named
    first = np.unique(s, return_index=True)[1]
    # Looking at a few rows first rules out nearly every column without reading them all.
    some = slice(0, 200)
    place = np.searchsorted(s[first], s)
    likely = np.flatnonzero(
        (matrix[some] == matrix[first][place[some]]).all(axis=0)
        & (matrix[first] != matrix[first[0]]).any(axis=0)
    )
    same = (matrix[:, likely] == matrix[np.ix_(first, likely)][place]).all(axis=0)
    if needed_by and not same.any():
        raise NotApplicable(
            f"{needed_by} changes the protected columns of X and found none; name them with "
            f"sensitive_columns."
        )
    return tuple(int(j) for j in likely[same])


def group_values(
    matrix: Floats, s: Codes, columns: tuple[int, ...], *, who: str, groups: Any = None
) -> Floats:
    """Return what the protected columns hold for each group, one row per group number."""
    numbers, first = np.unique(s, return_index=True)
    values = np.full((int(s.max()) + 1, len(columns)), np.nan)
    protected = matrix[:, list(columns)]
    values[numbers] = protected[first]
    mixed = [int(g) for g in numbers if (protected[s == g] != values[g]).any()]
    if mixed:
        names = mixed if groups is None else [groups[g] for g in mixed]
        raise NotApplicable(
            f"{who} swaps the protected columns of X, so each group must hold one value there; "
            f"{listed(names)} holds several: put the grouped attribute into X instead of the "
            f"column it was made from."
        )
    return values


def plain_logistic(protocol: str) -> BaseEstimator:
    """Return what judges rows beside the base learner: a logistic regression, scaled or not."""
    if protocol == "as_published":
        return LogisticRegression(solver="liblinear", random_state=0)
    return make_model("lr")
