"""One gap in every period, with its interval: what an audit over time shows of a metric."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomy.audit import judge
from isonomy.audit.limits import Evidence, evidence_of, pair_limits, range_limits
from isonomy.errors import InputError
from isonomy.metrics import Counts, Metric
from isonomy.metrics.gaps import compared


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


def period_gaps(
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
