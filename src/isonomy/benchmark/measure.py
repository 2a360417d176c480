"""How one method of a benchmark is measured, and all of them beside each other."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from isonomy._arrays import Floats
from isonomy._names import base_name
from isonomy.benchmark.cases import Case, FrontierRuns, check_paired
from isonomy.benchmark.recommend import FEWEST, STRATEGIES, Change, MethodVerdict
from isonomy.metrics import JointCounts, get_metric
from isonomy.mitigators import MITIGATORS
from isonomy.stats import (
    CriticalDifference,
    Ranking,
    cliffs_delta,
    friedman_nemenyi,
    holm,
    scott_knott,
    wilcoxon,
)
from isonomy.tradeoff import Baseline, bias_of
from isonomy.tradeoff.verdict import (
    Draws,
    interval,
    is_constant,
    measure,
    paired_draws,
    region_shares,
)

_MUTATIONS = 20  # per degree of a resample's baseline, averaged over its repeats


# ---------------------------------------------------------------------- one method


def change_of(
    before: Floats, after: Floats, draws: Floats | None = None, confidence: float = 0.95
) -> Change:
    """Return the change of a quantity: its means over repeats, and the interval of its draws."""
    bounds = (np.nan, np.nan) if draws is None else interval(draws, confidence)
    return Change(float(before.mean()), float(after.mean()), *bounds)


def judge_method(
    case: Case,
    original: Case,
    examined: Sequence[str],
    baselines: Mapping[str, Baseline],
    rng: np.random.Generator,
    *,
    more: Sequence[str],
    resamples: int,
    confidence: float,
) -> MethodVerdict:
    """Measure one method against the original model and its baselines, on the same rows."""
    check_paired(case, original)
    line = baselines[STRATEGIES[0]]
    metrics = line.performance_metric, line.fairness_metric
    joint = case.joint.select(*examined)
    y, x = measure(joint.method, *metrics)
    first_y, first_x = measure(joint.base, *metrics)
    p_bias, delta_bias = _paired_test(x, first_x)
    p_performance, delta_performance = _paired_test(y, first_y)
    known = MITIGATORS.get(base_name(case.method))
    others = [a for a in case.joint.attributes if a not in examined]
    verdict = MethodVerdict(
        method=case.method,
        runs=len(case.repeats),
        repeats=case.repeats,
        performance=change_of(first_y, y),
        bias=change_of(first_x, x),
        constant=bool(is_constant(joint.method).any()),
        seconds=case.seconds,
        more={
            name: change_of(*_values(joint, name))
            for name in more
            if get_metric(name).name not in metrics
        },
        others={
            a: _other(case.joint.select(a), metrics[1], resamples, confidence, rng) for a in others
        },
        delta_bias=delta_bias,
        delta_performance=delta_performance,
        p_bias=p_bias,
        p_performance=p_performance,
        needs_attribute=known is not None and known.needs_sensitive_at_predict,
        randomized=known is not None and known.draws_to_predict,
    )
    for metric, values in zip(metrics, (y, x), strict=True):
        if not np.isfinite(values).all():
            count = int((~np.isfinite(values)).sum())
            reason = f"{metric} is undefined in {count} of {values.size} repeats"
            return replace(verdict, reason=reason)
    drawn = paired_draws(joint, line, resamples=resamples, mutations=_MUTATIONS, random_state=rng)
    falls = drawn.bias - drawn.lines_bias[:, 0]
    gains = drawn.performance - drawn.lines_performance[:, 0]
    verdict = replace(
        verdict,
        performance=change_of(first_y, y, gains, confidence),
        bias=change_of(first_x, x, falls, confidence),
        lowers_bias=float(np.mean(falls < 0)),
    )
    return verdict if line.reason else _placed(verdict, y, x, drawn, baselines, confidence)


def _placed(
    verdict: MethodVerdict,
    y: Floats,
    x: Floats,
    drawn: Draws,
    baselines: Mapping[str, Baseline],
    confidence: float,
) -> MethodVerdict:
    """Add regions, their probabilities and the advantage over the mutation baseline."""
    line = baselines[STRATEGIES[0]]
    point = verdict.performance.after, verdict.bias.after
    regions = {name: None if one.reason else one.region(*point) for name, one in baselines.items()}
    at_y, at_x = np.array(point)
    beyond = advantage(drawn.performance, drawn.bias, drawn.lines_performance, drawn.lines_bias)
    low, high = interval(beyond, confidence)
    return replace(
        verdict,
        region=regions[STRATEGIES[0]],
        regions=regions,
        probability=region_shares(drawn, line)[0],
        area=float(line.area(*point)),
        advantage=float(advantage(at_y, at_x, line.performance, line.bias)),
        advantage_low=low,
        advantage_high=high,
        by_repeat=advantage(y, x, line.performance, line.bias),
    )


def advantage(y: Floats, x: Floats, line_y: Floats, line_x: Floats) -> Floats:
    """Return the performance beyond a baseline's at the same bias; baselines broadcast to points.

    Above the original model's bias the line goes on with its overall slope: a method that adds
    bias is charged for it at the price at which mutation would remove it.
    """
    line_y, line_x = (np.broadcast_to(v, (*y.shape, v.shape[-1])) for v in (line_y, line_x))
    out = np.full(y.shape, np.nan)
    for k in np.ndindex(y.shape):  # points, not rows
        rising = np.maximum.accumulate(line_x[k][::-1])
        first_x, first_y = line_x[k][0], line_y[k][0]
        at = float(np.interp(x[k], rising, line_y[k][::-1]))
        if x[k] > first_x > line_x[k][-1]:
            slope = (first_y - line_y[k][-1]) / (first_x - line_x[k][-1])
            at = first_y + slope * (x[k] - first_x)
        out[k] = y[k] - at
    return out


def _values(joint: JointCounts, metric: str) -> tuple[Floats, Floats]:
    """Return a metric of the original and of the mitigated model, a gap as its size."""
    known = get_metric(metric)
    # through the function: an undefined value is reported, not warned about
    values = [known.fn(c, **known.parameters) for c in (joint.base, joint.method)]
    if known.kind != "performance":
        values = [bias_of(known, v) for v in values]
    before, after = (np.asarray(v, dtype=np.float64) for v in values)
    return before, after


def _other(
    joint: JointCounts, fairness: str, resamples: int, confidence: float, rng: np.random.Generator
) -> Change:
    """Return the change of the bias by an attribute that was not mitigated."""
    drawn = _values(joint.resample(resamples, random_state=rng), fairness)
    change = (drawn[1] - drawn[0]).mean(axis=-1)
    return change_of(*_values(joint, fairness), change, confidence)


def _paired_test(after: Floats, before: Floats) -> tuple[float, float]:
    """Return the p-value of Wilcoxon's signed-rank test and Cliff's delta."""
    if not np.isfinite([after, before]).all():
        return float("nan"), float("nan")
    return float(wilcoxon(after, before).pvalue), float(cliffs_delta(after, before))


# ---------------------------------------------------------------------- all methods together


def above_frontier(
    verdicts: Sequence[MethodVerdict],
    cases: Mapping[str, Case],
    examined: Sequence[str],
    runs: FrontierRuns,
    rng: np.random.Generator,
    *,
    resamples: int,
    confidence: float,
) -> list[MethodVerdict]:
    """Add how far each method lies above the post-processing frontier, repeats resampled."""
    metrics = runs.baseline.performance_metric, runs.baseline.fairness_metric
    names = [v.method for v in verdicts if cases[v.method].repeats == runs.repeats]
    if not names:
        return list(verdicts)
    points = [measure(cases[name].joint.select(*examined).method, *metrics) for name in names]
    y, x = (np.array(values) for values in zip(*points, strict=True))
    size = len(runs.repeats)
    gaps = []
    for pick in [np.arange(size), *rng.integers(0, size, (resamples, size))]:
        reach = runs.at(pick).performance_at(x[:, pick].mean(axis=1))
        gaps.append(y[:, pick].mean(axis=1) - reach)
    added: dict[str, dict[str, Any]] = {}
    for name, (gap, *drawn) in zip(names, np.transpose(gaps), strict=True):
        # repeats alone are resampled here: a handful of them makes no interval
        low, high = interval(np.array(drawn), confidence) if size >= FEWEST else (np.nan, np.nan)
        added[name] = {"above_frontier": float(gap), "above_low": low, "above_high": high}
    return [replace(v, **added.get(v.method, {})) for v in verdicts]


def corrected(verdicts: Sequence[MethodVerdict], ranking: Ranking | None) -> list[MethodVerdict]:
    """Correct the paired tests over the methods, and add the group of methods that do not differ."""
    if not verdicts:
        return []
    bias, performance = (
        holm(np.array([getattr(v, name) for v in verdicts])) for name in ("p_bias", "p_performance")
    )
    group = {} if ranking is None else dict(zip(ranking.labels, ranking.ranks, strict=True))
    return [
        replace(
            v,
            p_bias=float(bias[k]),
            p_performance=float(performance[k]),
            group=int(group[v.method]) if v.method in group else None,
        )
        for k, v in enumerate(verdicts)
    ]


def ranked(verdicts: Sequence[MethodVerdict]) -> tuple[CriticalDifference | None, Ranking | None]:
    """Rank the methods by their advantage over the repeats: Friedman-Nemenyi, and Scott-Knott."""
    alike: dict[tuple[int, tuple[int, ...]], dict[str, Floats]] = {}
    for v in verdicts:
        if np.isfinite(v.by_repeat).all():
            alike.setdefault((v.by_repeat.size, v.repeats), {})[v.method] = v.by_repeat
    # the most repeats, and of these the ones that most methods ran in
    (runs, _), known = max(
        alike.items(), key=lambda one: (one[0][0], len(one[1])), default=((0, ()), {})
    )
    if runs < 2 or len(known) < 2:
        return None, None
    # the ESD variant parts equal methods too often at ten repeats (guide 8)
    groups = scott_knott(known, protocol="corrected", larger_is_better=True)
    if len(known) < 3:
        return None, groups
    return friedman_nemenyi(np.column_stack([*known.values()]), labels=[*known]), groups
