"""The notebook face: what matters of a summary, in the colours of what is around it."""

from typing import Any

from isonomy._shown import FACES, Summary
from isonomy.report.html import environment, part_of_page

_MOST_ROWS = 12


@FACES.register("notebook")
def to_notebook(summary: Summary) -> str:
    """Return the verdict of a summary, its first chart and its first table, as a fragment.

    Examples
    --------
    >>> from isonomy.report import blocks as b
    >>> made = b.summary("demo", "A demo", verdict=b.verdict("", "Nothing to see."))
    >>> "Nothing to see." in to_notebook(made)
    True
    """
    shown = [
        block
        for part, kind in (("picture", "chart"), ("table", "table"))
        if (block := _first(summary, part, kind))
    ]
    template = environment().get_template("notebook.html")
    style = part_of_page("notebook.css").strip()
    return template.render(page=summary, blocks=shown, style=style).strip()


def _first(summary: Summary, part: str, kind: str) -> dict[str, Any] | None:
    """Return the first block of a kind in a part, shortened to what a cell of a notebook holds."""
    blocks = [b for p in summary["parts"] if p["name"] == part for b in p["blocks"]]
    found = next((b for b in blocks if b["type"] == kind), None)
    if found is None or kind == "chart":
        return None if found is None else found | {"numbers": None}
    rows = found["rows"]
    if len(rows) <= _MOST_ROWS:
        return dict(found)
    rest = f"{len(rows) - _MOST_ROWS:,} more rows: frame() has all."
    return {**found, "rows": rows[:_MOST_ROWS], "note": f"{found['note']} {rest}".strip()}
