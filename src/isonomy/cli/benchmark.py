"""``isonomy benchmark``: every applicable method on one's own data, and which one to choose."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isonomy.cli import options
from isonomy.cli.output import (
    console,
    make_table,
    messages,
    print_note,
    write_json,
    write_reports,
)
from isonomy.cli.progress import counting
from isonomy.cli.spoken import spoken
from isonomy.cli.tradeoff import colored

if TYPE_CHECKING:
    from rich.console import Console

    from isonomy.audit import GroupChange
    from isonomy.benchmark import Benchmark, Section

_USUAL = ("accuracy", "statistical_parity_difference")
_COLORS = {
    "worth it": "bold green",
    "perhaps": "yellow",
    "no use": "red",
    "not judged": "magenta",
}


def benchmark_command(
    data: Annotated[
        str, typer.Argument(help="A dataset's name, or a CSV, Parquet, Excel or DuckDB file.")
    ],
    sensitive: options.Sensitive = [],
    label: options.Outcome = None,
    favorable: options.Favorable = [],
    privileged: options.Privileged = [],
    bins: options.Bins = [],
    drop: options.Drop = [],
    table: options.Table = None,
    model: options.Model = ["lr"],
    method: options.Method = ["all"],
    quick: Annotated[
        bool, typer.Option("--quick", help="Leave out the methods that take many fits.")
    ] = False,
    keep_all: Annotated[
        bool,
        typer.Option("--keep-all", help="Run costly methods to the end even when they are beaten."),
    ] = False,
    performance: options.Performance = _USUAL[0],
    fairness: options.Fairness = _USUAL[1],
    tune: Annotated[
        bool | None,
        typer.Option(
            "--tune/--no-tune",
            help="Tune the strength of every method on inner rows, or of none; by default of the "
            "cheap ones.",
            show_default=False,
        ),
    ] = None,
    max_loss: options.MaxLoss = None,
    repeats: options.Repeats = 10,
    resamples: options.Resamples = 500,
    confidence: options.Confidence = 0.95,
    sure: Annotated[
        float,
        typer.Option(help="Probability of a good trade-off that makes a method worth it."),
    ] = 0.95,
    seed: options.Seed = 0,
    backend: options.Backend = "loky",
    workers: options.Workers = None,
    scheduler: options.Scheduler = None,
    time_limit: options.TimeLimit = None,
    retry: options.Retry = False,
    out: Annotated[
        str | None,
        typer.Option(
            help="Folder of the runs; out/benchmark/NAME by default, with the names of other "
            "metrics than the usual ones."
        ),
    ] = None,
    report_files: options.Report = [],
    json_file: options.Json = None,
    quiet: options.Quiet = False,
) -> None:
    """Run every applicable mitigation method on the same splits and say which to choose.

    Each is judged against two baselines: what blind mutation of predictions buys, and what group
    thresholds on the same model reach. What has been run is stored: after Ctrl-C the same command
    continues. The page is report.html in the folder, unless --report names
    others.
    """
    from isonomy.benchmark import benchmark
    from isonomy.metrics import get_metric

    stem = Path(data).stem if "." in Path(data).name else data
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in stem).strip("-") or "data"
    # methods are aimed at the two metrics, so that another pair is another benchmark
    aimed = [
        m for m in (get_metric(performance).name, get_metric(fairness).name) if m not in _USUAL
    ]
    folder = Path(out) if out else Path("out", "benchmark", "-".join([name, *aimed]))
    screen, said = console(), list[str]()

    def tell(notes: Sequence[str]) -> None:
        said.extend(notes)
        _print_notes(screen, notes)

    with counting("splits", resumed=True) as progress, options.offering_a_folder(folder):
        try:
            result = benchmark(
                data,
                sensitive_features=sensitive,
                label=label,
                favorable=favorable or None,
                privileged=options.parse_pairs(privileged, "--privileged") or None,
                bins=options.parse_bins(bins, sensitive),
                drop=drop,
                table=table,
                models=model,
                methods=method,
                quick=quick,
                keep_all=keep_all,
                performance=performance,
                fairness=fairness,
                tune=tune,
                max_loss=max_loss,
                sure=sure,
                repeats=repeats,
                resamples=resamples,
                confidence=confidence,
                random_state=seed,
                backend=backend,
                workers=workers,
                scheduler=scheduler,
                time_limit=time_limit,
                retry=retry,
                folder=folder,
                progress=progress,
                announce=tell,
            )
        except KeyboardInterrupt as stop:
            messages().print(str(stop) or "Interrupted.", soft_wrap=True)
            raise typer.Exit(130) from None
    show(screen, result, said=said)
    write_reports(report_files or [str(folder / "report.html")], result, title=data)
    write_json(json_file, result)
    if result.interrupted:
        raise typer.Exit(130)


def _print_notes(screen: "Console", notes: Sequence[str]) -> None:
    for note in notes:
        print_note(screen, note)


def show(screen: "Console", result: "Benchmark", *, said: Sequence[str] = ()) -> None:
    """Print the judgement: what to choose, the methods, what was left out, notes not yet said."""
    from rich.markup import escape

    from isonomy.benchmark import headline, sentences

    for section in result.sections:
        screen.print(f"\n[bold]{escape(headline(section))}[/bold]\n", soft_wrap=True)
        for sentence in sentences(section):
            screen.print(sentence, highlight=False, markup=False)
        screen.print()
        _print_methods(screen, result, section)
        _print_who_pays(screen, section)
        for verdict in section.verdicts:
            if verdict.status != "ok":
                reason = f"{escape(verdict.method)}: {escape(spoken(verdict.reason))}"
                screen.print(f"[magenta]{verdict.status}[/magenta] {reason}", highlight=False)
    notes = [*(n for s in result.sections for n in s.notes), *result.notes]
    _print_notes(screen, [note for note in notes if note not in said])


def _print_who_pays(screen: "Console", section: "Section") -> None:
    """Print how each group's rates change with the method in front, and which methods level down."""
    from rich.markup import escape

    from isonomy._groups import TOGETHER

    front = section.foremost
    if front is not None and front.pays.changes:
        rates = {c.rate: c.label for c in front.pays.changes}
        whose = escape(section.attribute.replace(TOGETHER, " & "))
        table = make_table(whose, *rates.values(), fixed=[*rates.values()])
        table.padding = (0, 1, 0, 0)
        for group in dict.fromkeys(c.group for c in front.pays.changes):
            row = (c for c in front.pays.changes if c.group == group)
            table.add_row(escape(group), *(_moved(c) for c in row))
        screen.print(f"Who pays with {escape(front.method)}", highlight=False)
        screen.print(table)
        screen.print(
            "+ -: a clear change; (): fewer rows than say; intervals: --report, --json", style="dim"
        )
    down = [v.method for v in section.judged if v.pays.levels_down]
    if down:
        screen.print(f"levels down: {escape(', '.join(down))}", style="dim", highlight=False)


def _moved(change: "GroupChange") -> str:
    """Return a rate before and after in a few characters, and whether the change is clear."""
    said = f"{change.before:.3f} to {change.after:.3f}"
    mark = {"rises": " [green]+[/green]", "falls": " [red]-[/red]"}.get(change.word, "")
    return f"[dim]({said})[/dim]" if change.word == "unknown" else said + mark


def _print_methods(screen: "Console", result: "Benchmark", section: "Section") -> None:
    from isonomy.benchmark.words import percent
    from isonomy.mitigators.aims import GOAL_OF

    headings = ("method", "", result.performance, "bias", "region", "p")
    table = make_table(*headings, right=(result.performance, "bias", "p"), fixed=headings)
    table.padding = (0, 1, 0, 0)
    line = section.baseline
    table.add_row("original", "", f"{line.performance[0]:.3f}", f"{line.bias[0]:.3f}", "", "")
    for verdict in section.judged:
        word = result.word(verdict)
        color = _COLORS.get(word, "dim")
        sure = "" if verdict.worth != verdict.worth else percent(verdict.worth)
        table.add_row(
            verdict.method + ("*" if verdict.on_target is False else ""),
            f"[{color}]{word}[/{color}]",
            f"{verdict.performance.after:.3f}",
            f"{verdict.bias.after:.3f}",
            colored(verdict.region),
            sure,
        )
    screen.print(table)
    screen.print("p: probability of a good or win-win trade-off", style="dim")
    if any(v.on_target is False for v in section.judged):
        aim = GOAL_OF.get(result.fairness, result.fairness).replace("_", " ")
        screen.print(f"*: does not aim at {aim}", style="dim")
    for verdict in section.judged:
        if verdict.settings:
            screen.print(f"{verdict.method} ran with {verdict.settings}", style="dim", markup=False)
