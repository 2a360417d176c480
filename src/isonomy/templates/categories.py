"""The categories of the EEO-1 report, and which of them a value of a file means.

What is spelled plainly (``F``, ``Woman``, ``Black or African American``) is recognised, and the
reading is shown. What could mean two things (``1``, ``Other``, ``Asian-Pac-Islander``) is never
guessed: the user declares it, or declares that it is unknown.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from isonomy._unknown import is_unknown
from isonomy._validate import check_choice, listed, unknown_name
from isonomy.errors import InputError

UNKNOWN = "Unknown"
HISPANIC = "Hispanic or Latino"

CATEGORIES: dict[str, tuple[str, ...]] = {
    "sex": ("Male", "Female"),
    "race": (
        HISPANIC,
        "White",
        "Black or African American",
        "Native Hawaiian or Pacific Islander",
        "Asian",
        "Native American or Alaska Native",
        "Two or More Races",
    ),
    "ethnicity": (HISPANIC, "Not Hispanic or Latino"),
}
"""The categories by role; all races but the first are of people who are not Hispanic or Latino."""

_SPELLINGS: dict[str, dict[str, str]] = {
    "sex": {
        "Male": "male m man men",
        "Female": "female f woman women",
    },
    "race": {
        HISPANIC: "hispanicorlatino hispaniclatino hispanic latino latina latinx hispanicorlatinx latinohispanic",
        "White": "white caucasian whitecaucasian whiteorcaucasian",
        "Black or African American": "blackorafricanamerican black africanamerican blackafricanamerican",
        "Native Hawaiian or Pacific Islander": (
            "nativehawaiianorpacificislander nativehawaiianorotherpacificislander nhpi "
            "nativehawaiianpacificislander pacificislander nativehawaiian"
        ),
        "Asian": "asian asianamerican",
        "Native American or Alaska Native": (
            "nativeamericanoralaskanative nativeamerican americanindianoralaskanative aian "
            "americanindian alaskanative amerindianeskimo amerindianaleuteskimo"
        ),
        "Two or More Races": "twoormoreraces twoormore multiracial multirace 2ormoreraces",
    },
    "ethnicity": {
        HISPANIC: "hispanicorlatino hispaniclatino hispanic latino latina latinx",
        "Not Hispanic or Latino": "nothispanicorlatino nothispanic nonhispanic nonhispanicorlatino notlatino",
    },
}  # fmt: skip
_MEANING = {
    role: {word: category for category, words in spellings.items() for word in words.split()}
    for role, spellings in _SPELLINGS.items()
}
_NOT_HISPANIC = tuple(_SPELLINGS["ethnicity"]["Not Hispanic or Latino"].split())
_ROLES = {
    "sex": ("sex", "gender"),
    "ethnicity": ("ethnicity", "ethnic", "hispanic", "latino", "origin"),
    "race": ("race",),
}


class Reading(NamedTuple):
    """How a value is read; ``declared`` is False where it was recognised by its spelling."""

    value: Any
    category: str
    declared: bool


def _letters(value: Any) -> str:
    return "".join(c for c in str(value).casefold() if c.isalnum())


def recognise(role: str, value: Any) -> str | None:
    """Return the category that a value spells, "Unknown" where it says so, None where unclear.

    Examples
    --------
    >>> recognise("race", "White (Not Hispanic or Latino)"), recognise("sex", "F")
    ('White', 'Female')
    >>> recognise("race", "Asian-Pac-Islander") is None
    True
    """
    if is_unknown(value) or _letters(value) == "unknown":
        return UNKNOWN
    word = _letters(value)
    if role == "race" and word not in _MEANING["race"]:
        for tail in sorted(_NOT_HISPANIC, key=len, reverse=True):
            word = word.removesuffix(tail).removeprefix(tail)
    return _MEANING[role].get(word)


def read_values(
    role: str, values: Iterable[Any], declared: Mapping[Any, str] | None = None
) -> list[Reading]:
    """Return how each value of a column is read; raise where one must be declared.

    Examples
    --------
    >>> read_values("sex", ["m", "f", "X"], {"X": "Unknown"})[2]
    Reading(value='X', category='Unknown', declared=True)
    """
    values = list(values)
    wanted = {str(value): _category(role, name) for value, name in (declared or {}).items()}
    for value in wanted:
        if value not in map(_written, values):
            raise unknown_name(f"value of {role}", value, [_written(v) for v in values])
    readings = [
        Reading(value, wanted.get(_written(value)) or recognise(role, value) or "", _written(value) in wanted)
        for value in values
    ]  # fmt: skip
    unclear = [_written(r.value) for r in readings if not r.category]
    if unclear:
        raise InputError(
            f"The category of each value of {role} must be clear; it is not for {listed(unclear)}: "
            f"declare it by categories= (--category {role}.{unclear[0]}=CATEGORY), one of "
            f"{listed((*CATEGORIES[role], UNKNOWN), most=9)}."
        )
    return readings


def _written(value: Any) -> str:
    """Write a value as it stands in a file: 1.0 beside missing cells was 1."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def _category(role: str, name: str) -> str:
    """Return the category that a user named, by any spelling of it."""
    if name in (*CATEGORIES[role], UNKNOWN):
        return name
    found = recognise(role, name)
    if found is None:
        raise unknown_name(f"category of {role}", name, (*CATEGORIES[role], UNKNOWN))
    return found


def parse_roles(columns: Iterable[str]) -> dict[str, str]:
    """Return the column of each role, from ``role=column`` or from names that say the role.

    Examples
    --------
    >>> parse_roles(["gender", "race=race_eth"])
    {'sex': 'gender', 'race': 'race_eth'}
    """
    named: dict[str, str] = {}
    for text in columns:
        role, sign, column = text.partition("=")
        role = role if sign else _role_of(text)
        check_choice("role", role, list(CATEGORIES))
        if role in named:
            raise InputError(
                f"Each role must be one column; {role} is both {named[role]!r} and "
                f"{(column or text)!r}: write ROLE=COLUMN with the roles {listed(CATEGORIES)}."
            )
        named[role] = column if sign else text
    if "race" not in named and "ethnicity" in named:
        named["race"] = named.pop("ethnicity")  # one column that holds both
    return named


def _role_of(column: str) -> str:
    letters = _letters(column)
    roles = [role for role, words in _ROLES.items() if any(word in letters for word in words)]
    if len(roles) == 1:
        return roles[0]
    if set(roles) == {"race", "ethnicity"}:
        return "race"  # race_ethnicity
    raise InputError(
        f"The role of a column must be clear; that of {column!r} is not: write ROLE={column} with "
        f"one of the roles {listed(CATEGORIES)}."
    )


def parse_categories(texts: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the categories declared as ``ROLE.VALUE=CATEGORY``.

    Examples
    --------
    >>> parse_categories(["race.Other=Unknown", "sex.1=Female"])
    {'race': {'Other': 'Unknown'}, 'sex': {'1': 'Female'}}
    """
    declared: dict[str, dict[str, str]] = {}
    for text in texts:
        before, sign, category = text.rpartition("=")
        role, dot, value = before.partition(".")
        if not sign or not dot:
            raise InputError(f"--category must be ROLE.VALUE=CATEGORY; got {text!r}.")
        check_choice("role", role, list(CATEGORIES))
        declared.setdefault(role, {})[value] = category
    return declared


def race_with_ethnicity(race: str, ethnicity: str) -> str:
    """Return the category of a person whose race and ethnicity were asked for apart.

    Examples
    --------
    >>> race_with_ethnicity("White", "Hispanic or Latino")
    'Hispanic or Latino'
    >>> race_with_ethnicity("White", "Unknown")
    'Unknown'
    """
    if HISPANIC in (race, ethnicity):
        return HISPANIC
    return race if ethnicity != UNKNOWN else UNKNOWN
