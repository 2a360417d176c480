"""The contract of a metric."""

import re
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from isonomy.errors import UndefinedMetricWarning
from isonomy.metrics import Counts, Metric, get_metric


def check_metric(metric: Metric | str) -> None:
    """Raise AssertionError unless a metric keeps the contract.

    What it computes is tested on random counts; of a metric that needs more than counts only the
    description is.

    Parameters
    ----------
    metric : Metric or str

    Examples
    --------
    >>> check_metric("statistical_parity_difference")
    """
    for check in METRIC_CHECKS.values():
        check(get_metric(metric))


def _is_described(metric: Metric) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]*(\(.*\))?", metric.name), "a name is snake_case"
    for field in ("label", "formula", "sign", "avoid", "reference"):
        assert getattr(metric, field), f"{metric.name} has no {field}: pass {field}=..."
    assert metric.bounds[0] < metric.bounds[1]
    assert metric.ideal is None or metric.bounds[0] <= metric.ideal <= metric.bounds[1]
    for name in (metric.name, *metric.aliases):
        assert get_metric(name).name == metric.name, f"{name} finds the metric"


def _random_counts(seed: int = 0, repeats: int = 20) -> Counts:
    rng = np.random.default_rng(seed)
    n = 400
    label, group = rng.integers(0, 2, n), rng.integers(0, 2, n)
    prediction = np.where(rng.random(n) < 0.8, label, rng.integers(0, 2, n))
    counts = Counts.from_labels(
        label, prediction, sensitive_features={"group": group}, privileged={"group": 1}
    )
    return counts.resample(repeats, random_state=seed)


def _broadcasts(metric: Metric) -> None:
    if metric.needs != "counts":
        return
    counts = _random_counts()
    values = np.asarray(metric.fn(counts, **metric.parameters))
    assert values.shape == (len(counts.n),), "one value per entry of the leading axis"
    one_by_one = [metric.fn(replace(counts, n=n), **metric.parameters) for n in counts.n]
    np.testing.assert_allclose(values, one_by_one, rtol=1e-12, equal_nan=True)


def _stays_in_bounds(metric: Metric) -> None:
    if metric.needs != "counts":
        return
    values = np.asarray(metric.fn(_random_counts(1, 200), **metric.parameters))
    known = values[~np.isnan(values)]
    low, high = metric.bounds
    assert known.size, "the metric is defined on ordinary counts"
    assert known.min() >= low - 1e-12
    assert known.max() <= high + 1e-12


def _scales_with_nothing(metric: Metric) -> None:
    """Repeating every row changes no metric, but for those that say that they grow with the rows."""
    if metric.needs != "counts":
        return
    counts = _random_counts(2)
    once = np.asarray(metric.fn(counts, **metric.parameters))
    twice = np.asarray(metric.fn(counts + counts, **metric.parameters))
    if metric.sized:
        some = np.abs(once) > 1e-9
        assert (np.abs(twice) > np.abs(once))[some].all(), "more rows, a larger number"
        return
    np.testing.assert_allclose(once, twice, rtol=1e-9, equal_nan=True)


def _is_ideal_for_a_perfect_model(metric: Metric) -> None:
    """Expect the best value of perfect predictions of two groups with equal base rates."""
    if metric.needs != "counts" or metric.name.partition("(")[0] in {"selection_rate", "base_rate"}:
        return
    label = np.array([0, 1] * 20)
    counts = Counts.from_labels(
        label,
        label,
        sensitive_features={"group": np.repeat([0, 1], 20)},
        privileged={"group": 1},
    )
    with warnings.catch_warnings(action="ignore", category=UndefinedMetricWarning):
        value = float(metric(counts))
    assert np.isnan(value) or metric.ideal is None or np.isclose(value, metric.ideal)


METRIC_CHECKS: dict[str, Callable[[Metric], None]] = {
    check.__name__.strip("_"): check
    for check in (
        _is_described,
        _broadcasts,
        _stays_in_bounds,
        _scales_with_nothing,
        _is_ideal_for_a_perfect_model,
    )
}
"""The clauses of the contract by name; ``check_metric`` runs them all."""
