"""The page of a benchmark: what to choose on top, then the picture, the methods, the evidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from isonomy.benchmark.judge import headline, metric_words, sentences
from isonomy.report.html import environment
from isonomy.report.statistics import statistics_fragment
from isonomy.report.svg import EDGE, Scale, axes, span_of, svg
from isonomy.report.tradeoff import COLOURS, region_words

if TYPE_CHECKING:
    from isonomy.benchmark.judge import Benchmark, MethodVerdict, Section

__all__ = ["benchmark_page", "plane_of"]

_WORD_CLASS = {
    "worth it": "within",
    "perhaps": "insufficient-evidence",
    "not worth it": "soft",
    "no use": "violated",
    "not judged": "undefined",
}
_DASHES = {"random": "2 3", "minority": "7 3"}
_WIDE, _HIGH = 860.0, 470.0


def benchmark_page(found: "Benchmark", *, title: str | None = None) -> str:
    """Turn a benchmark into one self-contained page.

    Parameters
    ----------
    found : Benchmark
        What :func:`isonomy.benchmark.judge.judge_benchmark` gave.
    title : str, optional
        The dataset's name by default.
    """
    sections = []
    for section in found.sections:
        judged = [v for v in section.judged if v.advantage == v.advantage]
        numbered = {v.method: k for k, v in enumerate(judged, 1)}
        other = list(dict.fromkeys(o.attribute for v in section.judged for o in v.others))
        more = list(dict.fromkeys(name for v in section.judged for name in v.more))
        sections.append(
            {
                "section": section,
                "headline": headline(section),
                "sentences": sentences(found, section),
                "plane": plane_of(section, judged),
                "numbered": numbered,
                "rows": [(v, found.word(v)) for v in section.judged],
                "left_out": [v for v in section.verdicts if v.status != "ok"],
                "others": other,
                "more": [(name, metric_words(name)) for name in more],
                "ranks": _ranks(section),
                "few": len(judged) > 1 and section.repeats < 6,
            }
        )
    page = environment().get_template("benchmark.html")
    return str(
        page.render(
            title=title or found.data,
            found=found,
            sections=sections,
            performance=metric_words(found.performance),
            fairness=metric_words(found.fairness),
            word_class=_WORD_CLASS,
        )
    )


def _ranks(section: "Section") -> str:
    """Draw the ranks of the methods over the repeats, where there are enough of both."""
    if section.critical is None:
        return ""
    return statistics_fragment(critical=section.critical)


@dataclass
class _Labels:
    """Places for the numbers of points: the first spot of eight that covers nothing yet."""

    taken: list[tuple[float, float, float, float]]

    def put(self, px: float, py: float, text: str) -> tuple[float, float]:
        width, height = 6.4 * len(text) + 2, 11.0
        best, least = (px + 7, py + 4), np.inf
        for dx, dy in ((7, 4), (-7 - width, 4), (-width / 2, -8), (-width / 2, 17)):
            for more in (0, 9, 18):
                x = px + dx + (more if dx > 0 else -more if dx < -width else 0)
                y = py + dy + (-more if dy < 0 else more if dy > 10 else 0)
                box = (x, y - height, x + width, y)
                beyond = max(box[2] - _WIDE, 0.0) + max(EDGE - box[0], 0.0)
                overlap = sum(_overlap(box, other) for other in self.taken)
                overlap += 0.5 * more + 50 * beyond
                if overlap < least:
                    best, least = (x, y), overlap
        self.taken.append((best[0], best[1] - height, best[0] + width, best[1]))
        return round(best[0], 1), round(best[1], 1)


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    across = min(a[2], b[2]) - max(a[0], b[0])
    down = min(a[3], b[3]) - max(a[1], b[1])
    return max(across, 0.0) * max(down, 0.0)


def plane_of(section: "Section", verdicts: "Sequence[MethodVerdict]") -> str:
    """Draw both baselines and every method, numbered as in the table.

    A point beyond the frame sits on its border as a triangle.
    """
    line, frontier = section.baseline, section.frontier
    xs = np.array([v.bias.after for v in verdicts])
    ys = np.array([v.performance.after for v in verdicts])
    first_x, first_y = float(line.bias[0]), float(line.performance[0])
    scale = _frame(line.bias, line.performance, xs, ys)
    parts = []
    if line.reason is None:
        left, top = scale.at(scale.x[0], scale.y[1])
        edge, level = scale.at(first_x, first_y)
        right, floor = scale.at(scale.x[1], scale.y[0])
        for x, y, width, height, colour in (
            (left, top, edge - left, level - top, "within"),
            (edge, level, right - edge, floor - level, "violated"),
        ):
            parts.append(
                f'<rect x="{x}" y="{y}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}" '
                f'fill="var(--{colour})" opacity="0.09"/>'
            )
        good = scale.line(
            np.append(line.bias, [scale.x[0], scale.x[0], first_x]),
            np.append(line.performance, [line.performance[-1], first_y, first_y]),
        )
        parts.append(f'<polygon points="{good}" fill="var(--within)" opacity="0.05"/>')
        parts.append(region_words(scale, line))
    across = f"bias by {section.attribute}: {metric_words(line.fairness_metric)}"
    parts.append(axes(scale, across, metric_words(line.performance_metric)))
    inside = f'<g clip-path="url(#{_name(section)})">'
    for name, dashes in _DASHES.items():
        other = section.baselines.get(name)
        if other is not None:
            inside += (
                f'<polyline points="{scale.line(other.bias, other.performance)}" fill="none" '
                f'stroke="var(--soft)" stroke-dasharray="{dashes}"><title>mutation into '
                f"{name} labels</title></polyline>"
            )
    if frontier is not None:
        reach_y, reach_x = frontier.reach()
        inside += (
            f'<polyline points="{scale.line(reach_x, reach_y)}" fill="none" stroke="var(--dot)" '
            'stroke-width="1.5" stroke-dasharray="5 3"><title>group thresholds on the same '
            "model</title></polyline>"
        )
    inside += (
        f'<polyline points="{scale.line(line.bias, line.performance)}" fill="none" '
        'stroke="var(--violated)" stroke-width="2"><title>mutation into the majority label'
        "</title></polyline>"
    )
    parts.append(_clip(scale, _name(section)) + inside + "</g>")
    px, py = scale.at(first_x, first_y)
    labels = _Labels([(px - 6, py - 6, px + 6, py + 6)])
    parts.append(
        f'<rect x="{px - 4.5}" y="{py - 4.5}" width="9" height="9" fill="var(--ink)">'
        "<title>the original model</title></rect>"
    )
    drawn = [_point(scale, v) for v in verdicts]
    labels.taken += [(x - 4, y - 4, x + 4, y + 4) for x, y, _ in drawn]
    parts += [dot for *_, dot in drawn]
    chosen = {section.recommendation.method, section.recommendation.runner_up}
    for number, (verdict, (x, y, _)) in enumerate(zip(verdicts, drawn, strict=True), 1):
        at_x, at_y = labels.put(x, y, str(number))
        weight = ' font-weight="700"' if verdict.method in chosen else ""
        parts.append(f'<text x="{at_x}" y="{at_y}" class="t"{weight}>{number}</text>')
    x, y = labels.put(px, py, "original")
    parts.append(f'<text x="{x}" y="{y}" class="t">original</text>')
    title = f"performance against bias by {section.attribute}"
    return svg("".join(parts), title, width=_WIDE, height=_HIGH)


def _name(section: "Section") -> str:
    words = f"{section.attribute}-{section.model}"
    return "clip-" + "".join(c if c.isalnum() else "-" for c in words)


def _clip(scale: Scale, name: str) -> str:
    left, top = scale.at(scale.x[0], scale.y[1])
    right, floor = scale.at(scale.x[1], scale.y[0])
    return (
        f'<clipPath id="{escape(name)}"><rect x="{left}" y="{top}" width="{right - left:.1f}" '
        f'height="{floor - top:.1f}"/></clipPath>'
    )


def _frame(line_x: np.ndarray, line_y: np.ndarray, xs: np.ndarray, ys: np.ndarray) -> Scale:
    """Frame the baseline and most of the points; a few far ones must not squeeze the rest."""
    known = np.isfinite(xs) & np.isfinite(ys)
    width, height = max(np.ptp(line_x), 1e-3), max(np.ptp(line_y), 1e-3)
    far = line_x[0] + 0.8 * width
    low = line_y.min() - 0.15 * height
    near_x = xs[known & (xs <= far)]
    near_y = ys[known & (ys >= low)]
    return Scale(
        span_of(line_x, near_x, 0.0, far if (xs[known] > far).any() else line_x[0]),
        span_of(line_y, near_y),
        _WIDE,
        _HIGH,
    )


def _point(scale: Scale, verdict: "MethodVerdict") -> tuple[float, float, str]:
    x, y = verdict.bias.after, verdict.performance.after
    inside = scale.x[0] <= x <= scale.x[1] and scale.y[0] <= y <= scale.y[1]
    px, py = scale.at(float(np.clip(x, *scale.x)), float(np.clip(y, *scale.y)))
    colour = COLOURS.get(verdict.region or "", "var(--undefined)")
    told = (
        f"<title>{escape(verdict.method)}: {escape(verdict.region or 'no region')}, "
        f"{y:.3f} at bias {x:.3f}</title>"
    )
    if not inside:
        corners = f"{px - 5},{py + 4} {px + 5},{py + 4} {px},{py - 5}"
        return px, py, f'<polygon points="{corners}" fill="{colour}">{told}</polygon>'
    cross = ""
    change_y, change_x = verdict.performance, verdict.bias
    if np.isfinite([change_y.low, change_x.low]).all():
        low_x, high_x = (
            float(np.clip(change_x.before + d, *scale.x)) for d in (change_x.low, change_x.high)
        )
        low_y, high_y = (
            float(np.clip(change_y.before + d, *scale.y)) for d in (change_y.low, change_y.high)
        )
        left, right = scale.at(low_x, y)[0], scale.at(high_x, y)[0]
        floor, top = scale.at(x, low_y)[1], scale.at(x, high_y)[1]
        cross = (
            f'<path d="M{left} {py}H{right}M{px} {floor}V{top}" stroke="{colour}" opacity="0.55"/>'
        )
    dot = f'<circle cx="{px}" cy="{py}" r="4" fill="{colour}">{told}</circle>'
    return px, py, cross + dot
