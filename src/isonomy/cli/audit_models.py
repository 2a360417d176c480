"""``isonomy audit-models``: many models on the same rows, ranked on both goals."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from isonomy.cli import options
from isonomy.cli.output import (
    console,
    interval,
    make_table,
    number,
    one_line,
    print_note,
    refuse_same_file,
    write_json,
    write_reports,
)
from isonomy.cli.progress import working
from isonomy.cli.spoken import spoken
from isonomy.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from isonomy.audit import ModelsAudit
    from isonomy.data import Dataset


def audit_models_command(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER",
            help="A folder of models (.skops, .toml; pickle, joblib and skops of trees with --trust), or one file.",
        ),
    ],
    data: Annotated[
        str, typer.Argument(help="A dataset's name, or a CSV, Parquet, Excel or DuckDB file.")
    ],
    sensitive: options.Sensitive = [],
    label: options.Label = None,
    favorable: options.Favorable = [],
    privileged: options.Privileged = [],
    bins: options.Bins = [],
    drop: options.Drop = [],
    weight: options.Weight = None,
    trust: options.Trust = False,
    train: Annotated[
        float, typer.Option("--train", help="Share of the rows that declared models learn from.")
    ] = 0.7,
    performance: options.Performance = "accuracy",
    fairness: options.Fairness = "statistical_parity_difference",
    metric: options.Metric = [],
    threshold: options.Threshold = [],
    confidence: options.Confidence = 0.95,
    resamples: options.Resamples = 2000,
    seed: options.Seed = 0,
    fail_on: options.FailOn = [],
    json_file: options.Json = None,
    report_files: options.Report = [],
    quiet: options.Quiet = False,
) -> None:
    """Audit several models on the same rows: every metric, both ranks, the Pareto front.

    Models declared in a .toml file (a table [models], NAME = "rf(max_depth=8)") are trained here,
    and all models are then judged on the rows that these have not seen. A model that cannot be
    audited is listed with its reason, and the others go on.

    --fail-on takes metrics, or any; the confidence then holds for all verdicts on them, of all
    models together.

    Exit code 0: done; 1: a model violates a threshold named by --fail-on; 2: something is wrong
    with what was given.
    """
    options.check_sensitive(sensitive)
    refuse_same_file(json_file, report_files)
    from isonomy.audit import audit_models, privileged_groups
    from isonomy.metrics import get_metric

    gates = [get_metric(m).name for m in fail_on if m != "any"]
    named = options.parse_pairs(privileged, "--privileged")
    cuts = options.parse_bins(bins, sensitive)
    rows = _dataset(data, sensitive, label, favorable, cuts, drop, weight)
    # chosen from all rows, before some of them are set aside to learn from
    known, chosen = privileged_groups(
        {a: rows.sensitive[a] for a in sensitive},
        rows.y01.astype(bool),
        {a: v for a, v in {**rows.privileged, **named}.items() if a in sensitive},
    )
    with working("asking the models"):
        models, left_out, rows, notes = _gather(folder, rows, trust=trust, train=train, seed=seed)
        found = audit_models(
            models,
            rows.X,
            rows.y,
            sensitive_features=rows.sensitive[sensitive],
            sample_weight=rows.weight,
            favorable=list(rows.favorable),
            privileged=known,
            performance=performance,
            fairness=fairness,
            metrics=metric or None,
            thresholds={
                k: v[-1] for k, v in options.parse_numbers(threshold, "--threshold").items()
            },
            confidence=confidence,
            resamples=resamples,
            random_state=seed,
            left_out=left_out,
            notes=[*chosen, *notes],
        )
    # looked up before anything is shown: a gate that cannot close is a usage error
    violated = found.violated(*(() if "any" in fail_on else gates)) if fail_on else {}
    show(found, console(), data)
    write_json(json_file, {"data": data, **found.to_dict()})
    write_reports(report_files, found, title=data)
    if violated:
        said = "; ".join(
            f"{model}: {', '.join(f'{f.name} ({f.comparison or f.attribute})' for f in some)}"
            for model, some in violated.items()
        )
        typer.echo(f"isonomy: thresholds violated: {one_line(said)}", err=True)
        raise typer.Exit(1)


def _dataset(
    data: str,
    sensitive: list[str],
    label: str | None,
    favorable: list[str],
    cuts: dict[str, list[float]],
    drop: list[str],
    weight: str | None,
) -> "Dataset":
    """Read the rows; numbers are cut into groups where asked."""
    from dataclasses import replace

    from isonomy._files import is_table_file
    from isonomy._groups import bands
    from isonomy._validate import check_columns
    from isonomy.data import dataset_from, load

    if is_table_file(data):
        if label is None:
            raise InputError(f"--label must name the column of {data!r} to predict.")
        rows = dataset_from(
            data, label=label, sensitive_features=sensitive, favorable=favorable or None,
            drop=drop, weight=weight,
        )  # fmt: skip
    else:
        options.refuse_for_dataset(data, label=label, favorable=favorable, weight=weight)
        rows = load(data)
        check_columns(sensitive, list(rows.attributes))
        if drop:
            check_columns(drop, list(rows.X.columns))
            kept = {
                a: tuple(c for c in rows.sources_of(a) if c not in drop) for a in rows.attributes
            }
            rows = replace(rows, X=rows.X.drop(columns=drop), sources=kept)
    if cuts:
        banded = {a: bands(rows.sensitive[a], c, a) for a, c in cuts.items()}
        known = {a: v for a, v in rows.privileged.items() if a not in cuts}
        rows = replace(rows, sensitive=rows.sensitive.assign(**banded), privileged=known)
    return rows


def _gather(
    folder: str, rows: "Dataset", *, trust: bool, train: float, seed: int
) -> "tuple[dict[str, Any], dict[str, str], Dataset, list[str]]":
    """Load the models of files, train those that are declared; return the rows to judge on."""
    from isonomy.audit import read_declared, train_models
    from isonomy.counterfactual import load_model, load_models
    from isonomy.data.leaks import leak_notes

    path = Path(folder)
    models: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    notes: list[str] = []
    if path.is_dir():
        models, left_out = load_models(path, trust=trust)
        files = sorted(path.glob("*.toml"))
    elif path.suffix.lower() == ".toml":
        files = [path]
    else:
        models, files = {path.stem: load_model(path, trust=trust)}, []
    if models:
        notes.append(
            "Models from files are judged on the rows given: rows that they were trained on flatter "
            "them."
        )
    names = {*models, *left_out}
    declared: dict[str, str] = {}
    for file in files:
        for name, text in read_declared(file).items():
            if name in names or name in declared:
                raise InputError(
                    f"Each model must have a name of its own; {name!r} of {file.name!r} is another "
                    f"model, too: rename one."
                )
            declared[name] = text
    if declared:
        notes += leak_notes(rows)
        done = train_models(declared, rows, train=train, random_state=seed)
        models, left_out, rows = {**models, **done.models}, {**left_out, **done.left_out}, done.test
        notes.append(
            f"Declared models were trained on {done.train_rows:,} rows; all models are judged on "
            f"the other {len(rows):,}."
        )
        notes += done.notes
    return models, left_out, rows, notes


# ---------------------------------------------------------------------- the screen


def show(found: "ModelsAudit", screen: "Console", title: str) -> None:
    """Print where the models stand."""
    settings = found.settings
    screen.print(
        f"\n[bold]{len(found.audits)} models on {escape(title)}[/bold]  "
        f"{settings['performance']} and {settings['fairness']}; "
        f"{settings['confidence']:.0%} intervals"
    )
    right = (settings["performance"], "gap")
    headings = ("model", right[0], "rank", right[1], "rank ", "verdict")
    for attribute in found.attributes:
        screen.print()
        table = make_table(*headings, title=escape(f"by {attribute}"), right=right, fixed=right)
        table.padding = (0, 1, 0, 0)
        for s in found.standings:
            if s.attribute != attribute:
                continue
            table.add_row(
                escape(s.model) + (" *" if s.front else ""),
                f"{number(s.performance)}\n{escape(interval(s.performance_low, s.performance_high))}",
                _rank(s.performance_rank, s.performance_ranks),
                f"{number(s.gap)}\n{escape(interval(s.gap_low, s.gap_high))}",
                _rank(s.bias_rank, s.bias_ranks),
                s.verdict or "",
            )
        screen.print(table)
        screen.print("*: on the Pareto front; ranks with the range that chance leaves", style="dim")
        for sentence in found.sentences(attribute):
            screen.print(sentence, markup=False)
    _show_traits(found, screen)
    for name, why in found.left_out.items():
        screen.print(f"[magenta]left out[/magenta] {escape(name)}: {escape(spoken(why))}")
    for note in found.notes:
        print_note(screen, note)


def _rank(rank: int, ends: tuple[int, int]) -> str:
    return f"{rank}\n[dim]{ends[0]} to {ends[1]}[/dim]" if ends[0] < ends[1] else str(rank)


def _show_traits(found: "ModelsAudit", screen: "Console") -> None:
    from isonomy.audit.traits import CAVEAT

    if not found.traits:
        return
    table = make_table(
        "", "trait", "models", "bias", "with bias", title="\nWhat goes with more bias",
        right=["models", "bias", "with bias"],
    )  # fmt: skip
    for t in found.traits:
        what = f"{t.family}: {t.parameter}" if t.family else t.parameter
        table.add_row(
            escape(t.attribute),
            escape(what + (f" = {t.value}" if t.value is not None else "")),
            str(t.models),
            "" if t.bias is None else number(t.bias),
            "" if t.bias_correlation is None else f"{t.bias_correlation:+.2f}",
        )
    screen.print(table)
    screen.print(f"with bias: rank correlation. {CAVEAT}", style="dim")
