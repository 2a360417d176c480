"""The canvas that all plots share: a new Axes or yours, wrapped names, colours and marks."""

import textwrap
from collections.abc import Sequence
from typing import Any

from isonomy._validate import optional

BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
"""Of the palette of Okabe and Ito, which colour-blind readers can tell apart."""
INK, SOFT, PALE = "#222222", "#767676", "#e6e6e6"

MARKS: dict[str | None, tuple[str, str, str]] = {
    "within": ("o", BLUE, BLUE),
    "violated": ("D", ORANGE, ORANGE),
    "insufficient evidence": ("o", SOFT, "white"),
    "undefined": ("x", SOFT, SOFT),
    None: ("s", INK, INK),
}
"""Shape, edge and filling of a verdict's mark: no two share the shape and the filling."""

SMALL = 8.0
"""Size of names on an axis, in points."""


def new_axes(ax: Any, width: float, height: float) -> Any:
    """Return the Axes that were given, or those of a new figure of so many inches.

    Where Axes are given, pyplot is neither imported nor changed.
    """
    if ax is not None:
        return ax
    pyplot = optional("matplotlib.pyplot", extra="plot", purpose="A plot")
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def wrapped(text: Any, width: int = 28, lines: int = 3) -> str:
    r"""Break a long name over lines; what is longer still loses its middle, and keeps its end.

    Signs that matplotlib would read as mathematics are shown as they are.

    Examples
    --------
    >>> wrapped("married, living with the spouse", 12)
    'married,\nliving with\nthe spouse'
    """
    whole = " ".join(str(text).split())
    found = textwrap.wrap(whole, width) or [""]
    if len(found) > lines:
        found = [*found[: lines - 1], f"… {whole[2 - width :].lstrip()}"]
    return "\n".join(found).replace("$", r"\$")


def name_rows(ax: Any, names: Sequence[str], *, size: float = SMALL) -> None:
    """Name the rows 0, 1, 2 ... from top to bottom."""
    ax.set_yticks(range(len(names)), names, fontsize=size)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)


def height_of(names: Sequence[str]) -> float:
    """Return how many inches rows with such names take."""
    return 1.1 + sum(0.13 + 0.13 * (name.count("\n") + 1) for name in names)


def mark(ax: Any, x: float, y: float, low: float, high: float, kind: str | None) -> None:
    """Draw one estimate with its interval across."""
    shape, edge, filling = MARKS[kind]
    if low == low and high == high:
        ax.plot([low, high], [y, y], color=edge, linewidth=1.6, solid_capstyle="butt", zorder=2)
    if x == x:
        ax.plot(
            [x], [y], marker=shape, color=edge, markerfacecolor=filling, markersize=5.5,
            linestyle="", zorder=3,
        )  # fmt: skip


def legend_of(ax: Any, kinds: Sequence[str | None], *, band: str = "") -> None:
    """Explain the marks that occur, below the plot."""
    handles = []
    for kind in dict.fromkeys(kinds):
        shape, edge, filling = MARKS[kind]
        if kind is not None:
            handles += ax.plot(
                [], [], marker=shape, color=edge, markerfacecolor=filling, markersize=5.5,
                label=kind,
            )  # fmt: skip
    if band:
        handles.append(ax.fill_between([], [], [], color=PALE, label=band))
    if handles:
        ax.legend(
            handles=handles, loc="upper center", bbox_to_anchor=(0.5, -34 / height_in_points(ax)),
            ncols=min(len(handles), 3), frameon=False, fontsize=SMALL, borderaxespad=0.0,
        )  # fmt: skip


def height_in_points(ax: Any) -> float:
    """Return the height of the Axes in points, that of one row at least."""
    return float(max(ax.figure.get_figheight() * 72 * ax.get_position().height, 40.0))
