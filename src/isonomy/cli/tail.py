"""``isonomy tail``: the effect of a protected attribute on a model's scores, at worst."""

from typing import Annotated, Any

import typer

from isonomy.cli.options import (
    Confidence,
    Drop,
    Favorable,
    Json,
    Label,
    Privileged,
    Quiet,
    Report,
    Resamples,
    Seed,
    Sensitive,
    Trust,
    check_sensitive,
    parse_pairs,
)
from isonomy.cli.output import console, refuse_same_file, write_json, write_reports
from isonomy.cli.progress import working
from isonomy.errors import InputError


def tail_command(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="[MODEL] DATA",
            help="MODEL: a pickle, joblib or skops file of a fitted scikit-learn model, left out "
            "with --command or --callable. DATA: a table file, or a dataset's name.",
        ),
    ],
    sensitive: Sensitive = [],
    label: Label = None,
    favorable: Favorable = [],
    privileged: Privileged = [],
    group: Annotated[
        list[str],
        typer.Option("--group", help="ATTRIBUTE=VALUE[,VALUE...]: the groups to compare."),
    ] = [],
    intersections: Annotated[
        bool, typer.Option("--intersections", help="Flip all attributes together, too.")
    ] = False,
    columns: Annotated[
        list[str],
        typer.Option(
            "--columns", help="ATTRIBUTE=COLUMN,COLUMN: the one-hot columns of an attribute."
        ),
    ] = [],
    companion: Annotated[
        list[str],
        typer.Option(
            "--companion",
            help="COLUMN:GROUP:OLD=NEW: a value that changes when a row is put in a group.",
        ),
    ] = [],
    drop: Drop = [],
    command: Annotated[
        str | None,
        typer.Option(
            "--command", help="Program as the model: CSV on its input, a score per line back."
        ),
    ] = None,
    function: Annotated[
        str | None,
        typer.Option(
            "--callable", help="module:function as the model: takes a frame, returns scores."
        ),
    ] = None,
    trust: Trust = False,
    threshold: Annotated[
        float,
        typer.Option("--threshold", help="Score from which the favorable label is predicted."),
    ] = 0.5,
    horizon: Annotated[
        list[int],
        typer.Option("--horizon", help="Number of queries of a return level; repeatable."),
    ] = [500, 1000, 2000],
    k: Annotated[
        str | None,
        typer.Option("--k", help="How many of the largest values make the tail, or auto."),
    ] = None,
    cvar_quantile: Annotated[
        float, typer.Option("--cvar-quantile", help="CVaR is the mean beyond this quantile.")
    ] = 0.95,
    worst: Annotated[
        int, typer.Option("--worst", min=0, help="Number of individuals to show.")
    ] = 10,
    search: Annotated[
        bool,
        typer.Option("--search", help="Search the data's domain for rows that are treated worse."),
    ] = False,
    together: Annotated[
        list[str],
        typer.Option(
            "--together", help="COLUMN,COLUMN,...: columns that change together; repeatable."
        ),
    ] = [],
    queries: Annotated[
        int, typer.Option("--queries", min=1, help="With --search: most rows to score.")
    ] = 200_000,
    generator: Annotated[
        str | None, typer.Option("--generator", help="Add generated rows to small groups.")
    ] = None,
    protocol: Annotated[
        str, typer.Option("--protocol", help="With --generator: corrected, or as_published.")
    ] = "corrected",
    timeout: Annotated[
        float,
        typer.Option("--timeout", help="Seconds: of each run of --command, of a published search."),
    ] = 1200.0,
    resamples: Resamples = 1000,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
    json_file: Json = None,
    report_files: Report = [],
    quiet: Quiet = False,
) -> None:
    """Test the tail: the most that belonging to a group costs a person, with return levels.

    Exit code 0: done; 2: something is wrong with what was given.
    """
    check_sensitive(sensitive)
    refuse_same_file(json_file, report_files)
    about = {
        option: parse_pairs(texts, option)
        for option, texts in (
            ("--group", group),
            ("--privileged", privileged),
            ("--columns", columns),
        )
    }
    for option, values in about.items():
        for name in values:
            if name not in sensitive:
                raise InputError(
                    f"{option} must be about a protected attribute; {name!r} is not one: add "
                    f"--sensitive {name}."
                )
    if k is not None and k != "auto" and not k.isdecimal():
        raise InputError(f"--k must be a number or auto; got {k!r}.")
    sets = [[c.strip() for c in text.split(",")] for text in together]
    from isonomy._validate import check_columns
    from isonomy.counterfactual import model_table, tail_reports

    model, data = _model(paths, command, function, trust=trust, timeout=timeout)
    table, favorable_label, known = model_table(
        data, model, sensitive, label=label, drop=drop, favorable=favorable or None
    )
    named = [column for columns in sets for column in columns]
    check_columns(named, list(table.columns))
    if both := set(named) & set(sensitive):
        raise InputError(
            f"--together must name other columns than protected attributes; got {min(both)!r}: "
            f"use --companion for what changes with one."
        )
    with working("asking the model"):
        reports = tail_reports(
            model,
            table,
            sensitive,
            intersections=intersections,
            groups=about["--group"],
            privileged=known | about["--privileged"],
            columns=about["--columns"],
            companions=_companions(companion),
            one_hot=sets,
            favorable=favorable_label,
            queries=queries if search else 0,
            generator=generator,
            protocol=protocol,
            timeout=timeout,
            random_state=seed,
            threshold=threshold,
            horizons=horizon,
            k=int(k) if k and k.isdecimal() else k,
            cvar_quantile=cvar_quantile,
            resamples=resamples,
            confidence=confidence,
            worst=worst,
            curves=bool(report_files),
        )
    from isonomy.cli.tail_screen import show

    screen = console()
    for report in reports:
        show(report, screen, data)
    write_json(json_file, {"file": data, "tails": reports})
    write_reports(report_files, reports, title=data)


def _model(
    paths: list[str], command: str | None, function: str | None, *, trust: bool, timeout: float
) -> tuple[Any, str]:
    from isonomy.counterfactual import CommandModel, load_function, load_model

    if command is not None and function is not None:
        raise InputError("Either --command or --callable must be given, not both.")
    black_box = command is not None or function is not None
    if len(paths) != (1 if black_box else 2):
        wanted = "DATA alone with --command or --callable" if black_box else "MODEL and DATA"
        raise InputError(f"{wanted} must be given; got {len(paths)} argument(s).")
    if command is not None:
        return CommandModel(command, timeout=timeout), paths[0]
    if function is not None:
        return load_function(function), paths[0]
    return load_model(paths[0], trust=trust), paths[1]


def _companions(texts: list[str]) -> dict[str, dict[str, dict[str, str]]]:
    rules: dict[str, dict[str, dict[str, str]]] = {}
    for text in texts:
        parts = text.split(":", maxsplit=2)
        old, sign, new = parts[-1].partition("=")
        if len(parts) != 3 or not sign:
            raise InputError(f"--companion must be COLUMN:GROUP:OLD=NEW; got {text!r}.")
        rules.setdefault(parts[0], {}).setdefault(parts[1], {})[old] = new
    return rules
