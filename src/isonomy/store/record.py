"""The result frame: one row per (run, metric), the same for our runs and the authors' files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import union_categoricals

from isonomy._validate import listed
from isonomy.errors import InputError
from isonomy.metrics.joint import JointCounts

__all__ = [
    "Block",
    "COLUMNS",
    "RUN",
    "Record",
    "STATUSES",
    "TIME",
    "blocks_frame",
    "check_frame",
    "combine",
    "magnitude",
    "records_frame",
    "wide",
]

COLUMNS: tuple[str, ...] = (
    "study",
    "dataset",
    "attributes",
    "model",
    "mitigator",
    "repeat",
    "metric",
    "value",
    "status",
    "reason",
)
"""Columns of a result frame, in order."""

RUN: tuple[str, ...] = ("study", "dataset", "attributes", "model", "mitigator", "repeat")
"""The columns that name one run."""

STATUSES: tuple[str, ...] = ("ok", "skipped", "failed", "timeout")
"""What can become of a run."""

TIME: tuple[str, ...] = ("seconds", "cpu", "fit_cpu", "host")
"""What a run cost and where; the only things in which two equal runs may differ."""

_WORDS = ("study", "dataset", "attributes", "model", "mitigator", "metric", "status", "reason")


@dataclass(frozen=True)
class Record:
    """What one (model, mitigator) of one trial gave.

    Attributes
    ----------
    study, dataset, attributes, model, mitigator : str
        House names; several attributes are joined by ``+``, variants are written
        ``reject_option(metric=spd)``.
    repeat : int or None
        Number of the run, from 0; None for a mean over runs.
    metrics : mapping of str to float
        Values by metric name; an undefined one is NaN.
    status : {"ok", "skipped", "failed", "timeout"}
    reason : str
        Why it is not ok, or what must be known about it.
    key : str
        Hash of everything that decides the outcome: what a resumed study compares.
    preparation, splitter : str
        How the data were prepared and split.
    rows : str
        Hash of the positions of the test rows: paired tests refuse runs in which it differs.
    counts : JointCounts or None
        Test rows by joint group of all protected attributes, label, prediction of the original
        model and prediction, from which any metric of counts can be computed later.
    seconds, cpu, fit_cpu : float
        Wall and CPU time, and the CPU time inside the fits of learners. What several runs of a
        trial share is booked on the first of them, so that sums are right.
    host : str
        The machine.

    Examples
    --------
    >>> run = Record("demo", "adult", "sex", "lr", "reweighing", 0, {"accuracy": 0.84})
    >>> records_frame([run])[["mitigator", "metric", "value"]].values.tolist()
    [['reweighing', 'accuracy', 0.84]]
    """

    study: str
    dataset: str
    attributes: str
    model: str
    mitigator: str
    repeat: int | None
    metrics: Mapping[str, float] = field(default_factory=dict)
    status: str = "ok"
    reason: str = ""
    key: str = ""
    preparation: str = ""
    splitter: str = ""
    rows: str = ""
    counts: JointCounts | None = None
    seconds: float = field(default=0.0, compare=False)
    cpu: float = field(default=0.0, compare=False)
    fit_cpu: float = field(default=0.0, compare=False)
    host: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise InputError(f"status must be one of {listed(STATUSES)}; got {self.status!r}.")
        if self.status != "ok" and not self.reason:
            raise InputError(f"A run that is {self.status} must say why; its reason is empty.")


@dataclass(frozen=True)
class Block:
    """Many runs of one (study, dataset, attributes, model, mitigator): ``values[metric, repeat]``.

    ``repeats`` None means that the values are one mean over runs.
    """

    study: str
    dataset: str
    attributes: str
    model: str
    mitigator: str
    metrics: tuple[str, ...]
    values: NDArray[np.float64]
    repeats: range | None
    status: str = "ok"
    reason: str = ""


def records_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Give the result frame of records; one that is not ok keeps a row with an undefined value."""
    return blocks_frame(
        Block(
            r.study,
            r.dataset,
            r.attributes,
            r.model,
            r.mitigator,
            tuple(r.metrics) or ("",),
            np.array([*r.metrics.values()] or [np.nan], dtype=np.float64)[:, None],
            None if r.repeat is None else range(r.repeat, r.repeat + 1),
            r.status,
            r.reason,
        )
        for r in records
    )


def blocks_frame(blocks: Iterable[Block]) -> pd.DataFrame:
    """Give the result frame of blocks of runs, without a Python loop over its rows."""
    blocks = list(blocks)
    sizes = np.array([b.values.size for b in blocks], dtype=np.int64)
    columns: dict[str, Any] = {}
    for name in _WORDS:
        if name != "metric":
            codes, words = _coded([getattr(b, name) for b in blocks])
            columns[name] = pd.Categorical.from_codes(np.repeat(codes, sizes), categories=words)
    metrics: dict[str, int] = {}
    for b in blocks:
        for metric in b.metrics:
            metrics.setdefault(metric, len(metrics))
    numbered = {
        m: np.array([metrics[x] for x in m], dtype=np.int32) for m in {b.metrics for b in blocks}
    }
    none = np.empty(0)
    metric_codes = [np.repeat(numbered[b.metrics], b.values.shape[1]) for b in blocks]
    columns["metric"] = pd.Categorical.from_codes(
        np.concatenate([none.astype(np.int32), *metric_codes]),
        categories=pd.Index([*metrics], dtype=str),
    )
    repeats = [
        np.tile(np.full(b.values.shape[1], -1) if b.repeats is None else b.repeats, len(b.metrics))
        for b in blocks
    ]
    numbers = np.concatenate([none.astype(np.int64), *repeats])
    columns["repeat"] = pd.arrays.IntegerArray(numbers, numbers < 0)
    columns["value"] = np.concatenate([none, *(b.values.ravel() for b in blocks)])
    return pd.DataFrame({name: columns[name] for name in COLUMNS})


def _coded(values: Sequence[str]) -> tuple[NDArray[np.int32], pd.Index]:
    seen: dict[str, int] = {}
    codes = np.array([seen.setdefault(v, len(seen)) for v in values], dtype=np.int32)
    return codes, pd.Index([*seen], dtype=str)


def combine(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Stack result frames, keeping their words as categories."""
    if not frames:
        return blocks_frame([])
    frames = [check_frame(f) for f in frames]
    return pd.DataFrame(
        {
            name: union_categoricals([f[name] for f in frames])
            if name in _WORDS
            else pd.concat([f[name] for f in frames], ignore_index=True)
            for name in COLUMNS
        }
    )


def check_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Give a result frame with its columns in order and its words as categories, or raise.

    A frame read from Parquet, CSV or SQL is brought to the same types.
    """
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        raise InputError(
            f"A result frame must have the columns {listed(COLUMNS, most=10)}; "
            f"{listed(missing, most=10)} is missing: see isonomy.store.record."
        )
    columns: dict[str, Any] = {}
    for name in COLUMNS:
        column = frame[name].reset_index(drop=True)
        if name in _WORDS:
            if column.dtype != "category":
                # a store writes no reason as null
                column = (column.fillna("") if name == "reason" else column).astype("category")
            columns[name] = column
        elif name == "repeat":
            columns[name] = column.astype("Int64")
        else:
            columns[name] = column.astype("float64")
    odd = set(columns["status"].cat.categories) - set(STATUSES)
    if odd:
        raise InputError(f"status must be one of {listed(STATUSES)}; got {listed(sorted(odd))}.")
    return pd.DataFrame(columns)


def wide(frame: pd.DataFrame, metrics: Sequence[str] | None = None) -> pd.DataFrame:
    """Give one row per ok run and one column per metric.

    Parameters
    ----------
    frame : DataFrame
        A result frame.
    metrics : sequence of str, optional
        The metrics wanted; all by default. ``|name|`` is also made from a signed ``name``.

    Examples
    --------
    >>> runs = [
    ...     Record("demo", "adult", "sex", "lr", "reweighing", i, {"accuracy": a, "gap": -a / 10})
    ...     for i, a in enumerate((0.5, 0.25))
    ... ]
    >>> wide(records_frame(runs), ["accuracy", "|gap|"])[["accuracy", "|gap|"]].values.tolist()
    [[0.5, 0.05], [0.25, 0.025]]
    """
    frame = check_frame(frame)
    frame = frame[(frame["status"] == "ok").to_numpy()]
    names = frame["metric"].cat.categories
    used = [names[i] for i in np.unique(frame["metric"].cat.codes.to_numpy())]
    wanted = list(used) if metrics is None else list(metrics)
    source = {m: m if m in used else m.strip("|") for m in wanted}
    absent = [m for m in wanted if source[m] not in used]
    if absent:
        held = f"it holds {listed(used, most=20)}" if used else "it holds no run that is ok"
        raise InputError(f"The frame must hold the metric {listed(absent)}; {held}.")
    keep = frame["metric"].isin([*set(source.values())]).to_numpy()
    frame = frame[keep]
    key = np.zeros(len(frame), dtype=np.int64)
    for name in RUN:
        if name == "repeat":
            part = frame[name].fillna(-1).to_numpy(dtype=np.int64) + 1
            count = int(part.max(initial=0)) + 1
        else:
            part, count = frame[name].cat.codes.to_numpy(), len(frame[name].cat.categories)
        key = key * max(count, 1) + part
    runs, first, where = np.unique(key, return_index=True, return_inverse=True)
    columns: dict[str, Any] = {name: frame[name].iloc[first].reset_index(drop=True) for name in RUN}
    codes = frame["metric"].cat.codes.to_numpy()
    values = frame["value"].to_numpy()
    for metric in wanted:
        mine = codes == names.get_loc(source[metric])
        rows = where[mine]
        if np.unique(rows).size != rows.size:
            twice = frame[mine].iloc[int(np.argmax(np.bincount(rows)[rows] > 1))]
            raise InputError(
                f"A run must have one value of {source[metric]}; "
                f"{listed([str(twice[n]) for n in RUN])} has several: read each file once."
            )
        column = np.full(runs.size, np.nan)
        column[rows] = values[mine]
        columns[metric] = np.abs(column) if metric.startswith("|") else column
    return pd.DataFrame(columns)


def magnitude(metric: str) -> str:
    """Give the name under which the size of a signed gap stands in a frame: ``|gap|``."""
    return f"|{metric}|"
