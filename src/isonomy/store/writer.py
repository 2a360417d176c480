"""The one writer of a store: batches into the log, the log into shards, shards into larger ones."""

import contextlib
import json
import os
import socket
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Self

import duckdb
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._files import sql_name, sql_text
from isonomy.errors import InputError
from isonomy.metrics import Counts, Metric, get_metric
from isonomy.store.log import (
    LogFile,
    Part,
    begin_log,
    check_name,
    damaged,
    find_damage,
    find_gap,
    list_parts,
    log_name,
    put_in_force,
    read_header,
    shard_paths,
    write_header,
)
from isonomy.store.record import Record, encode, read_counts
from isonomy.store.views import (
    Views,
    load_docs,
    metric_columns,
    shard_metrics,
    sql_files,
)

SEGMENT = 16 * 2**20
"""Bytes of a log that are made into a shard."""

_FAN = 8
_CHUNK = 20_000


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of the one writer; the operating system releases it if the process ends.

    The file names the holder, for the error message of a second writer.
    """
    # not inherited: a worker that outlives a killed writer must not keep the lock
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOINHERIT", 0), 0o644)
    try:
        try:
            _take(handle)
        except OSError:
            raise InputError(
                f"A store must have one writer at a time; {_holder(path)} writes to "
                f"{str(path.parent)!r}: wait for it (reading is possible meanwhile), or choose "
                f"another folder."
            ) from None
        os.ftruncate(handle, 0)
        os.write(handle, json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode())
        yield
    finally:
        os.close(handle)


def _holder(path: Path) -> str:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        holder = json.loads(path.read_text())
        return f"process {holder['pid']} on {holder['host']}"
    return "another process"


def _take(handle: int) -> None:
    if os.name == "nt":  # pragma: no cover
        import msvcrt

        # far behind the text, which others may read
        os.lseek(handle, 1 << 30, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        os.lseek(handle, 0, os.SEEK_SET)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Writer:
    """The only writer of a store, for as long as its ``with`` statement lasts."""

    def __init__(self, path: Path, study: str, *, segment: int | None = None) -> None:
        self.path = path
        self.study = study
        self.folder = path / "parts"
        self.segment = SEGMENT if segment is None else segment

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            stack.enter_context(locked(self.path / "lock"))
            self._connection = stack.enter_context(duckdb.connect())
            self._begin()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        with self._stack:
            self._log.close()

    def _begin(self) -> None:
        for left in self.folder.glob("*.part"):  # by a writer that was killed
            left.unlink()
        parts, void = list_parts(self.folder)
        for part in void:
            part.path.unlink()
        # of a log begun for a shard that did not come into force
        while len(parts) > 1 and parts[-2].kind == "log" and not parts[-1].path.stat().st_size:
            parts.pop().path.unlink()
        for problem in (find_gap(parts), *map(find_damage, parts)):
            if problem:
                raise damaged(self.path, problem)
        self._open_log(parts)
        docs, shards = self._log.docs, shard_paths(parts)
        last = -1
        if shards:
            query = f"select coalesce(max(seq), -1) from {sql_files(shards)}"
            last = int(self._connection.execute(query).fetchall()[0][0])
        self._seq = max([last, *(doc["seq"] for doc in docs)])
        known = shard_metrics(self._connection, shards)
        self._names = {m.lower(): m for m in metric_columns(docs, known)}

    def _open_log(self, parts: list[Part]) -> None:
        last = parts[-1] if parts else None
        if last is not None and last.kind == "log":
            self._number = last.first
        else:
            self._number = 1 if last is None else last.last + 1
        self._log = LogFile(self.folder / log_name(self._number))

    def declare(self, spec: str, versions: Mapping[str, str] | None = None) -> None:
        """Keep the study as it is run now, and the versions that it is run with, if they changed."""
        held = read_header(self.path)["versions"]
        if versions and dict(versions) not in held[-1:]:
            held = [*held, dict(versions)]
        write_header(self.path, self.study, spec, held)

    def append(self, records: Iterable[Record]) -> None:
        """Add the records of a trial: all are on the disk when this returns, or none is."""
        docs = []
        for record in records:
            check_name(self.path, self.study, record.study)
            self._seq += 1
            docs.append(encode(record, self._seq))
        if not docs:
            return
        for name in metric_columns(docs):
            known = self._names.setdefault(name.lower(), name)
            if known != name:
                raise InputError(
                    f"Names of metrics must differ in more than capital letters; got {name!r} "
                    f"beside {known!r}."
                )
        self._log.append(docs)
        if self._log.size >= self.segment:
            self.compact()

    def compact(self, *, everything: bool = False) -> None:
        """Make a shard of the log; merge shards once there are many, or all of them if asked."""
        docs = self._log.docs
        self._log.close()
        if docs:
            load_docs(self._connection, "batch", docs, metric_columns(docs))
            self._shard("select * from batch", self._number, self._number)
        parts = list_parts(self.folder)[0]
        while many := _to_merge(parts, everything):
            files = sql_files([part.path for part in many])
            self._shard(f"select * from {files}", many[0].first, many[-1].last)
            parts = list_parts(self.folder)[0]
        self._open_log(parts)

    def _shard(self, select: str, first: int, last: int) -> None:
        self._connection.execute(_copy(select, self._partial))
        self._put(first, last)

    @property
    def _partial(self) -> Path:
        return self.folder / "shard.part"

    def _put(self, first: int, last: int) -> None:
        """Put the finished shard in force; a log always follows it."""
        if last == self._number:
            begin_log(self.folder, last + 1)
        put_in_force(self._partial, first, last)

    def score(self, metrics: list[Metric]) -> int:
        """Add metrics of counts to every run that lacks them; return how many runs gained one."""
        self.compact()
        gained = 0
        for part in list_parts(self.folder)[0]:
            if part.kind == "parquet":
                runs = _score_shard(self._connection, part.path, self._partial, metrics)
                if runs:
                    self._put(part.first, part.last)
                gained += runs
        return gained

    def take(self, views: Views, keys: Collection[str] | None = None) -> int:
        """Add the records of another store, or those of some keys, except for those ok here."""
        self.compact()
        new = f"select * replace (seq + {self._seq + 1} as seq, '' as host) from live where true"
        if keys is not None:
            views.refresh()
            views.connection.execute(
                "create or replace table wanted as select unnest(?::varchar[]) as key", [[*keys]]
            )
            new += " and key in (from wanted)"
        shards = shard_paths(list_parts(self.folder)[0])
        if shards:
            own = f"select key from {sql_files(shards)} where status = 'ok'"
            new = f"{new} and key not in ({own})"
        views.query(_copy(new, self._partial))
        added = f"select count(*), max(seq) from {sql_files([self._partial])}"
        count, last = self._connection.execute(added).fetchall()[0]
        if not count:
            self._partial.unlink()
            return 0
        self._log.close()
        self._put(self._number, self._number)
        self._seq = int(last)
        self._open_log(list_parts(self.folder)[0])
        return int(count)


def _copy(select: str, file: Path) -> str:
    return f"copy ({select}) to {sql_text(file)} (format parquet, compression zstd)"


def _to_merge(parts: list[Part], everything: bool) -> list[Part]:
    """Return the shards to merge: all, or the last eight if they are of one size."""
    shards = [part for part in parts if part.kind == "parquet"]
    if everything:
        return shards if len(shards) > 1 else []
    last = shards[-_FAN:]
    equal = len({part.last - part.first for part in last}) == 1
    return last if len(last) == _FAN and equal else []


# ---- metrics from joint counts ------------------------------------------------------------------


def count_metric(name: str | Metric) -> Metric:
    """Look up a metric that counts can give."""
    metric = get_metric(name)
    if metric.needs != "counts":
        raise InputError(
            f"A metric added to stored runs must be a function of counts; {metric.name} needs "
            f"{metric.needs}, which only a run has: a new run measures it where the data allow."
        )
    return metric


def _score_shard(
    connection: duckdb.DuckDBPyConnection, shard: Path, partial: Path, metrics: list[Metric]
) -> int:
    """Write a shard anew with more metrics; return the number of runs that gained one.

    Runs that have a metric keep the value they have.
    """
    source = sql_files([shard])
    names = ", ".join(sql_text(m.name) for m in metrics)
    lacking = connection.execute(
        f"select seq, cells, attributes, n, w, w2, w is null as plain, list_filter([{names}], "
        f"lambda m: not list_contains(measured, m)) as gained from {source} "
        # a point of a mutation baseline is a mean over draws, which its counts do not hold
        "where status = 'ok' and cells is not null and not starts_with(mitigator, 'mutation(') "
        "and len(gained) > 0"
    )
    columns = [column[0] for column in lacking.description]
    scores = []
    while rows := lacking.fetchmany(_CHUNK):
        frame = pd.DataFrame(rows, columns=columns)
        # runs of one dataset and one choice of attributes share their axes
        for _, runs in frame.groupby(["cells", "attributes", "plain"], sort=False):
            values = {m.name: _score(m, runs) for m in metrics}
            scores.append(runs[["seq", "gained"]].assign(**values))
    if not scores:
        return 0
    present = shard_metrics(connection, [shard])
    replaced, added = ["list_concat(measured, coalesce(gained, [])) as measured"], []
    for metric in metrics:
        name = sql_name(metric.name)
        value = (
            f"case when list_contains(gained, {sql_text(metric.name)}) "
            f"and not isnan(scored.{name}) then scored.{name} end"
        )
        if metric.name in present:
            replaced.append(f"coalesce(shard.{name}, {value}) as {name}")
        else:
            added.append(f", {value} as {name}")
    connection.register("scored", pd.concat(scores, ignore_index=True))
    select = (
        f"select shard.* replace ({', '.join(replaced)}){''.join(added)} from {source} shard "
        "left join scored using (seq) order by seq"
    )
    connection.execute(_copy(select, partial))
    connection.unregister("scored")
    return sum(map(len, scores))


def _score(metric: Metric, runs: pd.DataFrame) -> NDArray[np.float64]:
    """Compute one metric of runs that share their axes, in one expression."""
    counts = stacked_counts(runs).select(*runs["attributes"].iloc[0].split("+"))
    with np.errstate(all="ignore"):
        value = np.asarray(metric(counts), dtype=np.float64)
    if value.shape != (len(runs),):
        raise InputError(
            f"A metric added to stored runs must have one value per run; {metric.name} has one "
            "per group."
        )
    return value


def stacked_counts(runs: pd.DataFrame) -> Counts:
    """Return the counts of runs that share their axes, one upon the other."""
    arrays = {
        name: None if runs[name].isna().any() else np.array(runs[name].tolist(), dtype=np.float64)
        for name in ("n", "w", "w2")
    }
    return read_counts(runs["cells"].iloc[0], arrays).method
