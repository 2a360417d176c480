"""From one row per run to the result frame, without a Python loop over its rows."""

from typing import Any

import numpy as np
import pandas as pd

from isonomy.store.record import COLUMNS

__all__ = ["SEPARATOR", "long_frame"]

SEPARATOR = "\x1f"
"""Parts the names of a run's metrics; no metric has it in its name."""


def long_frame(runs: pd.DataFrame, metrics: list[str]) -> pd.DataFrame:
    """Give the result frame of wide runs.

    Parameters
    ----------
    runs : DataFrame
        The words of each run, ``repeat`` (-1 for none), a column per metric, and ``measured``:
        the names of its metrics, in order, parted by the separator.
    metrics : list of str
        The columns of metrics.
    """
    number = {name: i for i, name in enumerate(metrics)}
    which, lists = pd.factorize(runs["measured"].to_numpy(dtype=object))
    # a run without metrics keeps one row, whose metric is the empty name behind all others
    coded = [
        np.array([number[m] for m in text.split(SEPARATOR)] if text else [len(metrics)])
        for text in lists
    ]
    lengths = np.array([c.size for c in coded], dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    flat = np.concatenate([np.empty(0, dtype=np.int64), *coded])
    sizes = lengths[which]
    row = np.repeat(np.arange(len(runs)), sizes)
    place = np.arange(row.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    column = flat[starts[which][row] + place]
    values = np.full((len(runs), len(metrics) + 1), np.nan)
    if metrics:
        values[:, :-1] = runs[metrics].to_numpy(dtype=np.float64)
    # categories in the order of the frame, whatever order the metrics arrived in
    order, codes = np.unique(column, return_index=True)
    order = order[np.argsort(codes)]
    rank = np.empty(len(metrics) + 1, dtype=np.int32)
    rank[order] = np.arange(order.size)
    names = pd.Index([[*metrics, ""][i] for i in order], dtype=str)
    out: dict[str, Any] = {}
    for name in COLUMNS:
        if name == "metric":
            out[name] = pd.Categorical.from_codes(rank[column], categories=names)
        elif name == "value":
            out[name] = values[row, column]
        elif name == "repeat":
            repeats = runs[name].to_numpy(dtype=np.int64)[row]
            out[name] = pd.arrays.IntegerArray(repeats, repeats < 0)
        else:
            word, words = pd.factorize(runs[name].to_numpy(dtype=object), sort=True)
            out[name] = pd.Categorical.from_codes(
                word[row].astype(np.int32), categories=pd.Index(words, dtype=str)
            )
    return pd.DataFrame(out)
