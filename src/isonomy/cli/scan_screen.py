"""A scan on the screen."""

from typing import TYPE_CHECKING

from rich.markup import escape

from isonomy.cli.output import interval, make_table, number, print_note

if TYPE_CHECKING:
    from rich.console import Console

    from isonomy.audit import Scan


def show_scan(found: "Scan", screen: "Console") -> None:
    """Print the groups that depart, or the farthest where none does."""
    from isonomy.metrics import RATES

    settings = found.settings
    screen.print(
        f"\n[bold]Scan[/bold]  conjunctions of up to {settings['depth']} of "
        f"{escape(', '.join(settings['columns']))}"
    )
    screen.print(escape(found.headline()))
    confirm = settings["confirm"]
    rows = found.findings or found.farthest
    if rows:
        table = make_table(
            "rate", "group", "rows", "value", "others", "difference", "interval", "p",
            *(["held-out half"] if confirm and found.findings else []),
            title="Groups that depart" if found.findings else "Farthest, and within chance",
            right=["rows", "value", "others", "difference", "interval", "p"],
        )  # fmt: skip
        for row in rows:
            held = []
            if row.confirmed is not None:
                color, word = (
                    ("green", "confirmed") if row.confirmed else ("yellow", "not confirmed")
                )
                held = [f"[{color}]{word}[/{color}]\n[dim]p {row.p_confirm:.2g}[/dim]"]
            table.add_row(
                RATES[row.rate].label if row.rate in RATES else row.rate, escape(row.group), f"{row.rows:,}", number(row.value),
                number(row.others),
                f"{row.difference:+.3f}", escape(interval(row.low, row.high)),
                f"{row.p_value:.2g}", *held,
            )  # fmt: skip
        screen.print()
        screen.print(table)
    for note in found.notes:
        print_note(screen, note)
