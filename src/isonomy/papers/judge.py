"""Runs of a result frame against the mutation baselines of the same frame."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._arrays import Floats, divide
from isonomy._names import base_name, parse_name
from isonomy._validate import listed
from isonomy.errors import InputError
from isonomy.papers.archive import BASELINE
from isonomy.store.record import wide
from isonomy.tradeoff.regions import UNDEFINED, Placed, Rule, place

TASK: tuple[str, ...] = ("dataset", "attributes", "model")
"""The columns a baseline belongs to."""


@dataclass(frozen=True)
class Curves:
    """Mutation baselines: ``values[metric][curve, degree]``, one curve for each of ``tasks``."""

    tasks: tuple[tuple[str, ...], ...]
    degrees: Floats
    values: Mapping[str, Floats]

    def rows(self, table: pd.DataFrame) -> NDArray[np.intp]:
        """Return the curve of each row of a table, -1 where there is none."""
        known = pd.MultiIndex.from_tuples(self.tasks, names=TASK)
        asked = pd.MultiIndex.from_arrays([table[c].astype(str) for c in TASK], names=TASK)
        return known.get_indexer(asked)

    def falling(self, performance: str) -> NDArray[np.bool_]:
        """Return which curves lose performance by mutation: the others are no baseline.

        An original model below the constant one can only gain by mutation; the regions have no
        meaning there (Fairea, section 4.1).
        """
        line = self.values[performance]
        return line[:, 0] > line[:, -1]

    def place(self, table: pd.DataFrame, performance: str, bias: str, *, rule: Rule) -> Placed:
        """Return the region of each row, -1 without a baseline for it, and the area where good."""
        codes = np.full(len(table), UNDEFINED, dtype=np.int8)
        sizes = np.full(len(table), np.nan)
        if len(table) and self.tasks:
            curve = self.rows(table)
            has = curve >= 0
            points = (table[performance].to_numpy()[has], table[bias].to_numpy()[has])
            lines = (self.values[performance][curve[has]], self.values[bias][curve[has]])
            codes[has], sizes[has] = place(*points, *lines, rule=rule)
        return Placed(codes, sizes)


def known_mean(values: Floats, axis: int | tuple[int, ...] = -1) -> Floats:
    """Return the mean of the values that are known; NaN where none is."""
    known = np.isfinite(values)
    return divide(np.where(known, values, 0.0).sum(axis=axis), known.sum(axis=axis))


def one_study(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame, or raise where it mixes several studies' runs."""
    names = sorted({str(name) for name in frame["study"].unique()})
    if len(names) > 1:
        raise InputError(
            f"The tables must come from one study's runs; the frame holds {listed(names)}: "
            "select one by its column study."
        )
    return frame


def is_baseline(frame: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which rows are points of a mutation baseline."""
    words = frame["mitigator"].astype("category")
    mutated = [base_name(str(c)) == BASELINE for c in words.cat.categories]
    return np.asarray(mutated, dtype=bool)[words.cat.codes]


def runs_of(frame: pd.DataFrame, metrics: list[str]) -> pd.DataFrame:
    """Return the runs of a frame, one per row, without its baselines."""
    return wide(one_study(frame)[~is_baseline(frame)], metrics)


def curves_of(frame: pd.DataFrame, metrics: list[str], *, strategy: str = "majority") -> Curves:
    """Return the baselines of a frame, by the strategy of their mutation.

    Where a frame holds a baseline's points repeat by repeat, as our own runs do, their means over
    the repeats are the baseline; the authors published such means.
    """
    baselines = one_study(frame)[is_baseline(frame)]
    empty = Curves((), np.empty(0), {m: np.empty((0, 0)) for m in metrics})
    if baselines.empty:
        return empty
    table = wide(baselines, metrics)
    parts = [parse_name(str(name))[1] for name in table["mitigator"]]
    table["degree"] = [float(p["degree"]) for p in parts]
    table = table[[p.get("strategy", "majority") == strategy for p in parts]]
    if table.empty:
        return empty
    tasks = [tuple(map(str, key)) for key in table[list(TASK)].itertuples(index=False)]
    table = table.assign(task=pd.Categorical(tasks))
    degrees = np.unique(table["degree"])
    values = {}
    for metric in metrics:
        # the authors' files hold a mean over splits, our runs one baseline per split
        square = table.pivot_table(
            index="task", columns="degree", values=metric, aggfunc="mean", observed=True
        )
        values[metric] = square.to_numpy(dtype=np.float64)
    return Curves(tuple(square.index), degrees, values)
