"""Our metrics against fairlearn, live."""

import numpy as np
import pandas as pd
import pytest
from fairlearn import metrics as fl
from sklearn.metrics import accuracy_score, precision_score, zero_one_loss

from isonomy.errors import UndefinedMetricWarning
from isonomy.metrics import RATES, Counts, get_metric


def draw(seed, *, groups=("a", "b"), attributes=("g",), n=3000, weighted=False):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {name: rng.choice(groups, n, p=rng.dirichlet([5] * len(groups))) for name in attributes}
    )
    lean = sum(pd.factorize(frame[name], sort=True)[0] for name in attributes)
    y = (rng.random(n) < 0.3 + 0.05 * lean).astype(int)
    p = (rng.random(n) < 0.2 + 0.4 * y + 0.04 * lean).astype(int)
    weight = rng.gamma(2.0, 1.7, n) if weighted else None
    return y, p, frame, weight


CASES = {
    "two groups": {},
    "five groups": {"groups": ("a", "b", "c", "d", "e")},
    "intersections": {"groups": ("x", "y", "z"), "attributes": ("g", "h")},
    "weighted": {"groups": ("a", "b", "c"), "weighted": True},
}


@pytest.fixture(params=CASES)
def case(request):
    y, p, frame, weight = draw(list(CASES).index(request.param), **CASES[request.param])
    counts = Counts.from_labels(y, p, sensitive_features=frame, sample_weight=weight)
    return y, p, frame, weight, counts


BY_GROUP = {
    "selection_rate": fl.selection_rate,
    "true_positive_rate": fl.true_positive_rate,
    "false_positive_rate": fl.false_positive_rate,
    "false_negative_rate": fl.false_negative_rate,
    "true_negative_rate": fl.true_negative_rate,
    "accuracy": accuracy_score,
    "error_rate": zero_one_loss,
    "precision": precision_score,
}


@pytest.mark.parametrize("rate", BY_GROUP)
def test_rates_by_group(case, rate):
    y, p, frame, weight, counts = case
    theirs = fl.MetricFrame(
        metrics=BY_GROUP[rate],
        y_true=y,
        y_pred=p,
        sensitive_features=frame,
        sample_params=None if weight is None else {"sample_weight": weight},
    )
    ours = RATES[rate](counts)
    for group, value in zip(counts.groups, ours, strict=True):
        key = group[0] if len(group) == 1 else group
        assert value == pytest.approx(theirs.by_group[key], abs=1e-12)


@pytest.mark.parametrize("rate", BY_GROUP)
def test_largest_difference_and_worst_ratio(case, rate):
    y, p, frame, weight, counts = case
    theirs = fl.MetricFrame(
        metrics=BY_GROUP[rate],
        y_true=y,
        y_pred=p,
        sensitive_features=frame,
        sample_params=None if weight is None else {"sample_weight": weight},
    )
    difference = {
        "selection_rate": "statistical_parity_difference",
        "true_positive_rate": "equal_opportunity_difference",
        "true_negative_rate": None,
    }.get(rate, f"{rate}_difference")
    ratio = {"selection_rate": "disparate_impact", "true_negative_rate": None}.get(
        rate, f"{rate}_ratio"
    )
    if difference:
        value = get_metric(difference)(counts, compare="max_min")
        assert value == pytest.approx(theirs.difference(method="between_groups"), abs=1e-12)
    if ratio:
        value = get_metric(ratio)(counts, compare="max_min")
        assert value == pytest.approx(theirs.ratio(method="between_groups"), abs=1e-12)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("demographic_parity_difference", fl.demographic_parity_difference),
        ("demographic_parity_ratio", fl.demographic_parity_ratio),
        ("equalized_odds_difference", fl.equalized_odds_difference),
        ("equalized_odds_ratio", fl.equalized_odds_ratio),
        ("equal_opportunity_difference", fl.equal_opportunity_difference),
        ("equal_opportunity_ratio", fl.equal_opportunity_ratio),
    ],
)
def test_named_metrics(case, ours, theirs):
    y, p, frame, weight, counts = case
    expected = theirs(y, p, sensitive_features=frame, sample_weight=weight)
    assert get_metric(ours)(counts) == pytest.approx(expected, abs=1e-12)


def test_an_empty_denominator_is_zero_for_fairlearn_and_undefined_for_us():
    y, p, g = [1, 0, 0, 0], [1, 0, 1, 0], ["a", "a", "b", "b"]
    assert fl.equal_opportunity_difference(y, p, sensitive_features=g) == 1.0
    counts = Counts.from_labels(y, p, sensitive_features=g)
    with pytest.warns(UndefinedMetricWarning, match="no rows with a favourable label"):
        assert np.isnan(get_metric("equal_opportunity_difference")(counts))


@pytest.mark.parametrize("favorable", ["yes", "no"])
def test_string_labels(favorable):
    y, p, frame, _ = draw(11)
    words = np.array(["no", "yes"])
    counts = Counts.from_labels(
        words[y], words[p], sensitive_features=frame, favorable=favorable, privileged="b"
    )
    good = int(favorable == "yes")
    rates = fl.MetricFrame(
        metrics=fl.selection_rate,
        y_true=(y == good).astype(int),
        y_pred=(p == good).astype(int),
        sensitive_features=frame,
    ).by_group
    signed = get_metric("statistical_parity_difference")(counts)
    assert signed == pytest.approx(rates["a"] - rates["b"], abs=1e-12)
