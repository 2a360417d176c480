"""Statistics: critical difference diagrams, Scott-Knott groups, wins and losses, and their pages."""

import re
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from isonomy._arrays import Floats
from isonomy._shown import SUMMARIES, Summary
from isonomy._tables import plain
from isonomy.report import blocks as b
from isonomy.report.svg import line, span_of, svg, text, ticks
from isonomy.stats import CriticalDifference, Ranking, WinTieLoss

_STEP = 18.0
"""Pixels from label to label."""
_AXIS = 380.0
"""Pixels of the axis."""
NAMES = {
    "CriticalDifference": "Mean ranks",
    "Ranking": "Groups of methods",
    "WinTieLoss": "Wins, ties and losses",
}
"""What results are called on a page."""
_SHARES = {"win": "within", "tie": "line", "loss": "violated", "undefined": "undefined"}


# ---------------------------------------------------------------------- charts, from results


def ranks_chart(result: CriticalDifference) -> b.Block:
    """Return mean ranks as a critical difference diagram (Demšar 2006).

    Parameters
    ----------
    result : CriticalDifference
        What :func:`isonomy.stats.friedman_nemenyi` returned.

    Examples
    --------
    >>> from isonomy.stats import friedman_nemenyi
    >>> table = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.5], [0.9, 0.8, 0.6], [0.7, 0.6, 0.5]]
    >>> made = ranks_chart(friedman_nemenyi(table, labels=["x", "y", "z"]))
    >>> made["labels"], round(made["critical_difference"], 2)
    (['x', 'y', 'z'], 1.48)

    References
    ----------
    Demšar 2006, Statistical Comparisons of Classifiers over Multiple Data Sets.
    """
    labels = [str(label) for label in result.labels]
    ranks = [float(r) for r in result.mean_ranks]
    p = float(result.test.f_pvalue)
    shown = "is undefined" if p != p else f"has p {_chance(p)}"
    note = (
        f"1 is best. Methods joined by a bar do not differ significantly (Nemenyi's test); the test "
        f"that any differ (Friedman, Iman and Davenport) {shown}. {' '.join(result.notes)}".strip()
    )
    return b.chart(
        "ranks",
        f"Mean ranks over {result.blocks} blocks",
        alt=f"Best is {labels[0]} with a mean rank of {ranks[0]:.2f}, last {labels[-1]} with "
        f"{ranks[-1]:.2f}; ranks differ where they lie more than "
        f"{result.critical_difference:.2f} apart."
        if labels
        else "No methods.",
        numbers=b.table(
            "Mean ranks",
            ["method", b.right("mean rank")],
            [[name, b.number(rank, 2)] for name, rank in zip(labels, ranks, strict=True)],
        ),
        note=note,
        labels=labels,
        mean_ranks=ranks,
        groups=[[int(k) for k in group] for group in result.groups],
        critical_difference=float(result.critical_difference),
        alpha=float(result.alpha),
        differs=bool(result.differs),
    )


def groups_chart(result: Ranking, *, unit: str = "") -> b.Block:
    """Return treatments by rank: a band per group, a dot at each one's centre.

    Parameters
    ----------
    result : Ranking
        What :func:`isonomy.stats.scott_knott` or :func:`isonomy.stats.scott_knott_esd` returned.
    unit : str
        What is measured, written under the axis.

    Examples
    --------
    >>> from isonomy.stats import scott_knott
    >>> runs = {"a": [1.0, 2.0, 3.0, 2.0, 4.0], "b": [7.0, 8.0, 9.0, 8.0, 6.0]}
    >>> groups_chart(scott_knott(runs), unit="bias")["centres"]
    [2.0, 8.0]
    """
    labels = [str(label) for label in result.labels]
    ranks, centres = [int(r) for r in result.ranks], [float(c) for c in result.centres]
    words = f"{result.centre} {unit}".strip()
    return b.chart(
        "groups",
        f"{len(result.groups)} groups of {len(labels)} methods",
        alt=f"Methods in one band share a rank; rank 1: "
        f"{', '.join(n for n, r in zip(labels, ranks, strict=True) if r == 1)}.",
        numbers=b.table(
            f"Groups by {words}",
            ["method", b.right("rank"), b.right(words)],
            [
                [name, b.count(rank), b.number(at, 4)]
                for name, rank, at in zip(labels, ranks, centres, strict=True)
            ],
        ),
        note=f"Methods in one band share a rank; 1 is best ({result.method}). "
        f"{' '.join(result.notes)}".strip(),
        labels=labels,
        ranks=ranks,
        centres=plain(centres),
        centre=result.centre,
        unit=words,
    )


def shares_chart(result: WinTieLoss, *, reference: Any = None) -> b.Block:
    """Return wins, ties and losses as strips.

    Parameters
    ----------
    result : WinTieLoss
        What :func:`isonomy.stats.win_tie_loss` returned.
    reference : optional
        One treatment to compare with; by default each is compared with all others.

    Examples
    --------
    >>> from isonomy.stats import win_tie_loss
    >>> wins = win_tie_loss([[3.0, 2.0], [1.0, 1.0]], labels=["new", "old"], test=None)
    >>> shares_chart(wins, reference="old")["rows"][0]["label"]
    'new'
    """
    table = result.frame(reference)
    shown = [name for name in _SHARES if name != "undefined" or table["undefined"].any()]
    rows = [
        {"label": str(row["treatment"]), **{name: int(row[name]) for name in shown}}
        for row in table.to_dict("records")
    ]
    beside = f"against {reference}" if reference is not None else "against all others"
    return b.chart(
        "shares",
        "Win, tie, loss",
        alt="; ".join(
            f"{row['label']}: {', '.join(f'{row[name]} {name}' for name in shown)}" for row in rows
        ),
        numbers=b.table(
            "Win, tie, loss",
            ["method", *(b.right(name) for name in shown)],
            [[str(row["label"]), *(b.count(row[name]) for name in shown)] for row in rows],
        ),
        note=f"{beside}, over {result.blocks} blocks; a win is: {result.rule}.",
        rows=rows,
    )


def _chance(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


@SUMMARIES.register("statistics")
def summarize_statistics(
    result: Any, *, title: str | None = None, command: str | None = None
) -> Summary:
    """Return the summary of a result of :mod:`isonomy.stats` or :mod:`isonomy.tails`."""
    name = NAMES.get(type(result).__name__) or _words_of(type(result).__name__)
    frame = result.frame()
    if not all(isinstance(level, int) for level in frame.index):
        frame = frame.reset_index()
    chart = (
        ranks_chart(result)
        if isinstance(result, CriticalDifference)
        else groups_chart(result)
        if isinstance(result, Ranking)
        else shares_chart(result)
        if isinstance(result, WinTieLoss)
        else None
    )
    named = [str(c).replace("_", " ") for c in frame]
    numeric = [frame[c].dtype.kind in "iuf" for c in frame]
    rows = [
        [_cell(value, number=k > 0) for k, value in enumerate(row)]
        for row in frame.itertuples(index=False)
    ]
    heads = [
        b.right(c) if n and k else c for k, (c, n) in enumerate(zip(named, numeric, strict=True))
    ]
    said = chart["alt"] if chart else str(result)
    return b.summary(
        "statistics",
        f"{name} of {title}" if title else name,
        verdict=b.verdict("", said),
        picture=[chart] if chart else [],
        table=[b.table(name, heads, rows)],
        limits=getattr(result, "notes", ()),
        command=command,
    )


def _words_of(name: str) -> str:
    """Return the name of a class as words.

    Examples
    --------
    >>> _words_of("TailFit")
    'Tail fit'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).capitalize()


def _cell(value: Any, *, number: bool = True) -> b.Cell:
    """Return a value of a frame as a cell."""
    if isinstance(value, float | np.floating) and number:
        return b.number(float(value), 4)
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and number:
        return b.count(value)
    return "" if value is None else str(value)


# ---------------------------------------------------------------------- drawings, from charts


def _room(labels: Sequence[Any]) -> float:
    """Return the pixels that the longest label takes, the mean rank beside it included."""
    return 7.2 * max((len(str(label)) for label in labels), default=0) + 52.0


def _levels(bars: Sequence[tuple[float, float]]) -> list[int]:
    """Return for each bar the first line on which it touches no other."""
    ends: list[float] = []
    out = []
    for start, end in bars:
        level = next((k for k, last in enumerate(ends) if start > last + 6), len(ends))
        ends[level : level + 1] = [end]
        out.append(level)
    return out


def draw_ranks(chart: b.Block) -> str:
    """Draw mean ranks on an axis, the best on the left; a bar joins methods that do not differ."""
    labels = chart["labels"]
    size = len(labels)
    half = (size + 1) // 2
    left = _room(labels[:half])
    right = _room(labels[half:])
    width = left + _AXIS + right

    def at(value: float) -> float:
        return round(left + _AXIS * (value - 1.0) / (size - 1.0), 1)

    places = [at(float(value)) for value in chart["mean_ranks"]]
    bars = [(places[first] - 4, places[last] + 4) for first, last in chart["groups"]]
    levels = _levels(bars)
    axis = 58.0
    first_label = axis + 26.0 + 8.0 * (max(levels, default=-1) + 1)
    height = first_label + _STEP * (half - 1) + 14.0
    parts = [_ruler(chart, at, axis)]
    # the bars say nothing where the test of the whole finds no difference
    ink, faint = ("dot", "1") if chart["differs"] else ("soft", "0.5")
    for (start, end), level in zip(bars, levels, strict=True):
        y = axis + 14.0 + 8.0 * level
        thick = f' stroke-width="4" stroke-linecap="round" opacity="{faint}"'
        parts.append(line(start, y, end, y, ink=ink, style=thick))
    for k, (label, mean, px) in enumerate(zip(labels, chart["mean_ranks"], places, strict=True)):
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
    return svg("".join(parts), chart["alt"], width=width, height=height)


def _ruler(chart: b.Block, at: Any, axis: float) -> str:
    """Draw the axis of ranks, and the critical difference above it."""
    size = len(chart["labels"])
    every = max(1, int(np.ceil(size / 10)))
    parts = [line(at(1.0), axis, at(size), axis, ink="soft")]
    for value in range(1, size + 1, every):
        parts.append(line(at(value), axis - 5, at(value), axis, ink="soft"))
        parts.append(text(at(value), axis - 9, str(value)))
    wide = chart["critical_difference"] > size - 1.0
    end = at(min(1.0 + chart["critical_difference"], float(size)))
    more = ", wider than the axis" if wide else ""
    parts.append(
        f'<path d="M{at(1.0)} 20V30M{at(1.0)} 25H{end}{"" if wide else f"M{end} 20V30"}" '
        f'stroke="var(--soft)" stroke-width="1.5"/><text x="{at(1.0)}" y="13" class="t">critical '
        f"difference {chart['critical_difference']:.2f} at {100 * chart['alpha']:g} %{more}</text>"
    )
    return "".join(parts)


def draw_groups(chart: b.Block) -> str:
    """Draw treatments by rank: a band per group, a dot at each one's centre."""
    labels, ranks = chart["labels"], chart["ranks"]
    centres: Floats = np.array([np.nan if c is None else c for c in chart["centres"]])
    left = _room(labels)
    width = left + _AXIS + 16.0
    low, high = span_of(centres)
    bottom = 8.0 + _STEP * len(labels)

    def at(value: float) -> float:
        return round(left + _AXIS * (value - low) / (high - low), 1)

    bands, dots = [], []
    for k, (label, group, centre) in enumerate(zip(labels, ranks, centres, strict=True)):
        y = 8.0 + _STEP * k
        if group % 2:
            bands.append(
                f'<rect x="0" y="{y}" width="{width:.1f}" height="{_STEP}" fill="var(--line)" '
                'opacity="0.45"/>'
            )
        if not k or group != ranks[k - 1]:
            dots.append(text(6, y + 13, str(int(group)), anchor="start"))
        dots.append(
            text(left - 12, y + 13, str(label), anchor="end", style=' font-weight="600"')
            + f'<circle cx="{at(float(centre))}" cy="{y + 9}" r="4" fill="var(--dot)"><title>'
            f"{escape(str(label))}: {chart['centre']} {float(centre):.4g}, rank {int(group)}</title></circle>"
        )
    grid = [
        line(at(value), 8, at(value), bottom) + text(at(value), bottom + 14, f"{value:g}")
        for value in ticks(low, high)
    ]
    grid.append(text(left + _AXIS / 2, bottom + 30, chart["unit"]))
    grid.append(text(6, bottom + 14, "rank", anchor="start"))
    return svg(
        "".join([*bands, *grid, *dots]), chart["alt"], width=width, height=bottom + 38, marks=True
    )


def draw_shares(chart: b.Block) -> str:
    """Draw a strip for each row: wins, ties and losses beside each other."""
    names = [name for name in _SHARES if any(name in row for row in chart["rows"])]
    rows = []
    for row in chart["rows"]:
        total = max(1, sum(row[name] for name in names))
        strip, x = [], 0.0
        for name in names:
            wide = 100.0 * row[name] / total
            strip.append(
                f'<rect x="{x:.1f}%" width="{wide:.1f}%" height="14" fill="var(--{_SHARES[name]})"/>'
            )
            x += wide
        told = ", ".join(f"{row[name]} {name}" for name in names)
        said = escape(f"{row['label']}: {told}")
        rows.append(
            f'<div class="whisker"><span>{escape(row["label"])}</span><svg class="m" width="100%" height="14">'
            f'<title>{said}</title>{"".join(strip)}</svg><span class="v">{told}</span></div>'
        )
    return f'<div role="group" aria-label="{escape(chart["title"])}">{"".join(rows)}</div>'
