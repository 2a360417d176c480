"""The page of an audit of selections: its words follow the sign of the numbers."""

from isonomy import report
from isonomy.audit import audit_selections
from tests.results import selections


def test_the_verdict_counts_the_ratios_beside_best_and_reference() -> None:
    found = selections()
    tiles = {t["label"]: t["value"] for t in report.summarize(found)["verdict"]["tiles"]}
    gaps = [f.verdict for f in (*found.metrics, *found.comparisons) if f.verdict]
    words = [*gaps, *found.ratios["verdict"].dropna()]
    assert tiles == {word: str(words.count(word)) for word in dict.fromkeys(words)}


def test_a_ratio_that_is_violated_by_itself_is_the_headline() -> None:
    """Beside the reference nothing is shown; the best of the others is far from the third."""
    hired = [1] * 30 + [0] * 10 + [1] * 900 + [0] * 100 + [1] * 400 + [0] * 600
    race = ["a"] * 40 + ["b"] * 1000 + ["c"] * 1000
    found = audit_selections(hired, sensitive_features=race, reference="a", metrics=["di"])
    shown = report.summarize(found)["verdict"]
    assert (found.ratios["verdict"] == "violated").any()
    assert shown["tone"] == "violated"
    assert shown["headline"].startswith("Groups are treated differently")


def test_a_group_selected_more_often_is_not_short_of_people() -> None:
    hired = [1] * 600 + [0] * 400 + [1] * 300 + [0] * 700
    found = audit_selections(hired, sensitive_features=["a"] * 1000 + ["b"] * 1000, reference="b")
    said = " ".join(report.summarize(found)["verdict"]["sentences"])
    assert "selected at 0.50 of the rate of a" in said
    assert "300 people fewer than at that rate" in said
    assert "300 people more than at that rate" in said
    assert "-300" not in said


def test_a_reference_that_is_the_best_group_is_spoken_of_once() -> None:
    hired = [1] * 600 + [0] * 400 + [1] * 300 + [0] * 700
    found = audit_selections(hired, sensitive_features=["a"] * 1000 + ["b"] * 1000, reference="a")
    assert (found.ratios["verdict"] == "violated").sum() == 2
    said = report.summarize(found)["verdict"]["sentences"]
    assert sum("b (group): selected at 0.50 of the rate of a" in s for s in said) == 1


def test_the_lowest_ratios_are_spoken_of_and_the_others_counted() -> None:
    rates = {"best": 600, **{f"g{k}": 100 + 20 * k for k in range(7)}}
    hired = [h for n in rates.values() for h in (*[1] * n, *[0] * (1000 - n))]
    race = [name for name in rates for _ in range(1000)]
    said = report.summarize(audit_selections(hired, sensitive_features={"race": race}))["verdict"]
    lowest = [s for s in said["sentences"] if "of the rate of best" in s]
    assert [s[:2] for s in lowest] == ["g0", "g1", "g2", "g3"]
    assert "3 more such ratios: see the numbers." in said["sentences"]
