"""Many models on the same rows: each audited, all ranked on both goals, pairs compared."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from isonomy._arrays import Floats
from isonomy._groups import (
    as_column,
    attribute_columns,
    choose_privileged,
    factorize,
    group_index,
    is_unknown_group,
    sort_key,
)
from isonomy._tables import column_names
from isonomy._validate import (
    check_length,
    check_weight,
    in_one_line,
    listed,
    match_values,
    resolve_favorable,
)
from isonomy.audit.findings import Audit
from isonomy.audit.judge import DEFAULT_METRICS, taken_together
from isonomy.audit.paired import (
    SharedRows,
    compare_bias,
    compare_performance,
    rank_range,
    why_untested,
)
from isonomy.audit.paired import taken_together as pairs_together
from isonomy.audit.run import audit
from isonomy.audit.standing import ModelPair, ModelsAudit, Standing
from isonomy.audit.traits import family_of, parameters_of, traits_of
from isonomy.errors import InputError, IsonomyError, NotApplicable
from isonomy.metrics import Metric, bias_of, gap_of, get_metric
from isonomy.stats import pareto


@dataclass(frozen=True, eq=False)
class _Answers:
    """What a model says of the rows: labels, and scores where it has probabilities."""

    labels: NDArray[Any]
    score: Floats | None


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
    chosen = [get_metric(m) for m in (DEFAULT_METRICS if metrics is None else metrics)]
    if fair.name not in [m.name for m in chosen]:
        chosen = [fair, *chosen]
    if good.name not in [m.name for m in chosen]:
        chosen = [*chosen, good]
    columns = attribute_columns(sensitive_features)
    label = as_column(y, "y")
    weight = None if sample_weight is None else check_weight(sample_weight)
    check_length("y", len(label), "X", len(X))
    codes, found = factorize(label)
    if (codes < 0).any():
        raise InputError("y must be known for every row; it is missing in some: drop those rows.")
    good_labels = resolve_favorable(sorted(found, key=sort_key), favorable)
    notes = list(notes)
    known = _privileged(columns, np.isin(np.asarray(label), list(good_labels)), privileged, notes)
    absent = dict(left_out or {})
    answers: dict[str, _Answers] = {}
    for name, model in models.items():
        try:
            answers[name] = _ask(name, model, X, columns, found, good_labels, notes)
        except IsonomyError as error:
            absent[name] = str(error)
    if not answers:
        raise InputError(
            "At least one model must answer for these rows; none does: "
            + ("; ".join(f"{n}: {why}" for n, why in absent.items()) or "none was given.")
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
            X=X if column_names(X) else None,
            metrics=chosen,
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
        some, between = _stand(attribute, shared, audits, families, good, fair, confidence)
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


def _privileged(
    columns: Mapping[str, Any], good: NDArray[np.bool_], given: Any, notes: list[str]
) -> dict[str, Any]:
    """Return the privileged values of every attribute: those named, else the better-off group."""
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
            best, note = choose_privileged(attribute, groups, pd.Series(good))
            known[attribute] = [best]
            notes.append(note)
    return known


def _ask(
    name: str,
    model: Any,
    X: Any,
    columns: Mapping[str, Any],
    labels: Sequence[Any],
    favorable: Sequence[Any],
    notes: list[str],
) -> _Answers:
    """Ask a model for its labels, and for its scores where it has probabilities."""
    if not hasattr(model, "predict") or isinstance(model, type):
        kind = model.__name__ if isinstance(model, type) else type(model).__name__
        raise InputError(f"A model must be a fitted classifier with predict; it is a {kind}.")
    rows = _features(model, X)
    groups = (
        {"sensitive_features": columns}
        if getattr(model, "needs_sensitive_at_predict", False)
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
        except Exception as error:
            raise InputError(f"It cannot answer for these rows: {in_one_line(error)}") from error
    notes += [f"{name} warns: {str(w.message).strip().splitlines()[0]}" for w in said]
    if answer.shape != (len(X),):
        raise InputError(
            f"A model must give one label per row; it gave an array of shape {answer.shape} for "
            f"{len(X):,} rows."
        )
    codes, values = factorize(answer)
    translated = np.empty(len(values), dtype=object)
    translated[:] = _translated(values, labels)
    return _Answers(translated[codes], None if score is None else np.clip(score, 0.0, 1.0))


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


def _stand(
    attribute: str,
    shared: SharedRows,
    audits: Mapping[str, Audit],
    families: Mapping[str, str],
    good: Metric,
    fair: Metric,
    confidence: float,
) -> tuple[list[Standing], list[ModelPair]]:
    """Rank the models by performance and by bias, and compare every pair."""
    names = list(audits)
    found = {
        name: {(f.name, f.attribute): f for f in result.metrics} for name, result in audits.items()
    }
    strong = [found[n][good.name, None] for n in names]
    gaps = [found[n][fair.name, attribute] for n in names]
    gain = np.array([f.value for f in strong]) * (1.0 if good.goal == "max" else -1.0)
    bias = np.asarray(bias_of(fair, [f.value for f in gaps]))
    first, second = compare_performance(shared, good), compare_bias(shared, fair)
    p_good, p_fair = pairs_together(first, second)
    alpha = 1 - confidence
    with np.errstate(invalid="ignore"):
        better = (p_good <= alpha) & (gain[:, None] > gain[None, :])
        fairer = (p_fair <= alpha) & (bias[:, None] < bias[None, :])
        ranks = [1 + (gain[None, :] > gain[:, None]).sum(axis=1)]
        ranks += [1 + (bias[None, :] < bias[:, None]).sum(axis=1)]
    (good_low, good_high), (fair_low, fair_high) = rank_range(better), rank_range(fairer)
    front, beaten = pareto(gain, bias), better & fairer
    ends = [_size_ends(*gap_of(fair, [f.low, f.high]).tolist()) for f in gaps]
    standings = [
        Standing(
            attribute=attribute,
            model=name,
            family=families[name],
            performance=strong[k].value,
            performance_low=strong[k].low,
            performance_high=strong[k].high,
            performance_rank=int(ranks[0][k]),
            performance_ranks=(int(good_low[k]), int(good_high[k])),
            gap=gaps[k].value,
            gap_low=gaps[k].low,
            gap_high=gaps[k].high,
            verdict=gaps[k].verdict,
            bias=float(bias[k]),
            bias_low=ends[k][0],
            bias_high=ends[k][1],
            bias_rank=int(ranks[1][k]),
            bias_ranks=(int(fair_low[k]), int(fair_high[k])),
            front=bool(front[k]),
            beaten_by=tuple(names[j] for j in np.flatnonzero(beaten[:, k])),
        )
        for k, name in enumerate(names)
    ]
    differ = shared.differing()
    pairs = [
        ModelPair(
            attribute=attribute,
            one=names[i],
            other=names[j],
            rows_differ=int(differ[i, j]),
            performance_difference=float(first.difference[i, j]),
            performance_p=float(p_good[i, j]),
            bias_difference=float(second.difference[i, j]),
            bias_p=float(p_fair[i, j]),
            better=names[i] if better[i, j] else names[j] if better[j, i] else None,
            fairer=names[i] if fairer[i, j] else names[j] if fairer[j, i] else None,
        )
        for i, j in combinations(range(len(names)), 2)
    ]
    order = np.lexsort((bias, -gain))
    return [standings[k] for k in order], pairs


def _size_ends(low: float, high: float) -> tuple[float, float]:
    """Return the interval of the size of a gap."""
    least = 0.0 if low < 0 < high else min(abs(low), abs(high))
    return least, max(abs(low), abs(high))


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
    each = (
        f"Each verdict holds at {confidence:.0%} for one metric of one model. Of {alone} violated, "
        f"{sure} hold for all {len(judged)} verdicts of all models together (Holm)."
    )
    out = [each]
    if models > 1:
        out.append(
            f"That one model is better or fairer than another holds at {confidence:.0%} for all "
            f"{models * (models - 1) // 2} pairs of models and both goals of an attribute together "
            f"(Holm), and so do the ranges of ranks."
        )
    return out
