"""Every metric that a trial's predictions allow, for all its records at once."""

import warnings
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy.errors import UndefinedMetricWarning
from isonomy.metrics import METRICS, ZERO_DIVISION_METRICS, Counts, Metric, Neighbours, get_metric
from isonomy.metrics.joint import JointCounts
from isonomy.store.record import magnitude
from isonomy.tradeoff.baseline import drawn_values, mean_of_draws
from isonomy.tradeoff.mutation import mutate, resolve_target


def count_metrics() -> tuple[str, ...]:
    """Return the names of every metric of counts, with the variants in which 0 / 0 is counted as 0.

    Examples
    --------
    >>> "mcc" in count_metrics(), "mcc(zero_division=0)" in count_metrics()
    (True, True)
    """
    plain = [name for name, metric in METRICS.items() if metric.needs == "counts"]
    return tuple(dict.fromkeys([*plain, *ZERO_DIVISION_METRICS]))


def tested(counts: JointCounts, attributes: str) -> Counts:
    """Return the counts of the mitigated predictions by the attribute under test."""
    return counts.method.select(*attributes.split("+"))


def measure_counts(
    joint: Sequence[JointCounts], attributes: str, metrics: Iterable[str] | None = None
) -> list[dict[str, float]]:
    """Compute metrics of counts for many records at once.

    Parameters
    ----------
    joint : sequence of JointCounts
        One per record, of the same groups.
    attributes : str
        The attribute under test; several are joined by ``+``.
    metrics : iterable of str, optional
        Metrics of counts by name; every one of them when None.

    Returns
    -------
    list of dict
        By record, metric name to value; an undefined one is NaN.

    Examples
    --------
    >>> counts = JointCounts.from_labels(
    ...     [1, 0, 1, 0], [1, 0, 0, 1], [1, 0, 1, 1],
    ...     sensitive_features={"sex": ["f", "f", "m", "m"]}, privileged={"sex": "m"},
    ... )
    >>> measure_counts([counts], "sex", ["accuracy", "statistical_parity_difference"])
    [{'accuracy': 0.75, 'statistical_parity_difference': -0.5}]
    """
    if not joint:
        return []
    together = tested(JointCounts.stack(list(joint)), attributes)
    names = count_metrics() if metrics is None else tuple(metrics)
    values: dict[str, Floats] = {}
    with np.errstate(all="ignore"):
        for name in names:
            value = np.asarray(get_metric(name)(together), dtype=np.float64)
            if value.shape == together.shape:  # one per data set, not one per group
                values[name] = value
    return [{name: float(v[i]) for name, v in values.items()} for i in range(len(joint))]


def measure_rows(
    y: NDArray[Any],
    labels: NDArray[np.intp],
    scores: Floats | None,
    near: Neighbours | None,
    weight: Floats | None = None,
) -> dict[str, float]:
    """Compute what counts cannot give: metrics of scores and of neighbours."""
    out: dict[str, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        if near is not None:
            out["consistency"] = float(METRICS["consistency"](None, labels, near=near))
        if scores is not None and np.isfinite(scores).all():
            for name, metric in METRICS.items():
                if metric.needs == "scores":
                    out[name] = float(metric(y, scores, favorable=1, sample_weight=weight))
    return out


def why_undefined(metrics: dict[str, float], counts: JointCounts, attributes: str) -> str:
    """Return in one line why values of a record are undefined; empty where all are defined."""
    missing = [get_metric(name) for name, value in metrics.items() if np.isnan(value)]
    if not missing:
        return ""
    one = tested(counts, attributes)
    reasons = (m.undefined(one) for m in missing if m.needs == "counts")
    return "; ".join(dict.fromkeys(r or "0 / 0" for r in reasons))


def measure_mutation(
    counts: Counts,
    *,
    label: Any,
    repetitions: int,
    seeds: Sequence[Sequence[int | str]],
    weighted_gaps: bool = False,
    metrics: Iterable[str] | None = None,
) -> dict[str, Floats]:
    """Mutate predictions and average every metric of counts, degree by degree.

    The size of a signed gap is averaged beside it: the mean of absolute values is what a baseline
    is made of, and it is not the absolute value of the mean.

    Parameters
    ----------
    counts : Counts
        The original predictions by the attribute under test, with one leading axis.
    label : label or "random"
        What overwritten predictions become.
    repetitions : int
        Draws per degree.
    seeds : sequence of sequences of int or str
        What the draws of each depend on.
    weighted_gaps : bool
        Whether gaps alone are measured with the weights of the counts.
    metrics : iterable of str, optional
        Metrics of counts by name; every one of them when None.

    Returns
    -------
    dict
        By metric, values of shape (degrees, leading axis of the counts).
    """
    names = count_metrics() if metrics is None else tuple(metrics)
    gaps = [n for n in names if get_metric(n).kind == "group"]
    parts = [(counts, list(names))]
    if weighted_gaps:
        plain, performance = replace(counts, w=None, w2=None), [n for n in names if n not in gaps]
        parts = [(plain, performance), (counts, gaps)]
    means: dict[str, Floats] = {}
    with np.errstate(all="ignore"):
        for part, wanted in parts:
            drawn = _draw(part, label, repetitions, seeds)
            for name, values in drawn_values(drawn, wanted).items():
                means[name] = mean_of_draws(values)
                if _has_size(get_metric(name)):
                    means[magnitude(name)] = mean_of_draws(np.abs(values))
    return {n: means[n] for name in names for n in (name, magnitude(name)) if n in means}


def _draw(
    counts: Counts, label: Any, repetitions: int, seeds: Sequence[Sequence[int | str]]
) -> Counts:
    """Draw mutations by a seed for each; leading axes are (repetitions, degrees, counts)."""
    drawn = []
    for i, seed in enumerate(seeds):
        one = counts.map_cells(itemgetter(i))
        numbers = [zlib.crc32(s.encode()) if isinstance(s, str) else s for s in seed]
        target = resolve_target(one, label)
        rng = np.random.default_rng(numbers)
        drawn.append(mutate(one, target=target, repetitions=repetitions, random_state=rng))

    laid: dict[str, Any] = {}
    for name in ("n", "w", "w2") if drawn[0].w is not None else ("n",):
        # sums over the few cells run along the draws in memory
        cells = np.stack([getattr(d, name).transpose(2, 3, 4, 0, 1) for d in drawn], axis=-1)
        laid[name] = cells.transpose(3, 4, 5, 0, 1, 2)
    return replace(drawn[0], **laid)


def _has_size(metric: Metric) -> bool:
    return metric.signed and metric.goal == "zero"
