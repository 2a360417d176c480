"""The probability of the favourable label, from whatever a user calls a model."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomy._tables import row_count
from isonomy._validate import resolve_favorable
from isonomy.counterfactual.flip import Attribute
from isonomy.errors import InputError, IsonomyError

__all__ = ["Scorer"]

Floats = NDArray[np.float64]
SLACK = 1e-9
"""How far outside 0 to 1 rounding may put a probability."""


class Scorer:
    """Asks a model for the probability of the favourable label, and counts how often.

    Parameters
    ----------
    model : estimator or callable
        Something with ``predict_proba``, or a function that takes a table and gives one score
        per row (or two columns, the second of which is the favourable label's).
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
        self.calls = 0
        self.rows = 0
        self.told = bool(getattr(model, "needs_sensitive_at_predict", False))
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
                f"A model must have predict_proba, or be a function that gives scores; "
                f"{what} has none: wrap it in CalibratedClassifierCV, or pass a function."
            )

    @property
    def title(self) -> str:
        """What the model is called in a sentence."""
        own = getattr(self.model, "__name__", None)
        return str(own or type(self.model).__name__)

    def __call__(self, X: Any, attribute: Attribute | None = None, codes: Any = None) -> Floats:
        """Score rows; a method that must be told the groups is told those of ``codes``."""
        self.calls += 1
        self.rows += row_count(X)
        told: dict[str, Any] = {}
        if self.told and attribute is not None:
            told["sensitive_features"] = attribute.values(codes)
        ask = getattr(self.model, "predict_proba", self.model)
        try:
            with warnings.catch_warnings():
                # names of columns and unseen levels: what a model does about them is its own affair
                warnings.simplefilter("ignore", UserWarning)
                answer = ask(X, **told)
        except IsonomyError:
            raise
        except Exception as error:
            why = str(error).strip().splitlines()
            raise InputError(
                f"The model must be able to score these rows; {self.title} said: "
                f"{type(error).__name__}: {why[0] if why else 'nothing'}"
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
