"""Estimates with intervals: gaps against their accepted ranges, rates by group, gaps over time."""

from typing import Any

import numpy as np
import pandas as pd

from isonomy.plots.axes import (
    BLUE,
    INK,
    ORANGE,
    PALE,
    SMALL,
    SOFT,
    height_of,
    legend_of,
    mark,
    name_rows,
    new_axes,
    wrapped,
)

TICKS: tuple[tuple[float, ...], ...] = (
    (0.001, 0.01, 0.1, 1, 10, 100, 1000),
    (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100),
    (0.25, 0.5, 0.8, 1, 1.25, 2, 4),
    (0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2),
    (0.9, 0.95, 1, 1.05, 1.1),
)
"""Ticks of ratios, the coarsest first."""


MANY = 15
"""With more rows than this, a name has two lines at most."""


def plot_intervals(
    table: pd.DataFrame,
    *,
    label: str,
    xlabel: str,
    section: str | None = None,
    reference: float | None = None,
    log: bool = False,
    title: str = "",
    ax: Any = None,
) -> Any:
    """Draw one row per estimate: a mark with its interval, over the range that is accepted.

    Parameters
    ----------
    table : frame
        The columns ``value``, ``low`` and ``high``; where there are verdicts, ``verdict``,
        ``accept_low`` and ``accept_high``.
    label : str
        The column that names the rows.
    xlabel : str
    section : str, optional
        A column whose values head the rows that share them.
    reference : float, optional
        A line across, such as no gap.
    log : bool
        Whether the axis is one of logarithms, as for ratios.
    title : str
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
    """
    rows: list[tuple[str, Any]] = []
    heads = [] if section is None else table[section].tolist()
    several = len(set(heads)) > 1
    for k, row in enumerate(table.to_dict("records")):
        if several and (k == 0 or heads[k] != heads[k - 1]):
            rows.append((wrapped(heads[k], 30), None))
        rows.append((wrapped(row[label], lines=3 if len(heads or table) <= MANY else 2), row))
    names = [name for name, _ in rows]
    ax = new_axes(ax, 6.0, height_of(names))
    judged, verdicts = False, []
    for y, (_, row) in enumerate(rows):
        if row is None:
            continue
        accept = row.get("accept_low"), row.get("accept_high")
        if all(end is not None and end == end for end in accept):
            ax.barh(y, accept[1] - accept[0], 0.72, left=accept[0], color=PALE, zorder=0)
            judged = True
        verdict = row.get("verdict")
        verdict = None if verdict is None or verdict != verdict else verdict
        verdicts.append(verdict)
        value = row["value"] if np.isfinite(row["value"]) else np.nan
        low, high = (_end(row[end], table, log) for end in ("low", "high"))
        mark(ax, value, y, low, high, verdict)
        if value != value:
            middle = 1.0 if log else (reference or 0.0)
            ax.text(middle, y, "undefined", color=SOFT, fontsize=SMALL, ha="center", va="center")
    if log:
        ax.set_xscale("log")
        _plain_ticks(ax)
    if reference is not None:
        ax.axvline(reference, color=INK, linewidth=0.8, zorder=1)
    name_rows(ax, names)
    for tick, (_, row) in zip(ax.get_yticklabels(), rows, strict=True):
        if row is None:
            tick.set_fontweight("bold")
    ax.set_xlabel(xlabel, fontsize=9)
    ax.tick_params(axis="x", labelsize=SMALL)
    ax.grid(axis="x", color=PALE, linewidth=0.6, zorder=0)
    ax.set_axisbelow(True)
    if title:
        ax.set_title(wrapped(title, 60), fontsize=10, loc="left")
    legend_of(ax, verdicts, band="accepted range" if judged else "")
    return ax


def _end(value: float, table: pd.DataFrame, log: bool) -> float:
    """Return an end of an interval that can be drawn: where it is open, the edge of the others."""
    if value != value or (np.isfinite(value) and (value > 0 or not log)):
        return float(value)
    ends = table[["value", "low", "high"]].to_numpy(dtype=float).ravel()
    ends = ends[np.isfinite(ends) & ((ends > 0) | (not log))]
    if not ends.size:
        return float("nan")
    return float(ends.min() / 2 if value <= 0 else ends.max() * 2)


def _plain_ticks(ax: Any) -> None:
    """Write 0.5, 0.8, 1, 1.25, 2 in place of powers of ten: as many as there is room for."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    low, high = ax.get_xlim()
    for ticks in TICKS:
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) >= 4:
            break
    ax.xaxis.set_major_locator(FixedLocator(inside))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def plot_periods(
    table: pd.DataFrame,
    *,
    ylabel: str,
    since: Any = None,
    said: str = "",
    reference: float | None = None,
    title: str = "",
    ax: Any = None,
) -> Any:
    """Draw a gap over the periods: a line, an interval for each, and where it moved.

    Parameters
    ----------
    table : frame
        The columns ``period``, ``value``, ``low``, ``high``, ``accept_low`` and ``accept_high``.
    ylabel : str
    since : period, optional
        A line before this one, named by ``said``.
    said : str
    reference : float, optional
        A line along, such as no gap.
    title : str
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = new_axes(ax, 7.0, 3.6)
    at = np.arange(len(table))
    value, low, high = (table[c].to_numpy(dtype=float) for c in ("value", "low", "high"))
    accept = table[["accept_low", "accept_high"]].iloc[0].to_numpy(dtype=float)
    if not np.isnan(accept).any():
        ax.axhspan(*accept, color=PALE, zorder=0, label="accepted range")
    if reference is not None:
        ax.axhline(reference, color=INK, linewidth=0.8, zorder=1)
    ax.vlines(at, low, high, color=BLUE, linewidth=1.6, zorder=2)
    ax.plot(at, value, color=BLUE, linewidth=0.9, marker="o", markersize=4.5, zorder=3)
    missing = at[np.isnan(value)]
    if missing.size:
        bottom = ax.get_xaxis_transform()
        ax.plot(
            missing, np.full(missing.size, 0.03), "x", color=SOFT, transform=bottom,
            label="undefined",
        )  # fmt: skip
    periods = table["period"].tolist()
    if since is not None:
        ax.axvline(
            periods.index(since) - 0.5, color=ORANGE, linewidth=1.4, linestyle="--", label=said
        )
    ax.set_xlim(-0.6, len(at) - 0.4)
    step = -(-len(at) // 12)
    shown = at[::step]
    names = [wrapped(periods[k], 12, 2) for k in shown]
    turned = max((len(n) for n in names), default=0) > 4
    ax.set_xticks(shown, names, fontsize=SMALL, rotation=40 if turned else 0)
    if turned:
        for tick in ax.get_xticklabels():
            tick.set(ha="right", rotation_mode="anchor")
    ax.tick_params(axis="y", labelsize=SMALL)
    ax.set_ylabel(wrapped(ylabel, 40), fontsize=9)
    ax.grid(axis="y", color=PALE, linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if title:
        ax.set_title(wrapped(title, 70), fontsize=10, loc="left")
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize=SMALL, loc="best")
    return ax
