"""The case of the paper's section II, one network on one task: Table I, Figures 1 and 2."""

import numpy as np
import pandas as pd

from isonomy.errors import InputError
from isonomy.papers.monjezi_2025.cases import Rows, with_rows
from isonomy.papers.monjezi_2025.names import MODELS, ORIGINAL
from isonomy.papers.monjezi_2025.transcript import printed, printed_two, two_decimals
from isonomy.papers.table import PaperTable
from isonomy.study.tails import HORIZONS, QUANTILES, SIDES
from isonomy.tails import gev_logpdf

_LAW = ["gev_location", "gev_scale", "gev_shape"]
_LEVELS = [f"level_{m}" for m in HORIZONS]
_QUANTILES = [*(f"cd_p{q}" for q in QUANTILES), "tail_threshold"]
_STATES = {ORIGINAL: "original", "EG": "mitigated"}
_GROUPS = ("White", "Black")

EXAMPLE = "adult race"
"""The task of section II."""

Runs = dict[tuple[str, str], pd.DataFrame]


def _example(
    frame: pd.DataFrame, task: str, model: str, metrics: list[str], rows: Rows = "real"
) -> tuple[Runs, str, list[str]]:
    """Return the runs of one case by (state, side), their model, and notes.

    Where the network was not run, another model takes its place, and a note says so.
    """
    names = [f"{metric}_{side}" for metric in metrics for side in SIDES]
    runs = with_rows(frame, names, rows)
    runs = runs[(runs["task"] == task) & runs["method"].isin([*_STATES])]
    present = [m for m in MODELS if (runs["model"] == m).any()]
    if not present:
        raise InputError(f"The frame must hold runs on {task}; it holds none: run that task.")
    notes = []
    if model not in present:
        notes.append(f"There is no run of {model} on {task}: this is {present[0]}.")
        model = present[0]
    parts: Runs = {}
    for method, state in _STATES.items():
        part = runs[(runs["model"] == model) & (runs["method"] == method)]
        if part.empty:
            notes.append(f"There is no run of the {state} model.")
            continue
        for side in SIDES:
            own = part[[f"{metric}_{side}" for metric in metrics]].set_axis(metrics, axis=1)
            parts[state, side] = own.set_index(part["repeat"])
    return parts, model, notes


def _both(
    frame: pd.DataFrame, task: str, model: str, metrics: list[str]
) -> tuple[Runs, str, list[str]]:
    """Return the runs of one case from real rows and, where Algorithm 1 made any, with its rows."""
    parts, model, notes = _example(frame, task, model, metrics)
    more, _, _ = _example(frame, task, model, metrics, "searched")
    changed = {state for state, side in parts if not more[state, side].equals(parts[state, side])}
    for state, side in [key for key in more if key[0] in changed]:
        parts[f"{state}, generated rows", side] = more[state, side]
    if not changed:
        notes.append("Algorithm 1 adds no rows to this case, so that real rows are all there are.")
    return parts, model, notes


def _repeats(parts: Runs) -> int:
    return len(set().union(*(part.index for part in parts.values())))


def table1(frame: pd.DataFrame, *, task: str = EXAMPLE, model: str = "dnn") -> PaperTable:
    """Return Table I: return levels of the original and the EG-mitigated model, by queries.

    Levels are those of peaks over a threshold; the printed ones of the original network follow
    from the same formula with the text's parameters, those of the mitigated one from none.
    """
    parts, model, notes = _example(frame, task, model, _LEVELS)
    names = dict(zip(SIDES, _GROUPS if task == EXAMPLE else SIDES, strict=True))
    cells = {(state, names[side]): part.mean() for (state, side), part in parts.items()}
    data = pd.DataFrame(cells).set_axis(pd.Index(HORIZONS, name="queries"))
    theirs = None
    if (task, model) == (EXAMPLE, "dnn"):
        text = printed("table1")
        states = text.index.get_level_values("model")
        columns = {key: text[key[1]][states == key[0]].to_numpy() for key in cells}
        theirs = printed_two(pd.DataFrame(columns, index=data.index))
    title = f"Return levels of counterfactual discrimination, {model} on {task}"
    return PaperTable(
        "table1", title, data, _repeats(parts), "repeats", tuple(notes), theirs, two_decimals
    )


def fig1(frame: pd.DataFrame, *, task: str = EXAMPLE, model: str = "dnn") -> PaperTable:
    """Return Figure 1: the counterfactual discrimination of both groups, as quantiles.

    The paper draws every row; a result frame keeps eleven quantiles and the threshold.
    """
    parts, model, notes = _both(frame, task, model, _QUANTILES)
    rows = pd.Index([*(f"{q}%" for q in QUANTILES), "threshold"], name="quantile")
    data = pd.DataFrame({key: part.mean() for key, part in parts.items()}).set_axis(rows)
    title = f"Counterfactual discrimination, {model} on {task}"
    return PaperTable("fig1", title, data, _repeats(parts), "repeats", tuple(notes))


def fig2(
    frame: pd.DataFrame, *, task: str = EXAMPLE, model: str = "dnn", points: int = 101
) -> PaperTable:
    """Return Figure 2: the densities of the fitted extreme value laws, on an even grid.

    Parameters of the laws are medians over the repeats; a tail without a law has no density.
    """
    parts, model, notes = _both(frame, task, model, _LAW)
    laws = {key: part.median().to_numpy() for key, part in parts.items()}
    for state, side in [key for key, law in laws.items() if not np.isfinite(law).all()]:
        del laws[state, side]
        notes.append(f"The {side} side of the {state} model has no law: no density.")
    x = np.empty(0)
    if laws:
        location, scale, _ = np.array([*laws.values()]).T
        high = min((location + 6 * scale).max(), 1.0)
        x = np.linspace((location - 3 * scale).min(), high, points)
    with np.errstate(divide="ignore", over="ignore"):
        cells = {key: np.exp(gev_logpdf(x, *law)) for key, law in laws.items()}
    data = pd.DataFrame(cells, index=pd.Index(x, name="discrimination"))
    title = f"Density of the extreme value laws, {model} on {task}"
    return PaperTable("fig2", title, data, len(data), "points", tuple(notes))
