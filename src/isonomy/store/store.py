"""A store: every record of a study, safe from a kill, readable while it grows.

A store is a folder: ``store.json`` (what it is, and the study), ``lock`` (held by its writer) and
``parts`` (logs that grow by whole batches, compacted into Parquet shards). Nothing but the files
themselves keeps the state, so a folder can be copied, moved and merged.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import duckdb
import pandas as pd

from isonomy._validate import unknown_name
from isonomy.errors import InputError
from isonomy.metrics import Metric
from isonomy.search.cache import JsonLinesCache
from isonomy.store.codec import FIELDS, decode
from isonomy.store.header import (
    FILE,
    StudyLike,
    check_name,
    is_unborn,
    read_header,
    write_header,
)
from isonomy.store.long import SEPARATOR, long_frame
from isonomy.store.parts import quoted, sql_text
from isonomy.store.record import RUN, STATUSES, Record
from isonomy.store.scoring import count_metric
from isonomy.store.views import ORDER, Views
from isonomy.store.writer import Writer

__all__ = ["Store", "Writer"]

_MANY = 5_000
_RUNS = (
    "select dataset, attributes, model, mitigator, repeat, key from runs where repeat is not null"
)


class Store:
    """The records of one study in a folder.

    Parameters
    ----------
    path : path
        The folder; :meth:`create` makes one, :meth:`open` opens one.

    Examples
    --------
    >>> import tempfile
    >>> from isonomy.store import Record
    >>> store = Store.create(tempfile.mkdtemp(), "demo")
    >>> with store.writer() as writer:
    ...     writer.append([Record("demo", "adult", "sex", "lr", "reweighing", 0, {"mcc": 0.5})])
    >>> store.query("select mitigator, mcc from runs").values.tolist()
    [['reweighing', 0.5]]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._told = read_header(self.path)
        self._views: Views | None = None
        self._evaluated: JsonLinesCache | None = None

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
        if (folder / FILE).exists():
            store = cls(folder)
            store.check_study(name)
            return store
        if not is_unborn(folder):
            raise InputError(
                f"A store must begin in a new or empty folder; {str(path)!r} holds something "
                "else: choose another."
            )
        try:
            (folder / "parts").mkdir(parents=True, exist_ok=True)
            write_header(folder, name, "" if isinstance(study, str) else study.toml())
        except OSError as error:
            raise InputError(
                f"A store must be in a folder that can be written; {str(path)!r}: "
                f"{error.strerror}: choose another."
            ) from None
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
        return str(read_header(self.path)["spec"])

    def check_study(self, name: str) -> None:
        """Raise unless the store is one of this study."""
        check_name(self.path, self.name, name)

    def writer(self, *, segment: int | None = None) -> Writer:
        """Give the one writer, to be used in a ``with`` statement.

        Parameters
        ----------
        segment : int, optional
            Bytes that the log may take before it is compacted into a Parquet shard.
        """
        return Writer(self.path, self.name, segment=segment)

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
        statuses = list(wanted)
        for word in statuses:
            if word not in STATUSES:
                raise unknown_name("status", word, list(STATUSES))
        found = self._reader().query(
            "select key from live where list_contains(?, status)", [statuses]
        )
        return set(found.fetchnumpy()["key"].tolist())

    def conflicts(self, planned: pd.DataFrame) -> pd.DataFrame:
        """Give the planned runs that the store holds under another key.

        Parameters
        ----------
        planned : DataFrame
            ``dataset``, ``attributes``, ``model``, ``mitigator``, ``repeat`` and ``key``.
        """
        views = self._reader()
        kinds = ", ".join(f"{quoted(n)} {FIELDS[n]}" for n in planned.columns)
        views.connection.execute(f"create or replace table planned ({kinds})")
        views.connection.append("planned", planned)
        shared = [quoted(n) for n in planned.columns if n != "key"]
        found = views.query(
            f"select planned.* from planned join live using ({', '.join(shared)}) "
            f"where planned.key <> live.key order by all"
        ).df()
        views.connection.execute("drop table planned")
        return found

    def refuse_conflicts(self, planned: pd.DataFrame) -> None:
        """Raise where the store holds one of the planned runs under another key."""
        other = self.conflicts(planned)
        if len(other):
            one = other.iloc[0]
            raise InputError(
                f"A store holds runs of one specification; {str(self.path)!r} has {len(other):,} "
                f"of these under another one (other settings, data or library versions), such as "
                f"{one['mitigator']} with {one['model']} on {one['dataset']}/{one['attributes']}: "
                f"choose another folder."
            )

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
        """Give the result frame: the columns of :mod:`isonomy.store.record`, a row per metric.

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
            few = ", ".join(map(sql_text, chosen))
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
        found = self._ask(sql)
        return found.df() if found.description else pd.DataFrame()

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
            self._ask(
                f"copy (select * from {view} order by {by}) to {sql_text(partial)} ({options})"
            )
            partial.replace(target)
        except (OSError, duckdb.IOException) as error:
            raise InputError(f"{str(file)!r} cannot be written: {error}.") from None
        return target

    # ------------------------------------------------------------------ a cache for tuning

    def get(self, key: str) -> dict[str, Any] | None:
        """Give what a search has put under a key: a store serves :func:`isonomy.tradeoff.tune`."""
        return self._cache().get(key)

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Keep what a search has evaluated, beside the records."""
        self._cache().put(key, value)

    def _cache(self) -> JsonLinesCache:
        if self._evaluated is None:
            self._evaluated = JsonLinesCache(self.path / "cache.jsonl")
        return self._evaluated

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

        A run that is ok here is kept as it is. Runs of another specification (other settings, data
        or library versions) are refused: they would stand beside those that are here.

        Returns
        -------
        int
            How many records came.
        """
        stores = [other if isinstance(other, Store) else Store.open(other) for other in others]
        for other in stores:
            other.check_study(self.name)
            self.refuse_conflicts(other._ask(_RUNS).df())
        with self.writer() as writer:
            return sum(writer.take(other._reader(), self.keys("ok")) for other in stores)

    def compact(self) -> None:
        """Make one shard of all parts."""
        with self.writer() as writer:
            writer.compact(everything=True)

    def _reader(self) -> Views:
        if self._views is None:
            self._views = Views(self.path / "parts")
        return self._views

    def _ask(self, sql: str) -> duckdb.DuckDBPyConnection:
        try:
            return self._reader().query(sql)
        except duckdb.IOException:
            raise
        except duckdb.Error as error:
            reason = str(error).split("\n\n")[0].replace("\n", " ")
            raise InputError(
                f"A query must be SQL on the views runs, results and counts; DuckDB says: {reason}"
            ) from None

    def _rows(self, sql: str) -> list[Any]:
        return self._ask(sql).fetchall()


def _condition(where: str | None) -> str:
    return "" if where is None else f"where ({where})"
