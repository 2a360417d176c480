"""Scores of each row as it is and as a member of every other group, from any model."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy._brief import brief
from isonomy._tables import row_count, stack, take
from isonomy._validate import in_one_line, resolve_favorable
from isonomy.counterfactual.flip import Attribute, Codes, Flips, put
from isonomy.errors import InputError, IsonomyError

SLACK = 1e-9
"""How far outside 0 to 1 rounding may put a probability."""


class Scorer:
    """Asks a model for the probability of the favourable label, and counts how often.

    Parameters
    ----------
    model : estimator or callable
        Something with ``predict_proba``, or a function that takes a table and returns one score
        per row (or two columns, the second of which is the favourable label's; where
        ``favorable`` names a label, which column is its own cannot be known: one, then).
    favorable : label, optional
        The label that is good to get; may be left out when the classes are 0 / 1.

    Examples
    --------
    >>> scorer = Scorer(lambda X: X[:, 0] / 10)
    >>> scorer(np.array([[2.0], [5.0]])).tolist(), scorer.calls
    ([0.2, 0.5], 1)
    """

    def __init__(self, model: Any, favorable: Any = None) -> None:
        self.model = model
        self.favorable = favorable
        self.calls = 0
        self.rows = 0
        self.takes_groups = bool(getattr(model, "needs_sensitive_at_predict", False))
        self.places: list[int] | None = None
        if hasattr(model, "predict_proba"):
            classes = getattr(model, "classes_", None)
            if classes is not None:
                known = [c.item() if isinstance(c, np.generic) else c for c in classes]
                chosen = resolve_favorable(known, favorable)
                self.places = [known.index(c) for c in chosen]
        elif not callable(model) or isinstance(model, type):
            what = type(model).__name__ if not isinstance(model, type) else model.__name__
            raise InputError(
                f"A model must have predict_proba, or be a function that returns scores; "
                f"{what} has none: wrap it in CalibratedClassifierCV, or pass a function."
            )

    @property
    def title(self) -> str:
        """What the model is called in a sentence."""
        own = getattr(self.model, "__name__", None)
        return str(own or type(self.model).__name__)

    def __call__(self, X: Any, attribute: Attribute | None = None, codes: Any = None) -> Floats:
        """Score rows; a method that takes the groups gets those of ``codes``."""
        self.calls += 1
        self.rows += row_count(X)
        groups: dict[str, Any] = {}
        if self.takes_groups and attribute is not None:
            groups["sensitive_features"] = attribute.values(codes)
        ask = getattr(self.model, "predict_proba", self.model)
        try:
            with warnings.catch_warnings(action="ignore", category=UserWarning):
                # names of columns and unseen levels: what a model does about them is its own affair
                answer = ask(X, **groups)
        except IsonomyError:
            raise
        except Exception as error:
            raise InputError(
                f"The model must be able to score these rows; {self.title} said: {in_one_line(error)}"
            ) from error
        return self._read(answer, row_count(X))

    def _read(self, answer: Any, rows: int) -> Floats:
        try:
            scores = np.asarray(answer, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"Scores must be numbers; {self.title} gave something else.") from None
        if scores.ndim == 2 and scores.shape[1] == 1:
            scores = scores[:, 0]
        elif scores.ndim == 2:
            places = self.places
            if places is None:
                if self.favorable is not None and self.favorable not in (1, "1"):
                    raise InputError(
                        f"Scores must be one column, those of the favourable label "
                        f"{self.favorable!r}; {self.title} gave {scores.shape[1]} columns and does "
                        f"not say whose they are: return one of them."
                    )
                if scores.shape[1] != 2:
                    raise InputError(
                        f"Scores must be one column, or two of which the second is the favourable "
                        f"label's; {self.title} gave {scores.shape[1]}."
                    )
                places = [1]
            scores = scores[:, places].sum(axis=1)
        if scores.shape != (rows,):
            raise InputError(
                f"A model must give one score per row; {self.title} gave an array of shape "
                f"{scores.shape} for {rows:,} rows."
            )
        if not np.isfinite(scores).all():
            raise InputError(f"Scores must be finite; {self.title} gave NaN or infinity.")
        low, high = (float(scores.min()), float(scores.max())) if rows else (0.0, 1.0)
        if low < -SLACK or high > 1 + SLACK:
            raise InputError(
                f"Scores must be probabilities between 0 and 1; {self.title} gave values from "
                f"{low:.4g} to {high:.4g}: calibrate the model first."
            )
        return np.clip(scores, 0.0, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
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

    __repr__ = brief

    @cached_property
    def score(self) -> Floats:
        """The score of each row as it is."""
        return np.asarray(self.scores[np.arange(self.codes.size), self.codes])

    @cached_property
    def target(self) -> Codes:
        """The group that would have served each row best, among those it was put in."""
        others = self.scores.copy()
        others[np.arange(self.codes.size), self.codes] = np.nan
        return np.asarray(np.argmax(np.where(np.isnan(others), -np.inf, others), axis=1))

    @cached_property
    def other(self) -> Floats:
        """The score of each row in that group."""
        return np.asarray(self.scores[np.arange(self.codes.size), self.target])

    @cached_property
    def cd(self) -> Floats:
        """The counterfactual discrimination of each row: positive where its own group costs it."""
        return np.asarray(self.other - self.score)

    @cached_property
    def flipped(self) -> NDArray[np.bool_]:
        """Whether the label changes in any of the groups a row was put in."""
        label = self.score >= self.threshold
        known = ~np.isnan(self.scores)
        differs = ((self.scores >= self.threshold) != label[:, None]) & known
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
        attribute, codes = Attribute.learn(
            X, sensitive_features, outside=scorer.takes_groups, **where
        )
        if (codes < 0).any():
            X, codes = take(X, np.flatnonzero(codes >= 0)), codes[codes >= 0]
    size = len(attribute.groups)
    flips = put(X, attribute, codes, range(size))
    if against is not None:
        one = attribute.code_of(against)
        wanted = (flips.target == one) | (flips.origin == one)
        if not wanted.all():
            chosen = flips.row[wanted], flips.origin[wanted], flips.target[wanted]
            flips = Flips(take(flips.X, np.flatnonzero(wanted)), *chosen, attribute)
    scores = np.full((row_count(X), size), np.nan)
    at = np.arange(codes.size)
    if together:
        both = scorer(stack([X, flips.X]), attribute, np.concatenate([codes, flips.target]))
        scores[at, codes], scores[flips.row, flips.target] = both[: at.size], both[at.size :]
    else:
        scores[at, codes] = scorer(X, attribute, codes)
        scores[flips.row, flips.target] = scorer(flips.X, attribute, flips.target)
    return Pairs(attribute, codes, scores, threshold)
