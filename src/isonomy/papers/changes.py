"""What methods change, task by task and model by model: means, a rank test, an effect size.

The studies of several attributes count such changes: a *case* is a (task, model, metric) of one
method, beside the original model or beside another method.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from isonomy._arrays import Floats, divide
from isonomy.papers.cells import CELL
from isonomy.papers.judge import known_mean
from isonomy.stats import cliffs_delta, mann_whitney

ALPHA = 0.05
"""Significance level of a change."""

LARGE = 0.428
"""The studies' limit of a large effect, of Cliff's delta."""

_PLACE = [*CELL[:3]]


def everywhere(runs: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """Let runs beside ``lr`` stand for every model of the task: these methods bring their own.

    Examples
    --------
    >>> names = ["dataset", "attributes", "model", "mitigator", "repeat"]
    >>> rows = [["d", "a", *x, 0] for x in (("lr", "own"), ("lr", "base"), ("rf", "base"))]
    >>> everywhere(pd.DataFrame(rows, columns=names), ["own"])["model"].tolist()
    ['lr', 'rf', 'lr', 'rf']
    """
    runs = runs.astype(dict.fromkeys(CELL, str))
    own = runs["mitigator"].isin(methods)
    models = runs[~own][_PLACE].drop_duplicates()
    # runs of ours stand beside every model already
    once = runs[own].drop_duplicates([*_PLACE[:2], "mitigator", "repeat"])
    copies = once.drop(columns="model").merge(models, on=_PLACE[:2])
    return pd.concat([runs[~own], copies[runs.columns]], ignore_index=True)


def changes(
    runs: pd.DataFrame,
    metrics: Mapping[str, str],
    methods: Mapping[str, str],
    *,
    before: str = "unmitigated",
) -> pd.DataFrame:
    """Compare the runs of methods with those of the original model or of another method.

    Parameters
    ----------
    runs : DataFrame
        One row per run and one column per metric, as :func:`isonomy.store.record.wide` returns.
    metrics, methods : mapping
        Their names in the frame by the paper's labels.
    before : str
        What is compared with.

    Returns
    -------
    DataFrame
        A row per case: dataset, attributes, model, method, metric, runs, the means before and
        after, change, p (two-sided Mann-Whitney; 1 where all values are equal), delta (Cliff's).
    """
    labels = {name: label for label, name in methods.items()}
    kept = runs[runs["mitigator"].astype(str).isin([before, *labels])]
    columns = [*metrics.values()]
    held = {
        tuple(map(str, key)): part.sort_values("repeat")[columns].to_numpy(dtype=np.float64)
        for key, part in kept.groupby([*CELL], observed=True, sort=False)
    }
    pairs = [
        (key, labels[key[3]])
        for key in held
        if key[3] in labels and (*key[:3], before) in held and key[3] != before
    ]
    if not pairs:
        return pd.DataFrame(columns=[*_PLACE, "method", "metric", *_NUMBERS])
    after = _laid([held[key] for key, _ in pairs])
    first = _laid([held[*key[:3], before] for key, _ in pairs])
    p = mann_whitney(after, first, nan="omit").pvalue
    means = known_mean(first), known_mean(after)
    shape = means[0].shape  # [case, metric]
    out = pd.DataFrame(
        [(*key[:3], label) for key, label in pairs for _ in metrics],
        columns=[*_PLACE, "method"],
    )
    out["metric"] = np.tile([*metrics], shape[0])
    numbers = (
        np.minimum(np.isfinite(first).sum(-1), np.isfinite(after).sum(-1)),
        *means,
        means[1] - means[0],
        np.where(np.isnan(p) & np.isfinite(means[0] + means[1]), 1.0, p),
        cliffs_delta(after, first, nan="omit"),
    )
    return out.assign(**dict(zip(_NUMBERS, (v.ravel() for v in numbers), strict=True)))


_NUMBERS = ("runs", "before", "after", "change", "p", "delta")


def _laid(parts: list[Floats]) -> Floats:
    """Return ``values[part, metric, run]``, with NaN where a part has fewer runs."""
    most = max(len(part) for part in parts)
    out = np.full((len(parts), parts[0].shape[1], most), np.nan)
    for i, part in enumerate(parts):
        out[i, :, : len(part)] = part.T
    return out


def relative(table: pd.DataFrame) -> Floats:
    """Return the changes as shares of the means before."""
    return divide(table["change"].to_numpy(), table["before"].to_numpy())


def direction(table: pd.DataFrame) -> pd.DataFrame:
    """Return which cases rise and which fall significantly; the others are ties."""
    sure = table["p"] < ALPHA
    return pd.DataFrame({"in": sure & (table["change"] > 0), "de": sure & (table["change"] < 0)})


def large(table: pd.DataFrame) -> "pd.Series[bool]":
    """Return which cases change significantly and by a large effect."""
    return (table["p"] < ALPHA) & (table["delta"].abs() >= LARGE)
