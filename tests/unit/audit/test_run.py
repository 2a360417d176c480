"""The audit: what it reports, how it judges, and when it declines to."""

import io
import json
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from isonomy import Counts, audit, audit_counts, audit_file, get_metric
from isonomy.audit import DEFAULT_METRICS, looks_protected
from isonomy.cli.audit import show
from isonomy.errors import InputError
from isonomy.stats import wilson_interval


@pytest.fixture
def found(predictions: pd.DataFrame):
    return audit(
        predictions["y"],
        predictions["yhat"],
        sensitive_features=predictions[["sex", "race"]],
        score=predictions["score"],
        favorable="good",
        privileged={"sex": "M", "race": "a"},
        intersections=True,
        X=predictions,
    )


def pick(found, name: str, attribute: str | None):
    (row,) = [f for f in found.metrics if (f.name, f.attribute) == (name, attribute)]
    return row


def test_values_are_those_of_the_metrics(found, predictions: pd.DataFrame) -> None:
    counts = Counts.from_labels(
        predictions["y"],
        predictions["yhat"],
        sensitive_features=predictions["sex"],
        favorable="good",
        privileged="M",
    )
    for name in DEFAULT_METRICS:
        row = pick(found, name, "sex")
        assert row.value == get_metric(name)(counts)
        assert row.low <= row.value <= row.high
    assert pick(found, "accuracy", None).value == np.mean(predictions["y"] == predictions["yhat"])
    assert pick(found, "roc_auc", None).value == pytest.approx(
        get_metric("auc")(predictions["y"], predictions["score"], favorable="good")
    )


def test_rates_come_with_wilson_intervals_and_denominators(found, predictions) -> None:
    men = predictions[predictions["sex"] == "M"]
    (row,) = [r for r in found.groups if (r.group, r.name) == ("M", "true_positive_rate")]
    merit = men["y"] == "good"
    share = float((men["yhat"] == "good")[merit].mean())
    assert row.rows == merit.sum()
    assert row.value == pytest.approx(share)
    assert (row.low, row.high) == tuple(
        pytest.approx(float(e)) for e in wilson_interval(share, merit.sum())
    )


def test_weighted_rates_use_kishs_size(predictions: pd.DataFrame) -> None:
    found = audit(
        predictions["y"],
        predictions["yhat"],
        sensitive_features=predictions["sex"],
        sample_weight=predictions["weight"],
        favorable="good",
    )
    (row,) = [r for r in found.groups if (r.group, r.name) == ("F", "selection_rate")]
    w = predictions["weight"][predictions["sex"] == "F"]
    assert row.effective_rows == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert row.effective_rows < row.rows == len(w)


def test_same_seed_same_audit(predictions: pd.DataFrame) -> None:
    one, two, three = (
        audit(
            predictions["y"],
            predictions["yhat"],
            sensitive_features=predictions["sex"],
            favorable="good",
            random_state=seed,
        ).frame()
        for seed in (1, 1, 2)
    )
    pd.testing.assert_frame_equal(one, two)
    assert not one.equals(three)


def test_intersections_and_single_groups(found) -> None:
    assert pick(found, "disparate_impact", "sex & race").value > 0
    pairs = {f.comparison for f in found.comparisons if f.attribute == "race"}
    assert pairs == {"b vs a", "c vs a"}
    assert not [f for f in found.comparisons if f.attribute == "sex"]  # two groups: the gap itself
    sizes = found.frame("sizes")
    assert sizes.groupby("attribute")["rows"].sum().tolist() == [2000, 2000, 2000]


def test_unexamined_columns_are_named(found) -> None:
    assert found.unexamined == ("age",)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("sex", True), ("Gender", True), ("race_ethnicity", True), ("ageGroup", True),
        ("maritalStatus", True), ("native-country", True), ("DOB", True), ("birth_date", True),
        ("wage", False), ("message", False), ("hours", False), ("package", False), ("trace", False),
    ],
)  # fmt: skip
def test_what_looks_protected(column: str, expected: bool) -> None:
    assert looks_protected(column) is expected


# ------------------------------------------------------------------ verdicts


def rows(selected_a: int, selected_b: int, n: int):
    """Make two groups of n with given numbers selected; labels alternate."""
    yhat = [1] * selected_a + [0] * (n - selected_a) + [1] * selected_b + [0] * (n - selected_b)
    return np.arange(2 * n) % 2, np.array(yhat), np.repeat(["a", "b"], n)


@pytest.mark.parametrize(
    ("a", "b", "n", "verdict", "because"),
    [
        (5000, 5000, 10_000, "within", "within ±0.1"),
        (5000, 2000, 10_000, "violated", "outside ±0.1"),
        (5000, 4000, 10_000, "insufficient evidence", "across the threshold"),
        (10, 5, 20, "insufficient evidence", "fewer than 30"),
    ],
)
def test_verdicts(a: int, b: int, n: int, verdict: str, because: str) -> None:
    y, yhat, s = rows(a, b, n)
    found = audit(y, yhat, sensitive_features=s, privileged="a", metrics=["spd"])
    row = pick(found, "statistical_parity_difference", "group")
    assert row.verdict == verdict
    assert because in row.reason


@pytest.mark.parametrize("groups", [2, 3])
def test_a_ratio_that_is_mostly_undefined_is_no_evidence(groups: int) -> None:
    y, yhat, s = rows(0, 1, 300)  # one selected in all: nothing to divide by
    if groups == 3:
        s = np.where(np.arange(s.size) % 300 < 150, s, "c")
        yhat = np.where(s == "b", 0, yhat)
        yhat[np.flatnonzero(s == "c")[0]] = 1
    found = audit(y, yhat, sensitive_features=s, privileged="a", metrics=["di"])
    findings = [f for f in (*found.metrics, *found.comparisons) if f.name == "disparate_impact"]
    judged = [f for f in findings if np.isinf(f.value)]
    assert judged
    for f in judged:
        assert f.verdict == "insufficient evidence"
        assert "1 events in all, fewer than 5" in f.reason


def test_a_ratio_is_judged_from_both_sides() -> None:
    y, yhat, s = rows(2000, 5000, 10_000)
    found = audit(y, yhat, sensitive_features=s, privileged="a", metrics=["di"])
    assert pick(found, "disparate_impact", "group").verdict == "violated"


def test_thresholds_are_the_users() -> None:
    y, yhat, s = rows(5000, 4500, 10_000)

    def verdict(thresholds):
        found = audit(
            y,
            yhat,
            sensitive_features=s,
            privileged="a",
            metrics=["spd", "di"],
            thresholds=thresholds,
        )
        return [f.verdict for f in found.metrics if f.attribute]

    assert verdict(None) == ["within", "within"]
    assert verdict({"difference": 0.02}) == ["violated", "within"]
    assert verdict({"spd": 0.02, "ratio": 0.95}) == ["violated", "violated"]
    assert verdict({"spd": (-0.2, 0.0)}) == ["within", "within"]
    with pytest.raises(InputError, match="must be a ratio below 1"):
        verdict({"ratio": 1.3})
    with pytest.raises(InputError, match="must be a number"):
        verdict({"spd": "much"})


def test_undefined_says_why() -> None:
    y = np.array([1, 0] * 50 + [0] * 100)
    s = np.repeat(["a", "b"], 100)
    found = audit(y, y, sensitive_features=s, privileged="a", metrics=["eod"])
    row = pick(found, "equal_opportunity_difference", "group")
    assert row.verdict == "undefined"
    assert "no rows with a favourable label" in row.reason
    assert np.isnan(row.value)
    json.dumps(found.to_dict(), allow_nan=False)


def test_missing_attribute_values_are_reported(predictions: pd.DataFrame) -> None:
    race = predictions["race"].mask(predictions["race"] == "c")
    found = audit(
        predictions["y"],
        predictions["yhat"],
        sensitive_features=race,
        favorable="good",
        privileged="a",
    )
    assert "(missing)" in set(found.sizes["group"])
    assert any("no known race" in note for note in found.notes)
    assert {f.comparison for f in found.comparisons} == {"b vs a"}  # listed, never compared


def test_as_data_and_as_page(found) -> None:
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    keys = {"name", "attribute", "value", "low", "high", "verdict", "reason"}
    assert all(keys <= set(row) for row in data["metrics"])
    assert "<table" in found._repr_html_()
    for what in ("metrics", "comparisons", "groups", "sizes"):
        assert len(found.frame(what)) > 0
    fair = audit([0, 1] * 50, [0, 1] * 50, sensitive_features=["a", "a", "b", "b"] * 25)
    for column in ("p_value", "p_audit", "rows_needed"):  # of no row here
        assert fair.frame()[column].dtype == float
    with pytest.raises(InputError, match="what must be"):
        found.frame("nothing")


def test_counts_alone_give_the_same_audit(found, predictions: pd.DataFrame) -> None:
    again = audit_counts(found.counts, intersections=True)
    mine = found.frame()
    mine = mine[[get_metric(name).needs != "scores" for name in mine["name"]]]
    pd.testing.assert_frame_equal(again.frame(), mine.reset_index(drop=True))


def test_consistency_on_request(predictions: pd.DataFrame) -> None:
    found = audit(
        predictions["y"],
        predictions["yhat"],
        sensitive_features=predictions["sex"],
        favorable="good",
        X=predictions[["age", "score"]],
        metrics=["spd", "consistency"],
    )
    assert 0.5 < pick(found, "consistency", None).value <= 1
    with pytest.raises(InputError, match="pass X"):
        audit(
            predictions["y"],
            predictions["yhat"],
            sensitive_features=predictions["sex"],
            favorable="good",
            metrics=["consistency"],
        )


def test_large_files_get_histograms(predictions, tmp_path, monkeypatch) -> None:
    predictions.to_parquet(tmp_path / "p.parquet")
    options = {
        "label": "y", "prediction": "yhat", "score": "score", "sensitive_features": "sex", "favorable": "good",
    }  # fmt: skip
    exact = audit_file(tmp_path / "p.parquet", **options)
    monkeypatch.setattr(sys.modules["isonomy.audit.run"], "EXACT_ROWS", 10)
    binned = audit_file(tmp_path / "p.parquet", **options)
    for name in ("roc_auc", "brier_score", "log_loss"):
        a, b = pick(exact, name, None), pick(binned, name, None)
        assert a.value == pytest.approx(b.value, abs=1e-3)
        assert a.low == pytest.approx(b.low, abs=0.01)
    assert "off by at most" in pick(binned, "roc_auc", None).reason
    assert pick(exact, "roc_auc", None).reason is None


def test_scores_outside_the_unit_interval_only_rank(predictions: pd.DataFrame) -> None:
    found = audit(
        predictions["y"],
        predictions["yhat"],
        sensitive_features=predictions["sex"],
        score=10 * predictions["score"],
        favorable="good",
    )
    assert {"roc_auc"} == {r.name for r in found.groups} - {
        "base_rate", "selection_rate", "true_positive_rate", "false_positive_rate", "precision",
        "false_omission_rate", "accuracy",
    }  # fmt: skip
    assert any("ranked only" in note for note in found.notes)


def test_what_an_audit_cannot_give_is_refused_and_not_left_out() -> None:
    y, yhat, s = rows(50, 40, 100)
    ask = {"sensitive_features": s, "privileged": "a"}
    with pytest.raises(InputError, match="roc_auc needs scores"):
        audit(y, yhat, metrics=["spd", "roc_auc"], **ask)
    with pytest.raises(InputError, match="usual parameters"):
        audit(y, yhat, score=yhat, metrics=["calibration_error(bins=5)"], **ask)
    with pytest.raises(InputError, match="needs pairs"):
        audit(y, yhat, metrics=["flip_rate"], **ask)
    with pytest.raises(InputError, match="needs the features"):
        audit_counts(Counts.from_labels(y, yhat, **ask), metrics=["consistency"])
    with pytest.raises(InputError, match=r"group metric of this audit .*got 'mcc'"):
        audit(y, yhat, thresholds={"mcc": 0.1}, **ask)
    assert pick(audit(y, yhat, score=yhat, metrics=["auc"], **ask), "roc_auc", None).value == 0.5


def test_a_variant_compares_in_its_own_way() -> None:
    y, yhat, s = rows(500, 400, 1000)
    s = np.where(np.arange(s.size) % 1000 < 300, "c", s)  # c: selected throughout
    spread = "statistical_parity_difference(compare=max_min)"
    found = audit(y, yhat, sensitive_features=s, privileged="a", metrics=["spd", spread])
    counts = found.counts
    assert pick(found, "statistical_parity_difference", "group").value == get_metric("spd")(counts)
    row = pick(found, spread, "group")
    assert row.value == get_metric("spd")(counts, compare="max_min")
    assert row.comparison == "largest vs smallest"
    assert {f.name for f in found.comparisons} == {"statistical_parity_difference"}
    with pytest.raises(InputError, match="one number"):
        audit(y, yhat, sensitive_features=s, privileged="a", metrics=["spd(compare=each)"])


def test_score_intervals_stay_within_bounds(predictions: pd.DataFrame) -> None:
    good = (predictions["y"] == "good").to_numpy()
    score = 0.5 * good + 0.4 * predictions["score"]  # ranks without a slip
    found = audit(
        predictions["y"],
        predictions["yhat"],
        sensitive_features=predictions["sex"],
        score=score,
        favorable="good",
    )
    row = pick(found, "roc_auc", None)
    assert row.value == 1.0
    assert row.low <= row.high <= 1.0


def test_scores_with_odd_labels_and_weights() -> None:
    rng = np.random.default_rng(3)
    y, s, score = rng.integers(0, 2, 400), np.repeat(["a", "b"], 200), rng.random(400)
    plain = audit(y, y, sensitive_features=s, score=score)
    frame = audit(pd.DataFrame({"y": y}), y, sensitive_features=s, score=score)
    mixed = np.where(y == 1, y.astype(object), "no")
    words = audit(mixed, mixed, sensitive_features=s, score=score, favorable=1)
    for other in (frame, words):
        assert pick(other, "roc_auc", None).value == pick(plain, "roc_auc", None).value
    # a group that weighs nothing has no score metric, and the others keep theirs
    light = audit(y, y, sensitive_features=s, score=score, sample_weight=(s == "a") * 1.0)
    value = {(r.group, r.name): r.value for r in light.groups}
    assert np.isnan(value["b", "roc_auc"])
    assert value["a", "roc_auc"] == pytest.approx(get_metric("auc")(y[:200], score[:200]))


@pytest.mark.parametrize("what", ["y_pred", "sensitive_features", "sample_weight", "score"])
def test_rows_in_another_order_are_refused(predictions: pd.DataFrame, what: str) -> None:
    given = {
        "y_pred": predictions["yhat"],
        "sensitive_features": predictions[["sex"]],
        "sample_weight": predictions["weight"],
        "score": predictions["score"],
    }
    turned = {**given, what: given[what][::-1]}
    with pytest.raises(InputError, match=f"y_true and {what}.* must have their rows in one order"):
        audit(predictions["y"], favorable="good", **turned)
    # the index is looked at, not used: arrays and other indexes go by position
    elsewhere = {**given, what: given[what].set_axis(range(5000, 7000))}
    same = audit(predictions["y"], favorable="good", **elsewhere).frame()
    pd.testing.assert_frame_equal(same, audit(predictions["y"], favorable="good", **given).frame())


def test_too_few_resamples(predictions: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="at least 100"):
        audit([0, 1], [0, 1], sensitive_features=["a", "b"], resamples=10)


def test_many_attributes_at_once() -> None:
    rng = np.random.default_rng(0)
    n = 20_000
    sensitive = {f"a{k}": rng.integers(0, 10, n) for k in range(5)}  # nearly every row a group
    y, yhat = rng.integers(0, 2, n), rng.integers(0, 2, n)
    found = audit(y, yhat, sensitive_features=sensitive, metrics=["spd"])
    assert [f.attribute for f in found.metrics if f.attribute] == list(sensitive)
    drawn = ["between_group_theil_index"]
    with pytest.raises(InputError, match="too many to resample"):
        audit(y, yhat, sensitive_features=sensitive, metrics=drawn, intersections=True)


def test_a_gate_sees_single_groups_too() -> None:
    # merged, the unprivileged are where the privileged are; one of them is far below
    n = 2000
    yhat = np.r_[np.arange(n) % 2, np.ones(n), np.zeros(n)].astype(int)
    s = np.repeat(["a", "b", "c"], n)
    y = np.arange(3 * n) % 2
    found = audit(y, yhat, sensitive_features=s, privileged="a", metrics=["spd"])
    assert pick(found, "statistical_parity_difference", "group").verdict == "within"
    assert {f.comparison for f in found.violated("spd")} == {"b vs a", "c vs a"}


def test_groups_of_weight_zero_are_named() -> None:
    y = np.array([0, 1] * 100)
    s = np.repeat(["a", "b"], 100)
    found = audit(
        y, y, sensitive_features=s, privileged="a", metrics=["spd"],
        sample_weight=np.repeat([1.0, 0.0], 100),
    )  # fmt: skip
    assert "weight 0" in pick(found, "statistical_parity_difference", "group").reason


# ------------------------------------------------------------------ stray rows


def strays(more: dict[str, int]):
    """Make two large groups that differ, and small ones in which nobody is selected."""
    s = ["a"] * 1000 + ["b"] * 1000
    yhat = [1, 0] * 500 + [1, 0, 0, 0] * 250
    for name, n in more.items():
        s += [name] * n
        yhat += [0] * n
    return np.arange(len(s)) % 2, np.array(yhat), np.array(s, dtype=object)


def test_stray_rows_do_not_silence_a_gate() -> None:
    y, yhat, s = strays({"c": 4, "Unknown": 35})
    s[:35] = None
    found = audit(y, yhat, sensitive_features=s, metrics=["spd"])
    row = pick(found, "statistical_parity_difference", "group")
    assert row.verdict == "violated"
    assert row.value == pytest.approx(0.25, abs=0.02)
    assert "not compared" in row.reason
    assert found.violated() == (row,)
    compared = found.sizes.set_index("group")["compared"]
    assert compared.to_dict() == {
        "a": True,
        "b": True,
        "c": False,
        "Unknown": False,
        "(missing)": False,
    }
    assert any("70 rows have no known group" in n for n in found.notes)
    assert any("Fewer than 30 rows in group: 'c'" in n and "not compared" in n for n in found.notes)


def test_small_groups_and_unknown_ones_are_not_compared_with_the_privileged() -> None:
    y, yhat, s = strays({"c": 4, "Unknown": 100, "d": 100})
    found = audit(y, yhat, sensitive_features=s, privileged="a", metrics=["spd"])
    assert {f.comparison for f in found.comparisons} == {"b vs a", "d vs a"}


def test_names_that_may_be_one_group_are_pointed_out() -> None:
    y, yhat, s = strays({"B ": 40})
    found = audit(y, yhat, sensitive_features=s, metrics=["spd"])
    assert any("'B ' and 'b' are separate groups of group" in note for note in found.notes)


def test_two_tiny_groups_alone_are_too_little_evidence() -> None:
    y, yhat, s = rows(5, 1, 10)
    row = pick(
        audit(y, yhat, sensitive_features=s, metrics=["spd"]),
        "statistical_parity_difference",
        "group",
    )
    assert row.verdict == "insufficient evidence"
    assert row.rows == 10
    assert row.rows_needed >= 30


# ------------------------------------------------------------------ what the level covers


def test_a_gate_on_any_metric_asks_for_more_than_one_verdict() -> None:
    y, yhat, s = rows(430, 285, 1000)  # a gap of 0.145: violated alone
    alone = audit(y, yhat, sensitive_features=s, privileged="a", metrics=["spd"])
    row = pick(alone, "statistical_parity_difference", "group")
    assert row.verdict == "violated"
    assert row.p_value == row.p_audit < 0.05
    assert alone.violated() == (row,)
    many = audit(y, yhat, sensitive_features=s, privileged="a")
    row = pick(many, "statistical_parity_difference", "group")
    assert row.verdict == "violated"
    assert row.p_audit > row.p_value
    assert [f.name for f in many.violated("spd")] == ["statistical_parity_difference"]
    assert all(f.p_audit <= 0.05 for f in many.violated())
    assert any("(Holm)" in note for note in many.notes)


def test_insufficient_evidence_says_how_many_rows_would_decide() -> None:
    y, yhat, s = rows(100, 70, 200)  # 0.15, too few to say that it is above 0.1
    found = audit(y, yhat, sensitive_features=s, metrics=["spd"])
    row = pick(found, "statistical_parity_difference", "group")
    assert row.verdict == "insufficient evidence"
    assert f"some {row.rows_more:,} more rows like these" in row.reason
    assert row.rows_more == pytest.approx(2 * (row.rows_needed - 200), abs=2)
    assert f"statistical_parity_difference {row.rows_more:,}" in found.would_decide("group")[0]
    assert f"some {row.rows_more:,} more rows like these" in found.to_html()
    far = replace(row, rows_more=386_744_157)
    said = replace(found, metrics=(row, far)).to_html()
    assert f"some {row.rows_more:,} to more than 1,000,000 more rows like these" in said
    times = int(np.ceil(row.rows_needed / 200 * 1.1))
    y, yhat, s = rows(100 * times, 70 * times, 200 * times)
    row = pick(
        audit(y, yhat, sensitive_features=s, metrics=["spd"]),
        "statistical_parity_difference",
        "group",
    )
    assert row.verdict == "violated"


def test_a_threshold_no_gap_could_pass_is_pointed_out() -> None:
    y, yhat, s = rows(300, 100, 10_000)  # 3 % against 1 %: a third, and within 0.1
    found = audit(y, yhat, sensitive_features=s, privileged="a", metrics=["spd", "di"])
    parity = pick(found, "statistical_parity_difference", "group")
    assert parity.verdict == "within"
    assert "read a ratio" in parity.reason
    assert any(
        "The threshold says nothing about 'statistical_parity_difference'" in note
        for note in found.notes
    )
    assert pick(found, "disparate_impact", "group").verdict == "violated"


def test_small_groups_get_a_partially_pooled_rate_beside_their_own() -> None:
    y, yhat, s = strays({"c": 6, "d": 400})
    found = audit(y, yhat, sensitive_features=s, metrics=["spd"])
    (row,) = [r for r in found.groups if (r.group, r.name) == ("c", "selection_rate")]
    assert row.value == 0
    assert 0 < row.pooled_low < row.pooled < row.pooled_high
    (large,) = [r for r in found.groups if (r.group, r.name) == ("a", "selection_rate")]
    assert large.pooled == pytest.approx(large.value, abs=0.01)


def test_weights_that_go_with_the_outcome_count_for_less() -> None:
    y, yhat, s = rows(500, 400, 1000)
    heavy = np.where(yhat == 1, 10.0, 1.0)
    level, leaning = (
        pick(
            audit(y, yhat, sensitive_features=s, sample_weight=w, privileged="a", metrics=["spd"]),
            "statistical_parity_difference",
            "group",
        )
        for w in (np.ones(2000), heavy)
    )
    assert leaning.high - leaning.low > 0
    assert level.low < level.value < level.high


def test_ten_thousand_groups_are_audited_in_seconds() -> None:
    import time

    rng = np.random.default_rng(0)
    n = rng.multinomial(500, [0.3, 0.2, 0.2, 0.3], 10_000).reshape(-1, 2, 2).astype(float)
    groups = tuple((f"g{k}",) for k in range(10_000))
    for privileged in ({}, {"g": ("g0",)}):
        counts = Counts(n, ("g",), groups, (0, 1), (1,), privileged)
        start = time.process_time()
        audit_counts(counts)
        assert time.process_time() - start < 20  # pairs of groups would take hours


def test_calibration_by_group() -> None:
    rng = np.random.default_rng(1)
    s = np.repeat(["large", "small", "off"], [4000, 100, 1500])
    score = rng.beta(2, 3, s.size)
    y = (rng.random(s.size) < np.where(s == "off", score**2, score)).astype(int)
    found = audit(y, y, sensitive_features=s, score=score)
    rows = {(r.group, r.name): r for r in found.groups}
    for name, ideal in (
        ("corrected_calibration_error", 0), ("calibration_slope", 1), ("calibration_intercept", 0),
        ("spiegelhalter_z", 0),
    ):  # fmt: skip
        for group in ("large", "small"):
            assert rows[group, name].low <= ideal <= rows[group, name].high
        assert not rows["off", name].low <= ideal <= rows["off", name].high
        exact = get_metric(name)(y[s == "off"], score[s == "off"])
        assert rows["off", name].value == pytest.approx(exact, abs=1e-12)
    small = rows["small", "calibration_error"]
    assert small.low == 0 < rows["small", "corrected_calibration_error"].value < small.value
    rounded = audit(y, y, sensitive_features=s, score=score.round())
    slopes = [r for r in rounded.groups if r.name == "calibration_slope"]
    assert {r.reason for r in slopes} == {"scores of 0 or 1 have no logit"}


def test_scores_of_the_other_label_are_pointed_out() -> None:
    y, yhat, s = rows(5000, 4500, 10_000)
    score = np.where(y == 1, 0.7, 0.3)

    def said(score):
        return [n for n in audit(y, yhat, sensitive_features=s, score=score).notes if "score" in n]

    assert said(score) == []
    (note,) = said(1 - score)
    assert "the wrong way round (AUC 0.000)" in note
    assert "the probability of the favourable label, 1;" in note


def test_predictions_that_are_turned_round_are_asked_about_first(tmp_path) -> None:
    y, _, s = rows(500, 450, 1000)
    yhat = np.where(np.arange(len(y)) % 5, y, 1 - y)  # four fifths are right
    turned = audit(y, 1 - yhat, sensitive_features=s, resamples=100).notes[0]
    assert turned.startswith("The predictions are wrong more often than right (balanced accuracy")
    assert not any("turned" in n or "turn" in n for n in audit(y, yhat, sensitive_features=s).notes)
    risk = pd.DataFrame({"again": y, "risk": np.where(yhat == 1, 8, 2), "s": s})
    risk.to_csv(tmp_path / "risk.csv", index=False)
    columns = {"label": "again", "sensitive_features": "s", "favorable": 0, "resamples": 100}
    wrong = audit_file(tmp_path / "risk.csv", prediction="risk>4", **columns)
    assert "'score>=0.5', says 0 from 0.5 on" in wrong.notes[0]
    right = audit_file(tmp_path / "risk.csv", prediction="risk<=4", **columns)
    assert not any("wrong more often" in n for n in right.notes)
    expected = audit(y, yhat, sensitive_features={"s": s}, favorable=0, resamples=100)
    pd.testing.assert_frame_equal(right.frame(), expected.frame())


def test_a_label_that_may_be_missing_is_asked_about() -> None:
    y = np.array(["yes", "no", "NA", "yes"] * 50)
    found = audit(y, y, sensitive_features=["a", "b"] * 100, favorable="yes")
    assert any(n.startswith("The label of 50 rows is 'NA', which counts as") for n in found.notes)


def test_nothing_is_said_of_violations_where_there_are_none() -> None:
    y = np.array([0, 1] * 200)
    s = np.array(["a", "a", "b", "b"] * 100, dtype=object)
    s[0] = None
    notes = audit(y, y, sensitive_features={"sex": s}).notes
    assert notes[0].endswith("all its groups together.")
    assert (
        "1 row has no known sex ('(missing)'): it is listed, and compared with no group." in notes
    )


def test_what_is_no_column_is_refused_with_what_to_pass(predictions: pd.DataFrame) -> None:
    y, sex = predictions["y"], predictions["sex"]
    both = np.column_stack([1 - predictions["score"], predictions["score"]])
    with pytest.raises(InputError, match=r"shape \(\d+, 2\).*predict_proba\(X\)\[:, list"):
        audit(y, y, sensitive_features=sex, score=both, favorable="good")
    with pytest.raises(InputError, match=r"a value for every row; got 'sex'.*X\['sex'\]"):
        audit(y, y, sensitive_features="sex", favorable="good")


def test_groups_behind_too_few_rows_are_named_where_the_gap_is() -> None:
    """Equalized odds leaves out a group that equal opportunity compares, and is the smaller."""
    s = np.repeat(["a", "b", "few", None], [400, 400, 110, 40])
    y = np.concatenate([np.arange(800) % 2, np.arange(110) >= 10, np.arange(40) % 2]).astype(int)
    yhat = np.where(s == "few", 0, y)
    found = audit(y, yhat, sensitive_features={"group": s})
    odds = pick(found, "equalized_odds_difference", "group")
    assert odds.value < pick(found, "equal_opportunity_difference", "group").value
    assert odds.left_out == ("few",)  # not the rows without a group, which a note counts
    (sentence,) = found.left_out("group")
    assert sentence.startswith("Fewer than 30 rows are behind a rate of 'few', left out of ")
    assert "equalized_odds_difference" in sentence
    assert "equal_opportunity_difference" not in sentence
    assert "smaller" in sentence
    assert "left out of" in found.to_html(title="p.csv")
    screen = Console(width=80, file=io.StringIO())
    show(found, screen, "p.csv")
    assert "left out of" in screen.file.getvalue()


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(("label", "favorable"), [("y", "good"), ("hours>=30", None)])
def test_a_score_and_a_cut_stand_for_predictions(
    label: str, favorable: str | None, exact: bool, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(4)
    score, n = rng.random(600).round(3), 600
    table = pd.DataFrame({"sex": np.resize(["f", "m"], n), "p": score})
    table["hours"] = 60 * np.where(rng.random(n) < score, 1.0, 0.2)
    table["y"] = np.where(table["hours"] >= 30, "good", "bad")
    table.to_csv(tmp_path / "p.csv", index=False)
    monkeypatch.setattr("isonomy.audit.run.EXACT_ROWS", 10**6 if exact else 100)
    options = {"sensitive_features": "sex", "score": "p", "favorable": favorable, "resamples": 100}
    cut = audit_file(tmp_path / "p.csv", label=label, prediction="p >= 0.5", **options)
    table.assign(yhat=np.where(score >= 0.5, "good", "bad")).to_csv(tmp_path / "q.csv", index=False)
    plain = audit_file(
        tmp_path / "q.csv", label="y", prediction="yhat", **{**options, "favorable": "good"}
    )
    pd.testing.assert_frame_equal(cut.frame(), plain.frame())
    assert [r.value for r in cut.groups] == [r.value for r in plain.groups]
