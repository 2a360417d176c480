"""The four-fifths rule, on the counts of Ricci v. DeStefano and on cases worked out by hand."""

import math
from datetime import date

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from isonomy.errors import InputError
from isonomy.templates import TEMPLATES, Document, fill_four_fifths

# Promotion examinations of New Haven, 2003: position, race, candidates, those who passed (70 or more).
RICCI = [
    ("Captain", "W", 25, 16), ("Captain", "B", 8, 3), ("Captain", "H", 8, 3),
    ("Lieutenant", "W", 43, 25), ("Lieutenant", "B", 19, 6), ("Lieutenant", "H", 15, 3),
]  # fmt: skip


def candidates(cells=RICCI) -> pd.DataFrame:
    rows = [
        (position, race, hit)
        for position, race, n, s in cells
        for hit in ["yes"] * s + ["no"] * (n - s)
    ]
    return pd.DataFrame(rows, columns=["position", "race", "passed"])


def fill(frame: pd.DataFrame, **options) -> Document:
    given = {"sensitive_features": "race", "prediction": "passed", "favorable": "yes"}
    return fill_four_fifths(frame, **given | options)


def test_the_rates_of_ricci() -> None:
    frame = fill(candidates()).frames["race"].set_index("group")
    assert frame["selected"].to_dict() == {"B": 9, "H": 6, "W": 41}
    assert frame["ratio"].round(4).to_dict() == {
        "B": round(9 / 27 / (41 / 68), 4), "H": round(6 / 23 / (41 / 68), 4), "W": 1.0,
    }  # fmt: skip
    assert frame["shortfall"]["B"] == pytest.approx(27 * 41 / 68 - 9)
    assert frame["shortfall_combined"]["B"] == pytest.approx(27 * 50 / 95 - 9)


def test_significance_against_scipy() -> None:
    frame = fill(candidates()).frames["race"].set_index("group")
    for group, n, x in (("B", 27, 9), ("H", 23, 6)):
        law = stats.hypergeom(n + 68, x + 41, n)
        assert frame["z"][group] == pytest.approx((x - law.mean()) / law.std())
        k = np.arange(n + 1)
        at = law.pmf(k)
        seen = law.pmf(x)
        tied = np.isclose(at, seen, rtol=1e-7)
        mid = at[(at < seen) & ~tied].sum() + at[tied].sum() / 2
        assert frame["p"][group] == pytest.approx(mid)
        exact = stats.fisher_exact([[x, n - x], [41, 27]]).pvalue
        assert frame["p"][group] == pytest.approx(exact - at[tied].sum() / 2)


def test_two_more_people() -> None:
    """Of 27 the ratio needs ceil(0.8 * 41 / 68 * 27) = 14 passes: 5 more than 9, so 2 do not suffice."""
    frame = fill(candidates()).frames["race"].set_index("group")
    assert frame["more_needed"].dropna().to_dict() == {"B": 5, "H": 6}
    assert frame["still_below"].to_dict() == {"B": True, "H": True, "W": False}
    assert math.ceil(0.8 * 41 / 68 * 27) - 9 == 5


def test_strata_are_compared_by_mantel_haenszel() -> None:
    document = fill(candidates(), strata="position")
    table = document.sections[0].tables[-1]
    assert table.caption == "Within position: against W"
    black = table.rows[0]
    # sum of a d / N over sum of b c / N, by hand
    top = 3 * 9 / 33 + 6 * 18 / 62
    bottom = 5 * 16 / 33 + 13 * 25 / 62
    assert black[1].value == pytest.approx(top / bottom)
    expected = 8 * 19 / 33 + 19 * 31 / 62
    variance = 8 * 25 * 19 * 14 / (33**2 * 32) + 19 * 43 * 31 * 31 / (62**2 * 61)
    assert black[3].value == pytest.approx((9 - expected) ** 2 / variance)


def test_the_words_follow_the_guidelines() -> None:
    def said(*cells) -> str:
        return fill(candidates([("x", *c) for c in cells])).sections[0].sentences[-1]

    assert "but the difference is not significant: it may rest" in said(("a", 10, 5), ("b", 10, 3))
    assert said(("a", 1000, 500), ("b", 1000, 300)).endswith("four fifths, and the difference is significant.")  # fmt: skip
    assert "at least four fifths, but the difference is significant" in said(("a", 5000, 2500), ("b", 5000, 2200))  # fmt: skip
    assert "at least four fifths, and the difference is not" in said(("a", 20, 10), ("b", 20, 9))


def test_small_numbers_are_said() -> None:
    document = fill(candidates([("x", "a", 40, 20), ("x", "b", 4, 1)]))
    assert document.warnings == (
        (
            "b: small numbers (4 people; 1.9 expected in the smallest cell): a ratio can fall below 0.80 "
            "by a person or two."
        ),
    )
    few = fill(candidates([("x", "a", 4, 4), ("x", "b", 40, 20)])).sections[0].sentences
    assert "4 people only" in few[1]


def test_unknown_groups_are_counted_and_not_compared() -> None:
    document = fill(candidates([("x", "a", 40, 20), ("x", "b", 40, 10), ("x", "unknown", 5, 5)]))
    assert "5 people of unknown race are not compared." in document.sections[0].sentences
    assert document.frames["race"]["group"].tolist() == ["a", "b"]


def test_age_in_bins_and_several_attributes() -> None:
    frame = candidates().assign(age=np.arange(118) % 50 + 20)
    document = fill(frame, sensitive_features=["race", "age"], bins={"age": [40]})
    assert document.frames["age"]["group"].tolist() == ["under 40", "40 and over"]
    assert "of 3 groups" in document.headline


def test_nobody_selected_is_undefined() -> None:
    frame = candidates([("x", "a", 10, 0), ("x", "b", 10, 0), ("x", "c", 0, 0)])
    frame.loc[len(frame)] = ["x", "unknown", "yes"]
    document = fill(frame)
    assert document.frames["race"]["ratio"].isna().all()
    assert "undefined, as nobody was selected" in document.sections[0].sentences[-1]


def test_fields_and_disclaimer() -> None:
    document = fill(candidates(), fields={"period": "2003"}, today=date(2026, 11, 18))
    assert "period" not in {f.name for f in document.open_fields}
    assert len(document.open_fields) == 4
    assert "not legal advice" in document.disclaimer
    assert TEMPLATES["four-fifths"].fill is fill_four_fifths


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"favorable": "maybe"}, "There is no favourable label 'maybe'"),
        ({"favorable": None}, "favourable label must be named"),
        ({"sensitive_features": "sex"}, "There is no column 'sex'"),
        ({"confidence": 95}, "confidence must lie between 0 and 1"),
        ({"fields": {"date": "2999-01-01"}}, "must not lie in the future"),
        ({"strata": "race"}, "may play one part"),
        ({"bins": {"race": [1]}}, "Only numbers can be cut into bins"),
    ],
)
def test_bad_input_is_one_sentence(options, words: str) -> None:
    with pytest.raises(InputError) as caught:
        fill(candidates(), **options)
    assert words in str(caught.value)


def test_one_group_cannot_be_compared() -> None:
    with pytest.raises(InputError, match="At least two groups of 'race' must be known"):
        fill(candidates([("x", "a", 10, 5), ("x", "unknown", 10, 5)]))
