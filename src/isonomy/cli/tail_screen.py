"""A tail report on the screen: groups side by side, the worst individuals, what a search found."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape

if TYPE_CHECKING:
    from rich.console import Console

    from isonomy.counterfactual import EcdReport, Estimate, GroupReport, TailSample

__all__ = ["show"]


def show(
    report: "EcdReport",
    screen: "Console",
    title: str,
    samples: "Sequence[TailSample]" = (),
) -> None:
    """Print a report as tables."""
    from rich.table import Table

    screen.print(
        f"\n[bold]Tail of {escape(report.attribute.title)} in {escape(title)}[/bold]  "
        f"{report.pairs.codes.size:,} rows; the model was asked {report.calls} times; "
        f"{report.settings['level']:.0%} intervals\n"
    )
    each = max(1, (screen.width - 24) // 24)
    for start in range(0, len(report.groups), each):
        part = report.groups[start : start + each]
        table = Table(box=None, padding=(0, 2, 0, 0))
        table.add_column("", overflow="fold")
        for g in part:
            name = f"{escape(g.name)} *" if g.privileged else escape(g.name)
            table.add_column(name, justify="right", overflow="fold")
        for row in _rows(report, part):
            table.add_row(*row)
        screen.print(table)
        screen.print()
    screen.print(
        "[dim]* compared with. CD: score in the other group minus own score, positive where the "
        f"own group costs. CVaR: mean of the largest {1 - report.settings['alpha']:.0%} (ours). "
        "Level of m queries: exceeded once in m on average.[/dim]"
    )
    screen.print()
    for g in report.groups:
        if g.sentence:
            screen.print(f"[yellow]{escape(g.name)}[/yellow] {escape(g.sentence)}")
    for note in report.notes:
        screen.print(f"[yellow]Note[/yellow] {escape(note)}")
    for g, sample in zip(report.groups, samples, strict=False):
        screen.print(f"[cyan]{escape(g.name)}[/cyan] {escape(sample.sentence())}")
    if report.worst["cd"].any():  # nobody is the worst where no score moves
        screen.print()
        screen.print(_people(report, screen.width))
    if report.found is not None:
        screen.print()
        screen.print(_found(report, screen.width))


def _rows(report: "EcdReport", part: "tuple[GroupReport, ...]") -> list[list[str]]:
    def line(name: str, of: Any) -> list[str]:
        return [name, *(of(g) for g in part)]

    def gap(name: Any) -> Any:
        return lambda g: "" if g.privileged else _number(report.differences[g.group].get(name))

    rows = [
        line("rows", lambda g: f"{g.extremes.rows:,}"),
        line("ACD (mean)", lambda g: _number(g.extremes.acd)),
        line(f"CVaR {report.settings['alpha']:g}", lambda g: _number(g.extremes.cvar)),
        line("label changes", lambda g: _number(g.flip_rate)),
        line("location (paper)", lambda g: _number(g.extremes.location)),
    ]
    rows += [
        line(f"level, {m:,} queries", lambda g, m=m: _number(g.extremes.levels[m]))
        for m in report.settings["horizons"]
    ]
    rows += [
        line("tail", lambda g: escape(g.tail)),
        line("horizon", lambda g: _horizon(g.horizon)),
        line("largest observed", lambda g: _three(g.extremes.largest)),
    ]
    if any(g.exact is not None for g in report.groups):
        rows.append(line("exact maximum", lambda g: _exact(g, "anywhere")))
        rows.append(line("exact, data's domain", lambda g: _exact(g, "on_domain")))
    if report.found is not None:
        rows.append(line("found by search", lambda g: f"{report.found.largest(g.group):.3f}"))
    other = " & ".join(report.settings["privileged"])
    rows.append([f"[bold]more than {escape(other)}[/bold]", *("" for _ in part)])
    rows += [
        line("  ACD", gap("acd")),
        line("  CVaR", gap("cvar")),
        line("  ECD (paper)", gap("ecd")),
    ]
    rows += [line(f"  level, {m:,}", gap(m)) for m in report.settings["horizons"]]
    return rows


def _number(value: "Estimate | None") -> str:
    if value is None or value.value != value.value:
        return "undefined"
    text = _three(value.value)
    if value.low == value.low:
        text += f" [dim]\\[{_three(value.low)}, {_three(value.high)}][/dim]"
    return text


def _three(value: float) -> str:
    """Write a number with three digits, and never a minus before nothing."""
    return f"{round(value, 3) + 0.0:.3f}"


def _horizon(value: float) -> str:
    if value != value:
        return "-"
    return "unlimited" if value == float("inf") else f"{value:,.0f}"


def _exact(g: "GroupReport", what: str) -> str:
    if g.exact is None:
        return "-"
    value = getattr(g.exact, what)
    return "unknown" if value != value else _three(value)


def _people(report: "EcdReport", width: int) -> Any:
    from rich.table import Table

    table = Table(
        title=f"The {len(report.worst)} worst individuals", title_justify="left", box=None,
        padding=(0, 2, 0, 0),
    )  # fmt: skip
    said = ["row", "group", "score", "other", "CD"]
    for heading in said:
        table.add_column(heading, justify="left" if heading == "group" else "right")
    rest = list(report.worst.columns[7:])
    table.add_column("who", overflow="fold", min_width=20)
    for line in report.worst.to_dict("records"):
        who = ", ".join(f"{c}={_short(line[c])}" for c in rest)
        room = max(40, 3 * (width - 50))
        table.add_row(
            f"{line['row']:,}",
            escape(f"{line['group']} → {line['counterfactual']}"),
            f"{line['score']:.3f}",
            f"{line['counterfactual_score']:.3f}" + (" !" if line["label_changes"] else ""),
            _three(line["cd"]),
            escape(who if len(who) <= room else who[: room - 1] + "…"),
        )
    if report.worst["label_changes"].any():
        table.caption, table.caption_justify = "! the predicted label changes", "left"
    return table


def _short(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _found(report: "EcdReport", width: int) -> Any:
    from rich.table import Table

    found = report.found
    assert found is not None
    table = Table(
        title=f"Found by search: {found.queries:,} rows scored in {found.calls} calls",
        title_justify="left", box=None, padding=(0, 2, 0, 0),
    )  # fmt: skip
    for heading in ("start", "group", "CD there", "CD found"):
        table.add_column(heading, justify="left" if heading == "group" else "right")
    table.add_column("changed", overflow="fold", min_width=20)
    for line in found.frame().head(10).to_dict("records"):
        gain = line["cd"] - line["start_cd"] > 5e-4
        table.add_row(
            f"{line['start']:,}", escape(line["group"]), _three(line['start_cd']),
            _three(line['cd']), escape(line["changes"] if gain else "nothing better to three digits"),
        )  # fmt: skip
    return table
