"""``isonomy metrics``: what is measured, and how to read it."""

from typing import Any

import typer

from isonomy.cli.options import Json, Quiet
from isonomy.cli.output import console, make_table, write_json


def metrics_command(
    name: str | None = typer.Argument(None, help="A metric to explain; all are listed without."),
    json_file: Json = None,
    quiet: Quiet = False,
) -> None:
    """List the metrics, or explain one: formula, sign, range, when not to use it."""
    from rich.markup import escape

    from isonomy.metrics import METRICS, get_metric

    chosen = [get_metric(name)] if name else list(METRICS.values())
    screen = console()
    write_json(json_file, {"metrics": [describe(m) for m in chosen]})
    if name:
        facts = describe(chosen[0])
        table = make_table()
        for key, value in facts.items():
            if value not in (None, "", {}, []):
                table.add_row(key, _written(value))
        screen.print(table)
        return
    for kind in ("performance", "group", "individual"):
        wide = screen.width >= 140  # formulas are long: below, each stands under its name
        first = "name" if wide else "name, and formula"
        headings = (first, "short", "best", "needs", *(["formula"] if wide else []))
        table = make_table(*headings, title=f"{kind} metrics", fixed=["name"])
        for m in chosen:
            if m.kind == kind:
                formula = escape(m.formula)
                named = m.name if wide else f"{m.name}\n[dim]{formula}[/dim]"
                table.add_row(named, m.label, m.goal, m.needs, *([formula] if wide else []))
        screen.print(table)
        screen.print()
    screen.print("Explain one: isonomy metrics NAME")


def describe(metric: Any) -> dict[str, Any]:
    """Return what a metric says about itself."""
    low, high = metric.bounds
    return {
        "name": metric.name,
        "label": metric.label,
        "kind": metric.kind,
        "formula": metric.formula,
        "reading": metric.sign,
        "best": {"zero": "0", "one": "1", "max": "high", "min": "low"}[metric.goal],
        "range": f"{low:g} to {high:g}",
        "needs": metric.needs,
        "when_not_to_use": metric.avoid,
        "parameters": {k: None if v is None or v != v else v for k, v in metric.parameters.items()},
        "aliases": list(metric.aliases),
        "reference": metric.reference,
    }


def _written(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} = {v}" for k, v in value.items())
    return ", ".join(value) if isinstance(value, list) else str(value)
