"""Audits without a label: arrays and files alike, what is refused, and what a result holds."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import isonomy
from isonomy.audit import audit_selections, audit_selections_file
from isonomy.errors import InputError


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    n = 1500
    frame = pd.DataFrame(
        {
            "race": rng.choice(["White", "Black", "Asian"], n, p=[0.6, 0.3, 0.1]),
            "sex": rng.choice(["F", "M"], n),
            "job": rng.choice(["clerk", "driver"], n),
            "score": rng.normal(50, 10, n).round(2),
            "weight": rng.integers(1, 4, n),
            "age": rng.integers(18, 70, n),
        }
    )
    frame.loc[frame["race"] == "Black", "score"] -= 4
    frame["selected"] = (frame["score"] >= 53).astype(int)
    frame.loc[:9, "race"] = None
    return frame


TABLES = ("metrics", "comparisons", "groups", "sizes", "conditional", "ratios", "stratified", "scores", "cutoffs")  # fmt: skip


@pytest.mark.parametrize("weight", [None, "weight"])
def test_a_file_is_audited_as_its_rows_are(
    people: pd.DataFrame, tmp_path: Path, weight: str | None
) -> None:
    people.to_parquet(tmp_path / "p.parquet")
    options: dict = {"reference": {"race": "White"}, "intersections": True}
    rows = audit_selections(
        people["selected"],
        sensitive_features=people[["race", "sex"]],
        score=people["score"],
        strata=people["job"],
        sample_weight=None if weight is None else people[weight],
        **options,
    )
    file = audit_selections_file(
        tmp_path / "p.parquet",
        prediction="selected",
        sensitive_features=["race", "sex"],
        score="score",
        strata="job",
        weight=weight,
        **options,
    )
    for name in TABLES:
        pd.testing.assert_frame_equal(rows.frame(name), file.frame(name), rtol=1e-9)
    assert set(rows.ratios["attribute"]) == {"race", "sex", "race & sex"}
    assert rows.ratios["fisher_mid_p"].isna().all() == (weight is not None)
    assert isinstance(rows, isonomy.Audit)


def test_scores_cut_in_two_are_selections(people: pd.DataFrame, tmp_path: Path) -> None:
    people.to_csv(tmp_path / "p.csv", index=False)
    rows = audit_selections(
        people["score"] >= 53, sensitive_features=people["race"], favorable=True
    )
    file = audit_selections_file(
        tmp_path / "p.csv", prediction="score>=53", sensitive_features="race", score="score"
    )
    pd.testing.assert_frame_equal(rows.ratios, file.ratios)
    assert len(file.cutoffs) == 30
    assert "score" not in file.unexamined


def test_bands_of_a_file(people: pd.DataFrame, tmp_path: Path) -> None:
    people.to_csv(tmp_path / "p.csv", index=False)
    found = audit_selections_file(
        tmp_path / "p.csv", prediction="selected", sensitive_features="age", score="score",
        bins={"age": [40]}, reference={"age": "under 40"},
    )  # fmt: skip
    assert found.ratios["group"].tolist() == ["under 40", "40 and over"] * 2
    assert found.scores["group"].tolist() == ["40 and over"]


def test_everything_becomes_plain_data(people: pd.DataFrame) -> None:
    found = audit_selections(
        people["selected"], sensitive_features=people[["race"]], score=people["score"]
    )
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert {"ratios", "stratified", "scores", "cutoffs"} <= json.loads(text).keys()
    assert "<table" in found._repr_html_()
    assert repr(found).startswith("SelectionAudit(1,500 rows by race")
    assert any("no labels" in note for note in found.notes)
    assert any("10 rows have no known race" in note for note in found.notes)


def test_gates_ask_it_as_any_audit() -> None:
    selected = [1] * 60 + [0] * 40 + [1] * 20 + [0] * 80
    found = audit_selections(selected, sensitive_features={"g": ["a"] * 100 + ["b"] * 100})
    assert {f.name for f in found.violated()} == {
        "statistical_parity_difference",
        "disparate_impact",
    }
    wide = audit_selections(
        selected, sensitive_features={"g": ["a"] * 100 + ["b"] * 100}, thresholds={"ratio": 0.1}
    )
    assert wide.ratios["verdict"].tolist() == ["within", "within"]


def test_other_metrics_of_selections_and_none_of_labels() -> None:
    selected, groups = [1, 0] * 100, {"g": ["a", "a", "b", "b"] * 50}
    found = audit_selections(
        selected, sensitive_features=groups, metrics=["shortfall", "odds_ratio"]
    )
    assert [f.name for f in found.metrics] == ["selection_shortfall", "selection_odds_ratio"]
    assert {f.verdict for f in found.metrics} == {None}
    with pytest.raises(InputError, match=r"equal_opportunity_difference needs true labels"):
        audit_selections(selected, sensitive_features=groups, metrics=["eod"])
    with pytest.raises(InputError, match="needs true labels"):
        audit_selections(selected, sensitive_features=groups, metrics=["roc_auc"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"selected": [1, 1, 1]}, "Predictions must hold at least two classes"),
        ({"selected": [1, 0, None]}, "selected must be known for every row"),
        ({"selected": [1, 0, 1], "score": [0.1, 0.2]}, "score"),
        ({"selected": [1, 0, 1], "reference": "z"}, "value of g"),
        ({"selected": ["yes", "no", "no"]}, "favo"),
    ],
)
def test_mistakes_are_one_sentence(given: dict, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        audit_selections(**{"sensitive_features": {"g": ["a", "b", "a"]}, **given})
    assert "y_true" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_bare_reference_needs_one_attribute() -> None:
    with pytest.raises(InputError, match="reference must map"):
        audit_selections([1, 0], sensitive_features={"a": [1, 2], "b": [1, 2]}, reference=1)


def test_scores_of_a_file_must_be_numbers(tmp_path: Path) -> None:
    for scores in (("high", "low"), ("1", "")):
        path = tmp_path / "p.csv"
        path.write_text(f"g,s,y\na,{scores[0]},1\nb,{scores[1]},0\n")
        with pytest.raises(InputError, match="Scores must be"):
            audit_selections_file(path, prediction="y", sensitive_features="g", score="s")


def test_ten_thousand_groups() -> None:
    rng = np.random.default_rng(1)
    n = 200_000
    found = audit_selections(
        rng.integers(0, 2, n),
        sensitive_features={"a": rng.integers(0, 100, n), "b": rng.integers(0, 100, n)},
        score=rng.random(n),
        intersections=True,
        resamples=100,
    )
    assert len(found.ratios) == 10_200
    assert found.ratios.loc[found.ratios["low"].notna(), "ratio"].max() == 1


def test_only_selection_rates_are_told_as_in_fairlearn(people: pd.DataFrame) -> None:
    found = audit_selections(people.selected, sensitive_features=people[["race"]])
    rates = found.frame("groups").query("group != '(missing)'")["value"]
    assert found.difference().to_dict() == pytest.approx(
        {"selection_rate": rates.max() - rates.min()}
    )
    for told in (found.ratio(), found.group_min(), found.group_max(), found.ratio("to_overall")):
        assert told.index.tolist() == ["selection_rate"]
    assert "| all rows |" not in found.to_model_card()


def test_a_table_that_is_not_there(people: pd.DataFrame) -> None:
    found = audit_selections(people.selected, sensitive_features=people[["race"]])
    with pytest.raises(InputError, match="did you mean 'ratios'"):
        found.frame("ratio")  # type: ignore[call-overload]
