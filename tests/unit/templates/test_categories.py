"""Values of files as EEO-1 categories."""

import pytest

from isonomy.errors import InputError, UnknownName
from isonomy.templates.categories import (
    CATEGORIES,
    parse_categories,
    parse_roles,
    race_with_ethnicity,
    read_values,
    recognise,
)


@pytest.mark.parametrize(
    ("role", "value", "category"),
    [
        ("sex", " Male ", "Male"),
        ("sex", "WOMAN", "Female"),
        ("race", "White, non-Hispanic", "White"),
        ("race", "Non-Hispanic Black", "Black or African American"),
        ("race", "Black or African American (Not Hispanic or Latino)", "Black or African American"),
        ("race", "Amer-Indian-Eskimo", "Native American or Alaska Native"),
        ("race", "Hispanic/Latino", "Hispanic or Latino"),
        ("race", "Two or more races", "Two or More Races"),
        ("race", "prefer not to say", "Unknown"),
        ("race", None, "Unknown"),
        ("race", "Asian-Pac-Islander", None),
        ("race", "Other", None),
        ("race", "Not Hispanic", None),
        ("sex", 1, None),
        ("sex", "X", None),
        ("ethnicity", "Not Hispanic or Latino", "Not Hispanic or Latino"),
        ("ethnicity", "yes", None),
    ],
)
def test_recognise(role: str, value: object, category: str | None) -> None:
    assert recognise(role, value) == category


@pytest.mark.parametrize("role", CATEGORIES)
def test_every_category_is_recognised(role: str) -> None:
    for category in CATEGORIES[role]:
        assert recognise(role, category) == category


def test_what_is_not_clear_must_be_declared() -> None:
    with pytest.raises(InputError, match=r"not for 'Other' and 'X': declare it by categories= \(--category race\.Other=CATEGORY\)"):  # fmt: skip
        read_values("race", ["White", "Other", "X"])
    read = read_values("race", ["White", "Other", 1.0], {"Other": "unknown", "1": "black"})
    assert [r.category for r in read] == ["White", "Unknown", "Black or African American"]
    assert [r.declared for r in read] == [False, True, True]


def test_a_declaration_wins_over_a_spelling() -> None:
    assert read_values("sex", ["m"], {"m": "Female"})[0].category == "Female"


def test_roles_by_name_or_declared() -> None:
    assert parse_roles(["Gender", "race_ethnicity"]) == {"sex": "Gender", "race": "race_ethnicity"}
    assert parse_roles(["sex", "ethnicity"]) == {"sex": "sex", "race": "ethnicity"}
    assert parse_roles(["race", "hispanic"]) == {"race": "race", "ethnicity": "hispanic"}
    with pytest.raises(InputError, match="role of a column must be clear"):
        parse_roles(["group"])
    with pytest.raises(UnknownName, match="did you mean 'race'"):
        parse_roles(["rase=x"])
    with pytest.raises(InputError, match="Each role must be one column"):
        parse_roles(["sex", "gender"])


def test_categories_of_the_command_line() -> None:
    assert parse_categories(["race.a=b=White"]) == {"race": {"a=b": "White"}}
    with pytest.raises(InputError, match=r"ROLE\.VALUE=CATEGORY"):
        parse_categories(["Other=White"])


def test_hispanic_wins_and_unknown_ethnicity_is_unknown() -> None:
    assert race_with_ethnicity("Black or African American", "Hispanic or Latino") == "Hispanic or Latino"  # fmt: skip
    assert race_with_ethnicity("Asian", "Not Hispanic or Latino") == "Asian"
    assert race_with_ethnicity("Hispanic or Latino", "Unknown") == "Hispanic or Latino"
