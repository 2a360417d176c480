"""An audit of selections on the screen: every group beside the best one and beside the reference."""

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from isonomy.cli.output import interval, make_table, number
from isonomy.report.selections import two_more
from isonomy.stats.written import write_p_value

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from isonomy.audit import SelectionAudit

COLORS = {"within": "green", "violated": "bold red", "insufficient evidence": "yellow"}
BESIDE = {
    "best": "the best group, {}",
    "reference": "the reference, {}",
}


_WIDE = 110
"""Columns of a screen that has room for p-values."""
_OF_WIDE = " p: Fisher, mid-p. two more: does a flag (ratio, p) vanish if two more were selected?"


def show_selections(found: "SelectionAudit", screen: "Console", title: str) -> None:
    """Print an audit without labels as tables."""
    counts = found.counts
    screen.print(
        f"\n[bold]Selections in {escape(title)}[/bold]  {int(counts.n.sum()):,} rows"
        f"{', weighted' if counts.weighted else ''}; selected: "
        f"{escape(', '.join(str(v) for v in counts.favorable))}; "
        f"{found.settings['confidence']:.0%} intervals\n{_summary(found)}"
    )
    for (attribute, against), rows in found.ratios.groupby(["attribute", "against"], sort=False):
        shown, rest = found.telling_groups(str(attribute))
        part = rows[rows["group"].isin(shown)]
        beside = BESIDE[str(against)].format(escape(str(rows["other"].iloc[0])))
        screen.print()
        screen.print(_ratios(part, f"{escape(str(attribute))} beside {beside}", screen.width))
        if rest:
            screen.print(f"[dim]{escape(rest)}[/dim]")
    wide = screen.width >= _WIDE
    screen.print(
        "[dim]interval and verdict: for all groups, comparisons and attributes together, and for the best "
        "being chosen by the data. "
        "short: people fewer than at the other's rate. Z: standard deviations."
        f"{_OF_WIDE if wide else ''}[/dim]"
    )
    gaps = [f for f in found.metrics if f.attribute is not None]
    for attribute in dict.fromkeys(f.attribute for f in gaps):
        of = [f for f in gaps if f.attribute == attribute]
        for compared in dict.fromkeys(f.comparison or "" for f in of):
            table = make_table(
                "metric", "value", "interval", "verdict",
                title=f"Gaps by {escape(str(attribute))}{compared and ': ' + escape(compared)}",
                right=["value", "interval"],
            )  # fmt: skip
            for f in of:
                if (f.comparison or "") == compared:
                    table.add_row(
                        f.name,
                        number(f.value),
                        escape(interval(f.low, f.high)),
                        _verdict(f.verdict),
                    )
            screen.print()
            screen.print(table)
    for frame, draw in (
        (found.stratified, _strata),
        (found.scores, _scores),
        (found.cutoffs, _cutoffs),
    ):
        for attribute, rows in frame.groupby("attribute", sort=False) if len(frame) else ():
            shown, _ = found.telling_groups(str(attribute))
            screen.print()
            screen.print(draw(rows[rows["group"].isin(shown)], escape(str(attribute))))
    screen.print()
    for note in found.notes:
        screen.print(f"[yellow]Note[/yellow] {escape(note)}")
    if found.unexamined:
        screen.print(
            f"[yellow]Unexamined[/yellow] These columns look protected and were not asked about: "
            f"{escape(', '.join(found.unexamined))}"
        )
    screen.print(f"\n{_summary(found)}")


def _verdict(verdict: Any) -> str:
    if verdict not in COLORS:
        return str(verdict or "")
    return f"[{COLORS[verdict]}]{verdict}[/{COLORS[verdict]}]"


def _summary(found: "SelectionAudit") -> str:
    """Count the verdicts on groups and on gaps."""
    said = [*found.ratios["verdict"], *(f.verdict for f in found.metrics)]
    tally = {verdict: sum(v == verdict for v in said) for verdict in COLORS}
    words = [f"[{COLORS[v]}]{n} {v}[/{COLORS[v]}]" for v, n in tally.items() if n]
    return f"Verdicts on groups and gaps: {', '.join(words) or 'none'}."


def _ratios(rows: "pd.DataFrame", title: str, width: int) -> Any:
    wide = width >= _WIDE
    more = ["short", "Z", "p", "two more"] if wide else ["short", "Z"]
    right = ["rows", "selected", "rate", "ratio", "interval", *more[:3]]
    table = make_table(
        "group", "rows", "selected", "rate", "ratio", "interval", *more, "verdict",
        title=title, right=right,
    )  # fmt: skip
    for row in rows.to_dict("records"):
        pair = [
            _or_dash(row["shortfall"], 1),
            _or_dash(row["z"], 2),
            _pvalue(row["fisher_mid_p"]),
            two_more(row),
        ]
        table.add_row(
            escape(row["group"]), f"{row['rows']:,}", f"{row['selected']:,}", number(row["rate"]),
            _or_dash(row["ratio"], 3), escape(interval(row["low"], row["high"])),
            *pair[: len(more)], _verdict(row["verdict"]),
        )  # fmt: skip
    return table


def _or_dash(value: float, digits: int) -> str:
    return "-" if value != value else number(value, digits)


def _pvalue(p: float) -> str:
    return write_p_value(p, undefined="-")


def _strata(rows: "pd.DataFrame", attribute: str) -> Any:
    first = rows.iloc[0]
    table = make_table(
        "group", "ratio", "within", "interval", "chi2", "p", "strata agree (p)",
        title=f"{attribute} beside {escape(first['other'])} within {escape(first['strata'])} "
        "(Mantel-Haenszel; Breslow-Day with Tarone's correction)",
        right=["ratio", "within", "interval", "chi2", "p", "strata agree (p)"],
    )  # fmt: skip
    for row in rows.to_dict("records"):
        table.add_row(
            escape(row["group"]), number(row["ratio"]), number(row["ratio_within"]),
            escape(interval(row["ratio_low"], row["ratio_high"])), number(row["chi2"], 2),
            _pvalue(row["p_value"]), _pvalue(row["breslow_day_p"]),
        )  # fmt: skip
    return table


def _scores(rows: "pd.DataFrame", attribute: str) -> Any:
    first = rows.iloc[0]
    table = make_table(
        "group", "rows", "mean", "SMD", "interval", "p (Holm)",
        title=f"Mean scores by {attribute} beside {escape(first['other'])} "
        f"({first['other_mean']:.3f}), in standard deviations of all scores",
        right=["rows", "mean", "SMD", "interval", "p (Holm)"],
    )  # fmt: skip
    for row in rows.to_dict("records"):
        table.add_row(
            escape(row["group"]), f"{row['rows']:,}", number(row["mean"]), number(row["smd"]),
            escape(interval(row["low"], row["high"])), _pvalue(row["p_holm"]),
        )  # fmt: skip
    return table


def _cutoffs(rows: "pd.DataFrame", attribute: str) -> Any:
    percents = rows["percent"].unique().tolist()
    against = rows["against"].iloc[0]
    beside = "the best" if against == "best" else escape(rows["other"].iloc[0])
    names = [f"{p} %" for p in percents]
    table = make_table(
        "group",
        *names,
        right=names,
        title=f"Ratios by {attribute} among the best scores, to {beside}",
    )
    for group, part in rows.groupby("group", sort=False):
        table.add_row(escape(str(group)), *(_or_dash(v, 2) for v in part["ratio"]))
    return table
