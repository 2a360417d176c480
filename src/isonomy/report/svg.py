"""The strokes that all drawings share: scales, axes, frames and colours."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

WIDTH, HEIGHT, EDGE = 520.0, 340.0, 58.0


@dataclass(frozen=True)
class Scale:
    """From data to pixels: the ends of both axes."""

    x: tuple[float, float]
    y: tuple[float, float]
    width: float = WIDTH
    height: float = HEIGHT

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Place a point."""
        px = EDGE + (self.width - EDGE - 12) * (x - self.x[0]) / (self.x[1] - self.x[0])
        deep = self.height - EDGE
        py = deep - (deep - 12) * (y - self.y[0]) / (self.y[1] - self.y[0])
        return round(px, 1), round(py, 1)


def text(
    x: float, y: float, words: str, *, anchor: str = "middle", kind: str = "t", style: str = ""
) -> str:
    """Write words."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}"{style}>'
        f"{escape(words)}</text>"
    )


def line(
    x: float, y: float, to_x: float, to_y: float, *, ink: str = "line", style: str = ""
) -> str:
    """Draw a straight line."""
    ends = f'x1="{x:.1f}" x2="{to_x:.1f}" y1="{y:.1f}" y2="{to_y:.1f}"'
    return f'<line {ends} stroke="var(--{ink})"{style}/>'


def span_of(*values: Any, least: float = 1e-3) -> tuple[float, float]:
    """Return an axis with a little room around all values."""
    every = np.concatenate([np.ravel(np.asarray(v, dtype=np.float64)) for v in values])
    every = every[np.isfinite(every)]
    if every.size == 0:
        return 0.0, 1.0
    room = max(0.06 * np.ptp(every), least)
    return float(every.min() - room), float(every.max() + room)


def ticks(low: float, high: float) -> list[float]:
    """Return round numbers along an axis."""
    step = 10.0 ** np.floor(np.log10((high - low) / 3))
    step *= next(k for k in (1, 2, 5, 10) if (high - low) / (step * k) <= 5)
    # adding 0 turns -0 into 0
    return [
        float(t) + 0.0 for t in np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
    ]


def axes(
    scale: Scale,
    across: str,
    up: str,
    *,
    x_ticks: Mapping[float, str] | None = None,
    y_ticks: Mapping[float, str] | None = None,
) -> str:
    """Draw both axes with their words; ticks may be given, as a logarithmic axis needs."""
    parts = []
    for t, word in (x_ticks or {t: f"{t:g}" for t in ticks(*scale.x)}).items():
        px, _ = scale.at(t, scale.y[0])
        parts.append(text(px, scale.height - EDGE + 16, word))
    for t, word in (y_ticks or {t: f"{t:g}" for t in ticks(*scale.y)}).items():
        _, py = scale.at(scale.x[0], t)
        parts.append(text(EDGE - 6, py + 4, word, anchor="end"))
        parts.append(line(EDGE, py, scale.width - 12, py))
    turned = f' transform="rotate(-90 12 {scale.height / 2})"'
    parts.append(text((scale.width + EDGE) / 2, scale.height - 8, across))
    parts.append(text(12, scale.height / 2, up, style=turned))
    return "".join(parts)


def svg(
    body: str, title: str, *, width: float = WIDTH, height: float = HEIGHT, marks: bool = False
) -> str:
    """Put a drawing in its frame; ``marks``: parts of it say what they are themselves."""
    return (
        f'<svg class="wide" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'role="{"group" if marks else "img"}" aria-label="{escape(title)}">{body}</svg>'
    )


INK = {
    "ink": "#1d2430",
    "violated": "#b3261e",
    "within": "#1a7f4b",
    "thin": "#9a6700",
    "undefined": "#7d3c98",
    "dot": "#24509e",
    "soft": "#5d6878",
    "line": "#dfe3ea",
}
"""The colours of our pages, for drawings outside of them."""
