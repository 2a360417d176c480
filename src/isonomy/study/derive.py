"""Metrics that need not be written, because stored joint counts give them again.

Those of a run are functions of its counts. Those of a mutation baseline are means over draws,
which the counts of the original model and the seed repeat.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy._names import parse_name
from isonomy.metrics import get_metric
from isonomy.store.record import magnitude
from isonomy.store.writer import stacked_counts
from isonomy.study.measure import count_metrics, measure_mutation
from isonomy.study.spec import Study
from isonomy.tradeoff.mutation import check_degrees

SEPARATOR = "\x1f"
"""Between names of metrics in a text."""

_TOGETHER = 100
_POINT = ["dataset", "attributes", "model", "repeat", "strategy"]


def derivable(measured: str) -> str:
    r"""Return those metrics of a text of names that counts may give.

    Examples
    --------
    >>> derivable("accuracy\x1froc_auc\x1f|statistical_parity_difference|").split("\x1f")
    ['accuracy', '|statistical_parity_difference|']
    """
    known = {*count_metrics(), *map(magnitude, count_metrics())}
    return SEPARATOR.join(name for name in measured.split(SEPARATOR) if name in known)


def how_drawn(study: Study, runs: pd.DataFrame) -> "pd.Series[Any]":
    """Return for every point of a mutation baseline what its draws depend on; None for others."""
    drawn = pd.Series(None, index=runs.index, dtype=object)
    for method in study.methods:
        if not method.is_baseline:
            continue
        how, run = method.mutation, _POINT[:-1]
        points = runs[runs["mitigator"].isin(method.labels) & runs["repeat"].notna()]
        last = points[points["mitigator"] == method.labels[-1]]
        last = last.drop_duplicates(run).set_index(run)
        # where all predictions are overwritten, everybody or nobody is selected
        selected = last["selection_rate"].reindex(pd.MultiIndex.from_frame(points[run])).to_numpy()
        for label in ("random",) if how["strategy"] == "random" else (0, 1):
            drawn[points.index[(selected == label) | (label == "random")]] = json.dumps(
                {
                    "label": label,
                    "repetitions": int(how["repetitions"]),
                    "seed": study.seed,
                    "weighted_gaps": how["weights"] == "gaps",
                }
            )
    return drawn


def derive_metrics(runs: pd.DataFrame, metrics: Sequence[str]) -> Floats:
    """Compute metrics from counts.

    Parameters
    ----------
    runs : DataFrame
        ``dataset``, ``attributes``, ``model``, ``mitigator``, ``repeat``, ``cells``, ``n``, ``w``,
        ``w2``, ``computed`` (a text of the metrics to compute) and ``drawn`` (see
        :func:`how_drawn`), with a plain index.
    metrics : sequence of str
        The columns of the result; no other metric is computed.

    Returns
    -------
    ndarray of shape (runs, metrics)
        NaN where a metric is undefined, or not to be computed.
    """
    out = np.full((len(runs), len(metrics)), np.nan)
    at = {name: k for k, name in enumerate(metrics)}
    single = runs[runs["cells"].notna() & runs["drawn"].isna() & (runs["computed"] != "")]
    alike = ["cells", "attributes", "computed", single["w"].isna()]
    key: Any
    for key, some in single.groupby(alike, sort=False):
        _, attributes, computed, _ = key
        counts = stacked_counts(some).select(*attributes.split("+"))
        with np.errstate(all="ignore"):
            for name in at.keys() & computed.split(SEPARATOR):
                value = np.asarray(get_metric(name)(counts), dtype=np.float64)
                if value.shape == counts.shape:
                    out[some.index, at[name]] = value
    points = runs[runs["drawn"].notna()]
    if len(points) and any(named(points["computed"], metrics).flat):
        out[points.index] = _derive_baselines(points, list(metrics))
    return out


def named(texts: "pd.Series[Any]", metrics: Sequence[str]) -> NDArray[np.bool_]:
    """Return for each text and metric whether the text names the metric."""
    codes, unique = pd.factorize(texts)
    rows = [set(text.split(SEPARATOR)) for text in unique]
    return np.array([[m in row for m in metrics] for row in rows], dtype=bool)[codes]


def _derive_baselines(points: pd.DataFrame, metrics: list[str]) -> Floats:
    """Draw every baseline of some points again."""
    parts = {name: parse_name(name)[1] for name in points["mitigator"].unique()}
    points = points.assign(strategy=[str(parts[m]["strategy"]) for m in points["mitigator"]])
    originals = points[points["cells"].notna()].drop_duplicates(_POINT).reset_index(drop=True)
    degrees = check_degrees(None).tolist()
    wanted = [name for name in count_metrics() if {name, magnitude(name)} & set(metrics)]
    # one more original model, of which nothing is known
    means = np.full((len(originals) + 1, len(degrees), len(metrics)), np.nan)
    alike = ["cells", "attributes", "drawn", originals["w"].isna()]
    key: Any
    for key, some in originals.groupby(alike, sort=False):
        _, attributes, drawn, plain = key
        how = json.loads(drawn)
        for start in range(0, len(some), _TOGETHER):
            part = some.iloc[start : start + _TOGETHER]
            values = measure_mutation(
                stacked_counts(part).select(*attributes.split("+")),
                label=how["label"],
                repetitions=how["repetitions"],
                seeds=[
                    (how["seed"], int(repeat), dataset, model, strategy)
                    for dataset, _, model, repeat, strategy in part[_POINT].to_numpy().tolist()
                ],
                weighted_gaps=how["weighted_gaps"] and not plain,
                metrics=wanted,
            )
            for k, name in enumerate(metrics):
                if name in values:
                    means[part.index, :, k] = values[name].T
    where = pd.Series(originals.index, index=pd.MultiIndex.from_frame(originals[_POINT]))
    at = where.reindex(pd.MultiIndex.from_frame(points[_POINT]), fill_value=len(originals))
    degree = [degrees.index(parts[m]["degree"]) for m in points["mitigator"]]
    found = means[at.to_numpy(), degree]
    return np.where(named(points["computed"], metrics), found, np.nan)
