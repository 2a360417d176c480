"""A tail report on the screen: groups side by side, the worst individuals, what a search found."""

from typing import TYPE_CHECKING, Any

import numpy as np
from rich.markup import escape

from isonomy.cli.output import make_table, print_note
from isonomy.report.tail import cell, queries

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from isonomy.counterfactual import EcdReport, Estimate, Found, GroupReport


def show(report: "EcdReport", screen: "Console", title: str) -> None:
    """Print a report as tables."""
    screen.print(
        f"\n[bold]Tail of {escape(report.attribute.title)} in {escape(title)}[/bold]  "
        f"{report.pairs.codes.size:,} rows; the model was asked {report.calls} times; "
        f"{report.settings['confidence']:.0%} intervals\n"
    )
    for sentence in report.sentences():
        screen.print(escape(sentence))
    screen.print()
    each = max(1, (screen.width - 24) // 24)
    for start in range(0, len(report.groups), each):
        part = report.groups[start : start + each]
        table = make_table("")
        for g in part:
            name = f"{escape(g.name)} *" if g.privileged else escape(g.name)
            table.add_column(name, justify="right", overflow="fold")
        for row in _rows(report, part):
            table.add_row(*row)
        screen.print(table, "")
    screen.print(
        "[dim]* compared with. CD: score in the other group minus own score, positive where the "
        f"own group costs. CVaR: mean of the largest {1 - report.settings['cvar_quantile']:.0%} (ours). "
        "Level of m queries: exceeded once in m on average.[/dim]\n"
    )
    for g in report.groups:
        if g.sentence:
            screen.print(f"[yellow]{escape(g.name)}[/yellow] {escape(g.sentence)}")
        if g.evidence and g.diagnosis:
            screen.print(
                f"[dim]Tail of {escape(g.name)}: {escape(g.evidence)}. Horizon: "
                f"{escape(g.diagnosis.horizon_reason)}.[/dim]"
            )
    for note in report.notes:
        print_note(screen, note)
    for g, sample in zip(report.groups, report.samples, strict=False):
        screen.print(f"[cyan]{escape(g.name)}[/cyan] {escape(sample.sentence())}")
    if report.worst["cd"].any():  # nobody is the worst where no score moves
        screen.print("", _people(report, screen.width))
    if report.found is not None:
        screen.print("", _found(report.found))


def _rows(report: "EcdReport", part: "tuple[GroupReport, ...]") -> list[list[str]]:
    def line(name: str, of: Any) -> list[str]:
        return [name, *(of(g) for g in part)]

    def gap(name: Any) -> Any:
        return lambda g: "" if g.privileged else _number(report.differences[g.group].get(name))

    horizons = report.settings["horizons"]
    rows = [
        line("rows", lambda g: f"{g.extremes.rows:,}"),
        line("ACD (mean)", lambda g: _number(g.extremes.acd)),
        line(f"CVaR {report.settings['cvar_quantile']:g}", lambda g: _number(g.extremes.cvar)),
        line("label changes", lambda g: _number(g.flip_rate)),
        line("location (paper)", lambda g: _number(g.extremes.location)),
        *(
            line(f"level, {m:,} queries", lambda g, m=m: _number(g.extremes.levels[m]))
            for m in horizons
        ),
        line("tail", lambda g: escape(g.tail)),
        line("horizon", lambda g: queries(g.horizon, "-")),
        line("largest observed", lambda g: _three(g.extremes.largest)),
    ]
    if any(g.exact is not None for g in report.groups):
        rows.append(line("exact maximum", lambda g: _exact(g, "anywhere")))
        rows.append(line("exact, data's domain", lambda g: _exact(g, "on_domain")))
    if report.found is not None:
        rows.append(line("found by search", lambda g: f"{report.found.largest(g.group):.3f}"))
    other = " & ".join(report.settings["privileged"])
    return [
        *rows,
        [f"[bold]more than {escape(other)}[/bold]", *("" for _ in part)],
        line("  ACD", gap("acd")),
        line("  CVaR", gap("cvar")),
        line("  ECD (paper)", gap("ecd")),
        *(line(f"  level, {m:,}", gap(m)) for m in horizons),
    ]


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


def _exact(g: "GroupReport", what: str) -> str:
    if g.exact is None:
        return "-"
    value = getattr(g.exact, what)
    if value != value:
        return "unknown"
    bound = what == "on_domain" and not g.exact.attained
    return f"at most {_three(value)}" if bound else _three(value)


def _people(report: "EcdReport", width: int) -> "Table":
    numbers = ("row", "score", "other", "CD")
    table = make_table(
        "row", "group", "score", "other", "CD",
        title=f"The {len(report.worst)} worst individuals", right=numbers,
    )  # fmt: skip
    table.add_column("who, telling columns first", overflow="fold", min_width=20)
    room = max(40, 3 * (width - 50))
    for line in report.worst.to_dict("records"):
        traits = [f"{c}={cell(line[c])}" for c in report.worst.columns[7:]]
        # as many whole columns as fit
        fits = (np.cumsum([len(trait) + 2 for trait in traits]) <= room).sum()
        who = ", ".join([*traits[: max(fits, 1)], *(["…"] if fits < len(traits) else [])])
        table.add_row(
            f"{line['row']:,}",
            escape(f"{line['group']} → {line['counterfactual']}"),
            f"{line['score']:.3f}",
            f"{line['counterfactual_score']:.3f}" + (" !" if line["label_changes"] else ""),
            _three(line["cd"]),
            escape(who),
        )
    if report.worst["label_changes"].any():
        table.caption, table.caption_justify = "! the predicted label changes", "left"
    return table


def _found(result: "Found") -> "Table":
    table = make_table(
        "start", "group", "CD there", "CD found",
        title=f"Found by search: {result.queries:,} rows scored in {result.calls} calls",
        right=("start", "CD there", "CD found"),
    )  # fmt: skip
    table.add_column("changed", overflow="fold", min_width=20)
    for line in result.frame().head(10).to_dict("records"):
        gain = line["cd"] - line["start_cd"] > 5e-4
        changes = line["changes"] if gain else "nothing better to three digits"
        numbers = _three(line["start_cd"]), _three(line["cd"])
        table.add_row(f"{line['start']:,}", escape(line["group"]), *numbers, escape(changes))
    return table
