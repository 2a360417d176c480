"""Columns that look protected and that nobody asked about, by their names and by their values."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from isonomy._unknown import is_unknown
from isonomy.data.leaks import distinct, proxy_notes, telling_columns

# A column with one of these words in its name holds a protected attribute, however it is coded.
_ATTRIBUTE = re.compile(
    r"sex|sexe|gender|race|races|racial|ethnic\w*|hispan\w*|latin[oax]s?|age|aged|ages|agesq|birth\w*|dob|"
    r"religio\w*|faith|nationality|citizen\w*|native\w*|country|origin|disab\w*|handicap\w*|"
    r"marital\w*|marriage|married|pregnan\w*|parental\w*|orientation|lgbt\w*|veteran\w*|caste|tribe|"
    r"language|skin\w*|immigra\w*|foreign\w*|union|political\w*|relationship|minority"
)
# ... but these have an age, and a country, that is nobody's.
_THINGS = frozenset([
    "account", "asset", "boat", "building", "car", "company", "contract", "credit", "device",
    "dwelling", "equipment", "file", "firm", "home", "house", "item", "loan", "machine", "order",
    "phone", "policy", "product", "property", "store", "vehicle",
])  # fmt: skip
# The words for groups. A column named so says who belongs to the group, if it has two values.
_SEX = "male males female females man woman men women boy boys girl girls femme homme nonbinary"
_RACE = (
    "black white nonwhite nonblack afam afroamerican african aframerican asian caucasian hispanic "
    "hisp latino latina latinx aboriginal indigenous islander eskimo inuit multiracial biracial"
)
_MARITAL = (
    "single married unmarried marr divorced widowed widow widower spouse husband wife cohabiting"
)
_FAITH = "christian catholic protestant muslim islamic jewish hindu buddhist sikh atheist orthodox"
_OTHER = (
    "gay lesbian bisexual transgender heterosexual homosexual homo disabled deaf elderly teenager "
    "immigrant migrant refugee noncitizen alien young youth old older senior"
)
_FAMILIES = tuple(frozenset(words.split()) for words in (_SEX, _RACE, _MARITAL, _FAITH))
_GROUPS = frozenset().union(*_FAMILIES, _OTHER.split())
_ONE_OF = ["|".join(words.split()) for words in (_SEX, _RACE)]
_BOTH = re.compile("|".join(f"(?:{a})(?:{b})" for a, b in (_ONE_OF, _ONE_OF[::-1])))
# Everyday words too: they name a group only where nothing else in the name says otherwise.
_AMBIGUOUS = frozenset([
    "black", "white", "single", "orthodox", "alien", "young", "old", "older", "senior", "man",
    "men", "spouse", "african",
])  # fmt: skip
_BESIDE = frozenset([
    "is", "has", "was", "are", "d", "i", "dum", "dummy", "flag", "ind", "indicator", "code",
    "coded", "cat", "category", "group", "grp", "bin", "binary", "yes", "no", "y", "n", "x", "c",
    "v", "var", "status", "person", "applicant", "borrower", "customer", "client", "patient",
    "employee", "emp", "worker", "student", "respondent", "owner", "head", "resp", "true",
    "false", "self", "id", "non", "not",
])  # fmt: skip
_COLORS = frozenset([
    "red", "blue", "green", "yellow", "grey", "gray", "silver", "gold", "brown", "orange", "pink",
    "purple", "beige", "violet",
])  # fmt: skip
MOST_WORDS = 30
"""A column of more words than this holds text, not groups."""


def looks_protected(column: str, values: Iterable[Any] | None = None) -> bool:
    """Return whether a column looks like a protected attribute, by its name or its values.

    Parameters
    ----------
    column : str
        The name.
    values : iterable, optional
        The values that occur. A name such as ``female`` or ``race_black`` counts where they are
        two; words for groups (``M`` and ``F``, ``Married``, ``Divorced`` ...) count whatever the
        name. Without them the name decides.

    Examples
    --------
    >>> looks_protected("native-country"), looks_protected("hours-per-week")
    (True, False)
    >>> looks_protected("is_female"), looks_protected("white_wine"), looks_protected("black")
    (True, False, True)
    >>> looks_protected("x7", ["M", "F"]), looks_protected("black", [0.1, 0.7, 0.9])
    (True, False)
    """
    words = words_of(column)
    if any(_ATTRIBUTE.fullmatch(word) for word in words) and not _THINGS.intersection(words):
        return True
    known = None if values is None else {v for v in values if not is_unknown(v)}
    if (known is None or len(known) <= 2) and _names_group(words):
        return True
    return known is not None and _are_groups(known)


def words_of(text: str) -> list[str]:
    """Split a name into its words, at capitals, digits and punctuation; ``isfemale`` is two words."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return re.findall(r"[^\W\d_]+", re.sub(r"\b[iI]s(?=[a-z]{3})", "is ", spaced).casefold())


def _names_group(words: Sequence[str]) -> bool:
    # two in one word, as blackfemale
    if any(_BOTH.fullmatch(word) for word in words):
        return True
    named = [word for word in words if word in _GROUPS]
    if any(word not in _AMBIGUOUS for word in named):
        return True
    return bool(named) and all(word in _GROUPS or word in _BESIDE for word in words)


def _are_groups(values: set[Any]) -> bool:
    """Return whether values are words for groups: two at least, of one kind, and half of them."""
    texts = [value.casefold().strip() for value in values if isinstance(value, str)]
    if len(texts) < max(2, len(values)) or len(texts) > MOST_WORDS:
        return False
    if set(texts) == {"m", "f"}:
        return True
    words = [set(re.findall(r"[^\W\d_]+", text)) for text in texts]
    if any(_COLORS & found for found in words):
        return False
    # a long sentence that holds such a word is not the name of a group
    hits = [sum(bool(f & found) and len(found) <= 5 for found in words) for f in _FAMILIES]
    return max(hits) >= 2 and 2 * max(hits) >= len(texts)


def unexamined_columns(table: pd.DataFrame, attributes: Iterable[str]) -> tuple[str, ...]:
    """Return the columns of a table that look protected and are not among the attributes.

    What an attribute tells, such as ``race_black`` of ``race``, and what tells the attribute (a
    proxy, :func:`isonomy.data.leaks.proxy_notes`), is not named again.

    Examples
    --------
    >>> table = pd.DataFrame(
    ...     {"sex": ["f", "m"] * 40, "male": [0, 1] * 40, "afam": [0, 0, 1, 1] * 20, "hours": 40}
    ... )
    >>> unexamined_columns(table, ["sex"])
    ('afam',)
    """
    asked = [a for a in attributes if a in table.columns]
    found = [
        c for c in table.columns if c not in asked and looks_protected(str(c), distinct(table[c]))
    ]
    for attribute in asked:
        same = set(telling_columns(table, table[attribute], found))
        words = table[[attribute]].astype("category")
        same |= {c for c in found if telling_columns(words, table[c])}
        found = [c for c in found if c not in same]
    return tuple(map(str, found))


def look_for_others(
    columns: Iterable[str] | pd.DataFrame, attributes: Sequence[str]
) -> tuple[tuple[str, ...], list[str]]:
    """Return the columns that look protected, and what is to be said of proxies.

    Of a frame of rows the values are looked at too; of names only the names.
    """
    if isinstance(columns, pd.DataFrame):
        return unexamined_columns(columns, attributes), proxy_notes(columns, attributes)
    return tuple(c for c in columns if c not in attributes and looks_protected(c)), []
