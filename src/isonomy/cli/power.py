"""``isonomy power``: how many rows a verdict needs, and how large a gap some rows show."""

from typing import TYPE_CHECKING

import typer

from isonomy.cli.options import Confidence, Json, Quiet, parse_shares
from isonomy.cli.output import console, make_table, number, write_json

if TYPE_CHECKING:
    from isonomy.audit import Plan


def power_command(
    gap: float = typer.Option(
        ..., "--gap", help="The true gap, as the metric measures it: -0.05, or a ratio such as 0.7."
    ),
    base_rate: float = typer.Option(
        ..., "--base-rate", help="The true rate of the reference (privileged) group."
    ),
    groups: str = typer.Option(
        "0.5,0.5", "--groups", help="Shares of the groups, the reference first; they add up to 1."
    ),
    rows: int | None = typer.Option(
        None, "--rows", min=2, help="Rows at hand: what they show, and how often."
    ),
    metric: str = typer.Option(
        "statistical_parity_difference", "--metric", help="A gap between rates of one kind."
    ),
    threshold: float | None = typer.Option(
        None, "--threshold", help="The accepted range; by default 0.1, and 0.8 for ratios."
    ),
    confidence: Confidence = 0.95,
    power: float = typer.Option(0.8, "--power", help="How often the verdict is to be said."),
    json_file: Json = None,
    quiet: Quiet = False,
) -> None:
    """Plan an audit: rows needed for a gap to be called, and the gap that some rows can show.

    The chances are those of the audit's own rule, added up over all counts that the groups can have.
    Rows are those that the rate is of: for false_positive_rate_difference, people whose label is
    unfavourable.

    Exit code 0: done; 2: the input is wrong.
    """
    from isonomy.audit import power as plan_audit

    found = plan_audit(
        gap, base_rate=base_rate, groups=parse_shares(groups, "--groups"), rows=rows,
        metric=metric, threshold=threshold, confidence=confidence, power=power,
    )  # fmt: skip
    screen = console()
    low, high = found.settings["threshold"]
    ratio = low > 0
    screen.print(
        f"\n[bold]{found.settings['metric']}[/bold] of {gap:g} beside a reference rate of "
        f"{base_rate:g}; accepted {low:g} to {high:g}; {confidence:.0%} intervals; power {power:.0%}"
    )
    table = make_table(
        "share", "rate", "shown not to be " + ("1" if ratio else "0"), "called", "verdict",
        title="Rows needed, all groups together",
        right=["share", "rate", "shown not to be " + ("1" if ratio else "0"), "called"],
    )  # fmt: skip
    for plan in found.plans:
        table.add_row(
            f"{plan.share:.1%}", number(plan.rate), _rows(plan.rows_shown), _rows(plan.rows_called),
            plan.verdict or "none: the gap is the threshold",
        )  # fmt: skip
    screen.print()
    screen.print(table)
    if rows is not None:
        screen.print()
        screen.print(f"[bold]With {rows:,} rows[/bold]")
        for plan in found.plans:
            screen.print(_at_hand(plan, power, ratio=ratio))
    write_json(json_file, found.to_dict())


def _rows(rows: int | None) -> str:
    return "never" if rows is None else f"{rows:,}"


def _at_hand(plan: "Plan", power: float, *, ratio: bool) -> str:
    """Say what the rows at hand show of one group."""
    called = (
        f"the verdict is {plan.verdict} in {plan.chance_called:.0%} of samples; "
        if plan.chance_called is not None
        else ""
    )
    ends = [
        number(end) if ratio else f"{end:+.3f}"
        for end in (plan.smallest_below, plan.smallest_above)
        if end is not None
    ]
    least = f"gaps from {' and '.join(ends)} are" if ends else "no gap is"
    return (
        f"A group of {plan.share:.1%}: the gap is shown in {plan.chance_shown:.0%} of samples; {called}"
        f"{least} shown in {power:.0%}."
    )
