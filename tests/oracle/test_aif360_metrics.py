"""Our metrics against AIF360 0.6.1, frozen by `tools/golden/metrics.py`."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isonomy.errors import UndefinedMetricWarning
from isonomy.metrics import RATES, Counts, get_metric, neighbours

GOLDEN = Path(__file__).parent / "golden"
FROZEN = json.loads((GOLDEN / "aif360_metrics.json").read_text())
CASES = FROZEN["cases"]

# Ours -> AIF360's, where the names differ.
GAPS = {
    "statistical_parity_difference": "statistical_parity_difference",
    "disparate_impact": "disparate_impact",
    "equal_opportunity_difference": "equal_opportunity_difference",
    "average_odds_difference": "average_odds_difference",
    "average_absolute_odds_difference": "average_abs_odds_difference",
    "equalized_odds_difference": "equalized_odds_difference",
    "error_rate_difference": "error_rate_difference",
    "error_rate_ratio": "error_rate_ratio",
    "true_positive_rate_difference": "true_positive_rate_difference",
    "false_positive_rate_difference": "false_positive_rate_difference",
    "false_negative_rate_difference": "false_negative_rate_difference",
    "false_discovery_rate_difference": "false_discovery_rate_difference",
    "false_omission_rate_difference": "false_omission_rate_difference",
    "false_positive_rate_ratio": "false_positive_rate_ratio",
    "false_negative_rate_ratio": "false_negative_rate_ratio",
    "false_discovery_rate_ratio": "false_discovery_rate_ratio",
    "false_omission_rate_ratio": "false_omission_rate_ratio",
}
PERFORMANCE = {
    "accuracy": "accuracy",
    "error_rate": "error_rate",
    "selection_rate": "selection_rate",
    "base_rate": "base_rate",
    "favorable_precision": "precision",
    "unfavorable_precision": "negative_predictive_value",
    "favorable_recall": "true_positive_rate",
    "unfavorable_recall": "true_negative_rate",
}
RATE_NAMES = [
    "accuracy",
    "error_rate",
    "selection_rate",
    "base_rate",
    "precision",
    "negative_predictive_value",
    "true_positive_rate",
    "true_negative_rate",
    "false_positive_rate",
    "false_negative_rate",
    "false_discovery_rate",
    "false_omission_rate",
]
# AIF360 counts these as 0 where nothing was predicted; ours are undefined there.
ZERO_WHERE_EMPTY = {
    "precision",
    "negative_predictive_value",
    "false_discovery_rate",
    "false_omission_rate",
}
# AIF360 gives a number where ours is undefined, for one of two reasons: an empty denominator
# counted as rate 0 (above), or Python's max(), which drops a NaN that comes second.
NUMBER_FOR_NOTHING = {
    ("undefined_unprivileged", "equalized_odds_difference"),
    ("undefined_unprivileged", "false_discovery_rate_difference"),
    ("undefined_unprivileged", "false_discovery_rate_ratio"),
    ("undefined_privileged", "false_omission_rate_difference"),
    ("undefined_privileged", "false_omission_rate_ratio"),
    ("constant_unfavorable", "false_discovery_rate_difference"),
}


def digits(text):
    return np.array(list(text), dtype=int)


def rebuild(name, *, weighted=True):
    """The rows of a case as the user would hand them over."""
    case = CASES[name]
    labels = {1: case["favorable"], 0: case["unfavorable"]}
    names = case.get("names", {})
    frame = pd.DataFrame(
        {
            key: np.array(names[key])[digits(text)] if key in names else digits(text)
            for key, text in case["groups"].items()
        }
    )
    numerators = np.array(case["weight_numerators"].split(), dtype=float)
    weight = numerators / case["weight_denominator"]
    return {
        "y_true": np.array([labels[v] for v in digits(case["y_true"])]),
        "y_pred": np.array([labels[v] for v in digits(case["y_pred"])]),
        "sensitive_features": frame,
        "sample_weight": weight if weighted and (numerators != 1).any() else None,
        "favorable": case["favorable"],
        "privileged": {
            key: names[key][value] if key in names else value
            for key, value in case["privileged"].items()
        },
    }


def counts_of(name, *, weighted=True):
    return Counts.from_labels(**rebuild(name, weighted=weighted))


def compared_counts(name):
    """Only the rows of the groups AIF360 compared: it leaves the others out, we call them unprivileged."""
    rows = rebuild(name)
    case = CASES[name]
    raw = {key: digits(text) for key, text in case["groups"].items()}
    chosen = np.zeros(len(rows["y_true"]), dtype=bool)
    for group in [*case["unprivileged_groups"], case["privileged"]]:
        chosen |= np.logical_and.reduce([raw[key] == value for key, value in group.items()])
    for key in ("y_true", "y_pred", "sample_weight"):
        if rows[key] is not None:
            rows[key] = rows[key][chosen]
    rows["sensitive_features"] = rows["sensitive_features"][chosen]
    return Counts.from_labels(**rows)


def quietly(metric, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return metric(*args)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("ours", GAPS)
def test_gap(case, ours):
    expected = float(CASES[case]["gaps"][GAPS[ours]])
    value = quietly(get_metric(ours), compared_counts(case))
    if (case, ours) in NUMBER_FOR_NOTHING:
        assert not np.isnan(expected)
        assert np.isnan(value)
        return
    assert value == pytest.approx(expected, abs=1e-12, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("rate", RATE_NAMES)
def test_rate_by_group(case, rate):
    counts = compared_counts(case).by_privilege()
    values = RATES[rate](counts)
    rows = RATES[rate].rows(counts)
    for side, value, n in zip(("unprivileged", "privileged"), values, rows, strict=True):
        expected = float(CASES[case]["rates"][side][rate])
        if n == 0 and rate in ZERO_WHERE_EMPTY:
            assert expected == 0.0
            assert np.isnan(value)
        else:
            assert value == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("ours", PERFORMANCE)
def test_overall(case, ours):
    counts = counts_of(case)
    expected = float(CASES[case]["rates"]["overall"][PERFORMANCE[ours]])
    value = quietly(get_metric(ours), counts)
    if PERFORMANCE[ours] in ZERO_WHERE_EMPTY and np.isnan(value):
        assert expected == 0.0
        value = get_metric(ours).variant(zero_division=0)(counts)
    assert value == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("case", CASES)
def test_group_sizes_are_weighted(case):
    counts = compared_counts(case).by_privilege()
    for side, weight in zip(
        ("unprivileged", "privileged"), counts.values.sum(axis=(-1, -2)), strict=True
    ):
        assert weight == pytest.approx(CASES[case]["rates"][side]["num_instances"], rel=1e-12)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("theil_index", "theil_index"),
        ("generalized_entropy", "generalized_entropy_index"),
        ("coefficient_of_variation", "coefficient_of_variation"),
        ("between_group_theil_index", "between_all_groups_theil_index"),
        ("between_group_generalized_entropy", "between_all_groups_generalized_entropy_index"),
    ],
)
def test_inequality(case, ours, theirs):
    # AIF360 leaves the instance weights out of these; ours count them, so they are left out here.
    value = get_metric(ours)(counts_of(case, weighted=False))
    assert value == pytest.approx(float(CASES[case]["gaps"][theirs]), abs=1e-12)


@pytest.mark.parametrize("case", [name for name in CASES if name != "two_attributes"])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("between_group_theil_index", "between_group_theil_index"),
        ("between_group_generalized_entropy", "between_group_generalized_entropy_index"),
    ],
)
def test_inequality_between_two_groups(case, ours, theirs):
    # Not for two_attributes: AIF360 gives rows of the groups it was not asked about a benefit of 0.
    value = get_metric(ours)(counts_of(case, weighted=False).by_privilege())
    assert value == pytest.approx(float(CASES[case]["gaps"][theirs]), abs=1e-12)


def test_every_case_that_should_be_undefined_is():
    seen = {
        (case, ours)
        for case in CASES
        for ours, theirs in GAPS.items()
        if np.isnan(quietly(get_metric(ours), compared_counts(case)))
        and not np.isnan(float(CASES[case]["gaps"][theirs]))
    }
    assert seen == NUMBER_FOR_NOTHING


# ------------------------------------------------------------------ consistency


def arrays():
    with np.load(GOLDEN / "aif360_consistency.npz") as file:
        return dict(file)


@pytest.mark.parametrize("k", [1, 5, 10])
def test_consistency_without_ties(k):
    data = arrays()
    metric = get_metric("consistency").variant(k=k)
    features = data["no_ties"] / 2**20
    assert neighbours(features, k=k).tie_share == 0.0
    value = metric(features, data["no_ties_labels"])
    assert value == pytest.approx(FROZEN["consistency"]["no_ties"][str(k)], abs=1e-12)


def one_hot():
    data = arrays()
    facts = FROZEN["consistency"]
    levels, numeric = facts["ties_levels"], facts["ties_numeric_columns"]
    codes = data["ties"].astype(float)
    parts = [codes[:, j : j + 1] / (levels[j] - 1) for j in range(numeric)]
    parts += [
        (codes[:, j : j + 1] == np.arange(levels[j])).astype(float)
        for j in range(numeric, len(levels))
    ]
    return np.hstack(parts), data["ties_labels"]


def test_consistency_with_ties():
    # Which of several equally near rows AIF360 takes depends on the order of the rows; ours is the mean.
    features, labels = one_hot()
    assert neighbours(features, k=5).tie_share > 0.1
    value = get_metric("consistency")(features, labels)
    assert value == pytest.approx(FROZEN["consistency"]["ties"]["5"], abs=5e-4)
