"""The 17-method study (Chen et al.): its tables and figures as functions of a result frame.

The frame may hold the authors' files (``read_chen``) or our own runs. What the tables are
compared with are the outputs of the final version's scripts; the preprint's numbers come from
other runs and do not reproduce from any file the authors shipped.

References
----------
Chen, Zhang, Sarro and Harman 2023, A Comprehensive Empirical Study of Bias Mitigation Methods for
Machine Learning Classifiers, TOSEM 32(4); preprint of July 2022.
"""

from typing import Any

import numpy as np
import pandas as pd

from isonomy._arrays import divide
from isonomy.papers.archive import BASELINE
from isonomy.papers.chen_2022.cases import (
    BIAS,
    METHODS,
    MODELS,
    NAMES,
    PAIRS,
    TASKS,
    Cube,
    cube_of,
)
from isonomy.papers.chen_2022.statistics import (
    blank,
    fig3,
    fig4,
    fig5,
    fig6,
    finished,
    printed,
    six_decimals,
    table2,
    table3,
    table4,
    table5,
)
from isonomy.papers.judge import curves_of
from isonomy.papers.table import PaperTable, Reading, Recipe
from isonomy.tradeoff.regions import REGIONS, Rule

_COLUMNS = ("lose-lose", "inverted", "poor", "good", "win-win")
_ORDER = [REGIONS.index(name) for name in _COLUMNS]


def _whole_percent(value: Any) -> str:
    return "-" if value != value else f"{int(value)}%"


def fig7(frame: pd.DataFrame, *, task: str = "Adult-Sex", model: str = "lr") -> PaperTable:
    """Make Figure 7: the mutation baseline of one model, every metric by degree."""
    labels = {m: NAMES[m] for m in ("Acc", "Mac-P", "Mac-R", "Mac-F1", "MCC", *BIAS)}
    curves = curves_of(frame, [*labels.values()])
    key = (*TASKS[task], model)
    data = pd.DataFrame({"degree": curves.degrees})
    notes = []
    if key in curves.tasks:
        row = curves.tasks.index(key)
        data = data.assign(**{label: curves.values[m][row] for label, m in labels.items()})
        rising = [m for m in BIAS if data[m].iloc[-1] >= data[m].iloc[0]]
        if rising:
            notes.append(f"{', '.join(rising)} does not fall by mutation: it gives no baseline.")
    else:
        data, notes = data.iloc[:0], [f"No baseline of {model} on {task} is held."]
    title = f"Mutation baseline of {model} on {task}"
    return PaperTable("fig7", title, data, len(data), "points of a baseline", tuple(notes))


def fig8(
    frame: pd.DataFrame | Cube, *, rule: Rule = "code", reading: Reading = "as_published"
) -> PaperTable:
    """Make Figure 8: shares of the regions by method (a), model (b), task (c) and trade-off (d).

    Parameters
    ----------
    frame : DataFrame
        A result frame.
    rule : {"paper", "code"}
        The authors' figure follows "code": worse than the baseline's end in both is inverted.
    reading : {"as_published", "corrected"}
        What is corrected, the rule included, is said below the table.
    """
    cube = cube_of(frame, reading)
    # counts[pair, task, model, method, region]
    counts = np.stack(
        [
            (cube.regions(gap, score, rule=rule)[..., None] == np.array(_ORDER)).sum(axis=-2)
            for gap, score in PAIRS
        ]
    )
    whole = np.broadcast_to(cube.whole | ~cube.expected, counts.shape[:-1])
    pairs = [f"{gap}&{score}" for gap, score in PAIRS]
    shares, keep = [], []
    for part, labels, over in (
        ("a", METHODS, (0, 1, 2)),
        ("b", MODELS, (0, 1, 3)),
        ("c", TASKS, (0, 2, 3)),
        ("d", pairs, (1, 2, 3)),
    ):
        cells = counts.sum(axis=over)
        share = divide(cells, cells.sum(axis=-1, keepdims=True))
        place = pd.MultiIndex.from_product([[part], labels])
        shares.append(pd.DataFrame(share, index=place, columns=pd.Index(_COLUMNS)))
        keep.append(whole.all(axis=over))
    data = pd.concat(shares)
    return finished(
        cube,
        PaperTable(
            "fig8",
            "Share of cases in each region, by (a) method, (b) model, (c) task, (d) trade-off",
            data.dropna(how="all"),
            int(counts.sum()),
            "mitigation cases (runs x trade-offs)",
            () if cube.corrected else (f"Regions by rule {rule!r}.",),
            blank(printed("fig8", index=2).reindex(data.index), np.concatenate(keep)),
            six_decimals,
            shares=True,
        ),
    )


def table6(
    frame: pd.DataFrame | Cube, *, rule: Rule = "code", reading: Reading = "as_published"
) -> PaperTable:
    """Make Table 6: in how many scenarios each method has the best trade-off, by task.

    A scenario is a (model, trade-off); every method that reaches the best score counts, so rows
    sum to more than 100 %.
    """
    cube = cube_of(frame, reading)
    best, scenarios = np.zeros(cube.present.shape), np.zeros(cube.present.shape)
    for gap, score in PAIRS:
        worth = cube.scores(gap, score, rule=rule)
        known = np.isfinite(worth)
        top = np.max(np.where(known, worth, -np.inf), axis=-1, keepdims=True)
        best += known & (worth == top)
        scenarios += known
    rows = divide(100 * best.sum(axis=1), scenarios.sum(axis=1))
    overall = divide(100 * best.sum(axis=(0, 1)), scenarios.sum(axis=(0, 1)))
    data = pd.DataFrame(
        np.vstack([rows, overall]), index=[*TASKS, "Overall"], columns=pd.Index([*METHODS])
    )
    whole = np.all(cube.whole, axis=(1, 2))
    theirs = blank(printed("table6"), np.append(whole, True))
    pooled = (whole[:, None] | ~cube.expected.any(axis=1)).all(axis=0)  # by method
    theirs.loc["Overall"] = np.where(pooled, theirs.loc["Overall"], "")
    present = np.append(np.any(cube.present, axis=(1, 2)), True)
    return finished(
        cube,
        PaperTable(
            "table6",
            "Share of scenarios in which a method has the best trade-off, by task",
            data[present],
            int(scenarios.sum()),
            "mean points (task, model, trade-off, method)",
            () if cube.corrected else (f"Regions by rule {rule!r}.",),
            theirs[present],
            _whole_percent,
        ),
    )


def parts_of(frame: pd.DataFrame) -> frozenset[str]:
    """Return the parts that a frame holds: runs, original runs, baselines."""
    names = {str(name) for name in frame["mitigator"].unique()}
    parts = {
        "runs": names & {*METHODS.values()},
        "original runs": "unmitigated" in names,
        "baselines": any(name.startswith(BASELINE) for name in names),
    }
    return frozenset(part for part, present in parts.items() if present)


_BOTH = frozenset({"runs", "original runs"})
ALL = _BOTH | {"baselines"}
TABLES: dict[str, Recipe] = {
    "fig3": Recipe(fig3, "how often performance falls, by metric", _BOTH),
    "fig4": Recipe(fig4, "how often performance falls, by method", _BOTH),
    "fig5": Recipe(fig5, "how often bias falls, by metric", _BOTH),
    "fig6": Recipe(fig6, "how often bias falls, by method", _BOTH),
    "fig7": Recipe(
        fig7, "the mutation baseline of lr on Adult-Sex", frozenset({"baselines"}), 0.01
    ),
    "fig8": Recipe(fig8, "shares of the regions: method, model, task, trade-off", ALL),
    "table2": Recipe(table2, "correlation of performance metrics", _BOTH, 0.1),
    "table3": Recipe(table3, "mean ranks by performance metric", _BOTH, 1.0),
    "table4": Recipe(table4, "correlation of bias metrics", _BOTH, 0.1),
    "table5": Recipe(table5, "mean ranks by bias metric", _BOTH, 1.0),
    "table6": Recipe(table6, "who has the best trade-off, by task", ALL, 5.0),
}
"""What can be recomputed, by name."""
