"""Messages and times as a page says them, where the API has parameters and the command line options."""

import re
from datetime import timedelta

_OPTION = re.compile(r" ?\((?:on the command line )?--[^()]*\)|; --[\w-]+ \(\w+=\w+\) [^.;]*")
_PARAMETER = re.compile(
    r"\b(sensitive_features|favorable|privileged|label|bins|drop|score)=(?:\.\.\.)?(?=[\s.,:;]|$)"
)
_NAMES = {
    "sensitive_features": "the protected columns",
    "favorable": "the favourable value",
    "privileged": "the group to compare with",
    "label": "the outcome",
    "bins": "the cut points",
    "drop": "the role “leave out”",
    "score": "the score",
}


def on_page(message: str) -> str:
    """Return a message without parameters and options, which a page does not have.

    Examples
    --------
    >>> on_page("Its labels are 'a' and 'b': pass favorable= (--favorable).")
    "Its labels are 'a' and 'b': pass the favourable value."
    """
    return _PARAMETER.sub(lambda found: _NAMES[found[1]], _OPTION.sub("", message))


def clock(seconds: float | None) -> str:
    """Write a time as hours, minutes and seconds.

    Examples
    --------
    >>> clock(75.2), clock(None)
    ('0:01:15', '')
    """
    return "" if seconds is None else str(timedelta(seconds=round(seconds)))


def ago(seconds: float) -> str:
    """Say how long ago something was.

    Examples
    --------
    >>> ago(20), ago(200), ago(9000), ago(200_000)
    ('just now', '3 minutes ago', '2 hours ago', '2 days ago')
    """
    for size, word in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            n = int(seconds // size)
            return f"{n} {word}{'s' if n > 1 else ''} ago"
    return "just now"
