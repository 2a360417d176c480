"""Local Law 144: the rule's own examples to the printed digit, and what surrounds the tables."""

from datetime import date

import numpy as np
import pandas as pd
import pytest

from isonomy.errors import InputError, UnknownName
from isonomy.templates import TEMPLATES, Document, fill_ll144
from isonomy.templates.categories import CATEGORIES
from isonomy.templates.impact import impact_frame

RACE = CATEGORIES["race"]
# The example of the rule (6 RCNY 5-303): category, applicants, selected, rate and ratio as printed.
BY_SEX = [("Male", 1390, 667, "48", "1.000"), ("Female", 1181, 555, "47", "0.979")]
BY_RACE = [
    (408, 204, "50", "0.97"), (797, 412, "52", "1.00"), (390, 170, "44", "0.84"),
    (119, 52, "44", "0.85"), (616, 302, "49", "0.95"), (41, 18, "44", "0.85"), (213, 96, "45", "0.87"),
]  # fmt: skip
BOTH = [  # Hispanic men and women; then, for men and for women, the six other races
    (205, 90, "43.9", "0.841"), (190, 82, "43.2", "0.827"),
    (412, 215, "52.2", "1.000"), (226, 95, "42.0", "0.806"), (87, 37, "42.5", "0.815"),
    (321, 167, "52.0", "0.997"), (24, 11, "45.8", "0.878"), (115, 52, "45.2", "0.866"),
    (385, 197, "51.2", "0.981"), (164, 75, "45.7", "0.876"), (32, 15, "46.9", "0.898"),
    (295, 135, "45.8", "0.877"), (17, 7, "41.2", "0.789"), (98, 44, "44.9", "0.860"),
]  # fmt: skip
RACES_OF_BOTH = ["Hispanic or Latino"] * 2 + [*RACE[1:], *RACE[1:]]
SEXES_OF_BOTH = ["Male", "Female"] + ["Male"] * 6 + ["Female"] * 6


def people(*cells: tuple[str | None, str | None, int, int]) -> pd.DataFrame:
    """A row per person: sex, race, applicants, selected."""
    rows = [
        (sex, race, hit)
        for sex, race, n, s in cells
        for hit, k in ((1, s), (0, n - s))
        for _ in range(k)
    ]
    return pd.DataFrame(rows, columns=["sex", "race", "selected"])


def example(unknown: int = 250, selected: int = 100) -> pd.DataFrame:
    both = zip(SEXES_OF_BOTH, RACES_OF_BOTH, BOTH, strict=True)
    cells = [(sex, race, n, s) for sex, race, (n, s, *_) in both]
    return people(*cells, (None, "unknown", unknown, selected))


def fill(frame: pd.DataFrame, **options) -> Document:
    return fill_ll144(frame, **{"sex": "sex", "race": "race", "prediction": "selected", **options})


@pytest.mark.parametrize(
    ("rows", "rate_digits", "ratio_digits"),
    [([r[1:] for r in BY_SEX], 0, 3), (BY_RACE, 0, 2), (BOTH, 1, 3)],
    ids=["sex", "race", "intersectional"],
)
def test_the_examples_of_the_rule_to_the_printed_digit(rows, rate_digits, ratio_digits) -> None:
    n, s, rates, ratios = map(list, zip(*rows, strict=True))
    frame = impact_frame(range(len(n)), np.array(n), np.array(s), unknown=0, unknown_selected=0)
    assert [f"{100 * r:.{rate_digits}f}" for r in frame["rate"]] == rates
    assert [f"{r:.{ratio_digits}f}" for r in frame["ratio"]] == ratios


def test_the_scoring_example_of_the_rule() -> None:
    """The rule prints 64.2 for 18 of 28, which is 64.29: cut, not rounded; the others agree."""
    n = np.array([28, 40, 32, 8, 24])
    above = np.array([18, 15, 16, 5, 10])
    frame = impact_frame(range(5), n, above, unknown=0, unknown_selected=0)
    assert [f"{100 * r:.1f}" for r in frame["rate"]][1:] == ["37.5", "50.0", "62.5", "41.7"]
    assert int(1000 * frame["rate"][0]) == 642
    assert [f"{r:.2f}" for r in frame["ratio"]] == ["1.00", "0.58", "0.78", "0.97", "0.65"]
    sexes = impact_frame(
        "MF", np.array([92, 76]), np.array([50, 34]), unknown=0, unknown_selected=0
    )
    assert [f"{100 * r:.1f}" for r in sexes["rate"]] == ["54.3", "44.7"]
    assert [f"{r:.2f}" for r in sexes["ratio"]] == ["1.00", "0.82"]


def test_the_document_holds_the_tables_of_the_rule() -> None:
    document = fill(example())
    sex, race, both = document.sections[0].tables
    assert sex.columns == ("Sex Categories", "# of Applicants", "# Selected", "Selection Rate", "Impact Ratio")  # fmt: skip
    assert race.columns[0] == "Race/Ethnicity Categories"
    assert both.columns[:3] == ("Intersectional Categories", "Sex", "Race")
    assert [tuple(c.text for c in row[1:3]) for row in sex.rows] == [("1,390", "667"), ("1,181", "555")]  # fmt: skip
    assert len(both.rows) == 14
    assert [row[5].text for row in both.rows] == [f"{rate}%" for *_, rate, _ in BOTH]
    assert [row[6].text for row in both.rows] == [ratio for *_, ratio in BOTH]
    assert both.rows[0][:3] == ("Hispanic or Latino", "Male", "")
    assert both.rows[2][:3] == ("Non-Hispanic or Latino", "Male", "White")
    assert both.note == (
        "Note: The AEDT was also used to assess 250 individuals with an unknown sex or "
        "race/ethnicity category. Data on those individuals was not included in the calculations "
        "above."
    )
    assert "0.789" in document.headline
    assert "sets no threshold" in document.headline


def test_the_rule_adds_up_though_its_race_table_does_not() -> None:
    """Its race table sums to 2,584, the others to 2,571; ours are all of the same people."""
    document = fill(example())
    assert document.frames["sex"]["applicants"].sum() == 2571
    assert document.frames["race"]["applicants"].sum() == 2571
    assert sum(n for n, *_ in BY_RACE) == 2584


def test_a_person_of_known_sex_and_unknown_race_is_in_the_table_of_sex() -> None:
    document = fill(people(("Male", "White", 10, 5), ("Female", None, 4, 1), (None, "Asian", 3, 3)))
    assert [f.attrs["unknown"] for f in document.frames.values()] == [3, 4, 7]
    assert document.frames["sex"]["applicants"].tolist() == [10, 4]


def test_small_categories_are_left_out_before_the_maximum_is_taken() -> None:
    frame = people(("M", "White", 300, 150), ("F", "Black", 300, 120), ("F", "Asian", 5, 5))
    kept = fill(frame)
    assert kept.frames["race"].set_index("category")["ratio"].dropna().tolist() == [0.5, 0.4, 1.0]
    assert "exclusion_justification" in kept.warnings[-1]
    document = fill(frame, fields={"exclusion_justification": "five people say nothing"})
    race = document.frames["race"]
    assert race["ratio"].dropna().tolist() == [1.0, 0.8]
    assert race.loc[race["left_out"], "applicants"].tolist() == [5]
    shown = document.sections[0].tables[1]
    assert [c if isinstance(c, str) else c.text for c in shown.rows[4]] == [
        "Asian (Not Hispanic or Latino)", "5", "5", "100.0%", "left out",
    ]  # fmt: skip
    assert "five people say nothing; number of applicants 5, rate 100.0%" in shown.note
    assert [w.split(" in ")[0] for w in document.warnings] == ["Nobody is Hispanic or Latino"]


def test_scores_above_the_median_of_everybody() -> None:
    frame = pd.DataFrame(
        {"sex": ["M", "M", "F", "F", None], "race": ["White"] * 5, "score": [1, 2, 3, 4, 100]}
    )
    document = fill_ll144(frame, sex="sex", race="race", score="score")
    assert "median score of the full sample of 5 is 3" in document.sections[0].sentences[0]
    assert document.frames["sex"]["rate"].tolist() == [0.0, 0.5]  # 3 itself is not above
    assert document.frames["sex"]["ratio"].tolist() == [0.0, 1.0]
    table = document.sections[0].tables[0]
    assert table.columns == ("Sex Categories", "# of Applicants", "Scoring Rate", "Impact Ratio")
    assert "1 of 5 scores (20.0%) equal the median" in document.warnings[0]


def test_one_tie_in_a_hundred_is_no_warning() -> None:
    frame = pd.DataFrame({"sex": ["M", "F"] * 50 + ["F"], "race": "Latino", "score": range(101)})
    assert not fill_ll144(frame, sex="sex", race="race", score="score").warnings


def test_classes_have_tables_each() -> None:
    frame = pd.DataFrame(
        {"sex": ["M", "M", "F", "F"], "race": "White", "style": ["leader", "coach", "coach", "expert"]}
    )  # fmt: skip
    document = fill_ll144(frame, sex="sex", race="race", prediction="style")
    assert [s.heading for s in document.sections[:3]] == [
        "Class coach", "Class expert", "Class leader",
    ]  # fmt: skip
    assert document.frames["Class coach: sex"]["rate"].tolist() == [0.5, 0.5]
    chosen = fill_ll144(
        frame, sex="sex", race="race", prediction="style", favorable=["leader", "coach"]
    )
    assert chosen.frames["sex"]["rate"].tolist() == [1.0, 0.5]


def test_race_and_ethnicity_asked_apart() -> None:
    frame = pd.DataFrame(
        {
            "sex": ["M"] * 5,
            "race": ["White", "White", "Hispanic", "Black", "Black"],
            "eth": ["Hispanic", "Not Hispanic", None, None, "not hispanic or latino"],
            "selected": [1, 1, 1, 0, 0],
        }
    )
    race = fill(frame, ethnicity="eth").frames["race"]
    assert race["applicants"].tolist() == [2, 1, 1, 0, 0, 0, 0]
    assert race.attrs["unknown"] == 1


def test_sharp_bounds_are_shown_beside_the_mild_ones() -> None:
    document = fill(people(("M", "White", 60, 30), ("F", "White", 40, 10), (None, "White", 10, 4)))
    sex = document.frames["sex"]
    assert sex["rate_low"].tolist() == pytest.approx([30 / 66, 10 / 46])
    assert sex["rate_high"].tolist() == pytest.approx([34 / 64, 14 / 44])
    assert sex["ratio_low"][1] == pytest.approx((10 / 46) / (34 / 64))
    assert sex["ratio_high"][1] == pytest.approx((14 / 44) / (30 / 66))
    assert sex["mild_ratio_low"][1] == pytest.approx((10 / 44) / 0.5)
    section = next(s for s in document.sections if s.heading.startswith("People whose"))
    assert section.tables[0].rows[1][2].text == "21.7% to 31.8%"


def test_pictures_hold_the_ratios_that_are_defined() -> None:
    pictures = fill(example()).sections[0].pictures
    assert [len(p.rows) for p in pictures] == [2, 7, 14]
    for picture in pictures:
        assert all(low <= value <= high for _, value, low, high in picture.rows)
    # the only person selected is of unknown sex: no ratio by sex, one by race
    nobody = people(("M", "White", 5, 0), ("F", "White", 5, 0), (None, "White", 1, 1))
    assert [p.title for p in fill(nobody).sections[0].pictures] == [
        "Selection: impact ratios, race/ethnicity categories"
    ]


def test_fields_are_open_until_they_are_given() -> None:
    today = date(2026, 11, 18)
    names = {"tool", "auditor", "audit_date", "distribution_date", "data_source", "data_kind"}
    assert {f.name for f in fill(example()).open_fields} == names
    given = {"auditor": "A. Smith", "audit_date": "2025-11-18", "data_kind": "test"}
    document = fill(example(), fields=given, today=today)
    assert {f.name for f in document.open_fields} == names - set(given)
    assert "how the test data were made" in document.warnings[0]
    assert not any("older" in w for w in document.warnings)  # a year ago to the day
    late = fill(example(), fields={"audit_date": "2025-11-17"}, today=today)
    assert "older than one year" in late.warnings[0]


def test_a_leap_day_has_an_anniversary() -> None:
    late = fill(example(), fields={"audit_date": "2024-02-29"}, today=date(2025, 3, 1))
    assert "older than one year" in late.warnings[0]


def test_no_threshold_unless_it_is_asked_for() -> None:
    text = str(fill(example()).to_dict())
    assert "0.8 " not in text
    assert "80" not in " ".join(fill(example()).sections[-1].sentences)
    asked = fill(example(), ratio_context=0.8).sections[-1].sentences[-1]
    assert asked == (
        "For context only, as it was asked for: 1 of 23 impact ratios lie below 0.8."
    )  # fmt: skip


def test_it_says_what_it_is_not() -> None:
    document = fill(example())
    assert "not an audit by an independent auditor, and not legal advice" in document.disclaimer
    assert document.to_dict()["disclaimer"] == document.disclaimer
    assert "open fields" in repr(document)


def test_nobody_selected_is_undefined() -> None:
    document = fill(people(("M", "White", 10, 0), ("F", "White", 10, 0)).assign(selected=[0] * 19 + [2]), favorable=2)  # fmt: skip
    assert document.frames["sex"]["ratio"].tolist() == [0.0, 1.0]
    none = impact_frame("ab", np.array([5, 5]), np.array([0, 0]), unknown=0, unknown_selected=0)
    assert none["ratio"].isna().all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"prediction": None}, "outcomes or of scores must be named"),
        ({"sex": "gender"}, "There is no column 'gender'"),
        ({"prediction": "race", "race": "selected"}, "not for '0' and '1'"),
        ({"fields": {"audit_date": "2999-01-01"}}, "must not lie in the future"),
        ({"fields": {"audit_date": "yesterday"}}, "written YYYY-MM-DD"),
        ({"fields": {"audit_day": "2025-01-01"}}, "did you mean 'audit_date'"),
        ({"fields": {"auditor": " "}}, "must not be empty"),
        ({"fields": {"data_kind": "historic"}}, "did you mean 'historical'"),
        ({"categories": {"race": {"Other": "Unknown"}}}, "There is no value of race 'Other'"),
        ({"categories": {"race": {"White": "Caucasien"}}}, "There is no category of race"),
        ({"ratio_context": 80}, "lies between 0 and 1"),
        ({"prediction": None, "score": "race"}, "may play one part"),
    ],
)
def test_bad_input_is_one_sentence(options, words: str) -> None:
    frame = people(("M", "White", 6, 3), ("F", "Black", 6, 2))
    with pytest.raises((InputError, UnknownName)) as caught:
        fill(frame, **options)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_outcomes_and_scores_are_refused() -> None:
    frame = pd.DataFrame({"sex": ["M", "F"], "race": "White", "selected": [1, None]})
    with pytest.raises(InputError, match="1 of 'selected' are missing"):
        fill(frame)
    frame["score"] = [0.2, np.nan]
    with pytest.raises(InputError, match="1 of 'score' are missing or infinite"):
        fill(frame, prediction=None, score="score")


@pytest.mark.parametrize("ending", ["csv", "parquet", "duckdb", "xlsx"])
def test_files_give_what_the_frame_gives(ending: str, tmp_path) -> None:
    frame = example().assign(score=np.arange(2821) % 977)
    path = tmp_path / f"people.{ending}"
    if ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "parquet":
        frame.to_parquet(path)
    elif ending == "xlsx":
        frame.to_excel(path, index=False)
    else:
        import duckdb

        with duckdb.connect(str(path)) as connection:
            connection.register("frame", frame)
            connection.execute("CREATE TABLE people AS SELECT * FROM frame")
    here, there = fill(frame, score="score"), fill(path, score="score")
    for name, table in here.frames.items():
        pd.testing.assert_frame_equal(table, there.frames[name])
    assert here.to_dict() == there.to_dict()


def test_it_is_registered() -> None:
    assert TEMPLATES["ll144"].fill is fill_ll144
    assert TEMPLATES.resolve("local-law-144") == "ll144"
    assert isinstance(TEMPLATES["ll144"](example(), sex="sex", race="race", prediction="selected"), Document)  # fmt: skip
