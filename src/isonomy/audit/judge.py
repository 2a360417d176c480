"""How an audit judges: thresholds, verdicts, and the rows of its tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._validate import MISSING, listed
from isonomy.audit.findings import Finding, GroupRate, Verdict
from isonomy.errors import InputError
from isonomy.metrics import METRICS, RATES, Counts, Metric, ScoreTable, get_metric
from isonomy.metrics.gaps import default_comparison
from isonomy.stats import percentile_interval, wilson_interval

DEFAULT_METRICS: tuple[str, ...] = (
    "statistical_parity_difference",
    "disparate_impact",
    "equal_opportunity_difference",
    "false_positive_rate_difference",
    "average_odds_difference",
    "average_absolute_odds_difference",
    "equalized_odds_difference",
    "error_rate_difference",
    "precision_difference",
)
DEFAULT_THRESHOLDS: Mapping[str, float] = {"difference": 0.1, "ratio": 0.8}
"""Differences within ±0.1, ratios between four fifths and five quarters."""
FEWEST_ROWS = 30
"""A rate over fewer rows than this is no evidence either way."""

OVERALL = (
    "accuracy",
    "balanced_accuracy",
    "favorable_precision",
    "favorable_recall",
    "favorable_f1",
    "mcc",
    "selection_rate",
    "base_rate",
    "theil_index",
)
GROUP_RATES = (
    "base_rate",
    "selection_rate",
    "true_positive_rate",
    "false_positive_rate",
    "precision",
    "false_omission_rate",
    "accuracy",
)


def thresholds(
    given: Mapping[str, Any] | None, chosen: Sequence[Metric]
) -> dict[str, tuple[float, float]]:
    """Return the accepted range of every metric that has one."""
    limits: dict[str, Any] = {**DEFAULT_THRESHOLDS}
    gaps = [metric.name for metric in chosen if metric.kind == "group"]
    for key, value in (given or {}).items():
        name = key if key in DEFAULT_THRESHOLDS else get_metric(key).name
        if name not in DEFAULT_THRESHOLDS and name not in gaps:
            raise InputError(
                f"A threshold must be for a group metric of this audit "
                f"({listed(gaps, most=12) if gaps else 'it has none'}); got {name!r}: add it to "
                f"the metrics (--metric)."
            )
        limits[name] = value
    out = {}
    for metric in chosen:
        ratio = metric.goal == "one"
        bounded = metric.kind == "group" and (ratio or np.isfinite(metric.bounds).all())
        default = limits["ratio" if ratio else "difference"] if bounded else None
        limit = limits.get(metric.name, default)
        if limit is None:
            continue
        try:
            low, high = (
                (float(limit[0]), float(limit[1]))
                if isinstance(limit, Sequence) and not isinstance(limit, str)
                else ((float(limit), 1 / float(limit)) if ratio else (-float(limit), float(limit)))
            )
        except (TypeError, ValueError, IndexError, ZeroDivisionError):
            raise InputError(
                f"A threshold must be a number or a pair (low, high); {metric.name} got {limit!r}."
            ) from None
        if not low < high:
            raise InputError(
                f"A threshold must leave room: {'a ratio below 1' if ratio else 'above 0'}; "
                f"{metric.name} got {limit!r}."
            )
        out[metric.name] = (low, high)
    return out


def overall(
    counts: Counts,
    drawn: Counts,
    chosen: Sequence[Metric],
    confidence: float,
    neighbour_metrics: Mapping[str, tuple[float, str]],
) -> list[Finding]:
    """Measure performance and inequality over all rows."""
    out = []
    names = [*OVERALL, *(m.name for m in chosen if m.kind != "group" and m.name not in OVERALL)]
    for name in names:
        metric = get_metric(name)
        value = float(metric.fn(counts, **metric.parameters))
        low, high = percentile_interval(metric(drawn), confidence=confidence)
        reason = metric.undefined(counts) if np.isnan(value) else None
        out.append(
            Finding(
                metric.name, metric.label, None, None, value, float(low), float(high), None, None,
                int(counts.n.sum()), "undefined" if np.isnan(value) else None, reason,
            )
        )  # fmt: skip
    for name, (value, ties) in neighbour_metrics.items():
        metric = get_metric(name)
        out.append(
            Finding(
                name, metric.label, None, None, value, np.nan, np.nan, None, None,
                int(counts.n.sum()), None, f"no interval (not a function of counts); {ties}",
            )
        )  # fmt: skip
    return out


def gap(
    metric: Metric,
    attribute: str,
    counts: Counts,
    drawn: Counts,
    how: str,
    accept: tuple[float, float] | None,
    confidence: float,
) -> Finding:
    """Measure one gap of one attribute and judge it."""
    how = metric.parameters.get("compare") or how  # a variant has its own way
    if how == "each":
        raise InputError(
            f"A gap must be one number; {metric.name} gives one per group: leave compare out, and "
            f"read the comparisons of the audit."
        )
    known = {"compare": how} if "compare" in metric.parameters else {}
    value = float(metric.fn(counts, **{**metric.parameters, **known}))
    samples = metric(drawn, **known)
    low, high = _around(value, *percentile_interval(samples, confidence=confidence))
    lost = np.isnan(samples).mean()
    rows = None if metric.denominators is None else int(metric.denominators(counts, compare=how))
    reason = metric.undefined(counts, **known)
    verdict, why = _verdict(
        value, float(low), float(high), accept, rows, metric.goal == "one", lost, confidence
    )
    comparison = "unprivileged vs privileged" if how == "privileged" else "largest vs smallest"
    return Finding(
        name=metric.name,
        label=metric.label,
        attribute=attribute,
        comparison=comparison if known else None,
        value=value,
        low=float(low),
        high=float(high),
        accept_low=None if accept is None else accept[0],
        accept_high=None if accept is None else accept[1],
        rows=rows,
        verdict=verdict,
        reason=reason if verdict == "undefined" and reason else why,
    )


def _around(value: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Let an interval reach the value itself: resamples of a largest gap lean away from zero."""
    return np.fmin(low, value), np.fmax(high, value)


def _verdict(
    value: float,
    low: float,
    high: float,
    accept: tuple[float, float] | None,
    rows: int | None,
    ratio: bool,
    lost: float,
    confidence: float,
) -> tuple[Verdict | None, str | None]:
    if np.isnan(value):
        return "undefined", "0 / 0"
    if accept is None:
        return None, None
    if rows is not None and rows < FEWEST_ROWS:
        return "insufficient evidence", f"a rate rests on {rows} rows, fewer than {FEWEST_ROWS}"
    if lost > (1 - confidence) / 2:  # those resamples could lie anywhere, beyond either end too
        return "insufficient evidence", f"it is undefined in {lost:.0%} of the resamples"
    text = f"{accept[0]:.3g} to {accept[1]:.3g}" if ratio else f"±{accept[1]:.3g}"
    if accept[0] != -accept[1] and not ratio:
        text = f"{accept[0]:.3g} to {accept[1]:.3g}"
    if accept[0] <= low and high <= accept[1]:
        return "within", f"the whole interval lies within {text}"
    if high < accept[0] or low > accept[1]:
        return "violated", f"the whole interval lies outside {text}"
    return "insufficient evidence", f"the interval reaches across the threshold ({text})"


def each_group(
    chosen: Sequence[Metric],
    attribute: str,
    counts: Counts,
    drawn: Counts,
    accept: Mapping[str, tuple[float, float]],
    confidence: float,
) -> list[Finding]:
    """Compare each unprivileged group with the privileged one."""
    mask = counts.is_privileged()
    assert mask is not None
    names = [label for label, p in zip(counts.labels(), mask, strict=True) if not p]
    against = " or ".join(label for label, p in zip(counts.labels(), mask, strict=True) if p)
    out = []
    for metric in chosen:
        if metric.kind != "group" or metric.parameters.get("compare", "none") is not None:
            continue  # without groups to compare, or a variant that compares in its own way
        values = np.atleast_1d(metric.fn(counts, compare="each"))
        samples = metric(drawn, compare="each")
        low, high = _around(values, *percentile_interval(samples, confidence=confidence))
        lost = np.isnan(samples).mean(axis=0)
        for k, name in enumerate(names):
            pair = _pair(counts, counts.labels().index(name))
            assert metric.denominators is not None
            rows = int(metric.denominators(pair, compare="privileged"))
            verdict, why = _verdict(
                float(values[k]), float(low[k]), float(high[k]), accept.get(metric.name), rows,
                metric.goal == "one", float(lost[k]), confidence,
            )  # fmt: skip
            if verdict == "undefined":
                why = metric.undefined(pair, compare="privileged") or why
            limits = accept.get(metric.name, (None, None))
            out.append(
                Finding(
                    metric.name, metric.label, attribute, f"{name} vs {against}", float(values[k]),
                    float(low[k]), float(high[k]), limits[0], limits[1], rows, verdict, why,
                )
            )  # fmt: skip
    return out


def _pair(counts: Counts, group: int) -> Counts:
    """Keep one group, named unprivileged, and the privileged ones, merged."""
    mask = counts.is_privileged()
    assert mask is not None

    return counts.map_cells(
        lambda cells: np.stack([cells[group], cells[mask].sum(axis=0)]),
        attributes=("group",),
        groups=((counts.labels()[group].replace(MISSING, "missing"),), ("privileged",)),
        privileged={"group": ("privileged",)},
    )


def group_rates(attribute: str, counts: Counts, confidence: float) -> list[GroupRate]:
    """Return the rates of every group with Wilson intervals."""
    out = []
    for name in GROUP_RATES:
        rate = RATES[name]
        value, rows, effective = rate(counts), rate.rows(counts), rate.effective_rows(counts)
        low, high = wilson_interval(value, effective, confidence=confidence)
        for k, group in enumerate(counts.labels()):
            reason = f"no {rate.of}" if rows[k] == 0 else None
            if 0 < rows[k] < FEWEST_ROWS:
                reason = f"rests on {int(rows[k])} rows, fewer than {FEWEST_ROWS}"
            out.append(
                GroupRate(
                    attribute, group, name, rate.label, float(value[k]), float(low[k]),
                    float(high[k]), int(rows[k]), float(np.nan_to_num(effective[k])), reason,
                )
            )  # fmt: skip
    return out


def score_rows(
    table: ScoreTable,
    counts: Counts,
    exact: Mapping[tuple[str | None, str, str], float] | None,
    confidence: float,
    resamples: int,
    random_state: int | None,
) -> tuple[list[Finding], list[GroupRate]]:
    """Report score metrics overall and by group; intervals from resampled histograms."""
    binned = table.coarse()
    overall: list[Finding] = []
    by_group: list[GroupRate] = []
    views: list[tuple[str | None, NDArray[np.intp], Counts]] = [
        (None, np.zeros(len(table.groups), dtype=np.intp), counts)
    ]
    for k, own in enumerate(counts.attributes):
        part = counts.select(own)
        views.append((own, np.array([part.groups.index((g[k],)) for g in table.groups]), part))
    for attribute, index, part in views:
        groups = (("all",),) if attribute is None else part.groups
        labels = ("all",) if attribute is None else part.labels()
        fixed = table.merge(index, groups)
        fine, error = fixed.values(), fixed.auc_error()
        merged = binned.merge(index, groups)
        coarse = merged.values()
        samples = merged.resample(resamples, random_state=random_state).values()
        for name, values in fine.items():
            low, high = percentile_interval(samples[name], confidence=confidence)
            for k, group in enumerate(labels):
                value = float(values[k])
                note: str | None = None
                if exact is not None:
                    value = exact[(attribute, group, name)]
                elif name == "roc_auc":
                    note = f"from a histogram, off by at most {error[k]:.2g}"
                elif name == "calibration_error":
                    note = "from a histogram: bins are made of whole histogram bins"
                shift = value - float(coarse[name][k])
                metric = METRICS[name]
                ends = (
                    float(np.clip(low[k] + shift, *metric.bounds)),
                    float(np.clip(high[k] + shift, *metric.bounds)),
                )
                rows = int(fixed.n[k].sum())
                if np.isnan(value):
                    note = "needs rows with favourable and with unfavourable labels"
                if attribute is None:
                    overall.append(
                        Finding(
                            name, metric.label, None, None, value, *ends, None, None, rows,
                            "undefined" if np.isnan(value) else None, note,
                        )
                    )  # fmt: skip
                else:
                    by_group.append(
                        GroupRate(
                            attribute, group, name, metric.label, value, *ends, rows, float(rows), note,
                        )
                    )  # fmt: skip
    return overall, by_group


def group_sizes(views: Sequence[tuple[str, Counts, Counts]]) -> pd.DataFrame:
    """Return the rows, share and weight of every group."""
    rows = []
    for attribute, part, _ in views:
        n = part.n.sum(axis=(-1, -2))
        mask = part.is_privileged()
        for k, group in enumerate(part.labels()):
            row = {
                "attribute": attribute,
                "group": group,
                "privileged": None if mask is None else bool(mask[k]),
                "rows": int(n[k]),
                "share": float(n[k] / n.sum()),
            }
            if part.w is not None:
                row["weight"] = float(part.w[k].sum())
            rows.append(row)
    return pd.DataFrame(rows)


def notes(
    counts: Counts, views: Sequence[tuple[str, Counts, Counts]], table: ScoreTable | None
) -> list[str]:
    """Say what a reader must know."""
    out = []
    for attribute, part, _ in views:
        if default_comparison(part) == "max_min":
            out.append(
                f"No privileged group was declared for {attribute}: the largest rate is compared "
                f"with the smallest, and intervals of such gaps lean away from zero."
            )
        unknown = np.array([MISSING in g for g in part.groups])
        if unknown.any() and len(part.attributes) == 1:
            out.append(
                f"{int(part.n[unknown].sum()):,} rows have no known {attribute}; they are a group "
                f"of their own and not counted as unprivileged."
            )
        small = [
            label for label, n in zip(part.labels(), part.n.sum(axis=(-1, -2)), strict=True)
            if n < FEWEST_ROWS
        ]  # fmt: skip
        if small:
            out.append(f"Fewer than {FEWEST_ROWS} rows in {attribute}: {listed(small)}.")
    if len(counts.classes) > 2:
        out.append(
            f"Labels have {len(counts.classes)} classes; rates count {listed(counts.favorable)} "
            f"as favourable and the others as unfavourable."
        )
    if table is not None and not table.probabilities:
        out.append("Scores leave [0, 1], so they are ranked only: no Brier, log loss, calibration.")
    return out
