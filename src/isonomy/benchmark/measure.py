"""How one method of a benchmark is measured, and all of them beside each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomy._names import base_name
from isonomy.benchmark.cases import (
    Case,
    FrontierRuns,
    advantage,
    check_paired,
    interval,
    metric_values,
    other_draws,
)
from isonomy.benchmark.recommend import FEWEST, Change, MethodVerdict, Other
from isonomy.metrics import get_metric
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
from isonomy.tradeoff import Baseline
from isonomy.tradeoff.regions import REGIONS, place
from isonomy.tradeoff.verdict import Draws, is_constant, measure, paired_draws

__all__ = ["Settings", "above_frontier", "judge_method", "ranked", "tested"]

Floats = NDArray[np.float64]

_MUTATIONS = 20  # per degree of a resample's baseline, averaged over its repeats


@dataclass(frozen=True)
class Settings:
    """How a benchmark is judged."""

    strategy: str
    more: tuple[str, ...]
    resamples: int
    level: float


# ---------------------------------------------------------------------- one method


def judge_method(
    case: Case,
    original: Case,
    examined: list[str],
    baselines: Mapping[str, Baseline],
    rng: np.random.Generator,
    how: Settings,
) -> MethodVerdict:
    """Measure one method against the original model and its baselines, on the same rows."""
    check_paired(case, original)
    line = baselines[how.strategy]
    joint = case.joint.select(*examined)
    level, resamples = how.level, how.resamples
    y, x = measure(joint.method, line.performance_metric, line.fairness_metric)
    first_y, first_x = measure(joint.base, line.performance_metric, line.fairness_metric)
    mean_y, mean_x = float(y.mean()), float(x.mean())
    facts = _facts(case.method)
    verdict = MethodVerdict(
        method=case.method,
        runs=len(case.repeats),
        repeats=case.repeats,
        performance=Change(float(first_y.mean()), mean_y),
        bias=Change(float(first_x.mean()), mean_x),
        constant=bool(is_constant(joint.method).any()),
        seconds=case.seconds,
        more=_more(joint, how.more, (line.performance_metric, line.fairness_metric)),
        others=_others(case, examined, line.fairness_metric, resamples, level, rng),
        delta_bias=_delta(x, first_x),
        delta_performance=_delta(y, first_y),
        p_bias=_paired(x, first_x),
        p_performance=_paired(y, first_y),
        reason="" if np.isfinite([mean_y, mean_x]).all() else _undefined(y, x, line),
        **facts,
    )
    if not np.isfinite([mean_y, mean_x]).all():
        return verdict
    drawn = paired_draws(joint, line, resamples=resamples, mutations=_MUTATIONS, random_state=rng)
    changes = drawn.performance - drawn.lines_performance[:, 0], drawn.bias - drawn.lines_bias[:, 0]
    verdict = replace(
        verdict,
        performance=Change(verdict.performance.before, mean_y, *interval(changes[0], level)),
        bias=Change(verdict.bias.before, mean_x, *interval(changes[1], level)),
        lowers_bias=float(np.mean(changes[1] < 0)),
    )
    return _placed(verdict, (y, x), drawn, baselines, how)


def _placed(
    verdict: MethodVerdict,
    points: tuple[Floats, Floats],
    drawn: Draws,
    baselines: Mapping[str, Baseline],
    how: Settings,
) -> MethodVerdict:
    """Add regions, their probabilities and the advantage over the mutation baseline."""
    line = baselines[how.strategy]
    if line.reason is not None:
        return verdict
    y, x = verdict.performance.after, verdict.bias.after
    regions = {
        name: None if one.reason is not None else one.region(y, x)
        for name, one in baselines.items()
    }
    lines_y, lines_x = drawn.lines_performance, drawn.lines_bias
    # a resample in which there is nothing to trade has no regions
    void = (lines_y[:, 0] <= lines_y[:, -1]) | (lines_x[:, 0] <= lines_x[:, -1])
    found = place(
        drawn.performance, drawn.bias, lines_y, np.where(void[:, None], np.nan, lines_x)
    ).region
    share = {word: float(np.mean(found == code)) for code, word in enumerate(REGIONS)}
    if void.any():
        share["undefined"] = float(void.mean())
    gain = advantage(drawn.performance, drawn.bias, lines_y, lines_x)
    repeats = np.broadcast_to(line.performance, (points[0].size, line.performance.size))
    across = np.broadcast_to(line.bias, repeats.shape)
    low, high = interval(gain, how.level)
    return replace(
        verdict,
        region=regions[how.strategy],
        regions=regions,
        probability=share,
        area=float(line.area(y, x)),
        advantage=float(
            advantage(np.array([y]), np.array([x]), line.performance[None], line.bias[None])[0]
        ),
        advantage_low=low,
        advantage_high=high,
        by_repeat=advantage(points[0], points[1], repeats, across),
    )


def _facts(label: str) -> dict[str, Any]:
    name = base_name(label)
    known = MITIGATORS.get(name)
    return {
        "needs_attribute": bool(known is not None and known.needs_sensitive_at_predict),
        "randomized": bool(known is not None and known.draws_to_predict),
    }


def _undefined(y: Floats, x: Floats, line: Baseline) -> str:
    which, values = (
        (line.performance_metric, y) if not np.isfinite(y).all() else (line.fairness_metric, x)
    )
    count = int((~np.isfinite(values)).sum())
    return f"{which} is undefined in {count} of {values.size} repeats"


def _more(joint: Any, metrics: Sequence[str], decided: tuple[str, str]) -> dict[str, Change]:
    out = {}
    for name in metrics:
        if get_metric(name).name in decided:
            continue
        before, after = metric_values(joint, name)
        out[name] = Change(float(before.mean()), float(after.mean()))
    return out


def _others(
    case: Case,
    examined: list[str],
    fairness: str,
    resamples: int,
    level: float,
    rng: np.random.Generator,
) -> tuple[Other, ...]:
    out = []
    for attribute in case.joint.attributes:
        if attribute in examined:
            continue
        before, after, drawn = other_draws(case.joint, attribute, fairness, resamples, rng)
        out.append(Other(attribute, Change(before, after, *interval(drawn, level))))
    return tuple(out)


# ---------------------------------------------------------------------- all methods together


def above_frontier(
    verdicts: Sequence[MethodVerdict],
    cases: Mapping[str, Case],
    examined: list[str],
    runs: FrontierRuns,
    rng: np.random.Generator,
    how: Settings,
) -> list[MethodVerdict]:
    """Add how far each method lies above the post-processing frontier, repeats resampled."""
    line = runs.baseline
    names = [v.method for v in verdicts if cases[v.method].repeats == runs.repeats]
    if not names:
        return list(verdicts)
    points = [
        measure(
            cases[name].joint.select(*examined).method,
            line.performance_metric,
            line.fairness_metric,
        )
        for name in names
    ]
    y, x = (np.array([p[k] for p in points]) for k in (0, 1))
    size = len(runs.repeats)
    every = np.arange(size)
    gaps = []
    for pick in [every, *rng.integers(0, size, (how.resamples, size))]:
        reach = runs.at(pick).performance_at(x[:, pick].mean(axis=1))
        gaps.append(y[:, pick].mean(axis=1) - reach)
    table = np.array(gaps)
    found: dict[str, dict[str, Any]] = {}
    for k, name in enumerate(names):
        # repeats alone are resampled here: a handful of them makes no interval
        low, high = interval(table[1:, k], how.level) if size >= FEWEST else (np.nan, np.nan)
        found[name] = {"above_frontier": float(table[0, k]), "above_low": low, "above_high": high}
    return [replace(v, **found.get(v.method, {})) for v in verdicts]


def _delta(after: Floats, before: Floats) -> float:
    if not (np.isfinite(after).all() and np.isfinite(before).all()):
        return float("nan")
    return float(cliffs_delta(after, before))


def _paired(after: Floats, before: Floats) -> float:
    if not (np.isfinite(after).all() and np.isfinite(before).all()):
        return float("nan")
    return float(wilcoxon(after, before).pvalue)


def tested(verdicts: Sequence[MethodVerdict]) -> list[MethodVerdict]:
    """Correct the paired tests over the methods, and group methods that do not differ."""
    if not verdicts:
        return []
    bias, performance = (
        holm(np.array([getattr(v, name) for v in verdicts])) for name in ("p_bias", "p_performance")
    )
    out = [
        replace(v, p_bias=float(bias[k]), p_performance=float(performance[k]))
        for k, v in enumerate(verdicts)
    ]
    _, groups = ranked(out)
    place_of = {} if groups is None else dict(zip(groups.labels, groups.ranks, strict=True))
    return [replace(v, group=int(place_of[v.method])) if v.method in place_of else v for v in out]


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
