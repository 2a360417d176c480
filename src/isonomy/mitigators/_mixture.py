"""What mixtures of models share: the votes of the models, or the mean of their probabilities."""

from typing import Any

import numpy as np

from isonomy._arrays import Floats
from isonomy._validate import check_choice
from isonomy.errors import NotApplicable

SCORES = ("votes", "probabilities")


def check_scores(scores: str, learner: Any, *, who: str) -> None:
    """Raise unless a mixture of fits of this learner can have such scores."""
    check_choice(f"kind of scores of {who}", scores, SCORES)
    if scores == "probabilities" and not hasattr(learner, "predict_proba"):
        raise NotApplicable(
            f"{who} needs probabilities for scores={scores} and {type(learner).__name__} has none; "
            f"use scores=votes."
        )


def favorable_share(model: Any, X: Any) -> Floats:
    """Return a model's probability of the label 1; 0 where it never saw that label."""
    share = np.asarray(model.predict_proba(X), dtype=np.float64)
    column = np.flatnonzero(np.asarray(model.classes_) == 1)
    return share[:, column[0]] if column.size else np.zeros(len(share))
