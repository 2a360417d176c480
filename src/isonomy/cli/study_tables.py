"""``isonomy study tables`` and ``compare``: a paper's tables from our runs, beside the published."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from isonomy.cli.options import Json
from isonomy.cli.output import check_writable, console, messages, write_json, write_page
from isonomy.cli.published import show_listing, show_table
from isonomy.cli.study import open_store, study_app
from isonomy.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from isonomy.papers.compare import Comparison
    from isonomy.store import Store

__all__ = ["compare_command", "register", "show_tables", "tables_command"]

_FOLDER = typer.Argument(..., help="The folder of a run (out/NAME), or the study's name.")


def register(app: typer.Typer) -> None:
    """Add the commands to the group."""
    study_app.command("tables")(tables_command)
    study_app.command("compare")(compare_command)


def tables_command(
    folder: str = _FOLDER,
    table: list[str] = typer.Option(
        [], "--table", help="Such as table4, 4, fig5 or all; may be repeated; listed without."
    ),
    reading: str | None = typer.Option(
        None, "--reading", help="as_published or corrected, where a table has both."
    ),
    digits: int | None = typer.Option(
        None, "--digits", min=0, max=12, help="Decimals to show; shares are per cents without."
    ),
    json_file: Json = None,
    html_file: str | None = typer.Option(
        None, "--html", help="Write the tables as one self-contained page."
    ),
) -> None:
    """Make a paper's tables and figures from our own runs of its study."""
    check_writable(json_file)
    check_writable(html_file, option="--html")
    show_tables(open_store(folder), table, reading, digits, json_file, html_file)


def show_tables(
    store: "Store",
    table: list[str],
    reading: str | None = None,
    digits: int | None = None,
    json_file: str | None = None,
    html_file: str | None = None,
) -> None:
    """Show the tables of a store's study, or what can be made of it."""
    from isonomy.papers import paper_of, table_name

    paper = paper_of(store.name)
    wanted = [
        name
        for word in table
        for name in (paper.tables if word == "all" else [table_name(word, paper.tables)])
    ]
    with messages().status(f"reading {store.path} ..."):
        frame = paper.frame_of(store)
    screen = console()
    if not wanted:
        listing = paper.listing(frame)
        if json_file:
            write_json(json_file, {"study": store.name, "tables": listing})
        show_listing(screen, frame, listing, "this run")
        screen.print(f"Make one, or all: isonomy study tables {store.path} --table NAME")
        return
    left: list[str] = []
    if "all" in table:
        made, left = paper.make_all(dict.fromkeys(wanted), frame, reading=reading)
    else:
        made = [paper.make(name, frame, reading=reading) for name in dict.fromkeys(wanted)]
    made = [paper.with_notes(result, store) for result in made]
    for result in made:
        show_table(screen, result, digits)
        screen.print()
    for note in left:
        screen.print(f"[yellow]Note[/yellow] {note}", soft_wrap=True)
    if json_file:
        told = {"study": store.name, "tables": [t.to_dict() for t in made], "left_out": left}
        write_json(json_file, told)
    if html_file:
        from isonomy.report.tables import tables_page

        write_page(html_file, tables_page(made, title=store.name, notes=left, digits=digits))
        screen.print(f"Report: {Path(html_file).resolve()}", soft_wrap=True)


def compare_command(
    folder: str = _FOLDER,
    published: str | None = typer.Option(
        None, "--published", help="The authors' repository, or any part of it."
    ),
    level: float = typer.Option(0.01, "--level", help="Of the tests, after Holm's correction."),
    markdown: str | None = typer.Option(
        None, "--markdown", help="Write the comparison as a part of this Markdown file."
    ),
    json_file: Json = None,
) -> None:
    """Set our runs beside the published ones: single cells, tables and findings.

    Without --published only what the paper prints is compared: tables that our run holds in
    full, and the findings.
    """
    check_writable(json_file)
    check_writable(markdown, option="--markdown")
    from isonomy.papers import paper_of, read_published
    from isonomy.papers.compare import compare, compare_with_print
    from isonomy.study import Study

    store = open_store(folder)
    paper = paper_of(store.name)
    if not paper.comparable:
        raise InputError(
            f"compare needs the authors' runs, which were not published for {store.name}; its "
            f"printed claims beside ours: isonomy study tables {store.path} --table findings"
        )
    with messages().status(f"reading {store.path} ..."):
        ours = paper.frame_of(store)
    with messages().status("comparing ..."):
        if published is None:
            found = compare_with_print(ours, paper.name)
        else:
            theirs = read_published(paper.name, published)
            # as published, the authors' splits are replayed seed by seed
            paired = bool(store.spec) and Study.from_toml(store.spec).protocol == "as_published"
            found = compare(ours, theirs, paper.name, level=level, paired=paired)
    # files first: what is printed may be cut off by a pipe
    if markdown:
        write_part(markdown, store.name, found.markdown())
    screen = console()
    _show(screen, found)
    if json_file:
        write_json(json_file, found.to_dict())
    if markdown:
        screen.print(f"Written: {Path(markdown).resolve()}", soft_wrap=True)


def _show(screen: Any, found: "Comparison") -> None:
    from rich.table import Table

    def print_table(title: str, table: "pd.DataFrame", lead: str) -> None:
        shown = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
        shown.add_column(lead, no_wrap=True, overflow="ellipsis", max_width=33)
        for column in table.columns:
            shown.add_column(str(column), justify="right")
        for name, row in table.iterrows():
            shown.add_row(str(name), *(_cell(str(k), v) for k, v in row.items()))
        screen.print(shown)
        screen.print()

    if len(found.cells):
        title = f"Cells (task, model, method, metric), rejected at {found.level:.0%} after Holm"
        some = {
            "cells": "cells",
            "equal runs": "equal runs",
            "paired": "paired",
            "within 0.02": "<= 0.02",
            "p below 0.05": "p < 0.05",
            "not rejected": "agree",
        }
        print_table(title, found.agreement()[[*some]].rename(columns=some), "method")
    if len(found.tables):
        print_table("Cells of the tables", found.table_agreement(), "table")
    show_table(screen, found.findings)
    for note in found.notes:
        screen.print(f"- {note}", soft_wrap=True)


def _cell(name: str, value: Any) -> str:
    if value != value:
        return ""
    if name == "cells":
        return f"{int(value):,}"
    if name == "paired":
        return f"{value:.4f}"
    return f"{value:g}" if name == "within" else f"{value:.0%}"


def write_part(file: str, name: str, text: str) -> None:
    """Write a part of a Markdown file, in place of what it said of the same study before."""
    path = Path(file)
    begin, end = f"<!-- study {name} -->", f"<!-- end of study {name} -->"
    part = f"{begin}\n{text}{end}\n"
    whole = path.read_text(encoding="utf-8") if path.exists() else ""
    if begin in whole and end in whole:
        before, rest = whole.split(begin, 1)
        whole = before + part + rest.split(end, 1)[1].lstrip("\n")
    else:
        whole = f"{whole.rstrip()}\n\n{part}" if whole else part
    write_page(file, whole)
