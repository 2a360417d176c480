"""Plots for notebooks and papers: matplotlib Axes from the frames of results.

Nothing is computed here: each function draws a frame. Colours tell colour-blind readers apart, and
every mark has a shape or a line style of its own, so that a print in grey reads the same. Needs the
extra ``plot``.
"""

from isonomy.plots.axes import new_axes, wrapped
from isonomy.plots.intervals import plot_intervals, plot_periods
from isonomy.plots.plane import plot_plane
from isonomy.plots.ranks import plot_ranks
from isonomy.plots.tails import plot_levels

__all__ = [
    "new_axes",
    "plot_intervals",
    "plot_levels",
    "plot_periods",
    "plot_plane",
    "plot_ranks",
    "wrapped",
]
