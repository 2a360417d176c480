"""Performance of hard labels, from the confusion matrix over all groups."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from isonomy._arrays import Floats, divide
from isonomy.metrics.counts import Counts
from isonomy.metrics.metric import add_metric

ZERO_DIVISION_METRICS: tuple[str, ...] = (
    "accuracy",
    *(
        f"{side}_{score}(zero_division=0)"
        for score in ("recall", "precision", "f1")
        for side in ("favorable", "unfavorable", "macro")
    ),
    "mcc(zero_division=0)",
    "roc_auc_of_labels(zero_division=0)",
)
"""Twelve performance metrics of hard labels, with 0 for 0 / 0 as scikit-learn reports it."""


def _filled(values: Floats, zero_division: float) -> Floats:
    return values if np.isnan(zero_division) else np.where(np.isnan(values), zero_division, values)


def _two(counts: Counts) -> Floats:
    """Fold the confusion matrix into unfavourable / favourable."""
    fold = np.stack([~counts.is_favorable, counts.is_favorable]).astype(np.float64)
    return np.asarray(fold @ counts.overall() @ fold.T)


def _precision(matrix: Floats) -> Floats:
    return divide(_diagonal(matrix), matrix.sum(axis=-2))


def _recall(matrix: Floats) -> Floats:
    return divide(_diagonal(matrix), matrix.sum(axis=-1))


def _f1(matrix: Floats) -> Floats:
    return divide(2 * _diagonal(matrix), matrix.sum(axis=-1) + matrix.sum(axis=-2))


def _diagonal(matrix: Floats) -> Floats:
    return np.diagonal(matrix, axis1=-2, axis2=-1)


def _of_class(score: Callable[[Floats], Floats], which: int) -> Callable[..., Floats]:
    def fn(counts: Counts, *, zero_division: float) -> Floats:
        return _filled(score(_two(counts))[..., which], zero_division)

    return fn


def _macro(score: Callable[[Floats], Floats]) -> Callable[..., Floats]:
    def fn(counts: Counts, *, zero_division: float) -> Floats:
        matrix = counts.overall()
        values = _filled(score(matrix), zero_division)
        occurs = (matrix.sum(axis=-1) + matrix.sum(axis=-2)) > 0
        return divide(np.where(occurs, values, 0.0).sum(axis=-1), occurs.sum(axis=-1))

    return fn


def _accuracy(counts: Counts) -> Floats:
    matrix = counts.overall()
    return divide(np.trace(matrix, axis1=-2, axis2=-1), matrix.sum(axis=(-1, -2)))


def _balanced_accuracy(counts: Counts) -> Floats:
    recall = _recall(counts.overall())
    known = ~np.isnan(recall)
    return divide(np.where(known, recall, 0.0).sum(axis=-1), known.sum(axis=-1))


def _hard_auc(counts: Counts, *, zero_division: float) -> Floats:
    return _filled(np.mean(_recall(_two(counts)), axis=-1), zero_division)


def _favorable_share(counts: Counts, *, axis: int) -> Floats:
    matrix = _two(counts)
    return divide(matrix.sum(axis=axis)[..., 1], matrix.sum(axis=(-1, -2)))


def _mcc(counts: Counts, *, zero_division: float) -> Floats:
    """Matthews' coefficient for any number of classes (Gorodkin's form)."""
    matrix = counts.overall()
    true, pred = matrix.sum(axis=-1), matrix.sum(axis=-2)
    total = true.sum(axis=-1)
    both = np.trace(matrix, axis1=-2, axis2=-1) * total - (true * pred).sum(axis=-1)
    spread = (total**2 - (true**2).sum(axis=-1)) * (total**2 - (pred**2).sum(axis=-1))
    return _filled(divide(both, np.sqrt(np.maximum(spread, 0.0))), zero_division)


def _why(counts: Counts, **_: Any) -> str:
    """Say which class never occurs as label or as prediction."""
    matrix = counts.overall()
    for axis, what in ((-1, "label"), (-2, "prediction")):
        for name, total in zip(counts.classes, matrix.sum(axis=axis), strict=True):
            if total == 0:
                return f"no row has the {what} {name!r}"
    return "0 / 0"


def _add(
    name: str,
    label: str,
    formula: str,
    fn: Callable[..., Floats],
    *,
    zero_division: bool = True,
    **described: Any,
) -> None:
    usual = {
        "sign": "Higher is better.",
        "reference": "Sokolova, Lapalme 2009, A Systematic Analysis of Performance Measures",
        "parameters": {"zero_division": np.nan} if zero_division else {},
        "why_undefined": _why,
    }
    add_metric(name, fn, label=label, formula=formula, **usual | described)


IMBALANCE = "Do not use it alone where classes are unbalanced."
_add("accuracy", "accuracy", "P(ŷ = y)", _accuracy, avoid=IMBALANCE, zero_division=False)
_add(
    "error_rate", "error rate", "P(ŷ ≠ y)", lambda counts: 1.0 - _accuracy(counts), avoid=IMBALANCE, goal="min",
    sign="Lower is better.", zero_division=False,
)  # fmt: skip
_add(
    "balanced_accuracy", "balanced accuracy", "mean recall of the classes that occur as labels",
    _balanced_accuracy, avoid="Do not use it where errors of the classes cost differently.",
    zero_division=False,
)  # fmt: skip
_add(
    "selection_rate", "selected", "P(ŷ = fav)", partial(_favorable_share, axis=-2), avoid="It is not a measure of quality.",
    sign="Neither high nor low is good by itself; it is reported for reading the gaps.",
    zero_division=False,
)  # fmt: skip
_add(
    "base_rate", "base rate", "P(y = fav)", partial(_favorable_share, axis=-1), avoid="It is a fact about the data, not the model.",
    sign="Neither high nor low is good by itself; it is reported for reading the gaps.",
    zero_division=False,
)  # fmt: skip
for _which, _side, _short in ((1, "favorable", "F"), (0, "unfavorable", "UnF")):
    _word = "favourable" if _which else "unfavourable"
    _c = "fav" if _which else "unfav"
    _add(
        f"{_side}_precision", f"{_short}-P", f"P(y = {_c} | ŷ = {_c})", _of_class(_precision, _which),
        avoid=f"Do not use it alone: predicting {_word} once, rightly, makes it 1.",
        aliases=("precision",) if _which else (),
    )  # fmt: skip
    _add(
        f"{_side}_recall", f"{_short}-R", f"P(ŷ = {_c} | y = {_c})", _of_class(_recall, _which),
        avoid=f"Do not use it alone: predicting {_word} always makes it 1.",
        aliases=("recall",) if _which else ("specificity",),
    )  # fmt: skip
    _add(
        f"{_side}_f1", f"{_short}-F1", "2 TP / (2 TP + FP + FN), TP counted for this class",
        _of_class(_f1, _which), avoid="Do not use it where true negatives matter.",
        aliases=("f1",) if _which else (),
    )  # fmt: skip
_add(
    "macro_precision", "Mac-P", "mean precision of the classes", _macro(_precision),
    avoid="Do not use it where a class is never predicted: it is undefined, not 0.",
)  # fmt: skip
_add("macro_recall", "Mac-R", "mean recall of the classes", _macro(_recall), avoid=IMBALANCE)
_add(
    "macro_f1",
    "Mac-F1",
    "mean F1 of the classes",
    _macro(_f1),
    avoid="Its mean hides which class fails.",
)
_add(
    "mcc", "MCC", "correlation of label and prediction (Gorodkin's form for many classes)", _mcc,
    bounds=(-1.0, 1.0), avoid="Do not use it for a constant classifier: it is undefined, not 0.",
    reference="Matthews 1975; Gorodkin 2004", aliases=("matthews_corrcoef",),
)  # fmt: skip
_add(
    "roc_auc_of_labels", "AUC (labels)", "½ (TPR + TNR): the AUC of labels used as scores", _hard_auc,
    avoid="Do not call it AUC in a report: it is balanced accuracy.",
    reference="Chen et al. 2022, A Comprehensive Empirical Study of Bias Mitigation Methods",
)  # fmt: skip
