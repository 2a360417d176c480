"""``isonomy audit``: disparities of a file of predictions, with intervals and verdicts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape

from isonomy.cli.audit_over_time import audit_by_period, parse_by
from isonomy.cli.options import (
    Bins,
    Category,
    Confidence,
    FailOn,
    Favorable,
    FieldValue,
    Json,
    Label,
    Metric,
    Prediction,
    Privileged,
    Quiet,
    Report,
    Resamples,
    Score,
    Seed,
    Sensitive,
    Strata,
    Table,
    Template,
    Threshold,
    Weight,
    check_sensitive,
    naming,
    parse_bins,
    parse_numbers,
    parse_pairs,
)
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
from isonomy.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from isonomy.audit import Audit, Finding, GroupRate, Scan

COLORS = {
    "within": "green",
    "violated": "bold red",
    "insufficient evidence": "yellow",
    "undefined": "magenta",
}


def audit_command(
    context: typer.Context,
    file: str = typer.Argument(
        ..., help="A CSV, Parquet, Excel or DuckDB file; the name of a table with --print-sql."
    ),
    label: Label = None,
    prediction: Prediction = None,
    sensitive: Sensitive = [],
    score: Score = None,
    privileged: Privileged = [],
    strata: Strata = [],
    favorable: Favorable = [],
    intersections: bool = typer.Option(
        False, "--intersections", help="Audit the intersections of all attributes too."
    ),
    by: str | None = typer.Option(
        None,
        "--by",
        metavar="COLUMN:UNIT",
        help="Audit over time, by day, week, month, quarter or year of the column of dates "
        "(month alone where there is one), or by a column of periods.",
    ),
    weight: Weight = None,
    table: Table = None,
    bins: Bins = [],
    metric: Metric = [],
    threshold: Threshold = [],
    confidence: Confidence = 0.95,
    resamples: Resamples = 2000,
    seed: Seed = 0,
    fail_on: FailOn = [],
    counts: bool = typer.Option(
        False, "--counts", help="FILE holds counts: the result of the query of --print-sql."
    ),
    print_sql: bool = typer.Option(
        False, "--print-sql", help="Print the one GROUP BY to run in a warehouse, and stop."
    ),
    scan: bool = typer.Option(
        False,
        "--scan",
        help="Search all conjunctions of the attributes for groups that depart from everybody else; "
        "numbers are cut into quarters.",
    ),
    depth: int | None = typer.Option(
        None, "--depth", min=1, help="The most attributes of a conjunction; by default 3."
    ),
    confirm: bool = typer.Option(
        False, "--confirm", help="Scan one half of the rows, and test what is found on the other."
    ),
    template: Template = None,
    field: FieldValue = [],
    category: Category = [],
    json_file: Json = None,
    report_files: Report = [],
    quiet: Quiet = False,
) -> None:
    """Audit predictions: rates by group, gaps with intervals, and a verdict on each.

    --threshold METRIC=NUMBER sets one metric's threshold; difference=NUMBER and ratio=NUMBER set
    those of all differences and ratios. --fail-on takes metrics, or any; the confidence then holds
    for all verdicts on them together.

    Without labels (--prediction names the selections, and neither --label nor a column y_true is
    there) every group's selection rate is compared with the best and with --reference.

    --by shows every gap in every period and says which has moved: the chance of a false alarm,
    over all periods and gaps, is one less the confidence. --fail-on then asks for gaps that moved.

    --scan lists groups such as "sex = F & age = under 25" whose selection, errors or calibration
    depart; the chance that any is listed where none departs is one less the confidence.

    --template NAME fills the form of a law or a practice instead: see `isonomy templates`.

    Exit code 0: done; 1: a threshold named by --fail-on is violated; 2: the input is wrong.
    """
    if template is not None:
        from isonomy.cli.templates import fill_form

        fill_form(context, template, file)
        return
    if field or category:
        raise InputError("--field and --category are for a template; name one by --template.")
    if not counts:
        check_sensitive(sensitive)
    cuts = parse_bins(bins, sensitive)
    if not scan and (confirm or depth is not None):
        raise InputError("--depth and --confirm are for a scan; add --scan.")
    for option, given in {
        "--by": by, "--weight": weight, "--print-sql": print_sql, "--strata": strata,
    }.items():  # fmt: skip
        if scan and given:
            raise InputError(f"{option} does not go with --scan; leave one of them out.")
    refused = {"--score": score, "--weight": weight, "--bins": bins}
    for mode, active, options in (
        ("--print-sql", print_sql, ["--score"]),
        ("--counts", counts, list(refused)),
    ):
        for option in options if active else ():
            if refused[option]:
                raise InputError(f"{option} needs rows; leave it out with {mode}.")
    left_out = {
        "--score": score,
        "--strata": strata,
        "--intersections": intersections,
    }
    for option, given in left_out.items():
        if by is not None and given:
            raise InputError(f"{option} does not go with --by; leave one of them out.")
    if print_sql:
        from isonomy._files import sql_name
        from isonomy.metrics.query import group_query

        source = ".".join(sql_name(part) for part in file.split("."))
        keys, periods = [*sensitive, *strata], dict[str, str]()
        if by is not None:
            when, unit = parse_by(by)
            if when is None:
                raise InputError(f"With --print-sql, name the column of dates: --by COLUMN:{unit}.")
            keys = [*keys, when]
            periods = {when: unit} if unit else {}
        outcomes = label or "y_true", prediction or "y_pred"
        query = group_query(source, *outcomes, keys, weight, {**cuts, **periods})
        typer.echo(f"{query};")
        return
    refuse_same_file(json_file, report_files)
    from isonomy.audit import SelectionAudit, audit_counts
    from isonomy.audit.labelled import audit_table
    from isonomy.metrics import Counts, get_metric
    from isonomy.metrics.query import read_counts

    gates = [get_metric(m).name for m in fail_on if m != "any"]
    judging: dict[str, Any] = {
        "intersections": intersections,
        "metrics": metric or None,
        "thresholds": {k: v[-1] for k, v in parse_numbers(threshold, "--threshold").items()},
        "confidence": confidence,
        "resamples": resamples,
        "random_state": seed,
    }
    groups: dict[str, Any] = {
        "favorable": favorable or None,
        "privileged": parse_pairs(privileged, "--privileged") or None,
    }
    if by is not None:
        columns = {
            "label": label, "prediction": prediction,
            "sensitive_features": sensitive, "weight": weight, "table": table, "bins": cuts,
        }  # fmt: skip
        over = {k: judging[k] for k in ("metrics", "thresholds", "confidence")}
        audit_by_period(
            file, by, columns, groups, over, counts=counts, fail_on=fail_on, json_file=json_file,
            report_files=report_files,
        )  # fmt: skip
        return
    result: Audit
    from_score = f"prediction '{score}>=0.5'" if score else "prediction"
    if scan and not counts:
        from isonomy.audit.scanned import quarters_of_file

        cuts = {
            k: [*v] for k, v in quarters_of_file(file, sensitive, table=table, bins=cuts).items()
        }
    # without labels it is an audit of selections, which must be named
    none_named = "" if prediction else f", or without labels who is selected with --{from_score}"
    with working(f"counting {file}"), naming(y_true=f"label{none_named}", y_pred=from_score):
        if counts:
            cells = read_counts(file, [*sensitive, *strata] if sensitive else [], table)
            result = audit_counts(Counts.from_cells(cells, **groups), strata=strata, **judging)
        else:
            result = audit_table(
                file, label=label, prediction=prediction, sensitive_features=sensitive, score=score,
                weight=weight, table=table, bins=cuts, strata=strata, **groups, **judging,
            )  # fmt: skip
    if scan:
        with working(f"scanning {file}"):
            result = replace(result, scan=_scanned(
                result, file, counts=counts, metrics=metric, columns={
                    "label": label, "prediction": prediction, "score": score, "table": table,
                    "sensitive_features": sensitive, "favorable": favorable or None, "bins": cuts,
                }, depth=depth or 3, confirm=confirm, confidence=confidence, random_state=seed,
            ))  # fmt: skip
    # looked up before anything is shown: a gate that cannot close is a usage error
    violated = result.violated(*(() if "any" in fail_on else gates)) if fail_on else ()
    screen = console()
    if isinstance(result, SelectionAudit):
        from isonomy.cli.selections_screen import show_selections

        show_selections(result, screen, file)
    else:
        show(result, screen, file)
    if result.scan is not None:
        from isonomy.cli.scan_screen import show_scan

        show_scan(result.scan, screen)
    write_json(json_file, {"file": file, **result.to_dict()})
    write_reports(report_files, result, title=file)
    if violated:
        names = ", ".join(
            f"{f.name} ({f.comparison if f in result.comparisons else f.attribute})"
            for f in violated
        )
        typer.echo(f"isonomy: thresholds violated: {one_line(names)}", err=True)
        raise typer.Exit(1)


def _scanned(
    found: "Audit",
    file: str,
    *,
    counts: bool,
    metrics: list[str],
    columns: dict[str, Any],
    **options: Any,
) -> "Scan":
    """Scan what was audited."""
    from isonomy.audit import SelectionAudit, scan_counts, scan_file
    from isonomy.audit.labelled import LABEL, PREDICTION
    from isonomy.audit.scanned import rates_of

    labelled = not isinstance(found, SelectionAudit)
    asked = rates_of(metrics, scored=columns["score"] is not None) if labelled else None
    if counts:
        return scan_counts(found.counts, labelled=labelled, rates=asked, **options)
    columns["prediction"] = columns["prediction"] or PREDICTION
    columns["label"] = (columns["label"] or LABEL) if labelled else None
    columns["score"] = columns["score"] if labelled else None
    return scan_file(file, **columns, rates=asked, **options)


# ---------------------------------------------------------------------- the screen


def show(found: "Audit", screen: "Console", title: str) -> None:
    """Print an audit as tables."""
    counts = found.counts
    screen.print(
        f"\n[bold]Audit of {escape(title)}[/bold]  {int(counts.n.sum()):,} rows"
        f"{', weighted' if counts.weighted else ''}; favorable: "
        f"{escape(', '.join(str(v) for v in counts.favorable))}; "
        f"{found.settings['confidence']:.0%} intervals"
    )
    screen.print(_summary(found))
    first = [*found.too_fine().values()]
    for note in first:
        print_note(screen, note)
    screen.print()
    overall = make_table(
        "metric", "value", "interval", title="Overall", right=["value", "interval"]
    )
    for f in found.metrics:
        if f.attribute is None:
            overall.add_row(f.name, number(f.value), interval(f.low, f.high))
    screen.print(overall)

    for attribute in dict.fromkeys(r.attribute for r in found.groups):
        for title, rates in _kinds(found, attribute).items():
            screen.print()
            screen.print(_rates_table(found, attribute, screen.width, title, rates))
            if rest := found.telling_groups(attribute)[1]:
                screen.print(f"[dim]{escape(rest)}[/dim]")
        gaps = [f for f in found.metrics if f.attribute == attribute]
        if gaps:
            screen.print()
            screen.print(
                _gap_table(gaps, f"Gaps by {escape(attribute)}: {gaps[0].comparison}", screen.width)
            )
            for sentence in [*found.left_out(attribute), *found.would_decide(attribute)]:
                screen.print(f"[yellow]{escape(sentence)}[/yellow]")
        worth, hidden = found.telling_comparisons(attribute)
        if worth:
            screen.print()
            screen.print(
                _gap_table(
                    worth, f"Single groups of {escape(attribute)}", screen.width, single=True
                )
            )
        if worth or hidden:
            screen.print(
                f"[dim]{hidden} of {hidden + len(worth)} comparisons of single groups are not shown "
                f"(--json has them all).[/dim]"
            )
    if found.conditional:
        screen.print()
        screen.print(_conditional_table(found))
    screen.print()
    for note in (note for note in found.notes if note not in first):
        print_note(screen, note)
    if found.unexamined:
        screen.print(
            f"[yellow]Unexamined[/yellow] These columns look protected and were not asked about: "
            f"{escape(', '.join(found.unexamined))}"
        )
    screen.print(f"\n{_summary(found)}")


def _kinds(found: "Audit", attribute: str) -> "dict[str, list[GroupRate]]":
    """Return the rates, the scores and the calibration of an attribute's groups, where it has them."""
    from isonomy.metrics import RATES
    from isonomy.metrics.calibration import CALIBRATION

    out: dict[str, list[GroupRate]] = {}
    for r in found.groups:
        if r.attribute == attribute:
            kind = (
                "Rates" if r.name in RATES else "Calibration" if r.name in CALIBRATION else "Scores"
            )
            out.setdefault(kind, []).append(r)
    return out


def _rates_table(
    found: "Audit", attribute: str, width: int, title: str, rates: "list[GroupRate]"
) -> Any:
    from rich.table import Table

    calibration = title == "Calibration"
    names = list(dict.fromkeys((r.name, r.label) for r in rates))
    sizes = found.sizes[found.sizes["attribute"] == attribute].set_index("group")
    shown = found.telling_groups(attribute)[0]
    groups = [g for g in dict.fromkeys(r.group for r in rates) if g in shown]
    # numbers are never cut: on a narrow screen they stand above their margin, and names fold
    longest = max(len(str(g)) for g in groups)
    narrow = width < longest + 12 + (20 if calibration else 16) * len(names)
    between = "\n" if narrow else " "
    table = Table(
        title=f"{title} by {escape(attribute)}",
        title_justify="left",
        box=None,
        padding=(0, 1 if narrow else 2, 0, 0),
    )
    table.add_column("group", overflow="fold")
    table.add_column("rows", justify="right", no_wrap=True)
    for _, heading in names:
        table.add_column(heading.replace(" ", between), justify="right", no_wrap=True)
    for group in groups:
        by_name = {r.name: r for r in rates if r.group == group}
        row = [escape(f"{group} *" if sizes.loc[group, "privileged"] else group)]
        row.append(f"{int(str(sizes.loc[group, 'rows'])):,}")
        for name, _ in names:
            r = by_name[name]
            weak = r.reason is not None
            margin = f"±{max(r.high - r.value, r.value - r.low):.3f}"
            if calibration:  # limits may lie on one side; those of ECE are the corrected one's
                plain = r.low != r.low or name in {"calibration_error", "spiegelhalter_z"}
                margin = "" if plain else f"{number(r.low, 2)} to {number(r.high, 2)}"
            margin = f"[dim]{margin}[/dim]"
            unknown = "-" if narrow else "undefined"
            text = unknown if r.value != r.value else f"{number(r.value)}{between}{margin}"
            row.append(f"[yellow]{text}[/yellow]" if weak else text)
        table.add_row(*row)
    marks = ["* privileged"] if sizes["privileged"].any() else []
    if narrow and any(r.value != r.value for r in rates):
        marks.append("- undefined")
    if calibration:
        marks.append("scores are right where ECE is 0, slope 1, intercept 0, Z 0")
    if marks:
        table.caption = "; ".join(marks)
        table.caption_justify = "left"
    return table


def _gap_table(rows: "Sequence[Finding]", title: str, width: int, *, single: bool = False) -> Any:
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
        color = COLORS.get(verdict, "default")
        shown = f"[{color}]{verdict}[/{color}]" if verdict else ""
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


def _conditional_table(found: "Audit") -> Any:
    table = make_table(
        "groups", "metric", "overall", "within", "interval",
        title=f"Gaps within {escape(found.conditional[0].strata)} (Mantel-Haenszel)",
        right=["overall", "within", "interval"],
    )  # fmt: skip
    for row in found.conditional:
        turned = " [bold red]turns[/bold red]" if row.turns else ""
        table.add_row(
            escape(row.comparison), row.label, number(row.value), number(row.within) + turned,
            escape(interval(row.low, row.high)),
        )  # fmt: skip
    return table


def _summary(found: "Audit") -> str:
    """Count the verdicts on gaps, intersections and single groups."""
    every = (*found.metrics, *found.comparisons)
    tally = {v: sum(f.verdict == v for f in every) for v in COLORS}
    words = [f"[{COLORS[v]}]{n} {v}[/{COLORS[v]}]" for v, n in tally.items() if n]
    single = sum(f.verdict == "violated" for f in found.comparisons)
    more = f" ({single} of the violated are single groups)" if single else ""
    return f"Verdicts: {', '.join(words) or 'none'}{more}."
