"""The case of the paper's section II, one network on one task: Table I, Figures 1 and 2."""

import numpy as np
import pandas as pd

from isonomy.errors import InputError
from isonomy.papers.monjezi_2025 import printed
from isonomy.papers.monjezi_2025.cases import MODELS, ORIGINAL, runs_of
from isonomy.papers.monjezi_2025.printed import printed_two, two_decimals
from isonomy.papers.table import PaperTable
from isonomy.study.tails import HORIZONS, QUANTILES, SIDES
from isonomy.tails import gev_logpdf

__all__ = ["fig1", "fig2", "table1"]

_EXAMPLE = ("adult race", "dnn")


def _example(frame: pd.DataFrame, task: str, model: str) -> tuple[pd.DataFrame, str, list[str]]:
    """Give the runs of one case; where the network was not run, of another model, and say so."""
    names = [f"{m}_{side}" for m in _EXAMPLE_METRICS for side in SIDES]
    runs = runs_of(frame, names)
    runs = runs[(runs["task"] == task) & runs["method"].isin([ORIGINAL, "EG"])]
    there = [m for m in MODELS if (runs["model"] == m).any()]
    if not there:
        raise InputError(f"The frame must hold runs on {task}; it holds none: run that task.")
    notes = []
    if model not in there:
        notes.append(f"No run of {model} on {task} is held: this is {there[0]}.")
        model = there[0]
    return runs[runs["model"] == model], model, notes


_EXAMPLE_METRICS = (
    "gev_location",
    "gev_scale",
    "gev_shape",
    "tail_threshold",
    *(f"level_{m}" for m in HORIZONS),
    *(f"cd_p{q}" for q in QUANTILES),
)
_STATE = {ORIGINAL: "original", "EG": "mitigated"}
_GROUP = dict(zip(SIDES, ("White", "Black"), strict=True))


def table1(frame: pd.DataFrame, *, task: str = "adult race", model: str = "dnn") -> PaperTable:
    """Give Table I: return levels of the original and the EG-mitigated model, by queries.

    Levels are those of peaks over a threshold; the printed ones of the original network follow
    from the same formula with the text's parameters, those of the mitigated one from none.
    """
    runs, model, notes = _example(frame, task, model)
    cells: dict[tuple[str, str], list[float]] = {}
    for method, state in _STATE.items():
        mine = runs[runs["method"] == method]
        if not len(mine):
            notes.append(f"No {state} model of this case is held.")
            continue
        for side in SIDES:
            group = _GROUP[side] if task == "adult race" else side
            cells[state, group] = [mine[f"level_{m}_{side}"].mean() for m in HORIZONS]
    data = pd.DataFrame(cells, index=pd.Index(HORIZONS, name="queries"))
    theirs = None
    if (task, model) == _EXAMPLE:
        text = printed.return_levels()
        states = text.index.get_level_values("model")
        theirs = pd.DataFrame(
            {key: text[key[1]][states == key[0]].to_numpy() for key in cells}, index=data.index
        )
        theirs = printed_two(theirs)
    return PaperTable(
        "table1",
        f"Return levels of counterfactual discrimination, {model} on {task}",
        data,
        int(runs["repeat"].nunique()),
        "repeats",
        tuple(notes),
        theirs,
        two_decimals,
    )


def fig1(frame: pd.DataFrame, *, task: str = "adult race", model: str = "dnn") -> PaperTable:
    """Give Figure 1: the counterfactual discrimination of both groups, as quantiles.

    The paper draws every row; a result frame keeps eleven quantiles and the threshold.
    """
    runs, model, notes = _example(frame, task, model)
    cells = {}
    for method, state in _STATE.items():
        mine = runs[runs["method"] == method]
        for side in SIDES if len(mine) else ():
            column = [mine[f"cd_p{q}_{side}"].mean() for q in QUANTILES]
            cells[state, side] = [*column, mine[f"tail_threshold_{side}"].mean()]
    rows = [*(f"{q}%" for q in QUANTILES), "threshold"]
    data = pd.DataFrame(cells, index=pd.Index(rows, name="quantile"))
    title = f"Counterfactual discrimination, {model} on {task}"
    return PaperTable("fig1", title, data, int(runs["repeat"].nunique()), "repeats", tuple(notes))


def fig2(
    frame: pd.DataFrame, *, task: str = "adult race", model: str = "dnn", points: int = 101
) -> PaperTable:
    """Give Figure 2: the densities of the fitted extreme value laws, on an even grid.

    Parameters of the laws are medians over the repeats; a tail without a law has no density.
    """
    runs, model, notes = _example(frame, task, model)
    laws = {}
    for method, state in _STATE.items():
        mine = runs[runs["method"] == method]
        for side in SIDES if len(mine) else ():
            names = [f"gev_{part}_{side}" for part in ("location", "scale", "shape")]
            law = mine[names].median().to_numpy()
            if np.isfinite(law).all():
                laws[state, side] = law
            else:
                notes.append(f"The {side} side of the {state} model has no law: no density.")
    if not laws:
        x = np.empty(0)
    else:
        known = np.array([*laws.values()])
        low = (known[:, 0] - 3 * known[:, 1]).min()
        high = (known[:, 0] + 6 * known[:, 1]).max()
        x = np.linspace(low, min(high, 1.0), points)
    with np.errstate(divide="ignore", over="ignore"):
        cells = {key: np.exp(gev_logpdf(x, *law)) for key, law in laws.items()}
    data = pd.DataFrame(cells, index=pd.Index(x, name="discrimination"))
    title = f"Density of the extreme value laws, {model} on {task}"
    return PaperTable("fig2", title, data, len(data), "points", tuple(notes))
