"""The one writer of a store: batches into the log, the log into shards, shards into larger ones."""

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb
import pandas as pd

from isonomy.errors import InputError
from isonomy.metrics import Metric
from isonomy.store.codec import FIELDS, encode
from isonomy.store.header import StudyLike, check_name, write_header
from isonomy.store.lock import WriterLock
from isonomy.store.log import LogFile
from isonomy.store.parts import (
    Part,
    list_parts,
    log_name,
    put_in_force,
    shard_name,
    sql_files,
    sql_text,
)
from isonomy.store.record import Record
from isonomy.store.scoring import score_shard
from isonomy.store.views import Views, load_docs, metric_columns

__all__ = ["SEGMENT", "Writer"]

SEGMENT = 16 * 2**20
"""Bytes of a log that are made into a shard."""

_FAN = 8


class Writer:
    """The only writer of a store, for as long as its ``with`` statement lasts."""

    def __init__(self, path: Path, study: str, *, segment: int | None = None) -> None:
        self.path = path
        self.study = study
        self.folder = path / "parts"
        self.segment = SEGMENT if segment is None else segment
        self._lock = WriterLock(path / "lock")
        self._connection: duckdb.DuckDBPyConnection | None = None

    def __enter__(self) -> Self:
        self._lock.acquire()
        try:
            self._begin()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._log.close()
            if self._connection is not None:
                self._connection.close()
        finally:
            self._lock.release()

    def _begin(self) -> None:
        for left in self.folder.glob("*.part"):  # by a writer that was killed
            left.unlink()
        parts, void = list_parts(self.folder)
        for part in void:
            part.path.unlink()
        self._open_log(parts)
        docs = self._log.docs
        self._seq = max((doc["seq"] for doc in docs), default=-1)
        shards = [part.path for part in parts if part.kind == "parquet"]
        names: list[str] = []
        if shards:
            run = self._duckdb().execute
            top = run(f"select max(seq) from {sql_files(shards)}").fetchall()[0][0]
            self._seq = max(self._seq, -1 if top is None else int(top))
            told = run(f"describe select * from {sql_files(shards)}").fetchall()
            names = [row[0] for row in told if row[0] not in FIELDS]
        self._names = {m.lower(): m for m in metric_columns(docs, names)}

    def _open_log(self, parts: list[Part]) -> None:
        last = parts[-1] if parts else None
        if last is not None and last.kind == "log":
            self._number = last.first
        else:
            self._number = 1 if last is None else last.last + 1
        self._log = LogFile(self.folder / log_name(self._number))

    def _duckdb(self) -> duckdb.DuckDBPyConnection:
        if self._connection is None:
            self._connection = duckdb.connect()
        return self._connection

    def declare(self, study: StudyLike) -> None:
        """Keep the study as it is run now; it may have grown since the store was made."""
        check_name(self.path, self.study, study.name)
        write_header(self.path, study.name, study.toml())

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
        if docs:
            metrics = metric_columns(docs)
            load_docs(self._duckdb(), "batch", docs, metrics)
            self._shard("select * from batch", self._number, self._number)
        self._log.close()
        (self.folder / log_name(self._number)).unlink(missing_ok=True)
        parts = list_parts(self.folder)[0]
        while many := _to_merge(parts, everything):
            files = sql_files([part.path for part in many])
            self._shard(f"select * from {files}", many[0].first, many[-1].last)
            parts = list_parts(self.folder)[0]
        self._open_log(parts)

    def _shard(self, select: str, first: int, last: int) -> None:
        name = shard_name(first, last)
        partial = self.folder / (name + ".part")
        self._duckdb().execute(
            f"copy ({select}) to {sql_text(partial)} (format parquet, compression zstd)"
        )
        put_in_force(partial, name)

    def score(self, metrics: list[Metric]) -> int:
        """Add metrics of counts to every run that lacks them."""
        self.compact()
        gained = 0
        for part in list_parts(self.folder)[0]:
            if part.kind == "parquet":
                partial = part.path.with_name(part.path.name + ".part")
                found = score_shard(self._duckdb(), part.path, partial, metrics)
                if found:
                    put_in_force(partial, part.path.name)
                gained += found
        return gained

    def take(self, views: Views, done: set[str]) -> int:
        """Take over the records of another store, except for those whose key is done here."""
        self.compact()
        name = shard_name(self._number, self._number)
        partial = self.folder / (name + ".part")
        held = pd.DataFrame({"key": pd.Series(sorted(done), dtype=object)})
        views.connection.execute("create or replace table held (key varchar)")
        views.connection.append("held", held)
        try:
            views.query(
                f"copy (select * replace (seq + {self._seq + 1} as seq) from live "
                f"where key not in (select key from held)) "
                f"to {sql_text(partial)} (format parquet, compression zstd)"
            )
        finally:
            views.connection.execute("drop table held")
        found = self._duckdb().execute(f"select count(*), max(seq) from {sql_files([partial])}")
        count, top = found.fetchall()[0]
        if not count:
            partial.unlink()
            return 0
        self._log.close()
        put_in_force(partial, name)
        self._seq = int(top)
        self._open_log(list_parts(self.folder)[0])
        return int(count)


def _to_merge(parts: list[Part], everything: bool) -> list[Part]:
    """Choose shards to merge: all, or the last eight that are of one size."""
    shards = [part for part in parts if part.kind == "parquet"]
    if everything:
        return shards if len(shards) > 1 else []
    last = shards[-_FAN:]
    equal = len({part.last - part.first for part in last}) == 1
    return last if len(last) == _FAN and equal else []
