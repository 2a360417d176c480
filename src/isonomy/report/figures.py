"""Figures of papers, drawn from their numbers: groups of bars, or a grid of shades."""

from html import escape
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from isonomy._arrays import Floats
from isonomy._tables import plain
from isonomy.papers.table import PaperTable, label_of
from isonomy.report.blocks import Block, chart
from isonomy.report.svg import EDGE, Scale, axes, line, span_of, svg, text

PALETTE = ("#24509e", "#6fa8dc", "#1a7f4b", "#93c47d", "#b3261e", "#e69138", "#8e63b8")
"""The colours of the columns."""

_WIDTH, _HEIGHT = 1120.0, 400.0
_CELL = 56.0
_FILLED = 0.84  # of a row's width; the rest keeps the rows apart
_TALL = 2.0  # times the median of the rows' longest bars: where longer ones are cut off


def figure_chart(table: PaperTable) -> Block | None:
    """Return a figure of a paper as a chart; None where a table is no figure or holds no number.

    What the paper prints is a black stroke at the bar of the same number.

    Examples
    --------
    >>> values = pd.DataFrame({"DI": [0.2, -0.1]}, ["a", "b"])
    >>> made = figure_chart(PaperTable("fig3", "Bias", values, 2, drawing="bars"))
    >>> made["values"]
    [[0.2], [-0.1]]
    """
    drawn = table.data if table.drawing == "grid" else table.data[_drawn(table)]
    if not table.drawing or _numbers(table.data[_drawn(table)]).empty:
        return None
    data = _numbers(drawn)
    theirs = data * np.nan
    if table.printed is not None:
        theirs = _numbers(table.printed).reindex_like(data)
    said = [c for c in table.data if c not in data and not table.drawn]
    words = table.data[said].dropna(axis=1, how="all").fillna("").astype(str)
    index = table.data.index
    levels = [[str(v) for v in index.get_level_values(k)] for k in range(index.nlevels)]
    return chart(
        table.drawing,
        table.title or table.name,
        alt=f"{table.title or table.name}: {len(data)} rows of {', '.join(map(label_of, data.columns))}; "
        "the table holds the numbers.",
        rows=[label_of(row) for row in data.index],
        levels=levels,
        words=[words[c].tolist() for c in words] if table.drawing == "bars" else [],
        columns=[label_of(c) for c in data.columns],
        values=plain(data.to_numpy()),
        written=[[table.write(float(v)) for v in row] for row in data.to_numpy()],
        printed=plain(theirs.to_numpy()) if table.drawing == "bars" else None,
        printed_text=[
            ["" if v != v else table.write(float(v)) for v in row] for row in theirs.to_numpy()
        ]
        if table.drawing == "bars"
        else None,
    )


def _drawn(table: PaperTable) -> list[Any]:
    return list(table.drawn) or [*table.data.columns]


def figure_svg(table: PaperTable) -> str:
    """Draw a figure of a paper; an empty string where a table is no figure or holds no number.

    Examples
    --------
    >>> values = pd.DataFrame({"DI": [0.2, -0.1]}, ["a", "b"])
    >>> figure_svg(PaperTable("fig3", "Bias", values, 2, drawing="bars")).count('class="bar m"')
    2
    """
    made = figure_chart(table)
    if made is None:
        return ""
    return draw_grid(made) if made["kind"] == "grid" else draw_bars(made)


def _numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that hold numbers, as text too; what is no number is NaN."""
    read = frame.apply(pd.to_numeric, errors="coerce")
    return pd.DataFrame(read.loc[:, read.notna().any(axis=0).to_numpy()], dtype=np.float64)


def _matrix(values: Any) -> Floats:
    """Return a chart's values as numbers, NaN where there is none."""
    return np.array([[np.nan if v is None else v for v in row] for row in values], dtype=np.float64)


def draw_bars(chart: Block) -> str:
    """Draw a group of bars for each row, one for each column."""
    data, theirs = _matrix(chart["values"]), _matrix(chart["printed"])
    limit = _limit(data)
    ends = span_of(np.clip(data, -limit, limit), np.clip(theirs, -limit, limit), 0.0)
    scale = Scale((0.0, float(len(data))), ends, _WIDTH, _HEIGHT)
    parts = [axes(scale, "", "", x_ticks={0.0: ""}), _row_names(scale, chart)]
    width = _FILLED / max(data.shape[1], 1)
    for k, column in enumerate(chart["columns"]):
        colour = PALETTE[k % len(PALETTE)]
        for row, (value, printed) in enumerate(zip(data[:, k], theirs[:, k], strict=True)):
            left = row + (1 - _FILLED) / 2 + width * k
            said = f"{chart['rows'][row]}, {column}: {chart['written'][row][k]}"
            if np.isfinite(printed):
                said += f", in print {chart['printed_text'][row][k]}"
            cut = float(np.clip(value, -limit, limit))
            parts.append(_bar(scale, left, width, cut, f'fill="{colour}"', said))
            if abs(printed) <= limit:
                parts.append(_stroke(scale, left, width, printed))
            if cut != value and np.isfinite(value):
                x, y = scale.at(row + 0.5, cut)
                # a second one of the same row goes beyond the first
                away = 3 + 9 * int((data[row, :k] * np.sign(cut) > limit).sum())
                parts.append(
                    text(x, y - away if cut > 0 else y + away + 7, f"{value:.2g}", kind="cut")
                )
    cut_off = bool((np.abs(data) > limit).any())
    has_print = bool(np.isfinite(theirs).any())
    parts.append(_legend(chart["columns"], has_print=has_print, cut_off=cut_off))
    style = (
        "<style>.cut{font-size:9px;fill:var(--ink)}.row{font-size:10px;fill:var(--soft)}</style>"
    )
    return svg(style + "".join(parts), chart["title"], width=_WIDTH, height=_HEIGHT, marks=True)


def _limit(data: Floats) -> float:
    """Return the length at which bars are cut off, so that a few long ones do not flatten the rest."""
    longest = np.nanmax(np.abs(data[np.isfinite(data).any(axis=1)]), axis=1)
    limit = _TALL * float(np.median(longest)) if len(longest) else np.inf
    return limit if longest.max() > 1.5 * limit > 0 else np.inf


def _bar(scale: Scale, left: float, width: float, value: float, style: str, title: str) -> str:
    if not np.isfinite(value):
        return ""
    x0, y0 = scale.at(left, max(value, 0.0))
    x1, y1 = scale.at(left + width, min(value, 0.0))
    return (
        f'<rect class="bar m" x="{x0}" y="{y0}" width="{x1 - x0:.1f}" height="{max(y1 - y0, 0.6):.1f}" '
        f"{style}><title>{escape(title)}</title></rect>"
    )


def _stroke(scale: Scale, left: float, width: float, value: float) -> str:
    """Draw what is in print, a little wider than its bar."""
    if not np.isfinite(value):
        return ""
    x0, y = scale.at(left, value)
    x1, _ = scale.at(left + width, value)
    wide = f' stroke-width="{min(1.6, 0.3 * (x1 - x0)):.1f}"'
    return line(x0 - 0.8, y, x1 + 0.8, y, ink="ink", style=wide)


def _row_names(scale: Scale, chart: Block) -> str:
    """Write the rows' names, what they say in words below, and a line between families of rows.

    The rows of a family start with the same letters: GC1, GC2, ...
    """
    levels, size = chart["levels"], len(chart["rows"])
    bottom = scale.height - EDGE
    parts = []
    for depth, names in enumerate([*levels[::-1], *chart["words"]]):
        start = 0
        # an outer level is written once for all of its rows
        runs = [len([*same]) for _, same in groupby(names)]
        outer = 0 < depth < len(levels)
        for count in runs if outer else [1] * len(names):
            x, _ = scale.at(start + count / 2, scale.y[0])
            parts.append(text(x, bottom + 15 + 14 * depth, names[start], kind="row"))
            start += count
    start = 0
    for _, family in groupby(levels[0], lambda name: name.rstrip("0123456789")):
        start += len([*family])
        if start < size:
            x, _ = scale.at(start, scale.y[0])
            parts.append(line(x, 12, x, bottom))
    _, zero = scale.at(0.0, 0.0)
    return "".join([*parts, line(EDGE, zero, scale.width - 12, zero, ink="soft")])


def _legend(names: list[str], *, has_print: bool, cut_off: bool) -> str:
    """Write the names of the columns in a line at the bottom."""
    x, y = EDGE, _HEIGHT - 8
    parts = []
    for k, name in enumerate(names):
        colour = PALETTE[k % len(PALETTE)]
        parts.append(f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{colour}"/>')
        parts.append(text(x + 14, y, name, anchor="start"))
        x += 30 + 6.5 * len(name)
    if has_print:
        parts.append(line(x, y - 4, x + 12, y - 4, ink="ink", style=' stroke-width="1.6"'))
        parts.append(text(x + 16, y, "in print", anchor="start"))
        x += 76
    if cut_off:
        parts.append(text(x, y, "a number at a bar: where it ends, cut off here", anchor="start"))
    return "".join(parts)


def draw_grid(chart: Block) -> str:
    """Draw every cell as a square, blue above zero and red below, the number in it."""
    data = _matrix(chart["values"])
    largest = float(np.nanmax(np.abs(data), initial=1e-9))
    parts = []
    for j, column in enumerate(chart["columns"]):
        x = EDGE + _CELL * (j + 0.5)
        parts.append(text(x, 16, column))
        for i, (row, value) in enumerate(zip(chart["rows"], data[:, j], strict=True)):
            y, said = 24 + _CELL * i, chart["written"][i][j]
            parts.append(
                f'<rect class="cell m" x="{x - _CELL / 2}" y="{y}" width="{_CELL}" height="{_CELL}" '
                f'stroke="var(--paper, #fff)" {_shade(value / largest)}><title>'
                f"{escape(row)}, {escape(column)}: {escape(said or 'undefined')}</title></rect>"
            )
            parts.append(text(x, y + _CELL / 2 + 4, said, kind="n"))
    for i, row in enumerate(chart["rows"]):
        parts.append(text(EDGE - 8, 24 + _CELL * (i + 0.5) + 4, row, anchor="end"))
    width, height = EDGE + _CELL * data.shape[1] + 12, 36 + _CELL * data.shape[0]
    style = "<style>text.n{font-size:12px;fill:var(--ink)}</style>"
    return svg(style + "".join(parts), chart["title"], width=width, height=height, marks=True)


def _shade(share: float) -> str:
    """Return the fill of a cell: the stronger, the nearer a share is to 1 or -1."""
    if not np.isfinite(share):
        return 'fill="var(--line)"'
    colour = "var(--dot)" if share >= 0 else "var(--violated)"
    return f'fill="{colour}" fill-opacity="{0.75 * abs(share):.2f}"'
