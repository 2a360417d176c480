"""Worst case and average case over subgroups: a case counted by hand, and a loop over rows."""

import numpy as np
import pytest

from isonomy import Counts, audit, get_metric
from isonomy.errors import InputError, UndefinedMetricWarning

# by group of (sex, race): TN, FP, FN, TP
CELLS = {("F", "b"): (4, 1, 3, 2), ("F", "w"): (6, 2, 1, 1), ("M", "b"): (3, 1, 2, 4), ("M", "w"): (5, 5, 2, 8)}  # fmt: skip
FPR = {"F b": 1 / 5, "F w": 2 / 8, "M b": 1 / 4, "M w": 5 / 10}
TPR = {"F b": 2 / 5, "F w": 1 / 2, "M b": 4 / 6, "M w": 8 / 10}
SELECTED = {"F b": 3 / 10, "F w": 3 / 10, "M b": 5 / 10, "M w": 13 / 20}
OVERALL = {"selected": 24 / 50, "fpr": 9 / 27, "tpr": 15 / 23}


def rows() -> tuple[np.ndarray, np.ndarray, dict[str, list[str]]]:
    y, yhat, sex, race = [], [], [], []
    for (s, r), (tn, fp, fn, tp) in CELLS.items():
        y += [0] * (tn + fp) + [1] * (fn + tp)
        yhat += [0] * tn + [1] * fp + [0] * fn + [1] * tp
        sex += [s] * (tn + fp + fn + tp)
        race += [r] * (tn + fp + fn + tp)
    return np.array(y), np.array(yhat), {"sex": sex, "race": race}


@pytest.fixture(params=[None, {"sex": "M", "race": "w"}], ids=["undeclared", "privileged declared"])
def counts(request: pytest.FixtureRequest) -> Counts:
    y, yhat, groups = rows()
    return Counts.from_labels(y, yhat, sensitive_features=groups, privileged=request.param)


def mean_distance(rates: dict[str, float], overall: float) -> float:
    return sum(abs(rate - overall) for rate in rates.values()) / 4


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("wcspd", 13 / 20 - 3 / 10),
        ("wceod", 8 / 10 - 2 / 5),
        ("wcaod", ((5 / 10 + 8 / 10) - (1 / 5 + 2 / 5)) / 2),
        ("avespd", mean_distance(SELECTED, OVERALL["selected"])),
        ("aveeod", mean_distance(TPR, OVERALL["tpr"])),
        (
            "aveaod",
            mean_distance({g: FPR[g] + TPR[g] for g in FPR}, OVERALL["fpr"] + OVERALL["tpr"]) / 2,
        ),
    ],
)
def test_a_case_counted_by_hand(counts: Counts, name: str, expected: float) -> None:
    assert get_metric(name)(counts) == pytest.approx(expected, abs=1e-15)


def test_worst_case_aod_is_of_one_pair_of_groups() -> None:
    # the group with the higher TPR has the lower FPR: the range of the mean is none of the ranges
    counts = Counts.from_labels(
        [1, 1, 0, 0] * 2, [1, 1, 0, 0, 1, 0, 1, 0], sensitive_features=list("aaaabbbb")
    )
    assert get_metric("wcaod")(counts) == 0.0
    assert get_metric("average_odds_difference(compare=max_min)")(counts) == 0.5


def test_of_two_groups_they_are_sizes_of_the_usual_gaps(counts: Counts) -> None:
    two = counts.select("sex")
    for case, usual in (("wcspd", "spd"), ("wcaod", "aod"), ("wceod", "eod")):
        assert get_metric(case)(two) == pytest.approx(abs(get_metric(usual)(two)))


def test_a_subgroup_without_a_rate_is_left_out() -> None:
    y, yhat = [1, 0, 1, 0, 0, 0], [1, 0, 0, 0, 1, 1]
    counts = Counts.from_labels(y, yhat, sensitive_features=list("aabbcc"))
    assert get_metric("wceod")(counts) == 1.0  # c has no favourable label
    assert get_metric("aveeod")(counts) == pytest.approx(0.5)
    one = Counts.from_labels([1, 0, 0, 0, 0, 0], yhat, sensitive_features=list("aabbcc"))
    with pytest.warns(UndefinedMetricWarning, match="fewer than two groups have rows with a fav"):
        assert np.isnan(get_metric("wceod")(one))


def test_an_audit_judges_the_worst_case_of_one_rate_only() -> None:
    y, yhat, groups = rows()
    y, yhat = np.tile(y, 20), np.tile(yhat, 20)
    groups = {name: values * 20 for name, values in groups.items()}
    crossed = [f"{s} {r}" for s, r in zip(groups["sex"], groups["race"], strict=True)]
    report = audit(
        y, yhat, sensitive_features=crossed, metrics=["wcspd", "wcaod", "avespd"], favorable=1
    )
    found = {f.name: f for f in report.metrics}
    worst = found["worst_case_statistical_parity_difference"]
    assert worst.verdict == "violated"
    assert worst.low < 0.35 < worst.high
    for name in (
        "worst_case_average_odds_difference",
        "average_case_statistical_parity_difference",
    ):
        assert found[name].verdict is None
        assert found[name].low <= found[name].value <= found[name].high
    with pytest.raises(InputError, match="lean away from 0"):
        audit(y, yhat, sensitive_features=groups, metrics=["wcaod"], thresholds={"wcaod": 0.1})
