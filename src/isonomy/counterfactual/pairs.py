"""What a model says about each person, and about the same person in every other group."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomy._tables import row_count, stack, take
from isonomy.counterfactual.flip import Attribute, put
from isonomy.counterfactual.scores import Scorer

__all__ = ["Pairs", "score_pairs"]

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Scores of rows as they are and as members of every group.

    Parameters
    ----------
    attribute : Attribute
        What was flipped.
    codes : ndarray of int
        The group of every row.
    scores : ndarray of shape (rows, groups)
        The probability of the favourable label of every row in every group; NaN where a row was
        not put in a group.
    threshold : float
        The score from which on the favourable label is predicted.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"sex": ["f", "m"], "skill": [0.5, 0.6]})
    >>> pairs = score_pairs(lambda X: X["skill"] - 0.2 * (X["sex"] == "f"), X, "sex")
    >>> pairs.cd.round(3).tolist(), pairs.flipped.tolist()
    ([0.2, -0.2], [True, True])
    """

    attribute: Attribute
    codes: Codes
    scores: Floats
    threshold: float = 0.5

    @cached_property
    def score(self) -> Floats:
        """The score of each row as it is."""
        own: Floats = self.scores[np.arange(self.codes.size), self.codes]
        return own

    @cached_property
    def target(self) -> Codes:
        """The group that would have served each row best, among those it was put in."""
        others = self.scores.copy()
        others[np.arange(self.codes.size), self.codes] = np.nan
        return np.asarray(np.argmax(np.where(np.isnan(others), -np.inf, others), axis=1))

    @cached_property
    def other(self) -> Floats:
        """The score of each row in that group."""
        best: Floats = self.scores[np.arange(self.codes.size), self.target]
        return best

    @cached_property
    def cd(self) -> Floats:
        """The counterfactual discrimination of each row: positive where its own group costs it."""
        return np.asarray(self.other - self.score)

    @cached_property
    def flipped(self) -> NDArray[np.bool_]:
        """Whether the label changes in any of the groups a row was put in."""
        mine = self.score >= self.threshold
        known = ~np.isnan(self.scores)
        differs = ((self.scores >= self.threshold) != mine[:, None]) & known
        return np.asarray(differs.any(axis=1))


def score_pairs(
    model: Any,
    X: Any,
    sensitive_features: Any = None,
    *,
    attribute: Attribute | None = None,
    codes: Codes | None = None,
    against: Any = None,
    threshold: float = 0.5,
    together: bool = False,
    favorable: Any = None,
    **where: Any,
) -> Pairs:
    """Score rows and their counterfactuals, in two calls of the model or in one.

    Parameters
    ----------
    model : Scorer, estimator or callable
        What gives scores.
    X : table
        The rows; with ``codes`` all of them belong to a group.
    sensitive_features
        As in ``flip``, where ``attribute`` and ``codes`` are not given.
    attribute, codes : Attribute and ndarray of int, optional
        The attribute as it was learned elsewhere and the groups of these rows.
    against : group, optional
        Put rows in this group only; its own members go to every other one.
    threshold : float, default 0.5
        The score from which on the favourable label is predicted.
    together : bool, default False
        Whether to ask the model once for all rows.
    favorable : label, optional
        The label that is good to get.
    **where
        ``columns``, ``groups`` and ``companions``, as in ``flip``.
    """
    scorer = model if isinstance(model, Scorer) else Scorer(model, favorable)
    if attribute is None or codes is None:
        attribute, codes = Attribute.learn(X, sensitive_features, outside=scorer.told, **where)
        if (codes < 0).any():
            X, codes = take(X, np.flatnonzero(codes >= 0)), codes[codes >= 0]
    size = len(attribute.groups)
    flips = put(X, attribute, codes, range(size))
    if against is not None:
        one = attribute.code_of(against)
        wanted = (flips.target == one) | (flips.origin == one)
        if not wanted.all():
            flips = type(flips)(
                take(flips.X, np.flatnonzero(wanted)), flips.row[wanted], flips.origin[wanted],
                flips.target[wanted], attribute,
            )  # fmt: skip
    scores = np.full((row_count(X), size), np.nan)
    at = np.arange(codes.size)
    if together:
        both = scorer(stack([X, flips.X]), attribute, np.concatenate([codes, flips.target]))
        scores[at, codes], scores[flips.row, flips.target] = both[: at.size], both[at.size :]
    else:
        scores[at, codes] = scorer(X, attribute, codes)
        scores[flips.row, flips.target] = scorer(flips.X, attribute, flips.target)
    return Pairs(attribute, codes, scores, threshold)
