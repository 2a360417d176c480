"""How one method of a benchmark is measured, and all of them beside each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isonomy._arrays import Floats
from isonomy._names import base_name
from isonomy.audit import changes_by_group
from isonomy.benchmark.cases import Case, FrontierRuns, check_paired, points
from isonomy.benchmark.change import Change, gap_change, gaps, performance_change
from isonomy.benchmark.recommend import FEWEST, STRATEGIES, MethodVerdict
from isonomy.metrics import Counts, JointCounts, gap_of, get_metric
from isonomy.mitigators import MITIGATORS
from isonomy.stats import (
    CriticalDifference,
    Ranking,
    cliffs_delta,
    friedman_nemenyi,
    holm,
    scott_knott_paired,
    split_mean,
    split_weights,
)
from isonomy.tradeoff import Baseline
from isonomy.tradeoff.baseline import mean_of_draws, mutation_values
from isonomy.tradeoff.mutation import check_degrees, resolve_target
from isonomy.tradeoff.verdict import Draws, interval, is_constant, region_shares

# ---------------------------------------------------------------------- the mutation baseline


@dataclass(frozen=True, eq=False)
class Line:
    """A mutation baseline, and the values of each repeat behind it: ``[degree, repeat]``."""

    baseline: Baseline
    performance: Floats
    gap: Floats
    repeats: tuple[int, ...]


def mutation_line(
    counts: Counts,
    performance: str,
    fairness: str,
    *,
    strategy: str,
    repetitions: int,
    repeats: tuple[int, ...],
    random_state: np.random.Generator,
) -> Line:
    """Mutate the original model's predictions; the bias is the size of the mean signed gap."""
    values = mutation_values(
        counts,
        [performance, fairness],
        strategy=strategy,
        repetitions=repetitions,
        random_state=random_state,
    )
    drawn = values[performance], gap_of(fairness, values[fairness])
    y, gap = (mean_of_draws(v) for v in drawn)
    errors = [
        np.sqrt(v.var(axis=0, ddof=1).mean(axis=-1) / (repetitions * v.shape[-1])) for v in drawn
    ]
    target = resolve_target(counts, strategy)
    baseline = Baseline(
        degrees=check_degrees(None),
        performance=y.mean(axis=-1),
        bias=np.abs(gap.mean(axis=-1)),
        performance_error=errors[0],
        bias_error=errors[1],
        performance_metric=performance,
        fairness_metric=fairness,
        strategy=target.name,
        label=target.label,
        method="sampled",
        repetitions=repetitions,
        splits=y.shape[-1],
    )
    return Line(baseline, y, gap, repeats)


# ---------------------------------------------------------------------- one method


def judge_method(
    case: Case,
    original: Case,
    examined: Sequence[str],
    lines: Mapping[str, Line],
    rng: np.random.Generator,
    *,
    more: Sequence[str],
    gap_error: Floats,
    resamples: int,
    confidence: float,
) -> MethodVerdict:
    """Measure one method against the original model and its baselines, on the same rows."""
    check_paired(case, original)
    line = lines[STRATEGIES[0]].baseline
    metrics = line.performance_metric, line.fairness_metric
    joint = case.joint.select(*examined)
    y, x = points(joint.method, *metrics)
    first_y, first_x = points(joint.base, *metrics)
    how = {"test_share": case.test_share, "confidence": confidence}
    label = base_name(case.method)
    demands: dict[str, Any] = {}  # a study may label a method as it likes
    if label in MITIGATORS:
        known = MITIGATORS[label]
        demands = {
            "needs_attribute": known.needs_sensitive_at_predict,
            "randomized": known.draws_to_predict,
        }
    others = [a for a in case.joint.attributes if a not in examined]
    alone = examined if len(examined) > 1 else ()
    performance, p_performance = performance_change(first_y, y, **how)
    bias, moved = gap_change(joint, metrics[1], **how)
    verdict = MethodVerdict(
        method=case.method,
        runs=len(case.repeats),
        repeats=case.repeats,
        performance=performance,
        bias=bias,
        constant=bool(is_constant(joint.method).any()),
        seconds=case.seconds,
        more={name: _means(joint, name) for name in more if get_metric(name).name not in metrics},
        others={a: gap_change(case.joint.select(a), metrics[1], **how)[0] for a in others},
        alone={a: gap_change(case.joint.select(a), metrics[1], **how)[0] for a in alone},
        pays=changes_by_group(joint, **how),
        delta_bias=_delta(np.abs(x), np.abs(first_x)),
        delta_performance=_delta(y, first_y),
        p_bias=float(moved.pvalue),
        p_performance=p_performance,
        **demands,
    )
    for metric, values in zip(metrics, (y, x), strict=True):
        if not np.isfinite(values).all():
            count = int((~np.isfinite(values)).sum())
            reason = f"{metric} is undefined in {count} of {values.size} repeats"
            return replace(verdict, reason=reason)
    if y.size < 2:
        return replace(verdict, reason="one repeat does not show how far repeats differ")
    drawn = _draws(joint, lines[STRATEGIES[0]], case.repeats, resamples, rng, gap_error, **how)
    verdict = replace(verdict, lowers_bias=float(np.mean(drawn.bias < drawn.lines_bias[:, 0])))
    if line.reason:
        return verdict
    return _placed(verdict, (y, x), (first_y, first_x), drawn, lines, confidence)


def _draws(
    joint: JointCounts,
    line: Line,
    repeats: tuple[int, ...],
    draws: int,
    rng: np.random.Generator,
    gap_error: Floats,
    *,
    test_share: float,
    confidence: float,
) -> Draws:
    """Draw what other data might have shown: the method, the original model and its baseline.

    Means over splits under random weights, which vary as the corrected errors say; gaps vary more
    by as much as the training rows add.
    """
    metrics = line.baseline.performance_metric, line.baseline.fairness_metric
    at = [line.repeats.index(r) for r in repeats]
    weights = split_weights(len(at), draws, test_share=test_share, random_state=rng).T
    y, x = points(joint.method, *metrics)
    first = gaps(joint.base, metrics[1])
    share = {"test_share": test_share, "confidence": confidence}
    errors = gap_error, gap_change(joint, metrics[1], **share)[1].error

    def spread(values: Floats, like: Floats, error: Floats) -> Floats:
        """Return weighted means, their deviations stretched to an error."""
        plain = float(split_mean(like, test_share=test_share).error)
        stretch = float(error) / plain if plain > 0 else 1.0
        middle = values.mean(axis=-1, keepdims=True)
        return np.asarray(middle + stretch * (values @ weights - middle))

    start = spread(first[None], first, errors[0])[0]
    moved = spread((x - first)[None], x - first, errors[1])[0]
    lines_x = spread(line.gap[:, at], first, errors[0])
    lines_y = line.performance[:, at] @ weights
    return Draws(y @ weights, np.abs(start + moved), lines_y.T, np.abs(lines_x).T)


def _placed(
    verdict: MethodVerdict,
    after: tuple[Floats, Floats],
    before: tuple[Floats, Floats],
    drawn: Draws,
    lines: Mapping[str, Line],
    confidence: float,
) -> MethodVerdict:
    """Add regions, their probabilities and the advantage over the mutation baseline."""
    line = lines[STRATEGIES[0]].baseline
    baselines = {name: one.baseline for name, one in lines.items()}
    point = verdict.performance.after, verdict.bias.after
    regions = {name: None if one.reason else one.region(*point) for name, one in baselines.items()}
    at_y, at_x = np.array(point)
    beyond = advantage(drawn.performance, drawn.bias, drawn.lines_performance, drawn.lines_bias)
    low, high = interval(beyond, confidence)
    shown = float(advantage(at_y, at_x, line.performance, line.bias))
    (y, x), (first_y, first_x) = after, before
    size, first_size = (np.sign(v.mean()) * v for v in (x, first_x))
    # along the line's slope there: a mean over repeats of sizes would not be the mean's size
    by_repeat = shown + (y - y.mean()) + _price(line, *point) * (size - size.mean())
    return replace(
        verdict,
        region=regions[STRATEGIES[0]],
        regions=regions,
        probability=region_shares(drawn, line)[0],
        area=float(line.area(*point)),
        advantage=shown,
        advantage_low=low,
        advantage_high=high,
        by_repeat=by_repeat,
        moves=np.column_stack([y - first_y, size - first_size]),
    )


def _price(line: Baseline, y: float, x: float) -> float:
    """Return how the advantage changes with the bias, across a hundredth of the line."""
    step = float(np.ptp(line.bias)) / 100 or 1e-6
    ends = np.array([max(x - step, 0.0), x + step])
    low, high = advantage(np.full(2, y), ends, line.performance, line.bias)
    return float((high - low) / (ends[1] - ends[0]))


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


def _means(joint: JointCounts, metric: str) -> Change:
    """Return a metric of the original and of the mitigated model, of a gap the size of its mean."""
    known = get_metric(metric)
    # through the function: an undefined value is reported, not warned about
    values = [np.asarray(known.fn(c, **known.parameters)) for c in (joint.base, joint.method)]
    if known.kind == "performance":
        before, after = (float(v.mean()) for v in values)
    else:
        before, after = (abs(float(gap_of(known, v).mean())) for v in values)
    return Change(before, after)


def _delta(after: Floats, before: Floats) -> float:
    """Return Cliff's delta, NaN where a value is undefined."""
    return float(cliffs_delta(after, before))


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
    """Add how far each method lies above the post-processing frontier, and the interval."""
    metrics = runs.baseline.performance_metric, runs.baseline.fairness_metric
    names = [v.method for v in verdicts if cases[v.method].repeats == runs.repeats]
    if not names:
        return list(verdicts)
    values = [points(cases[name].joint.select(*examined).method, *metrics) for name in names]
    y, x = (np.array(column) for column in zip(*values, strict=True))
    size = len(runs.repeats)
    weights = [np.full(size, 1.0 / size)]
    if size >= FEWEST:  # a handful of repeats makes no interval
        share = cases[names[0]].test_share
        weights += [*split_weights(size, resamples, test_share=share, random_state=rng)]
    above = [y @ w - runs.at(w).performance_at(np.abs(x @ w)) for w in weights]
    added: dict[str, dict[str, Any]] = {}
    for name, (gap, *drawn) in zip(names, np.transpose(above), strict=True):
        low, high = interval(np.array(drawn), confidence) if drawn else (np.nan, np.nan)
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


def ranked(
    verdicts: Sequence[MethodVerdict], *, test_share: float = 0.3
) -> tuple[CriticalDifference | None, Ranking | None]:
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
    table = np.column_stack([*known.values()])
    groups = scott_knott_paired(
        table, labels=[*known], larger_is_better=True, test_share=test_share
    )
    return friedman_nemenyi(table, labels=[*known]) if len(known) > 2 else None, groups
