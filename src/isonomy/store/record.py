"""The result frame: one row per (run, metric), the same for our runs and the authors' files."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._validate import check_choice, listed
from isonomy.errors import InputError
from isonomy.metrics.joint import JointCounts

RUN: tuple[str, ...] = ("study", "dataset", "attributes", "model", "mitigator", "repeat")
"""The columns that name one run."""

COLUMNS: tuple[str, ...] = (*RUN, "metric", "value", "status", "reason")
"""Columns of a result frame, in order."""

STATUSES: tuple[str, ...] = ("ok", "skipped", "failed", "timeout")
"""The possible outcomes of a run."""

TIME: tuple[str, ...] = ("seconds", "cpu", "fit_cpu", "host")
"""What a run cost and where; the only things in which two equal runs may differ."""

_WORDS = tuple(name for name in COLUMNS if name not in ("repeat", "value"))


@dataclass(frozen=True)
class Record:
    """The result of one (model, mitigator) of one trial.

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
    settings : str
        The mitigator as it was run, ``prejudice_remover(eta=5)``; empty where its label says it.
    warnings : str
        What the method warned of, a line each.
    counts : JointCounts or None
        Test rows by joint group of all protected attributes, label, prediction of the original
        model and prediction, from which any metric of counts can be computed later.
    seconds, cpu, fit_cpu : float
        Wall and CPU time, and the CPU time inside the fits of learners. What several runs of a
        trial share is charged to the first of them, so that sums are right.
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
    settings: str = ""
    warnings: str = ""
    counts: JointCounts | None = None
    seconds: float = field(default=0.0, compare=False)
    cpu: float = field(default=0.0, compare=False)
    fit_cpu: float = field(default=0.0, compare=False)
    host: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        check_choice("status", self.status, STATUSES)
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
    """Return the result frame of records; one that is not ok has a row with an undefined value."""

    def block(record: Record) -> Block:
        named: dict[str, Any] = {name: getattr(record, name) for name in (*RUN, "status", "reason")}
        repeat = named.pop("repeat")
        values = np.array([*record.metrics.values()] or [np.nan], dtype=np.float64)
        return Block(
            **named,
            metrics=tuple(record.metrics) or ("",),
            values=values[:, None],
            repeats=None if repeat is None else range(repeat, repeat + 1),
        )

    return blocks_frame(map(block, records))


def blocks_frame(blocks: Iterable[Block]) -> pd.DataFrame:
    """Return the result frame of blocks of runs, without a Python loop over its rows."""
    blocks = list(blocks)
    sizes = [block.values.size for block in blocks]
    columns: dict[str, Any] = {}
    for name in _WORDS:
        words, times = [getattr(block, name, "") for block in blocks], sizes
        if name == "metric":
            words = [metric for block in blocks for metric in block.metrics]
            times = [block.values.shape[1] for block in blocks for _ in block.metrics]
        codes, categories = pd.factorize(np.array(words, dtype=object))
        columns[name] = pd.Categorical.from_codes(
            np.repeat(codes, np.array(times, dtype=np.int64)),
            categories=pd.Index(categories, dtype=str),
        )
    repeats = [
        np.tile(np.full(b.values.shape[1], -1) if b.repeats is None else b.repeats, len(b.metrics))
        for b in blocks
    ]
    numbers = np.concatenate([np.empty(0, dtype=np.int64), *repeats])
    columns["repeat"] = pd.arrays.IntegerArray(numbers, numbers < 0)
    columns["value"] = np.concatenate([np.empty(0), *(b.values.ravel() for b in blocks)])
    return pd.DataFrame({name: columns[name] for name in COLUMNS})


def combine(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Stack result frames; text columns stay categories."""
    if not frames:
        return blocks_frame([])
    return check_frame(pd.concat(frames, ignore_index=True))


def check_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a result frame with its columns in order and text as categories, or raise.

    A frame read from Parquet, CSV or SQL is converted to the same types.
    """
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        raise InputError(
            f"A result frame must have the columns {listed(COLUMNS, most=10)}; "
            f"{listed(missing, most=10)} is missing: see isonomy.store.record."
        )
    frame = frame[list(COLUMNS)].reset_index(drop=True)
    if frame["reason"].dtype != "category":  # a file writes an empty reason as null
        frame["reason"] = frame["reason"].fillna("")
    frame = frame.astype(
        {**dict.fromkeys(_WORDS, "category"), "repeat": "Int64", "value": "float64"}
    )
    for status in frame["status"].cat.categories:
        check_choice("status", status, STATUSES)
    return frame


def wide(frame: pd.DataFrame, metrics: Sequence[str] | None = None) -> pd.DataFrame:
    """Return one row per ok run and one column per metric.

    Parameters
    ----------
    frame : DataFrame
        A result frame.
    metrics : sequence of str, optional
        The metrics to return; all by default. ``|name|`` is also computed from a signed ``name``.

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
    present = [*frame["metric"].cat.remove_unused_categories().cat.categories]
    wanted = present if metrics is None else list(metrics)
    source = {m: m if m in present else m.strip("|") for m in wanted}
    absent = [m for m in wanted if source[m] not in present]
    if absent:
        holds = f"it holds {listed(present, most=20)}" if present else "it holds no run that is ok"
        raise InputError(f"The frame must hold the metric {listed(absent)}; {holds}.")
    frame = frame[frame["metric"].isin([*source.values()]).to_numpy()]
    # a mean over runs comes before the runs
    frame = frame.assign(repeat=frame["repeat"].fillna(-1).astype(np.int64))
    rows = frame[[*RUN, "metric"]]
    if rows.duplicated().any():
        run = rows[rows.duplicated()].iloc[0]
        raise InputError(
            f"A run must have one value of {run['metric']}; "
            f"{listed([str(run[name]) for name in RUN])} has several: read each file once."
        )
    table = frame.set_index([*rows])["value"].unstack()  # noqa: PD010 - pivot_table would average
    columns: dict[str, Any] = {m: table[source[m]].to_numpy() for m in wanted}
    runs = table.index.to_frame(index=False).astype({n: frame[n].dtype for n in RUN})
    runs["repeat"] = runs["repeat"].astype("Int64").mask(runs["repeat"] < 0)
    sizes = {m: np.abs(values) if m.startswith("|") else values for m, values in columns.items()}
    # in the order of the categories, as the frame's own: ties of ranks are broken by it
    runs = runs.assign(**sizes)
    return runs.sort_values([*RUN], ignore_index=True, na_position="first")


def magnitude(metric: str) -> str:
    """Return the name of the absolute value of a signed gap in a frame: ``|gap|``."""
    return f"|{metric}|"


# ---- a record as a store keeps it ----------------------------------------------------------------

_SQL: dict[Any, str] = {str: "VARCHAR", float: "DOUBLE", int | None: "BIGINT"}

RUN_FIELDS: dict[str, str] = {"key": "VARCHAR"} | {
    f.name: _SQL[f.type] for f in fields(Record) if f.type in _SQL
}
"""Columns of a run beside its metrics, with their SQL types."""

FIELDS: dict[str, str] = {
    "seq": "BIGINT",
    **RUN_FIELDS,
    "measured": "VARCHAR[]",
    "cells": "VARCHAR",
    "n": "DOUBLE[]",
    "w": "DOUBLE[]",
    "w2": "DOUBLE[]",
}
"""Columns of every shard, in order; after them comes one column per metric.

``seq`` counts the records of a store in the order of their arrival; ``measured`` names a
record's metrics, so that one which is undefined (null) differs from one that was not asked for;
``cells`` describes the axes of ``n``, ``w`` and ``w2``.
"""

_AXES = ("attributes", "groups", "classes", "favorable")
_CELLS = ("n", "w", "w2")
_TAKEN = {name.lower() for name in FIELDS}


def run_key(record: Record) -> str:
    """Return the key of a record; one without a key is identified by the run it names."""
    if record.key:
        return record.key
    named = json.dumps([getattr(record, name) for name in RUN])
    return "run-" + hashlib.sha256(named.encode()).hexdigest()[:32]


def encode(record: Record, seq: int) -> dict[str, Any]:
    """Return a record as plain values; metrics are stored under their own names."""
    doc: dict[str, Any] = {"seq": seq}
    for name, kind in RUN_FIELDS.items():
        value = getattr(record, name)
        doc[name] = _number(value) if kind == "DOUBLE" else value
    doc |= {"key": run_key(record), "measured": list(record.metrics)}
    joint = record.counts
    if joint is not None:
        doc["cells"] = _axes(joint)
        for name in _CELLS:
            cells = getattr(joint, name)
            doc[name] = None if cells is None else _short(cells)
    for name, value in record.metrics.items():
        if name.lower() in _TAKEN or not name:
            raise InputError(
                f"A metric must not be named like a column of the store; got {name!r}."
            )
        doc[name] = _number(value)
    return doc


def decode(row: Mapping[str, Any]) -> Record:
    """Return the record that was encoded."""
    named: dict[str, Any] = {
        name: _float(row[name]) if kind == "DOUBLE" else row[name]
        for name, kind in RUN_FIELDS.items()
        if row[name] is not None or kind != "VARCHAR"  # a field that an older store does not have
    }
    counts = None if row["cells"] is None else read_counts(row["cells"], row)
    metrics = {name: _float(row[name]) for name in row["measured"]}
    return Record(**named, metrics=metrics, counts=counts)


def _number(value: Any) -> float | str | None:
    """Return a number as JSON can hold it: undefined is null, an infinity is text."""
    value = float(value)
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else repr(value)


def _float(value: Any) -> float:
    return math.nan if value is None else float(value)


def _short(cells: Any) -> list[float | int]:
    """Write whole numbers without a decimal point; most cells are counts of rows."""
    return [int(v) if v == int(v) else v for v in np.asarray(cells, dtype=float).ravel().tolist()]


def _axes(joint: JointCounts) -> str:
    """Describe the axes of joint counts in one line, the same for all records of a dataset."""
    if joint.shape:
        raise InputError(
            f"The counts of a record must have no leading axes; these have {joint.shape}."
        )
    axes = {name: getattr(joint, name) for name in _AXES}
    axes["privileged"] = {name: tuple(values) for name, values in joint.privileged.items()}
    return json.dumps(axes, default=_plain, sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise InputError(
        f"Groups and classes must be text, numbers or booleans to be stored; got {value!r}."
    )


def read_counts(cells: str, arrays: Mapping[str, Any]) -> JointCounts:
    """Return joint counts from their axes and flat cells; leading axes may come first."""
    axes = json.loads(cells)
    privileged = {name: tuple(values) for name, values in axes.pop("privileged").items()}
    axes = {name: tuple(values) for name, values in axes.items()}
    axes["groups"] = tuple(map(tuple, axes["groups"]))
    shape = (len(axes["groups"]), *(len(axes["classes"]),) * 3)
    shaped: dict[str, Any] = {}
    for name in _CELLS:
        if arrays[name] is not None:
            flat = np.asarray(arrays[name], dtype=np.float64)
            shaped[name] = flat.reshape(*flat.shape[:-1], *shape)
    return JointCounts(**shaped, **axes, privileged=privileged)
