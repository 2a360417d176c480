"""``isonomy audit FILE --by month``: every gap in every period, and whether it has moved."""

from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape

from isonomy.cli.options import naming
from isonomy.cli.output import (
    console,
    interval,
    make_table,
    number,
    one_line,
    write_json,
    write_reports,
)
from isonomy.cli.progress import working
from isonomy.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from isonomy.audit import OverTime


def parse_by(text: str) -> tuple[str | None, str | None]:
    """Split ``month``, ``COLUMN:month`` or ``COLUMN`` into the column and the unit."""
    from isonomy._periods import UNITS

    column, _, unit = text.rpartition(":")
    if column and unit in UNITS:
        return column, unit
    return (None, text) if text in UNITS else (text, None)


def audit_by_period(
    file: str,
    by: str,
    columns: dict[str, Any],
    groups: dict[str, Any],
    judging: dict[str, Any],
    *,
    counts: bool,
    fail_on: list[str],
    json_file: str | None,
    report_files: list[str],
) -> None:
    """Run the audit over time, print it, and exit with 1 where a gap of ``fail_on`` has moved."""
    from isonomy.audit import audit_counts_over_time, audit_file_over_time
    from isonomy.metrics import Counts, get_metric
    from isonomy.metrics.query import read_counts

    gates = [get_metric(m).name for m in fail_on if m != "any"]
    when, unit = parse_by(by)
    with working(f"counting {file}"), naming(y_true="label", y_pred="prediction"):
        if counts:
            if when is None:
                raise InputError(
                    f"With --counts, name the column of the periods: --by COLUMN:{unit}."
                )
            names = [*columns["sensitive_features"], when] if columns["sensitive_features"] else []
            cells = read_counts(file, names, columns["table"], most=5000)
            found = audit_counts_over_time(
                Counts.from_cells(cells, **groups), when, unit=unit, **judging
            )
        else:
            found = audit_file_over_time(file, when=when, by=unit, **columns, **groups, **judging)
    moved = found.moved(*(() if "any" in fail_on else gates)) if fail_on else ()
    show(found, console(), file)
    write_json(json_file, {"file": file, **found.to_dict()})
    write_reports(report_files, found, title=file)
    if moved:
        which = ", ".join(dict.fromkeys(f"{m.what} ({m.attribute})" for m in moved))
        typer.echo(f"isonomy: gaps have moved: {one_line(which)}", err=True)
        raise typer.Exit(1)


def show(found: "OverTime", screen: "Console", title: str) -> None:
    """Print an audit over time: what moved, where each gap stands, and the periods of what moved."""
    rows = found.counts.n.sum(axis=(-1, -2, -3))
    screen.print(
        f"\n[bold]Audit of {escape(title)}, over time[/bold]  {int(rows.sum()):,} rows in "
        f"{len(found.periods)} periods, {escape(str(found.periods[0]))} to "
        f"{escape(str(found.periods[-1]))}; {found.settings['confidence']:.0%} intervals"
    )
    for sentence in found.sentences():
        mark = "[bold red]Moved[/bold red] " if " has moved " in sentence else ""
        screen.print(f"{mark}{escape(sentence)}")
    moved = {(m.attribute, name): m for m in found.moved() for name in m.metrics}
    by_gap: dict[tuple[str, str], list[Any]] = {}
    for gap in found.gaps:
        by_gap.setdefault((gap.attribute, gap.name), []).append(gap)
    for attribute in found.counts.attributes:
        screen.print()
        heads = ["first", "last", "interval of last"]
        comparison = next(g.comparison for g in found.gaps if g.attribute == attribute)
        table = make_table(
            "metric", *heads, "", title=f"Gaps by {escape(attribute)}: {comparison}", right=heads
        )
        for (a, name), gaps in by_gap.items():
            if a != attribute:
                continue
            last = gaps[-1]
            table.add_row(
                escape(name), number(gaps[0].value), number(last.value),
                escape(interval(last.low, last.high)),
                "[bold red]moved[/bold red]" if (a, name) in moved else "",
            )  # fmt: skip
        screen.print(table)
        shown = [name for a, name in moved if a == attribute]
        first = next(name for a, name in by_gap if a == attribute)
        for name in dict.fromkeys([*shown[:3], *([] if shown else [first])]):
            screen.print()
            screen.print(_period_table(found, by_gap[attribute, name], rows, moved))
    screen.print("\n[dim]Every gap in every period: --json.[/dim]")
    for note in found.notes:
        screen.print(f"[yellow]Note[/yellow] {escape(note)}")


def _period_table(
    found: "OverTime", gaps: list[Any], rows: Any, moved: "dict[tuple[str, str], Any]"
) -> Any:
    """Lay out one gap, period by period; a line says from where on it is another."""
    heads = ["rows", "value", "interval"]
    table = make_table(
        "period", *heads, "", title=f"{gaps[0].name} by {escape(gaps[0].attribute)}", right=heads
    )
    move = moved.get((gaps[0].attribute, gaps[0].name))
    for gap, n in zip(gaps, rows, strict=True):
        said = escape(gap.reason or "")
        if move is not None and gap.period == move.since:
            said = f"[bold red]moved[/bold red] {said}"
        table.add_row(
            escape(str(gap.period)), f"{int(n):,}", number(gap.value),
            escape(interval(gap.low, gap.high)), said,
        )  # fmt: skip
    return table
