"""``isonomy tail``: what changing a protected attribute does to a model's scores, at worst."""

from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape

from isonomy.cli.options import Html, Json
from isonomy.cli.output import (
    check_writable,
    console,
    messages,
    value_pairs,
    write_json,
    write_page,
)
from isonomy.cli.tail_screen import show
from isonomy.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from isonomy.counterfactual import EcdReport, TailSample

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("tail")(tail_command)


def tail_command(
    paths: list[str] = typer.Argument(
        ...,
        metavar="[MODEL] DATA",
        help="MODEL: a pickle, joblib or skops file of a fitted scikit-learn model, left out with "
        "--command or --callable. DATA: a CSV or Parquet file, or a dataset's name.",
    ),
    sensitive: list[str] = typer.Option(
        [], "--sensitive", "--attribute", help="Column of a protected attribute; may be repeated."
    ),
    label: str | None = typer.Option(
        None, "--label", help="Column of the labels, which is not given to the model."
    ),
    favorable: str | None = typer.Option(
        None, "--favorable", "--favourable", help="The label that is good to get."
    ),
    privileged: list[str] = typer.Option(
        [], "--privileged", help="ATTRIBUTE=VALUE of the group to compare with; may be repeated."
    ),
    group: list[str] = typer.Option(
        [], "--group", help="ATTRIBUTE=VALUE: compare only the groups named; may be repeated."
    ),
    intersections: bool = typer.Option(
        False, "--intersections", help="Flip all attributes together, too."
    ),
    columns: list[str] = typer.Option(
        [],
        "--columns",
        help="ATTRIBUTE=COLUMN,COLUMN: the one-hot columns of an attribute; may be repeated.",
    ),
    companion: list[str] = typer.Option(
        [],
        "--companion",
        help="COLUMN:GROUP:OLD=NEW: a value that changes when a row is put in a group; may be "
        "repeated.",
    ),
    drop: list[str] = typer.Option(
        [], "--drop", help="Column that the model does not take; may be repeated."
    ),
    command: str | None = typer.Option(
        None, "--command", help="A program as the model: CSV on its input, a score per line back."
    ),
    function: str | None = typer.Option(
        None, "--callable", help="module:function as the model: takes a frame, gives scores."
    ),
    trust: bool = typer.Option(
        False, "--trust", help="Open a pickle, which can run any code when it is opened."
    ),
    threshold: float = typer.Option(
        0.5, "--threshold", help="Score from which on the favourable label is predicted."
    ),
    horizon: list[int] = typer.Option(
        [500, 1000, 2000], "--horizon", help="Number of queries for a return level; repeatable."
    ),
    k: str | None = typer.Option(
        None, "--k", help="How many of the largest values make the tail, or auto; see the guide."
    ),
    alpha: float = typer.Option(0.95, "--alpha", help="Level of the conditional value at risk."),
    worst: int = typer.Option(10, "--worst", help="How many individuals to show."),
    search: bool = typer.Option(
        False, "--search", help="Search for worse rows from the worst ones, in the data's domain."
    ),
    together: list[str] = typer.Option(
        [],
        "--together",
        help="COLUMN,COLUMN,...: columns that change together, as education and its number do.",
    ),
    queries: int = typer.Option(200_000, "--queries", help="With --search: most rows to score."),
    generator: str | None = typer.Option(
        None, "--generator", help="Fill small groups up with generated rows, and say what it did."
    ),
    protocol: str = typer.Option(
        "corrected", "--protocol", help="With --generator: corrected, or as_published."
    ),
    timeout: float = typer.Option(
        1200.0, "--timeout", help="Seconds: of each run of --command, of a published search."
    ),
    resamples: int = typer.Option(1000, "--resamples", help="Bootstrap resamples; 0 for none."),
    level: float = typer.Option(0.95, "--level", help="Confidence level of the intervals."),
    seed: int = typer.Option(0, "--seed", help="Seed of resamples and searches."),
    json_file: Json = None,
    html_file: Html = None,
) -> None:
    """Test the tail: what a person's own group costs at worst, with return levels and names.

    Exit code 0: done; 2: something is wrong with what was given.
    """
    if not sensitive:
        raise InputError(
            "At least one protected attribute must be named: --sensitive COLUMN (may be repeated)."
        )
    check_writable(json_file)
    check_writable(html_file, option="--html")
    if json_file and json_file == html_file:
        raise InputError(f"--json and --html must be two files; both are {json_file!r}.")
    for option, value, least in (
        ("--seed", seed, 0), ("--resamples", resamples, 0), ("--worst", worst, 0),
        ("--queries", queries, 1),
    ):  # fmt: skip
        if value < least:
            raise InputError(f"{option} must be {least} or more; got {value}.")
    model, data = _model(paths, command, function, trust=trust, timeout=timeout)
    table, favorable, known = _table(data, label, drop, favorable, sensitive, model)
    only, first = value_pairs(group, "--group"), value_pairs(privileged, "--privileged")
    coded = {
        name: [c.strip() for text in texts for c in text.split(",")]
        for name, texts in value_pairs(columns, "--columns").items()
    }
    for option, given in (("--group", only), ("--privileged", first), ("--columns", coded)):
        for name in given:
            if name not in sensitive:
                raise InputError(
                    f"{option} must be about a protected attribute; {name!r} is not one: add "
                    f"--sensitive {name}."
                )
    beside = _companions(companion, sensitive, table)
    sets = _together(together, sensitive, table)
    from isonomy.counterfactual import Scorer, counterfactual_discrimination, seek_tail

    scorer = Scorer(model, favorable)
    views: list[Any] = list(sensitive)
    if intersections and len(sensitive) > 1:
        views.append(list(sensitive))
    reports: list[EcdReport] = []
    samples: list[list[TailSample]] = []
    for view in views:
        names = [view] if isinstance(view, str) else view
        groups, rules = (
            (only.get(view), beside.get(view))
            if isinstance(view, str)
            else _combined(view, table, only, beside)
        )
        options: dict[str, Any] = {
            "columns": {n: coded[n] for n in names if n in coded} or None,
            "groups": groups,
            "companions": rules,
        }
        chosen = {n: v for n, v in (known | first).items() if n in names}
        with messages().status(f"asking the model about {escape(' & '.join(names))} ..."):
            report = counterfactual_discrimination(
                scorer, table, view, privileged=chosen or None, horizons=horizon, k=_size(k),
                alpha=alpha, resamples=resamples, level=level, worst=worst, random_state=seed,
                one_hot=sets, threshold=threshold, **options,
            )  # fmt: skip
        if search:
            with messages().status("searching for worse rows ..."):
                report = report.with_search(
                    seek_tail(
                        scorer, table, view, pairs=report.pairs, queries=queries,
                        random_state=seed, one_hot=sets, **options,
                    )
                )  # fmt: skip
        reports.append(report)
        samples.append(
            _samples(
                report,
                scorer,
                table,
                view,
                generator,
                protocol,
                timeout,
                seed,
                options | {"one_hot": sets},
            )
            if generator
            else []
        )
    screen = console()
    for report, found in zip(reports, samples, strict=True):
        show(report, screen, data, found)
    if json_file:
        write_json(json_file, _as_data(data, reports, samples))
    if html_file:
        from isonomy.report.tail import tail_page

        write_page(html_file, tail_page(reports, title=data))
        screen.print(f"Report: {html_file}", markup=False, soft_wrap=True)


# ---------------------------------------------------------------------- what is given


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


def _size(given: str | None) -> int | str | None:
    if given is None or given == "auto":
        return given
    if not given.isdecimal():
        raise InputError(f"--k must be a number or auto; got {given!r}.")
    return int(given)


def _table(
    data: str,
    label: str | None,
    drop: list[str],
    favorable: str | None,
    sensitive: list[str],
    model: Any,
) -> "tuple[pd.DataFrame, Any, dict[str, Any]]":
    """Give the columns that the model takes, and what a dataset knows of favour and privilege."""
    from isonomy._files import is_table_file, read_table
    from isonomy._validate import unknown_name
    from isonomy.data import load

    privileged: dict[str, Any] = {}
    if is_table_file(data):
        table = read_table(data)
        for column in [*([label] if label else []), *drop, *sensitive]:
            if column not in table.columns:
                raise unknown_name("column", column, list(table.columns))
        table = table.drop(columns=[*([label] if label else []), *drop])
    else:
        dataset = load(data)
        # an attribute derived from a column holds other values than the column that is flipped
        privileged = {
            a: list(v)
            for a, v in dataset.privileged.items()
            if a in dataset.X and set(v) <= set(dataset.X[a].unique())
        }
        table = dataset.X.drop(columns=[c for c in drop if c in dataset.X.columns])
        if favorable is None:
            known = {str(c) for c in getattr(model, "classes_", ())}
            favorable = next((str(v) for v in dataset.favorable if str(v) in known), None)
    wanted = getattr(model, "feature_names_in_", None)
    if wanted is not None:
        for column in wanted:
            if column not in table.columns:
                raise InputError(
                    f"The data must hold every column that the model was fitted on; "
                    f"{unknown_name('column', str(column), list(table.columns))}"
                )
        table = table[list(wanted)]
    for column in sensitive:
        if column not in table.columns:
            raise InputError(
                f"The model must take the protected attribute to be asked about it; it was "
                f"fitted without {column!r}, so that changing it changes nothing."
            )
    return table, favorable, privileged


def _companions(
    given: list[str], sensitive: list[str], table: "pd.DataFrame"
) -> dict[str, dict[str, dict[Any, dict[str, str]]]]:
    """Read the companions of each attribute: the one that has the group named."""
    from isonomy._validate import unknown_name

    known = {a: [str(v) for v in table[a].dropna().unique()] for a in sensitive}
    out: dict[str, dict[str, dict[Any, dict[str, str]]]] = {a: {} for a in sensitive}
    for text in given:
        parts = text.split(":", maxsplit=2)
        old, sign, new = parts[-1].partition("=")
        if len(parts) != 3 or not sign:
            raise InputError(f"--companion must be COLUMN:GROUP:OLD=NEW; got {text!r}.")
        owners = [a for a, groups in known.items() if parts[1] in groups]
        if not owners:
            raise unknown_name("group", parts[1], [g for groups in known.values() for g in groups])
        for owner in owners:
            out[owner].setdefault(parts[0], {}).setdefault(parts[1], {})[old] = new
    return out


def _combined(
    view: list[str],
    table: "pd.DataFrame",
    only: dict[str, list[str]],
    beside: dict[str, dict[str, dict[Any, dict[str, str]]]],
) -> tuple[list[tuple[Any, ...]] | None, dict[str, dict[Any, dict[str, str]]]]:
    """Give the groups and companions of single attributes for the combinations that occur."""
    from isonomy._validate import match_values

    rows = table[view].dropna().drop_duplicates()
    for name in (n for n in view if n in only):
        known = list(table[name].dropna().unique())
        rows = rows[rows[name].isin(match_values(only[name], known, what="group"))]
    found = [tuple(row) for row in rows.itertuples(index=False)]
    rules: dict[str, dict[Any, dict[str, str]]] = {}
    for group in found:
        for name, value in zip(view, group, strict=True):
            for column, words in beside[name].items():
                if str(value) in words:
                    rules.setdefault(column, {}).setdefault(group, {}).update(words[str(value)])
    return found if any(n in only for n in view) else None, rules


def _together(
    given: list[str], sensitive: list[str], table: "pd.DataFrame"
) -> list[list[str]]:  # fmt: skip
    from isonomy._validate import check_columns

    sets = [[c.strip() for c in text.split(",")] for text in given]
    named = [c for columns in sets for c in columns]
    check_columns(named, list(table.columns))
    for column in named:
        if column in sensitive:
            raise InputError(
                f"--together must name other columns than protected attributes; got {column!r}: "
                f"use --companion for what changes with one."
            )
    return sets


def _samples(
    report: "EcdReport",
    scorer: Any,
    table: Any,
    view: Any,
    generator: str,
    protocol: str,
    timeout: float,
    seed: int,
    options: dict[str, Any],
) -> "list[TailSample]":
    from isonomy.counterfactual import tail_sample_search

    found = []
    for g in report.groups:
        with messages().status(f"gathering a tail of {escape(g.name)} ..."):
            found.append(
                tail_sample_search(
                    scorer, table, view, group=g.group, generator=generator, protocol=protocol,
                    timeout=timeout, random_state=seed, **options,
                )
            )  # fmt: skip
    return found


# ---------------------------------------------------------------------- what is written


def _as_data(
    data: str, reports: "list[EcdReport]", samples: "list[list[TailSample]]"
) -> dict[str, Any]:
    out = []
    for report, found in zip(reports, samples, strict=True):
        content = report.summary()
        if found:
            content["tail_samples"] = [
                {"group": g.name, **s.frame().to_dict("records")[0]}
                for g, s in zip(report.groups, found, strict=True)
            ]
        out.append(content)
    return {"file": data, "tails": out}
