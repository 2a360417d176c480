"""Audits over time: every gap in every period with its interval, and whether it has moved."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isonomy._bands import read_cut
from isonomy._files import open_table
from isonomy._groups import MOST_VALUES, attribute_columns, sort_key, sorted_values, too_many
from isonomy._periods import UNITS, period_name, period_starts
from isonomy._validate import (
    MISSING,
    as_names,
    check_choice,
    check_columns,
    check_length,
    check_same_order,
    check_share,
    listed,
)
from isonomy.audit import judge
from isonomy.audit.dated import (
    MOST_PERIODS,
    check_numbers,
    check_periods,
    date_column,
    unit_of,
)
from isonomy.audit.labelled import LABEL, PREDICTION, has_labels
from isonomy.audit.moves import find_moves
from isonomy.audit.over_time_result import OverTime
from isonomy.audit.period_gaps import PeriodGap, period_gaps
from isonomy.audit.selections import (
    DEFAULT_METRICS,
    NO_LABELS,
    of_selections,
    speaking_of_selections,
)
from isonomy.errors import InputError, NotApplicable
from isonomy.metrics import Counts, Metric, get_metric
from isonomy.metrics.query import from_query
from isonomy.metrics.tally import from_arrays

PERIOD = "(period)"
"""The attribute that holds the periods while rows are counted."""


def audit_over_time(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    sensitive_features: Any,
    when: Any,
    by: str | None = None,
    sample_weight: ArrayLike | None = None,
    favorable: Any = None,
    privileged: Any = None,
    metrics: Iterable[str | Metric] | None = None,
    thresholds: Mapping[str, Any] | None = None,
    confidence: float = 0.95,
) -> OverTime:
    """Audit predictions period by period, and test whether a gap has moved.

    Parameters
    ----------
    y_true, y_pred, sensitive_features, sample_weight, favorable, privileged
        As in :func:`isonomy.audit`. Where ``y_true`` is None, ``y_pred`` says who was selected:
        then only gaps between selection rates can be looked at.
    when : array-like of shape (n,)
        The date or time of each row, or the name of its period.
    by : {"day", "week", "month", "quarter", "year"}, optional
        How dates are cut into periods. When None, dates are cut by month, and other values name
        the periods, in the order of the values.
    metrics, thresholds, confidence
        As in :func:`isonomy.audit`; the accepted ranges are shown, and nothing is judged by them.
        ``1 - confidence`` is also the chance of a false alarm.

    Returns
    -------
    OverTime

    Notes
    -----
    **The test.** At every period, the last 1, 2, 4, 8 ... periods are compared with all before
    them. Rates of both groups are added up over periods with the weights of Mantel and Haenszel,
    so the rates may rise and fall together and the groups may grow or shrink: only the gap counts.
    Each comparison spends a share of the level, and all shares that there can ever be, of all
    periods to come, add up to one (alpha spending); the gaps share the level too. So the chance of any false alarm, ever, is at most ``1 - confidence``, and one who looks again with
    every new period never takes an alarm back, as long as no group comes to be compared that had too few
    rows before: the level is then shared by more gaps. Look once a period is over: a part of one is
    another look.

    A gap that combines two rates (equalized odds) is tested through the gap in each rate. People
    who occur in several periods, or in clusters, carry less evidence than the test believes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> when = np.repeat(np.arange("2026-01", "2027-01", dtype="datetime64[M]"), 400)
    >>> sex = rng.choice(["F", "M"], 4800)
    >>> y = rng.integers(0, 2, 4800)
    >>> late = when >= np.datetime64("2026-07")
    >>> said = np.where((sex == "F") & late & (rng.random(4800) < 0.4), 0, y)
    >>> found = audit_over_time(
    ...     y, said, sensitive_features={"sex": sex}, when=when, privileged="M",
    ...     metrics=["statistical_parity_difference"],
    ... )
    >>> found.moved()[0].since
    '2026-07'
    """
    columns = attribute_columns(sensitive_features)
    labels = y_pred if y_true is None else y_true
    given = "y_pred" if y_true is None else "y_true"
    check_same_order(labels, when, name="when", to=given)
    periods, unit = period_starts(when, by)
    check_length("when", len(periods), given, len(np.asarray(labels)))
    known = sorted_values(periods)
    check_periods(len(known), known)
    with speaking_of_selections(y_true is None):
        cells = from_arrays(
            labels, y_pred, {**columns, PERIOD: periods}, sample_weight, most=MOST_PERIODS
        )
        counts = Counts.from_cells(
            cells, favorable=favorable, privileged=_by_attribute(privileged, list(columns))
        )
    return audit_counts_over_time(
        counts,
        PERIOD,
        unit=unit,
        labels=y_true is not None,
        metrics=metrics,
        thresholds=thresholds,
        confidence=confidence,
    )


def audit_file_over_time(
    source: str | os.PathLike[str],
    *,
    label: str | None = None,
    prediction: str | None = None,
    sensitive_features: str | Sequence[str],
    when: str | None = None,
    by: str | None = None,
    weight: str | None = None,
    table: str | None = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    favorable: Any = None,
    privileged: Any = None,
    **options: Any,
) -> OverTime:
    """Audit a Parquet, CSV or DuckDB file period by period; its rows stay in the file.

    Parameters
    ----------
    source, label, prediction, sensitive_features, weight, table, bins, favorable, privileged
        As in :func:`isonomy.audit_file`; ``y_true`` and ``y_pred`` where they are not named. A file
        without labels (``prediction`` is named, ``label`` is not, and there is no ``y_true``) is
        audited by its selections.
    when : str, optional
        The column of dates (such as 2026-01-31) or of periods; may be left out where the file has
        one column of dates, or one that is called like the unit.
    by : {"day", "week", "month", "quarter", "year"}, optional
        As in :func:`audit_over_time`.
    **options
        ``metrics``, ``thresholds`` and ``confidence``, as in :func:`audit_over_time`.
    """
    names = as_names(sensitive_features)
    if by is not None:
        check_choice("period", by, UNITS)
    with open_table(source, table) as file:
        known = list(file.columns)
        labelled = has_labels(known, label, prediction)
        prediction = prediction or PREDICTION
        label = label or LABEL if labelled else None
        cut = read_cut(prediction, known, what="prediction")
        used = [cut.column if cut else prediction]
        if label is not None:
            cut = read_cut(label, known)
            used.insert(0, cut.column if cut else label)
        used += [*names, *([weight] if weight else [])]
        named = when is None and by in known
        when = by if named else when
        check_columns([*used, *([when] if when else [])], known)
        if when is None:
            when = date_column(file, {*used})
        by = unit_of(file, when, by, strict=not named)
    with speaking_of_selections(not labelled):
        cells = from_query(
            source, label, prediction, [*names, when], weight, table,
            {**(bins or {}), **({when: by} if by else {})}, favorable=favorable, most=MOST_PERIODS,
        )  # fmt: skip
        counts = Counts.from_cells(
            cells, favorable=favorable, privileged=_by_attribute(privileged, names)
        )
    return audit_counts_over_time(counts, when, unit=by, labels=labelled, **options)


def _by_attribute(privileged: Any, names: Sequence[Any]) -> Any:
    several = privileged is None or isinstance(privileged, Mapping) or len(names) != 1
    return privileged if several else {names[0]: privileged}


# ---------------------------------------------------------------------- from counts


def audit_counts_over_time(
    counts: Counts,
    when: str,
    *,
    unit: str | None = None,
    labels: bool = True,
    metrics: Iterable[str | Metric] | None = None,
    thresholds: Mapping[str, Any] | None = None,
    confidence: float = 0.95,
) -> OverTime:
    """Audit counts whose attribute ``when`` holds the periods; see :func:`audit_over_time`.

    Parameters
    ----------
    counts : Counts
        Counted by the protected attributes and by period: shards of months add up to these.
    when : str
        The attribute that holds the periods.
    unit : str, optional
        Its values are the first days of such units, to be named so.
    labels : bool
        Whether there are labels; without, the counts of selections stand on the diagonal.
    metrics, thresholds, confidence
        As in :func:`audit_over_time`.
    """
    check_share("confidence", confidence)
    usual = judge.DEFAULT_METRICS if labels else DEFAULT_METRICS
    chosen = [get_metric(m) for m in (usual if metrics is None else metrics)]
    if not labels:
        of_selections(chosen)
    for metric in chosen:
        if metric.kind != "group" or metric.parts is None:
            raise NotApplicable(
                f"Over time, a metric must be a gap between rates; {metric.name} is none: leave it "
                f"out, or audit each period by itself."
            )
    accept = judge.thresholds(thresholds, chosen)
    notes = [] if labels else [NO_LABELS]
    periods, split = _split(counts, when)
    if MISSING in periods:
        k = periods.index(MISSING)
        notes.append(f"{int(split.n[k].sum()):,} rows have no date; they are left out.")
        periods = (*periods[:k], *periods[k + 1 :])
        split = split.map_cells(lambda cells: np.delete(cells, k, axis=0))
    check_periods(len(periods), periods)
    if unit is None:
        check_numbers(periods, when)
    if unit is not None:
        periods = tuple(period_name(str(p), unit) for p in periods)
    elif not all(isinstance(p, int | float) for p in periods):
        notes.append(f"The periods are taken in this order: {listed(periods, most=6)}.")
    for k, name in enumerate(split.attributes):
        if (size := len({g[k] for g in split.groups})) > MOST_VALUES:
            raise InputError(too_many(name, size))
    gaps: list[PeriodGap] = []
    parts = {attribute: split.select(attribute) for attribute in split.attributes}
    for attribute, part in parts.items():
        for metric in chosen:
            gaps += period_gaps(
                metric, attribute, part, periods, accept.get(metric.name), confidence
            )
    return OverTime(
        periods=periods,
        gaps=tuple(gaps),
        moves=tuple(find_moves(parts, periods, chosen, 1 - confidence)),
        counts=split,
        notes=tuple(notes),
        settings={
            "confidence": confidence,
            "thresholds": {k: list(v) for k, v in accept.items()},
            "unit": unit,
        },
    )


def _split(counts: Counts, when: str) -> tuple[tuple[Any, ...], Counts]:
    """Return the periods, and the counts with a leading axis for them."""
    check_choice("attribute", when, counts.attributes)
    at = counts.attributes.index(when)
    rest = [tuple(v for k, v in enumerate(g) if k != at) for g in counts.groups]
    periods = tuple(sorted({g[at] for g in counts.groups}, key=sort_key))
    groups = tuple(sorted(set(rest), key=sort_key))
    if not groups[0]:
        raise InputError(f"There must be a protected attribute besides the period {when!r}.")
    row = {p: k for k, p in enumerate(periods)}
    column = {g: k for k, g in enumerate(groups)}
    place = (
        np.array([row[g[at]] for g in counts.groups], dtype=np.intp),
        np.array([column[g] for g in rest], dtype=np.intp),
    )

    def lay(cells: Any) -> Any:
        out = np.zeros((len(periods), len(groups), *cells.shape[-2:]))
        out[place] = cells
        return out

    kept = tuple(a for a in counts.attributes if a != when)
    declared = {a: v for a, v in counts.privileged.items() if a != when}
    return periods, counts.map_cells(lay, attributes=kept, groups=groups, privileged=declared)
