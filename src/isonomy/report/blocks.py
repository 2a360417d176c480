"""What summaries are built of: parts, sentences, tables, charts, as plain data.

A summary is a dictionary (schema ``isonomy.report/1``) that holds every word and number of a page.
The functions here make its blocks; the faces (HTML, Markdown, JSON) only draw them.
"""

import datetime as dt
import platform
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from isonomy import __version__
from isonomy._shown import Summary
from isonomy._tables import plain

SCHEMA = "isonomy.report/1"
"""Name and version of the layout; the number grows when a reader of the old one would fail."""
PARTS = {
    "people": "Who is affected",
    "picture": "The picture",
    "table": "The numbers",
    "method": "How it was done",
    "limits": "Limits",
}
"""The parts of a page after its verdict, in order, and their usual headings."""
STATEMENT = (
    "This is a calculation, not a certification and not legal advice. A verdict compares a "
    "disparity with a threshold that people chose; it does not say whether a decision is just."
)
MADE_WITH = (
    f"by Isonomy {__version__} with Python {platform.python_version()}, "
    f"NumPy {np.__version__}, SciPy {version('scipy')} and scikit-learn {version('scikit-learn')}."
)
TONES = ("", "within", "violated", "thin", "undefined", "soft", "dot", "ink", "line")

_TURNING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

Block = dict[str, Any]
Cell = Collection[str]
"""A cell or a heading: words, or a dictionary with more."""


def summary(
    kind: str,
    title: str,
    *,
    verdict: Block,
    people: Iterable[Block] = (),
    picture: Iterable[Block] = (),
    table: Iterable[Block] = (),
    method: Iterable[Block] = (),
    limits: Iterable[str] = (),
    statement: str = STATEMENT,
    command: str | None = None,
    headings: Mapping[str, str] | None = None,
) -> Summary:
    """Return a summary; parts without blocks are left out.

    Parameters
    ----------
    kind, title : str
        The kind of page and its main heading.
    verdict : dict
        Of :func:`verdict`.
    people, picture, table, method : iterable of blocks
        The parts of the page, in this order.
    limits : iterable of str
        What the result cannot show.
    statement : str
        What stands last among them: that this is no certification.
    command : str, optional
        The command line that makes the page again.
    headings : mapping, optional
        Other headings of the parts.

    Examples
    --------
    >>> made = summary("demo", "A demo", verdict=verdict("", "Nothing to see."), people=[text("2 people.")])
    >>> [part["name"] for part in made["parts"]]
    ['people', 'method', 'limits']
    """
    today = dt.datetime.now().astimezone().date()
    again = [text("The command to reproduce this page:"), code(command)] if command else []
    blocks: dict[str, list[Block]] = {
        "people": [*people],
        "picture": [*picture],
        "table": [*table],
        "method": [*method, *again, soft(f"Made on {today} {MADE_WITH}")],
        "limits": [items([*limits, statement])],
    }
    names = PARTS | dict(headings or {})
    made_of = {
        "schema": SCHEMA,
        "kind": kind,
        "title": title,
        "made_by": f"Isonomy {__version__}",
        "command": command,
        "verdict": verdict,
        "parts": [
            {"name": name, "heading": names[name], "blocks": made}
            for name, made in blocks.items()
            if made
        ],
    }
    return dict(_readable(made_of))


def _readable(value: Any) -> Any:
    """Return plain data with the characters of names written out that would turn text round."""
    if isinstance(value, str):
        return _TURNING.sub(lambda found: repr(found[0])[1:-1], value)
    if isinstance(value, dict):
        return {name: _readable(inner) for name, inner in value.items()}
    return [_readable(inner) for inner in value] if isinstance(value, list) else value


def verdict(
    tone: str, headline: str, sentences: Iterable[str] = (), tiles: Iterable[Block] = ()
) -> Block:
    """Return the verdict: one line that everyone understands, sentences, and a few large numbers."""
    return {"tone": tone, "headline": headline, "sentences": [*sentences], "tiles": [*tiles]}


def tile(value: str, label: str, tone: str = "") -> Block:
    """Return one large number or word and what it is."""
    return {"value": value, "label": label, "tone": tone}


# ---------------------------------------------------------------------- words


def heading(words: str) -> Block:
    """Return a heading within a part."""
    return {"type": "heading", "text": words}


def text(words: str) -> Block:
    """Return a paragraph."""
    return {"type": "text", "text": words}


def soft(words: str) -> Block:
    """Return a paragraph of small print."""
    return {"type": "soft", "text": words}


def note(words: str) -> Block:
    """Return what a reader must know."""
    return {"type": "note", "text": words}


def notes(words: Iterable[str]) -> list[Block]:
    """Return notes, each once."""
    return [note(one) for one in dict.fromkeys(words) if one]


def items(words: Iterable[str]) -> Block:
    """Return a list of sentences."""
    return {"type": "items", "items": [*words]}


def facts(pairs: Iterable[tuple[str, str]]) -> Block:
    """Return names with what they hold; empty ones are left out."""
    return {"type": "facts", "rows": [[name, said] for name, said in pairs if said]}


def code(words: str) -> Block:
    """Return a command or code."""
    return {"type": "code", "text": words}


def blank(label: str, hint: str = "") -> Block:
    """Return a field that a person must fill in."""
    return {"type": "blank", "label": label, "hint": hint}


def more(label: str, blocks: Iterable[Block], *, unfolded: bool = False) -> Block:
    """Return blocks that are folded under a label; print shows them."""
    return {"type": "more", "label": label, "open": unfolded, "blocks": [*blocks]}


# ---------------------------------------------------------------------- tables


def right(label: str) -> Block:
    """Return a column of numbers."""
    return {"label": label, "align": "right"}


def table(
    caption: str, columns: Sequence[Cell], rows: Iterable[Sequence[Cell]], *, note: str = ""
) -> Block:
    """Return a table; the first cell of a row is its heading.

    Examples
    --------
    >>> made = table("Rows", ["group", right("rows")], [["a", count(1200)]])
    >>> made["rows"][0][1]
    {'text': '1,200', 'value': 1200}
    """
    heads = [{"label": c, "align": "left"} if isinstance(c, str) else c for c in columns]
    filled = [[{"text": c} if isinstance(c, str) else c for c in row] for row in rows]
    for row in filled:  # a heading that says nothing is none
        row[0] = {"text": "(empty)"} if row[0] == {"text": ""} else row[0]
    return {"type": "table", "caption": caption, "columns": heads, "rows": filled, "note": note}


def _digits(value: float, digits: int, *, sign: bool = False) -> str:
    if value is None or value != value:
        return "undefined"
    if value in (float("inf"), float("-inf")):
        return "infinite" if value > 0 else "-infinite"
    shown = round(float(value), digits) + 0.0  # never a minus before nothing
    return f"{shown:+.{digits}f}" if sign else f"{shown:.{digits}f}"


def number(
    value: Any, digits: int = 3, *, tone: str = "", empty: str | None = None, sign: bool = False
) -> Block:
    """Return a number; ``empty`` is what stands for an undefined one.

    Examples
    --------
    >>> number(0.12345), number(float("nan"), tone="thin")
    ({'text': '0.123', 'value': 0.12345}, {'text': 'undefined', 'value': None, 'tone': 'thin'})
    """
    known = value is not None and value == value
    words = _digits(value, digits, sign=sign) if known or empty is None else empty
    return _cell(words, plain(value if known else None), tone=tone)


def estimate(
    value: Any, low: Any, high: Any, digits: int = 3, *, tone: str = "", why: str = ""
) -> Block:
    """Return a number with its interval below it, and why it is weak or undefined.

    Examples
    --------
    >>> estimate(0.5, 0.4, 0.625)["small"]
    '0.400 to 0.625'
    """
    cell = number(value, digits, tone=tone)
    if low is not None and low == low and high == high:
        cell |= {"small": span(low, high, digits), "low": plain(low), "high": plain(high)}
    return cell | ({"why": why} if why else {})


def span(low: float, high: float, digits: int = 3) -> str:
    """Write an interval; nothing for an undefined one."""
    if low is None or low != low or high != high:
        return ""
    return f"{_digits(low, digits)} to {_digits(high, digits)}"


def count(value: Any) -> Block:
    """Return a whole number."""
    return {"text": f"{int(value):,}", "value": int(value)}


def percent(share: float, digits: int = 1) -> Block:
    """Return a share in per cent.

    Examples
    --------
    >>> percent(0.25)
    {'text': '25.0 %', 'value': 0.25}
    """
    known = share == share
    return {"text": f"{100 * share:.{digits}f} %" if known else "undefined", "value": plain(share)}


def word(words: str, tone: str = "", *, small: str = "", why: str = "") -> Block:
    """Return words with a tone: ``within``, ``violated``, ``thin``, ``undefined``, ``soft``."""
    return _cell(words, None, tone=tone, small=small, why=why)


def _cell(words: str, value: Any, **extra: str) -> Block:
    made: Block = {"text": words, "value": value}
    if value is None and words != "undefined":
        del made["value"]
    return made | {name: said for name, said in extra.items() if said}


# ---------------------------------------------------------------------- charts


def intervals(
    title: str,
    rows: Sequence[Block],
    *,
    alt: str,
    ends: tuple[float, float],
    ideal: float | None = None,
    first: str = "",
    note: str = "",
    numbers: bool = True,
) -> Block:
    """Return a chart of values with their intervals, one under the other, and its numbers.

    Parameters
    ----------
    title, alt : str
        The heading, and what a reader who does not see it must know.
    rows : sequence of dict
        Of :func:`whisker`.
    ends : tuple of float
        The ends of the axis; what lies beyond is drawn at the border.
    ideal : float, optional
        A dashed line.
    first : str
        What the rows are.
    note : str
        How to read it.
    numbers : bool
        Whether its numbers follow as a table; not where one on the page holds them.
    """
    values = table(
        title,
        [first or "what", right("value"), right("interval"), right("accepted")],
        [
            [
                row["label"],
                number(row["value"]),
                span(row["low"], row["high"]) if row["low"] is not None else "",
                span(*row["accept"]) if row["accept"] else "",
            ]
            for row in rows
        ],
    )
    axis = {"low": float(ends[0]), "high": float(ends[1]), "ideal": ideal}
    return _chart(
        "intervals", title, alt, note, values if numbers else None, rows=[*rows], axis=axis
    )


def whisker(
    label: str,
    value: Any,
    low: Any = None,
    high: Any = None,
    *,
    accept: tuple[float, float] | None = None,
    tone: str = "dot",
    said: str = "",
) -> Block:
    """Return one row of :func:`intervals`: a value, its interval, its accepted range."""
    bounds = plain([value, low, high])
    return {
        "label": label or "(empty)",
        **dict(zip(("value", "low", "high"), bounds, strict=True)),
        "accept": None if accept is None else [float(a) for a in accept],
        "tone": tone,
        "said": said,
    }


def xy(
    title: str,
    marks: Iterable[Block],
    *,
    alt: str,
    x: Block,
    y: Block,
    numbers: Block | None = None,
    legend: Iterable[tuple[str, str]] = (),
    note: str = "",
    height: float = 360.0,
) -> Block:
    """Return a chart on two axes (:func:`axis`): lines, bands, points, words.

    ``legend`` is pairs of a tone, with dashes after a blank where it has any, and words.
    """
    return _chart(
        "xy", title, alt, note, numbers, x=x, y=y, height=height,
        marks=[*marks], legend=[list(pair) for pair in legend],
    )  # fmt: skip


def axis(label: str, ends: tuple[float, float], ticks: Mapping[float, str] | None = None) -> Block:
    """Return an axis: its words, its ends, and its ticks where they are not round numbers."""
    shown = None if ticks is None else [[float(at), said] for at, said in ticks.items()]
    return {"label": label, "low": float(ends[0]), "high": float(ends[1]), "ticks": shown}


def line(
    x: Any, y: Any, tone: str, *, wide: float = 2.0, dashes: str = "", said: str = ""
) -> Block:
    """Return a line through points."""
    return _mark("line", tone, x=_values(x), y=_values(y), wide=wide, dashes=dashes, said=said)


def area(x: Any, y: Any, tone: str, *, shade: float = 0.12) -> Block:
    """Return a shaded area."""
    return _mark("area", tone, x=_values(x), y=_values(y), shade=shade)


def band(x: Any, low: Any, high: Any, tone: str, *, shade: float = 0.12) -> Block:
    """Return what lies between two lines."""
    across, under, over = _values(x), _values(low), _values(high)
    return area([*across, *across[::-1]], [*under, *over[::-1]], tone, shade=shade)


def point(
    x: float,
    y: float,
    tone: str,
    *,
    said: str = "",
    label: str = "",
    bold: bool = False,
    shape: str = "dot",
    across: tuple[float, ...] | None = None,
    up: tuple[float, ...] | None = None,
) -> Block:
    """Return a point, with its intervals ``across`` and ``up``; ``shape``: dot, square, small, ring."""
    extra: dict[str, Any] = {}
    for name, bounds in (("across", across), ("up", up)):
        if bounds is not None and np.isfinite(bounds).all():
            extra[name] = _values(bounds)
    return _mark(
        "point", tone, x=_values([x])[0], y=_values([y])[0], said=said, label=label,
        bold=bold or None, shape=shape, **extra,
    )  # fmt: skip


def words(x: float, y: float, said: str, *, corner: str = "") -> Block:
    """Return words in a corner of a chart that begins at a point: ``top left``, ``bottom right``."""
    return _mark("words", "soft", x=float(x), y=float(y), said=said, corner=corner)


def _mark(kind: str, tone: str, **given: Any) -> Block:
    kept = {name: value for name, value in given.items() if value not in ("", None)}
    return {"mark": kind, "tone": tone, **kept}


def _values(values: Any) -> list[float]:
    """Return numbers with six significant digits, which is finer than any drawing."""
    return [float(f"{float(v):.6g}") for v in np.ravel(np.asarray(values, dtype=np.float64))]


def _chart(
    kind: str, title: str, alt: str, note: str, numbers: Block | None, **content: Any
) -> Block:
    """Return a chart of a kind that :func:`isonomy.report.charts.draw` knows."""
    return {
        "type": "chart", "kind": kind, "title": title, "alt": alt, "note": note,
        "numbers": numbers, **content,
    }  # fmt: skip


def chart(
    kind: str, title: str, *, alt: str, numbers: Block | None = None, note: str = "", **content: Any
) -> Block:
    """Return a chart of any kind that :func:`isonomy.report.charts.draw` knows."""
    return _chart(kind, title, alt, note, numbers, **content)
