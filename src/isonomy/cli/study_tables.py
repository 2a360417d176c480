"""``isonomy study tables``: the tables and figures of a paper from a run of its study."""

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from isonomy.cli.output import check_writable, console, messages, write_json
from isonomy.cli.published import show_table
from isonomy.cli.study import open_store, study_app
from isonomy.errors import InputError

if TYPE_CHECKING:
    from types import ModuleType

    from isonomy.study import Store

__all__ = ["register", "show_tables"]


def register(app: typer.Typer) -> None:
    """Add the command to the group ``study``."""
    study_app.command("tables")(tables_command)


def tables_command(
    folder: str = typer.Argument(..., help="The folder of a run (out/NAME), or the study's name."),
    table: str | None = typer.Option(
        None, "--table", help="What to make, such as 4, table4 or fig1; listed without."
    ),
    reading: str | None = typer.Option(
        None, "--reading", help="as_published or corrected, where a table has both."
    ),
    digits: int | None = typer.Option(None, "--digits", min=0, max=12, help="Decimals to show."),
    json_file: str | None = typer.Option(
        None, "--json", help="Write the result as data; - is standard output."
    ),
) -> None:
    """Make a table or figure of a paper from our own runs of its study."""
    check_writable(json_file)
    show_tables(open_store(folder), table, reading=reading, digits=digits, json_file=json_file)


def show_tables(
    store: "Store",
    table: str | None,
    *,
    reading: str | None = None,
    digits: int | None = None,
    json_file: str | None = None,
) -> None:
    """Print one table of a store's study, or what can be made of it."""
    from isonomy.studies import table_name

    module = _module(store)
    name = None if table is None else table_name(table, module.TABLES)
    with messages().status(f"reading {store.path} ..."):
        frame = store.frame()
    held = module.held(frame)
    screen = console(json_file)
    if name is None:
        listing = [
            {"table": key, "title": recipe.title, "missing": sorted(recipe.needs - held)}
            for key, recipe in module.TABLES.items()
        ]
        if json_file:
            write_json(json_file, {"study": store.name, "tables": listing})
        _list(screen, listing)
        screen.print(f"Make one: isonomy study tables {store.path} --table NAME")
        return
    recipe = module.TABLES[name]
    missing = recipe.needs - held
    if missing:
        raise InputError(
            f"{name} needs {' and '.join(sorted(missing))}, which {str(store.path)!r} does not "
            f"hold; see what it gives: isonomy study tables {store.path}"
        )
    options: dict[str, Any] = {}
    if reading is not None:
        if "reading" not in inspect.signature(recipe.make).parameters:
            raise InputError(f"{name} has one reading only; leave --reading out.")
        if reading not in ("as_published", "corrected"):
            raise InputError(f"--reading must be as_published or corrected; got {reading!r}.")
        options["reading"] = reading
    with messages().status(f"making {name} ..."):
        result = recipe.make(frame, **options)
        if hasattr(module, "about_runs"):
            more = module.about_runs(name, store.runs())
            result = replace(result, notes=(*result.notes, *more))
    if json_file:
        write_json(json_file, {"study": store.name} | result.summary())
    show_table(screen, result, digits)


def _module(store: "Store") -> "ModuleType":
    from isonomy.studies import STUDIES, study_module

    papers = {study: paper for paper, study in STUDIES.items()}
    if store.name not in papers:
        raise InputError(
            f"Tables belong to a paper's study ({', '.join(papers)}); {str(store.path)!r} holds "
            f"{store.name!r}: ask it with isonomy study query."
        )
    return study_module(papers[store.name])


def _list(screen: Any, listing: list[dict[str, Any]]) -> None:
    from rich.table import Table

    shown = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("--table", "what it shows", "from this run"):
        shown.add_column(heading, no_wrap=heading == "--table")
    for row in listing:
        missing = row["missing"]
        told = (
            f"[yellow]needs {' and '.join(missing)}[/yellow]" if missing else "[green]yes[/green]"
        )
        shown.add_row(row["table"], row["title"], told)
    screen.print(shown)
