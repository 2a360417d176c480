"""``isonomy tradeoff``: mitigated predictions against the baselines of the original ones."""

from typing import TYPE_CHECKING, Any

import typer

from isonomy.cli.options import Html, Json
from isonomy.cli.output import (
    check_writable,
    console,
    interval,
    messages,
    number,
    plain,
    value_pairs,
    write_json,
    write_page,
)
from isonomy.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from isonomy.tradeoff import Frontier, TradeOff

__all__ = ["COLOURS", "as_data", "dataset_attribute", "read_dataset", "register"]

COLOURS = {
    "win-win": "bold green",
    "good": "green",
    "poor": "yellow",
    "inverted": "yellow",
    "lose-lose": "bold red",
}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("tradeoff")(tradeoff_command)


def tradeoff_command(
    file: str = typer.Argument(
        ...,
        help="A Parquet, CSV or DuckDB file with labels and the predictions of both models; "
        "with --mitigator a dataset or file to learn from.",
    ),
    mitigator: list[str] = typer.Option(
        [], "--mitigator", help="Fit this mitigator and judge it on test rows; may be repeated."
    ),
    model: str = typer.Option("lr", "--model", help="With --mitigator: the base learner."),
    base: str = typer.Option("y_base", "--base", help="Column of the original predictions."),
    prediction: list[str] = typer.Option(
        ["y_pred"], "--prediction", help="Column of mitigated predictions; may be repeated."
    ),
    label: str = typer.Option("y_true", "--label", help="Column of the true labels."),
    sensitive: list[str] = typer.Option(
        [], "--sensitive", "--attribute", help="Column of a protected attribute; may be repeated."
    ),
    score: str | None = typer.Option(
        None, "--score", help="Column of the original model's scores: adds the frontier."
    ),
    privileged: list[str] = typer.Option(
        [], "--privileged", help="ATTRIBUTE=VALUE of the group to compare with; may be repeated."
    ),
    favorable: list[str] = typer.Option(
        [], "--favorable", "--favourable", help="The label that is good to get; may be repeated."
    ),
    performance: str = typer.Option("accuracy", "--performance", help="Performance metric."),
    fairness: list[str] = typer.Option(
        ["statistical_parity_difference"], "--fairness", help="Fairness metric; may be repeated."
    ),
    weight: str | None = typer.Option(None, "--weight", help="Column of weights."),
    table: str | None = typer.Option(None, "--table", help="Table of a DuckDB file."),
    strategy: str = typer.Option(
        "majority", "--strategy", help="majority, minority, random, or a label."
    ),
    rule: str = typer.Option("paper", "--rule", help="paper or code: see the guide."),
    resamples: int = typer.Option(1000, "--resamples", help="Bootstrap resamples; 0 for none."),
    level: float = typer.Option(0.95, "--level", help="Confidence level of the intervals."),
    seed: int = typer.Option(0, "--seed", help="Seed of mutations and resamples."),
    fail_on: list[str] = typer.Option(
        [], "--fail-on", help="Exit with 1 when a method falls in this region; may be repeated."
    ),
    json_file: Json = None,
    html_file: Html = None,
) -> None:
    """Judge whether a mitigation was worth it: region, probability, area, and the frontier.

    Exit code 0: done; 1: a method falls in a region named by --fail-on; 2: something is wrong
    with what was given.
    """
    if not sensitive:
        raise InputError(
            "At least one protected attribute must be named: --sensitive COLUMN (may be repeated)."
        )
    check_writable(json_file)
    check_writable(html_file)
    from isonomy.metrics import Counts, JointCounts, get_metric
    from isonomy.tradeoff import REGIONS, judge_counts

    for word in fail_on:
        if word not in REGIONS:
            raise InputError(f"--fail-on must name a region ({', '.join(REGIONS)}); got {word!r}.")
    if rule not in ("paper", "code"):
        raise InputError(f"--rule must be 'paper' or 'code'; got {rule!r}.")
    options: dict[str, Any] = {
        "performance": get_metric(performance).name,
        "strategy": strategy,
        "rule": rule,
        "resamples": resamples,
        "level": level,
        "random_state": seed,
    }
    metrics = [get_metric(name).name for name in fairness]
    groups = value_pairs(privileged, "--privileged")
    verdicts: list[tuple[str, str, TradeOff]] = []
    with messages().status(f"judging {file} ..."):
        if mitigator:
            dataset = read_dataset(file, sensitive, label, favorable, privileged)
            for attribute in sensitive:
                verdicts += _fitted(dataset, attribute, mitigator, model, metrics, seed, options)
        else:
            for attribute in sensitive:
                for column in prediction:
                    counts = Counts.from_query(
                        file,
                        label=label,
                        prediction=column,
                        sensitive_features=[attribute, base],
                        weight=weight,
                        table=table,
                        favorable=favorable or None,
                        privileged={attribute: groups[attribute]} if attribute in groups else None,
                    )
                    joint = JointCounts.from_counts(counts, base=base)
                    for metric in metrics:
                        second = None
                        if score:
                            second = _frontier(
                                file, table, label, score, attribute, joint, performance, metric
                            )
                        verdict = judge_counts(joint, fairness=metric, frontier=second, **options)
                        verdicts.append((attribute, column, verdict))
    screen = console()
    show(verdicts, screen, file)
    if json_file:
        write_json(json_file, as_data(verdicts, file))
    if html_file:
        from isonomy.report.tradeoff import tradeoff_page

        write_page(html_file, tradeoff_page(verdicts, title=file))
        screen.print(f"Report: {html_file}")
    fallen = [f"{m} ({a}: {v.region})" for a, m, v in verdicts if v.region in fail_on]
    if fallen:
        messages().print(f"isonomy: {', '.join(fallen)}", soft_wrap=True)
        raise typer.Exit(1)


def _fitted(
    dataset: Any,
    attribute: str,
    mitigators: list[str],
    model: str,
    metrics: list[str],
    seed: int,
    options: dict[str, Any],
) -> "list[tuple[str, str, TradeOff]]":
    """Fit mitigators on training rows and judge them on test rows."""
    from isonomy.data import make_splits, prepare
    from isonomy.mitigators import make_mitigator
    from isonomy.models import make_model
    from isonomy.tradeoff import judge_mitigator

    name = dataset_attribute(dataset, attribute)
    ready = prepare(dataset, attribute=name, split=make_splits(dataset, seed=seed)[0])
    out = []
    for spec in mitigators:
        method = make_mitigator(spec, make_model(model))
        method.set_params(privileged=1, favorable=1, sensitive_columns=ready.sensitive_column)
        for metric in metrics:
            verdict = judge_mitigator(
                method,
                ready.X_train,
                ready.y_train,
                sensitive_features={name: ready.s_train},
                X_test=ready.X_test,
                y_test=ready.y_test,
                sensitive_test={name: ready.s_test},
                fairness=metric,
                **options,
            )
            out.append((name, spec, verdict))
    return out


def _frontier(
    file: str,
    table: str | None,
    label: str,
    score: str,
    attribute: str,
    joint: Any,
    performance: str,
    fairness: str,
) -> "Frontier | None":
    """Trace the frontier from the rows of the file; None for metrics it cannot serve."""
    from isonomy._files import read_table
    from isonomy.errors import NotApplicable
    from isonomy.tradeoff import post_processing_frontier

    rows = read_table(file, [label, score, attribute], table)
    try:
        return post_processing_frontier(
            rows[label].to_numpy(),
            rows[score].to_numpy(),
            sensitive_features={attribute: rows[attribute]},
            performance=performance,
            fairness=fairness,
            favorable=list(joint.favorable),
            privileged=joint.privileged or None,
        )
    except NotApplicable as error:
        messages().print(f"isonomy: no frontier: {error}", soft_wrap=True)
        return None


def read_dataset(
    data: str,
    sensitive: list[str],
    label: str | None,
    favorable: list[str],
    privileged: list[str],
) -> Any:
    """Load a dataset by name, or make one of a file to learn from."""
    from isonomy._files import is_table_file
    from isonomy.data import dataset_from

    if not is_table_file(data):
        return dataset_from(data)
    if label is None:
        raise InputError(f"--label must name the column of {data!r} to predict.")
    return dataset_from(
        data,
        label=label,
        sensitive_features=sensitive,
        favorable=favorable or None,
        privileged=value_pairs(privileged, "--privileged") or None,
    )


def dataset_attribute(dataset: Any, attribute: str) -> str:
    """Give a protected attribute of a dataset by name, with a did-you-mean."""
    from isonomy._validate import match_values

    return str(match_values(attribute, dataset.attributes, what="protected attribute")[0])


# ---------------------------------------------------------------------- what is written


def as_data(verdicts: "list[tuple[str, str, TradeOff]]", file: str) -> dict[str, Any]:
    """Give verdicts as plain data."""
    metrics, details = [], []
    for attribute, method, v in verdicts:
        for name, value, bounds, where in (
            (v.baseline.performance_metric, v.performance, v.performance_interval, None),
            (v.baseline.fairness_metric, v.bias, v.bias_interval, attribute),
        ):
            metrics.append(
                {
                    "name": name,
                    "attribute": where,
                    "method": method,
                    "value": plain(value),
                    "low": plain(bounds[0]),
                    "high": plain(bounds[1]),
                    "verdict": v.region if where else None,
                    "reason": v.reason if where else None,
                }
            )
        line, second = v.baseline, v.frontier
        details.append(
            {
                "attribute": attribute,
                "method": method,
                "performance_metric": line.performance_metric,
                "fairness_metric": line.fairness_metric,
                "performance": plain(v.performance),
                "bias": plain(v.bias),
                "region": v.region,
                "reason": v.reason,
                "rule": v.rule,
                "constant": v.constant,
                "area": plain(v.area),
                "area_low": plain(v.area_interval[0]),
                "area_high": plain(v.area_interval[1]),
                "probability": v.probability,
                "above_frontier": plain(v.above_frontier),
                "baseline": {
                    "degree": line.degrees.tolist(),
                    "performance": [plain(p) for p in line.performance],
                    "bias": [plain(b) for b in line.bias],
                    "strategy": line.strategy,
                    "method": line.method,
                },
                "frontier": None
                if second is None
                else {
                    "tolerance": second.tolerance.tolist(),
                    "performance": [plain(p) for p in second.performance],
                    "bias": [plain(b) for b in second.bias],
                },
                "notes": list(v.notes),
            }
        )
    return {"file": file, "metrics": metrics, "tradeoffs": details}


def show(verdicts: "list[tuple[str, str, TradeOff]]", screen: "Console", title: str) -> None:
    """Print verdicts as tables."""
    from rich.table import Table

    screen.print(f"\n[bold]Trade-off of {title}[/bold]\n")
    for key in dict.fromkeys((a, v.baseline.fairness_metric) for a, _, v in verdicts):
        mine = [(m, v) for a, m, v in verdicts if (a, v.baseline.fairness_metric) == key]
        line = mine[0][1].baseline
        second = any(v.frontier is not None for _, v in mine)
        out = Table(
            title=f"{key[0]}: {key[1]}", title_justify="left", box=None, padding=(0, 2, 0, 0)
        )
        out.add_column("method")
        for heading in (line.performance_metric, "bias"):
            out.add_column(heading, justify="right", no_wrap=True)
        out.add_column("region", no_wrap=True)
        out.add_column("probability", justify="right", no_wrap=True)
        out.add_column("area", justify="right", no_wrap=True)
        if second:
            out.add_column("above frontier", justify="right")
        blank = [""] * (4 if second else 3)
        out.add_row("original", number(line.performance[0]), number(line.bias[0]), *blank)
        for method, v in mine:
            word = v.region or "none"
            colour = COLOURS.get(word, "magenta")
            shown = f"[{colour}]{word}[/{colour}]" + (" (constant)" if v.constant else "")
            sure = f"{v.probability[word]:.0%}" if word in v.probability else ""
            area = "" if v.area != v.area else number(v.area, 4)
            if area and v.area_interval[0] == v.area_interval[0]:
                area += f" [dim]{interval(*v.area_interval)}[/dim]"
            row = [method, number(v.performance), number(v.bias), shown, sure, area]
            out.add_row(*row, *([number(v.above_frontier)] if second else []))
        screen.print(out)
        for method, v in mine:
            for note in v.notes:
                screen.print(f"[yellow]Note[/yellow] {method}: {note}")
        screen.print()
