"""Pages and drawings of a trade-off: baseline, regions, frontier, and the points judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from isonomy.report.html import render
from isonomy.report.svg import EDGE, HEIGHT, WIDTH, Scale, axes, span_of, svg, text

if TYPE_CHECKING:
    from isonomy.tradeoff import Baseline, Frontier, TradeOff, Tuning


COLOURS = {
    "win-win": "var(--within)",
    "good": "var(--within)",
    "poor": "var(--thin)",
    "inverted": "var(--thin)",
    "lose-lose": "var(--violated)",
}


def plane_svg(
    baseline: "Baseline",
    points: Sequence[tuple[str, float, float, str | None]],
    *,
    frontier: "Frontier | None" = None,
    intervals: Sequence[tuple[tuple[float, float], tuple[float, float]]] = (),
    others: "Mapping[str, Baseline] | None" = None,
    titles: Sequence[str] = (),
    bold: Sequence[str] = (),
    across: str = "",
    size: tuple[float, float] = (WIDTH, HEIGHT),
) -> str:
    """Draw the plane of bias and performance.

    A point beyond the frame sits on its border as a triangle.

    Parameters
    ----------
    baseline : Baseline
        Drawn as a red line.
    points : sequence of (label, performance, bias, region)
        Methods; labels are placed where they cover nothing.
    frontier : Frontier, optional
        The second baseline, dashed.
    intervals : sequence of (performance interval, bias interval), optional
        One cross per point.
    others : mapping of name to Baseline, optional
        Further baselines, in grey.
    titles : sequence of str, optional
        What a pointer on a point shows; the labels by default.
    bold : sequence of str
        Labels to stress.
    across : str, optional
        The words of the horizontal axis.
    size : tuple of (width, height)
    """
    scale = _frame(baseline, points, frontier, size)
    first = float(baseline.bias[0]), float(baseline.performance[0])
    parts = _regions(scale, baseline) if baseline.reason is None else []
    across = across or f"bias: {baseline.fairness_metric}"
    parts.append(axes(scale, across, baseline.performance_metric))
    (left, top), (right, floor) = scale.at(scale.x[0], scale.y[1]), scale.at(scale.x[1], scale.y[0])
    clip = f"frame-{size[0]:g}"
    parts.append(
        f'<clipPath id="{clip}"><rect x="{left}" y="{top}" width="{right - left:.1f}" '
        f'height="{floor - top:.1f}"/></clipPath><g clip-path="url(#{clip})">'
    )
    for (name, other), dashes in zip((others or {}).items(), ("2 3", "7 3"), strict=False):
        style = f'stroke="var(--soft)" stroke-dasharray="{dashes}"'
        title = f"mutation into {name} labels"
        parts.append(scale.polyline(other.bias, other.performance, style, title))
    if frontier is not None:
        reach_y, reach_x = frontier.reach()
        style = 'stroke="var(--dot)" stroke-width="1.5" stroke-dasharray="5 3"'
        title = "group thresholds on the same model"
        parts.append(scale.polyline(reach_x, reach_y, style, title))
    style = 'stroke="var(--violated)" stroke-width="2"'
    line = scale.polyline(baseline.bias, baseline.performance, style, "mutation baseline")
    parts.append(f"{line}</g>")
    px, py = scale.at(*first)
    labels = _Labels([(px - 6, py - 6, px + 6, py + 6)], size[0])
    parts.append(
        f'<rect x="{px - 4.5}" y="{py - 4.5}" width="9" height="9" fill="var(--ink)">'
        "<title>the original model</title></rect>"
    )
    drawn = []
    for k, (label, y, x, region) in enumerate(points):
        if np.isfinite([x, y]).all():
            title = f"{titles[k] if titles else label}: {region or 'no region'}, {y:.3f} at bias {x:.3f}"
            bounds = intervals[k] if k < len(intervals) else ((np.nan,) * 2,) * 2
            at, mark = _mark(
                scale, x, y, bounds, COLOURS.get(region or "", "var(--undefined)"), title
            )
            parts.append(mark)
            drawn.append((at, label))
    labels.taken += [(x - 4, y - 4, x + 4, y + 4) for (x, y), _ in drawn]
    for (x, y), label in [*drawn, ((px, py), "original")]:
        if label:
            at_x, at_y = labels.put(x, y, label)
            weight = ' font-weight="700"' if label in bold else ""
            parts.append(text(at_x, at_y, label, anchor="start", style=weight))
    return svg("".join(parts), "performance against bias", width=size[0], height=size[1])


def _frame(
    line: "Baseline",
    points: Sequence[tuple[str, float, float, str | None]],
    frontier: "Frontier | None",
    size: tuple[float, float],
) -> Scale:
    """Frame the baselines and most of the points; a few far ones must not squeeze the rest."""
    ys, xs = (np.array([p[k] for p in points], dtype=np.float64) for k in (1, 2))
    known = np.isfinite(xs) & np.isfinite(ys)
    width, height = max(np.ptp(line.bias), 1e-3), max(np.ptp(line.performance), 1e-3)
    far = line.bias[0] + 0.8 * width
    turn = 1.0 if line.larger_is_better else -1.0
    near = turn * ys >= line.gain.min() - 0.15 * height
    reach_y, reach_x = frontier.reach() if frontier is not None else (line.performance, line.bias)
    end = far if (xs[known] > far).any() else line.bias[0]
    return Scale(
        span_of(line.bias, xs[known & (xs <= far)], reach_x[reach_x <= far], 0.0, end),
        span_of(line.performance, ys[known & near], reach_y),
        *size,
    )


def _regions(scale: Scale, line: "Baseline") -> list[str]:
    """Tint win-win, lose-lose and good, and name the regions."""
    best, worst = scale.y[::-1] if line.larger_is_better else scale.y
    x, y = float(line.bias[0]), float(line.performance[0])
    parts = []
    for end_x, end_y, colour in ((scale.x[0], best, "within"), (scale.x[1], worst, "violated")):
        (ax, ay), (bx, by) = scale.at(x, y), scale.at(end_x, end_y)
        parts.append(
            f'<rect x="{min(ax, bx)}" y="{min(ay, by)}" width="{abs(bx - ax):.1f}" '
            f'height="{abs(by - ay):.1f}" fill="var(--{colour})" opacity="0.09"/>'
        )
    good = scale.polygon(
        np.append(line.bias, [scale.x[0], scale.x[0], x]),
        np.append(line.performance, [line.performance[-1], y, y]),
        'fill="var(--within)" opacity="0.05"',
    )
    return [*parts, good, _region_words(scale, line)]


def _mark(
    scale: Scale,
    x: float,
    y: float,
    bounds: tuple[tuple[float, ...], tuple[float, ...]],
    colour: str,
    title: str,
) -> tuple[tuple[float, float], str]:
    """Draw a point with its intervals, or a triangle on the border."""
    inside_x, inside_y = float(np.clip(x, *scale.x)), float(np.clip(y, *scale.y))
    px, py = scale.at(inside_x, inside_y)
    title = f"<title>{escape(title)}</title>"
    if (inside_x, inside_y) != (x, y):
        corners = f"{px - 5},{py + 4} {px + 5},{py + 4} {px},{py - 5}"
        return (px, py), f'<polygon points="{corners}" fill="{colour}">{title}</polygon>'
    cross = ""
    if np.isfinite(bounds).all():
        (low, high), (left, right) = (
            [float(v) for v in np.clip(ends, *axis)]
            for ends, axis in zip(bounds, (scale.y, scale.x), strict=True)
        )
        path = f"M{scale.at(left, y)[0]} {py}H{scale.at(right, y)[0]}"
        path += f"M{px} {scale.at(x, low)[1]}V{scale.at(x, high)[1]}"
        cross = f'<path d="{path}" stroke="{colour}" opacity="0.55"/>'
    return (px, py), f'{cross}<circle cx="{px}" cy="{py}" r="4" fill="{colour}">{title}</circle>'


@dataclass
class _Labels:
    """Places for labels: the first spot of several that covers nothing yet."""

    taken: list[tuple[float, float, float, float]]
    right: float

    def put(self, px: float, py: float, text: str) -> tuple[float, float]:
        """Return where to write a label for a point."""
        width, height = 6.4 * len(text) + 2, 11.0
        best, least = (px + 7, py + 4), np.inf
        for dx, dy in ((7, 4), (-7 - width, 4), (-width / 2, -8), (-width / 2, 17)):
            for more in (0, 9, 18):
                x = px + dx + (more if dx > 0 else -more if dx < -width else 0)
                y = py + dy + (-more if dy < 0 else more if dy > 10 else 0)
                box = (x, y - height, x + width, y)
                beyond = max(box[2] - self.right, 0.0) + max(EDGE - box[0], 0.0)
                cost = sum(_overlap(box, other) for other in self.taken) + 0.5 * more + 50 * beyond
                if cost < least:
                    best, least = (x, y), cost
        self.taken.append((best[0], best[1] - height, best[0] + width, best[1]))
        return round(best[0], 1), round(best[1], 1)


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    across = min(a[2], b[2]) - max(a[0], b[0])
    down = min(a[3], b[3]) - max(a[1], b[1])
    return max(across, 0.0) * max(down, 0.0)


def _region_words(scale: Scale, baseline: "Baseline") -> str:
    """Write the names of the regions where there is room for them."""
    left, right = scale.at(scale.x[0], 0)[0], scale.at(scale.x[1], 0)[0]
    edge, level = scale.at(float(baseline.bias[0]), float(baseline.performance[0]))
    floor = scale.at(0, scale.y[0])[1]
    flip = not baseline.larger_is_better
    ceiling = scale.at(0, scale.y[1])[1]
    best, worst = (floor - 4, ceiling + 12) if flip else (ceiling + 12, floor - 4)
    words = [
        ("win-win", left + 4, best, "start"),
        ("good", left + 4, level + (-6 if flip else 14), "start"),
        ("poor", edge - 4, worst, "end"),
    ]
    if right - edge > 50:
        words += [("inverted", right - 2, best, "end"), ("lose-lose", right - 2, worst, "end")]
    italic = ' font-style="italic"'
    return "".join(text(x, y, w, anchor=anchor, style=italic) for w, x, y, anchor in words)


def area_svg(verdict: "TradeOff") -> str:
    """Draw a good point, rescaled, and the area between it and the baseline."""
    scaled = verdict.baseline.normalise(verdict.performance, verdict.bias)
    x, y = float(scaled.x), float(scaled.y)
    bx, by = scaled.baseline_x, scaled.baseline_y
    scale = Scale(span_of(bx, x, 0.0, 1.0), span_of(by, y, 0.0, 1.0))
    parts = [axes(scale, "bias (rescaled)", "performance (rescaled)")]
    if verdict.region == "good":
        rising = bx[::-1], by[::-1]
        # where the horizontal first meets the line, which need not fall everywhere
        steps = np.linspace(x, 1.0, 2000)
        beside = float(steps[np.argmax(np.interp(steps, *rising) >= y)])
        below = float(np.interp(x, *rising))
        inside = (rising[0] > x) & (rising[0] < beside)
        corners_x = np.array([x, *rising[0][inside], beside, x])
        corners_y = np.array([below, *rising[1][inside], y, y])
        parts.append(scale.polygon(corners_x, corners_y, 'fill="var(--dot)" opacity="0.35"'))
    parts.append(scale.polyline(bx, by, 'stroke="var(--violated)" stroke-width="2"'))
    px, py = scale.at(x, y)
    area = f", area {verdict.area:.4f}" if verdict.area == verdict.area else ""
    parts.append(scale.circle(x, y, 5, 'fill="var(--within)"'))
    parts.append(text(px + 8, py - 6, f"{verdict.region or ''}{area}", anchor="start"))
    return svg("".join(parts), "area between the method and the baseline")


def curve_svg(tuning: "Tuning", what: str = "objective") -> str:
    """Draw one column of a sweep over its parameter, the chosen value marked."""
    name = tuning.parameters[0]
    x = np.asarray(tuning.curve[name], dtype=np.float64)
    y = np.asarray(tuning.curve[what], dtype=np.float64)
    known = np.isfinite(x) & np.isfinite(y)
    order = np.argsort(x[known], kind="stable")
    x, y = x[known][order], y[known][order]
    scale = Scale(span_of(x), span_of(y))
    parts = [
        axes(scale, name, what),
        scale.polyline(x, y, 'stroke="var(--dot)" stroke-width="2"'),
        *(scale.circle(a, b, 2.5, 'fill="var(--dot)"') for a, b in zip(x, y, strict=True)),
    ]
    if tuning.chosen is not None:
        at = np.flatnonzero(x == float(tuning.chosen[name]))
        if at.size:
            best = float(x[at[0]]), float(y[at[0]])
            ring = 'fill="none" stroke="var(--violated)" stroke-width="2"'
            px, py = scale.at(*best)
            side, anchor = (-9, "end") if px > WIDTH - 70 else (9, "start")  # where there is room
            parts += [
                scale.circle(*best, 6, ring),
                text(px + side, py - 9, "chosen", anchor=anchor),
            ]
    return svg("".join(parts), f"{what} over {name}")


def tradeoff_page(
    verdicts: "Sequence[tuple[str, str, TradeOff]]", *, title: str, notes: Sequence[str] = ()
) -> str:
    """Return verdicts (attribute, method, verdict) and notes on the data as one page."""
    sections = []
    for key in dict.fromkeys((a, v.baseline.fairness_metric) for a, _, v in verdicts):
        rows = [(m, v) for a, m, v in verdicts if (a, v.baseline.fairness_metric) == key]
        first = rows[0][1]
        sections.append(
            {
                "attribute": key[0],
                "fairness": key[1],
                "rows": rows,
                "baseline": first.baseline,
                "frontier": first.frontier,
                "plane": plane_svg(
                    first.baseline,
                    [(m, v.performance, v.bias, v.region) for m, v in rows],
                    frontier=first.frontier,
                    intervals=[(v.performance_interval, v.bias_interval) for _, v in rows],
                ),
                "notes": list(dict.fromkeys((m, n) for m, v in rows for n in v.notes)),
            }
        )
    return render("tradeoff.html", title=title, sections=sections, notes=notes)


def tuning_page(
    tuning: "Tuning", *, title: str, verdict: "TradeOff | None" = None, notes: Sequence[str] = ()
) -> str:
    """Return a sweep and notes on the data as one page."""
    curves = []
    if len(tuning.parameters) == 1:
        try:
            curves = [curve_svg(tuning, w) for w in ("objective", "performance", "bias")]
        except (TypeError, ValueError):
            curves = []  # words instead of numbers have no axis
    names = tuning.parameters
    points = [
        (
            ", ".join(f"{n}={row[n]}" for n in names) if i == _best(tuning) else "",
            row["performance"],
            row["bias"],
            row["region"],
        )
        for i, row in enumerate(tuning.curve.to_dict("records"))
    ]
    return render(
        "tune.html",
        title=title,
        tuning=tuning,
        rows=tuning.curve.to_dict("records"),
        curves=curves,
        plane=plane_svg(tuning.baseline, points),
        verdict=verdict,
        notes=notes,
    )


def _best(tuning: "Tuning") -> int:
    if tuning.chosen is None:
        return -1
    mask = np.ones(len(tuning.curve), dtype=bool)
    for name, value in tuning.chosen.items():
        mask &= (tuning.curve[name] == value).to_numpy()
    return int(np.flatnonzero(mask)[0])
