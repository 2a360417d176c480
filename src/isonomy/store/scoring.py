"""Metrics added to stored runs from their joint counts, many runs in one NumPy expression."""

from pathlib import Path

import duckdb
import numpy as np
import pandas as pd

from isonomy.errors import InputError
from isonomy.metrics import Metric, get_metric
from isonomy.store.codec import read_counts
from isonomy.store.parts import quoted, sql_files, sql_text

__all__ = ["count_metric", "score_shard"]

_CHUNK = 20_000


def count_metric(name: str | Metric) -> Metric:
    """Look up a metric that counts can give."""
    metric = get_metric(name)
    if metric.needs != "counts":
        raise InputError(
            f"A metric added to stored runs must be a function of counts; {metric.name} needs "
            f"{metric.needs}: run the study with it."
        )
    return metric


def score_shard(
    connection: duckdb.DuckDBPyConnection, shard: Path, partial: Path, metrics: list[Metric]
) -> int:
    """Write a shard anew with more metrics; give the number of runs that gained one.

    Runs that have a metric keep the value they have.
    """
    source = sql_files([shard])
    held = {row[0] for row in connection.execute(f"describe select * from {source}").fetchall()}
    changed: set[int] = set()
    replaced, added, joins = [], [], []
    for k, metric in enumerate(metrics):
        lacking = connection.execute(
            f"select seq, cells, attributes, n, w, w2 from {source} "
            # a point of a mutation baseline is a mean over draws, which its counts do not hold
            "where status = 'ok' and cells is not null and not starts_with(mitigator, 'mutation(') "
            "and not list_contains(measured, ?)",
            [metric.name],
        )
        found = _scores(lacking, metric)
        if found.empty:
            continue
        changed |= set(found["seq"])
        table = f"scored_{k}"
        connection.register(f"{table}_given", found)
        connection.execute(
            f"create or replace table {table} as select seq, "
            f"case when isnan(value) then null else value end as value from {table}_given"
        )
        connection.unregister(f"{table}_given")
        joins.append(f"left join {table} using (seq)")
        name = quoted(metric.name)
        value = f"{table}.value"
        if metric.name in held:
            replaced.append(f"coalesce(shard.{name}, {value}) as {name}")
        else:
            added.append(f", {value} as {name}")
    if not changed:
        return 0
    names = ", ".join(sql_text(m.name) for m in metrics)
    tables = [join.split()[2] for join in joins]
    scored = " or ".join(f"{t}.seq is not null" for t in tables)
    grown = (
        f"case when {scored} then list_concat(measured, "
        f"list_filter([{names}], lambda m: not list_contains(measured, m))) "
        "else measured end as measured"
    )
    replaced.append(grown)
    connection.execute(
        f"copy (select shard.* replace ({', '.join(replaced)}){''.join(added)} from {source} shard "
        f"{' '.join(joins)} order by seq) to {sql_text(partial)} "
        "(format parquet, compression zstd)"
    )
    for table in tables:
        connection.execute(f"drop table {table}")
    return len(changed)


def _scores(lacking: duckdb.DuckDBPyConnection, metric: Metric) -> pd.DataFrame:
    """Compute one metric for all runs of a result set."""
    parts = [pd.DataFrame({"seq": np.empty(0, np.int64), "value": np.empty(0)})]
    while rows := lacking.fetchmany(_CHUNK):
        frame = pd.DataFrame(rows, columns=["seq", "cells", "attributes", "n", "w", "w2"])
        # runs of one dataset and one choice of attributes share their axes
        for (cells, attributes), group in frame.groupby(["cells", "attributes"], sort=False):
            weighted = group["w"].notna()
            for mine in (group[weighted], group[~weighted]):
                if len(mine):
                    value = _value(metric, str(cells), str(attributes), mine)
                    parts.append(pd.DataFrame({"seq": mine["seq"].to_numpy(), "value": value}))
    return pd.concat(parts, ignore_index=True)


def _value(metric: Metric, cells: str, attributes: str, runs: pd.DataFrame) -> object:
    arrays = {
        name: None if runs[name].isna().any() else np.array(runs[name].tolist(), dtype=np.float64)
        for name in ("n", "w", "w2")
    }
    counts = read_counts(cells, arrays).method.select(*attributes.split("+"))
    with np.errstate(all="ignore"):
        value = np.asarray(metric(counts), dtype=np.float64)
    if value.shape != (len(runs),):
        raise InputError(
            f"A metric added to stored runs must have one value per run; {metric.name} has one "
            "per group."
        )
    return value
