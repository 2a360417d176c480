"""``isonomy tradeoff``: mitigated predictions against the baselines of the original ones."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from isonomy.cli import options
from isonomy.cli.output import (
    console,
    interval,
    make_table,
    messages,
    number,
    print_note,
    write_json,
    write_reports,
)
from isonomy.cli.progress import working
from isonomy.errors import InputError, NotApplicable

if TYPE_CHECKING:
    from rich.console import Console

    from isonomy.metrics import JointCounts
    from isonomy.tradeoff import Frontier, TradeOff

_COLORS = {
    "win-win": "bold green",
    "good": "green",
    "poor": "yellow",
    "inverted": "yellow",
    "lose-lose": "bold red",
}
Rule = Annotated[str, typer.Option("--rule", help="paper or code: see the guide.")]


def tradeoff_command(
    file: Annotated[
        str,
        typer.Argument(
            help="A CSV, Parquet, Excel or DuckDB file with labels and the predictions of both models; "
            "with --method a dataset or file to learn from."
        ),
    ],
    method: options.Method = [],
    model: options.Model = ["lr"],
    base: Annotated[str, typer.Option(help="Column of the original predictions.")] = "y_base",
    prediction: Annotated[
        list[str], typer.Option(help="Column of mitigated predictions; may be repeated.")
    ] = ["y_pred"],
    label: options.Outcome = "y_true",
    sensitive: options.Sensitive = [],
    score: Annotated[
        str | None,
        typer.Option(help="Column of the original model's scores: adds the frontier."),
    ] = None,
    privileged: options.Privileged = [],
    favorable: options.Favorable = [],
    bins: options.Bins = [],
    drop: options.Drop = [],
    performance: options.Performance = "accuracy",
    fairness: Annotated[list[str], typer.Option(help="Fairness metric; may be repeated.")] = [
        "statistical_parity_difference"
    ],
    weight: options.Weight = None,
    table: options.Table = None,
    strategy: Annotated[
        str, typer.Option(help="majority, minority, random, or a label.")
    ] = "majority",
    rule: Rule = "paper",
    resamples: options.Resamples = 1000,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
    fail_on: options.FailOn = [],
    json_file: options.Json = None,
    report_files: options.Report = [],
    quiet: options.Quiet = False,
) -> None:
    """Judge whether a mitigation was worth it: region, probability, area, and the frontier.

    Exit code 0: done; 1: a method falls in a region named by --fail-on; 2: something is wrong
    with the input.
    """
    options.check_sensitive(sensitive)
    from isonomy._bands import too_many_numbers
    from isonomy._groups import together
    from isonomy.metrics import Counts, JointCounts, get_metric
    from isonomy.tradeoff import REGIONS, judge_counts, judge_mitigator, train_and_test

    for word in fail_on:
        if word not in REGIONS:
            raise InputError(f"--fail-on must name a region ({', '.join(REGIONS)}); got {word!r}.")
    how: dict[str, Any] = {
        "performance": get_metric(performance).name,
        "strategy": strategy,
        "rule": rule,
        "resamples": resamples,
        "confidence": confidence,
        "random_state": seed,
    }
    metrics = [get_metric(name).name for name in fairness]
    groups = options.parse_pairs(privileged, "--privileged")
    cuts = options.parse_bins(bins, sensitive)
    if drop and not method:
        raise InputError("--drop is for learning; leave it out, or name a --method to learn with.")
    shown = {"--base": base != "y_base", "--prediction": prediction != ["y_pred"]}
    shown |= {"--score": score is not None, "--weight": weight is not None}
    if method and (needless := [option for option, given in shown.items() if given]):
        raise InputError(
            f"{' and '.join(needless)} must be left out with --method, which makes predictions of "
            f"its own and takes no weights; without it a file of predictions is judged."
        )
    verdicts: list[tuple[str, str, TradeOff]] = []
    notes: list[str] = []
    columns = {"y_true": "label", "y_base": "base", "y_pred": "prediction"}
    with working(f"judging {file}"), options.naming(**columns):
        if method:
            dataset, notes = read_dataset(
                file,
                sensitive,
                label=label,
                favorable=favorable or None,
                privileged=groups,
                bins=cuts,
                drop=drop,
                table=table,
            )
            for attribute in sensitive:
                for name in method:
                    mitigator, train, test = train_and_test(
                        dataset, attribute, name, model=model[0], random_state=seed
                    )
                    for metric in metrics:
                        verdict = judge_mitigator(
                            mitigator, **train, **test, fairness=metric, **how
                        )
                        verdicts.append((attribute, name, verdict))
        else:
            for attribute in sensitive:
                for column in prediction:
                    own = together(attribute)
                    counts = Counts.from_query(
                        file,
                        label=label or "y_true",
                        prediction=column,
                        sensitive_features=[*own, base],
                        weight=weight,
                        table=table,
                        bins={a: edges for a, edges in cuts.items() if a in own},
                        favorable=favorable or None,
                        privileged={a: groups[a] for a in own if a in groups} or None,
                    )
                    joint = JointCounts.from_counts(counts, base=base)
                    for k, name in enumerate(own):
                        values = [g[k] for g in counts.groups]
                        rows = [n.sum() for n in counts.n]
                        if many := too_many_numbers(name, values, rows):
                            messages().print(f"isonomy: {many}", soft_wrap=True)
                    for metric in metrics:
                        second = None
                        if score:
                            read = [label or "y_true", score, *own]
                            second = _frontier(file, table, read, cuts, joint, performance, metric)
                        verdict = judge_counts(joint, fairness=metric, frontier=second, **how)
                        verdicts.append((attribute, column, verdict))
    screen = console()
    show(verdicts, screen, file)
    write_json(json_file, as_data(verdicts, file) | {"notes": notes})
    write_reports(report_files, verdicts, title=file, notes=notes)
    failed = [f"{m} ({a}: {v.region})" for a, m, v in verdicts if v.region in fail_on]
    if failed:
        messages().print(f"isonomy: {', '.join(failed)}", soft_wrap=True)
        raise typer.Exit(1)


def _frontier(
    file: str,
    table: str | None,
    columns: list[str],
    cuts: dict[str, list[float]],
    joint: "JointCounts",
    performance: str,
    fairness: str,
) -> "Frontier | None":
    """Trace the frontier from the rows of the file; None for metrics it cannot serve."""
    from isonomy._files import read_table
    from isonomy._groups import bands
    from isonomy.tradeoff import post_processing_frontier

    rows = read_table(file, columns, table)
    label, score, *attributes = columns
    groups = {a: bands(rows[a], cuts[a], a) if a in cuts else rows[a] for a in attributes}
    try:
        return post_processing_frontier(
            rows[label].to_numpy(),
            rows[score].to_numpy(),
            sensitive_features=groups,
            performance=performance,
            fairness=fairness,
            favorable=list(joint.favorable),
            privileged=joint.privileged or None,
        )
    except NotApplicable as error:
        messages().print(f"isonomy: no frontier: {error}", soft_wrap=True)
        return None


def read_dataset(
    data: str, sensitive: list[str], *, label: str | None, **given: Any
) -> tuple[Any, list[str]]:
    """Load a dataset by name, or make one of a file to learn from and print what to know of it.

    Returns the dataset, and what a page must say of it: the label, who is compared with whom.
    """
    from isonomy._files import is_table_file
    from isonomy._groups import together
    from isonomy.data import load, own_dataset, unknown_notes

    sensitive = list(dict.fromkeys(a for given in sensitive for a in together(given)))
    if not is_table_file(data):
        options.refuse_for_dataset(data, label=label if label != "y_true" else None, **given)
        dataset = load(data)
        return dataset, _described(dataset, sensitive)
    dataset, notes = own_dataset(data, label=label, sensitive_features=sensitive, **given)
    notes += unknown_notes(dataset, sensitive)
    for note in notes:
        messages().print(f"isonomy: {note}", soft_wrap=True, markup=False)
    return dataset, [*_described(dataset, sensitive), *notes]


def _described(dataset: Any, sensitive: list[str]) -> list[str]:
    """Return in one line what is predicted, and who counts as privileged."""
    from isonomy._validate import listed

    groups = "; ".join(f"{a} = {listed(dataset.privileged.get(a, ()))}" for a in sensitive)
    favorable = listed(dataset.favorable)
    return [f"Label: {dataset.y.name}, favourable: {favorable}. Privileged: {groups}."]


# ---------------------------------------------------------------------- what is written


def colored(region: str | None) -> str:
    """Return a region in its color."""
    word = region or "none"
    color = _COLORS.get(word, "magenta")
    return f"[{color}]{word}[/{color}]"


def as_data(verdicts: "list[tuple[str, str, TradeOff]]", file: str) -> dict[str, Any]:
    """Return verdicts as plain data."""
    metrics, details = [], []
    for attribute, method, v in verdicts:
        detail = {"attribute": attribute, "method": method, **v.to_dict()}
        details.append(detail)
        for kind in ("performance", "bias"):
            fair = kind == "bias"
            metrics.append(
                {
                    "name": detail["fairness_metric" if fair else "performance_metric"],
                    "attribute": attribute if fair else None,
                    "method": method,
                    "value": detail[kind],
                    "low": detail[f"{kind}_low"],
                    "high": detail[f"{kind}_high"],
                    "verdict": v.region if fair else None,
                    "reason": v.reason if fair else None,
                }
            )
    return {"file": file, "metrics": metrics, "tradeoffs": details}


def show(verdicts: "list[tuple[str, str, TradeOff]]", screen: "Console", title: str) -> None:
    """Print verdicts as tables."""
    from isonomy.benchmark.words import percent

    screen.print(f"\n[bold]Trade-off of {title}[/bold]\n")
    for key in dict.fromkeys((a, v.baseline.fairness_metric) for a, _, v in verdicts):
        rows = [(m, v) for a, m, v in verdicts if (a, v.baseline.fairness_metric) == key]
        line = rows[0][1].baseline
        numbers = [line.performance_metric, "bias", "probability", "area"]
        headings = ["method", *numbers[:2], "region", *numbers[2:]]
        if any(v.frontier is not None for _, v in rows):
            headings.append("above frontier")
            numbers.append("above frontier")
        table = make_table(*headings, title=f"{key[0]}: {key[1]}", right=numbers, fixed=["region"])
        table.add_row("original", number(line.performance[0]), number(line.bias[0]))
        for method, v in rows:
            region = colored(v.region) + (" (constant)" if v.constant else "")
            word = v.region or "none"
            sure = percent(v.probability[word]) if word in v.probability else ""
            area = "" if v.area != v.area else number(v.area, 4)
            if area and v.area_interval[0] == v.area_interval[0]:
                area += f" [dim]{interval(*v.area_interval)}[/dim]"
            row = [method, number(v.performance), number(v.bias), region, sure, area]
            table.add_row(*[*row, number(v.above_frontier)][: len(headings)])
        screen.print(table)
        for method, v in rows:
            for note in v.notes:
                print_note(screen, f"{method}: {note}")
        screen.print()
