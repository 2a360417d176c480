"""``isonomy study tables`` and ``compare``: a paper's tables, and our runs beside the published."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isonomy.cli.options import (
    Alpha,
    Digits,
    Folder,
    Json,
    Ours,
    Quiet,
    Report,
    ResultsFolder,
    RunFolder,
)
from isonomy.cli.output import (
    check_writable,
    console,
    make_table,
    write_json,
)
from isonomy.cli.paper_tables import (
    Reading,
    Tables,
    is_replayed,
    named_tables,
    other_studies,
    show_table,
    show_tables,
)
from isonomy.cli.progress import working
from isonomy.cli.runs import OUT, open_store
from isonomy.cli.study import group
from isonomy.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from isonomy.papers.compare import Comparison
    from isonomy.store import Store

Published = Annotated[
    str | None, typer.Option("--published", help="The authors' repository, or any part of it.")
]


@group.command("tables")
def tables_command(
    folder: Folder,
    table: Tables = [],
    published: Published = None,
    reading: Reading = None,
    run: Annotated[
        bool,
        typer.Option("--run", help="First run what a table needs that runs of the study lack."),
    ] = False,
    digits: Digits = None,
    out: RunFolder = None,
    ours: Ours = False,
    results: ResultsFolder = None,
    json_file: Json = None,
    report_files: Report = [],
    quiet: Quiet = False,
) -> None:
    """Make a paper's tables and figures from our runs of its study, or from the authors' files.

    With --published the first argument is the paper: isonomy study tables chen_2022 --published
    DIR. With --ours it is the study, and our full run of it is read: nothing is run. With both,
    or where the first argument is a run's folder, each row of ours stands above the published one.
    With --run the folder is made where there is none: isonomy study tables monjezi_2025 --table 3
    --run.
    """
    store, place = None, Path(folder)
    is_run = (place / "store.json").exists() or place.suffix == ".parquet"
    if run:
        store = _run_parts(folder, out, table, given=bool(published or ours or results))
    elif not published or ours or results or out or is_run:
        store = open_store(folder, out, ours=ours, results=results)
    show_tables(
        folder if store is None else store,
        table,
        published,
        reading,
        digits,
        json_file,
        report_files,
    )


def _run_parts(folder: str, out: str | None, table: list[str], *, given: bool) -> "Store":
    """Open or make the store of a study, and run what the tables need beyond runs of the study."""
    from isonomy.papers import PAPERS, paper_of
    from isonomy.store import Store

    if given or not table:
        raise InputError(
            "--run needs --table and a folder that can be written: isonomy study tables STUDY --table 3 "
            "--run."
        )
    places = [Path(out)] if out else [Path(folder), OUT / folder]
    if any(place.exists() for place in places):
        store = open_store(folder, out)
    else:
        name = PAPERS[folder].name
        store = Store.create(Path(out) if out else OUT / name, name)
    paper = paper_of(store.name)
    with working("running what the tables need"):
        added = paper.run_parts(named_tables(table, paper), store)
    console().print(f"{added:,} records were added to {store.path}.", soft_wrap=True)
    return store


@group.command("compare")
def compare_command(
    folder: Folder,
    published: Published = None,
    alpha: Alpha = 0.01,
    markdown: Annotated[
        str | None,
        typer.Option("--markdown", help="Write the comparison as a part of this Markdown file."),
    ] = None,
    out: RunFolder = None,
    ours: Ours = False,
    results: ResultsFolder = None,
    json_file: Json = None,
    quiet: Quiet = False,
) -> None:
    """Compare our runs with the published ones: single cells, tables and findings.

    Without --published only what the paper prints is compared: tables that our run holds in
    full, and the findings. Where a paper has several studies, such as a corrected one, the
    findings use all of them that have been run into folders (or exported to files) beside this
    one. With --ours our full run is read from results/, and nothing is run.
    """
    check_writable(markdown, option="--markdown")
    from isonomy.papers import paper_of, read_published
    from isonomy.papers.compare import compare, compare_with_print

    store = open_store(folder, out, ours=ours, results=results)
    paper = paper_of(store.name)
    if published is not None and paper.read is None:
        raise InputError(
            f"--published needs a paper whose authors' runs can be read; those of {paper.name} "
            f"cannot: leave it out, and our tables are compared with the print."
        )
    with working("comparing"):
        frame, beside = paper.frame_of(store), other_studies(paper, store)
        if published is None:
            result = compare_with_print(frame, paper.name, beside=beside)
        else:
            theirs = read_published(paper.name, published)
            paired = is_replayed(store)
            result = compare(frame, theirs, paper.name, alpha=alpha, paired=paired, beside=beside)
    # files first: what is printed may be cut off by a pipe
    if markdown:
        write_part(markdown, store.name, result.markdown())
    write_json(json_file, result)
    screen = console()
    _show_comparison(screen, result)
    if markdown:
        screen.print(f"Written: {Path(markdown).resolve()}", soft_wrap=True)


_SHOWN = {
    "cells": "cells",
    "equal runs": "equal runs",
    "paired": "paired",
    "within 0.01": "<= 0.01",
    "p below 0.05": "p < 0.05",
    "testable": "testable",
    "not rejected": "not rejected",
}


_LEGEND = (
    "equal runs: equal to six digits, seed by seed; paired: mean distance seed by seed; <= 0.01: "
    "means at most that far apart; not rejected: of the testable cells, those in which no "
    "difference was shown, which does not prove that there is none."
)


def _show_comparison(screen: "Console", result: "Comparison") -> None:
    from isonomy.papers.compare import cell_text

    def print_table(title: str, table: "pd.DataFrame", lead: str) -> None:
        headings = [_SHOWN.get(str(c), str(c)) for c in table.columns]
        shown = make_table(lead, *headings, title=title, right=headings)
        for name, row in table.iterrows():
            shown.add_row(str(name), *(cell_text(str(k), v) for k, v in row.items()))
        screen.print(shown)
        screen.print()

    if len(result.cells):
        title = f"Cells (task, model, method, metric), rejected at {result.alpha:.0%} after Holm"
        print_table(title, result.agreement()[[*_SHOWN]], "method")
        screen.print(_LEGEND)
        screen.print()
    if result.is_paired:
        seeds = result.seeds()
        seeds.index = seeds.index.map(" ".join)
        print_table(
            "Runs equal in every metric, of those with the same seeds", seeds, "model, method"
        )
    if len(result.tables):
        print_table("Cells of the tables", result.table_agreement(), "table")
    for table in result.beside:
        show_table(screen, table)
        screen.print()
    if result.findings is not None:
        show_table(screen, result.findings)
    for note in result.notes:
        screen.print(f"- {note}", soft_wrap=True)


def write_part(file: str, name: str, text: str) -> None:
    """Write a part of a Markdown file, in place of what it said of the same study before."""
    from isonomy._files import write_text

    path = Path(file)
    begin, end = f"<!-- study {name} -->", f"<!-- end of study {name} -->"
    part = f"{begin}\n{text}{end}\n"
    whole = path.read_text(encoding="utf-8") if path.exists() else ""
    if begin in whole and end in whole:
        before, rest = whole.split(begin, 1)
        whole = before + part + rest.split(end, 1)[1].lstrip("\n")
    else:
        whole = f"{whole.rstrip()}\n\n{part}" if whole else part
    write_text(file, whole)
