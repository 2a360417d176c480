"""A record as a store keeps it: plain values, undefined as null, the joint counts as lists."""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from isonomy.errors import InputError
from isonomy.metrics.joint import JointCounts
from isonomy.store.record import RUN, Record

__all__ = ["FIELDS", "RUN_FIELDS", "decode", "encode", "number", "read_counts", "run_key"]

RUN_FIELDS: dict[str, str] = {
    "key": "VARCHAR",
    "study": "VARCHAR",
    "dataset": "VARCHAR",
    "attributes": "VARCHAR",
    "model": "VARCHAR",
    "mitigator": "VARCHAR",
    "repeat": "BIGINT",
    "status": "VARCHAR",
    "reason": "VARCHAR",
    "preparation": "VARCHAR",
    "splitter": "VARCHAR",
    "rows": "VARCHAR",
    "seconds": "DOUBLE",
    "cpu": "DOUBLE",
    "fit_cpu": "DOUBLE",
    "host": "VARCHAR",
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
record's metrics, so that one which is undefined (null) can be told from one that was not asked
for; ``cells`` describes the axes of ``n``, ``w`` and ``w2``.
"""

_TAKEN = {name.lower() for name in FIELDS}


def run_key(record: Record) -> str:
    """Give the key of a record; one that came without is known by the run it names."""
    if record.key:
        return record.key
    named = json.dumps([getattr(record, name) for name in RUN])
    return "run-" + hashlib.sha256(named.encode()).hexdigest()[:32]


def encode(record: Record, seq: int) -> dict[str, Any]:
    """Give a record as plain values; metrics stand under their own names."""
    doc: dict[str, Any] = {"seq": seq, "key": run_key(record)}
    for name, kind in RUN_FIELDS.items():
        if name != "key":
            value = getattr(record, name)
            doc[name] = number(value) if kind == "DOUBLE" else value
    doc["measured"] = list(record.metrics)
    joint = record.counts
    if joint is not None:
        doc["cells"] = _axes(joint)
        for name in ("n", "w", "w2"):
            cells = getattr(joint, name)
            doc[name] = None if cells is None else _short(cells)
    for name, value in record.metrics.items():
        if name.lower() in _TAKEN or not name:
            raise InputError(
                f"A metric must not be named like a column of the store; got {name!r}."
            )
        doc[name] = number(value)
    return doc


def decode(row: Mapping[str, Any]) -> Record:
    """Give back the record that was encoded."""
    named: dict[str, Any] = {
        name: _float(row[name]) if kind == "DOUBLE" else row[name]
        for name, kind in RUN_FIELDS.items()
    }
    counts = None if row["cells"] is None else read_counts(row["cells"], row)
    metrics = {name: _float(row[name]) for name in row["measured"]}
    return Record(**named, metrics=metrics, counts=counts)


def number(value: Any) -> float | str | None:
    """Give a number as JSON can hold it: undefined is null, an infinity is a word."""
    value = float(value)
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")


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
    return json.dumps(
        {
            "attributes": joint.attributes,
            "groups": joint.groups,
            "classes": joint.classes,
            "favorable": joint.favorable,
            "privileged": {name: tuple(values) for name, values in joint.privileged.items()},
        },
        default=_plain,
        sort_keys=True,
    )


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise InputError(
        f"Groups and classes must be text, numbers or truth values to be stored; got {value!r}."
    )


def read_counts(cells: str, arrays: Mapping[str, Any]) -> JointCounts:
    """Make joint counts from their axes and flat cells; leading axes may come first."""
    axes = json.loads(cells)
    groups = tuple(tuple(g) for g in axes["groups"])
    classes = tuple(axes["classes"])
    shape = (len(groups), *(len(classes),) * 3)

    def lay(name: str) -> Any:
        flat = arrays[name]
        if flat is None:
            return None
        flat = np.asarray(flat, dtype=np.float64)
        return flat.reshape(*flat.shape[:-1], *shape)

    return JointCounts(
        n=lay("n"),
        attributes=tuple(axes["attributes"]),
        groups=groups,
        classes=classes,
        favorable=tuple(axes["favorable"]),
        privileged={name: tuple(values) for name, values in axes["privileged"].items()},
        w=lay("w"),
        w2=lay("w2"),
    )
