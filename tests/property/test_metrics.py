"""What must hold for every metric of counts, whatever the data."""

import warnings
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from isonomy import METRICS, Counts
from isonomy.errors import UndefinedMetricWarning

COUNT_METRICS = [m for m in METRICS.values() if m.needs == "counts"]
GAPS = [m for m in COUNT_METRICS if "compare" in m.parameters]


@st.composite
def rows(draw, groups: int = 3):
    n = draw(st.integers(6, 40))
    column = lambda top: st.lists(st.integers(0, top), min_size=n, max_size=n)  # noqa: E731
    y = draw(column(1).filter(lambda v: len(set(v)) == 2))
    yhat = draw(column(1))
    s = draw(column(groups - 1).filter(lambda v: {0, 1} <= set(v)))
    return np.array(y), np.array(yhat), np.array(s)


def value(metric, counts, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return metric(counts, **kwargs)


def close(a, b, metric=None) -> None:
    name = "" if metric is None else metric.name
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12, err_msg=name)


@settings(max_examples=60, deadline=None)
@given(data=rows(), seed=st.integers(0, 2**16))
def test_row_order_and_names_do_not_matter(data, seed) -> None:
    y, yhat, s = data
    order = np.random.default_rng(seed).permutation(y.size)
    names = np.array(["zebra", "apple", "mango"])
    words = np.array(["refused", "accepted"])
    plain = Counts.from_labels(y, yhat, sensitive_features=s, privileged=0)
    other = Counts.from_labels(
        words[y][order],
        words[yhat][order],
        sensitive_features=names[s][order],
        favorable="accepted",
        privileged="zebra",
    )
    for metric in COUNT_METRICS:
        close(value(metric, plain), value(metric, other), metric)


@settings(max_examples=60, deadline=None)
@given(data=rows(), seed=st.integers(0, 2**16))
def test_weight_k_equals_k_copies(data, seed) -> None:
    y, yhat, s = data
    k = np.random.default_rng(seed).integers(1, 5, y.size)
    weighted = Counts.from_labels(y, yhat, sensitive_features=s, sample_weight=k, privileged=0)
    copied = Counts.from_labels(
        np.repeat(y, k), np.repeat(yhat, k), sensitive_features=np.repeat(s, k), privileged=0
    )
    for metric in COUNT_METRICS:
        if metric.name != "selection_deviations":  # evidence: a row that weighs k is not k rows
            close(value(metric, weighted), value(metric, copied), metric)


@settings(max_examples=60, deadline=None)
@given(data=rows())
def test_values_stay_in_bounds(data) -> None:
    y, yhat, s = data
    for privileged in (0, None):
        counts = Counts.from_labels(y, yhat, sensitive_features=s, privileged=privileged)
        for metric in COUNT_METRICS:
            v = value(metric, counts)
            low, high = metric.bounds
            assert np.isnan(v) or low - 1e-12 <= v <= high + 1e-12, metric.name


@settings(max_examples=60, deadline=None)
@given(data=rows(groups=2))
def test_swapping_privilege_turns_signed_metrics_round(data) -> None:
    y, yhat, s = data
    one = Counts.from_labels(y, yhat, sensitive_features=s, privileged=0)
    two = Counts.from_labels(y, yhat, sensitive_features=s, privileged=1)
    for metric in GAPS:
        a, b = value(metric, one), value(metric, two)
        if not metric.signed:
            close(a, b, metric)
        elif metric.goal == "one":
            if np.isfinite([a, b]).all() and a > 0 and b > 0:
                close(a, 1 / b, metric)
            elif not np.isnan([a, b]).any():
                assert {a, b} == {0.0, np.inf}
        elif np.isfinite([a, b]).all():
            close(a, -b, metric)


@settings(max_examples=60, deadline=None)
@given(data=rows(groups=2))
def test_two_groups_largest_against_smallest_is_the_absolute_gap(data) -> None:
    y, yhat, s = data
    counts = Counts.from_labels(y, yhat, sensitive_features=s, privileged=0)
    for metric in GAPS:
        signed = value(metric, counts, compare="privileged")
        spread = value(metric, counts, compare="max_min")
        if not np.isfinite([signed, spread]).all():
            continue
        if metric.goal == "one":
            close(spread, min(signed, 1 / signed) if signed else 0.0, metric)
        elif metric.name == "log_disparate_impact":  # the smaller over the larger
            close(spread, -abs(signed), metric)
        elif metric.name != "average_odds_difference":  # its two gaps may cancel; ranges do not
            close(spread, abs(signed), metric)


@settings(max_examples=40, deadline=None)
@given(data=rows(), cut=st.integers(1, 5))
def test_merging_shards_equals_one_pass(data, cut) -> None:
    y, yhat, s = data
    w = np.linspace(0.5, 2.0, y.size)
    whole = Counts.from_labels(y, yhat, sensitive_features=s, sample_weight=w, privileged=0)
    parts = []
    for k in range(min(cut, y.size)):
        p = slice(k, None, cut)  # a shard may hold one class, one group, nobody privileged
        parts.append(
            Counts.from_labels(
                y[p],
                yhat[p],
                sensitive_features=s[p],
                sample_weight=w[p],
                classes=[0, 1],
                privileged=0,
            )
        )
    merged = parts[0]
    for part in parts[1:]:
        merged = merged + part
    np.testing.assert_array_equal(merged.n, whole.n)
    close(merged.w, whole.w)
    close(merged.w2, whole.w2)


@settings(max_examples=30, deadline=None)
@given(data=rows())
def test_leading_axes_broadcast(data) -> None:
    y, yhat, s = data
    counts = Counts.from_labels(y, yhat, sensitive_features=s, privileged=0)
    drawn = counts.resample(3, random_state=0)
    for metric in COUNT_METRICS:
        batched = value(metric, drawn)
        for k in range(3):
            close(batched[k], value(metric, replace(drawn, n=drawn.n[k])), metric)
