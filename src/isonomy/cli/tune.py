"""``isonomy tune``: a mitigator's trade-off over its parameters, and the value to choose."""

from typing import TYPE_CHECKING, Any

import typer

from isonomy._names import parse_value, split_commas
from isonomy.cli.options import Html, Json
from isonomy.cli.output import (
    check_writable,
    console,
    number,
    plain,
    value_pairs,
    write_json,
    write_page,
)
from isonomy.cli.tradeoff import COLOURS, dataset_attribute, read_dataset
from isonomy.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from isonomy.tradeoff import TradeOff, Tuning

__all__ = ["read_values", "register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("tune")(tune_command)


def tune_command(
    method: str = typer.Argument(..., help="A mitigator (see `isonomy mitigators`)."),
    data: str = typer.Argument(..., help="A dataset (see `isonomy data list`), or a file."),
    param: list[str] = typer.Option(
        [],
        "--param",
        help="NAME=LOW:HIGH:STEP to sweep, NAME=LOW:HIGH to search, NAME=A,B,C to try; may be repeated.",
    ),
    sensitive: list[str] = typer.Option(
        [], "--sensitive", "--attribute", help="The protected attribute."
    ),
    model: str = typer.Option("lr", "--model", help="Base learner: lr, rf, svm, gbt ..."),
    original: list[str] = typer.Option(
        [], "--original", help="NAME=VALUE: let the method at this value be the original model."
    ),
    objective: str = typer.Option(
        "fairea_area", "--objective", help="fairea_area, or PERFORMANCE,FAIRNESS."
    ),
    performance: str = typer.Option("accuracy", "--performance", help="Performance metric."),
    fairness: str = typer.Option(
        "statistical_parity_difference", "--fairness", help="Fairness metric."
    ),
    max_loss: float | None = typer.Option(
        None, "--max-loss", help="The most performance that may be lost."
    ),
    min_performance: float | None = typer.Option(
        None, "--min-performance", help="The least performance accepted."
    ),
    validation: float = typer.Option(
        0.3, "--validation", help="Share of training rows to judge on."
    ),
    repeats: int = typer.Option(1, "--repeats", help="Validation splits to average over."),
    strategy: str | None = typer.Option(
        None, "--strategy", help="grid, random, flash, mutation or optuna."
    ),
    budget: int = typer.Option(50, "--budget", help="The most settings a search tries."),
    rule: str = typer.Option("paper", "--rule", help="paper or code: see the guide."),
    cache: str | None = typer.Option(
        None, "--cache", help="A file that keeps what was evaluated: the same command resumes."
    ),
    seed: int = typer.Option(0, "--seed", help="Seed of splits and search."),
    label: str | None = typer.Option(None, "--label", help="For a file: the column to predict."),
    favorable: list[str] = typer.Option(
        [], "--favorable", "--favourable", help="For a file: a label that is good to get."
    ),
    privileged: list[str] = typer.Option(
        [], "--privileged", help="For a file: ATTRIBUTE=VALUE of the privileged group."
    ),
    json_file: Json = None,
    html_file: Html = None,
) -> None:
    """Turn a mitigator's parameters, judge each setting on validation rows, and choose.

    The chosen setting is then fitted on all training rows and judged on test rows.

    Exit code 0: done; 1: no setting keeps the constraint; 2: something is wrong with what was
    given.
    """
    if len(sensitive) != 1:
        raise InputError("One protected attribute must be named: --sensitive ATTRIBUTE.")
    if not param:
        raise InputError("At least one parameter must be turned: --param eta=0:100:5.")
    if rule not in ("paper", "code"):
        raise InputError(f"--rule must be 'paper' or 'code'; got {rule!r}.")
    check_writable(json_file)
    check_writable(html_file)
    check_writable(cache)
    from isonomy.data import make_splits, prepare
    from isonomy.mitigators import make_mitigator
    from isonomy.models import make_model
    from isonomy.tradeoff import JsonLinesCache, judge_mitigator, tune

    space: dict[str, Any] = dict(read_values(text) for text in param)
    dataset = read_dataset(data, sensitive, label, favorable, privileged)
    attribute = dataset_attribute(dataset, sensitive[0])
    ready = prepare(dataset, attribute=attribute, split=make_splits(dataset, seed=seed)[0])
    mitigator = make_mitigator(method, make_model(model))
    mitigator.set_params(privileged=1, favorable=1, sensitive_columns=ready.sensitive_column)
    rows: dict[str, Any] = {
        "X": ready.X_train,
        "y": ready.y_train,
        "sensitive_features": {attribute: ready.s_train},
    }
    pair = objective.split(",")
    first = {name: values[0] for name, values in value_pairs(original, "--original").items()}
    found = tune(
        mitigator,
        space,
        **rows,
        objective=(pair[0], pair[1]) if len(pair) == 2 else objective,
        performance=performance,
        fairness=fairness,
        original={name: parse_value(value) for name, value in first.items()} or None,
        max_loss=max_loss,
        min_performance=min_performance,
        validation=validation,
        repeats=repeats,
        strategy=strategy,
        budget=budget,
        rule="code" if rule == "code" else "paper",
        cache=None if cache is None else JsonLinesCache(cache),
        progress=True,
        random_state=seed,
    )
    verdict = None
    if found.chosen is not None:
        verdict = judge_mitigator(
            found.mitigator,
            **rows,
            X_test=ready.X_test,
            y_test=ready.y_test,
            sensitive_test={attribute: ready.s_test},
            original=None
            if not first
            else found.mitigator_at({name: parse_value(value) for name, value in first.items()}),
            performance=performance,
            fairness=fairness,
            rule="code" if rule == "code" else "paper",
            random_state=seed,
        )
    screen = console()
    show(found, verdict, screen, f"{data}, {attribute}")
    if json_file:
        write_json(json_file, as_data(found, verdict, data, attribute))
    if html_file:
        from isonomy.report.tradeoff import tuning_page

        write_page(html_file, tuning_page(found, title=f"{data}, {attribute}", verdict=verdict))
        screen.print(f"Report: {html_file}")
    if found.chosen is None:
        raise typer.Exit(1)


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


# ---------------------------------------------------------------------- what is written


def as_data(
    found: "Tuning", verdict: "TradeOff | None", data: str, attribute: str
) -> dict[str, Any]:
    """Give a sweep as plain data."""
    from isonomy.cli.tradeoff import as_data as verdict_data

    rows = [
        {str(k): plain(v) if isinstance(v, float) else v for k, v in row.items()}
        for row in found.curve.to_dict("records")
    ]
    test = (
        {} if verdict is None else verdict_data([(attribute, found.mitigator.name, verdict)], data)
    )
    return {
        "data": data,
        "attribute": attribute,
        "method": found.mitigator.name,
        "chosen": found.chosen,
        "turning_point": found.turning_point,
        "settings": found.settings,
        "notes": list(found.notes),
        "curve": rows,
        "metrics": test.get("metrics", []),
        "test": test.get("tradeoffs", [None])[0],
    }


def show(found: "Tuning", verdict: "TradeOff | None", screen: "Console", title: str) -> None:
    """Print the curve, the turning point and the choice."""
    from rich.table import Table

    line = found.baseline
    screen.print(
        f"\n[bold]Tuning {found.mitigator.name}[/bold] on {title}: "
        f"{found.settings['validation_rows']:,} validation rows, objective "
        f"{found.settings['objective']}\n"
    )
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in found.parameters:
        table.add_column(name, justify="right", no_wrap=True)
    for heading in (line.performance_metric, "bias", "objective"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("region", no_wrap=True)
    table.add_column("", no_wrap=True)
    goal = found.curve["objective"]
    # the other regions count below 0 and get no bar
    low, high = (0.0, goal.max()) if goal.max() > 0 else (goal.min(), goal.max())
    for row in found.curve.to_dict("records"):
        word = row["region"] or ("failed" if row["status"] == "failed" else "none")
        colour = COLOURS.get(word, "magenta")
        chosen = found.chosen is not None and all(row[k] == v for k, v in found.chosen.items())
        share = max(row["objective"] - low, 0.0) / (high - low) if high > low else 0.0
        bar = "█" * round(20 * share) if share == share else ""
        mark = (
            " [bold]chosen[/bold]" if chosen else "" if row["feasible"] else " [dim]refused[/dim]"
        )
        table.add_row(
            *(f"{row[name]}" for name in found.parameters),
            number(row["performance"]),
            number(row["bias"]),
            number(row["objective"], 4),
            f"[{colour}]{word}[/{colour}]" + (" (constant)" if row["constant"] else ""),
            f"[cyan]{bar}[/cyan]{mark}",
        )
    screen.print(table)
    screen.print(
        f"\noriginal: {line.performance_metric} {number(line.performance[0])}, bias "
        f"{number(line.bias[0])}"
    )
    turn = found.turning_point
    screen.print(f"turning point: {_words(turn) if turn else 'none'}")
    screen.print(f"chosen: [bold]{_words(found.chosen) if found.chosen else 'none'}[/bold]")
    for note in found.notes:
        screen.print(f"[yellow]Note[/yellow] {note}")
    if verdict is not None:
        word = verdict.region or "no region"
        size = f", area {number(verdict.area, 4)}" if verdict.area == verdict.area else ""
        sure = (
            f" (probability {verdict.probability[word]:.0%})" if word in verdict.probability else ""
        )
        screen.print(
            f"on the test rows: {line.performance_metric} {number(verdict.performance)} "
            f"(original {number(verdict.baseline.performance[0])}), bias {number(verdict.bias)} "
            f"(original {number(verdict.baseline.bias[0])}): "
            f"[{COLOURS.get(word, 'magenta')}]{word}[/]{sure}{size}"
        )
        gap = verdict.above_frontier
        if gap == gap:
            place = "above" if gap > 0 else "below"
            screen.print(
                f"{abs(gap):.3f} {place} what post-processing the original model reaches at this bias"
            )


def _words(config: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in config.items())
