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
    ALPHA,
    BIAS,
    METHODS,
    MODELS,
    NAMES,
    PAIRS,
    TASKS,
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
from isonomy.papers.table import ABSENT, PaperTable, Recipe
from isonomy.stats import runs_needed
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


def fig8(frame: pd.DataFrame, *, rule: Rule = "code") -> PaperTable:
    """Make Figure 8: shares of the regions by method (a), model (b), task (c) and trade-off (d).

    Parameters
    ----------
    frame : DataFrame
        A result frame.
    rule : {"paper", "code"}
        The authors' figure follows "code": worse than the baseline's end in both is inverted.
    """
    cube = cube_of(frame)
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
            (f"Regions by rule {rule!r}.",),
            blank(printed("fig8", index=2).reindex(data.index), np.concatenate(keep)),
            six_decimals,
            shares=True,
        ),
    )


def table6(frame: pd.DataFrame, *, rule: Rule = "code") -> PaperTable:
    """Make Table 6: in how many scenarios each method has the best trade-off, by task.

    A scenario is a (model, trade-off); every method that reaches the best score counts, so rows
    sum to more than 100 %.
    """
    cube = cube_of(frame)
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
            (f"Regions by rule {rule!r}.",),
            theirs[present],
            _whole_percent,
        ),
    )


# ---------------------------------------------------------------------- findings

_EFFECTS = ("fig3", "fig4", "fig5", "fig6")


def _findings(tables: dict[str, pd.DataFrame]) -> dict[str, str]:
    """Return the six sentences with the numbers of six tables; shares are numbers here."""
    falls = {name: 1 - tables[name]["no or increase"].dropna() for name in _EFFECTS}
    regions = tables["fig8a"].dropna()
    reached = regions["good"] + regions["win-win"]
    overall = tables["table6"].loc["Overall"].dropna()
    methods = len(regions)
    fifth = sixth = "no mutation baseline is held"
    if methods:
        fifth = (
            f"{int((reached > 0.5).sum())} of {methods} methods reach win-win or good in more than "
            f"half of the cases; on average {regions['lose-lose'].mean():.0%} lose-lose and "
            f"{regions['poor'].mean():.0%} poor"
        )
    if len(overall):
        sixth = (
            f"the best method ({overall.idxmax()}) has the best trade-off in "
            f"{int(overall.to_numpy(dtype=float).max())}% of the scenarios"
        )
    falling = {
        "Finding 1": f"every performance metric falls significantly in {falls['fig3'].min():.0%} to "
        f"{falls['fig3'].max():.0%} of applications",
        "Finding 2": f"{int((falls['fig4'] < 0.5).sum())} of {len(falls['fig4'])} methods lower "
        "performance in less than half of the scenarios",
        "Finding 3": f"bias falls significantly in an average of {falls['fig5'].mean():.0%} of "
        "applications",
        "Finding 4": f"{int((falls['fig6'] > 0.5).sum())} of {len(falls['fig6'])} methods lower bias "
        "in more than half of the scenarios",
    }
    if falls["fig3"].empty:
        fewest = f"too few runs for a test at {ALPHA:.0%}, which needs {runs_needed(ALPHA)} or more"
        falling = dict.fromkeys(falling, fewest)
    return {**falling, "Finding 5": fifth, "Finding 6": sixth}


def _recomputed(frame: pd.DataFrame) -> dict[str, str]:
    names = (*_EFFECTS, "table6", "fig8")
    made = {name: TABLES[name].make(frame).data for name in names}
    regions = made["fig8"]
    by_method = regions[regions.index.get_level_values(0) == "a"].droplevel(0)
    return _findings(made | {"fig8a": by_method})


def _final() -> dict[str, str]:
    """Return the sentences with the numbers of the final version's outputs."""
    shares = {name: printed(name).astype(float) for name in _EFFECTS}
    regions = printed("fig8", index=2)
    regions = regions[regions.index.get_level_values(0) == "a"].droplevel(0).astype(float)
    best = printed("table6").loc[["Overall"]].map(lambda cell: float(cell.rstrip("%")))
    return _findings(shares | {"fig8a": regions, "table6": best})


def findings(published: pd.DataFrame | None = None, ours: pd.DataFrame | None = None) -> PaperTable:
    """Make the paper's six findings: preprint, final version, recomputed, and from our runs.

    Parameters
    ----------
    published, ours : DataFrame, optional
        Result frames: the authors' files and our own runs.
    """
    preprint = printed("findings")["preprint"].to_dict()
    columns = {"as published (preprint)": preprint, "as published (final outputs)": _final()}
    sides = {"recomputed": published, "ours": ours}
    columns |= {
        side: dict.fromkeys(preprint, ABSENT[side]) if frame is None else _recomputed(frame)
        for side, frame in sides.items()
    }
    cubes = [cube_of(frame) for frame in sides.values() if frame is not None]
    partly = (
        "The runs are a part of the study (8 tasks, 7 models, 50 repeats): so are the findings.",
    )
    return PaperTable(
        "findings",
        "The paper's six findings",
        pd.DataFrame(columns),
        int(cubes[-1].present.sum()) if cubes else 0,  # ours, where both sides are held
        "applications (task, model, method)",
        () if all(cube.whole.all() for cube in cubes) else partly,
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
_ALL = _BOTH | {"baselines"}
TABLES: dict[str, Recipe] = {
    "fig3": Recipe(fig3, "how often performance falls, by metric", _BOTH),
    "fig4": Recipe(fig4, "how often performance falls, by method", _BOTH),
    "fig5": Recipe(fig5, "how often bias falls, by metric", _BOTH),
    "fig6": Recipe(fig6, "how often bias falls, by method", _BOTH),
    "fig7": Recipe(
        fig7, "the mutation baseline of lr on Adult-Sex", frozenset({"baselines"}), 0.01
    ),
    "fig8": Recipe(fig8, "shares of the regions: method, model, task, trade-off", _ALL),
    "table2": Recipe(table2, "correlation of performance metrics", _BOTH, 0.1),
    "table3": Recipe(table3, "mean ranks by performance metric", _BOTH, 1.0),
    "table4": Recipe(table4, "correlation of bias metrics", _BOTH, 0.1),
    "table5": Recipe(table5, "mean ranks by bias metric", _BOTH, 1.0),
    "table6": Recipe(table6, "who has the best trade-off, by task", _ALL, 5.0),
    "findings": Recipe(findings, "the paper's six findings", _ALL),
}
"""What can be recomputed, by name."""
