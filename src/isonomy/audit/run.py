"""Run an audit from arrays, counts or files."""

import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from isonomy._bands import read_cut
from isonomy._files import open_table, sql_name
from isonomy._groups import as_column, attribute_columns, group_index, is_one_of
from isonomy._tables import as_pandas, column_names, row_count, take
from isonomy._validate import (
    as_names,
    check_columns,
    check_length,
    check_same_order,
    check_score,
    listed,
    unknown_name,
)
from isonomy.audit import judge
from isonomy.audit.conditional import conditional_gaps
from isonomy.audit.findings import Audit, Finding, GroupRate
from isonomy.audit.groups import group_rates, group_sizes, notes
from isonomy.audit.scores import ScoredRows, score_rows
from isonomy.audit.unexamined import look_for_others
from isonomy.errors import InputError
from isonomy.metrics import METRICS, Counts, Metric, ScoreTable, get_metric, neighbours
from isonomy.metrics.gaps import default_comparison
from isonomy.metrics.query import banded, outcome

MOST_DRAWS = 50_000_000
"""Cells times resamples that are held at once: 400 MB."""
HUGE = {"HUGEINT", "UHUGEINT"}
"""Types of whole numbers that a frame cannot hold."""
LOOKED_AT, ROWS_READ = 20_000, 500_000
"""Rows whose other columns are looked at, taken evenly from so many."""
EXACT_ROWS = 2_000_000
"""Scores of a file with more rows than this are read as a histogram by the file's engine."""


def audit(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sensitive_features: Any,
    score: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    favorable: Any = None,
    privileged: Any = None,
    X: Any = None,
    strata: Any = None,
    intersections: bool = False,
    metrics: Iterable[str | Metric] | None = None,
    thresholds: Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    random_state: int | None = 0,
) -> Audit:
    """Audit predictions: rates by group, gaps with intervals, and a verdict on each.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels and predictions, of any type.
    sensitive_features : array-like, Series, frame or mapping of name to array
        One protected attribute or several.
    score : array-like of shape (n,), optional
        Probability of the favourable outcome; adds AUC, Brier, log loss and calibration (error,
        error less its noise, slope, intercept, Spiegelhalter's Z).
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    favorable : value or collection, optional
        The label(s) that are good to get; may be left out when labels are 0 / 1.
    privileged : value, collection or mapping of attribute to value(s), optional
        The group(s) the others are compared with. Where it is not declared, the largest rate is
        compared with the smallest, and no sign is given.
    X : frame or array, optional
        The features: a frame's columns that look protected are listed as unexamined, and
        ``consistency`` is computed when it is among ``metrics``.
    strata : array-like, Series, frame or mapping of name to array, optional
        What else people may be alike in (department, district ...): gaps are also compared within
        these strata, and a note says where the sign turns.
    intersections : bool
        Whether to audit the intersections of all attributes too.
    metrics : iterable of str or Metric, optional
        Group metrics to judge; see ``isonomy metrics``.
    thresholds : mapping, optional
        Metric name, or ``"difference"`` / ``"ratio"`` for all of that kind, to a number: ``t``
        accepts differences in [-t, t] and ratios in [t, 1/t]. A pair (low, high) sets both ends.
    confidence : float
        Confidence level of the intervals.
    resamples : int
        Bootstrap resamples.
    random_state : int or None
        Seed.

    Returns
    -------
    Audit

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["F", "M"], 1000)
    >>> y = rng.integers(0, 2, 1000)
    >>> result = audit(y, y, sensitive_features={"sex": sex}, privileged="M")
    >>> result.metrics[0].name, result.metrics[0].value
    ('accuracy', 1.0)
    """
    columns = attribute_columns(sensitive_features)
    alike = {} if strata is None else stratum_columns(strata, columns)
    if alike and privileged is not None and not isinstance(privileged, Mapping):
        privileged = {next(iter(columns)): privileged}
    counted = Counts.from_labels(
        y_true,
        y_pred,
        sensitive_features={**columns, **alike},
        sample_weight=sample_weight,
        favorable=favorable,
        privileged=privileged,
    )
    counts = counted.select(*map(str, columns)) if alike else counted
    table, scored = None, None
    if score is not None:
        check_same_order(y_true, score, name="score", to="y_true")
        table, scored = _score_table(y_true, score, sample_weight, columns, counts)
    wanted = None if metrics is None else [get_metric(m) for m in metrics]
    features = X if isinstance(X, Features) else Features(X, columns)
    alone: dict[str, tuple[float, str]] = {}
    for metric in wanted or ():
        if metric.needs == "neighbours":
            if features.X is None:
                raise InputError(f"{metric.name} needs the features; pass X=...")
            good = is_one_of(as_column(y_pred, "y_pred"), counts.favorable)
            near = features.near(*(metric.parameters[k] for k in ("k", "include_self")))
            ties = f"{near.tie_share:.1%} of rows had contested neighbours, shared equally"
            alone[metric.name] = (metric(None, good, near=near), ties)
    return audit_counts(
        counted,
        strata=[str(name) for name in alike],
        table=table,
        scored=scored,
        neighbour_metrics=alone,
        columns=features,
        intersections=intersections,
        metrics=wanted,
        thresholds=thresholds,
        confidence=confidence,
        resamples=resamples,
        random_state=random_state,
    )


class Features:
    """The features of audited rows, looked at once however many models are audited on them."""

    def __init__(self, X: Any, attributes: Mapping[str, Any]) -> None:
        self.X, self.attributes = X, attributes
        self.near = cache(lambda k, include_self: neighbours(X, k=k, include_self=include_self))

    @cached_property
    def others(self) -> tuple[tuple[str, ...], list[str]]:
        """The columns that look protected and were not asked about, and notes on proxies."""
        rows = _some_rows(self.X, self.attributes)
        return look_for_others(rows, [str(a) for a in self.attributes])


def _some_rows(X: Any, attributes: Mapping[str, Any]) -> pd.DataFrame | list[str]:
    """Return some rows of the features with the attributes; the names of a frame not in memory."""
    if column_names(X) is None:
        return [str(c) for c in getattr(X, "columns", ())]
    rows = np.arange(0, row_count(X), math.ceil(row_count(X) / LOOKED_AT) or 1)
    table = as_pandas(take(X, rows)).set_axis(list(map(str, column_names(X) or ())), axis=1)
    asked = {a: np.asarray(column, dtype=object)[rows] for a, column in attributes.items()}
    return table.reset_index(drop=True).assign(**asked)


def stratum_columns(strata: Any, columns: Mapping[Any, Any]) -> dict[Any, Any]:
    """Read the strata; one without a name is called stratum."""
    named = attribute_columns(strata)
    single = len(named) == 1 and not hasattr(strata, "columns") and not isinstance(strata, Mapping)
    if single and getattr(strata, "name", None) is None:
        named = {"stratum": next(iter(named.values()))}
    for name in named:
        if name in columns:
            raise InputError(
                f"A stratum must be another column than a protected attribute; got {name!r} as both."
            )
    return dict(named)


def _score_table(
    y_true: ArrayLike,
    score: ArrayLike,
    sample_weight: ArrayLike | None,
    columns: Mapping[str, Any],
    counts: Counts,
) -> tuple[ScoreTable, ScoredRows]:
    """Bin the scores for intervals, and keep the rows for the values themselves."""
    values = check_score(score)
    good = is_one_of(as_column(y_true, "y_true"), counts.favorable)
    check_length("score", values.size, "y_true", good.size)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    group = group_index(columns, counts.groups, values.size)
    table = ScoreTable.from_arrays(good, values, group, counts.groups, weight)
    return table, ScoredRows(good, values, weight, group)


def audit_counts(
    counts: Counts,
    *,
    table: ScoreTable | None = None,
    scored: ScoredRows | None = None,
    neighbour_metrics: Mapping[str, tuple[float, str]] | None = None,
    columns: Iterable[str] | pd.DataFrame | Features = (),
    strata: Sequence[str] = (),
    intersections: bool = False,
    metrics: Iterable[str | Metric] | None = None,
    thresholds: Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    random_state: int | None = 0,
) -> Audit:
    """Audit counts that were made elsewhere: from a file, a warehouse or merged shards.

    Takes the arguments of :func:`audit` that make sense without rows; ``columns`` are the names
    of all columns of the table, or a frame of some of its rows, to list those that look protected
    and were not asked about; ``strata`` are attributes of the counts to compare within, and not to audit.
    """
    counted, counts = counts, without_strata(counts, strata)
    chosen = [get_metric(m) for m in (judge.DEFAULT_METRICS if metrics is None else metrics)]
    for metric in chosen:
        _refuse_unserved(metric, scored=table is not None, alone=neighbour_metrics or {})
    chosen = [m for m in chosen if m.needs == "counts"]
    accept = judge.thresholds(thresholds, chosen)
    if resamples < 100:
        raise InputError(f"resamples must be at least 100 for an interval; got {resamples}.")
    drawn_by_group = any(m.kind == "group" and m.parts is None for m in chosen)
    views = views_of(counts, resamples if drawn_by_group else 1, intersections)
    everyone = counts.regroup(np.zeros(len(counts.groups), dtype=np.intp), (("all",),))
    drawn = everyone.resample(resamples, random_state=random_state)
    findings = judge.overall(everyone, drawn, chosen, confidence, neighbour_metrics or {})
    rates: list[GroupRate] = []
    by_score: list[GroupRate] = []
    if table is not None:
        more, by_score = score_rows(table, counts, scored, confidence, resamples, random_state)
        findings += more
    comparisons: list[Finding] = []
    for attribute, part in views:
        how = default_comparison(part)
        resampled = partial(part.resample, resamples, random_state=random_state)
        for metric in chosen:
            if metric.kind == "group":
                limits = accept.get(metric.name)
                findings.append(
                    judge.gap(metric, attribute, part, resampled, how, limits, confidence)
                )
        if how == "privileged" and len(part.groups) > 2:
            comparisons += judge.each_group(chosen, attribute, part, accept, confidence)
        rates += group_rates(attribute, part, confidence)
    findings, comparisons = judge_together(findings, comparisons)
    conditional = [
        row
        for attribute in (counts.attributes if strata else ())
        for row in conditional_gaps(counted, attribute, strata, chosen, confidence)
    ]
    others, proxies = (
        columns.others
        if isinstance(columns, Features)
        else look_for_others(columns, counts.attributes)
    )
    said = notes(counts, views, table, [*findings, *comparisons], confidence) + proxies
    said += [
        f"The {row.name} of {row.attribute} ({row.comparison}) turns: {row.value:.3f} overall and "
        f"{row.within:.3f} within {row.strata} (Simpson's paradox)."
        for row in conditional
        if row.turns
    ]
    return Audit(
        metrics=tuple(findings),
        comparisons=tuple(comparisons),
        groups=(*rates, *by_score),
        sizes=group_sizes(views),
        unexamined=others,
        notes=tuple(said),
        counts=counts,
        settings={
            "confidence": confidence,
            "resamples": resamples,
            "random_state": random_state,
            "thresholds": {k: list(v) for k, v in accept.items()},
            "fewest_rows": judge.FEWEST_ROWS,
            "weighted": counts.weighted,
        },
        conditional=tuple(conditional),
    )


def without_strata(counts: Counts, strata: Sequence[str]) -> Counts:
    """Add up over the strata."""
    if not strata:
        return counts
    for name in strata:
        if name not in counts.attributes:
            raise unknown_name("stratum", name, counts.attributes)
    kept = [a for a in counts.attributes if a not in strata]
    if not kept:
        raise InputError(
            f"At least one attribute must be left to audit; all are strata: {listed(strata)}."
        )
    return counts.select(*kept)


def _refuse_unserved(metric: Metric, *, scored: bool, alone: Mapping[str, Any]) -> None:
    """Raise where a metric was asked for that this audit cannot give."""
    if metric.needs == "scores":
        if not scored:
            raise InputError(f"{metric.name} needs scores; pass score=... (--score COLUMN).")
        if metric.name not in METRICS:
            raise InputError(
                f"An audit reports score metrics with their usual parameters; got {metric.name!r}: "
                f"call get_metric({metric.name!r}) on labels and scores."
            )
    if metric.needs == "neighbours" and metric.name not in alone:
        raise InputError(
            f"{metric.name} needs the features of the rows; use isonomy.audit(..., X=...)."
        )
    if metric.needs == "pairs":
        raise InputError(
            f"{metric.name} needs pairs of predictions, which an audit does not have; call "
            f"get_metric({metric.name!r})(y_pred, y_pred_with_attribute_changed)."
        )


def judge_together(
    findings: list[Finding], comparisons: list[Finding]
) -> tuple[list[Finding], list[Finding]]:
    """Adjust the p-values of violations for all verdicts of the audit."""
    every = [*findings, *comparisons]
    judged = [k for k, f in enumerate(every) if f.verdict not in {None, "undefined"}]
    for k, p in zip(judged, judge.taken_together([every[k] for k in judged]), strict=True):
        if every[k].p_value is not None:
            every[k] = replace(every[k], p_audit=p)
    return every[: len(findings)], every[len(findings) :]


def views_of(counts: Counts, resamples: int, intersections: bool) -> list[tuple[str, Counts]]:
    """Return each attribute, and the intersection, with its counts.

    ``resamples`` is how often groups are drawn: metrics that are gaps between rates need none.
    """
    joint = " & ".join(counts.attributes)
    views = [(a, counts.select(a)) for a in counts.attributes]
    if not intersections or len(views) == 1:
        return views
    if counts.n.size * resamples > MOST_DRAWS:
        raise InputError(
            f"{joint} has {len(counts.groups):,} groups, too many to resample "
            f"{resamples:,} times: name fewer attributes, merge their values, or lower resamples."
        )
    return [*views, (joint, counts)]


def others_of(
    source: str | os.PathLike[str],
    table: str | None,
    names: Sequence[str],
    used: Collection[str | None],
    bins: Mapping[str, Sequence[float]] | None,
    rows: float,
) -> pd.DataFrame:
    """Read some rows of a file, taken evenly: its attributes and the columns that are not used."""
    every = math.ceil(min(rows, ROWS_READ) / LOOKED_AT)
    with open_table(source, table) as file:
        others = [sql_name(c) for c in file.columns if c not in used]
        found: pd.DataFrame = file.execute(
            f"SELECT {', '.join([*(f'{banded(a, bins)} AS {sql_name(a)}' for a in names), *others])} "
            f'FROM (SELECT *, row_number() OVER () AS "row (nr)" FROM {file.rows} LIMIT {ROWS_READ}) '
            f'WHERE "row (nr)" % {every} = 0'
        ).df()
    return found


def audit_file(
    source: str | os.PathLike[str],
    *,
    label: str,
    prediction: str,
    sensitive_features: str | Sequence[str],
    score: str | None = None,
    weight: str | None = None,
    table: str | None = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    strata: str | Sequence[str] = (),
    favorable: Any = None,
    privileged: Any = None,
    **options: Any,
) -> Audit:
    """Audit a Parquet, CSV or DuckDB file of predictions; its rows stay in the file.

    Parameters
    ----------
    source : path
        The file.
    label, prediction, sensitive_features, score, weight : str
        Columns; ``sensitive_features`` may name several. A label or prediction may also be a number
        cut in two, ``"income>50000"`` or ``"score>=0.5"``. Scores of more than two million rows are read as
        a histogram, and what that can do to the AUC is stated.
    table : str, optional
        Table of a DuckDB file.
    bins : mapping of attribute to cut points, optional
        Cuts a number such as age into bands: ``{"age": [25, 60]}``.
    strata : str or sequence of str
        Columns to compare within, as in :func:`audit`.
    favorable, privileged
        As in :func:`audit`.
    **options
        ``intersections``, ``metrics``, ``thresholds``, ``confidence``, ``resamples`` and
        ``random_state``, as in :func:`audit`.
    """
    names, alike = as_names(sensitive_features), as_names(strata) if strata else []
    if privileged is not None and alike and not isinstance(privileged, Mapping):
        privileged = {names[0]: privileged}
    with open_table(source, table) as file:
        columns = list(file.columns)
    check_columns([c for c in (score,) if c], columns)
    counted = Counts.from_query(
        source,
        label=label,
        prediction=prediction,
        sensitive_features=[*names, *alike],
        weight=weight,
        table=table,
        bins=bins,
        favorable=favorable,
        privileged=privileged,
    )
    label_cut, cut = read_cut(label, columns), read_cut(prediction, columns, what="prediction")
    used = {score, weight, *names, *alike}
    used |= {label_cut.column if label_cut else label, cut.column if cut else prediction}
    options["columns"] = others_of(source, table, names, used, bins, counted.n.sum())
    options["strata"] = alike
    if score is None:
        return audit_counts(counted, **options)
    counts = without_strata(counted, alike)
    if counts.n.sum() > EXACT_ROWS:
        histogram = ScoreTable.from_query(
            source, counts, label=label, score=score, weight=weight, table=table, bands=bins
        )
        return audit_counts(counted, table=histogram, **options)
    keys = {label: outcome(label, columns), **{a: banded(a, bins) for a in names}}
    with open_table(source, table) as file:
        huge = [c for c in keys if file.columns.get(c) in HUGE and c not in (bins or {})]
        keys |= {c: f"CAST({keys[c]} AS VARCHAR)" for c in huge}
        wanted = [sql_name(c) for c in (score, *([weight] if weight else []))]
        wanted += [f"{key} AS {sql_name(c)}" for c, key in keys.items()]
        frame = file.execute(f"SELECT {', '.join(wanted)} FROM {file.rows}").df()
    for name in huge:  # a frame would hold them as floats
        frame[name] = frame[name].map(int, na_action="ignore").astype(object)
    histogram, scored = _score_table(
        frame[label],
        frame[score],
        None if weight is None else frame[weight],
        attribute_columns(frame[names]),
        counts,
    )
    return audit_counts(counted, table=histogram, scored=scored, **options)
