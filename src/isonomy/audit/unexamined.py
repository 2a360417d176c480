"""Columns that look protected and that nobody asked about."""

import re

_PROTECTED = re.compile(
    r"(^|[^a-z])(sex|gender|race|racial|ethnic\w*|hispan\w*|age|aged|birth\w*|dob|religio\w*|faith|"
    r"nationality|citizen\w*|native\w*|country|origin|disab\w*|handicap\w*|marital\w*|married|"
    r"pregnan\w*|parental\w*|orientation|lgbt\w*|veteran\w*|caste|tribe|language|skin\w*|color|colour|"
    r"immigra\w*|foreign\w*|union|political\w*|relationship)($|[^a-z])",
    re.IGNORECASE,
)


def looks_protected(column: str) -> bool:
    """Return whether a column's name looks like a protected attribute.

    Examples
    --------
    >>> looks_protected("native-country"), looks_protected("hours-per-week")
    (True, False)
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column).replace("_", " ")
    return _PROTECTED.search(spaced) is not None
