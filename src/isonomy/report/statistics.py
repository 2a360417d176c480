"""Drawings of statistics: critical difference diagram, Scott-Knott groups, wins and losses.

Each function gives a fragment of HTML that stands by itself (a notebook, a file) and takes on the
colours of our pages inside one.
"""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from isonomy.report.svg import INK, line, span_of, svg, text, ticks

if TYPE_CHECKING:
    from isonomy.stats import CriticalDifference, Ranking, WinTieLoss

_STEP = 18.0
"""Pixels from label to label."""
_AXIS = 380.0
"""Pixels of the axis."""


def _coloured(fragment: str) -> str:
    """Name a colour for every variable, for where no page defines it."""
    for name, colour in INK.items():
        fragment = fragment.replace(f"var(--{name})", f"var(--{name},{colour})")
    return fragment


def _room(labels: Sequence[Any]) -> float:
    """Return the pixels that the longest label takes, the mean rank beside it included."""
    return 6.1 * max((len(str(label)) for label in labels), default=0) + 52.0


def _levels(bars: Sequence[tuple[float, float]]) -> list[int]:
    """Return for each bar the first line on which it touches no other."""
    ends: list[float] = []
    out = []
    for start, end in bars:
        level = next((k for k, last in enumerate(ends) if start > last + 6), len(ends))
        ends[level : level + 1] = [end]
        out.append(level)
    return out


def critical_difference_svg(result: "CriticalDifference") -> str:
    """Draw mean ranks on an axis, the best on the left; a bar joins methods that do not differ.

    Parameters
    ----------
    result : CriticalDifference
        What :func:`isonomy.stats.friedman_nemenyi` gave.

    Examples
    --------
    >>> from isonomy.stats import friedman_nemenyi
    >>> table = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.5], [0.9, 0.8, 0.6], [0.7, 0.6, 0.5]]
    >>> drawing = critical_difference_svg(friedman_nemenyi(table, labels=["x", "y", "z"]))
    >>> drawing.startswith("<svg") and "critical difference 1.48" in drawing
    True

    References
    ----------
    Demšar 2006, Statistical Comparisons of Classifiers over Multiple Data Sets.
    """
    size = len(result.labels)
    half = (size + 1) // 2
    left = _room(result.labels[:half])
    right = _room(result.labels[half:])
    width = left + _AXIS + right

    def at(value: float) -> float:
        return round(left + _AXIS * (value - 1.0) / (size - 1.0), 1)

    places = [at(float(value)) for value in result.mean_ranks]
    bars = [(places[first] - 4, places[last] + 4) for first, last in result.groups]
    levels = _levels(bars)
    axis = 58.0
    first_label = axis + 26.0 + 8.0 * (max(levels, default=-1) + 1)
    height = first_label + _STEP * (half - 1) + 14.0
    parts = [_ruler(result, at, axis)]
    # the bars say nothing where the test of the whole finds no difference
    ink, faint = ("dot", "1") if result.differs else ("soft", "0.5")
    for (start, end), level in zip(bars, levels, strict=True):
        y = axis + 14.0 + 8.0 * level
        thick = f' stroke-width="4" stroke-linecap="round" opacity="{faint}"'
        parts.append(line(start, y, end, y, ink=ink, style=thick))
    for k, (label, mean, px) in enumerate(
        zip(result.labels, result.mean_ranks, places, strict=True)
    ):
        on_left = k < half
        y = first_label + _STEP * (k if on_left else size - 1 - k)
        edge, sign, anchor = (left - 4, -1, "end") if on_left else (left + _AXIS + 4, 1, "start")
        words = f'<tspan font-weight="600">{escape(str(label))}</tspan>'
        number = f"{float(mean):.2f}"
        written = f"{words} {number}" if on_left else f"{number} {words}"
        parts.append(
            f'<path d="M{px} {axis}V{y}H{edge:.1f}" fill="none" stroke="var(--soft)"/>'
            f'<circle cx="{px}" cy="{axis}" r="3" fill="var(--dot)"/>'
            f'<text x="{edge + 4 * sign:.1f}" y="{y + 4}" text-anchor="{anchor}" class="t">{written}</text>'
        )
    title = f"mean ranks of {size} methods over {result.blocks} blocks, critical difference diagram"
    return _coloured(svg("".join(parts), title, width=width, height=height))


def _ruler(result: "CriticalDifference", at: Any, axis: float) -> str:
    """Draw the axis of ranks, and the critical difference above it."""
    size = len(result.labels)
    every = max(1, int(np.ceil(size / 10)))
    parts = [line(at(1.0), axis, at(size), axis, ink="soft")]
    for value in range(1, size + 1, every):
        parts.append(line(at(value), axis - 5, at(value), axis, ink="soft"))
        parts.append(text(at(value), axis - 9, str(value)))
    wide = result.critical_difference > size - 1.0
    end = at(min(1.0 + result.critical_difference, float(size)))
    more = ", wider than the axis" if wide else ""
    parts.append(
        f'<path d="M{at(1.0)} 20V30M{at(1.0)} 25H{end}{"" if wide else f"M{end} 20V30"}" '
        f'stroke="var(--soft)" stroke-width="1.5"/><text x="{at(1.0)}" y="13" class="t">critical '
        f"difference {result.critical_difference:.2f} at {100 * result.alpha:g} %{more}</text>"
    )
    return "".join(parts)


def ranking_svg(result: "Ranking", *, unit: str = "") -> str:
    """Draw treatments by rank: a band per group, a dot at each one's centre.

    Parameters
    ----------
    result : Ranking
        What :func:`isonomy.stats.scott_knott` or :func:`isonomy.stats.scott_knott_esd` gave.
    unit : str
        What is measured, written under the axis.

    Examples
    --------
    >>> from isonomy.stats import scott_knott
    >>> runs = {"a": [1.0, 2.0, 3.0, 2.0, 4.0], "b": [7.0, 8.0, 9.0, 8.0, 6.0]}
    >>> ranking_svg(scott_knott(runs), unit="bias").count("<circle")
    2
    """
    left = _room(result.labels)
    width = left + _AXIS + 16.0
    low, high = span_of(result.centres)
    bottom = 8.0 + _STEP * len(result.labels)

    def at(value: float) -> float:
        return round(left + _AXIS * (value - low) / (high - low), 1)

    bands, dots = [], []
    for k, (label, group, centre) in enumerate(
        zip(result.labels, result.ranks, result.centres, strict=True)
    ):
        y = 8.0 + _STEP * k
        if group % 2:
            bands.append(
                f'<rect x="0" y="{y}" width="{width:.1f}" height="{_STEP}" fill="var(--line)" '
                'opacity="0.45"/>'
            )
        if not k or group != result.ranks[k - 1]:
            dots.append(text(6, y + 13, str(int(group)), anchor="start"))
        dots.append(
            text(left - 12, y + 13, str(label), anchor="end", style=' font-weight="600"')
            + f'<circle cx="{at(float(centre))}" cy="{y + 9}" r="4" fill="var(--dot)"><title>'
            f"{escape(str(label))}: {result.centre} {float(centre):.4g}, rank {int(group)}</title></circle>"
        )
    grid = [
        line(at(value), 8, at(value), bottom) + text(at(value), bottom + 14, f"{value:g}")
        for value in ticks(low, high)
    ]
    grid.append(text(left + _AXIS / 2, bottom + 30, f"{result.centre} {unit}".strip()))
    grid.append(text(6, bottom + 14, "rank", anchor="start"))
    title = f"{len(result.groups)} groups of {len(result.labels)} methods"
    return _coloured(svg("".join([*bands, *grid, *dots]), title, width=width, height=bottom + 38))


def wins_table(result: "WinTieLoss", *, reference: Any = None) -> str:
    """Write wins, ties and losses as a table with a strip each.

    Parameters
    ----------
    result : WinTieLoss
        What :func:`isonomy.stats.win_tie_loss` gave.
    reference : optional
        One treatment to compare with; by default each is compared with all others.

    Examples
    --------
    >>> from isonomy.stats import win_tie_loss
    >>> wins = win_tie_loss([[3.0, 2.0], [1.0, 1.0]], labels=["new", "old"], test=None)
    >>> "<td>new</td>" in wins_table(wins, reference="old")
    True
    """
    names = ("win", "tie", "loss", "undefined")
    colours = {"win": "within", "tie": "line", "loss": "violated", "undefined": "undefined"}
    table = result.frame(reference)
    shown = [name for name in names if name != "undefined" or table["undefined"].any()]
    head = "".join(f'<th class="n" style="text-align:right">{name}</th>' for name in shown)
    rows = []
    for row in table.to_dict("records"):
        total = max(1, sum(int(row[name]) for name in names))
        strip, x = [], 0.0
        for name in names:
            wide = 160.0 * int(row[name]) / total
            strip.append(
                f'<rect x="{x:.1f}" y="0" width="{wide:.1f}" height="12" '
                f'fill="var(--{colours[name]})"/>'
            )
            x += wide
        summary = ", ".join(f"{int(row[name])} {name}" for name in shown)
        cells = "".join(
            f'<td class="n" style="text-align:right">{int(row[name])}</td>' for name in shown
        )
        rows.append(
            f"<tr><td>{escape(str(row['treatment']))}</td>{cells}<td>"
            f'<svg width="160" height="12" role="img" aria-label="{summary}">{"".join(strip)}</svg>'
            "</td></tr>"
        )
    beside = f"against {reference}" if reference is not None else "against all others"
    return _coloured(
        f'<div class="scroll"><table><tr><th>method</th>{head}<th></th></tr>{"".join(rows)}</table>'
        f"</div><p>{escape(beside)}, over {result.blocks} blocks; a win is: {escape(result.rule)}.</p>"
    )


def statistics_fragment(
    *,
    critical: "CriticalDifference | None" = None,
    ranking: "Ranking | None" = None,
    wins: "WinTieLoss | None" = None,
    reference: Any = None,
    unit: str = "",
) -> str:
    """Put what there is of ranks, groups and wins into one fragment, with how to read it.

    Parameters
    ----------
    critical, ranking, wins
        What :mod:`isonomy.stats` gave; each may be missing.
    reference : optional
        The treatment that wins are counted against.
    unit : str
        What the ranking measures.

    Examples
    --------
    >>> from isonomy.stats import win_tie_loss
    >>> wins = win_tie_loss([[3.0, 2.0], [1.0, 1.0]], labels=["new", "old"], test=None)
    >>> statistics_fragment(wins=wins).startswith("<section")
    True
    """
    parts = []
    if critical is not None:
        p = float(critical.test.f_pvalue)
        shown = (
            "is undefined" if p != p else f"gives p {'&lt; 0.001' if p < 0.001 else f'= {p:.3f}'}"
        )
        parts.append(
            f"<h3>Mean ranks over {critical.blocks} blocks</h3>{critical_difference_svg(critical)}"
            f"<p>1 is best. Methods joined by a bar do not differ significantly (Nemenyi's test); the test "
            f"that any differ (Friedman, Iman and Davenport) {shown}.</p>{_notes(critical.notes)}"
        )
    if ranking is not None:
        parts.append(
            f"<h3>Groups</h3>{ranking_svg(ranking, unit=unit)}<p>Methods in one band share a rank; "
            f"1 is best ({escape(ranking.method)}).</p>{_notes(ranking.notes)}"
        )
    if wins is not None:
        parts.append(f"<h3>Win, tie, loss</h3>{wins_table(wins, reference=reference)}")
    return f'<section class="statistics">{"".join(parts)}</section>'


def _notes(notes: Sequence[str]) -> str:
    return "".join(f'<div class="note">{escape(note)}</div>' for note in notes)
