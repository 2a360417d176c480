"""How an audit judges gaps: thresholds, evidence and verdicts."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy._validate import listed
from isonomy.audit.deciding import MOST_ROWS, OFTEN, Outlook, times_the_rows
from isonomy.audit.findings import Finding, Verdict
from isonomy.audit.limits import (
    Evidence,
    Facts,
    Limits,
    carried_limits,
    each_limits,
    evidence_of,
    pair_limits,
    range_limits,
)
from isonomy.errors import InputError
from isonomy.metrics import RATES, Counts, Metric, get_metric
from isonomy.metrics.metric import GapParts
from isonomy.stats import holm, percentile_interval

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
"""The gaps of an audit with labels, unless others are named."""
DEFAULT_THRESHOLDS: Mapping[str, float] = {"difference": 0.1, "ratio": 0.8}
"""Differences within ±0.1, ratios between four fifths and five quarters."""
FEWEST_ROWS = 30
"""A rate over fewer rows than this is no evidence either way."""
FEWEST_EVENTS = 5
"""A verdict needs as many events, and as many non-events, among the compared groups together."""

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
        between = ratio and metric.parts is not None  # four fifths are of rates, and not of odds
        bounded = metric.kind == "group" and (between or np.isfinite(metric.bounds).all())
        if bounded and metric.parts is None:
            # resamples of a largest or mean gap lean away from 0: no verdict can rest on them
            if metric.name in limits:
                raise InputError(
                    f"A threshold must be for a gap whose limits are known; the interval of "
                    f"{metric.name} is of resamples, which lean away from 0: leave the threshold "
                    f"out and read the interval, or set one for a gap of one rate."
                )
            continue
        default = limits["ratio" if ratio else "difference"] if bounded else None
        limit = limits.get(metric.name, default)
        if limit is None:
            continue
        pair = isinstance(limit, Sequence) and not isinstance(limit, str)
        ends = list(limit) if pair else [limit]
        try:
            if any(isinstance(end, bool) for end in ends) or (pair and len(ends) != 2):
                raise TypeError
            first, last = float(ends[0]), float(ends[-1])
            low, high = (
                (first, last) if pair else ((first, 1 / first) if ratio else (-first, first))
            )
        except (TypeError, ValueError, ZeroDivisionError):
            raise InputError(
                f"A threshold must be a number or a pair (low, high); {metric.name} got {limit!r}."
            ) from None
        if not low < high:
            raise InputError(
                f"A threshold must be {'a ratio below 1' if ratio else 'above 0'}; that of {metric.name} is "
                f"{limit!r}."
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
    drawn: Callable[[], Counts],
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
    unknown = {name for name, known in zip(counts.labels(), counts.known, strict=True) if not known}
    if metric.parts is None:
        return _resampled(metric, attribute, counts, drawn(), accept, confidence, known)
    whole = counts
    value, limits, facts, counts, left_out = _compared(
        metric, counts, how, known, accept, confidence
    )
    low, high, pvalue = (float(x[0]) for x in (limits.low, limits.high, limits.pvalue))
    assert metric.denominators is not None
    rows = int(metric.denominators(counts, compare=how))
    verdict, why = verdict_of(value, low, high, accept, facts, metric, confidence)
    reason = metric.undefined(counts, **known) if verdict == "undefined" else None
    needed = more = None
    if verdict == "insufficient evidence" and accept is not None:

        def carried(times: Floats) -> Outlook:
            more = whole.map_cells(lambda cells: cells * times[0])
            there, ends, rests, *_ = _compared(metric, more, how, known, None, confidence)
            facts = np.array([rests[:3]]).T
            return Outlook(np.array([there]), ends.low, ends.high, *facts)

        times = _times(carried, 1, metric, accept, confidence)
        needed, more = _rows_of(float(times[0]), facts, whole)
    why = _with_rows(why, more)
    if left_out and why:
        why = f"{why}; not compared: {listed(left_out, most=5)}"
    return Finding(
        name=metric.name,
        label=metric.label,
        attribute=attribute,
        comparison="unprivileged vs privileged" if how == "privileged" else "largest vs smallest",
        value=value,
        low=low,
        high=high,
        accept_low=None if accept is None else accept[0],
        accept_high=None if accept is None else accept[1],
        rows=rows,
        verdict=verdict,
        reason=reason or why,
        p_value=_shown(pvalue, verdict),
        rows_needed=needed,
        left_out=tuple(name for name in left_out if name not in unknown),
        rows_more=more,
    )


def _compared(
    metric: Metric,
    counts: Counts,
    how: str,
    known: Mapping[str, Any],
    accept: tuple[float, float] | None,
    confidence: float,
) -> tuple[float, Limits, Facts, Counts, list[str]]:
    """Return a gap, its limits, what they rest on, and which groups are compared and left out."""
    assert metric.parts is not None
    left_out: list[str] = []
    if how == "max_min":
        counts, left_out = comparable(metric.parts, counts)
    value = float(metric.fn(counts, **{**metric.parameters, **known}))
    result = evidence_of(metric.parts, counts.by_privilege() if how == "privileged" else counts)
    if how == "privileged":
        limits = pair_limits(result.of([0]), result.of([1]), accept, confidence)
    else:
        ends = (math.nan,) * 3 if np.isnan(value) else range_limits(result, accept, confidence)
        limits = Limits(*(np.array([end]) for end in ends))
    return value, limits, result.facts(accept), counts, left_out


def _resampled(
    metric: Metric,
    attribute: str,
    counts: Counts,
    drawn: Counts,
    accept: tuple[float, float] | None,
    confidence: float,
    known: Mapping[str, Any],
) -> Finding:
    """Judge a metric that is no gap between rates by its resamples."""
    value = float(metric.fn(counts, **{**metric.parameters, **known}))
    samples = metric(drawn, **known)
    low, high = (
        float(end) for end in _around(value, *percentile_interval(samples, confidence=confidence))
    )
    lost = float(np.isnan(samples).mean())
    verdict, why = verdict_of(value, low, high, accept, None, metric, confidence, lost)
    reason = metric.undefined(counts, **known) if verdict == "undefined" else None
    rows = None if metric.denominators is None else int(metric.denominators(counts, **known))
    return Finding(
        metric.name, metric.label, attribute, None, value, low, high,
        None if accept is None else accept[0], None if accept is None else accept[1],
        rows, verdict, reason or why,
    )  # fmt: skip


def _around(value: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Let an interval reach the value itself: resamples of a largest gap lean away from zero."""
    return np.fmin(low, value), np.fmax(high, value)


def _shown(pvalue: float, verdict: Verdict | None) -> float | None:
    return float(pvalue) if verdict == "violated" and not np.isnan(pvalue) else None


def comparable(parts: GapParts, counts: Counts) -> tuple[Counts, list[str]]:
    """Return the groups that can be compared with each other, and the names of the others.

    Rows whose attribute is not known are no group, and a rate over too few rows is not compared:
    it would decide what is largest and smallest by chance. Where fewer than two groups are left,
    all those that are known stay, and the verdict is that there is too little evidence.
    """
    known = counts.known
    rows = evidence_of(parts, counts).fewest
    for keep in (known & (rows >= FEWEST_ROWS), known & (rows > 0), known):
        if keep.sum() >= 2:
            break
    else:
        return counts, []
    if keep.all():
        return counts, []
    names = [label for label, k in zip(counts.labels(), keep, strict=True) if not k]
    return only(counts, keep), names


def only(counts: Counts, keep: NDArray[np.bool_]) -> Counts:
    """Keep some groups."""
    groups = tuple(g for g, k in zip(counts.groups, keep, strict=True) if k)
    return counts.map_cells(lambda cells: cells[keep], groups=groups)


def _range_text(accept: tuple[float, float], ratio: bool) -> str:
    if accept[0] != -accept[1] or ratio:
        return f"{accept[0]:.3g} to {accept[1]:.3g}"
    return f"±{accept[1]:.3g}"


def verdict_of(
    value: float,
    low: float,
    high: float,
    accept: tuple[float, float] | None,
    facts: Facts | None,
    metric: Metric,
    confidence: float,
    lost: float = 0.0,
) -> tuple[Verdict | None, str | None]:
    """Return the verdict on a gap by its interval, and why."""
    if np.isnan(value):
        return "undefined", "0 / 0"
    if accept is None:
        return None, None
    ratio = metric.goal == "one"
    text = _range_text(accept, ratio)
    if facts is None:
        facts = Facts(np.inf, np.inf, np.inf, False)
    if facts.rows < FEWEST_ROWS:
        return (
            "insufficient evidence",
            f"a rate rests on {facts.rows:.0f} rows, fewer than {FEWEST_ROWS}",
        )
    if lost > (1 - confidence) / 2:  # those resamples could lie anywhere, beyond either end too
        return "insufficient evidence", f"it is undefined in {lost:.0%} of the resamples"
    inside = accept[0] <= low and high <= accept[1]
    outside = high < accept[0] or low > accept[1]
    few = min(facts.events, facts.others)
    what = "events" if few == facts.events else "non-events"
    if few < FEWEST_EVENTS and (outside or (what == "events" and _divides(metric))):
        return (
            "insufficient evidence",
            f"a rate shows {few:.0f} {what} in all, fewer than {FEWEST_EVENTS}",
        )
    if inside:
        why = f"the whole interval lies within {text}"
        if facts.near_edge and not _divides(metric):
            why += f"; {VACUOUS}"
        return "within", why
    if outside:
        return "violated", f"the whole interval lies outside {text}"
    return "insufficient evidence", f"the interval reaches across the threshold ({text})"


def _divides(metric: Metric) -> bool:
    """Return whether a metric divides one rate by another."""
    return metric.parts is not None and metric.parts.ratio


VACUOUS = "but its rates are too near 0 or 1 for any gap to leave that range: read a ratio"


def _times(
    carried: Callable[[Floats], Outlook],
    gaps: int,
    metric: Metric,
    accept: tuple[float, float],
    confidence: float,
) -> Floats:
    """Return how many times the rows would decide gaps of one metric, were they to come as they came."""
    return times_the_rows(
        carried, gaps, accept, ratio=_divides(metric), confidence=confidence,
        fewest_rows=FEWEST_ROWS, fewest_events=FEWEST_EVENTS,
    )  # fmt: skip


def _rows_of(times: float, facts: Facts, counts: Counts) -> tuple[int | None, int | None]:
    """Return the rows that the smallest rate needs, and how many more that is of all groups."""
    needed, more = times * max(facts.rows, 1.0), (times - 1) * float(counts.n.sum())
    return (
        math.ceil(needed) if needed < MOST_ROWS else None,
        max(math.ceil(more), 1) if more < MOST_ROWS else None,
    )


def _with_rows(why: str | None, more: int | None) -> str | None:
    if why is None or more is None:
        return why
    return f"{why}; some {more:,} more rows like these would decide in {OFTEN:.0%} of cases"


def each_group(
    chosen: Sequence[Metric],
    attribute: str,
    counts: Counts,
    accept: Mapping[str, tuple[float, float]],
    confidence: float,
) -> list[Finding]:
    """Compare each unprivileged group with the privileged one; all groups of a metric together."""
    mask = counts.is_privileged()
    assert mask is not None
    labels = counts.labels()
    against = " or ".join(label for label, p in zip(labels, mask, strict=True) if p)
    shown = is_judged(counts)[~mask]
    names = [label for label, p in zip(labels, mask, strict=True) if not p]
    unprivileged, merged = only(counts, ~mask), counts.by_privilege()
    out: list[Finding] = []
    for metric in chosen:
        if metric.parts is None or metric.parameters.get("compare", "none") is not None:
            continue  # without groups to compare, or a variant that compares in its own way
        values = np.atleast_1d(metric.fn(counts, compare="each"))
        limit = accept.get(metric.name)
        groups = evidence_of(metric.parts, unprivileged)
        other = evidence_of(metric.parts, merged).of([1])
        enough = shown & (groups.fewest >= FEWEST_ROWS)
        limits = each_limits(groups, other, limit, confidence, enough)
        rates = [RATES[name] for name in metric.parts.rates]
        rows = np.min([rate.rows(counts)[~mask] for rate in rates], axis=0)
        rows = np.minimum(rows, min(rate.rows(counts)[mask].sum() for rate in rates))
        facts = groups.facts_against(other, limit)
        lows, highs, pvalues = (x.tolist() for x in (limits.low, limits.high, limits.pvalue))
        verdicts = {
            k: verdict_of(float(values[k]), lows[k], highs[k], limit, facts[k], metric, confidence)
            for k in np.flatnonzero(shown).tolist()
        }
        thin = [k for k, (verdict, _) in verdicts.items() if verdict == "insufficient evidence"]
        times = dict.fromkeys(thin, math.inf)
        if thin and limit is not None:
            carried = partial(
                _carried, groups.of(thin), other, values[thin], [facts[k] for k in thin],
                groups.fewest[shown], confidence,
            )  # fmt: skip
            found = _times(carried, len(thin), metric, limit, confidence)
            times = dict(zip(thin, found.tolist(), strict=True))
        for k, (verdict, why) in verdicts.items():
            value, low, high = float(values[k]), lows[k], highs[k]
            needed, more = _rows_of(times[k], facts[k], counts) if k in times else (None, None)
            if verdict == "undefined":
                why = metric.undefined(_pair(unprivileged, k, merged), compare="privileged") or why
            out.append(
                Finding(
                    name=metric.name,
                    label=metric.label,
                    attribute=attribute,
                    comparison=f"{names[k]} vs {against}",
                    value=value,
                    low=low,
                    high=high,
                    accept_low=None if limit is None else limit[0],
                    accept_high=None if limit is None else limit[1],
                    rows=int(rows[k]),
                    verdict=verdict,
                    reason=_with_rows(why, more),
                    p_value=_shown(pvalues[k], verdict),
                    rows_needed=needed,
                    rows_more=more,
                )
            )
    return out


def _carried(
    near: Evidence,
    far: Evidence,
    values: Floats,
    facts: Sequence[Facts],
    sizes: Floats,
    confidence: float,
    times: Floats,
) -> Outlook:
    """Return how some groups would stand against another with so many times the rows."""
    ends = carried_limits(near, far, times, sizes, confidence)
    return Outlook(values, ends.low, ends.high, *(np.array([f[:3] for f in facts]).T * times))


def is_judged(counts: Counts) -> NDArray[np.bool_]:
    """Return which groups are compared: those that are known and have enough rows."""
    known = counts.known
    return np.asarray(known & (counts.n.sum(axis=(-1, -2)) >= FEWEST_ROWS))


def _pair(unprivileged: Counts, k: int, merged: Counts) -> Counts:
    """Set one unprivileged group against the privileged ones, merged."""

    def pair(own: Floats | None, both: Floats | None) -> Floats | None:
        return None if own is None or both is None else np.stack([own[k], both[1]])

    n = np.stack([unprivileged.n[k], merged.n[1]])
    return replace(
        merged, n=n, w=pair(unprivileged.w, merged.w), w2=pair(unprivileged.w2, merged.w2)
    )


def taken_together(findings: Sequence[Finding]) -> list[float]:
    """Return p-values of the findings that are judged, adjusted for all of them (Holm).

    A finding that is not violated at its own level cannot be at a stricter one: it counts, as 1.
    """
    pvalues = [1.0 if f.p_value is None else f.p_value for f in findings]
    return [float(p) for p in holm(pvalues)] if pvalues else []
