"""``isonomy audit``: disparities of a file of predictions, with intervals and verdicts."""

from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape

from isonomy.cli.options import Html, Json
from isonomy.cli.output import (
    check_writable,
    console,
    interval,
    messages,
    number,
    value_pairs,
    write_json,
    write_page,
)
from isonomy.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from isonomy.audit import Audit, Finding

__all__ = ["register"]

COLOURS = {
    "within": "green",
    "violated": "bold red",
    "insufficient evidence": "yellow",
    "undefined": "magenta",
}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit")(audit_command)


def audit_command(
    file: str = typer.Argument(
        ..., help="A Parquet, CSV or DuckDB file; a table's name with --print-sql."
    ),
    label: str = typer.Option("y_true", "--label", help="Column of the true labels."),
    prediction: str = typer.Option("y_pred", "--prediction", help="Column of the predictions."),
    sensitive: list[str] = typer.Option(
        [], "--sensitive", "--attribute", help="Column of a protected attribute; may be repeated."
    ),
    score: str | None = typer.Option(
        None, "--score", help="Column with the probability of the favourable outcome."
    ),
    privileged: list[str] = typer.Option(
        [], "--privileged", help="ATTRIBUTE=VALUE of the group to compare with; may be repeated."
    ),
    favorable: list[str] = typer.Option(
        [], "--favorable", "--favourable", help="The label that is good to get; may be repeated."
    ),
    intersections: bool = typer.Option(
        False, "--intersections", help="Audit the intersections of all attributes too."
    ),
    weight: str | None = typer.Option(None, "--weight", help="Column of weights."),
    table: str | None = typer.Option(None, "--table", help="Table of a DuckDB file."),
    bins: list[str] = typer.Option(
        [], "--bins", help="ATTRIBUTE=CUT,CUT,...: cut a number such as age into bands."
    ),
    metric: list[str] = typer.Option(
        [], "--metric", help="Group metric to judge (see `isonomy metrics`); may be repeated."
    ),
    threshold: list[str] = typer.Option(
        [],
        "--threshold",
        help="METRIC=NUMBER, or difference=NUMBER / ratio=NUMBER for all of a kind.",
    ),
    level: float = typer.Option(0.95, "--level", help="Confidence level of the intervals."),
    resamples: int = typer.Option(2000, "--resamples", help="Bootstrap resamples."),
    seed: int = typer.Option(0, "--seed", help="Seed of the resamples."),
    fail_on: list[str] = typer.Option(
        [], "--fail-on", help="Exit with 1 when this metric (or 'any') violates its threshold."
    ),
    counts: bool = typer.Option(
        False, "--counts", help="FILE holds counts, as the query of --print-sql gives them."
    ),
    print_sql: bool = typer.Option(
        False, "--print-sql", help="Print the one GROUP BY to run in a warehouse, and stop."
    ),
    json_file: Json = None,
    html_file: Html = None,
) -> None:
    """Audit predictions: rates by group, gaps with intervals, and a verdict on each.

    Exit code 0: done; 1: a threshold named by --fail-on is violated; 2: something is wrong
    with what was given.
    """
    if not sensitive and not counts:
        raise InputError(
            "At least one protected attribute must be named: --sensitive COLUMN (may be repeated)."
        )
    for attribute in _cuts(bins):
        if attribute not in sensitive:
            raise InputError(
                f"Bands must be of a protected attribute; {attribute!r} is not one: add "
                f"--sensitive {attribute}."
            )
    if print_sql:
        typer.echo(_query(file, label, prediction, sensitive, score, weight, _cuts(bins)))
        return
    check_writable(json_file)
    check_writable(html_file, option="--html")
    if json_file and json_file == html_file:
        raise InputError(f"--json and --html must be two files; both are {json_file!r}.")
    if seed < 0:
        raise InputError(f"--seed must be 0 or more; got {seed}.")
    from isonomy.audit import audit_counts, audit_file
    from isonomy.metrics import Counts, get_metric
    from isonomy.metrics.query import read_counts

    gates = [get_metric(m).name for m in fail_on if m != "any"]
    options: dict[str, Any] = {
        "intersections": intersections,
        "metrics": metric or None,
        "thresholds": _numbers(threshold),
        "level": level,
        "resamples": resamples,
        "random_state": seed,
    }
    named: dict[str, Any] = {
        "favorable": favorable or None,
        "privileged": value_pairs(privileged, "--privileged") or None,
    }
    with messages().status(f"counting {escape(file)} ..."):
        if counts:
            for option, given in (("--score", score), ("--weight", weight), ("--bins", bins)):
                if given:
                    raise InputError(f"{option} needs rows; leave it out with --counts.")
            cells = read_counts(file, sensitive, table)
            found = audit_counts(Counts.from_cells(cells, **named), **options)
        else:
            found = audit_file(
                file,
                label=label,
                prediction=prediction,
                sensitive_features=sensitive,
                score=score,
                weight=weight,
                table=table,
                bins=_cuts(bins),
                **named,
                **options,
            )
    # looked up before anything is shown: a gate that cannot close is a usage error
    violated = found.violated(*(() if "any" in fail_on else gates)) if fail_on else ()
    screen = console()
    show(found, screen, file)
    if json_file:
        write_json(json_file, {"file": file, **found.to_dict()})
    if html_file:
        from isonomy.report.html import audit_page

        write_page(html_file, audit_page(found, title=file))
        screen.print(f"Report: {html_file}", markup=False, soft_wrap=True)
    if violated:
        names = ", ".join(
            f"{f.name} ({f.comparison if f in found.comparisons else f.attribute})"
            for f in violated
        )
        messages().print(f"isonomy: thresholds violated: {names}", soft_wrap=True, markup=False)
        raise typer.Exit(1)


def _query(
    table: str,
    label: str,
    prediction: str,
    sensitive: list[str],
    score: str | None,
    weight: str | None,
    bins: dict[str, list[float]],
) -> str:
    from isonomy._files import sql_name
    from isonomy.metrics.query import group_query

    if score:
        raise InputError("--score needs rows; leave it out with --print-sql.")
    source = ".".join(sql_name(part) for part in table.split("."))
    return group_query(source, label, prediction, sensitive, weight, bins) + ";"


def _cuts(given: list[str]) -> dict[str, list[float]]:
    out = {}
    for text in given:
        attribute, _, cuts = text.partition("=")
        try:
            out[attribute] = [float(cut) for cut in cuts.split(",")]
        except ValueError:
            raise InputError(f"--bins must be ATTRIBUTE=CUT,CUT,...; got {text!r}.") from None
    return out


def _numbers(given: list[str]) -> dict[str, float]:
    out = {}
    for text in given:
        name, sign, value = text.partition("=")
        try:
            out[name] = float(value)
        except ValueError:
            sign = ""
        if not sign:
            raise InputError(f"--threshold must be METRIC=NUMBER; got {text!r}.")
    return out


# ---------------------------------------------------------------------- the screen


def show(found: "Audit", screen: "Console", title: str) -> None:
    """Print an audit as tables."""
    from rich.table import Table

    counts = found.counts
    screen.print(
        f"\n[bold]Audit of {escape(title)}[/bold]  {int(counts.n.sum()):,} rows"
        f"{', weighted' if counts.weighted else ''}; favourable: "
        f"{escape(', '.join(str(v) for v in counts.favorable))}; "
        f"{found.settings['level']:.0%} intervals from {found.settings['resamples']:,} resamples\n"
    )
    overall = Table(title="Overall", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("metric", "value", "interval"):
        overall.add_column(heading, justify="left" if heading == "metric" else "right")
    for f in found.metrics:
        if f.attribute is None:
            overall.add_row(f.name, number(f.value), interval(f.low, f.high))
    screen.print(overall)

    for attribute in dict.fromkeys(r.attribute for r in found.groups):
        screen.print()
        screen.print(_rates_table(found, attribute, screen.width, scores=False))
        if any(r.attribute == attribute and r.name == "roc_auc" for r in found.groups):
            screen.print()
            screen.print(_rates_table(found, attribute, screen.width, scores=True))
        gaps = [f for f in found.metrics if f.attribute == attribute]
        if gaps:
            screen.print()
            screen.print(
                _gap_table(gaps, f"Gaps by {escape(attribute)}: {gaps[0].comparison}", screen.width)
            )
        each = [f for f in found.comparisons if f.attribute == attribute]
        worth = [f for f in each if f.verdict in {"violated", "undefined"}]
        if each:
            hidden = len(each) - len(worth)
            if worth:
                screen.print()
                screen.print(
                    _gap_table(
                        worth, f"Single groups of {escape(attribute)}", screen.width, single=True
                    )
                )
            screen.print(
                f"[dim]{hidden} of {len(each)} comparisons of single groups are not shown: "
                f"within, or insufficient evidence (--json has them all).[/dim]"
            )
    screen.print()
    for note in found.notes:
        screen.print(f"[yellow]Note[/yellow] {escape(note)}")
    if found.unexamined:
        screen.print(
            f"[yellow]Unexamined[/yellow] These columns look protected and were not asked about: "
            f"{escape(', '.join(found.unexamined))}"
        )
    screen.print(_summary(found))


def _rates_table(found: "Audit", attribute: str, width: int, *, scores: bool) -> Any:
    from rich.table import Table

    from isonomy.metrics import RATES

    rates = [
        r for r in found.groups if r.attribute == attribute and (r.name not in RATES) == scores
    ]
    names = list(dict.fromkeys((r.name, r.label) for r in rates))
    sizes = found.sizes[found.sizes["attribute"] == attribute].set_index("group")
    groups = list(dict.fromkeys(r.group for r in rates))
    # numbers are never cut: on a narrow screen they stand above their margin, and names fold
    longest = max(len(str(g)) for g in groups)
    narrow = width < longest + 12 + 16 * len(names)
    between = "\n" if narrow else " "
    title = f"{'Scores' if scores else 'Rates'} by {escape(attribute)}"
    table = Table(
        title=title, title_justify="left", box=None, padding=(0, 1 if narrow else 2, 0, 0)
    )
    table.add_column("group", overflow="fold")
    table.add_column("rows", justify="right", no_wrap=True)
    for _, heading in names:
        table.add_column(heading.replace(" ", between), justify="right", no_wrap=True)
    for group in groups:
        mine = {r.name: r for r in rates if r.group == group}
        row = [escape(f"{group} *" if sizes.loc[group, "privileged"] else group)]
        row.append(f"{int(str(sizes.loc[group, 'rows'])):,}")
        for name, _ in names:
            r = mine[name]
            weak = r.reason is not None
            margin = f"[dim]±{max(r.high - r.value, r.value - r.low):.3f}[/dim]"
            unknown = "-" if narrow else "undefined"
            text = unknown if r.value != r.value else f"{number(r.value)}{between}{margin}"
            row.append(f"[yellow]{text}[/yellow]" if weak else text)
        table.add_row(*row)
    marks = ["* privileged"] if sizes["privileged"].any() else []
    if narrow and any(r.value != r.value for r in rates):
        marks.append("- undefined")
    if marks:
        table.caption = "; ".join(marks)
        table.caption_justify = "left"
    return table


def _gap_table(rows: "list[Finding]", title: str, width: int, *, single: bool = False) -> Any:
    from rich.table import Table

    wide = width >= (150 if single else 125)
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2 if wide else 1, 0, 0))
    if single:
        table.add_column("groups")
    table.add_column("metric", no_wrap=True)
    for heading in ("value", "interval"):
        table.add_column(heading, justify="right", no_wrap=True, min_width=6)
    table.add_column("verdict", no_wrap=not single)
    if wide:
        table.add_column("because")
    for f in rows:
        verdict = f.verdict or ""
        colour = COLOURS.get(verdict, "default")
        shown = f"[{colour}]{verdict}[/{colour}]" if verdict else ""
        if verdict == "undefined" and not wide:
            shown += f" [dim]({escape(f.reason or '')})[/dim]"
        table.add_row(
            *([escape(f.comparison or ""), f.label] if single else [f.name]),
            number(f.value),
            escape(interval(f.low, f.high)),
            shown,
            *([f"[dim]{escape(f.reason or '')}[/dim]"] if wide else []),
        )
    return table


def _summary(found: "Audit") -> str:
    tally = {v: sum(f.verdict == v for f in found.metrics) for v in COLOURS}
    words = [f"[{COLOURS[v]}]{n} {v}[/{COLOURS[v]}]" for v, n in tally.items() if n]
    return f"\nVerdicts: {', '.join(words) or 'none'}."
