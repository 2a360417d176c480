"""The trade-off plane: bias to the right, performance upwards, what is free and what must be paid."""

from typing import Any

import numpy as np
import pandas as pd

from isonomy._arrays import Floats
from isonomy.plots.axes import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    SMALL,
    SOFT,
    height_in_points,
    new_axes,
    wrapped,
)

POINTS = {
    "worth it": ("o", GREEN, GREEN),
    "perhaps": ("^", BLUE, "white"),
    "win-win": ("o", GREEN, GREEN),
    "good": ("^", BLUE, BLUE),
    "poor": ("v", SOFT, "white"),
    "inverted": ("<", SOFT, "white"),
    "lose-lose": ("X", ORANGE, ORANGE),
    "no use": ("X", ORANGE, ORANGE),
}
OTHER = ("v", SOFT, "white")
SIDES = ((1, 0), (-1, 0), (0.7, 0.9), (-0.7, 0.9), (0.7, -0.9), (-0.7, -0.9))
"""Where a name may stand beside its point, the best first."""
DIRECT, SHORT = 8, 22
"""As many points, and names as long, are written beside the points; others get numbers and a key."""


def plot_plane(
    baseline: pd.DataFrame,
    points: pd.DataFrame,
    *,
    xlabel: str,
    ylabel: str,
    frontier: pd.DataFrame | None = None,
    regions: bool = True,
    larger_is_better: bool = True,
    title: str = "",
    ax: Any = None,
) -> Any:
    """Draw methods against the mutation baseline and the frontier of group thresholds.

    Parameters
    ----------
    baseline : frame
        The columns ``performance`` and ``bias``; the first row is the original model.
    points : frame
        The columns ``name``, ``performance``, ``bias`` and ``word`` (the region, or what the method
        is), and limits ``performance_low``, ``performance_high``, ``bias_low``, ``bias_high`` where
        there are any. Many points, or long names, get numbers and a key.
    xlabel, ylabel : str
    frontier : frame, optional
        The columns ``performance`` and ``bias``.
    regions : bool
        Whether to tint and name win-win and lose-lose.
    larger_is_better : bool
        Whether performance grows upwards.
    title : str
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
    """
    known = points[np.isfinite(points[["performance", "bias"]].to_numpy(dtype=float)).all(axis=1)]
    names = known["name"].astype(str).tolist()
    numbered = len(names) > DIRECT or any(len(name) > SHORT for name in names)
    ax = new_axes(ax, 8.0 if numbered else 6.0, max(4.2, 0.2 * len(names) if numbered else 0.0))
    x, y = (baseline[c].to_numpy(dtype=float) for c in ("bias", "performance"))
    _frame(ax, known, x, y)
    if regions:
        _regions(ax, float(x[0]), float(y[0]), up=larger_is_better)
    ax.plot(x, y, color=ORANGE, linewidth=1.8, label="mutation baseline", zorder=2)
    if frontier is not None:
        ax.plot(
            frontier["bias"], frontier["performance"], color=BLUE, linewidth=1.5, linestyle="--",
            label="group thresholds", zorder=2,
        )  # fmt: skip
    ax.plot(x[:1], y[:1], "s", color=INK, markersize=7, label="original model", zorder=4)
    taken = [ax.transData.transform((x[0], y[0]))]
    taken += [ax.transData.transform(p) for p in known[["bias", "performance"]].to_numpy(float)]
    words: list[str] = []
    for k, row in enumerate(known.to_dict("records")):
        shape, edge, filling = POINTS.get(row["word"], OTHER)
        at = float(row["bias"]), float(row["performance"])
        crossed = _cross(ax, row, at, edge)
        label = row["word"] if row["word"] and row["word"] not in words else None
        words += [label] if label else []
        ax.plot(
            [at[0]], [at[1]], marker=shape, color=edge, markerfacecolor=filling, markersize=7,
            linestyle="", label=label, zorder=3,
        )  # fmt: skip
        text = str(k + 1) if numbered else wrapped(names[k], SHORT)
        dx, dy, ha = _place(ax, at, text, taken, aside=not crossed)
        ax.annotate(
            text, at, xytext=(dx, dy), textcoords="offset points", fontsize=SMALL, ha=ha,
            va="center", color=INK, zorder=5,
        )  # fmt: skip
    ax.set_xlabel(wrapped(xlabel, 60), fontsize=9)
    ax.set_ylabel(wrapped(ylabel, 40), fontsize=9)
    ax.tick_params(labelsize=SMALL)
    if title:
        ax.set_title(wrapped(title, 70), fontsize=10, loc="left")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    handles = len(ax.get_legend_handles_labels()[0])
    ax.legend(
        frameon=False, fontsize=SMALL, loc="upper center", bbox_to_anchor=(0.5, -38 / height_in_points(ax)),
        ncols=min(handles, 4), borderaxespad=0.0,
    )  # fmt: skip
    if numbered:
        key = "\n".join(f"{k + 1:>2}  {_in_line(name)}" for k, name in enumerate(names))
        ax.annotate(
            key, (1.02, 1.0), xycoords="axes fraction", fontsize=SMALL, va="top", ha="left",
            annotation_clip=False,
        )  # fmt: skip
    return ax


def _in_line(name: str) -> str:
    """Return a name for the key, on lines that are indented after the first."""
    return wrapped(name, 34, 2).replace("\n", "\n     ")


def _frame(ax: Any, points: pd.DataFrame, x: Floats, y: Floats) -> None:
    """Frame the baseline and the points with some room."""
    xs = np.concatenate([x, points["bias"].to_numpy(dtype=float), [0.0]])
    ys = np.concatenate([y, points["performance"].to_numpy(dtype=float)])
    for values, put in ((xs, ax.set_xlim), (ys, ax.set_ylim)):
        room = 0.08 * max(float(np.ptp(values)), 1e-3)
        put(float(values.min()) - room, float(values.max()) + room)


def _regions(ax: Any, x: float, y: float, *, up: bool) -> None:
    """Tint what beats the original in both, and what loses in both."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    best, worst = (top, bottom) if up else (bottom, top)
    for ends, colour, hatch in (((left, best), GREEN, ""), ((right, worst), ORANGE, "..")):
        ax.fill_between(
            sorted((x, ends[0])), *sorted((y, ends[1])), color=colour, alpha=0.09, linewidth=0,
            hatch=hatch, zorder=0,
        )  # fmt: skip
    # The baseline ends at the lower left, so its name stands left of the original.
    words = (
        ("win-win", 0, 1, 0.01, "left"),
        ("inverted", 1, 1, 0.99, "right"),
        ("lose-lose", 1, 0, 0.99, "right"),
        ("good above the line,\npoor below", 0, 0, (x - left) / (right - left) - 0.02, "right"),
    )
    for word, across, over, at, side in words:
        over = over if up else 1 - over
        room = abs(((right, left)[1 - across] - x) / (right - left))
        if room > 0.14 and abs(((top, bottom)[1 - over] - y) / (top - bottom)) > 0.06:
            ax.text(
                at, (0.99, 0.01)[1 - over], word, transform=ax.transAxes, fontsize=SMALL,
                style="italic", color=SOFT, ha=side, va=("top", "bottom")[1 - over], zorder=1,
            )  # fmt: skip


def _cross(ax: Any, row: dict[str, Any], at: tuple[float, float], colour: str) -> bool:
    """Draw the intervals of a point, and return whether it has any."""
    found = False
    for axis, other in (("bias", at[1]), ("performance", at[0])):
        ends = [row.get(f"{axis}_{end}", np.nan) for end in ("low", "high")]
        if np.isfinite(ends).all():
            draw = ax.hlines if axis == "bias" else ax.vlines
            drawn = draw(other, *ends, color=colour, linewidth=0.9, alpha=0.8, zorder=2)
            drawn.set_gid(f"{axis} interval")
            found = True
    return found


def _place(
    ax: Any, at: tuple[float, float], text: str, taken: list[Any], *, aside: bool
) -> tuple[float, float, str]:
    """Return where to write beside a point so that nothing is covered; remember the place."""
    scale = ax.figure.dpi / 72
    lines = text.split("\n")
    wide, high = max(map(len, lines)) * 0.56 * SMALL, len(lines) * 1.25 * SMALL
    px = ax.transData.transform(at)
    box = ax.get_window_extent()
    best, fewest = (7.0, 0.0, "left"), np.inf
    for reach in (7.0, 13.0, 20.0):
        for dx, dy in SIDES[0 if aside else 2 :]:
            side = np.sign(dx)
            start = px + scale * np.array([reach * dx, reach * dy])
            middle = start + scale * np.array([side * wide / 2, 0.0])
            spots = [middle + scale * np.array([f * wide / 2, 0.0]) for f in (-0.9, 0.0, 0.9)]
            clash = sum(
                bool((abs(spot - other) < scale * np.array([6.0, high * 0.75])).all())
                for spot in spots
                for other in taken
            )
            outside = not (
                box.x0 <= spots[0][0] and spots[-1][0] <= box.x1 and spots[0][0] <= box.x1
            )
            worth = clash + 5 * outside + reach / 100
            if worth < fewest:
                best, fewest = (reach * dx, reach * dy, "left" if side > 0 else "right"), worth
                chosen = spots
    taken += chosen
    return best
