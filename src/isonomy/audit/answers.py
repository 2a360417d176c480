"""What a fitted model says of some rows: its labels as the data write them, and its scores."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy._groups import factorize
from isonomy._tables import column_names, row_count
from isonomy._validate import in_one_line, listed, match_values
from isonomy.errors import InputError, IsonomyError


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model says of the rows: labels, and scores where it has probabilities."""

    labels: NDArray[Any]
    score: Floats | None


def ask(
    name: str,
    model: Any,
    X: Any,
    columns: Mapping[str, Any],
    labels: Sequence[Any],
    favorable: Sequence[Any],
    notes: list[str],
) -> Answers:
    """Ask a model for its labels, and for its scores where it has probabilities.

    Parameters
    ----------
    name : str
        What its warnings are noted under.
    model : fitted classifier
    X : frame or array
        The rows; a model is given the columns that it was fitted on.
    columns : mapping of attribute to column
        The protected attributes, for models that need them to predict.
    labels, favorable : sequence
        The labels of the data, and those of them that are favorable.
    notes : list of str
        What the model warns of is added here.
    """
    if not hasattr(model, "predict") or isinstance(model, type):
        kind = model.__name__ if isinstance(model, type) else type(model).__name__
        raise InputError(f"A model must be a fitted classifier with predict; it is a {kind}.")
    rows = _features(model, X)
    # a model that names the columns of its attribute reads them from the rows
    asks = getattr(model, "needs_sensitive_at_predict", False)
    groups = (
        {"sensitive_features": columns}
        if asks and getattr(model, "sensitive_columns", None) is None
        else {}
    )
    score = None
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            answer = np.asarray(model.predict(rows, **groups))
            if hasattr(model, "predict_proba") and hasattr(model, "classes_"):
                chances = np.asarray(model.predict_proba(rows, **groups), dtype=np.float64)
                own = _translated(list(model.classes_), labels)
                score = chances[:, [c in favorable for c in own]].sum(axis=1)
        except IsonomyError:
            raise
        except Exception as error:  # whatever a model of the user's raises
            raise InputError(f"It cannot answer for these rows: {in_one_line(error)}") from error
    notes += [f"{name} warns: {str(w.message).strip().splitlines()[0]}" for w in said]
    if answer.shape != (row_count(X),):
        raise InputError(
            f"A model must give one label per row; it gave an array of shape {answer.shape} for "
            f"{row_count(X):,} rows."
        )
    codes, values = factorize(answer)
    translated = np.empty(len(values), dtype=object)
    translated[:] = _translated(values, labels)
    return Answers(translated[codes], None if score is None else np.clip(score, 0.0, 1.0))


def _features(model: Any, X: Any) -> Any:
    """Return the columns that a model was fitted on."""
    wanted = getattr(model, "feature_names_in_", None)
    names = column_names(X)
    if wanted is not None and names is not None:
        missing = [str(c) for c in wanted if c not in names]
        if missing:
            raise InputError(
                f"The data must hold every column that the model was fitted on; "
                f"{listed(missing, most=4)} {'is' if len(missing) == 1 else 'are'} not there."
            )
        return X[[str(c) for c in wanted]]
    size = getattr(model, "n_features_in_", None)
    if size is not None and size != X.shape[1]:
        raise InputError(
            f"The model was fitted on {size} columns without names; the data have {X.shape[1]}: "
            f"leave columns out (--drop), or hand over a pipeline that was fitted on a frame."
        )
    return X if names is None or wanted is not None else np.asarray(X)


def _translated(values: Sequence[Any], labels: Sequence[Any]) -> list[Any]:
    """Return a model's classes as the data write them; one that is no label stays as it is."""
    out, strange = [], []
    for value in values:
        try:
            out.append(match_values(value, labels, what="label")[0])
        except InputError:
            out.append(value)
            strange.append(value)
    if len(strange) == len(values):
        raise InputError(
            f"A model must predict the labels of the data ({listed(labels, most=4)}); it predicts "
            f"{listed(strange, most=4)}: code the labels as it learned them."
        )
    return out
