"""Fit an original and a mitigated model and judge them on rows neither has seen."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from isonomy._groups import attribute_columns, together
from isonomy._validate import match_values
from isonomy.audit import declared_model
from isonomy.data import Dataset, make_splits, prepare
from isonomy.errors import DegenerateOutputWarning, NotApplicable
from isonomy.mitigators import BaseMitigator, Unmitigated, make_mitigator
from isonomy.tradeoff.frontier import Frontier, post_processing_frontier
from isonomy.tradeoff.verdict import TradeOff, judge


def train_and_test(
    dataset: Dataset, attribute: str, method: str, *, model: Any = "lr", random_state: int = 0
) -> tuple[BaseMitigator, dict[str, Any], dict[str, Any]]:
    """Return a mitigator, not fitted, with training and test rows of one split of a dataset.

    Parameters
    ----------
    dataset : Dataset
    attribute : str
        The protected attribute; ``"sex+race"`` for two together, whose intersections are the
        groups.
    method : str
        A mitigator by name.
    model : str or classifier
        Its base learner: by name, as written for :func:`isonomy.audit.declared_model`, or an
        object of scikit-learn's kind.
    random_state : int
        Seed of the split.

    Returns
    -------
    tuple of (mitigator, train, test)
        The rows as keyword arguments of :func:`judge_mitigator`.

    Examples
    --------
    >>> from isonomy.data import load
    >>> mitigator, train, test = train_and_test(load("synthetic", n=400), "group", "reweighing")
    >>> mitigator.name, len(train["y"]), len(test["y_test"])
    ('reweighing', 280, 120)
    """
    names = [
        str(match_values(a, dataset.attributes, what="protected attribute")[0])
        for a in together(attribute)
    ]
    one = len(names) == 1
    # the preparation drops the rows in which the first attribute is not known
    known = None if one else np.all([dataset.known(name) for name in names], axis=0)
    split = make_splits(dataset, seed=random_state, rows=known)[0]
    rows = prepare(dataset, attribute=names[0], split=split)
    mitigator = make_mitigator(method, declared_model(model) if isinstance(model, str) else model)
    mitigator.set_params(
        privileged=1 if one else dict.fromkeys(names, 1),
        favorable=1,
        sensitive_columns=rows.sensitive_column if one else [rows.columns[n] for n in names],
    )
    groups = [
        {name: part.frame[name].to_numpy().astype(np.int8) for name in names}
        for part in (rows.train, rows.test)
    ]
    train = {"X": rows.X_train, "y": rows.y_train, "sensitive_features": groups[0]}
    test = {"X_test": rows.X_test, "y_test": rows.y_test, "sensitive_test": groups[1]}
    return mitigator, train, test


def judge_mitigator(
    mitigator: BaseMitigator | str,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    X_test: Any,
    y_test: Any,
    sensitive_test: Any,
    original: Any = None,
    frontier: bool = True,
    **options: Any,
) -> TradeOff:
    """Fit a mitigator and its original model, and judge the one by the other on test rows.

    Parameters
    ----------
    mitigator : BaseMitigator or str
        What to judge; ``privileged`` and ``favorable`` are read from it.
    X, y, sensitive_features
        Training rows.
    X_test, y_test, sensitive_test
        Rows to judge on.
    original : classifier or mitigator, optional
        The model that the baseline mutates: the mitigator's base learner by default.
    frontier : bool
        Whether to trace the post-processing frontier, too; its thresholds are chosen on
        out-of-fold scores of the training rows (five more fits of the original model).
    **options
        Those of :func:`judge_counts`.

    Examples
    --------
    >>> from isonomy.data import load, make_splits, prepare
    >>> data = load("synthetic", n=2000)
    >>> r = prepare(data, attribute="group", split=make_splits(data)[0])
    >>> verdict = judge_mitigator(
    ...     "reweighing", r.X_train, r.y_train, sensitive_features={"group": r.s_train},
    ...     X_test=r.X_test, y_test=r.y_test, sensitive_test={"group": r.s_test}, resamples=100,
    ... )
    >>> bool(verdict.bias < verdict.baseline.bias[0])
    True
    """
    method = make_mitigator(mitigator) if isinstance(mitigator, str) else clone(mitigator)
    plain = {name: getattr(method, name) for name in ("privileged", "favorable")}
    itself = isinstance(original, BaseMitigator)
    most_accurate = Unmitigated(
        method.estimator if itself or original is None else original, **plain
    )
    first = clone(original) if itself else most_accurate
    if not method.uses_estimator:
        method.set_params(estimator=None)  # it was the original model's
    seen, new = attribute_columns(sensitive_features), attribute_columns(sensitive_test)
    with warnings.catch_warnings(action="ignore", category=DegenerateOutputWarning):
        # the verdict flags it
        first.fit(X, y, sensitive_features=seen)
        method.fit(X, y, sensitive_features=seen)
    privileged = method.privileged
    if first.privileged_ is not None and len(seen) == 1:
        privileged = list(first.privileged_)
    options = {"favorable": first.favorable_, "privileged": privileged, **options}
    second = None
    if frontier and first.favorable_ is not None:
        if itself:
            most_accurate.fit(X, y, sensitive_features=seen)
        if hasattr(most_accurate.estimator_, "predict_proba"):
            second = _second_baseline(most_accurate, X, y, seen, X_test, y_test, new, options)
    return judge(
        y_test,
        first.predict(X_test, sensitive_features=new),
        method.predict(X_test, sensitive_features=new),
        sensitive_features=new,
        frontier=second,
        **options,
    )


def _second_baseline(
    first: Unmitigated, X: Any, y: Any, s: Any, X_test: Any, y_test: Any, s_test: Any, options: Any
) -> Frontier | None:
    column = int(np.flatnonzero(first.estimator_.classes_ == first.favorable_)[0])
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    scores = cross_val_predict(
        clone(first.estimator_), X, np.asarray(y), cv=folds, method="predict_proba"
    )
    try:
        return post_processing_frontier(
            y_test,
            first.estimator_.predict_proba(X_test)[:, column],
            sensitive_features=s_test,
            fit=(y, scores[:, column], s),
            favorable=options["favorable"],
            privileged=options["privileged"],
            performance=options.get("performance", "accuracy"),
            fairness=options.get("fairness", "statistical_parity_difference"),
        )
    except NotApplicable:
        return None  # the metric is not one that thresholds can be held to
