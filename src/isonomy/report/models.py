"""The page of an audit of several models: the plane of both goals, ranks, pairs, every metric."""

from typing import TYPE_CHECKING, Any

import numpy as np

from isonomy.audit.traits import CAVEAT, FEWEST_MODELS
from isonomy.report.html import render
from isonomy.report.svg import Scale, axes, span_of, svg, text
from isonomy.report.tradeoff import _Labels, _mark

if TYPE_CHECKING:
    from isonomy.audit import ModelsAudit, Standing


def models_page(found: "ModelsAudit", *, title: str) -> str:
    """Return an audit of several models as one self-contained page."""
    sections = []
    for attribute in found.attributes:
        rows = [s for s in found.standings if s.attribute == attribute]
        measured = {
            name: {f.name: f for f in a.metrics if f.attribute in {None, attribute}}
            for name, a in found.audits.items()
        }
        names = dict.fromkeys(
            (f.name, f.label) for found_ in measured.values() for f in found_.values()
        )
        sections.append(
            {
                "attribute": attribute,
                "rows": rows,
                "plane": plane(rows, found.settings["performance"], found.settings["fairness"]),
                "sentences": found.sentences(attribute),
                "pairs": [p for p in found.pairs if p.attribute == attribute],
                "traits": [t for t in found.traits if t.attribute == attribute],
                "metrics": list(names),
                "measured": measured,
            }
        )
    words: dict[str, Any] = {"caveat": CAVEAT, "fewest": FEWEST_MODELS}
    return render("models.html", title=title, found=found, sections=sections, **words)


def plane(rows: "list[Standing]", performance: str, fairness: str) -> str:
    """Draw bias against performance, numbered as in the table, and the front as a line."""
    size = (860.0, 420.0)
    ends = [(s.bias_low, s.bias_high) for s in rows]
    across = span_of([s.bias for s in rows], ends, 0.0)
    up = span_of([(s.performance, s.performance_low, s.performance_high) for s in rows])
    scale = Scale(across, up, *size)
    parts = [axes(scale, f"bias: {fairness}", performance)]
    front = sorted((s.bias, s.performance) for s in rows if s.front)
    if len(front) > 1:
        x, y = np.array(front).T
        style = 'stroke="var(--within)" stroke-width="1.5" stroke-dasharray="5 3"'
        parts.append(scale.polyline(x, y, style, "the Pareto front as measured"))
    drawn = []
    for k, (s, bias) in enumerate(zip(rows, ends, strict=True), 1):
        if np.isfinite([s.bias, s.performance]).all():
            colour = "var(--within)" if s.front else "var(--dot)"
            said = f"{s.model}: {s.performance:.3f} at bias {s.bias:.3f}"
            bounds = ((s.performance_low, s.performance_high), bias)
            at, mark = _mark(scale, s.bias, s.performance, bounds, colour, said)
            parts.append(mark)
            drawn.append((at, str(k)))
    labels = _Labels([(x - 4, y - 4, x + 4, y + 4) for (x, y), _ in drawn], size[0])
    for (x, y), label in drawn:
        px, py = labels.put(x, y, label)
        parts.append(text(px, py, label, anchor="start"))
    return svg("".join(parts), "performance against bias", width=size[0], height=size[1])
