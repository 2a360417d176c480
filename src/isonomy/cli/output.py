"""What every command writes: tables on the screen, data and pages in files."""

import json
import os
import re
import shlex
import sys
import warnings
from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from isonomy.cli.spoken import spoken
from isonomy.errors import InputError, IsonomyWarning

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

T = TypeVar("T")
_silent: ContextVar[frozenset[str]] = ContextVar("_silent", default=frozenset())


_command: ContextVar[str | None] = ContextVar("_command", default=None)


def command_line(arguments: Sequence[str] | None = None) -> str | None:
    """Return the command as a shell takes it; with ``arguments``, keep them as the command's."""
    if arguments is not None:
        _command.set(shlex.join(["isonomy", *arguments]))
    return _command.get()


def silence(screen: bool, value: T, *, messages: bool = False) -> T:
    """Silence the screen, and the messages too, for the command that runs; return ``value``."""
    if screen:
        _silent.set(_silent.get() | {"screen"} | ({"messages"} if messages else set()))
    return value


def speak() -> None:
    """Undo :func:`silence`: every command starts audible."""
    _silent.set(frozenset())


# Bytes that a terminal obeys (colors, titles, moves of the cursor), and marks that turn text round.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# Commands that a CI runner obeys: ##[...] of GitHub and ##vso[...] of Azure anywhere in a line (the
# brackets may be escaped for the screen), ::error:: and its like where a line begins, also by wrapping.
_RUNNER = re.compile(
    r"#(?=#(?:vso)?\\*\[)|:(?=:(?:error|warning|notice|debug|(?:end)?group|echo|add-mask|add-path|"
    r"add-matcher|remove-matcher|set-env|set-output|save-state|stop-commands|internal-[a-z-]+)\b)",
    re.IGNORECASE,
)
_TAG = re.compile(r"(\\*)\[(/?[a-z#/@][^\[\]]*)\]")
_NARROW = 12  # characters that a column of names keeps, where it can
_STYLES = {"bold", "dim", "red", "green", "yellow", "magenta", "cyan", "default", "italic"}


def visible(text: str) -> str:
    r"""Return a text with the bytes written out that a terminal, or a CI runner, would obey.

    Examples
    --------
    >>> print(visible("a\x1b[31mb"), visible("::error::x ##[error]y std::map"))
    a\x1b[31mb \x3a:error::x \x23#[error]y std::map
    """
    shown = _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)
    return _RUNNER.sub(lambda found: rf"\x{ord(found[0]):02x}", shown)


def one_line(text: str) -> str:
    r"""Return a message with line breaks, which only names in it can have, written out.

    Examples
    --------
    >>> print(one_line("There is no column 'a\nb'."))
    There is no column 'a\nb'.
    """
    return visible(text).replace("\n", r"\n")


def _as_text(found: re.Match[str]) -> str:
    """Leave the styles of this package; any other word in brackets is part of a name."""
    slashes, tag = found.groups()
    ours = set(tag.removeprefix("/").split()) <= _STYLES
    return found[0] if ours or len(slashes) % 2 else f"{slashes}\\[{tag}]"


def _make_console(**options: Any) -> "Console":
    """Return a console on which names from files are text: no control bytes, markup or emoji."""
    from rich.console import Console
    from rich.errors import MarkupError
    from rich.table import Table

    class Screen(Console):
        def print(self, *objects: Any, **options: Any) -> None:
            for table in objects:
                if isinstance(table, Table):
                    _fit(table, self)
            super().print(*objects, **options)

        def render_str(self, text: str, **options: Any) -> Any:
            shown = visible(text)
            if options.get("markup") is False:
                return super().render_str(shown, **options)
            try:
                return super().render_str(_TAG.sub(_as_text, shown), **options)
            except MarkupError:  # a name that closes what nobody opened
                return super().render_str(shown, **{**options, "markup": False})

    return Screen(highlight=False, emoji=False, **options)


def _fit(table: "Table", screen: "Console") -> None:
    """Let a table that is too wide wrap, headings first and numbers last, so that no name is cut."""
    from rich.cells import cell_len
    from rich.measure import Measurement

    endless = screen.options.update(max_width=10_000)

    def width(least: int | None = None) -> int:
        """Return how wide the table is, or can be where columns that wrap keep ``least``."""
        total = len(table.columns) * (table.padding[1] + table.padding[3])
        for column in table.columns:
            cells = (Measurement.get(screen, endless, c) for c in (column.header, *column.cells))
            own = max(cell.maximum for cell in cells)
            total += own if least is None or column.no_wrap else min(own, least)
        return total

    for column in table.columns:
        column.overflow = "fold"
    if width() <= screen.width:
        return
    for column in table.columns:
        cells = (Measurement.get(screen, endless, c).maximum for c in column.cells)
        if isinstance(column.header, str) and cell_len(column.header) > max(cells, default=0):
            column.header = column.header.replace(" ", "\n")
    if width() > screen.width:
        table.padding = (0, 1, 0, 0)
    for sides in ({"left"}, {"left", "right"}):  # numbers wrap where nothing else helps
        if width(least=_NARROW) <= screen.width:
            return
        for column in table.columns:
            column.no_wrap = column.no_wrap and column.justify not in sides


def console() -> "Console":
    """Return the screen; it is silent with ``--quiet`` and where JSON goes to standard output."""
    return _make_console(quiet="screen" in _silent.get(), soft_wrap=False)


def messages() -> "Console":
    """Return the console for progress and messages: standard error, silent with ``--quiet``."""
    return _make_console(stderr=True, quiet="messages" in _silent.get())


def make_table(
    *headings: str, title: str = "", right: Sequence[str] = (), fixed: Sequence[str] = ()
) -> "Table":
    """Return a plain table; columns in ``right`` align right, columns in ``fixed`` never wrap.

    Without headings the table has two columns: names in bold, and what they hold.
    """
    from rich.table import Table

    table = Table(
        title=title or None,
        title_justify="left",
        box=None,
        padding=(0, 2, 0, 0),
        show_header=bool(headings),
    )
    for heading in headings:
        table.add_column(
            heading,
            justify="right" if heading in right else "left",
            no_wrap=heading in fixed or heading in right,
        )
    if not headings:
        table.add_column(style="bold", no_wrap=True)
        table.add_column()
    return table


def print_note(screen: "Console", text: str) -> None:
    """Print what a reader must know, in the words of the command line."""
    from rich.markup import escape

    screen.print(f"[yellow]Note[/yellow] {escape(spoken(text))}", highlight=False)


def speak_warnings() -> None:
    """Let warnings be notes on standard error, each said once, without their place in the code."""
    said: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        text, _, rest = str(message).strip().partition("\n")
        if not isinstance(message, IsonomyWarning):  # of a library: its first line says what
            text = f"{category.__name__}: {text.rstrip(':')}"
        elif rest:
            text = " ".join(f"{text}\n{rest}".split())
        if text not in said:
            said.add(text)
            print_note(messages(), text)

    warnings.showwarning = show


def number(value: float | None, digits: int = 3) -> str:
    """Write a number for a table."""
    if value is None or value != value:
        return "undefined"
    return f"{value:.{digits}f}"


def interval(low: float, high: float, digits: int = 3) -> str:
    """Write an interval for a table."""
    if low != low or high != high:
        return ""
    return f"[{low:.{digits}f}, {high:.{digits}f}]"


def check_writable(file: str | None, *, option: str | None = None) -> None:
    """Raise before any work is done where a result could not be written afterwards.

    ``-`` is standard output, unless an ``option`` is named that writes files only.
    """
    if file == "-" and option:
        raise InputError(f"{option} must name a file; only --json writes to standard output (-).")
    if file is None or file == "-":
        return
    path = Path(file)
    if path.is_dir():
        raise InputError(f"A file must be given to write to; {file!r} is a folder.")
    if not path.parent.is_dir():
        raise InputError(f"The folder of {file!r} does not exist; make it first.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"{file!r} cannot be written: permission denied; choose another place.")


def write_json(file: str | None, content: Any) -> None:
    """Write data to a file, to standard output for ``-``, nowhere for None.

    Objects with ``to_dict()`` and frames, also inside of the data, are written as plain data.
    """
    if file is None:
        return
    from isonomy._files import write_text
    from isonomy._tables import plain

    text = json.dumps(plain(content), indent=2, allow_nan=False, ensure_ascii=False)
    if file == "-":  # a runner that reads it must not find a command: the same data, written out
        sys.stdout.write(_RUNNER.sub(lambda found: rf"\u{ord(found[0]):04x}", text) + "\n")
    else:
        write_text(file, text + "\n")


def write_reports(files: Sequence[str], result: Any, **about: Any) -> None:
    """Write a result as a page, as Markdown or as the page's data, by suffix; say where each is.

    ``about`` is what :func:`isonomy.report.summarize` takes; the command line is added.
    """
    if not files:
        return
    from isonomy.report import summarize, write

    summary = summarize(result, command=command_line(), **about)
    for file in dict.fromkeys(files):
        write(summary, file)
        console().print(f"Report: {Path(file).resolve()}", markup=False, soft_wrap=True)


def refuse_same_file(json_file: str | None, report_files: Sequence[str]) -> None:
    """Raise where data and a report would be written to one file."""
    if json_file in report_files:
        raise InputError(f"--json and --report must be two files; both are {json_file!r}.")
