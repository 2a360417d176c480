"""The critical difference diagram: mean ranks on a line, bars over those that do not differ."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from isonomy.plots.axes import BLUE, INK, SMALL, SOFT, new_axes, wrapped

WIDTH = 7.0


def plot_ranks(
    table: pd.DataFrame,
    groups: Sequence[tuple[int, int]],
    critical_difference: float,
    *,
    title: str = "",
    ax: Any = None,
) -> Any:
    """Draw mean ranks, the best to the left, and a bar over each run that does not differ.

    Parameters
    ----------
    table : frame
        The columns ``treatment`` and ``mean_rank``, the best first.
    groups : sequence of (first, last)
        Positions of the runs.
    critical_difference : float
    title : str
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ranks = table["mean_rank"].to_numpy(dtype=float)
    names = [wrapped(name, 26, 2) for name in table["treatment"]]
    size, half = len(names), -(-len(names) // 2)
    lines = 1 + max(name.count("\n") for name in names)
    step = 1.0 if lines == 1 else 1.6
    levels = _levels(groups)
    bars = 0.6 * (1 + max(levels, default=-1))
    depth = 1.0 + bars + step * half
    ax = new_axes(ax, WIDTH, 0.75 + 0.19 * (depth + 2.2))
    best, worst = 1, max(size, 2)
    ax.set_xlim(best - 0.42 * (worst - best), worst + 0.42 * (worst - best))
    ax.set_ylim(depth + 0.4, -2.4)
    ax.axis("off")
    ax.plot([best, worst], [0, 0], color=INK, linewidth=1.0)
    every = max(1, -(-(worst - best) // 14))
    for tick in range(best, worst + 1, every):
        ax.plot([tick, tick], [0, -0.3], color=INK, linewidth=1.0)
        ax.text(tick, -0.45, str(tick), ha="center", va="bottom", fontsize=SMALL)
    ax.plot([best, best + critical_difference], [-1.75, -1.75], color=INK, linewidth=1.6)
    for end in (best, best + critical_difference):
        ax.plot([end, end], [-1.95, -1.55], color=INK, linewidth=1.0)
    ax.text(
        best + critical_difference, -1.75, f"  critical difference {critical_difference:.2f}",
        ha="left", va="center", fontsize=SMALL,
    )  # fmt: skip
    for (first, last), level in zip(groups, levels, strict=True):
        y, room = 0.55 + 0.6 * level, 0.006 * (worst - best)
        ends = [ranks[first] - room, ranks[last] + room]
        ax.plot(ends, [y, y], color=BLUE, linewidth=3.5, solid_capstyle="round", alpha=0.9)
    for k, (rank, name) in enumerate(zip(ranks, names, strict=True)):
        left = k < half
        place = k if left else size - 1 - k
        y = 1.0 + bars + step * place
        edge = (best - 0.04 * (worst - best)) if left else (worst + 0.04 * (worst - best))
        ax.plot([rank, rank, edge], [0, y, y], color=SOFT, linewidth=0.8, zorder=1)
        ax.plot([rank], [0], "o", color=INK, markersize=3, zorder=3)
        beside = edge + (-0.015 if left else 0.015) * (worst - best)
        ax.text(beside, y, name, ha="right" if left else "left", va="center", fontsize=SMALL)
    if title:
        ax.set_title(wrapped(title, 70), fontsize=10, loc="left")
    return ax


def _levels(groups: Sequence[tuple[int, int]]) -> list[int]:
    """Return the row of each bar, so that none touches another."""
    ends: list[float] = []
    out = []
    for first, last in groups:
        level = next((k for k, end in enumerate(ends) if end < first), len(ends))
        ends = [*ends[:level], last, *ends[level + 1 :]]
        out.append(level)
    return out
