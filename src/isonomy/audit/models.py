"""Many models on the same rows: each audited, all ranked on both goals, pairs compared."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from isonomy._bands import too_many_numbers
from isonomy._groups import (
    as_column,
    attribute_columns,
    choose_privileged,
    factorize,
    group_index,
    is_one_of,
    sort_key,
)
from isonomy._tables import row_count
from isonomy._unknown import is_unknown_group
from isonomy._validate import check_length, check_weight, listed, match_values, resolve_favorable
from isonomy.audit.answers import Answers, ask
from isonomy.audit.findings import Audit
from isonomy.audit.judge import DEFAULT_METRICS, taken_together
from isonomy.audit.paired import SharedRows, why_untested
from isonomy.audit.ranked import rank_models
from isonomy.audit.run import Features, audit
from isonomy.audit.standing import ModelPair, ModelsAudit, Standing
from isonomy.audit.traits import family_of, parameters_of, traits_of
from isonomy.errors import InputError, IsonomyError, NotApplicable
from isonomy.metrics import Metric, bias_of, get_metric


def audit_models(
    models: Mapping[str, Any],
    X: Any,
    y: ArrayLike,
    *,
    sensitive_features: Any,
    sample_weight: ArrayLike | None = None,
    favorable: Any = None,
    privileged: Any = None,
    performance: str | Metric = "accuracy",
    fairness: str | Metric = "statistical_parity_difference",
    metrics: Iterable[str | Metric] | None = None,
    thresholds: Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    random_state: int | None = 0,
    left_out: Mapping[str, str] | None = None,
    notes: Iterable[str] = (),
) -> ModelsAudit:
    """Audit several fitted models on the same rows and rank them on both goals.

    Every model is audited by itself (:func:`isonomy.audit`). Ranks, the Pareto front and all pairs
    of models are about one performance and one fairness metric; "shown to be better" and "shown to
    be fairer" hold for all pairs of models and both goals of an attribute together (Holm).

    Parameters
    ----------
    models : mapping of name to fitted classifier
        Models with ``predict``; what has ``predict_proba`` gets score metrics too. A model that
        cannot answer for these rows is left out with its reason, and the others go on.
    X : frame or array
        The features of rows that the models have not seen; a model is given the columns that it
        was fitted on.
    y : array-like of shape (n,)
        Labels, as the models predict them.
    sensitive_features, sample_weight, favorable
        As in :func:`isonomy.audit`.
    privileged : value, collection or mapping of attribute to value(s), optional
        The group(s) the others are compared with; where none is named, the group with the highest
        share of favorable labels.
    performance, fairness : str or Metric
        The two goals: a performance and a group metric of counts.
    metrics, thresholds, confidence, resamples, random_state
        As in :func:`isonomy.audit`; ``fairness`` is always among the metrics.
    left_out : mapping of name to reason, optional
        Models that could not be loaded or trained, to be listed.
    notes : iterable of str
        What a reader must know of how the models came about.

    Returns
    -------
    ModelsAudit

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 3))
    >>> sex = np.where(X[:, 0] + rng.normal(size=600) > 0, "m", "f")
    >>> y = (X[:, 0] + X[:, 1] + rng.normal(size=600) > 0).astype(int)
    >>> models = {m.__name__: m().fit(X[:300], y[:300])
    ...     for m in (LogisticRegression, DecisionTreeClassifier)}
    >>> found = audit_models(models, X[300:], y[300:], sensitive_features={"sex": sex[300:]})
    >>> found.frame()[["model", "performance_rank", "bias_rank", "front"]].values.tolist()
    [['LogisticRegression', 1, 2, True], ['DecisionTreeClassifier', 2, 1, True]]
    """
    good, fair = _goals(performance, fairness)
    if not isinstance(models, Mapping):
        raise InputError(
            f"models must name each model, {{name: model}}; got a {type(models).__name__}."
        )
    chosen = [get_metric(m) for m in (DEFAULT_METRICS if metrics is None else metrics)]
    if fair.name not in [m.name for m in chosen]:
        chosen = [fair, *chosen]
    if good.name not in [m.name for m in chosen]:
        chosen = [*chosen, good]
    columns = attribute_columns(sensitive_features)
    label = as_column(y, "y")
    weight = None if sample_weight is None else check_weight(sample_weight)
    check_length("y", len(label), "X", row_count(X))
    codes, found = factorize(label)
    if (codes < 0).any():
        raise InputError("y must be known for every row; it is missing in some: drop those rows.")
    good_labels = resolve_favorable(sorted(found, key=sort_key), favorable)
    notes = list(notes)
    known, chosen_groups = privileged_groups(columns, is_one_of(label, good_labels), privileged)
    notes += chosen_groups
    features = Features(X, columns)
    absent = dict(left_out or {})
    answers: dict[str, Answers] = {}
    for name, model in models.items():
        try:
            answers[name] = ask(name, model, X, columns, found, good_labels, notes)
        except IsonomyError as error:
            absent[name] = str(error)
    if not answers:
        raise InputError(
            "At least one model must answer for these rows; none does: "
            + (
                "; ".join(f"{n}: {why.rstrip('.')}" for n, why in absent.items())
                or "none was given"
            )
            + "."
        )
    silent = [name for name, a in answers.items() if a.score is None]
    if silent:
        notes.append(
            f"Without probabilities, and so without score metrics (AUC, calibration ...): "
            f"{', '.join(silent)}."
        )
    audits = {
        name: audit(
            label,
            a.labels,
            sensitive_features=columns,
            score=a.score,
            sample_weight=weight,
            favorable=list(good_labels),
            privileged=known,
            X=features,
            metrics=[m for m in chosen if a.score is not None or m.needs != "scores"],
            thresholds=thresholds,
            confidence=confidence,
            resamples=resamples,
            random_state=random_state,
        )
        for name, a in answers.items()
    }
    names = list(audits)
    families = {name: family_of(models[name]) for name in names}
    parameters = [parameters_of(models[name]) for name in names]
    classes = sorted(
        {*found, *(v for a in answers.values() for v in pd.unique(a.labels))}, key=sort_key
    )
    standings: list[Standing] = []
    pairs: list[ModelPair] = []
    traits = []
    for attribute, column in columns.items():
        groups = audits[names[0]].counts.select(attribute)
        side = _sides(groups.groups, known[attribute])[
            group_index({attribute: column}, groups.groups, len(label))
        ]
        shared = SharedRows.from_codes(
            side,
            _positions(label, classes),
            [_positions(answers[name].labels, classes) for name in names],
            classes,
            good_labels,
            weight,
        )
        some, between = rank_models(attribute, shared, audits, families, good, fair, confidence)
        standings += some
        pairs += between
        by_name = {s.model: s for s in some}
        traits += traits_of(
            attribute,
            list(families.values()),
            parameters,
            [by_name[n].bias for n in names],
            [by_name[n].performance for n in names],
        )
    notes += features.others[1]
    notes += _family_notes(audits, len(names), confidence)
    why = why_untested(fair)
    if why is not None and len(names) > 1:
        notes.append(f"No model is called fairer than another: {why}, which has no paired test.")
    return ModelsAudit(
        audits=audits,
        standings=tuple(standings),
        pairs=tuple(pairs),
        traits=tuple(traits),
        left_out=absent,
        notes=tuple(dict.fromkeys(notes)),
        settings={
            "performance": good.name,
            "fairness": fair.name,
            "privileged": known,
            "favorable": list(good_labels),
            "confidence": confidence,
            "resamples": resamples,
            "random_state": random_state,
        },
    )


def _goals(performance: str | Metric, fairness: str | Metric) -> tuple[Metric, Metric]:
    good, fair = get_metric(performance), get_metric(fairness)
    if good.kind != "performance" or good.needs != "counts" or good.goal not in {"max", "min"}:
        raise NotApplicable(
            f"Models are ranked by a performance metric of counts (accuracy, balanced_accuracy, "
            f"mcc ...); got {good.name}."
        )
    if fair.kind != "group" or fair.needs != "counts":
        raise NotApplicable(f"Models are ranked by a group metric of counts; got {fair.name}.")
    bias_of(fair, 0.0)  # refuses a metric without an ideal
    return good, fair


def privileged_groups(
    columns: Mapping[str, Any], good: NDArray[np.bool_], given: Any
) -> tuple[dict[str, Any], list[str]]:
    """Return the privileged values of every attribute, and notes on those that nobody named.

    Where none is named it is the better-off group, by the rule of :func:`isonomy.data.own_dataset`.
    """
    notes = []
    if given is None:
        given = {}
    elif not isinstance(given, Mapping):
        if len(columns) > 1:
            raise InputError(
                f"privileged must map each attribute to its value(s) when there are several; got "
                f"{given!r} for {listed(columns)}."
            )
        given = {next(iter(columns)): given}
    known = {match_values(a, list(columns), what="attribute")[0]: v for a, v in given.items()}
    for attribute, column in columns.items():
        if attribute not in known:
            groups = pd.Series(np.asarray(column, dtype=object))
            rows = groups.value_counts()
            if many := too_many_numbers(attribute, rows.index.tolist(), rows.tolist()):
                raise InputError(f"A protected attribute must have few groups; {many}")
            best, note = choose_privileged(attribute, groups, pd.Series(good))
            known[attribute] = [best]
            notes.append(note)
    return known, notes


def _positions(values: Any, classes: Sequence[Any]) -> NDArray[np.intp]:
    codes, found = factorize(values)
    place = {c: k for k, c in enumerate(classes)}
    return np.array([place[v] for v in found], dtype=np.intp)[codes]


def _sides(groups: Sequence[tuple[Any, ...]], privileged: Any) -> NDArray[np.intp]:
    """Return 1 for the privileged groups, 2 for those that are not known, 0 for the others."""
    named = match_values(privileged, [g[0] for g in groups], what="privileged value")
    return np.array(
        [1 if g[0] in named else 2 if is_unknown_group(g) else 0 for g in groups], dtype=np.intp
    )


def _family_notes(audits: Mapping[str, Audit], models: int, confidence: float) -> list[str]:
    """Say which level covers what."""
    judged = [f for result in audits.values() for f in result.judged()]
    if not judged:
        return []
    sure = sum(
        f.verdict == "violated" and p <= 1 - confidence
        for f, p in zip(judged, taken_together(judged), strict=True)
    )
    alone = sum(f.verdict == "violated" for f in judged)
    each = f"Each verdict holds at {confidence:.0%} for one metric of one model."
    if alone:
        each += (
            f" Of {alone} violated, {sure} {'holds' if sure == 1 else 'hold'} for all "
            f"{len(judged)} verdicts of all models together (Holm)."
        )
    out = [each]
    if models > 1:
        every = f"all {models * (models - 1) // 2} pairs of models and " if models > 2 else ""
        out.append(
            f"That one model is better or fairer than another holds at {confidence:.0%} for "
            f"{every}both goals of an attribute together (Holm), and so do the ranges of ranks."
        )
    return out
