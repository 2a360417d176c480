"""The HTML face: one self-contained page of a summary; no network, nothing beside the file."""

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from isonomy._shown import FACES, Summary
from isonomy.report.charts import draw


@cache
def environment() -> Environment:
    """Return the templates; a block leaves out what it has nothing for."""
    templates = Environment(
        loader=PackageLoader("isonomy.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["drawn"] = _drawn
    templates.filters["breakable"] = _breakable
    templates.filters["longest_word"] = _longest_word
    return templates


def _drawn(chart: dict[str, Any]) -> Any:
    from markupsafe import Markup

    return Markup(draw(chart))


def _breakable(name: str) -> Any:
    """Let a long name of ours break after its underscores and words, rather than anywhere."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"_|(?<=[a-z])(?=[A-Z])", r"\g<0><wbr>", str(escape(name))))


def _longest_word(table: dict[str, Any]) -> int:
    """Return the length of the longest word of a table, which no line of it should break."""
    parts = (cell.get(p, "") for row in table["rows"] for cell in row for p in ("text", "small"))
    words = (word for text in parts for word in re.split(r"[\s_]", text))
    return max(map(len, words), default=0)


@cache
def part_of_page(name: str) -> str:
    """Return a style sheet or script of ours, without indentation and comments."""
    text = (files("isonomy.report") / "templates" / name).read_text(encoding="utf-8")
    if name.endswith(".css"):
        text = re.sub(r"\s*([{};,])\s*", r"\1", text).replace(": ", ":")
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


@FACES.register("html")
def to_html(summary: Summary) -> str:
    """Return a summary as one page.

    It is one file: no address of the network, no font, no image. It opens offline, in light and in
    dark, prints, and is read by keyboards and screen readers.

    Examples
    --------
    >>> from isonomy.report import blocks as b
    >>> made = b.summary("demo", "A <demo>", verdict=b.verdict("", "Nothing to see."))
    >>> "<h1>A &lt;demo&gt;</h1>" in to_html(made)
    True
    """
    script = part_of_page("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        environment()
        .get_template("page.html")
        .render(page=summary, style=part_of_page("page.css"), script=script, script_hash=digest)
        .lstrip()
    )
