"""The statistics of the 17-method study: effects, correlations and ranks (Figures 3-6, Tables 2-5)."""

from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._arrays import divide
from isonomy.papers.chen_2022.cases import (
    ALPHA,
    CORRECTED,
    EFFECTS,
    METHODS,
    NAMES,
    PERFORMANCE,
    RUNS,
    TASKS,
    UNTESTED,
    Cube,
    cube_of,
)
from isonomy.papers.judge import known_mean
from isonomy.papers.printed import read_printed
from isonomy.papers.table import PaperTable, Reading, decimals
from isonomy.stats import rank, runs_needed, spearman

printed = partial(read_printed, __file__)

_PERFORMANCE = slice(0, len(PERFORMANCE))
_BIAS = slice(len(PERFORMANCE), len(NAMES))
_APPLICATIONS = "applications (task, model, method)"


six_decimals = decimals(6)


def _whole_number(value: Any) -> str:
    return "" if value != value else str(int(value))


def finished(cube: Cube, table: PaperTable) -> PaperTable:
    """Add what is missing, what was corrected, and how many cells equal the authors' output."""
    if cube.corrected:
        table = replace(table, printed=None, notes=(*table.notes, CORRECTED))
    notes = table.agreement("the authors' output")
    whole = np.all(cube.whole, axis=(1, 2))
    if missing := [task for task, complete in zip(TASKS, whole, strict=True) if not complete]:
        notes.append(
            f"Without all models, methods and repeats: {', '.join(missing)}; what pools over them is "
            "not compared."
        )
    runs = np.isfinite(cube.values).any(axis=0).sum(axis=-1).max(initial=0)
    if 0 < runs < RUNS:
        notes.append(
            f"At most {runs} of the study's {RUNS} runs: ranks, regions and correlations from few "
            "runs are largely chance."
        )
    return replace(table, notes=(*notes, *table.notes))


def blank(table: pd.DataFrame, keep: NDArray[np.bool_]) -> pd.DataFrame:
    """Keep the printed rows that can be compared."""
    out = table.copy()
    out.loc[~keep] = ""
    return out


def _effects(
    frame: pd.DataFrame | Cube,
    *,
    name: str,
    metrics: slice,
    by: Literal["metric", "method"],
    reading: Reading = "as_published",
) -> PaperTable:
    cube = cube_of(frame, reading)
    effects = cube.effects[metrics]
    if by == "metric":
        labels = [*NAMES][metrics]
        keep: NDArray[np.bool_] = np.full(len(labels), cube.whole.all())
        title = "Share of applications in which a metric falls significantly, by size of the effect"
    else:
        labels, effects = [*METHODS], np.moveaxis(effects, -1, 0)
        # a row needs every task of its method only
        keep = np.all(cube.whole | ~cube.expected, axis=(0, 1)) & np.any(cube.present, axis=(0, 1))
        title = "Share of scenarios in which a method lowers a metric significantly, by size"
    counts = np.stack([(effects == i).sum(axis=(1, 2, 3)) for i in range(len(EFFECTS))], axis=1)
    shares = divide(counts, counts.sum(axis=1, keepdims=True))
    untested, fewest = int((effects == UNTESTED).sum()), runs_needed(ALPHA)
    few = (
        f"Too few runs: {untested:,} more scenarios have fewer than can be significant at {ALPHA:.0%} "
        f"({fewest} against {fewest} are the fewest), and are not counted as no or increase."
    )
    return finished(
        cube,
        PaperTable(
            name,
            title,
            pd.DataFrame(shares, index=labels, columns=pd.Index(EFFECTS)),
            int(counts.sum()),
            "scenarios (task, model, method, metric)",
            (few,) if untested else (),
            printed=blank(printed(name), keep),
            write=six_decimals,
            shares=True,
        ),
    )


fig3 = partial(_effects, name="fig3", metrics=_PERFORMANCE, by="metric")
"""Figure 3: how often each performance metric falls, and by how much."""

fig4 = partial(_effects, name="fig4", metrics=_PERFORMANCE, by="method")
"""Figure 4: how often each method lowers performance, and by how much."""

fig5 = partial(_effects, name="fig5", metrics=_BIAS, by="metric")
"""Figure 5: how often each bias metric falls (an improvement), and by how much."""

fig6 = partial(_effects, name="fig6", metrics=_BIAS, by="method")
"""Figure 6: how often each method lowers bias, and by how much."""


def _correlations(frame: pd.DataFrame, *, name: str, metrics: slice) -> PaperTable:
    cube = cube_of(frame)
    labels = [*NAMES][metrics]
    change = (cube.means[..., 1:] - cube.means[..., :1])[metrics]
    left, right = np.triu_indices(len(labels), k=1)
    pooled = change[:, cube.present]
    rho, p = spearman(pooled[left], pooled[right])
    agree = np.zeros(len(left), dtype=int)
    groups = 0
    for task, model in zip(*np.nonzero(cube.present.sum(axis=-1) >= 3), strict=True):
        changes = change[:, task, model][:, cube.present[task, model]]
        r, q = spearman(changes[left], changes[right])
        agree += (np.sign(r) == np.sign(rho)) & ((q < ALPHA) == (p < ALPHA)) & np.isfinite(r)
        groups += 1
    cells = np.full((len(labels), len(labels) - 1), "-", dtype=object)
    cells[left, right - 1] = [
        f"{round(float(r), 3):.3f}{'*' if q < ALPHA else ''}({n}/{groups})"
        for r, q, n in zip(rho, p, agree, strict=True)
    ]
    return finished(
        cube,
        PaperTable(
            name,
            "Rank correlation of changes, * at 5 %, and in how many (task, model) pairs it is alike",
            pd.DataFrame(cells, index=labels, columns=pd.Index(labels[1:])),
            int(cube.present.sum()),
            _APPLICATIONS,
            printed=printed(name) if cube.whole.all() else None,
            write=str,
        ),
    )


table2 = partial(_correlations, name="table2", metrics=_PERFORMANCE)
"""Table 2: correlation of the changes of eleven performance metrics."""

table4 = partial(_correlations, name="table4", metrics=_BIAS)
"""Table 4: correlation of the changes of four bias metrics."""


def _ranks(frame: pd.DataFrame, *, name: str, metrics: slice, descending: bool) -> PaperTable:
    cube = cube_of(frame)
    means = np.where(cube.present, cube.means[metrics, ..., 1:], np.nan)
    # equal means are ranked in the study's order of methods
    ranks = rank(means, ties="order", descending=descending)
    # a rank needs every rival of its (task, model)
    rivals = np.all(cube.whole, axis=-1)
    keep = (rivals[..., None] | ~cube.expected).all(axis=(0, 1))
    return finished(
        cube,
        PaperTable(
            name,
            "Mean rank among the methods over (task, model), cut to a whole number as the authors did",
            pd.DataFrame(
                known_mean(ranks, (1, 2)), index=[*NAMES][metrics], columns=pd.Index([*METHODS])
            ),
            int(np.isfinite(ranks[0]).sum()),
            _APPLICATIONS,
            printed=blank(printed(name).T, keep).T,
            write=_whole_number,
        ),
    )


table3 = partial(_ranks, name="table3", metrics=_PERFORMANCE, descending=True)
"""Table 3: mean rank of each method by performance metric."""

table5 = partial(_ranks, name="table5", metrics=_BIAS, descending=False)
"""Table 5: mean rank of each method by bias metric."""
