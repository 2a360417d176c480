"""A docstring on the screen: paragraphs that wrap, tables as tables, no markup."""

import re
from collections.abc import Iterator

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from isonomy.cli.latex import plain_math

_INLINE = re.compile(r"(:[a-z]+:)`~?([^`]*)`|``([^`]*)``|(?<!\w)\*(\w[^*]*)\*")
_DISPLAYED = ".. math::"
_RULE = re.compile(r"^=+(  +=+)+\s*$")


def show(screen: Console, text: str) -> None:
    """Print a numpydoc text up to its examples."""
    text = re.sub(r"\\\n *", "", text)  # a type that goes on in the next line
    text = text.replace("Notes\n-----\n**Protocols**\n\n", "Protocols\n---------\n")
    for block in _blocks(text.partition("\nExamples\n---")[0].rstrip().splitlines()):
        if isinstance(block, list):
            screen.print(_table(block))
        else:
            indent = len(block) - len(block.lstrip())
            bold = "bold" if re.fullmatch(r"[A-Z][a-z]+( [a-z]+)*", block) else ""
            screen.print(Padding(Text(_plain(block.strip()), style=bold), (0, 0, 0, indent)))


def _plain(text: str) -> str:
    if text.startswith(_DISPLAYED):
        return plain_math(text.removeprefix(_DISPLAYED))
    return _INLINE.sub(
        lambda m: plain_math(m[2]) if m[1] == ":math:" else m[2] or m[3] or m[4], text
    )


def _blocks(lines: list[str]) -> Iterator[str | list[str]]:
    """Return paragraphs as one line each, and the lines of each table as a list."""
    table: list[str] = []
    paragraph = ""
    for line in lines:
        if table or _RULE.match(line):
            if not table and paragraph:
                yield paragraph
                paragraph = ""
            table.append(line)
            if sum(bool(_RULE.match(row)) for row in table) == 3:
                yield table
                table = []
        elif re.fullmatch(r"-{3,}", line):  # what stands above is a heading
            yield paragraph
            paragraph = ""
        elif paragraph and _goes_on(paragraph, line):
            paragraph = f"{paragraph} {line.strip()}"
        else:
            if paragraph:
                yield paragraph
            if not line.strip():
                yield ""
            paragraph = line if line.strip() else ""
    if paragraph:
        yield paragraph
    yield from table


def _goes_on(paragraph: str, line: str) -> bool:
    depth, before = (len(part) - len(part.lstrip()) for part in (line, paragraph))
    if paragraph.lstrip().startswith(_DISPLAYED):
        return bool(line.strip())
    named = depth == 0 and (" : " in line or " : " in paragraph)
    return bool(line.strip()) and depth == before and not named and line.lstrip()[:2] != "- "


def _table(lines: list[str]) -> Table:
    starts = [m.start() for m in re.finditer("=+", lines[0])]
    ends = [*starts[1:], None]
    rows: list[list[str]] = []
    for line in lines:
        if _RULE.match(line):
            continue
        cells = [_plain(line[a:b].strip()) for a, b in zip(starts, ends, strict=True)]
        if cells[0] or not rows:
            rows.append(cells)
        else:  # a row that goes on
            rows[-1] = [f"{a} {b}".strip() for a, b in zip(rows[-1], cells, strict=True)]
    shown = Table(*rows[0], box=None, padding=(0, 2, 0, 0))
    for row in rows[1:]:
        shown.add_row(*row)
    return shown
