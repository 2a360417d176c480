"""``isonomy study``: run a study, see how far it is, continue it, query and export it."""

import json
import shlex
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isonomy._names import split_commas
from isonomy.cli import options as opt
from isonomy.cli.output import check_writable, console, make_table, write_json
from isonomy.cli.progress import counting
from isonomy.cli.runs import OUT, find_run, open_store
from isonomy.errors import InputError, VersionChangeWarning

if TYPE_CHECKING:
    from rich.console import Console

    from isonomy.study import Study

group = typer.Typer(
    help="Run a study: thousands of trials, crash-safe, on one machine or a cluster.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

MOST_MODELS = 8
"""Of more models a table shows the number."""


@group.command("list")
def list_command(json_file: opt.Json = None, quiet: opt.Quiet = False) -> None:
    """List the studies that come with the package."""
    from isonomy.papers import load_study, study_names

    rows = [_listing(load_study(name)) for name in study_names()]
    table = make_table(*rows[0], fixed=["study"])
    for row in rows:
        models = row["models"].split()
        # forty names beside each other leave no room for the title
        shown = row if len(models) <= MOST_MODELS else row | {"models": f"{len(models)} models"}
        table.add_row(*map(str, shown.values()))
    console().print(table)
    write_json(json_file, {"studies": rows})


@group.command("run")
def run_command(
    name: Annotated[str, typer.Argument(help="A study (see `isonomy study list`) or TOML file.")],
    task: Annotated[
        list[str], typer.Option("--task", "--tasks", help="Only this task: adult, or adult/sex.")
    ] = [],
    model: opt.Model = [],
    method: opt.Method = [],
    repeats: Annotated[int | None, typer.Option("--repeats", help="Number of splits.")] = None,
    protocol: Annotated[
        str | None, typer.Option("--protocol", help="as_published or corrected.")
    ] = None,
    out: opt.RunFolder = None,
    backend: opt.Backend = "loky",
    workers: opt.Workers = None,
    scheduler: opt.Scheduler = None,
    time_limit: opt.TimeLimit = None,
    memory_limit: opt.MemoryLimit = None,
    retry: opt.Retry = False,
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE", help="Begin with the records of a file of results."),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option("--table", help="Then print this table (see `isonomy study tables`)."),
    ] = None,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Run a study, or its missing trials, into out/NAME or --out.

    Each trial is stored as it ends. After Ctrl-C, a kill or a power cut the same command
    continues. With --from NAME.parquet (see `isonomy study export`) records whose keys are
    planned are taken from the file, and the others are run. Options that take several values may be repeated, or comma-separated.

    Exit code 0: all trials were run; 1: some have failed or took too long; 130: interrupted.
    """
    from isonomy.papers import load_study

    changes: dict[str, Any] = {
        "tasks": split_commas(task),
        "models": tuple(model),
        "methods": method,
        "repeats": repeats,
        "protocol": protocol,
    }
    changes = {key: value for key, value in changes.items() if value not in (None, [], ())}
    study = load_study(name).with_(**changes)
    folder = out or str(OUT / study.name)
    limits = {"time_limit": time_limit, "memory_limit": read_size(memory_limit)}
    engine: dict[str, Any] = {
        "backend": backend,
        "workers": workers,
        "scheduler": scheduler,
        **limits,
    }
    engine["start"] = None if start is None else open_store(start)
    code = _run(study, folder, retry, json_file, engine)
    if table is not None and code != 130:
        from isonomy.cli.paper_tables import show_tables

        show_tables(open_store(folder), [table])
    raise typer.Exit(code)


@group.command("resume")
def resume_command(
    folder: opt.Folder,
    backend: opt.Backend = "loky",
    workers: opt.Workers = None,
    scheduler: opt.Scheduler = None,
    time_limit: opt.TimeLimit = None,
    memory_limit: opt.MemoryLimit = None,
    retry: opt.Retry = False,
    out: opt.RunFolder = None,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Continue a run as it was last started.

    Exit code as for `isonomy study run`.
    """
    from isonomy.study.run import study_of

    store = open_store(folder, out)
    limits = {"time_limit": time_limit, "memory_limit": read_size(memory_limit)}
    engine = {"backend": backend, "workers": workers, "scheduler": scheduler, **limits}
    raise typer.Exit(_run(study_of(store), str(store.path), retry, json_file, engine))


@group.command("status")
def status_command(
    folder: opt.Folder,
    out: opt.RunFolder = None,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Show how far a run is, and what has failed; it may be running meanwhile."""
    from rich.markup import escape

    from isonomy.study import status

    now = status(open_store(folder, out))
    screen = console()
    screen.print(
        f"\n[bold]{now.study}[/bold] in {now.path}: {now.trials_done:,} of {now.trials:,} trials, "
        f"{now.records_done:,} of {now.records:,} records"
        + (
            f", and {now.records_beyond:,} more from earlier or merged runs"
            if now.records_beyond
            else ""
        )
    )
    counts = ", ".join(f"{n:,} {word}" for word, n in now.statuses.items()) or "nothing yet"
    cpu, fits = _duration(now.cpu_seconds), _duration(now.fit_cpu_seconds)
    screen.print(f"{counts}; CPU: {cpu}, {fits} of it in fits")
    if now.versions:
        shown = ", ".join(f"{name} {version}" for name, version in now.versions.items())
        screen.print(f"run with {shown}", soft_wrap=True)
    if len(now.problems):
        screen.print()
        screen.print(_table(now.frame().rename(columns={"mitigator": "method"})))
    if now.stale:
        screen.print(f"\n[yellow]Note[/yellow] {escape(now.stale)}", soft_wrap=True)
    if now.changed:
        screen.print(f"\n[yellow]Note[/yellow] Changed since: {'; '.join(now.changed)}")
    if now.trials_done < now.trials and not now.stale:
        screen.print(f"\nTo continue: isonomy study resume {now.path}")
    write_json(json_file, now)


@group.command("query")
def query_command(
    folder: opt.Folder,
    sql: Annotated[str, typer.Argument(help="DuckDB SQL on the views runs, results and counts.")],
    csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
    limit: Annotated[int, typer.Option("--limit", help="The most rows to print.")] = 50,
    ours: opt.Ours = False,
    results: opt.ResultsFolder = None,
    out: opt.RunFolder = None,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Query a run in SQL, while it runs or afterwards.

    runs: one row per run, one column per metric, time and host. results: one row per run and
    metric. counts: the joint counts. Example: "select mitigator, avg(accuracy) from runs group by
    mitigator".
    """
    answer = open_store(folder, out, ours=ours, results=results).query(sql)
    screen = console()
    if json_file:
        write_json(json_file, {"rows": json.loads(answer.to_json(orient="records"))})
    elif csv:
        typer.echo(answer.to_csv(index=False), nl=False)
        return
    _print_rows(screen, answer.head(limit))
    if len(answer) > limit:
        screen.print(f"... {len(answer) - limit:,} more rows (--limit, or --csv for all)")


@group.command("export")
def export_command(
    folder: opt.Folder,
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="A .parquet or .csv file, or a folder.")
    ],
    view: Annotated[
        str | None, typer.Option("--view", help="runs (the default), results or counts.")
    ] = None,
    hosts: Annotated[bool, typer.Option("--hosts", help="With the names of the machines.")] = False,
    out: opt.RunFolder = None,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Write a view of a run to Parquet or CSV, or all of it to one compact file.

    In a folder the compact file is NAME.parquet, with NAME.json beside it: versions, kind of
    machine, CPU time, checksum. Other commands read it as they read a run, and `isonomy study
    run NAME --from NAME.parquet` continues it on another machine.
    """
    store = open_store(folder, out)
    if Path(target).suffix and not Path(target).is_dir():
        check_writable(target, option="TARGET")
        written = store.export(target, view or "runs", hosts=hosts)
    elif view is not None or hosts:
        raise InputError(
            f"--view and --hosts are for a .parquet or .csv file; got {target!r}: leave them out, "
            "or name a file."
        )
    else:
        from isonomy.study import export_results

        written = export_results(store, target)
    _finish(
        json_file,
        {"file": str(written)},
        f"Written: {written} ({written.stat().st_size:,} bytes, {len(store):,} records)",
    )


@group.command("verify")
def verify_command(
    folder: opt.Folder,
    out: opt.RunFolder = None,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Read every file of a run again and check its checksum; nothing is changed.

    Exit code 0: all is as it was written; 1: something is damaged or missing.
    """
    from isonomy.store import verify_store

    place, problems = find_run(folder, out), []
    if place.suffix == ".parquet":
        try:
            open_store(folder, out)
        except InputError as error:
            problems = [str(error)]
    else:
        problems = verify_store(place)
    _finish(json_file, {"problems": problems}, *(problems or ["Every checksum holds."]))
    raise typer.Exit(int(bool(problems)))


@group.command("score")
def score_command(
    folder: opt.Folder,
    metrics: Annotated[
        list[str], typer.Argument(help="Metrics of counts (see `isonomy metrics`).")
    ],
    out: opt.RunFolder = None,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Add metrics to a run from its stored counts; nothing is fitted again."""
    store = open_store(folder, out)
    gained = store.score(split_commas(metrics))
    rest = len(store) - gained
    why = (
        f" {rest:,} did not: they have it, are not ok, or are points of a mutation baseline, "
        "which are means over draws."
    )
    _finish(json_file, {"gained": gained}, f"{gained:,} runs gained a metric.{why if rest else ''}")


@group.command("merge")
def merge_command(
    folder: opt.Folder,
    others: Annotated[
        list[str], typer.Argument(help="Folders of the same study from other machines.")
    ],
    out: opt.RunFolder = None,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Add the records of the same study from other folders."""
    copied = f"cp -r {shlex.quote(others[0])} {shlex.quote(out or folder)}"
    first = f"records are added to a run that is there: name that one first, or copy it ({copied})"
    there = "name the folders of runs of the same study"
    store = open_store(folder, out, hint=first)
    added = store.merge(*(open_store(other, hint=there) for other in others))
    _finish(json_file, {"added": added}, f"{added:,} records were added.")


# ---------------------------------------------------------------------- behind the commands


def read_size(text: str | None) -> int | None:
    """Read an amount of memory.

    Examples
    --------
    >>> read_size("800M"), read_size("1.5G")
    (838860800, 1610612736)
    """
    if text is None:
        return None
    units = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
    written = text.strip().upper().removesuffix("B").removesuffix("I")
    unit = written[-1:] if written[-1:] in units else ""
    try:
        return int(float(written.removesuffix(unit)) * units[unit])
    except (ValueError, OverflowError):
        raise InputError(f"An amount of memory is written 800M or 4G; got {text!r}.") from None


def _listing(study: "Study") -> dict[str, Any]:
    return {
        "study": study.name,
        "tasks": len(study.tasks),
        "methods": len(study.methods),
        "repeats": study.repeats,
        "models": " ".join(model for model in study.models if not study.stands_in(model)),
        "title": study.title,
    }


def _run(
    study: "Study", folder: str, retry: bool, json_file: str | None, engine: dict[str, Any]
) -> int:
    """Run a study under a progress bar, print the outcome, and return the exit code."""
    from isonomy.study import Progress, run

    screen = console()
    screen.print(
        f"[bold]{study.name}[/bold]: {_some(len(study.tasks), 'task')}, "
        f"{_some(len(study.models), 'model')}, {_some(len(study.methods), 'method')}, "
        f"{_some(study.repeats, 'repeat')}, {study.protocol} -> {folder}"
    )
    with counting("trials") as count:

        def show(now: Progress) -> None:
            failed = f", [red]{now.failed:,} failed[/red]" if now.failed else ""
            count(now.done, now.total, f"{now.trial}{failed}")

        again = ("failed", "timeout", "skipped") if retry else ()
        # a change of versions is shown below
        quietly = warnings.catch_warnings(action="ignore", category=VersionChangeWarning)
        with quietly, opt.offering_a_folder(Path(folder)):
            outcome = run(study, folder, retry=again, progress=show, **engine)
    if outcome.taken:
        screen.print(f"{outcome.taken:,} records were taken from {engine['start'].path}")
    new = ", ".join(f"{n:,} {s}" for s, n in sorted(outcome.statuses.items())) or "none"
    screen.print(
        f"{_some(outcome.done, 'trial')} in {outcome.seconds:,.0f} s; new records: {new}; "
        f"{outcome.kept:,} were stored before"
    )
    if outcome.cpu:
        cpu, fits = _duration(outcome.cpu), _duration(outcome.fit_cpu)
        screen.print(f"CPU: {cpu} in trials, {fits} of them in fits")
    if set(outcome.statuses) - {"ok"}:
        _print_reasons(screen, folder)
    if outcome.changed:
        screen.print(
            f"[yellow]Note[/yellow] Stored before with other versions: {'; '.join(outcome.changed)}; "
            "new results may differ by that alone",
            soft_wrap=True,
        )
    if outcome.advice:
        screen.print(f"[yellow]Interrupted.[/yellow] {outcome.advice}")
    write_json(json_file, outcome)
    return 130 if outcome.interrupted else int(outcome.failed > 0)


def _print_reasons(screen: "Console", folder: str, most: int = 3) -> None:
    """Print the most frequent reasons of runs that are not ok, and where to see all."""
    from rich.markup import escape

    from isonomy.store import Store

    reasons = Store.open(folder).query(
        "select status, count(*) n, reason from runs where status <> 'ok' group by all "
        "order by n desc, status, reason"
    )
    for status, n, reason in reasons.head(most).itertuples(index=False):
        screen.print(f"[yellow]{n:,} {status}[/yellow] {escape(reason)}", soft_wrap=True)
    more = (
        f"{len(reasons) - most:,} more reasons, by method" if len(reasons) > most else "By method"
    )
    screen.print(f"{more}: isonomy study status {escape(folder)}", soft_wrap=True)


def _finish(json_file: str | None, result: dict[str, Any], *sentences: str) -> None:
    for sentence in sentences:
        console().print(sentence, soft_wrap=True, markup=False)
    write_json(json_file, result)


def _table(frame: Any) -> Any:
    from rich.markup import escape

    table = make_table(*(escape(str(name)) for name in frame.columns))
    for row in frame.itertuples(index=False):
        table.add_row(*(escape(_cell(value)) for value in row))
    return table


def _print_rows(screen: "Console", frame: Any) -> None:
    """Print rows as a table, or, where so many columns cannot be read, one line per value."""
    from rich.markup import escape
    from rich.measure import Measurement

    table = _table(frame)
    unlimited = screen.options.update(width=1_000_000)
    if Measurement.get(screen, unlimited, table).minimum <= screen.width:
        screen.print(table)
        return
    for row in frame.to_dict("records"):
        values = make_table()
        for name, value in row.items():
            values.add_row(escape(str(name)), escape(_cell(value)))
        screen.print(values)
        screen.print()


def _some(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _duration(seconds: float) -> str:
    """Write a time in a readable unit: a small run is not 0.00 hours."""
    return f"{seconds:,.1f} s" if seconds < 3600 else f"{seconds / 3600:,.2f} h"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "undefined" if value != value else f"{value:.6g}"
    return str(value)
