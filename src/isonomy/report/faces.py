"""From a result to a summary, and from a summary to a file."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isonomy._files import write_text
from isonomy._shown import SUFFIXES, SUMMARIES, Summary
from isonomy._tables import plain
from isonomy._validate import listed
from isonomy.errors import InputError
from isonomy.report.html import to_html
from isonomy.report.markdown import to_markdown


def summarize(
    result: Any, *, title: str | None = None, command: str | None = None, **about: Any
) -> Summary:
    """Return everything that a page says about a result, as plain data.

    Parameters
    ----------
    result : object
        An audit, a benchmark, a trade-off, a tail or another result, or a list of results of one
        kind where a page holds several.
    title : str, optional
        What was examined, such as the name of a file.
    command : str, optional
        The command line that makes the result again.
    **about
        What the kind of page takes besides, such as ``notes``.

    Returns
    -------
    dict
        Of the layout ``isonomy.report/1``: see the how-to on reports.

    Examples
    --------
    >>> import isonomy
    >>> found = isonomy.audit([1, 0, 1, 0], [1, 0, 0, 0], sensitive_features=list("aabb"))
    >>> summarize(found, title="four people")["title"]
    'Audit of four people'
    """
    first = result
    while isinstance(first, Sequence) and not isinstance(first, str) and len(first):
        first = first[-1]  # of (attribute, method, verdict), the verdict
    kind = getattr(first, "page", None)
    if not isinstance(kind, str):
        raise InputError(
            f"A report is made of a result such as an audit, a benchmark or a tail; got "
            f"{type(result).__name__}."
        )
    return SUMMARIES[kind](result, title=title, command=command, **about)


def to_json(summary: Summary) -> str:
    """Return a summary as JSON.

    Examples
    --------
    >>> from isonomy.report import blocks as b
    >>> made = b.summary("demo", "A demo", verdict=b.verdict("", "Nothing to see."))
    >>> json.loads(to_json(made))["schema"]
    'isonomy.report/1'
    """
    return json.dumps(plain(summary), indent=1, allow_nan=False, ensure_ascii=False) + "\n"


_FACES = dict(zip(SUFFIXES, (to_html, to_markdown, to_json), strict=True))


def write(what: Any, path: str | Path, **about: Any) -> None:
    """Write a summary, or a result, to a file: its suffix says whether as HTML, Markdown or JSON.

    Parameters
    ----------
    what : dict or result
        A summary, or what :func:`summarize` takes.
    path : str or Path
        Ends in ``.html``, ``.md`` or ``.json``.
    **about
        As :func:`summarize` takes them.

    Examples
    --------
    >>> import isonomy, tempfile
    >>> found = isonomy.audit([1, 0, 1, 0], [1, 0, 0, 0], sensitive_features=list("aabb"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(found, f"{folder}/audit.md", title="four people")
    ...     Path(folder, "audit.md").read_text(encoding="utf-8").splitlines()[0]
    '# Audit of four people'
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(
            f"A report must end in {listed(SUFFIXES)}, which says how it is written; got "
            f"{str(path)!r}."
        )
    summary = what if isinstance(what, dict) else summarize(what, **about)
    write_text(path, _FACES[suffix](summary))
