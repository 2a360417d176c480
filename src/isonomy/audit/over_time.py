"""Audits over time: every gap in every period with its interval, and whether it has moved."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from isonomy._bands import read_cut
from isonomy._files import TableFile, open_table, sql_name
from isonomy._groups import MOST_VALUES, attribute_columns, sort_key, sorted_values, too_many
from isonomy._periods import UNITS, period_name, period_sql, period_starts
from isonomy._tables import plain
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
from isonomy.audit.limits import Evidence, evidence_of, pair_limits, range_limits
from isonomy.audit.moves import Move, find_moves
from isonomy.errors import InputError, NotApplicable
from isonomy.metrics import Counts, Metric, get_metric
from isonomy.metrics.gaps import compared
from isonomy.metrics.query import from_query
from isonomy.metrics.tally import from_arrays

MOST_PERIODS = 5000
PERIOD = "(period)"
"""The attribute that holds the periods while rows are counted."""


@dataclass(frozen=True)
class PeriodGap:
    """One gap of one attribute in one period, with its interval; without a verdict."""

    attribute: str
    name: str
    label: str
    comparison: str
    period: Any
    value: float
    low: float
    high: float
    accept_low: float | None
    accept_high: float | None
    rows: int
    reason: str | None


@dataclass(frozen=True, eq=False)
class OverTime:
    """What an audit over time found; :func:`audit_over_time` makes it.

    Attributes
    ----------
    periods : tuple
        In their order.
    gaps : tuple of PeriodGap
        Every gap of every attribute in every period.
    moves : tuple of Move
        Whether each gap in a rate has moved, by a test that keeps its level over all periods and
        all gaps.
    counts : Counts
        One leading axis, the periods; everything above can be computed again from these.
    notes : tuple of str
        What a reader must know.
    settings : mapping
        Confidence and thresholds.
    """

    periods: tuple[Any, ...]
    gaps: tuple[PeriodGap, ...]
    moves: tuple[Move, ...]
    counts: Counts
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def total(self) -> Counts:
        """The counts of all periods together, for :func:`isonomy.audit_counts`."""
        return self.counts.map_cells(lambda cells: cells.sum(axis=0))

    def moved(self, *names: str) -> tuple[Move, ...]:
        """Return the gaps that have moved, of all metrics or of those named."""
        wanted = {get_metric(name).name for name in names}
        known = {metric for move in self.moves for metric in move.metrics}
        if strange := sorted(wanted - known):
            raise InputError(
                f"Only gaps between rates of this audit can be said to have moved "
                f"({listed(sorted(known), most=12)}); got {strange[0]!r}: add it to the metrics."
            )
        return tuple(m for m in self.moves if m.moved and (not wanted or wanted & {*m.metrics}))

    def sentences(self) -> tuple[str, ...]:
        """Say what has moved, and how sure that is."""
        found = [move.sentence() for move in self.moves if move.moved]
        tested = [move for move in self.moves if move.moved is not None]
        first, last, many = self.periods[0], self.periods[-1], len(self.periods)
        level = 1 - float(self.settings["confidence"])
        if tested and not found:
            found = [f"No gap is shown to have moved in {many} periods, {first} to {last}."]
        if tested:
            found.append(
                f"Where nothing moves, the chance that any gap is said to have moved "
                f"({len(tested)} tested) is at most {level:.2g}, over all periods, past and to come."
            )
        if left := [move for move in self.moves if move.moved is None]:
            names = ", ".join(dict.fromkeys(f"{m.what} by {m.attribute}" for m in left))
            found.append(f"Not tested: {names} ({left[0].reason}).")
        return tuple(found)

    def frame(self, what: Literal["gaps", "moves", "sizes"] = "gaps") -> pd.DataFrame:
        """Return one of the tables as a frame."""
        check_choice("table", what, ("gaps", "moves", "sizes"))
        if what == "sizes":
            rows = self.counts.n.sum(axis=(-1, -2))
            return pd.DataFrame(
                {
                    "period": np.repeat(np.array(self.periods, dtype=object), rows.shape[1]),
                    "group": np.tile(np.array(self.counts.labels(), dtype=object), len(rows)),
                    "rows": rows.ravel().astype(np.int64),
                }
            )
        if what == "moves":
            return pd.DataFrame(
                [asdict(move) for move in self.moves], columns=list(Move.__dataclass_fields__)
            )
        return pd.DataFrame(
            [asdict(gap) for gap in self.gaps], columns=list(PeriodGap.__dataclass_fields__)
        )

    def plot(
        self, metric: str | None = None, *, attribute: str | None = None, ax: Any = None
    ) -> Any:
        """Draw one gap over the periods, with its intervals and where it moved.

        Parameters
        ----------
        metric, attribute : str, optional
            Which gap; by default one that moved, else the first.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default. Needs the extra ``plot``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from isonomy.plots import plot_periods

        gaps = self.frame()
        if attribute is not None:
            check_choice("attribute", attribute, gaps["attribute"].unique().tolist())
        name = None if metric is None else get_metric(metric).name
        if name is not None:
            check_choice("metric of this audit", name, gaps["name"].unique().tolist())
        moved = [(m.attribute, own, m) for m in self.moved() for own in m.metrics]
        moved = [m for m in moved if attribute in (None, m[0]) and name in (None, m[1])]
        chosen = (
            moved[0][:2]
            if moved
            else (attribute or gaps["attribute"].iloc[0], name or gaps["name"].iloc[0])
        )
        rows = gaps[(gaps["attribute"] == chosen[0]) & (gaps["name"] == chosen[1])]
        ratio = get_metric(chosen[1]).goal == "one"
        return plot_periods(
            rows,
            ylabel=chosen[1].replace("_", " "),
            title=f"{chosen[1].replace('_', ' ')} by {chosen[0]} ({rows['comparison'].iloc[0]})",
            reference=1.0 if ratio else 0.0,
            since=moved[0][2].since if moved else None,
            said=f"moved (said after {moved[0][2].said})" if moved else "",
            ax=ax,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; what is undefined or infinite is None."""
        data = {
            "rows": int(self.counts.n.sum()),
            "periods": self.periods,
            "settings": self.settings,
            "sentences": self.sentences(),
            "moves": [asdict(move) for move in self.moves],
            "gaps": [asdict(gap) for gap in self.gaps],
            "sizes": self.frame("sizes"),
            "notes": self.notes,
        }
        return {name: plain(value) for name, value in data.items()}

    def __repr__(self) -> str:
        moved = ", ".join(dict.fromkeys(f"{m.what} by {m.attribute}" for m in self.moved()))
        return (
            f"OverTime({int(self.counts.n.sum()):,} rows in {len(self.periods)} periods, "
            f"{self.periods[0]} to {self.periods[-1]}; "
            f"{f'moved: {moved}' if moved else 'no gap is shown to have moved'})"
        )

    def _repr_html_(self) -> str:
        from html import escape

        said = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences())
        gaps = self.frame().pivot_table(
            index=["attribute", "name"], columns="period", values="value", dropna=False, sort=False
        )
        return said + str(gaps.to_html(float_format="{:.4f}".format, na_rep="undefined"))


def audit_over_time(
    y_true: ArrayLike,
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
        As in :func:`isonomy.audit`.
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
    check_same_order(y_true, when, name="when", to="y_true")
    periods, unit = period_starts(when, by)
    check_length("when", len(periods), "y_true", len(np.asarray(y_true)))
    known = sorted_values(periods)
    _check_periods(len(known), known)
    cells = from_arrays(
        y_true, y_pred, {**columns, PERIOD: periods}, sample_weight, most=MOST_PERIODS
    )
    return audit_counts_over_time(
        Counts.from_cells(
            cells, favorable=favorable, privileged=_by_attribute(privileged, list(columns))
        ),
        PERIOD,
        unit=unit,
        metrics=metrics,
        thresholds=thresholds,
        confidence=confidence,
    )


def audit_file_over_time(
    source: str | os.PathLike[str],
    *,
    label: str,
    prediction: str,
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
        As in :func:`isonomy.audit_file`.
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
        cuts = read_cut(label, known), read_cut(prediction, known, what="prediction")
        used = [
            cut.column if cut else name for cut, name in zip(cuts, (label, prediction), strict=True)
        ]
        used += [*names, *([weight] if weight else [])]
        named = when is None and by in known
        when = by if named else when
        check_columns([*used, *([when] if when else [])], known)
        if when is None:
            when = _date_column(file, {*used})
        by = _unit(file, when, by, strict=not named)
    cells = from_query(
        source, label, prediction, [*names, when], weight, table,
        {**(bins or {}), **({when: by} if by else {})}, favorable=favorable, most=MOST_PERIODS,
    )  # fmt: skip
    counts = Counts.from_cells(
        cells, favorable=favorable, privileged=_by_attribute(privileged, names)
    )
    return audit_counts_over_time(counts, when, unit=by, **options)


def _by_attribute(privileged: Any, names: Sequence[Any]) -> Any:
    several = privileged is None or isinstance(privileged, Mapping) or len(names) != 1
    return privileged if several else {names[0]: privileged}


def _date_column(file: TableFile, used: set[str]) -> str:
    """Return the only column of dates of a file."""
    words = [c for c, kind in file.columns.items() if kind == "VARCHAR" and c not in used]
    dates = []
    if words:
        asked = ", ".join(
            f"bool_and(try_cast({sql_name(c)} AS TIMESTAMP) IS NOT NULL) "
            f"FILTER ({sql_name(c)} IS NOT NULL)"
            for c in words
        )
        found = file.execute(f"SELECT {asked} FROM (SELECT * FROM {file.rows} LIMIT 20000)")
        dates = [c for c, yes in zip(words, found.fetchone(), strict=True) if yes]
    if len(dates) != 1:
        what = f"has several: {listed(dates)}" if dates else "has none as in 2026-01-31"
        raise InputError(
            f"The column of dates must be named (when=..., --by COLUMN:month) unless the file has "
            f"one; it {what}."
        )
    return dates[0]


def _unit(file: TableFile, when: str, by: str | None, *, strict: bool) -> str | None:
    """Return the unit to cut a column into, None where its values name periods; check its dates."""
    column = sql_name(when)
    moment = f"try_cast({column} AS TIMESTAMP)"
    words = file.columns[when] == "VARCHAR"
    if by is None and not words:
        return None
    rows, dates, strange = file.execute(
        f"SELECT count({column}), count({moment}), "
        f"any_value(CAST({column} AS VARCHAR)) FILTER ({column} IS NOT NULL AND {moment} IS NULL) "
        f"FROM {file.rows}"
        if words
        else f"SELECT count({column}), 0, any_value(CAST({column} AS VARCHAR)) FROM {file.rows}"
    ).fetchone()
    if not strict or by is None:
        by = (by or "month") if rows and dates == rows else None
    elif dates < rows:
        raise InputError(
            f"Dates must be written such as 2026-01-31; {when!r} holds {strange!r}: convert the "
            f"column, or leave the unit ({by}) out where its values name periods."
        )
    key = period_sql(column, by) if by else column
    (periods,) = file.execute(f"SELECT count(DISTINCT {key}) FROM {file.rows}").fetchone()
    _check_periods(periods, (when,))
    return by


def _check_periods(size: int, shown: Sequence[Any]) -> None:
    if size < 2:
        raise InputError(
            f"There must be at least two periods; there is {size}"
            f"{f' ({shown[0]!r})' if shown else ''}: choose a finer unit, or audit without --by."
        )
    if size > MOST_PERIODS:
        raise InputError(
            f"There must be at most {MOST_PERIODS:,} periods; there are {size:,}: choose a coarser "
            f"unit (week, month, quarter, year)."
        )


# ---------------------------------------------------------------------- from counts


def audit_counts_over_time(
    counts: Counts,
    when: str,
    *,
    unit: str | None = None,
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
    metrics, thresholds, confidence
        As in :func:`audit_over_time`.
    """
    check_share("confidence", confidence)
    chosen = [get_metric(m) for m in (judge.DEFAULT_METRICS if metrics is None else metrics)]
    for metric in chosen:
        if metric.kind != "group" or metric.parts is None:
            raise NotApplicable(
                f"Over time, a metric must be a gap between rates; {metric.name} is none: leave it "
                f"out, or audit each period by itself."
            )
    accept = judge.thresholds(thresholds, chosen)
    notes = []
    periods, split = _split(counts, when)
    if MISSING in periods:
        k = periods.index(MISSING)
        notes.append(f"{int(split.n[k].sum()):,} rows have no date; they are left out.")
        periods = (*periods[:k], *periods[k + 1 :])
        split = split.map_cells(lambda cells: np.delete(cells, k, axis=0))
    _check_periods(len(periods), periods)
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
            gaps += _period_gaps(
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


def _period_gaps(
    metric: Metric,
    attribute: str,
    counts: Counts,
    periods: Sequence[Any],
    accept: tuple[float, float] | None,
    confidence: float,
) -> list[PeriodGap]:
    """Measure one gap in every period, with intervals each for itself."""
    groups, how = compared(counts, metric.parameters.get("compare"))
    if how == "each":
        raise InputError(f"A gap must be one number; {metric.name} gives one per group.")
    assert metric.parts is not None
    options = {**metric.parameters, "compare": how}
    every = evidence_of(metric.parts, groups)  # [rate, period, group]
    rows = np.nan_to_num(every.rows.min(axis=0))
    if how == "privileged":
        values = metric.fn(groups, **options)
        sides = [
            Evidence(metric.parts, every.shares[..., k], np.nan_to_num(every.rows[..., k]))
            for k in (0, 1)
        ]
        limits = pair_limits(sides[0], sides[1], None, confidence)
        table = np.array([values, limits.low, limits.high, rows.min(axis=-1)]).T
    else:
        table = np.array([_range(metric, groups, k, options, confidence) for k in range(len(rows))])
    table[np.isnan(table[:, 0]), 1:3] = np.nan
    out = []
    for k, (value, low, high, fewest) in enumerate(table.tolist()):
        reason = None
        if np.isnan(value):
            reason = metric.undefined(_one(groups, k), **options) or "0 / 0"
        elif fewest < judge.FEWEST_ROWS:
            reason = f"a rate rests on {fewest:.0f} rows, fewer than {judge.FEWEST_ROWS}"
        out.append(
            PeriodGap(
                attribute, metric.name, metric.label,
                "unprivileged vs privileged" if how == "privileged" else "largest vs smallest",
                periods[k], value, low, high,
                None if accept is None else accept[0], None if accept is None else accept[1],
                int(fewest), reason,
            )
        )  # fmt: skip
    return out


def _one(counts: Counts, k: int) -> Counts:
    """Return the counts of one period."""
    return counts.map_cells(lambda cells: cells[k])


def _range(
    metric: Metric, counts: Counts, k: int, options: Mapping[str, Any], confidence: float
) -> tuple[float, float, float, float]:
    """Measure the largest gap between the groups of one period that can be compared."""
    assert metric.parts is not None
    part, _ = judge.comparable(metric.parts, _one(counts, k))
    value = float(metric.fn(part, **options))
    result = evidence_of(metric.parts, part)
    fewest = float(np.nan_to_num(result.fewest).min())
    if np.isnan(value):
        return value, np.nan, np.nan, fewest
    low, high, _ = range_limits(result, None, confidence)
    return value, low, high, fewest
