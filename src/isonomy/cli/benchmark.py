"""``isonomy benchmark``: every applicable method on one's own data, and which one to choose."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from isonomy._names import split_commas
from isonomy.cli.options import Json
from isonomy.cli.output import (
    check_writable,
    console,
    messages,
    progress_bar,
    value_pairs,
    write_json,
    write_page,
)
from isonomy.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from isonomy.benchmark.judge import Benchmark, MethodVerdict, Section
    from isonomy.store import Record, Store
    from isonomy.study import Study

__all__ = ["register"]

_COLOURS = {
    "worth it": "bold green",
    "perhaps": "yellow",
    "no use": "red",
    "not judged": "magenta",
}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("benchmark")(benchmark_command)


def benchmark_command(
    data: str = typer.Argument(..., help="A dataset's name, or a CSV or Parquet file."),
    sensitive: list[str] = typer.Option(
        [], "--sensitive", "--attribute", help="Protected attribute; may be repeated."
    ),
    label: str | None = typer.Option(None, "--label", help="For a file: the column to predict."),
    favorable: list[str] = typer.Option(
        [], "--favorable", "--favourable", help="The label that is good to get; may be repeated."
    ),
    privileged: list[str] = typer.Option(
        [], "--privileged", help="ATTRIBUTE=VALUE of the group to compare with; may be repeated."
    ),
    bins: list[str] = typer.Option(
        [], "--bins", help="ATTRIBUTE=CUT,CUT,...: cut a number such as age into bands."
    ),
    drop: list[str] = typer.Option(
        [], "--drop", help="For a file: a column not to learn from; may be repeated."
    ),
    model: str = typer.Option("lr", "--model", help="Base learners by commas."),
    methods: str = typer.Option(
        "all", "--methods", help="Mitigators by commas: see isonomy mitigators."
    ),
    performance: str = typer.Option("accuracy", "--performance", help="The metric to keep."),
    fairness: str = typer.Option(
        "statistical_parity_difference", "--fairness", help="The metric to mend."
    ),
    max_loss: float | None = typer.Option(
        None, "--max-loss", min=0, help="The most performance that may be given up."
    ),
    repeats: int = typer.Option(10, "--repeats", min=1, help="Splits into training and test."),
    resamples: int = typer.Option(500, "--resamples", min=50, help="Bootstrap resamples."),
    level: float = typer.Option(0.95, "--level", help="Confidence level of the intervals."),
    sure: float = typer.Option(
        0.95, "--sure", help="Probability of a good trade-off that makes a method worth it."
    ),
    seed: int = typer.Option(0, "--seed", help="Seed of splits and resamples."),
    backend: str = typer.Option("loky", "--backend", help="serial, loky, dask or ray."),
    workers: int | None = typer.Option(None, "--workers", min=1, help="Worker processes."),
    scheduler: str | None = typer.Option(
        None, "--scheduler", help="Address of a Dask scheduler or Ray cluster."
    ),
    time_limit: float | None = typer.Option(
        None, "--time-limit", min=0, help="The most seconds that one split may take."
    ),
    retry: bool = typer.Option(
        False, "--retry", help="Run again what has failed, after an extra was installed perhaps."
    ),
    out: str | None = typer.Option(
        None, "--out", help="Folder of the runs; out/benchmark/NAME by default."
    ),
    html_file: str | None = typer.Option(
        None, "--html", help="The page; report.html in the folder by default."
    ),
    json_file: Json = None,
) -> None:
    """Run every applicable mitigation method on the same splits and say which to choose.

    Each is judged against two baselines: what blind mutation of predictions buys (Fairea), and
    what group thresholds on the same model reach. What has been run is kept: Ctrl-C loses
    nothing that was done, and the same command goes on from there.
    """
    folder = Path(out) if out else Path("out") / "benchmark" / _place(data)
    check_writable(json_file)
    if html_file:
        check_writable(html_file, option="--html")
    from isonomy.benchmark.judge import plan_benchmark
    from isonomy.metrics import get_metric
    from isonomy.store import Store

    kept, mended = get_metric(performance).name, get_metric(fairness).name
    with messages().status(f"reading {data} ..."):
        plan = plan_benchmark(
            data,
            sensitive,
            label=label,
            favorable=favorable or None,
            privileged=value_pairs(privileged, "--privileged") or None,
            bins=_cuts(bins),
            drop=drop,
            models=_words(model, "--model"),
            methods=_words(methods, "--methods"),
            fairness=mended,
            repeats=repeats,
            seed=seed,
            folder=folder,
        )
    stopped = _run(
        plan.study,
        _made(folder),
        backend=backend,
        workers=workers,
        scheduler=scheduler,
        time_limit=time_limit,
        retry=("failed", "timeout") if retry else (),
    )
    records = _records(plan.study, Store.open(folder / "store"))
    if stopped and not any(r.status == "ok" for r in records):
        messages().print(stopped[0], soft_wrap=True)
        raise typer.Exit(130)
    found, notes = _judged(
        records,
        {
            "performance": kept,
            "fairness": mended,
            "resamples": resamples,
            "level": level,
            "sure": sure,
            "max_loss": max_loss,
            "random_state": seed,
        },
        [*plan.notes, *stopped],
    )
    screen = console()
    show(screen, found, notes)
    page = html_file or str(folder / "report.html")
    from isonomy.report.benchmark import benchmark_page

    write_page(page, benchmark_page(found, title=data))
    if json_file:
        write_json(json_file, found.summary())
    screen.print(f"Report: {Path(page).resolve()}", soft_wrap=True, highlight=False)
    if stopped:
        raise typer.Exit(130)


# ---------------------------------------------------------------------- what was given


def _place(data: str) -> str:
    stem = Path(data).stem if "." in Path(data).name else data
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in stem).strip("-") or "data"


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out must be a folder; {str(folder)!r}: {error.strerror}.") from None
    return folder


def _words(text: str, option: str) -> list[str]:
    found = split_commas(text)
    if not found:
        raise InputError(f"{option} must name one or more; got {text!r}.")
    return found


def _cuts(given: list[str]) -> dict[str, list[float]]:
    cuts: dict[str, list[float]] = {}
    for name, values in value_pairs(given, "--bins").items():
        try:
            cuts[name] = [float(v) for text in values for v in text.split(",")]
        except ValueError:
            raise InputError(
                f"--bins must be ATTRIBUTE=CUT,CUT,... in numbers; got {values[0]!r}."
            ) from None
    return cuts


# ---------------------------------------------------------------------- running and judging


def _run(study: "Study", folder: Path, **how: Any) -> list[str]:
    """Run what is missing; give a note where it was stopped."""
    from isonomy.store import Store
    from isonomy.study import plan, run
    from isonomy.study.run import Progress, pending

    store = Store.create(folder / "store", study.name, study.toml())
    missing, total = len(pending(study, store, retry=how["retry"])[0]), len(plan(study))
    screen = messages()
    if missing < total:
        more = "; going on" if missing else ""
        screen.print(f"{total - missing} of {total} splits were done before{more}.")
    with progress_bar(screen, "splits") as bar:
        task = bar.add_task("", total=total, completed=total - missing)

        def show(now: Progress) -> None:
            bar.update(task, completed=total - now.total + now.done, description=str(now.trial))

        outcome = run(study, store, progress=show, **how)
    if not outcome.interrupted:
        return []
    done = total - outcome.trials + outcome.done
    return [f"Stopped: {done} of {total} splits are done; the same command goes on."]


def _judged(
    records: "list[Record]", options: dict[str, Any], notes: list[str]
) -> "tuple[Benchmark, list[str]]":
    from dataclasses import replace

    from isonomy.benchmark.judge import judge_benchmark

    if not any(r.status == "ok" for r in records):
        why = next((r.reason for r in records if r.reason), "nothing has been run yet")
        raise InputError(f"No run went well, so there is nothing to judge: {why}")
    with messages().status("judging ..."):
        found = judge_benchmark(records, **options)
    notes = [*found.notes, *notes]
    return replace(found, notes=tuple(notes)), notes


def _records(study: "Study", store: "Store") -> "list[Record]":
    """Give the store's records that belong to this study as it is now."""
    from isonomy.study import keys, plan

    # in the order in which tasks, models and methods were asked for
    order = {key: k for k, key in enumerate(k for t in plan(study) for k in keys(study, t))}
    return sorted((r for r in store.records() if r.key in order), key=lambda r: order[r.key])


# ---------------------------------------------------------------------- what is printed


def show(screen: "Console", found: "Benchmark", notes: list[str]) -> None:
    """Print the judgement: what to choose, the methods, what was left out."""
    from rich.markup import escape

    from isonomy.benchmark.judge import headline, sentences

    for section in found.sections:
        screen.print(f"\n[bold]{escape(headline(section))}[/bold]\n", soft_wrap=True)
        for told in sentences(found, section):
            screen.print(told, highlight=False, markup=False)
        screen.print()
        _table(screen, found, section)
        left = [v for v in section.verdicts if v.status != "ok"]
        for verdict in left:
            screen.print(
                f"[magenta]{verdict.status}[/magenta] "
                f"{escape(verdict.method)}: {escape(verdict.reason)}",
                highlight=False,
            )
        for note in section.notes:
            screen.print(f"[yellow]Note[/yellow] {escape(note)}", highlight=False)
    for note in notes:
        screen.print(f"[yellow]Note[/yellow] {escape(note)}", highlight=False)


def _table(screen: "Console", found: "Benchmark", section: "Section") -> None:
    from rich.table import Table

    from isonomy.cli.tradeoff import COLOURS

    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("method", no_wrap=True, overflow="ellipsis")
    table.add_column("", no_wrap=True)
    for heading in (found.performance, "bias"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("region", no_wrap=True)
    table.add_column("p", justify="right", no_wrap=True)
    line = section.baseline
    table.add_row("original", "", f"{line.performance[0]:.3f}", f"{line.bias[0]:.3f}", "", "")
    for verdict in section.judged:
        word = found.word(verdict)
        colour = _COLOURS.get(word, "dim")
        region = verdict.region or "none"
        shade = COLOURS.get(region, "magenta")
        table.add_row(
            verdict.method,
            f"[{colour}]{word}[/{colour}]",
            f"{verdict.performance.after:.3f}",
            f"{verdict.bias.after:.3f}",
            f"[{shade}]{region}[/{shade}]",
            _sure(verdict),
        )
    screen.print(table)
    screen.print("p: probability of a good or win-win trade-off", style="dim")


def _sure(verdict: "MethodVerdict") -> str:
    # cut, not rounded: 94.6 % is not the 95 % that makes a method worth it
    return "" if verdict.worth != verdict.worth else f"{int(100 * verdict.worth + 1e-9)}%"
