"""The statistics of the 17-method study: effects, correlations and ranks (Figures 3-6, Tables 2-5)."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy.papers.chen_2022.cases import BIAS, EFFECTS, METHODS, PERFORMANCE, TASKS, Cube, cube_of
from isonomy.papers.chen_2022.printed import printed
from isonomy.papers.table import PaperTable
from isonomy.stats import rank, spearman

__all__ = [
    "blank",
    "fig3",
    "fig4",
    "fig5",
    "fig6",
    "six",
    "table2",
    "table3",
    "table4",
    "table5",
    "told",
]

Mask = NDArray[np.bool_]

_PERF = slice(0, len(PERFORMANCE))
_GAPS = slice(len(PERFORMANCE), len(PERFORMANCE) + len(BIAS))


def six(value: Any) -> str:
    """Return a number with six decimals, or an empty cell."""
    return "" if value != value else f"{value:.6f}"


def _whole_number(value: Any) -> str:
    return "" if value != value else str(int(value))


def _words(value: Any) -> str:
    return str(value)


def told(table: PaperTable, cube: Cube) -> PaperTable:
    """Add what is missing, and how many cells equal the authors' output."""
    notes = []
    compared = table.compare()
    if len(compared):
        agrees = compared["agrees"].astype(bool)
        notes.append(
            f"{int(agrees.sum())} of {len(compared)} cells that can be compared equal the authors' output."
        )
        notes += [
            f"{cell.row}, {cell.column}: {cell.recomputed}, printed {cell.printed}."
            for cell in compared[~agrees].itertuples()
        ]
    missing = [
        task
        for task, whole in zip(TASKS, np.all(cube.whole, axis=(1, 2)), strict=True)
        if not whole
    ]
    if missing:
        notes.append(
            f"Not whole in this frame: {', '.join(missing)}; what pools over them is not compared."
        )
    return replace(table, notes=(*notes, *table.notes))


def blank(table: pd.DataFrame, keep: Mask) -> pd.DataFrame:
    """Keep the printed rows that can be compared."""
    out = table.copy()
    out.loc[[not k for k in keep]] = ""
    return out


def _effect_table(
    cube: Cube,
    name: str,
    title: str,
    codes: list[NDArray[np.int8]],
    rows: list[str],
    keep: list[bool],
) -> PaperTable:
    shares = []
    for row in codes:
        mine = row[row >= 0]
        counts = np.bincount(mine, minlength=len(EFFECTS)).astype(float)
        shares.append(counts / mine.size if mine.size else np.full(len(EFFECTS), np.nan))
    data = pd.DataFrame(shares, index=rows, columns=pd.Index(EFFECTS))
    theirs = blank(printed(name, [*EFFECTS]), np.array(keep))
    cases = int(sum((row >= 0).sum() for row in codes))
    unit = "scenarios (task, model, method, metric)"
    return told(PaperTable(name, title, data, cases, unit, (), theirs, six, shares=True), cube)


def _by_metric(frame: pd.DataFrame, name: str, which: slice, labels: list[str]) -> PaperTable:
    cube = cube_of(frame)
    codes = list(cube.effects[which])
    keep = [bool(cube.whole.all())] * len(labels)
    title = "Share of applications in which a metric falls significantly, by size of the effect"
    return _effect_table(cube, name, title, codes, labels, keep)


def _by_method(frame: pd.DataFrame, name: str, which: slice) -> PaperTable:
    cube = cube_of(frame)
    codes = [cube.effects[which, :, :, i] for i in range(len(METHODS))]
    # a row needs every task of its method only
    keep = [
        bool((cube.whole | ~cube.expected)[:, :, i].all()) and bool(cube.held[:, :, i].any())
        for i in range(len(METHODS))
    ]
    title = "Share of scenarios in which a method lowers a metric significantly, by size"
    return _effect_table(cube, name, title, codes, [*METHODS], keep)


def fig3(frame: pd.DataFrame) -> PaperTable:
    """Give Figure 3: how often each performance metric falls, and by how much."""
    return _by_metric(frame, "fig3", _PERF, [*PERFORMANCE])


def fig4(frame: pd.DataFrame) -> PaperTable:
    """Give Figure 4: how often each method lowers performance, and by how much."""
    return _by_method(frame, "fig4", _PERF)


def fig5(frame: pd.DataFrame) -> PaperTable:
    """Give Figure 5: how often each bias metric falls (an improvement), and by how much."""
    return _by_metric(frame, "fig5", _GAPS, [*BIAS])


def fig6(frame: pd.DataFrame) -> PaperTable:
    """Give Figure 6: how often each method lowers bias, and by how much."""
    return _by_method(frame, "fig6", _GAPS)


def _correlations(frame: pd.DataFrame, name: str, which: slice, labels: list[str]) -> PaperTable:
    cube = cube_of(frame)
    change = (cube.means[..., 1:] - cube.means[..., :1])[which]
    pairs = [(i, j) for i in range(len(labels)) for j in range(i + 1, len(labels))]
    left, right = (list(side) for side in zip(*pairs, strict=True))
    pooled = change[:, cube.held]
    rho, p = spearman(pooled[left], pooled[right])
    agree = np.zeros(len(pairs), dtype=int)
    groups = 0
    for task, model in zip(*np.nonzero(cube.held.sum(axis=-1) >= 3), strict=True):
        mine = change[:, task, model][:, cube.held[task, model]]
        r, q = spearman(mine[left], mine[right])
        agree += (np.sign(r) == np.sign(rho)) & ((q < 0.05) == (p < 0.05)) & np.isfinite(r)
        groups += 1
    cells = np.full((len(labels), len(labels) - 1), "-", dtype=object)
    for k, (i, j) in enumerate(pairs):
        star = "*" if p[k] < 0.05 else ""
        cells[i, j - 1] = f"{round(float(rho[k]), 3):.3f}{star}({agree[k]}/{groups})"
    data = pd.DataFrame(cells, index=labels, columns=pd.Index(labels[1:]))
    theirs = printed(name, labels[1:]) if cube.whole.all() else None
    return told(
        PaperTable(
            name,
            "Rank correlation of changes, * at 5 %, and in how many (task, model) pairs it is alike",
            data,
            int(cube.held.sum()),
            "applications (task, model, method)",
            (),
            theirs,
            _words,
        ),
        cube,
    )


def table2(frame: pd.DataFrame) -> PaperTable:
    """Give Table 2: correlation of the changes of eleven performance metrics."""
    return _correlations(frame, "table2", _PERF, [*PERFORMANCE])


def table4(frame: pd.DataFrame) -> PaperTable:
    """Give Table 4: correlation of the changes of four bias metrics."""
    return _correlations(frame, "table4", _GAPS, [*BIAS])


def _ranks(
    frame: pd.DataFrame, name: str, which: slice, labels: list[str], *, high: bool
) -> PaperTable:
    cube = cube_of(frame)
    means = np.where(cube.held, cube.means[which, ..., 1:], np.nan)
    # equal means are ranked in the study's order of methods
    ranks = rank(means, ties="order", descending=high)
    held = np.isfinite(ranks)
    with np.errstate(invalid="ignore"):
        mean = np.where(held, ranks, 0.0).sum(axis=(1, 2)) / held.sum(axis=(1, 2))
    data = pd.DataFrame(mean, index=labels, columns=pd.Index([*METHODS]))
    theirs = printed(name, [*METHODS])
    # a rank needs every rival of its (task, model)
    rivals: Mask = np.all(cube.whole, axis=-1)
    for i, method in enumerate(METHODS):
        if not rivals[cube.expected[:, :, i]].all():
            theirs[method] = ""
    return told(
        PaperTable(
            name,
            "Mean rank among the methods over (task, model), cut to a whole number as the authors did",
            data,
            int(held[0].sum()),
            "applications (task, model, method)",
            (),
            theirs,
            _whole_number,
        ),
        cube,
    )


def table3(frame: pd.DataFrame) -> PaperTable:
    """Give Table 3: mean rank of each method by performance metric."""
    return _ranks(frame, "table3", _PERF, [*PERFORMANCE], high=True)


def table5(frame: pd.DataFrame) -> PaperTable:
    """Give Table 5: mean rank of each method by bias metric."""
    return _ranks(frame, "table5", _GAPS, [*BIAS], high=False)
