"""``isonomy study``: run a study, look at it while it runs, go on, ask, export."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from isonomy._names import split_commas
from isonomy.cli.options import Json
from isonomy.cli.output import check_writable, console, progress_bar, write_json
from isonomy.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from isonomy.store import Store
    from isonomy.study import Outcome, Study

__all__ = ["open_store", "read_size", "register", "study_app"]

study_app = typer.Typer(
    help="Run a study: thousands of trials, safe from a kill, on one machine or a cluster.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_OUT = "out"
_FOLDER = typer.Argument(..., help="The folder of a run (out/NAME), or the study's name.")
_BACKEND = typer.Option("loky", "--backend", help="serial, loky, dask or ray.")
_WORKERS = typer.Option(None, "--workers", help="Processes on this machine; one per core.")
_SCHEDULER = typer.Option(
    None, "--scheduler", help="Address of a Dask or Ray cluster; one is started here without it."
)
_TIME = typer.Option(None, "--time-limit", help="The most seconds that a trial may take.")
_MEMORY = typer.Option(
    None, "--memory-limit", help="The most memory that a trial's process may hold: 800M, 4G."
)
_RETRY = typer.Option(False, "--retry", help="Run again what has failed or took too long.")


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(study_app, name="study")


@study_app.command("list")
def list_command() -> None:
    """List the studies that come with the package."""
    from rich.table import Table

    from isonomy.papers import load_study, study_names
    from isonomy.study.spec import is_mitigator

    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("study", "tasks", "methods", "repeats", "models", "what"):
        table.add_column(heading, no_wrap=heading == "study")
    for name in study_names():
        study = load_study(name)
        table.add_row(
            name,
            str(len(study.tasks)),
            str(len(study.methods)),
            str(study.repeats),
            " ".join(model for model in study.models if not is_mitigator(model)),
            study.title,
        )
    console().print(table)


@study_app.command("run")
def run_command(
    name: str = typer.Argument(..., help="A study (see `isonomy study list`), or a TOML file."),
    tasks: list[str] = typer.Option([], "--tasks", help="Only these: adult, or adult/sex."),
    models: list[str] = typer.Option([], "--models", help="Only these base learners."),
    methods: list[str] = typer.Option([], "--methods", help="Only these methods, by label."),
    repeats: int | None = typer.Option(None, "--repeats", help="How many splits."),
    protocol: str | None = typer.Option(None, "--protocol", help="as_published or corrected."),
    out: str | None = typer.Option(None, "--out", help="The folder to run into; out/NAME."),
    backend: str = _BACKEND,
    workers: int | None = _WORKERS,
    scheduler: str | None = _SCHEDULER,
    time_limit: float | None = _TIME,
    memory_limit: str | None = _MEMORY,
    retry: bool = _RETRY,
    table: str | None = typer.Option(
        None, "--table", help="Then print this table of the paper (see `isonomy study tables`)."
    ),
) -> None:
    """Run a study, or what is missing of it.

    Each trial is stored as it ends. After Ctrl-C, a kill or a power cut the same command goes on.
    Options that name several things may be repeated, or parted by commas.

    Exit code 0: all trials were run; 1: some have failed or took too long; 130: interrupted.
    """
    from isonomy.papers import load_study

    study = load_study(name)
    changes: dict[str, Any] = {
        "tasks": split_commas(tasks),
        "models": tuple(split_commas(models)),
        "methods": split_commas(methods),
        "repeats": repeats,
        "protocol": protocol,
    }
    study = study.with_(**{k: v for k, v in changes.items() if v not in (None, [], ())})
    folder = out or f"{_OUT}/{study.name}"
    code = 0
    try:
        _run(
            study,
            folder,
            backend=backend,
            workers=workers,
            scheduler=scheduler,
            time_limit=time_limit,
            memory_limit=read_size(memory_limit),
            retry=retry,
        )
    except typer.Exit as end:  # what has failed does not keep the rest from being shown
        code = end.exit_code
        if code != 1:
            raise
    if table is not None:
        from isonomy.cli.study_tables import show_tables

        show_tables(open_store(folder), [table])
    if code:
        raise typer.Exit(code)


@study_app.command("resume")
def resume_command(
    folder: str = _FOLDER,
    backend: str = _BACKEND,
    workers: int | None = _WORKERS,
    scheduler: str | None = _SCHEDULER,
    time_limit: float | None = _TIME,
    memory_limit: str | None = _MEMORY,
    retry: bool = _RETRY,
) -> None:
    """Go on with a run as it was last asked for.

    Exit code as for `isonomy study run`.
    """
    store = open_store(folder)
    _run(
        _study_of(store),
        str(store.path),
        backend=backend,
        workers=workers,
        scheduler=scheduler,
        time_limit=time_limit,
        memory_limit=read_size(memory_limit),
        retry=retry,
    )


@study_app.command("status")
def status_command(
    folder: str = _FOLDER,
    json_file: Json = None,
) -> None:
    """Say how far a run is, and what has failed; it may be running meanwhile."""
    from rich.markup import escape
    from rich.table import Table

    from isonomy.study import plan
    from isonomy.study.run import pending

    check_writable(json_file)
    store = open_store(folder)
    study = _study_of(store)
    jobs, named = pending(study, store, refuse=False)
    stale = _stale(study, store)
    missing = sum(len(job.only) for job in jobs)
    trials = len(plan(study))
    statuses = dict(
        store.query("select status, count(*) n from runs group by status order by n desc").values
    )
    reasons = store.query(
        "select status, mitigator, model, reason, count(*) as n from runs where status <> 'ok' "
        "group by all order by status, n desc, mitigator, model limit 20"
    )
    spent = store.query(
        "select coalesce(sum(cpu), 0) cpu, coalesce(sum(fit_cpu), 0) fit from runs"
    ).iloc[0]
    screen = console()
    screen.print(
        f"\n[bold]{study.name}[/bold] in {store.path}: {trials - len(jobs):,} of {trials:,} trials, "
        f"{len(named) - missing:,} of {len(named):,} records"
    )
    held = ", ".join(f"{n:,} {status}" for status, n in statuses.items()) or "nothing yet"
    screen.print(f"{held}; CPU: {_spent(spent['cpu'])}, {_spent(spent['fit'])} of it in fits")
    if len(reasons):
        table = Table("status", "method", "model", "runs", "reason", box=None, padding=(0, 2, 0, 0))
        for row in reasons[["status", "mitigator", "model", "n", "reason"]].values.tolist():
            table.add_row(*(escape(str(cell)) for cell in row))
        screen.print()
        screen.print(table)
    if stale:
        screen.print(f"\n[yellow]Note[/yellow] {escape(stale)}", soft_wrap=True)
    elif jobs:
        screen.print(f"\nTo go on: isonomy study resume {store.path}")
    if json_file:
        write_json(
            json_file,
            {
                "study": study.name,
                "path": str(store.path),
                "trials": trials,
                "trials_done": trials - len(jobs),
                "records": len(named),
                "records_done": len(named) - missing,
                "statuses": {k: int(v) for k, v in statuses.items()},
                "cpu_seconds": float(spent["cpu"]),
                "fit_cpu_seconds": float(spent["fit"]),
            },
        )


def _stale(study: "Study", store: "Store") -> str:
    """Say why a run cannot go on: what it holds was made by other versions or settings."""
    from isonomy.study.run import pending

    try:
        pending(study, store)
    except InputError as error:
        return f"What is held can be read, but not added to. {error}"
    return ""


@study_app.command("query")
def query_command(
    sql: str = typer.Argument(..., help="DuckDB SQL on the views runs, results and counts."),
    folder: str | None = typer.Option(
        None, "--store", "--out", help="The folder of the run; needed where out/ holds several."
    ),
    csv: bool = typer.Option(False, "--csv", help="Print comma-separated values."),
    limit: int = typer.Option(50, "--limit", help="The most rows of a table on the screen."),
) -> None:
    """Ask a run in SQL, while it runs or afterwards.

    runs: one row per run, one column per metric, time and host. results: one row per run and
    metric. counts: the joint counts. Example: "select mitigator, avg(accuracy) from runs group by
    mitigator".
    """
    from rich.markup import escape
    from rich.table import Table

    found = open_store(folder).query(sql)
    if csv:
        typer.echo(found.to_csv(index=False), nl=False)
        return
    screen = console()
    heads = (escape(str(name)) for name in found.columns)
    table = Table(*heads, box=None, padding=(0, 2, 0, 0))
    for row in found.head(limit).itertuples(index=False):
        table.add_row(*(escape(_cell(value)) for value in row))
    screen.print(table)
    if len(found) > limit:
        screen.print(f"... {len(found) - limit:,} more rows (--limit, or --csv for all)")


@study_app.command("export")
def export_command(
    folder: str = _FOLDER,
    file: str = typer.Argument(..., help="A .parquet or .csv file."),
    view: str = typer.Option("runs", "--view", help="runs, results or counts."),
) -> None:
    """Write a run to Parquet or CSV."""
    check_writable(file, option="FILE")
    written = open_store(folder).export(file, view)
    console().print(f"Written: {written}")


@study_app.command("score")
def score_command(
    folder: str = _FOLDER,
    metrics: list[str] = typer.Argument(..., help="Metrics of counts (see `isonomy metrics`)."),
) -> None:
    """Add metrics to a run from its stored counts; nothing is fitted again."""
    gained = open_store(folder).score(split_commas(metrics))
    console().print(f"{gained:,} runs gained a metric.")


@study_app.command("merge")
def merge_command(
    folder: str = _FOLDER,
    others: list[str] = typer.Argument(..., help="Folders of the same study from elsewhere."),
) -> None:
    """Take over the records of the same study from other folders, of other machines perhaps."""
    from isonomy.store import Store

    came = open_store(folder).merge(*map(Store.open, others))
    console().print(f"{came:,} records came.")


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
    except ValueError:
        raise InputError(f"An amount of memory is written 800M or 4G; got {text!r}.") from None


def open_store(folder: str | None) -> "Store":
    """Open the run of a folder, or of a study's name in out/; the only one when None."""
    from isonomy.store import Store

    if folder is None:
        runs = sorted(p.parent for p in Path(_OUT).glob("*/store.json"))
        if len(runs) != 1:
            held = ", ".join(map(str, runs)) or "none"
            raise InputError(f"One run must be named with --store; the folder out/ holds {held}.")
        return Store.open(runs[0])
    named = Path(_OUT) / folder
    if not Path(folder).exists() and (named / "store.json").exists():
        return Store.open(named)
    return Store.open(folder)


def _study_of(store: "Store") -> "Study":
    from isonomy.study import Study

    if not store.spec:
        raise InputError(
            f"The store {str(store.path)!r} must say what its study is; it holds records only: "
            "run the study into it."
        )
    return Study.from_toml(store.spec)


def _run(study: "Study", out: str, *, retry: bool, **options: Any) -> None:
    from isonomy.study import run
    from isonomy.study.run import Progress

    screen = console()
    screen.print(
        f"[bold]{study.name}[/bold]: {len(study.tasks)} tasks, {len(study.models)} models, "
        f"{len(study.methods)} methods, {study.repeats} repeats, {study.protocol} -> {out}"
    )
    with progress_bar(screen, "trials") as bar:
        task = bar.add_task("starting", total=None)

        def show(now: Progress) -> None:
            bad = sum(now.statuses.get(s, 0) for s in ("failed", "timeout"))
            words = f"{now.trial}" + (f" [red]{bad:,} failed[/red]" if bad else "")
            bar.update(task, total=now.total, completed=now.done, description=words)

        outcome = run(
            study,
            out,
            retry=("failed", "timeout") if retry else (),
            progress=show,
            **options,
        )
    _tell(screen, outcome)
    if outcome.interrupted:
        raise typer.Exit(130)
    if outcome.statuses.get("failed") or outcome.statuses.get("timeout"):
        raise typer.Exit(1)


def _tell(screen: "Console", outcome: "Outcome") -> None:
    came = ", ".join(f"{n:,} {s}" for s, n in sorted(outcome.statuses.items())) or "none"
    screen.print(
        f"{outcome.done:,} {'trial' if outcome.done == 1 else 'trials'} in {outcome.seconds:,.0f} s; new records: {came}; "
        f"{outcome.kept:,} were there before"
    )
    if outcome.cpu:
        screen.print(
            f"CPU: {_spent(outcome.cpu)} in trials, {_spent(outcome.fit_cpu)} of them in fits"
        )
    if outcome.advice:
        screen.print(f"[yellow]Interrupted.[/yellow] {outcome.advice}")


def _spent(seconds: float) -> str:
    """Write a time in the unit in which it can be read: a small run is no 0.00 hours."""
    return f"{seconds:,.1f} s" if seconds < 3600 else f"{seconds / 3600:,.2f} h"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "undefined" if value != value else f"{value:.6g}"
    return str(value)
