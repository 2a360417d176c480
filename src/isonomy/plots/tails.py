"""The tail: levels that are exceeded once in so many queries, with their limits."""

from typing import Any

import pandas as pd

from isonomy.plots.axes import BLUE, INK, PALE, SMALL, new_axes, wrapped


def plot_levels(
    levels: pd.DataFrame,
    *,
    observed: pd.DataFrame | None = None,
    xlabel: str = "queries",
    ylabel: str = "level exceeded once in so many queries",
    title: str = "",
    ax: Any = None,
) -> Any:
    """Draw return levels against the horizon, with their interval, over what was observed.

    Parameters
    ----------
    levels : frame
        The columns ``horizon``, ``level``, ``low`` and ``high``.
    observed : frame, optional
        The columns ``horizon`` and ``value``.
    xlabel, ylabel, title : str
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = new_axes(ax, 6.0, 4.0)
    x = levels["horizon"].to_numpy(dtype=float)
    low, high = (levels[c].to_numpy(dtype=float) for c in ("low", "high"))
    ax.fill_between(x, low, high, color=BLUE, alpha=0.15, linewidth=0, label="interval")
    for ends in (low, high):
        ax.plot(x, ends, color=BLUE, linewidth=0.8, linestyle="--")
    ax.plot(x, levels["level"], color=BLUE, linewidth=1.8, label="fitted level")
    if observed is not None:
        ax.plot(
            observed["horizon"], observed["value"], "o", color=INK, markersize=3.5,
            markerfacecolor="white", label="observed", zorder=3,
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_xlabel(wrapped(xlabel, 60), fontsize=9)
    ax.set_ylabel(wrapped(ylabel, 40), fontsize=9)
    ax.tick_params(labelsize=SMALL)
    ax.grid(color=PALE, linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if title:
        ax.set_title(wrapped(title, 60), fontsize=10, loc="left")
    ax.legend(frameon=False, fontsize=SMALL, loc="upper left")
    return ax
