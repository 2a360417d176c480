"""Tails as pictures and one page: who is hurt, how much, and how far the tail can be trusted."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from isonomy._arrays import Floats
from isonomy.report.html import render
from isonomy.report.svg import WIDTH, Scale, axes, span_of, svg, text

if TYPE_CHECKING:
    from isonomy.counterfactual import EcdReport, GroupReport

INKS = ("--dot", "--violated", "--within", "--thin", "--undefined", "--soft")
"""The colours of groups, in order."""
LEAST = 1e-5
"""The smallest share that the histogram shows."""
CURVE = 13
"""Points at which bands of return levels are computed."""


def histogram_svg(report: "EcdReport") -> str:
    """Draw the distribution of counterfactual discrimination per group, shares on a log axis."""
    values = [g.extremes.values for g in report.groups]
    every = np.concatenate(values)
    low, high = float(every.min()), float(every.max())
    if high - low < 1e-6:
        low, high = low - 0.01, high + 0.01
    edges = np.linspace(low, high, 51)
    scale = Scale((low, high), (np.log10(LEAST), 0.0))
    ticks = {float(np.log10(s)): w for s, w in
             ((1e-5, "0.001 %"), (1e-4, "0.01 %"), (1e-3, "0.1 %"), (1e-2, "1 %"), (0.1, "10 %"),
              (1.0, "100 %"))}  # fmt: skip
    parts = [axes(scale, "counterfactual discrimination (CD)", "share of the group", y_ticks=ticks)]
    if low < 0 < high:
        dashes = 'stroke="var(--soft)" stroke-dasharray="3 3"'
        parts.append(scale.polyline(np.zeros(2), np.array(scale.y), dashes))
    for i, result in enumerate(values):
        share = np.histogram(result, edges)[0] / result.size
        y = np.log10(np.maximum(share, LEAST))
        style = f'stroke="{_ink(i)}" stroke-width="1.6"'
        parts.append(scale.polyline(np.repeat(edges, 2)[1:-1], np.repeat(y, 2), style))
    parts.append(_legend(report))
    return svg("".join(parts), "distribution of counterfactual discrimination")


def qq_svg(group: "GroupReport") -> str | None:
    """Draw the largest values against the fitted tail, with a pointwise 95 % envelope."""
    if group.diagnosis is None or group.diagnosis.goodness is None:
        return None
    check = group.diagnosis.goodness
    expected, observed, low, high = check.model, check.observed, check.low, check.high
    scale = Scale(span_of(expected, least=1e-6), span_of(observed, low, high, least=1e-6))
    parts = [
        axes(scale, "expected by the fitted tail", _beside(scale, "observed")),
        _band(scale, expected, low, high, 'fill="var(--dot)" opacity="0.12"'),
        scale.polyline(expected, expected, 'stroke="var(--soft)" stroke-dasharray="4 3"'),
    ]
    for x, y, outside in zip(expected, observed, (observed < low) | (observed > high), strict=True):
        colour = "--violated" if outside else "--dot"
        parts.append(scale.circle(x, y, 2.6, f'fill="var({colour})"'))
    return svg("".join(parts), f"quantiles of the tail of {group.name}")


def levels_svg(report: "EcdReport") -> str | None:
    """Draw return levels over the number of queries, with bands, and what was observed."""
    shown = [(i, g) for i, g in enumerate(report.groups) if g.extremes.fit is not None]
    if not shown:
        return None
    curves = []
    for i, g in shown:
        e = g.extremes
        assert e.fit is not None
        first = max(2.0, e.rows / e.fit.k)
        last = max(10.0 * e.rows, 2.0 * max(report.settings["horizons"]))
        grid = np.geomspace(first, last, CURVE)
        level = np.asarray(e.fit.return_level(grid))
        band = np.array(
            [
                e.fit.interval(
                    "return_level", horizon=float(m), confidence=report.settings["confidence"]
                )
                for m in grid
            ]
        )
        curves.append((i, g, grid, level, band[:, 0], band[:, 1]))
    x = (
        min(float(np.log10(c[2][0])) for c in curves),
        max(float(np.log10(c[2][-1])) for c in curves),
    )
    scale = Scale(x, span_of(*(c[3:] for c in curves), least=1e-6))
    decades = range(int(np.ceil(x[0])), int(np.floor(x[1])) + 1)
    ticks = {float(d): f"{10**d:,}" for d in decades}
    parts = [
        axes(
            scale,
            "queries (one more person asked about)",
            _beside(scale, "return level"),
            x_ticks=ticks,
        )
    ]
    for i, g, grid, level, low, high in curves:
        log = np.log10(grid)
        parts.append(_band(scale, log, low, high, f'fill="{_ink(i)}" opacity="0.13"'))
        style = f'stroke="{_ink(i)}" stroke-width="2"'
        inside = grid <= (g.horizon if g.horizon == g.horizon else np.inf)
        parts.append(scale.polyline(log[inside], level[inside], style))
        beyond = np.flatnonzero(~inside)
        if beyond.size:
            tail = slice(max(0, int(beyond[0]) - 1), None)
            parts.append(scale.polyline(log[tail], level[tail], style + ' stroke-dasharray="5 4"'))
        n = g.extremes.rows
        order = np.arange(1, g.extremes.fit.k + 1)  # type: ignore[union-attr]
        for m, value in zip(n / (order - 0.5), g.extremes.values, strict=False):
            if x[0] <= np.log10(m) <= x[1]:
                style = f'fill="none" stroke="{_ink(i)}"'
                parts.append(scale.circle(np.log10(m), value, 2, style))
    parts.append(_legend(report))
    return svg("".join(parts), "return levels")


def tail_page(reports: "Sequence[EcdReport]", *, title: str) -> str:
    """Turn reports into one self-contained page.

    Parameters
    ----------
    reports : sequence of EcdReport
        One per attribute or intersection.
    title : str
        What was tested.

    Examples
    --------
    >>> from isonomy.counterfactual import tail
    >>> from isonomy.data import make_biased
    >>> from isonomy.data.synthetic import BiasedTruth
    >>> score, X = BiasedTruth().score, make_biased(500).X
    >>> report = tail(score, X, "group", resamples=99)
    >>> "worst individuals" in tail_page([report], title="a model")
    True
    """
    sections = [
        {
            "report": r,
            "headlines": r.sentences(),
            "histogram": histogram_svg(r),
            "levels": levels_svg(r),
            "qq": [(g.name, qq_svg(g)) for g in r.groups if g.extremes.fit is not None],
            "columns": [str(c) for c in r.worst.columns[7:]],
            # nobody is the worst where no score moves
            "worst": r.worst.to_dict("records") if r.worst["cd"].any() else [],
            "found": None if r.found is None else r.found.frame().head(10).to_dict("records"),
        }
        for r in reports
    ]
    filters = {"cell": cell, "queries": queries}
    return render("tail.html", filters=filters, title=title, sections=sections)


def _beside(scale: Scale, word: str) -> str:
    """Leave the word of an upright axis out where long numbers take its place."""
    return word if scale.y[1] - scale.y[0] > 2e-3 else ""


def _ink(i: int) -> str:
    return f"var({INKS[i % len(INKS)]})"


def _band(scale: Scale, x: Floats, low: Floats, high: Floats, style: str) -> str:
    """Draw what lies between two lines."""
    return scale.polygon(np.r_[x, x[::-1]], np.r_[low, high[::-1]], style)


def _legend(report: "EcdReport") -> str:
    lines = []
    for i, g in enumerate(report.groups[:8]):
        y = 22 + 15 * i
        lines.append(
            f'<rect x="{WIDTH - 24}" y="{y - 8}" width="10" height="10" fill="{_ink(i)}"/>'
            + text(WIDTH - 30, y + 1, g.name, anchor="end")
        )
    return "".join(lines)


def cell(value: Any) -> str:
    """Write a value of a table for people.

    Examples
    --------
    >>> cell(True), cell(0.123456), cell(float("nan"))
    ('yes', '0.1235', 'missing')
    """
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if value is None or value != value:
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def queries(value: float, none: str = "none") -> str:
    """Write the number of queries up to which levels may be read.

    Examples
    --------
    >>> queries(float("inf")), queries(1200.0)
    ('unlimited', '1,200')
    """
    if value != value:
        return none
    return "unlimited" if value == float("inf") else f"{value:,.0f}"
