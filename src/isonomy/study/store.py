"""A store: every record of a study, safe from a kill, readable while it grows.

A store is a folder: ``store.json`` (what it is, and the study), ``lock`` (held by its writer) and
``parts`` (logs that grow by whole batches, compacted into Parquet shards). Nothing but the files
themselves keeps the state, so a folder can be copied, moved and merged.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import duckdb
import pandas as pd

from isonomy._validate import listed, unknown_name
from isonomy.errors import InputError
from isonomy.metrics import Metric
from isonomy.study._codec import FIELDS, decode, encode
from isonomy.study._lock import WriterLock
from isonomy.study._log import LogFile, sync_folder
from isonomy.study._long import SEPARATOR, long_frame
from isonomy.study._parts import (
    Part,
    list_parts,
    log_name,
    put_in_force,
    quoted,
    shard_name,
    sql_files,
)
from isonomy.study._scoring import count_metric, score_shard
from isonomy.study._views import ORDER, Views, load_docs, metric_columns
from isonomy.study.record import RUN, STATUSES, Record

__all__ = ["FORMAT", "Store", "StudyLike", "Writer"]

FORMAT = 1
"""Version of the folder's layout; a store of a later one is refused."""

_FILE = "store.json"
_SEGMENT = 16 * 2**20
_FAN = 8
_MANY = 5_000


class StudyLike(Protocol):
    """What a store asks of a study."""

    @property
    def name(self) -> str:
        """The study's name."""
        ...

    def toml(self) -> str:
        """Write the study as a file."""
        ...


class Store:
    """The records of one study in a folder.

    Parameters
    ----------
    path : path
        The folder; :meth:`create` makes one, :meth:`open` opens one.

    Examples
    --------
    >>> import tempfile
    >>> from isonomy.study import Record
    >>> store = Store.create(tempfile.mkdtemp(), "demo")
    >>> with store.writer() as writer:
    ...     writer.append([Record("demo", "adult", "sex", "lr", "reweighing", 0, {"mcc": 0.5})])
    >>> store.query("select mitigator, mcc from runs").values.tolist()
    [['reweighing', 0.5]]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._told = _read_header(self.path)
        self._views: Views | None = None

    # ------------------------------------------------------------------ doors

    @classmethod
    def create(cls, path: str | os.PathLike[str], study: StudyLike | str) -> Self:
        """Make a store in a new or empty folder, or open the one of the same study that is there.

        Parameters
        ----------
        path : path
        study : Study, or its name
        """
        name = study if isinstance(study, str) else study.name
        folder = Path(path)
        if (folder / _FILE).exists():
            store = cls(folder)
            store.check_study(name)
            return store
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(
                f"A store must begin in a new or empty folder; {str(path)!r} holds something "
                "else: choose another."
            )
        (folder / "parts").mkdir(parents=True, exist_ok=True)
        _write_header(folder, name, "" if isinstance(study, str) else study.toml())
        return cls(folder)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open a store that exists."""
        return cls(path)

    @property
    def name(self) -> str:
        """Name of the study."""
        return str(self._told["study"])

    @property
    def spec(self) -> str:
        """The study as TOML, as it was last run; empty where none was given."""
        return str(_read_header(self.path)["spec"])

    def check_study(self, name: str) -> None:
        """Raise unless the store is one of this study."""
        if name != self.name:
            raise InputError(
                f"A store holds one study; {str(self.path)!r} holds {self.name!r}, not {name!r}: "
                "choose another folder."
            )

    def writer(self) -> "Writer":
        """Give the one writer, to be used in a ``with`` statement."""
        return Writer(self)

    def __len__(self) -> int:
        return int(self._rows("select count(*) from live")[0][0])

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}, study {self.name!r}, {len(self):,} records)"

    # ------------------------------------------------------------------ reading

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of all metrics that a record has."""
        self._reader().refresh()
        return tuple(self._reader().metrics)

    def keys(self, status: str | Iterable[str] | None = None) -> set[str]:
        """Give the keys of the records, or of those with some status: what a resume compares."""
        wanted = STATUSES if status is None else (status,) if isinstance(status, str) else status
        return self.keys_of(list(wanted))

    def keys_of(self, statuses: Sequence[str]) -> set[str]:
        """Give the keys of the records with one of these statuses."""
        for status in statuses:
            if status not in STATUSES:
                raise unknown_name("status", status, list(STATUSES))
        found = self._reader().query(
            "select key from live where list_contains(?, status)", [list(statuses)]
        )
        return set(found.fetchnumpy()["key"].tolist())

    def runs(self, where: str | None = None) -> pd.DataFrame:
        """Give one row per record, one column per metric, with time and host.

        Parameters
        ----------
        where : str, optional
            A condition in SQL: ``"model = 'lr' and status = 'ok'"``.
        """
        return self._ask(f"select * from runs {_condition(where)} order by {ORDER}").df()

    def frame(
        self, where: str | None = None, *, metrics: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Give the result frame: the columns of :mod:`isonomy.study.record`, a row per metric.

        Its order depends on the runs, never on which finished first.

        Parameters
        ----------
        where : str, optional
            A condition in SQL on the columns of :meth:`runs`.
        metrics : sequence of str, optional
            Only these metrics; all by default.
        """
        names = ", ".join(quoted(n) for n in (*RUN, "status", "reason") if n != "repeat")
        chosen = self.metrics if metrics is None else tuple(metrics)
        for name in chosen:
            if name not in self.metrics:
                raise unknown_name("metric of the store", name, list(self.metrics))
        values = "".join(f", {quoted(m)}" for m in chosen)
        measured = "measured"
        if metrics is not None:
            few = ", ".join("'" + m.replace("'", "''") + "'" for m in chosen)
            measured = f"list_filter(measured, lambda m: list_contains([{few}], m))"
        wide = self._ask(
            f"select {names}, coalesce(repeat, -1) as repeat, "
            f"array_to_string({measured}, '{SEPARATOR}') as measured{values} "
            f"from live {_condition(where)} order by {ORDER}"
        ).df()
        return long_frame(wide, list(chosen))

    def records(self, where: str | None = None) -> Iterator[Record]:
        """Give the records, with their joint counts, in the order of :meth:`frame`."""
        names = [*FIELDS, *self.metrics]
        columns = ", ".join(map(quoted, names))
        found = self._ask(f"select {columns} from live {_condition(where)} order by {ORDER}")
        while rows := found.fetchmany(_MANY):
            for row in rows:
                yield decode(dict(zip(names, row, strict=True)))

    def query(self, sql: str) -> pd.DataFrame:
        """Ask in SQL (DuckDB's): the views are ``runs``, ``results`` and ``counts``.

        ``runs`` has one row per record and one column per metric (names with signs stand in double
        quotes), ``results`` is the result frame, ``counts`` holds the joint counts as lists.
        """
        try:
            found = self._ask(sql)
            return found.df() if found.description else pd.DataFrame()
        except duckdb.Error as error:
            reason = str(error).split("\n\n")[0].replace("\n", " ")
            raise InputError(
                f"A query must be SQL on the views runs, results and counts; DuckDB says: {reason}"
            ) from None

    def export(self, file: str | os.PathLike[str], view: str = "runs") -> Path:
        """Write a view to a Parquet or CSV file.

        Parameters
        ----------
        file : path
            Ends in ``.parquet`` or ``.csv``.
        view : {"runs", "results", "counts"}
        """
        target = Path(file)
        kind = target.suffix.lower().lstrip(".")
        if kind not in ("parquet", "csv"):
            raise InputError(f"A store is written to .parquet or .csv; got {str(file)!r}.")
        if view not in ("runs", "results", "counts"):
            raise unknown_name("view", view, ["runs", "results", "counts"])
        options = "format parquet, compression zstd" if kind == "parquet" else "format csv, header"
        partial = target.with_name(target.name + ".part")
        by = ORDER if view != "results" else ", ".join(quoted(n) for n in (*RUN, "metric"))
        try:
            self._ask(f"copy (select * from {view} order by {by}) to {_text(partial)} ({options})")
            partial.replace(target)
        except (OSError, duckdb.IOException) as error:
            raise InputError(f"{str(file)!r} cannot be written: {error}.") from None
        return target

    # ------------------------------------------------------------------ growing

    def score(self, metrics: Sequence[str | Metric]) -> int:
        """Add metrics of counts to every run that is ok, from its joint counts: nothing is fitted.

        Returns
        -------
        int
            How many runs gained a metric.
        """
        wanted = [count_metric(m) for m in metrics]
        with self.writer() as writer:
            return writer.score(wanted)

    def merge(self, *others: "Store | str | os.PathLike[str]") -> int:
        """Take over the records of other stores of the same study, from other machines perhaps.

        A run that is ok here is kept as it is.

        Returns
        -------
        int
            How many records came.
        """
        stores = [other if isinstance(other, Store) else Store.open(other) for other in others]
        for other in stores:
            other.check_study(self.name)
        with self.writer() as writer:
            return sum(writer.take(other) for other in stores)

    def compact(self) -> None:
        """Make one shard of all parts."""
        with self.writer() as writer:
            writer.compact(everything=True)

    def _reader(self) -> Views:
        if self._views is None:
            self._views = Views(self.path / "parts")
        return self._views

    def _ask(self, sql: str) -> duckdb.DuckDBPyConnection:
        return self._reader().query(sql)

    def _rows(self, sql: str) -> list[Any]:
        return self._ask(sql).fetchall()


class Writer:
    """The only writer of a store, for as long as its ``with`` statement lasts."""

    def __init__(self, store: Store, *, segment: int = _SEGMENT) -> None:
        self.store = store
        self.folder = store.path / "parts"
        self.segment = segment
        self._lock = WriterLock(store.path / "lock")
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
        self._log.close()
        if self._connection is not None:
            self._connection.close()
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
        self.store.check_study(study.name)
        _write_header(self.store.path, study.name, study.toml())

    def append(self, records: Iterable[Record]) -> None:
        """Add the records of a trial: all are on the disk when this returns, or none is."""
        docs = []
        for record in records:
            self.store.check_study(record.study)
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
            f"copy ({select}) to {_text(partial)} (format parquet, compression zstd)"
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

    def take(self, other: Store) -> int:
        """Take over the records of another store that are not ok here."""
        self.compact()
        done = self.store.keys("ok")
        views = other._reader()
        name = shard_name(self._number, self._number)
        partial = self.folder / (name + ".part")
        held = pd.DataFrame({"key": pd.Series(sorted(done), dtype=object)})
        views.connection.execute("create or replace table held (key varchar)")
        views.connection.append("held", held)
        try:
            views.query(
                f"copy (select * replace (seq + {self._seq + 1} as seq) from live "
                f"where key not in (select key from held)) "
                f"to {_text(partial)} (format parquet, compression zstd)"
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


def _text(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _condition(where: str | None) -> str:
    return "" if where is None else f"where ({where})"


def _read_header(folder: Path) -> dict[str, Any]:
    file = folder / _FILE
    if not file.is_file():
        what = "is no store" if folder.exists() else "does not exist"
        raise InputError(
            f"A store is a folder with the file {_FILE}; {str(folder)!r} {what}: "
            "name the folder that a study was run into."
        )
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        version = told["isonomy_store"]
        missing = [name for name in ("study", "spec") if name not in told]
    except (ValueError, KeyError, TypeError):
        raise InputError(
            f"{str(file)!r} must describe a store of Isonomy; it does not: name another folder."
        ) from None
    if version != FORMAT or missing:
        raise InputError(
            f"The store {str(folder)!r} must be of format {FORMAT}; it is of {version!r}"
            f"{' without ' + listed(missing) if missing else ''}: use the release that wrote it."
        )
    return dict(told)


def _write_header(folder: Path, name: str, spec: str) -> None:
    partial = folder / (_FILE + ".part")
    told = {"isonomy_store": FORMAT, "study": name, "spec": spec}
    partial.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    partial.replace(folder / _FILE)
    sync_folder(folder)
