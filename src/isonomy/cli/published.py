"""``isonomy published``: a paper's tables, recomputed from its authors' files."""

from typing import TYPE_CHECKING, Any

import typer

from isonomy.cli.options import Json
from isonomy.cli.output import check_writable, console, messages, write_json

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from isonomy.papers import PaperTable

__all__ = ["register", "show_listing", "show_table"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("published")(published_command)


def published_command(
    paper: str = typer.Argument(..., help="fairea, chen or biswas."),
    folder: str = typer.Argument(..., help="The authors' repository, or any part of it."),
    table: str | None = typer.Option(
        None, "--table", help="What to recompute, such as table4, 4 or fig5; listed without."
    ),
    digits: int | None = typer.Option(
        None, "--digits", min=0, max=12, help="Decimals to show; shares are per cents without."
    ),
    json_file: Json = None,
) -> None:
    """Recompute a table or figure of a paper from the files its authors published."""
    check_writable(json_file)
    from isonomy.papers import PAPERS, read_published, table_name

    about = PAPERS[paper]
    name = None if table is None else table_name(table, about.tables)
    with messages().status(f"reading {folder} ..."):
        frame = read_published(paper, folder)
    screen = console()
    if name is None:
        listing = about.listing(frame)
        if json_file:
            write_json(json_file, {"paper": paper, "held": _contents(frame), "tables": listing})
        show_listing(screen, frame, listing, "this folder")
        screen.print(f"Recompute one: isonomy published {paper} DIR --table NAME")
        return
    with messages().status(f"recomputing {name} ..."):
        result = about.make(name, frame, published=True)
    if json_file:
        write_json(json_file, {"paper": paper} | result.to_dict())
    show_table(screen, result, digits)


def _contents(frame: "pd.DataFrame") -> dict[str, Any]:
    runs = frame[frame["repeat"].notna()]
    keys = ["study", "dataset", "attributes", "model", "mitigator", "repeat"]
    return {
        "values": len(frame),
        "runs": len(runs[keys].drop_duplicates()),
        **{name: sorted(map(str, frame[name].unique())) for name in ("dataset", "model")},
        "methods": int(runs["mitigator"].nunique()),
    }


def show_listing(
    screen: "Console", frame: "pd.DataFrame", listing: list[dict[str, Any]], source: str
) -> None:
    """Print what can be made of a folder or a store."""
    from rich.table import Table

    held = _contents(frame)
    screen.print(
        f"{held['runs']:,} runs and {held['values']:,} values; data: "
        f"{', '.join(held['dataset'])}; models: {', '.join(held['model'])}"
    )
    shown = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("--table", "what it shows", f"from {source}"):
        shown.add_column(heading, no_wrap=heading == "--table")
    for row in listing:
        missing = row["missing"]
        told = (
            f"[yellow]needs {' and '.join(missing)}[/yellow]" if missing else "[green]yes[/green]"
        )
        shown.add_row(row["table"], row["title"], told)
    screen.print(shown)


def show_table(screen: "Console", result: "PaperTable", digits: int | None = None) -> None:
    """Print a table of a paper."""
    screen.print(f"[bold]{result.name}[/bold]: {result.title}", soft_wrap=True)
    screen.print(f"{result.cases:,} {result.unit}")
    text = result.shown(digits)
    if result.name == "findings":
        for row, cells in text.iterrows():
            screen.print(f"\n[bold]{row}[/bold]")
            for side, told in cells.items():
                screen.print(f"  {side}: {told}", soft_wrap=True)
    elif text.columns.nlevels > 1:
        # one table for each gap or model: the paper's full width does not fit a terminal
        for group in text.columns.get_level_values(0).unique():
            screen.print(f"\n[bold]{group}[/bold]")
            _grid(screen, text[group])
    else:
        screen.print()
        _grid(screen, text)
    for note in result.notes:
        screen.print(f"- {note}", soft_wrap=True)


def _grid(screen: "Console", text: "pd.DataFrame") -> None:
    """Print a table, in as many pieces side by side as the screen's width asks for."""
    from rich.table import Table

    numbered = text.index.dtype.kind in "iu" and text.index.nlevels == 1
    labels = [[] if numbered else list(r) if isinstance(r, tuple) else [r] for r in text.index]
    lead = (
        sum(max(len(str(row[k])) + 1 for row in labels) for k in range(len(labels[0])))
        if labels
        else 0
    )
    for columns in _pieces(text, screen.width - lead):
        shown = Table(box=None, padding=(0, 1, 0, 0))
        for _ in labels[0] if labels else ():
            shown.add_column("", no_wrap=True)
        for column in columns:
            shown.add_column(str(column), justify="right", no_wrap=True)
        for row, cells in zip(labels, text[columns].to_numpy().tolist(), strict=True):
            shown.add_row(*map(str, row), *map(str, cells))
        screen.print(shown)


def _pieces(text: "pd.DataFrame", width: int) -> list[list[Any]]:
    """Cut the columns into runs that fit a width."""
    pieces: list[list[Any]] = [[]]
    used = 0
    for column in text.columns:
        need = max([len(str(column)), *(len(str(cell)) for cell in text[column])]) + 1
        if pieces[-1] and used + need > width:
            pieces.append([])
            used = 0
        pieces[-1].append(column)
        used += need
    return pieces
