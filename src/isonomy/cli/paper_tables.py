"""A paper's tables on the screen, as data and as a page."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isonomy.cli.output import console, make_table, write_json, write_reports
from isonomy.cli.progress import working
from isonomy.cli.runs import open_store

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from isonomy.papers import Paper, PaperTable
    from isonomy.store import Store

Tables = Annotated[
    list[str],
    typer.Option("--table", help="Such as table4, 4, fig5 or all; without it, a list of them."),
]
Reading = Annotated[
    str | None,
    typer.Option("--reading", help="as_published or corrected, where a table has both."),
]


def show_tables(
    source: "Store | str",
    table: list[str],
    published: str | None = None,
    reading: str | None = None,
    digits: int | None = None,
    json_file: str | None = None,
    report_files: Sequence[str] = (),
) -> None:
    """Show tables of a store's study, of a paper's authors' files, or of both; or list them."""
    from isonomy._names import split_commas
    from isonomy.papers import PAPERS, paper_of, read_published
    from isonomy.papers.compare_tables import side_by_side
    from isonomy.papers.paper import FINDINGS

    store = None if isinstance(source, str) else source
    paper = PAPERS[str(source)] if store is None else paper_of(store.name)
    words = split_commas(table)
    wanted = named_tables(table, paper)
    with working(f"reading {published or paper.name}"):
        frame = (
            read_published(paper.name, published or "") if store is None else paper.frame_of(store)
        )
    content: dict[str, Any] = {"paper": paper.name, "held": _contents(frame)}
    screen = console()
    if not wanted:
        content["tables"] = paper.listing(frame)
        _show_listing(screen, content)
        screen.print("Make one, or all: the same command with --table NAME, or --table all")
    else:
        with working("making tables"):
            options: dict[str, Any] = {"published": store is None, "reading": reading}
            if store is not None and FINDINGS in wanted:
                options["beside"] = other_studies(paper, store)
            if store is not None and published:
                del options["published"]
                theirs = read_published(paper.name, published)
                made, left_out = side_by_side(
                    frame, theirs, paper, wanted, paired=is_replayed(store), **options
                )
            else:
                made, left_out = paper.make_all(wanted, frame, skip="all" in words, **options)
        made = [result if store is None else paper.with_notes(result, store) for result in made]
        for result in made:
            show_table(screen, result, digits)
            screen.print()
        for note in left_out:
            screen.print(f"[yellow]Note[/yellow] {note}", soft_wrap=True)
        content |= {"tables": made, "left_out": left_out}
        write_reports(report_files, made, title=paper.name, notes=left_out, digits=digits)
    write_json(json_file, content)


def is_replayed(store: "Store") -> bool:
    """Return whether a store's study replays the authors' splits, seed by seed."""
    from isonomy.study import Study

    return bool(store.spec) and Study.from_toml(store.spec).protocol == "as_published"


def other_studies(paper: "Paper", store: "Store") -> "pd.DataFrame | None":
    """Read our runs of the paper's other studies, from beside the one that is shown."""
    from isonomy.store.record import combine

    file = store.path.suffix == ".parquet"
    places = {
        name: store.path.with_name(f"{name}.parquet" if file else name)
        for name in paper.studies
        if name != store.name
    }
    found = [
        paper.frame_of(open_store(str(place)))
        for place in places.values()
        if (place if file else place / "store.json").exists()
    ]
    return combine(found) if found else None


def named_tables(table: list[str], paper: "Paper") -> list[str]:
    """Return the tables that a user names, once each; ``all`` is every one."""
    from isonomy._names import split_commas
    from isonomy.papers import table_name

    named = (
        [*paper.tables] if word == "all" else [table_name(word, paper.tables)]
        for word in split_commas(table)
    )
    return [*dict.fromkeys(name for names in named for name in names)]


def _contents(frame: "pd.DataFrame") -> dict[str, Any]:
    runs = frame[frame["repeat"].notna()]
    keys = ["study", "dataset", "attributes", "model", "mitigator", "repeat"]
    return {
        "values": len(frame),
        "runs": len(runs[keys].drop_duplicates()),
        **{name: sorted(map(str, frame[name].unique())) for name in ("dataset", "model")},
        "methods": int(runs["mitigator"].nunique()),
    }


def _show_listing(screen: "Console", content: dict[str, Any]) -> None:
    totals = content["held"]
    screen.print(
        f"{totals['runs']:,} runs and {totals['values']:,} values; data: "
        f"{', '.join(totals['dataset'])}; models: {', '.join(totals['model'])}"
    )
    shown = make_table("--table", "what it shows", "can be made", fixed=["--table"])
    for row in content["tables"]:
        needs = f"[yellow]needs {' and '.join(row['missing'])}[/yellow]"
        shown.add_row(row["table"], row["title"], needs if row["missing"] else "[green]yes[/green]")
    screen.print(shown)


def show_table(screen: "Console", result: "PaperTable", digits: int | None = None) -> None:
    """Print a table of a paper."""
    screen.print(f"[bold]{result.name}[/bold]: {result.title}", soft_wrap=True)
    screen.print(result.size)
    text = result.shown(digits)
    if result.name == "findings":
        for row, cells in text.iterrows():
            screen.print(f"\n[bold]{row}[/bold]")
            for side, sentence in cells.items():
                screen.print(f"  {side}: {sentence}", soft_wrap=True)
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

    from isonomy.papers.table import four_digits

    # rows that are only numbered have no labels; numbers of queries, which have a name, are some
    numbered = text.index.nlevels == 1 and text.index.dtype.kind in "iu" and not text.index.name
    labels = [] if numbered else [list(map(four_digits, level)) for level in _levels(text.index)]
    heads = [str(name or "") if text.index.nlevels == 1 else "" for name in text.index.names]
    lead = sum(
        max(map(len, [head, *level])) + 1 for head, level in zip(heads, labels, strict=False)
    )
    for columns in _pieces(text, screen.width - lead):
        shown = Table(box=None, padding=(0, 1, 0, 0))
        for head, _ in zip(heads, labels, strict=False):
            shown.add_column(head, no_wrap=True)
        for column in columns:
            shown.add_column(str(column), justify="right", no_wrap=True)
        cells = [text[column].astype(str).tolist() for column in columns]
        for row in zip(*labels, *cells, strict=True):
            shown.add_row(*row)
        screen.print(shown)


def _levels(index: "pd.Index[Any]") -> list[list[Any]]:
    return [index.get_level_values(level).tolist() for level in range(index.nlevels)]


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
