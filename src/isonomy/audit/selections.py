"""Audit a file of selections or scores only: what can be said where no label is known."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from isonomy._bands import read_cut
from isonomy._files import open_table
from isonomy._groups import attribute_columns, group_index
from isonomy._tables import plain
from isonomy._validate import (
    as_names,
    check_choice,
    check_columns,
    check_length,
    check_score,
    listed,
)
from isonomy.audit import judge
from isonomy.audit.conditional import conditional_gaps
from isonomy.audit.findings import Audit, Finding, GroupRate
from isonomy.audit.groups import group_rates, group_sizes, notes
from isonomy.audit.ratios import RATIO, ratio_tables
from isonomy.audit.run import (
    Features,
    judge_together,
    others_of,
    stratum_columns,
    views_of,
    without_strata,
)
from isonomy.audit.selected_scores import (
    ScoreSums,
    cutoff_table,
    score_gap_table,
    sums_of_arrays,
    sums_of_file,
)
from isonomy.audit.stratified import stratified_table
from isonomy.audit.unexamined import look_for_others
from isonomy.errors import InputError
from isonomy.metrics import Counts, Metric, get_metric
from isonomy.metrics.gaps import default_comparison

DEFAULT_METRICS = ("statistical_parity_difference", "disparate_impact")
Table = Literal[
    "metrics", "comparisons", "groups", "sizes", "conditional", "ratios", "stratified", "scores",
    "cutoffs",
]  # fmt: skip
NO_LABELS = (
    "There are no labels (--label names them), so rates of errors cannot be known: this audit says who was selected, and "
    "not whether they should have been."
)


@dataclass(frozen=True, eq=False, repr=False)
class SelectionAudit(Audit):
    """What an audit without labels found; :func:`audit_selections` makes it.

    An :class:`Audit` whose metrics are those of selection rates, and in addition:

    Attributes
    ----------
    ratios : frame
        Every group beside the best one and beside the reference. ``low`` and ``high`` hold for all
        groups, both comparisons and all attributes together, and allow for the best one being
        chosen by the same data; the verdict is theirs. All other columns are of that pair by itself: Koopman's interval, the odds ratio,
        ``z`` (standard deviations), Fisher's mid-p, people short of the other's rate and of the
        common rate, people short of the threshold, and whether the flags vanish with two more.
    stratified : frame
        Every group beside the reference (else the best) within strata, where strata were given.
    scores : frame
        Standardized mean differences, where scores were given.
    cutoffs : frame
        Ratios among the best 10, 20 ... 100 % of the scores.
    """

    page: ClassVar[str] = "selections"
    rates: ClassVar[Sequence[str]] = (
        "selection_rate",
    )  # counted on the diagonal, others are 0 or 1

    ratios: pd.DataFrame = field(default_factory=pd.DataFrame)
    stratified: pd.DataFrame = field(default_factory=pd.DataFrame)
    scores: pd.DataFrame = field(default_factory=pd.DataFrame)
    cutoffs: pd.DataFrame = field(default_factory=pd.DataFrame)

    def frame(self, what: Table = "metrics") -> pd.DataFrame:
        """Return one of the tables as a frame."""
        if what == "ratios" or what == "stratified" or what == "scores" or what == "cutoffs":
            found: pd.DataFrame = getattr(self, what)
            return found.copy()
        check_choice("table", what, get_args(Table))
        return super().frame(what)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; what is undefined or infinite is None."""
        tables = {
            "ratios": self.ratios,
            "stratified": self.stratified,
            "scores": self.scores,
            "cutoffs": self.cutoffs,
        }
        return {**super().to_dict(), **{name: plain(table) for name, table in tables.items()}}

    def __repr__(self) -> str:
        return f"Selection{super().__repr__()}"


def audit_selections(
    selected: ArrayLike,
    *,
    sensitive_features: Any,
    score: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    favorable: Any = None,
    reference: Any = None,
    X: Any = None,
    strata: Any = None,
    intersections: bool = False,
    metrics: Iterable[str | Metric] | None = None,
    thresholds: Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    random_state: int | None = 0,
) -> SelectionAudit:
    """Audit selections, or scores, of people whose true label nobody knows.

    Parameters
    ----------
    selected : array-like of shape (n,)
        Who was selected; of scores alone ``score >= 0.5``.
    sensitive_features : array-like, Series, frame or mapping of name to array
        One protected attribute or several.
    score : array-like of shape (n,), optional
        Higher is better: adds standardized mean differences, and ratios by cut-off.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows. Exact tests, which count people, are then undefined.
    favorable : value or collection, optional
        The values of ``selected`` that are good to get; may be left out when they are 0 / 1.
    reference : value, collection or mapping of attribute to value(s), optional
        The group(s) that all others are compared with, besides the best.
    X : frame, optional
        Further columns: those that look protected are listed as unexamined.
    strata : array-like, Series, frame or mapping of name to array, optional
        Jobs, months ...: groups are also compared within them (Mantel-Haenszel, Breslow-Day).
    intersections : bool
        Whether to audit the intersections of all attributes too.
    metrics : iterable of str or Metric, optional
        Group metrics of selection rates to judge; by default their difference and their ratio.
    thresholds : mapping, optional
        As in :func:`audit`; the ratio's is that of every group beside the best and the reference.
    confidence : float
        Confidence level of the intervals.
    resamples, random_state
        Bootstrap resamples and seed, for metrics that are no gap between rates.

    Returns
    -------
    SelectionAudit

    Examples
    --------
    >>> hired = [1] * 48 + [0] * 52 + [1] * 24 + [0] * 56
    >>> race = ["White"] * 100 + ["Black"] * 80
    >>> found = audit_selections(hired, sensitive_features={"race": race}, reference="White")
    >>> found.ratios.query("against == 'reference'")[["group", "ratio", "z"]].round(3).values.tolist()
    [['Black', 0.625, -2.443], ['White', 1.0, nan]]

    References
    ----------
    Uniform Guidelines on Employee Selection Procedures, 29 CFR 1607.4 D; Hazelwood School District
    v. United States 1977 (standard deviations); Waisome v. Port Authority 1991 (two persons).
    """
    columns = attribute_columns(sensitive_features)
    alike = {} if strata is None else stratum_columns(strata, columns)
    values = None if score is None else check_score(score)
    with speaking_of_selections():
        counted = Counts.from_labels(
            selected,
            selected,
            sensitive_features={**columns, **alike},
            sample_weight=sample_weight,
            favorable=favorable,
            privileged=_reference(reference, columns),
        )
    counts = counted.select(*map(str, columns)) if alike else counted
    sums = None
    if values is not None:
        check_length("score", values.size, "selected", int(counts.n.sum()))
        group = group_index(columns, counts.groups, values.size)
        sums = sums_of_arrays(values, sample_weight, group, counts)
    features = X if isinstance(X, Features) else Features(X, columns)
    return audit_selection_counts(
        counted,
        sums=sums,
        others=features.others,
        strata=[str(name) for name in alike],
        intersections=intersections,
        metrics=metrics,
        thresholds=thresholds,
        confidence=confidence,
        resamples=resamples,
        random_state=random_state,
    )


def _reference(reference: Any, attributes: Mapping[str, Any]) -> Any:
    """Return the reference by attribute; a bare one is that of the only attribute."""
    if reference is None or isinstance(reference, Mapping):
        return reference
    if len(attributes) > 1:
        raise InputError(
            f"reference must map each attribute to its value(s) when there are several; got "
            f"{reference!r} for {listed(list(attributes))}."
        )
    return {next(iter(attributes)): reference}


def of_selections(chosen: Iterable[Metric]) -> None:
    """Raise where a metric needs labels."""
    for metric in chosen:
        if metric.labels:
            raise InputError(
                f"{metric.name} needs true labels, which an audit of selections does not have: use "
                f"isonomy.audit with y_true (--label COLUMN), or leave it out."
            )


@contextmanager
def speaking_of_selections(unlabelled: bool = True) -> Iterator[None]:
    """Speak of predictions where nobody gave labels: selections are counted as if they were both."""
    try:
        yield
    except InputError as error:
        if not unlabelled:
            raise
        text = re.sub(r"\by_true\b|\by_pred\b", "selected", str(error))
        text = re.sub(r"^Labels must", "Predictions must", text)
        text = re.sub(r"^label must", "prediction must", text)
        text = text.replace(" privileged", " the reference")
        raise type(error)(text) from None


def audit_selections_file(
    source: str | os.PathLike[str],
    *,
    prediction: str,
    sensitive_features: str | Sequence[str],
    score: str | None = None,
    weight: str | None = None,
    table: str | None = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    strata: str | Sequence[str] = (),
    favorable: Any = None,
    reference: Any = None,
    **options: Any,
) -> SelectionAudit:
    """Audit a Parquet, CSV or DuckDB file of selections or scores; its rows stay in the file.

    Parameters
    ----------
    source : path
        The file.
    prediction, sensitive_features, score, weight : str
        Columns; ``sensitive_features`` may name several, ``prediction`` a score cut in two:
        ``"score>=0.5"``.
    table : str, optional
        Table of a DuckDB file.
    bins : mapping of attribute to cut points, optional
        Cuts a number such as age into bands: ``{"age": [25, 60]}``.
    strata : str or sequence of str
        Columns to compare within.
    favorable, reference
        As in :func:`audit_selections`.
    **options
        ``intersections``, ``metrics``, ``thresholds``, ``confidence``, ``resamples`` and
        ``random_state``, as in :func:`audit_selections`.
    """
    names, alike = as_names(sensitive_features), as_names(strata) if strata else []
    with open_table(source, table) as file:
        columns = list(file.columns)
    check_columns([c for c in (score,) if c], columns)
    with speaking_of_selections():
        counted = Counts.from_query(
            source,
            label=None,
            prediction=prediction,
            sensitive_features=[*names, *alike],
            weight=weight,
            table=table,
            bins=bins,
            favorable=favorable,
            privileged=_reference(reference, dict.fromkeys(names)),
        )
    sums = None
    if score is not None:
        with open_table(source, table) as file:
            sums = sums_of_file(file, without_strata(counted, alike), score, weight, bins)
    cut = read_cut(prediction, columns, what="prediction")
    used = {cut.column if cut else prediction, score, weight, *names, *alike}
    rows = others_of(source, table, names, used, bins, counted.n.sum())
    return audit_selection_counts(
        counted, sums=sums, others=look_for_others(rows, names), strata=alike, **options
    )


def audit_selection_counts(
    counted: Counts,
    *,
    sums: ScoreSums | None = None,
    others: tuple[tuple[str, ...], list[str]] = ((), []),
    strata: Sequence[str] = (),
    intersections: bool = False,
    metrics: Iterable[str | Metric] | None = None,
    thresholds: Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    random_state: int | None = 0,
) -> SelectionAudit:
    """Audit counts of selections, which stand on the diagonal: there is no other label."""
    counts = without_strata(counted, strata)
    chosen = [get_metric(m) for m in (DEFAULT_METRICS if metrics is None else metrics)]
    of_selections(chosen)
    accept = judge.thresholds(thresholds, chosen if RATIO in chosen else [*chosen, RATIO])
    views = views_of(counts, resamples, intersections)
    findings: list[Finding] = []
    comparisons: list[Finding] = []
    rates: list[GroupRate] = []
    tables: dict[str, list[pd.DataFrame]] = {"scores": [], "cutoffs": []}
    for attribute, part in views:
        how = default_comparison(part)
        drawn = partial(part.resample, resamples, random_state=random_state)
        for metric in chosen:
            limits = accept.get(metric.name)
            findings.append(judge.gap(metric, attribute, part, drawn, how, limits, confidence))
        if how == "privileged" and len(part.groups) > 2:
            comparisons += judge.each_group(chosen, attribute, part, accept, confidence)
        rates += group_rates(attribute, part, confidence, ["selection_rate"])
        if sums is not None:
            place = {g: k for k, g in enumerate(part.groups)}
            where = [counts.attributes.index(a) for a in part.attributes]
            index = np.array([place[tuple(g[k] for k in where)] for g in counts.groups])
            own = sums.view(index, part.groups)
            tables["scores"].append(score_gap_table(attribute, part, own, confidence))
            tables["cutoffs"].append(cutoff_table(attribute, part, own, confidence))
    findings, comparisons = judge_together(findings, comparisons)
    inside = [
        stratified_table(counted, attribute, strata, confidence)
        for attribute in (counts.attributes if strata else ())
    ]
    conditional = [
        row
        for attribute in (counts.attributes if strata else ())
        for row in conditional_gaps(counted, attribute, strata, chosen, confidence)
    ]
    more: dict[str, Any] = {
        name: pd.concat(t, ignore_index=True)
        for name, t in (*tables.items(), ("stratified", inside))
        if t
    }
    unexamined, proxies = others
    said = [NO_LABELS, *notes(counts, views, None, [*findings, *comparisons], confidence), *proxies]
    if counts.weighted:
        said.append(
            "Rows are weighted: exact tests and numbers of people to a threshold are undefined."
        )
    return SelectionAudit(
        metrics=tuple(findings),
        comparisons=tuple(comparisons),
        groups=tuple(rates),
        sizes=group_sizes(views),
        unexamined=unexamined,
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
        ratios=ratio_tables(views, accept[RATIO.name], confidence),
        **more,
    )
