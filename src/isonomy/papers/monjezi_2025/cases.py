"""Runs of the study of tails as cases: means over the repeats of a model on a task, and its types."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from isonomy.counterfactual.extremes import ROUNDING
from isonomy.errors import InputError
from isonomy.papers.judge import one_study
from isonomy.papers.monjezi_2025.names import (
    GENERATOR,
    METHODS,
    MODELS,
    ORIGINAL,
    TASKS,
    labels_of,
    tasks_of,
)
from isonomy.store.record import wide
from isonomy.study.tails import SIDES
from isonomy.tails import published_type

Rows = Literal["real", "searched", "planned"]
"""Real rows only, or those of :mod:`isonomy.study.generated`: Algorithm 1's, or our plan's."""

_DIFFERENCES = {"ACD": "acd", "CVaR": "cvar", "ECD": "ecd", "ECD 1000": "ecd_1000"}
_OF_GROUP = [
    *("cd_rows", "cd_max", "gev_location", "gev_scale", "gev_shape", "gev_error", "tail_threshold"),
    *("gpd_scale", "gpd_shape", "gpd_low", "gpd_high", "tail_distinct", "tail_horizon"),
    *("cv_raw", "cv_residual", "level_1000"),
]


def runs_of(frame: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Return the runs of the paper's tasks that are ok, one per row, with ``task`` and the metrics.

    Rows are in the order of the paper: models, tasks, methods, repeats.
    """
    table = wide(one_study(models_of(frame)), metrics)
    table["task"] = pd.Categorical(tasks_of(table), [*TASKS])
    table["model"] = pd.Categorical(table["model"].astype(str), MODELS)
    table["method"] = pd.Categorical(labels_of(table["mitigator"]), [ORIGINAL, *METHODS])
    table = table.dropna(subset=["task", "model", "method"])
    if table.empty:
        raise InputError(
            "The frame must hold runs of the paper's tasks; it holds none: run the study "
            "monjezi_2025 first."
        )
    return table.sort_values(["model", "task", "method", "repeat"], ignore_index=True)


def models_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the records about models, without those about generated rows."""
    return frame[(frame["model"] != GENERATOR).to_numpy()]


def with_rows(frame: pd.DataFrame, metrics: Sequence[str], rows: Rows) -> pd.DataFrame:
    """Return runs with the metrics of tails, those of generated rows where a run has such rows.

    ``made_privileged`` and ``made_unprivileged`` are the numbers of generated rows; NaN where they
    could not be generated, because an extra was not installed.
    """
    counts = {f"{rows}_rows_{side}": f"made_{side}" for side in SIDES}
    held = set(frame["metric"].cat.categories[frame["metric"].cat.codes.unique()])
    if not held >= set(counts):
        return runs_of(frame, metrics).assign(**dict.fromkeys(counts.values(), 0.0))
    more = [f"{rows}_{metric}" for metric in metrics if f"{rows}_{metric}" in held]
    table = runs_of(frame, [*metrics, *more, *counts]).rename(columns=counts)
    made = table[[*counts.values()]].gt(0)
    for name in more:
        metric = name.removeprefix(f"{rows}_")
        side = next((side for side in SIDES if metric.endswith(f"_{side}")), None)
        there = made.any(axis=1) if side is None else made[f"made_{side}"]
        table[metric] = table[metric].where(~there, table[name])
    return table.drop(columns=more)


def means_of(table: pd.DataFrame, by: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """Return means over runs; what is undefined in some run has none."""
    grouped = table[[*columns]].groupby([table[name].astype(str) for name in by], sort=False)
    return grouped.mean().where(grouped.count().eq(grouped.size(), axis=0))


def groups_of(frame: pd.DataFrame, rows: Rows = "real") -> pd.DataFrame:
    """Return the original models' tails by (model, task, group): medians over the repeats, and types.

    Medians, because a mean of shapes says little; ``type`` is the paper's rule on the shape of its
    law, ``evidence`` ours on the limits of the shape of the peaks. A group that nobody is
    disadvantaged in has no tail of discrimination: both are ``none``, whatever law its smallest
    advantages follow. ``made`` is the number of generated rows.
    """
    table = with_rows(frame, [f"{metric}_{side}" for side in SIDES for metric in _OF_GROUP], rows)
    cases = table[table["method"] == ORIGINAL].groupby(["model", "task"], observed=True)
    parts = []
    for number, side in enumerate(SIDES, 1):
        part = cases[[f"{metric}_{side}" for metric in (*_OF_GROUP, "made")]].median()
        part = part.set_axis([*_OF_GROUP, "made"], axis=1).assign(group=number)
        parts.append(part.set_index("group", append=True))
    out = pd.concat(parts).sort_index()
    nobody = out["cd_max"] <= ROUNDING
    out["type"] = [published_type(shape) or "none" for shape in out["gev_shape"].mask(nobody)]
    limits = out[["gpd_low", "gpd_high"]].mask(nobody)
    out["evidence"] = type_by_limits(limits["gpd_low"], limits["gpd_high"])
    out["gpd_error"] = (out["gpd_high"] - out["gpd_low"]) / 2
    return out


def type_by_limits(low: ArrayLike, high: ArrayLike) -> NDArray[np.str_]:
    """Return the type of tails by the limits of their shape; ``none`` where there are none.

    Examples
    --------
    >>> type_by_limits([-0.3, -0.1, 0.2, np.nan], [-0.1, 0.1, 0.4, np.nan]).tolist()
    ['III', 'I', 'II', 'none']
    """
    low, high = np.asarray(low), np.asarray(high)
    undefined = np.isnan(low) | np.isnan(high)
    return np.select([undefined, high < 0, low > 0], ["none", "III", "II"], "I")


def cases_of(frame: pd.DataFrame, rows: Rows = "real") -> pd.DataFrame:
    """Return ACD, CVaR, ECD and ECD at one horizon by (model, task), means over the repeats."""
    table = with_rows(frame, [*_DIFFERENCES.values()], rows)
    out = means_of(table[table["method"] == ORIGINAL], ["model", "task"], [*_DIFFERENCES.values()])
    return out.set_axis([*_DIFFERENCES], axis=1).assign(locations=out["ecd"])
