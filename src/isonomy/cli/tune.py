"""``isonomy tune``: a mitigator's trade-off over its parameters, and the value to choose."""

import inspect
import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isonomy._names import format_value, parse_value, split_commas
from isonomy.cli import options
from isonomy.cli.output import (
    check_writable,
    console,
    make_table,
    messages,
    number,
    print_note,
    write_json,
    write_reports,
)
from isonomy.cli.progress import counting
from isonomy.cli.tradeoff import Rule, as_data, colored, read_dataset
from isonomy.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from isonomy.tradeoff import TradeOff, Tuning


def tune_command(
    method: Annotated[str, typer.Argument(help="A mitigator (see `isonomy mitigators`).")],
    data: Annotated[str, typer.Argument(help="A dataset (see `isonomy data list`), or a file.")],
    param: Annotated[
        list[str],
        typer.Option(
            help="NAME=LOW:HIGH:STEP to sweep, NAME=LOW:HIGH to search, NAME=A,B,C to try; may be repeated."
        ),
    ] = [],
    sensitive: options.Sensitive = [],
    model: options.Model = ["lr"],
    original: Annotated[
        list[str],
        typer.Option(help="NAME=VALUE: take the method at this value as the original model."),
    ] = [],
    objective: Annotated[str, typer.Option(help="area, or PERFORMANCE,FAIRNESS.")] = "area",
    performance: options.Performance = "accuracy",
    fairness: options.Fairness = "statistical_parity_difference",
    max_loss: options.MaxLoss = None,
    min_performance: Annotated[
        float | None, typer.Option(help="Least accepted performance.")
    ] = None,
    validation: Annotated[float, typer.Option(help="Share of training rows to judge on.")] = 0.3,
    repeats: options.Repeats = 1,
    strategy: Annotated[
        str | None, typer.Option(help="grid, random, flash, mutation or optuna.")
    ] = None,
    budget: Annotated[int, typer.Option(help="Most settings that a search tries.")] = 50,
    rule: Rule = "paper",
    cache: Annotated[
        str | None,
        typer.Option(help="File that keeps what was evaluated: the same command resumes."),
    ] = None,
    seed: options.Seed = 0,
    label: options.Outcome = None,
    favorable: options.Favorable = [],
    privileged: options.Privileged = [],
    bins: options.Bins = [],
    drop: options.Drop = [],
    table: options.Table = None,
    json_file: options.Json = None,
    report_files: options.Report = [],
    quiet: options.Quiet = False,
) -> None:
    """Vary a mitigator's parameters, judge each setting on validation rows, and choose.

    The chosen setting is then fitted on all training rows and judged on test rows.

    Exit code 0: done; 1: no setting keeps the constraint; 2: something is wrong with the input.
    """
    if len(sensitive) != 1:
        raise InputError(
            "One protected attribute must be named: --sensitive ATTRIBUTE; several that belong "
            "together are written sex+race."
        )
    if not param:
        raise InputError(f"At least one parameter must be varied: {_example(method)}.")
    check_writable(cache, option="--cache")
    from isonomy._groups import TOGETHER
    from isonomy.tradeoff import JsonLinesCache, judge_mitigator, train_and_test, tune

    dataset, notes = read_dataset(
        data,
        sensitive,
        label=label,
        favorable=favorable or None,
        privileged=options.parse_pairs(privileged, "--privileged"),
        bins=options.parse_bins(bins, sensitive),
        drop=drop,
        table=table,
    )
    mitigator, train, test = train_and_test(
        dataset, sensitive[0], method, model=model[0], random_state=seed
    )
    attribute = TOGETHER.join(train["sensitive_features"])
    pair = objective.split(",")
    given = options.parse_pairs(original, "--original")
    first = {name: parse_value(values[0]) for name, values in given.items()}
    shared: dict[str, Any] = {
        "performance": performance,
        "fairness": fairness,
        "rule": rule,
        "random_state": seed,
    }
    messages().print(f"tuning {mitigator.name} on {data} ...", soft_wrap=True)
    with counting("settings") as progress:
        result = tune(
            mitigator,
            dict(read_values(text) for text in param),
            **train,
            objective=(pair[0], pair[1]) if len(pair) == 2 else objective,
            original=first or None,
            max_loss=max_loss,
            min_performance=min_performance,
            validation=validation,
            repeats=repeats,
            strategy=strategy,
            budget=budget,
            cache=None if cache is None else JsonLinesCache(cache),
            progress=progress,
            **shared,
        )
    verdict = None
    if result.chosen is not None:
        start = result.mitigator_at(first) if first else None
        verdict = judge_mitigator(result.mitigator, **train, **test, original=start, **shared)
    screen = console()
    title = f"{data}, {attribute}"
    show(result, verdict, screen, title)
    if json_file:
        judged = as_data([] if verdict is None else [(attribute, method, verdict)], data)
        content = {"data": data, "attribute": attribute, **result.to_dict()}
        content |= {"metrics": judged["metrics"], "test": next(iter(judged["tradeoffs"]), None)}
        content["notes"] = [*notes, *result.notes]
        write_json(json_file, content)
    write_reports(report_files, result, title=title, verdict=verdict, notes=notes)
    if result.chosen is None:
        raise typer.Exit(1)


def _example(method: str) -> str:
    """Return an option that varies what a method has: its strength, else its own parameters."""
    from isonomy._validate import listed
    from isonomy.mitigators import MITIGATORS, BaseMitigator

    kind = MITIGATORS[method]
    for name, values in kind.strength_values.items():
        varied = f"{name}={','.join(map(format_value, values))}"
        return f"--param {shlex.quote(varied)}"
    common = inspect.signature(BaseMitigator).parameters
    own = [name for name in inspect.signature(kind).parameters if name not in common]
    if not own:
        return f"{kind.name} has no parameter of its own; name another method"
    return f"--param {own[0]}=A,B,C; {kind.name} has {listed(own)}"


def read_values(text: str) -> tuple[str, Any]:
    """Read NAME=LOW:HIGH:STEP, NAME=LOW:HIGH or NAME=A,B,C.

    Examples
    --------
    >>> read_values("eta=0:10:5")
    ('eta', [0, 5, 10])
    >>> read_values("metric=spd,aod")
    ('metric', ['spd', 'aod'])
    """
    from isonomy.search import Real

    name, sign, written = text.partition("=")
    if not sign or not name or not written:
        raise InputError(f"--param must be NAME=LOW:HIGH:STEP or NAME=A,B,C; got {text!r}.")
    parts = written.split(":")
    if len(parts) == 1:
        return name, [parse_value(part) for part in split_commas(written)]
    ends = [parse_value(part) for part in parts]
    if len(parts) > 3 or any(isinstance(e, str) for e in ends):
        raise InputError(f"A range must be LOW:HIGH:STEP, in numbers; got {text!r}.")
    if ends[1] < ends[0] or (len(ends) == 3 and ends[2] <= 0):
        raise InputError(f"A range must rise from LOW to HIGH by a STEP above 0; got {text!r}.")
    if len(parts) == 2:
        return name, Real(float(ends[0]), float(ends[1]))
    low, high, step = ends
    many = int((high - low) / step + 1e-9) + 1
    if many > 10_000:
        raise InputError(f"A sweep must have at most 10,000 values; {text!r} has {many:,}.")
    values = [low + k * step for k in range(many)]
    return name, [v if isinstance(v, int) else round(v, 12) for v in values]


# ---------------------------------------------------------------------- what is printed


def show(result: "Tuning", verdict: "TradeOff | None", screen: "Console", title: str) -> None:
    """Print the curve, the turning point and the choice."""
    from isonomy.benchmark.words import percent

    line = result.baseline
    screen.print(
        f"\n[bold]Tuning {result.mitigator.name}[/bold] on {title}: "
        f"{result.settings['validation_rows']:,} validation rows, objective "
        f"{result.settings['objective']}\n"
    )
    numbers = (*result.parameters, line.performance_metric, "bias", "objective")
    table = make_table(*numbers, "region", "", right=numbers, fixed=("region", ""))
    goal = result.curve["objective"]
    # the other regions count below 0 and get no bar
    low, high = (0.0, goal.max()) if goal.max() > 0 else (goal.min(), goal.max())
    for row in result.curve.to_dict("records"):
        # of a setting that did not fail the reason says that it changed no prediction
        without = "no change" if row["status"] == "ok" else "failed"
        region = colored(without if isinstance(row["reason"], str) else row["region"])
        chosen = result.chosen is not None and all(row[k] == v for k, v in result.chosen.items())
        share = max(row["objective"] - low, 0.0) / (high - low) if high > low else 0.0
        bar = "█" * round(20 * share) if share == share else ""
        mark = (
            " [bold]chosen[/bold]" if chosen else "" if row["feasible"] else " [dim]refused[/dim]"
        )
        table.add_row(
            *(f"{row[name]}" for name in result.parameters),
            number(row["performance"]),
            number(row["bias"]),
            number(row["objective"], 4),
            region + (" (constant)" if row["constant"] else ""),
            f"[cyan]{bar}[/cyan]{mark}",
        )
    screen.print(table)
    screen.print(
        f"\noriginal: {line.performance_metric} {number(line.performance[0])}, bias "
        f"{number(line.bias[0])}"
    )
    turn = result.turning_point
    screen.print(f"turning point: {_words(turn) if turn else 'none'}")
    screen.print(f"chosen: [bold]{_words(result.chosen) if result.chosen else 'none'}[/bold]")
    for note in result.notes:
        print_note(screen, note)
    if verdict is not None:
        word = verdict.region or "no region"
        size = f", area {number(verdict.area, 4)}" if verdict.area == verdict.area else ""
        sure = (
            f" (probability {percent(verdict.probability[word])})"
            if word in verdict.probability
            else ""
        )
        screen.print(
            f"on the test rows: {line.performance_metric} {number(verdict.performance)} "
            f"(original {number(verdict.baseline.performance[0])}), bias {number(verdict.bias)} "
            f"(original {number(verdict.baseline.bias[0])}): "
            f"{colored(word)}{sure}{size}"
        )
        gap = verdict.above_frontier
        if gap == gap:
            place = "above" if gap > 0 else "below"
            screen.print(
                f"{abs(gap):.3f} {place} what post-processing the original model reaches at this bias"
            )


def _words(config: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in config.items())
