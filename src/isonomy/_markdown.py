"""Markdown: words in which nothing is a mark, and tables (GitHub's)."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

_MARKS = re.compile(r"([\\`*_{}\[\]<>|~@#&])")
_BREAKS = re.compile(r"[\r\n\u2028\u2029]+")


def escaped(text: Any) -> str:
    r"""Return a text that stands as it is: no markup, mention or entity, no new row or column.

    Examples
    --------
    >>> print(escaped("a|b <i> @all &lt;"))
    a\|b \<i\> \@all \&lt;
    """
    return _MARKS.sub(r"\\\1", _BREAKS.sub(" ", str(text)))


def table(head: Sequence[str], align: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table of cells that are Markdown already; ``align`` is "l" or "r" by column.

    Examples
    --------
    >>> print(table(["group", "rows"], "lr", [["f", "12"]]))
    | group | rows |
    | --- | ---: |
    | f | 12 |
    """
    rules = ["---:" if side == "r" else "---" for side in align]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rules, *rows))
