"""Pages and drawings of a trade-off: baseline, regions, frontier, and the points judged."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isonomy.report.html import environment
from isonomy.report.svg import WIDTH, Scale, axes, span_of, svg

if TYPE_CHECKING:
    from isonomy.tradeoff import Baseline, Frontier, TradeOff, Tuning

__all__ = [
    "COLOURS",
    "area_svg",
    "curve_svg",
    "plane_svg",
    "region_words",
    "tradeoff_page",
    "tuning_page",
]

Floats = NDArray[np.float64]

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
) -> str:
    """Draw the plane of bias and performance.

    Parameters
    ----------
    baseline : Baseline
        Drawn as a line with a dot per degree.
    points : sequence of (label, performance, bias, region)
        Methods.
    frontier : Frontier, optional
        The second baseline, dashed.
    intervals : sequence of (performance interval, bias interval), optional
        One cross per point.
    """
    ys = [p[1] for p in points]
    xs = [p[2] for p in points]
    more_x: Any = [] if frontier is None else frontier.bias
    more_y: Any = [] if frontier is None else frontier.performance
    scale = Scale(
        span_of(baseline.bias, xs, more_x, 0.0), span_of(baseline.performance, ys, more_y)
    )
    top, bottom = scale.y if baseline.larger_is_better else scale.y[::-1]
    first_x, first_y = float(baseline.bias[0]), float(baseline.performance[0])
    parts = []
    if baseline.reason is None:
        good = "within"
        for x1, x2, y1, y2, colour in (
            (scale.x[0], first_x, first_y, bottom, good),  # win-win
            (first_x, scale.x[1], first_y, top, "violated"),  # lose-lose
        ):
            ax, ay = scale.at(x1, y1)
            bx, by = scale.at(x2, y2)
            parts.append(
                f'<rect x="{min(ax, bx)}" y="{min(ay, by)}" width="{abs(bx - ax):.1f}" '
                f'height="{abs(by - ay):.1f}" fill="var(--{colour})" opacity="0.10"/>'
            )
        over = f"{scale.line(baseline.bias, baseline.performance)} " + " ".join(
            "{},{}".format(*scale.at(x, y)) for x, y in ((scale.x[0], baseline.performance[-1]),)
        )
        corner = " ".join(
            "{},{}".format(*scale.at(x, y)) for x, y in ((scale.x[0], first_y), (first_x, first_y))
        )
        parts.append(f'<polygon points="{over} {corner}" fill="var(--within)" opacity="0.06"/>')
        parts.append(region_words(scale, baseline))
    parts.append(axes(scale, f"bias: {baseline.fairness_metric}", baseline.performance_metric))
    if frontier is not None:
        reach_y, reach_x = frontier.reach()
        parts.append(
            f'<polyline points="{scale.line(reach_x, reach_y)}" '
            'fill="none" stroke="var(--dot)" stroke-width="1.5" stroke-dasharray="5 3"/>'
        )
    parts.append(
        f'<polyline points="{scale.line(baseline.bias, baseline.performance)}" fill="none" '
        'stroke="var(--violated)" stroke-width="2"/>'
    )
    for x, y in zip(baseline.bias, baseline.performance, strict=True):
        px, py = scale.at(float(x), float(y))
        parts.append(f'<circle cx="{px}" cy="{py}" r="2.5" fill="var(--violated)"/>')
    px, py = scale.at(first_x, first_y)
    parts.append(f'<text x="{px - 6}" y="{py - 7}" text-anchor="end" class="t">original</text>')
    for k, (label, y, x, region) in enumerate(points):
        if not (np.isfinite(x) and np.isfinite(y)):
            continue
        px, py = scale.at(x, y)
        colour = COLOURS.get(region or "", "var(--undefined)")
        if k < len(intervals) and np.isfinite(np.ravel(intervals[k])).all():
            (y_low, y_high), (x_low, x_high) = intervals[k]
            clip = Scale(scale.x, scale.y)
            left, _ = clip.at(max(x_low, scale.x[0]), y)
            right, _ = clip.at(min(x_high, scale.x[1]), y)
            _, low = clip.at(x, max(y_low, scale.y[0]))
            _, high = clip.at(x, min(y_high, scale.y[1]))
            parts.append(
                f'<path d="M{left} {py}H{right}M{px} {low}V{high}" stroke="{colour}" opacity="0.6"/>'
            )
        parts.append(
            f'<circle cx="{px}" cy="{py}" r="5" fill="{colour}"><title>{escape(label)}: '
            f"{escape(region or 'no region')}</title></circle>"
            f'<text x="{px + 8}" y="{py + 4}" class="t">{escape(label)}</text>'
        )
    return svg("".join(parts), "performance against bias")


def region_words(scale: Scale, baseline: "Baseline") -> str:
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
    return "".join(
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="t" font-style="italic">'
        f"{word}</text>"
        for word, x, y, anchor in words
    )


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
        corners_x = [x, *rising[0][inside], beside, x]
        corners_y = [below, *rising[1][inside], y, y]
        parts.append(
            f'<polygon points="{scale.line(np.array(corners_x), np.array(corners_y))}" '
            'fill="var(--dot)" opacity="0.35"/>'
        )
    parts.append(
        f'<polyline points="{scale.line(bx, by)}" fill="none" stroke="var(--violated)" '
        'stroke-width="2"/>'
    )
    px, py = scale.at(x, y)
    area = f", area {verdict.area:.4f}" if verdict.area == verdict.area else ""
    parts.append(
        f'<circle cx="{px}" cy="{py}" r="5" fill="var(--within)"/>'
        f'<text x="{px + 8}" y="{py - 6}" class="t">{escape(verdict.region or "")}{area}</text>'
    )
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
        f'<polyline points="{scale.line(x, y)}" fill="none" stroke="var(--dot)" stroke-width="2"/>',
    ]
    for a, b in zip(x, y, strict=True):
        px, py = scale.at(float(a), float(b))
        parts.append(f'<circle cx="{px}" cy="{py}" r="2.5" fill="var(--dot)"/>')
    if tuning.chosen is not None:
        at = np.flatnonzero(x == float(tuning.chosen[name]))
        if at.size:
            px, py = scale.at(float(x[at[0]]), float(y[at[0]]))
            right = px > WIDTH - 70  # no room on that side
            parts.append(
                f'<circle cx="{px}" cy="{py}" r="6" fill="none" stroke="var(--violated)" '
                f'stroke-width="2"/><text x="{px - 9 if right else px + 9}" y="{py - 9}" '
                f'text-anchor="{"end" if right else "start"}" class="t">chosen</text>'
            )
    return svg("".join(parts), f"{what} over {name}")


def tradeoff_page(verdicts: "Sequence[tuple[str, str, TradeOff]]", *, title: str) -> str:
    """Turn verdicts (attribute, method, verdict) into one page."""
    sections = []
    for key in dict.fromkeys((a, v.baseline.fairness_metric) for a, _, v in verdicts):
        mine = [(m, v) for a, m, v in verdicts if (a, v.baseline.fairness_metric) == key]
        first = mine[0][1]
        sections.append(
            {
                "attribute": key[0],
                "fairness": key[1],
                "rows": mine,
                "baseline": first.baseline,
                "frontier": first.frontier,
                "plane": plane_svg(
                    first.baseline,
                    [(m, v.performance, v.bias, v.region) for m, v in mine],
                    frontier=first.frontier,
                    intervals=[(v.performance_interval, v.bias_interval) for _, v in mine],
                ),
                "notes": list(dict.fromkeys((m, n) for m, v in mine for n in v.notes)),
            }
        )
    page = environment().get_template("tradeoff.html")
    return str(page.render(title=title, sections=sections))


def tuning_page(tuning: "Tuning", *, title: str, verdict: "TradeOff | None" = None) -> str:
    """Turn a sweep into one page."""
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
    page = environment().get_template("tune.html")
    return str(
        page.render(
            title=title,
            tuning=tuning,
            rows=tuning.curve.to_dict("records"),
            curves=curves,
            plane=plane_svg(tuning.baseline, points),
            verdict=verdict,
        )
    )


def _best(tuning: "Tuning") -> int:
    if tuning.chosen is None:
        return -1
    mask = np.ones(len(tuning.curve), dtype=bool)
    for name, value in tuning.chosen.items():
        mask &= (tuning.curve[name] == value).to_numpy()
    return int(np.flatnonzero(mask)[0])
