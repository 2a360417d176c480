"""Gaps: a case small enough to count by hand, the comparisons, and what is undefined."""

import numpy as np
import pytest

from isonomy import Counts, get_metric
from isonomy.errors import InputError, UndefinedMetricWarning, UnknownName
from isonomy.metrics import METRICS, RATES

# men: 4 TP, 1 FN, 1 FP, 4 TN; women: 2 TP, 2 FN, 1 FP, 5 TN
Y = [1] * 5 + [0] * 5 + [1] * 4 + [0] * 6
YHAT = [1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0]
SEX = ["M"] * 10 + ["F"] * 10


@pytest.fixture
def counts() -> Counts:
    return Counts.from_labels(Y, YHAT, sensitive_features={"sex": SEX}, privileged="M")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("statistical_parity_difference", 0.3 - 0.5),
        ("disparate_impact", 0.3 / 0.5),
        ("log_disparate_impact", np.log(0.3 / 0.5)),
        ("equal_opportunity_difference", 0.5 - 0.8),
        ("average_odds_difference", 0.5 * ((1 / 6 - 0.2) + (0.5 - 0.8))),
        ("average_absolute_odds_difference", 0.5 * ((0.2 - 1 / 6) + 0.3)),
        ("equalized_odds_difference", 0.3),
        ("equalized_odds_ratio", 0.5 / 0.8),
        ("error_rate_difference", 0.3 - 0.2),
        ("error_rate_ratio", 1.5),
        ("accuracy_difference", 0.7 - 0.8),
        ("false_positive_rate_difference", 1 / 6 - 0.2),
        ("false_negative_rate_difference", 0.5 - 0.2),
        ("false_discovery_rate_difference", 1 / 3 - 1 / 5),
        ("false_omission_rate_difference", 2 / 7 - 1 / 5),
        ("precision_difference", 2 / 3 - 4 / 5),
        ("treatment_equality_difference", 2 / 1 - 1 / 1),
    ],
)
def test_by_hand(name: str, expected: float, counts: Counts) -> None:
    assert get_metric(name)(counts) == pytest.approx(expected, abs=1e-15)


def test_between_group_entropy_by_hand(counts: Counts) -> None:
    # mean benefit: men 10/10, women (10 - 2 + 1)/10
    b = np.array([1.0, 0.9])
    mu = b.mean()
    assert get_metric("between_group_generalized_entropy")(counts) == pytest.approx(
        np.mean((b / mu) ** 2 - 1) / 2
    )
    assert get_metric("between_group_theil_index")(counts) == pytest.approx(
        np.mean(b / mu * np.log(b / mu))
    )


def test_each_group_against_the_privileged() -> None:
    counts = Counts.from_labels(
        [0, 1] * 6, [1, 1, 0, 0, 1, 0] * 2, sensitive_features=list("aabbcc") * 2, privileged="a"
    )
    spd = get_metric("spd")(counts, compare="each")
    np.testing.assert_allclose(spd, [0 - 1, 0.5 - 1])
    assert get_metric("spd")(counts) == pytest.approx(0.25 - 1)
    assert get_metric("spd")(counts, compare="max_min") == 1.0
    assert get_metric("di")(counts, compare="max_min") == 0.0


def test_rows_of_an_unknown_group_are_not_compared() -> None:
    y, yhat, group = [0, 1] * 6, [1, 1, 0, 0, 1, 0] * 2, list("aabbcc") * 2
    counts = Counts.from_labels(y, yhat, sensitive_features=group)
    strays = Counts.from_labels(
        [*y, 1, 1],
        [*yhat, 1, 1],
        sensitive_features=[*("abb"[k // 2 % 3] for k in range(12)), "Unknown", None],
    )
    assert get_metric("spd")(counts) == 1.0
    assert get_metric("spd")(strays) == pytest.approx(1 - 0.25)
    # unknown is not unprivileged either: nothing is left to compare with a
    alone = Counts.from_labels(
        [0, 1] * 2, [1] * 4, sensitive_features=["a", "a", "?", "?"], privileged="a"
    )
    assert get_metric("spd")(alone) == 0.0


def test_without_privilege_no_sign_is_given() -> None:
    counts = Counts.from_labels(Y, YHAT, sensitive_features={"sex": SEX})
    assert get_metric("spd")(counts) == pytest.approx(0.2)
    with pytest.raises(InputError, match="must be declared"):
        get_metric("spd")(counts, compare="privileged")
    with pytest.raises(InputError, match="no comparison of groups 'sideways'"):
        get_metric("spd")(counts, compare="sideways")


def test_undefined_is_nan_with_a_reason() -> None:
    counts = Counts.from_labels(
        [1, 1, 0, 0, 0], [1, 0, 1, 1, 0], sensitive_features=list("aaabb"), privileged="a"
    )
    metric = get_metric("equal_opportunity_difference")
    with pytest.warns(UndefinedMetricWarning, match="'unprivileged' has no rows with a favourable"):
        assert np.isnan(metric(counts))
    assert "favourable label" in metric.undefined(counts)


def test_a_ratio_over_nothing_is_infinite_or_undefined() -> None:
    only_b = Counts.from_labels(
        [0, 1, 0, 1], [0, 0, 1, 1], sensitive_features=list("aabb"), privileged="a"
    )
    assert get_metric("di")(only_b) == np.inf
    nobody = Counts.from_labels(
        [0, 1, 0, 1], [0, 0, 0, 0], sensitive_features=list("aabb"), privileged="a"
    )
    with pytest.warns(UndefinedMetricWarning, match="selected is 0"):
        assert np.isnan(get_metric("di")(nobody))


def test_groups_without_a_rate_do_not_spoil_the_others() -> None:
    counts = Counts.from_labels(
        [1, 1, 0, 1, 1, 0], [1, 0, 0, 1, 1, 1], sensitive_features=list("aaabbc")
    )
    assert get_metric("eod")(counts) == pytest.approx(0.5)


def test_names_aliases_and_variants() -> None:
    assert get_metric("demographic_parity_ratio").name == "disparate_impact"
    assert get_metric("spd(compare=max_min)").parameters == {"compare": "max_min"}
    with pytest.raises(UnknownName, match="did you mean 'disparate_impact'"):
        get_metric("disparate_impct")
    with pytest.raises(UnknownName, match="parameter of statistical_parity_difference"):
        get_metric("spd(compaare=max_min)")
    with pytest.raises(InputError, match="takes no parameters"):
        get_metric("accuracy(k=3)")


def test_a_gap_is_called_by_the_rate_that_it_compares() -> None:
    """A table of rates and the gap below it use one word, or the papers' own (ERD)."""
    seen = 0
    for metric in METRICS.values():
        rate = metric.name.removesuffix("_difference").removesuffix("_ratio")
        if rate != metric.name and rate in RATES and metric.label.lower() not in metric.aliases:
            assert metric.label.startswith(f"{RATES[rate].label} "), metric.name
            seen += 1
    assert seen > 10
