"""A scan reads its columns, asks about its rates, and says what it found."""

import json

import numpy as np
import pandas as pd
import pytest

import isonomy
from isonomy.audit import scan_counts, scan_file
from isonomy.audit.scanned import SCANNED, quarters_of_file, rates_of
from isonomy.errors import InputError, UnknownName
from isonomy.metrics import Counts


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """4,000 people; women of b are refused more often, and their labels are lower at like scores."""
    rng = np.random.default_rng(4)
    n = 4000
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "race": rng.choice(["a", "b", "Unknown"], n, p=[0.5, 0.4, 0.1]),
            "age": rng.integers(18, 80, n),
            "one": 1,
        }
    )
    score = rng.random(n)
    women_of_b = ((frame["sex"] == "F") & (frame["race"] == "b")).to_numpy()
    y = rng.random(n) < np.where(women_of_b, 0.6 * score, score)
    frame["score"] = score
    frame["label"] = np.where(y, "good", "bad")
    frame["decided"] = np.where(
        (score > 0.5) & ~(women_of_b & (rng.random(n) < 0.4)), "good", "bad"
    )
    return frame


def scanned(people: pd.DataFrame, **options) -> isonomy.Scan:
    return isonomy.scan(
        people["label"], people["decided"], sensitive_features=people[["sex", "race", "age", "one"]],
        favorable="good", **options,
    )  # fmt: skip


def test_it_finds_the_group_by_the_rates_that_depart(people: pd.DataFrame) -> None:
    found = scanned(people)
    by_rate = {f.rate: f for f in found.findings if f.group == "sex = F & race = b"}
    assert {"selection_rate", "false_negative_rate"} <= by_rate.keys()
    inside = (people["sex"] == "F") & (people["race"] == "b")
    f = by_rate["selection_rate"]
    selected = people["decided"] == "good"
    assert f.rows == inside.sum()
    assert f.value == pytest.approx(selected[inside].mean())
    assert f.others == pytest.approx(selected[~inside].mean())
    assert f.low < f.difference < f.high < 0
    assert f.p_value == pytest.approx(5 / 1000)  # never so far in 999 permutations, of five rates
    # intervals for all groups together are wider than one by itself
    assert f.high - f.low > 2 * 1.96 * np.sqrt(2 * 0.25 / inside.sum())
    assert found.findings[0].p_value <= found.findings[-1].p_value
    assert set(found.searched) == set(SCANNED)


def test_errors_are_compared_among_the_rows_they_are_of(people: pd.DataFrame) -> None:
    f = next(f for f in scanned(people).findings if f.rate == "false_negative_rate")
    inside = np.all([people[c] == v for c, v in f.conditions], axis=0) & (people["label"] == "good")
    assert f.rows == inside.sum()
    assert f.value == pytest.approx((people["decided"] == "bad")[inside].mean())


def test_calibration_is_compared_at_like_scores(people: pd.DataFrame) -> None:
    found = scanned(people, score=people["score"], rates=["calibration"])
    f = found.findings[0]
    assert f.group == "sex = F & race = b"
    assert f.difference == pytest.approx(-0.2, abs=0.05)
    assert f.others == pytest.approx(f.value - f.difference)


def test_numbers_are_cut_into_quarters_and_unknown_values_are_no_group(
    people: pd.DataFrame,
) -> None:
    found = scanned(people, rates=["selection_rate"])
    values = found.settings["values"]
    assert len(values["age"]) == 4
    assert values["race"] == ["a", "b"]
    assert any("'one' has one value" in note for note in found.notes)
    cut = scanned(people, rates=["selection_rate"], bins={"age": [30]})
    assert cut.settings["values"]["age"] == ["under 30", "30 and over"]
    # 2 + 2 + 4 + 1 single values, pairs and triples, of which those with "one" repeat the others
    assert found.searched["selection_rate"] == 2 * (2 + 2 + 4 + 4 + 8 + 8) + 1 - 1 + 16


def test_a_half_confirms(people: pd.DataFrame) -> None:
    found = scanned(people, confirm=True, rates=["selection_rate"])
    f = found.findings[0]
    assert f.confirmed is True
    assert f.p_confirm is not None
    assert f.p_confirm <= 0.05
    inside = ((people["sex"] == "F") & (people["race"] == "b")).sum()
    assert f.rows + (f.rows_confirm or 0) == inside
    assert "confirmed on the held-out half" in f.sentence()
    assert found.headline().endswith("1 of 1 confirmed on the held-out half.")


def test_what_is_not_there_is_not_confirmed() -> None:
    rng = np.random.default_rng(1)
    groups = {"g": rng.integers(0, 8, 3000), "h": rng.integers(0, 4, 3000)}
    found = isonomy.scan(
        None, rng.integers(0, 2, 3000), sensitive_features=groups, confirm=True, confidence=0.4,
        random_state=5,
    )  # fmt: skip
    assert found.findings  # at a level of 60 per cent chance alone lists some
    assert not any((f.p_confirm or 1) <= 0.05 for f in found.findings)


def test_without_labels_only_selection_is_asked_about(people: pd.DataFrame) -> None:
    found = isonomy.scan(
        None, people["decided"], sensitive_features=people["sex"], favorable="good"
    )
    assert list(found.searched) == ["selection_rate"]
    with pytest.raises(InputError, match="error_rate needs labels"):
        isonomy.scan(
            None, people["decided"], sensitive_features=people["sex"], rates=["error_rate"],
            favorable="good",
        )  # fmt: skip


def test_counts_and_files_say_what_rows_say(people: pd.DataFrame, tmp_path) -> None:
    file = tmp_path / "people.csv"
    people.to_csv(file, index=False)
    rows = isonomy.scan(
        people["label"], people["decided"], sensitive_features=people[["sex", "race"]],
        favorable="good",
    )  # fmt: skip
    counts = Counts.from_frame(
        people,
        label="label",
        prediction="decided",
        sensitive_features=["sex", "race"],
        favorable="good",
    )
    read = scan_file(
        file,
        label="label",
        prediction="decided",
        sensitive_features=["sex", "race"],
        favorable="good",
    )
    assert scan_counts(counts).frame().equals(rows.frame())
    assert read.frame().equals(rows.frame())
    cut = scan_file(
        file, label="label", prediction="score>=0.5", sensitive_features=["sex", "race"],
        favorable="good",
    )  # fmt: skip
    by_hand = isonomy.scan(
        people["label"], np.where(people["score"] >= 0.5, "good", "bad"),
        sensitive_features=people[["sex", "race"]], favorable="good",
    )  # fmt: skip
    assert cut.frame("farthest").equals(by_hand.frame("farthest"))


def test_many_columns_and_rows_in_any_order_are_no_matter() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"c{j}": rng.integers(0, 5, 2000) for j in range(14)})
    selected = rng.integers(0, 2, 2000)
    found = isonomy.scan(None, selected, sensitive_features=frame, depth=2, permutations=99)
    assert (
        found.searched["selection_rate"] == 14 * 5 + 91 * 25
    )  # 5^14 combinations, none of them held
    order = rng.permutation(2000)
    again = isonomy.scan(
        None, selected[order], sensitive_features=frame.iloc[order].to_dict("list"), depth=2,
        permutations=99,
    )  # fmt: skip
    assert again.to_dict() == found.to_dict()


def test_the_quarters_of_a_file_are_those_of_its_rows(people: pd.DataFrame, tmp_path) -> None:
    file = tmp_path / "people.csv"
    people.to_csv(file, index=False)
    cuts = quarters_of_file(file, ["sex", "age", "one"], bins={})
    assert list(cuts) == ["age"]
    assert len(cuts["age"]) == 3
    assert quarters_of_file(file, ["age"], bins={"age": [30.0]}) == {"age": [30.0]}


def test_rates_come_from_the_gaps_that_are_asked_about() -> None:
    assert rates_of(["spd", "eod"], scored=True) == (
        "selection_rate", "true_positive_rate", "calibration",
    )  # fmt: skip
    assert rates_of(["accuracy"], scored=False) is None


def test_it_is_written_as_data_and_as_a_page(people: pd.DataFrame) -> None:
    found = scanned(people, confirm=True)
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["findings"][0]["confirmed"] is True
    assert data["settings"]["permutations"] == 999
    page = found.to_html(title="people")
    assert "sex = F &amp; race = b" in page
    assert "confirmed" in page
    assert "hypothes" in found.to_markdown()
    assert repr(found).startswith("Scan(")


def test_nothing_found_is_said(people: pd.DataFrame) -> None:
    found = isonomy.scan(
        None, np.arange(400) % 2, sensitive_features={"g": np.repeat(["a", "b"], 200)}
    )
    assert found.findings == ()
    assert found.headline().startswith("No group is shown to depart")
    assert len(found.farthest) == 1
    assert "within chance" in found.to_markdown()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rates": ["calibration"]}, "calibration needs scores"),
        ({"rates": ["selection_rat"]}, "did you mean 'selection_rate'"),
        ({"rates": []}, "At least one rate"),
        ({"depth": 0}, "depth must be at least 1"),
        ({"permutations": 10}, "permutations must be at least 99"),
        ({"permutations": 200, "confidence": 0.999}, "permutations must be at least 4999"),
        ({"confidence": 95}, "confidence must lie between 0 and 1"),
        ({"bins": {"agee": [3]}}, "did you mean 'age'"),
    ],
)
def test_mistakes_are_said_in_a_sentence(people: pd.DataFrame, options, said: str) -> None:
    with pytest.raises((InputError, UnknownName), match=said):
        scanned(people, **options)


def test_weights_are_refused() -> None:
    counts = Counts.from_labels(
        [1, 0] * 50, [1, 0] * 50, sensitive_features=["a", "b"] * 50, sample_weight=np.ones(100)
    )
    with pytest.raises(InputError, match="must have no weights"):
        scan_counts(counts)
