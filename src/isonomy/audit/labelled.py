"""Audit rows with their labels or, where they have none, by their selections."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from isonomy._files import open_table
from isonomy._groups import bands
from isonomy._tables import as_pandas
from isonomy._validate import as_names, check_columns
from isonomy.audit.findings import Audit
from isonomy.audit.run import audit, audit_file
from isonomy.audit.selections import audit_selections, audit_selections_file

LABEL, PREDICTION = "y_true", "y_pred"
"""What the columns of labels and predictions are called where nobody names them."""


def has_labels(columns: Iterable[Any], label: str | None, prediction: str | None) -> bool:
    """Return whether a table is to be audited with labels.

    It is not where predictions are named, labels are not, and no column is called ``y_true``.

    Examples
    --------
    >>> has_labels(["race", "hired"], None, "hired"), has_labels(["race", "hired"], None, None)
    (False, True)
    """
    return label is not None or prediction is None or LABEL in map(str, columns)


def file_has_labels(
    source: str | os.PathLike[str], table: str | None, label: str | None, prediction: str | None
) -> bool:
    """Return whether a file is to be audited with labels; see :func:`has_labels`."""
    if label is not None or prediction is None:
        return True
    with open_table(source, table) as file:
        return has_labels(file.columns, label, prediction)


def audit_table(
    source: Any,
    *,
    label: str | None = None,
    prediction: str | None = None,
    sensitive_features: str | Sequence[str],
    score: str | None = None,
    weight: str | None = None,
    table: str | None = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    strata: str | Sequence[str] = (),
    privileged: Any = None,
    **judging: Any,
) -> Audit:
    """Audit a file or a frame, by its selections where it has no labels.

    Parameters
    ----------
    source : path or frame
    label, prediction : str, optional
        Columns; ``y_true`` and ``y_pred`` where they are not named.
    sensitive_features, score, weight, table, bins, strata
        As in :func:`isonomy.audit_file`.
    privileged
        The groups to compare with: the reference, of selections.
    **judging
        ``favorable``, ``intersections``, ``metrics``, ``thresholds``, ``confidence``,
        ``resamples`` and ``random_state``, as in :func:`isonomy.audit`.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"race": ["w", "b"] * 50, "hired": [1, 0, 0, 0] * 25})
    >>> audit_table(frame, prediction="hired", sensitive_features="race").ratios["ratio"].tolist()
    [0.0, 1.0]
    """
    names: dict[str, Any] = {"label": label or LABEL, "prediction": prediction or PREDICTION}
    reading: dict[str, Any] = {
        "sensitive_features": sensitive_features,
        "strata": strata,
        "bins": bins,
    }
    if isinstance(source, str | os.PathLike):
        reading |= {"score": score, "weight": weight, "table": table}
        if file_has_labels(source, table, label, prediction):
            return audit_file(source, **names, privileged=privileged, **reading, **judging)
        return audit_selections_file(
            source, prediction=names["prediction"], reference=privileged, **reading, **judging
        )
    frame = as_pandas(source)
    labelled = has_labels(frame.columns, label, prediction)
    attributes, alike = as_names(sensitive_features), as_names(strata) if strata else []
    outcomes = [*([names["label"]] if labelled else []), names["prediction"]]
    numbers = [c for c in (score, weight) if c is not None]
    check_columns([*outcomes, *attributes, *alike, *numbers], [str(c) for c in frame.columns])
    cut = {a: bands(frame[a], cuts, a) for a, cuts in (bins or {}).items()}
    rows: dict[str, Any] = {
        "sensitive_features": frame[attributes].assign(**cut),
        "score": None if score is None else frame[score],
        "sample_weight": None if weight is None else frame[weight],
        "strata": frame[alike] if alike else None,
        "X": frame.drop(columns=[*outcomes, *numbers]),
    }
    predicted = frame[names["prediction"]]
    if labelled:
        return audit(frame[names["label"]], predicted, privileged=privileged, **rows, **judging)
    return audit_selections(predicted, reference=privileged, **rows, **judging)
