"""Charts of summaries as inline SVG: every kind, from the chart's own data.

Positions along the horizontal axis are percentages, so that a chart fills a page or a phone while
its words keep their size. Each mark says what it is in a ``<title>``.
"""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np

from isonomy.report.figures import draw_bars, draw_grid
from isonomy.report.statistics import draw_groups, draw_ranks, draw_shares
from isonomy.report.svg import INK, ticks

Chart = dict[str, Any]

_TOP = 8.0  # pixels above a plot, where labels of the highest marks go
_CROWD = 8  # of so many points, labels go wherever there is room, and intervals are faint
_NOMINAL = 700.0  # pixels of width for which labels are placed


def draw(chart: Chart) -> str:
    """Return a chart as a fragment of HTML.

    Examples
    --------
    >>> from isonomy.report import blocks as b
    >>> rows = [b.whisker("women", 0.4, 0.35, 0.45)]
    >>> drawn = draw(b.intervals("Selection rate", rows, alt="Women: 0.4.", ends=(0, 1)))
    >>> drawn.count("<circle")
    1
    """
    return _KINDS[chart["kind"]](chart)


def draw_file(chart: Chart, *, width: float = 700.0) -> str:
    """Return a chart on two axes, or of ranks, as an SVG that stands in a file of its own.

    Examples
    --------
    >>> from isonomy.report import blocks as b
    >>> flat = b.line([0, 1], [0, 0], "dot")
    >>> chart = b.xy("A line", [flat], alt="", x=b.axis("x", (0, 1)), y=b.axis("y", (-1, 1)))
    >>> draw_file(chart).startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    True
    """
    if chart["kind"] == "xy":
        inner, height = _plane(chart), chart["height"]
        style = 'font-family="sans-serif" font-size="12.5"'
        words = (
            f'<text x="60" y="16">{escape(chart["y"]["label"])}</text>'
            f'<text x="{width / 2:g}" y="{height + 56:g}" text-anchor="middle">'
            f"{escape(chart['x']['label'])}</text>"
        )
        drawing = (
            f'<svg width="{width:g}" height="{height + 66:g}" {style}>{words}'
            f'<svg x="60" y="24" width="{width - 80:g}" height="{height:g}" overflow="visible">'
            f"{inner}</svg></svg>"
        )
    else:
        drawing = draw(chart)
    for name, colour in INK.items():
        drawing = drawing.replace(f"var(--{name})", colour)
    return drawing.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)


def _ink(tone: str) -> str:
    return f"var(--{tone or 'dot'})"


def _mark(body: str, said: str) -> str:
    """Put a mark together with what it says."""
    return f'<g class="m"><title>{escape(said)}</title>{body}</g>' if said else body


# ---------------------------------------------------------------------- values with intervals


def _intervals(chart: Chart) -> str:
    axis = chart["axis"]
    low, high = axis["low"], axis["high"]

    def at(value: float) -> str:
        share = (min(max(value, low), high) - low) / (high - low)
        return f"{100 * share:.1f}%"

    rows = "".join(_whisker(row, at, axis["ideal"]) for row in chart["rows"])
    near = 0.12 * (high - low)
    inner = [t for t in ticks(low, high) if low + near < t < high - near]
    marks = [low, *inner, high]
    edges = {low: "start", high: "end"}
    words = "".join(
        f'<text x="{at(t)}" y="13" text-anchor="{edges.get(t, "middle")}">{t:g}</text>'
        for t in marks
    )
    ends = (
        f'<div class="whisker ends" aria-hidden="true"><span></span>'
        f'<svg width="100%" height="16">{words}</svg><span></span></div>'
    )
    # each row says its numbers beside its mark: the alternative text would say them twice
    return f'<div role="group" aria-label="{escape(chart["title"])}">{rows}{ends}</div>'


def _whisker(row: Chart, at: Callable[[float], str], ideal: float | None) -> str:
    parts = []
    if row["accept"]:
        left, right = (float(at(a)[:-1]) for a in row["accept"])
        parts.append(f'<rect class="ok" x="{left}%" width="{right - left:.1f}%"/>')
    if ideal is not None:
        x = at(ideal)
        parts.append(f'<line class="eq" x1="{x}" x2="{x}" y2="18"/>')
    value = "undefined"
    bounds = ""
    if row["low"] is not None and row["high"] is not None:
        bounds = f"{row['low'] + 0.0:.3f} to {row['high'] + 0.0:.3f}"
        parts.append(f'<line x1="{at(row["low"])}" x2="{at(row["high"])}" y1="9" y2="9"/>')
    if row["value"] is not None:
        value = f"{row['value'] + 0.0:.3f}"
        parts.append(f'<circle cx="{at(row["value"])}" cy="9" r="4.5"/>')
    said = row["said"] or f"{row['label']}: {value}{f' ({bounds})' if bounds else ''}"
    return (
        f'<div class="whisker"><span>{escape(row["label"])}</span>'
        f'<svg class="m {row["tone"]}"><title>{escape(said)}</title>{"".join(parts)}</svg>'
        f'<span class="v">{value}<small>{bounds}</small></span></div>'
    )


# ---------------------------------------------------------------------- two axes


def _xy(chart: Chart) -> str:
    keys = []
    for tone, words in chart["legend"]:
        ink, _, dashes = tone.partition(" ")
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        keys.append(
            f'<li><svg width="22" height="9" aria-hidden="true"><line x1="0" x2="22" y1="5" y2="5" '
            f'stroke="{_ink(ink)}" stroke-width="3"{dashed}/></svg>{escape(words)}</li>'
        )
    legend = f'<ul class="legend">{"".join(keys)}</ul>' if keys else ""
    return (
        f'<p class="axis" aria-hidden="true">&#8593; {escape(chart["y"]["label"])}</p>'
        f'<div class="plot"><svg width="100%" height="{chart["height"]:g}" role="group" '
        f'aria-label="{escape(chart["alt"])}">{_plane(chart)}</svg></div>'
        f'<p class="axis x" aria-hidden="true">{escape(chart["x"]["label"])} &#8594;</p>{legend}'
    )


class _Frame:
    """From data to a percentage of the width and pixels of the height."""

    def __init__(self, chart: Chart) -> None:
        self.x, self.y = ((chart[k]["low"], chart[k]["high"]) for k in "xy")
        self.height = float(chart["height"])

    def at(self, x: float, y: float) -> tuple[float, float]:
        across = 100 * (x - self.x[0]) / (self.x[1] - self.x[0])
        deep = self.height - (self.height - _TOP) * (y - self.y[0]) / (self.y[1] - self.y[0])
        return round(across, 2), round(deep, 1)

    def shape(self, mark: Chart) -> str:
        """Return the points of a line or an area, a thousand across."""
        pairs = (self.at(x, y) for x, y in zip(mark["x"], mark["y"], strict=True))
        return " ".join(f"{10 * x:.4g},{y:g}" for x, y in pairs)


def _plane(chart: Chart) -> str:
    frame = _Frame(chart)
    grid = _grid_lines(frame, chart)
    flat = "".join(
        _shape(frame, mark) for mark in chart["marks"] if mark["mark"] in ("line", "area")
    )
    inner = (
        f'<svg class="in" width="100%" height="{frame.height:g}" overflow="hidden" '
        f'viewBox="0 0 1000 {frame.height:g}" preserveAspectRatio="none">{flat}</svg>'
    )
    names = "".join(_corner(frame, m) for m in chart["marks"] if m["mark"] == "words")
    return (
        grid + inner + names + _points(frame, [m for m in chart["marks"] if m["mark"] == "point"])
    )


def _grid_lines(frame: _Frame, chart: Chart) -> str:
    parts = []
    for at, said in _ticks(chart["y"]):
        _, y = frame.at(frame.x[0], at)
        parts.append(
            f'<line x1="0" x2="100%" y1="{y}" y2="{y}" stroke="{_ink("line")}"/>'
            f'<text x="-6" y="{y + 4}" text-anchor="end">{escape(said)}</text>'
        )
    for at, said in _ticks(chart["x"]):
        x, _ = frame.at(at, frame.y[0])
        parts.append(
            f'<text x="{x}%" y="{frame.height + 17:g}" text-anchor="middle">{escape(said)}</text>'
        )
    return f'<g aria-hidden="true">{"".join(parts)}</g>'


def _ticks(axis: Chart) -> list[tuple[float, str]]:
    if axis["ticks"] is not None:
        return [(at, said) for at, said in axis["ticks"]]
    return [(t, f"{t:g}") for t in ticks(axis["low"], axis["high"])]


def _shape(frame: _Frame, mark: Chart) -> str:
    points = frame.shape(mark)
    if mark["mark"] == "area":
        shade = f'fill="{_ink(mark["tone"])}" fill-opacity="{mark["shade"]:g}"'
        return f'<polygon points="{points}" {shade}/>'
    dashes = f' stroke-dasharray="{mark["dashes"]}"' if "dashes" in mark else ""
    body = (
        f'<polyline points="{points}" fill="none" stroke="{_ink(mark["tone"])}" '
        f'stroke-width="{mark["wide"]:g}" vector-effect="non-scaling-stroke"{dashes}/>'
    )
    return _mark(body, mark.get("said", ""))


def _corner(frame: _Frame, mark: Chart) -> str:
    x, y = frame.at(mark["x"], mark["y"])
    end = "right" in mark["corner"]
    down = -6 if "bottom" in mark["corner"] else 15
    return (
        f'<text x="{x}%" y="{y + down:g}" dx="{-5 if end else 5}" font-style="italic" '
        f'text-anchor="{"end" if end else "start"}" aria-hidden="true">{escape(mark["said"])}</text>'
    )


def _points(frame: _Frame, marks: Sequence[Chart]) -> str:
    """Draw points, those beyond the frame as triangles on its border, and place their labels."""
    drawn, places = [], []
    for mark in marks:
        inside = (
            float(np.clip(mark["x"], *frame.x)),
            float(np.clip(mark["y"], *frame.y)),
        )
        x, y = frame.at(*inside)
        ink = _ink(mark["tone"])
        outside = inside != (mark["x"], mark["y"])
        cross = "" if outside else _cross(frame, mark, ink, 0.55 if len(marks) < _CROWD else 0.3)
        shape = mark["shape"]
        if outside:
            body = f'<svg x="{x}%" y="{y}" overflow="visible"><path d="M-5 4H5L0-6Z" fill="{ink}"/></svg>'
        elif shape == "square":
            body = f'<rect x="{x}%" y="{y - 5:.1f}" width="10" height="10" transform="translate(-5)" fill="{ink}"/>'
        elif shape == "ring":
            body = (
                f'<circle cx="{x}%" cy="{y}" r="6.5" fill="none" stroke="{ink}" stroke-width="2"/>'
            )
        else:
            size = 3 if shape == "small" else 5
            body = f'<circle cx="{x}%" cy="{y}" r="{size}" fill="{ink}"/>'
        drawn.append(_mark(cross + body, mark.get("said", "")))
        places.append((x / 100 * _NOMINAL, y))
    labels = _Labels([(x - 5, y - 5, x + 5, y + 5) for x, y in places])
    for mark, (x, y) in zip(marks, places, strict=True):
        if "label" in mark:
            dx, dy = labels.put(x, y, mark["label"], len(marks) < _CROWD and "across" in mark)
            strong = ' font-weight="700"' if mark.get("bold") else ""
            drawn.append(
                f'<text x="{100 * x / _NOMINAL:.2f}%" y="{y + dy:.1f}" dx="{dx:.1f}"{strong} '
                f'aria-hidden="true">{escape(mark["label"])}</text>'
            )
    return "".join(drawn)


def _cross(frame: _Frame, mark: Chart, ink: str, opacity: float) -> str:
    """Draw the intervals of a point."""
    parts = []
    if "across" in mark:
        left, right = (frame.at(float(np.clip(v, *frame.x)), mark["y"]) for v in mark["across"])
        parts.append((f'x1="{left[0]}%" x2="{right[0]}%"', f'y1="{left[1]}" y2="{left[1]}"'))
    if "up" in mark:
        low, high = (frame.at(mark["x"], float(np.clip(v, *frame.y))) for v in mark["up"])
        parts.append((f'x1="{low[0]}%" x2="{low[0]}%"', f'y1="{low[1]}" y2="{high[1]}"'))
    return "".join(f'<line {x} {y} stroke="{ink}" stroke-opacity="{opacity}"/>' for x, y in parts)


class _Labels:
    """Places for labels: the first spot of several that covers nothing yet."""

    def __init__(self, taken: list[tuple[float, float, float, float]]) -> None:
        self.taken = taken

    def put(self, px: float, py: float, words: str, crossed: bool) -> tuple[float, float]:
        """Return how far from its point a label goes; beside a ``crossed`` one, above its line."""
        beside = -4 if crossed else 4
        width, height = 6.9 * len(words) + 2, 12.0
        best, least = (8.0, 4.0), np.inf
        for dx, dy in ((8, beside), (-8 - width, beside), (-width / 2, -9), (-width / 2, 19)):
            for away in (0, 10, 20):
                x = px + dx + (away if dx > 0 else -away if dx < -width else 0)
                y = py + dy + (-away if dy < 0 else away if dy > 10 else 0)
                box = (x, y - height, x + width, y)
                beyond = max(box[2] - _NOMINAL, 0.0) + max(-box[0], 0.0)
                cost = sum(_overlap(box, other) for other in self.taken) + 0.5 * away + 50 * beyond
                if cost < least:
                    best, least = (x - px, y - py), cost
        x, y = px + best[0], py + best[1]
        self.taken.append((x, y - height, x + width, y))
        return best


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    across = min(a[2], b[2]) - max(a[0], b[0])
    down = min(a[3], b[3]) - max(a[1], b[1])
    return max(across, 0.0) * max(down, 0.0)


_KINDS: dict[str, Callable[[Chart], str]] = {
    "intervals": _intervals,
    "xy": _xy,
    "bars": draw_bars,
    "grid": draw_grid,
    "ranks": draw_ranks,
    "groups": draw_groups,
    "shares": draw_shares,
}
