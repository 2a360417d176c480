"""A store: every record of a study, safe from a kill, readable while it grows.

A store is a folder: ``store.json`` (what it is, and the study), ``lock`` (held by its writer) and
``parts`` (logs that grow by whole batches, compacted into Parquet shards). Nothing but the files
themselves keeps the state, so a folder can be copied, moved and merged.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import duckdb
import pandas as pd

from isonomy._files import replacing, sql_name, sql_text
from isonomy._validate import check_choice
from isonomy.errors import InputError
from isonomy.metrics import Metric
from isonomy.search.cache import JsonLinesCache
from isonomy.store.log import HEADER, begin_log, check_name, is_unborn, read_header, write_header
from isonomy.store.record import FIELDS, RUN, STATUSES, Record, decode
from isonomy.store.views import ORDER, Views
from isonomy.store.writer import Writer, count_metric

CACHE = "cache.jsonl"
"""Evaluations of a tuning, beside the records."""

_MANY = 5_000
_VIEWS = ("runs", "results", "counts")


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
        self.name = str(self._header()["study"])
        self.views = self._open_views()

    def _header(self) -> dict[str, Any]:
        return read_header(self.path)

    def _open_views(self, *, locked: bool = False) -> Views:
        return Views(self.path / "parts", locked=locked)

    # ------------------------------------------------------------------ opening

    @classmethod
    def create(cls, path: str | os.PathLike[str], study: str, spec: str = "") -> Self:
        """Make a store in a new or empty folder, or open the one of the same study that is there.

        Parameters
        ----------
        path : path
        study : str
            Name of the study.
        spec : str
            What the study is, as text; only kept.
        """
        folder = Path(path)
        if (folder / HEADER).exists():
            store = cls(folder)
            store.check_study(study)
            return store
        if not is_unborn(folder):
            raise InputError(
                f"A store must begin in a new or empty folder; {str(path)!r} holds something "
                "else: choose another."
            )
        try:
            (folder / "parts").mkdir(parents=True, exist_ok=True)
            begin_log(folder / "parts", 1)
            write_header(folder, study, spec)
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
    def spec(self) -> str:
        """The study as it was last run, as text; empty if none was given."""
        return str(self._header()["spec"])

    @property
    def versions(self) -> list[dict[str, str]]:
        """The versions of Python, libraries and loaders that it was run with, the last ones last."""
        return list(self._header()["versions"])

    def check_study(self, name: str) -> None:
        """Raise unless the store is one of this study."""
        check_name(self.path, self.name, name)

    def writer(self, *, segment: int | None = None) -> Writer:
        """Return the one writer, to be used in a ``with`` statement.

        Parameters
        ----------
        segment : int, optional
            Bytes that the log may take before it is compacted into a Parquet shard.
        """
        return Writer(self.path, self.name, segment=segment)

    def __len__(self) -> int:
        return int(self.views.query("select count(*) from live").fetchall()[0][0])

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}, study {self.name!r}, {len(self):,} records)"

    # ------------------------------------------------------------------ reading

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of all metrics that a record has."""
        self.views.refresh()
        return tuple(self.views.metrics)

    def keys(self, status: str | Iterable[str] | None = None) -> set[str]:
        """Return the keys of the records, or of those with some status: what a resume compares."""
        wanted = STATUSES if status is None else (status,) if isinstance(status, str) else status
        statuses = list(wanted)
        for word in statuses:
            check_choice("status", word, STATUSES)
        keys = self.views.query("select key from live where list_contains(?, status)", [statuses])
        return set(keys.fetchnumpy()["key"].tolist())

    def refuse_conflicts(self, planned: pd.DataFrame) -> None:
        """Raise if the store holds one of the planned runs under another key.

        Only runs that are ok count: the others give way to what is run now.

        Parameters
        ----------
        planned : DataFrame
            ``dataset``, ``attributes``, ``model``, ``mitigator``, ``repeat`` and ``key``.
        """
        names = [name for name in planned.columns if name != "key"]
        stored = self.views.query(
            f"select {', '.join(names)}, key as stored from live "
            "where repeat is not null and status = 'ok'"
        )
        both = planned.merge(stored.df(), on=names)
        other = both[both["key"] != both["stored"]]
        if len(other):
            one = other.iloc[0]
            raise InputError(
                f"A store holds runs of one specification; {str(self.path)!r} has {len(other):,} "
                f"of these under another one (other settings, data or library versions), such as "
                f"{one['mitigator']} with {one['model']} on {one['dataset']}/{one['attributes']}: "
                f"choose another folder."
            )

    def runs(self, where: str | None = None) -> pd.DataFrame:
        """Return one row per record, one column per metric, with time and host.

        Parameters
        ----------
        where : str, optional
            A condition in SQL: ``"model = 'lr' and status = 'ok'"``.
        """
        return self.views.query(f"select * from runs {_condition(where)} order by {ORDER}").df()

    def frame(
        self, where: str | None = None, *, metrics: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Return the result frame: the columns of :mod:`isonomy.store.record`, a row per metric.

        Its order depends on the runs, never on which finished first.

        Parameters
        ----------
        where : str, optional
            A condition in SQL on the columns of :meth:`runs`.
        metrics : sequence of str, optional
            Only these metrics; all by default.
        """
        known = self.metrics
        for name in metrics or ():
            check_choice("metric of the store", name, known)
        return self.views.frame(_condition(where), metrics)

    def records(self, where: str | None = None) -> Iterator[Record]:
        """Yield the records, with their joint counts, in the order of :meth:`frame`."""
        names = [*FIELDS, *self.metrics]
        columns = ", ".join(map(sql_name, names))
        answer = self.views.query(
            f"select {columns} from live {_condition(where)} order by {ORDER}"
        )
        while rows := answer.fetchmany(_MANY):
            for row in rows:
                yield decode(dict(zip(names, row, strict=True)))

    def query(self, sql: str) -> pd.DataFrame:
        """Run a query in DuckDB's SQL; the views are ``runs``, ``results`` and ``counts``.

        ``runs`` has one row per record and one column per metric (write names with signs in double
        quotes), ``results`` is the result frame, ``counts`` holds the joint counts as lists. A
        query reads; it reaches no file but the store's.
        """
        return self._locked.select(sql)

    def export(
        self, file: str | os.PathLike[str], view: str = "runs", *, hosts: bool = False
    ) -> Path:
        """Write a view to a Parquet or CSV file.

        Parameters
        ----------
        file : path
            Ends in ``.parquet`` or ``.csv``.
        view : {"runs", "results", "counts"}
        hosts : bool
            Whether the names of the machines are written too.
        """
        target = Path(file)
        kind = target.suffix.lower().lstrip(".")
        if kind not in ("parquet", "csv"):
            raise InputError(f"A store is written to .parquet or .csv; got {str(file)!r}.")
        check_choice("view", view, _VIEWS)
        options = "format parquet, compression zstd" if kind == "parquet" else "format csv, header"
        by = ORDER if view != "results" else ", ".join(map(sql_name, (*RUN, "metric")))
        columns = "*" if hosts or view == "results" else "* exclude (host)"
        select = f"select {columns} from {view} order by {by}"
        with replacing(target) as partial:
            try:
                self.views.query(f"copy ({select}) to {sql_text(partial)} ({options})")
            except duckdb.IOException as error:
                raise OSError(None, str(error)) from None
        return target

    # ------------------------------------------------------------------ a cache for tuning

    @cached_property
    def _locked(self) -> Views:
        return self._open_views(locked=True)

    @cached_property
    def _cache(self) -> JsonLinesCache:
        return JsonLinesCache(self.path / CACHE)

    def get(self, key: str) -> dict[str, Any] | None:
        """Return what was put under a key: a store is a cache for :func:`isonomy.tradeoff.tune`."""
        return self._cache.get(key)

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Keep the result of an evaluation, beside the records."""
        self._cache.put(key, value)

    # ------------------------------------------------------------------ growing

    def score(self, metrics: Sequence[str | Metric]) -> int:
        """Add metrics of counts to every run that is ok, from its joint counts: nothing is fitted.

        Returns
        -------
        int
            How many runs gained a metric.
        """
        wanted = {metric.name: metric for metric in map(count_metric, metrics)}
        with self.writer() as writer:
            return writer.score([*wanted.values()])

    def merge(self, *others: "Store | str | os.PathLike[str]") -> int:
        """Add the records of other stores of the same study, from other machines perhaps.

        A run that is ok here is kept as it is. Names of machines are left behind. Runs of another specification (other settings, data
        or library versions) are refused.

        Returns
        -------
        int
            How many records were added.
        """
        stores = [other if isinstance(other, Store) else Store.open(other) for other in others]
        for other in stores:
            if other.path.resolve() == self.path.resolve():
                raise InputError(
                    f"A store is merged with others; {str(other.path)!r} is this one: name another."
                )
            other.check_study(self.name)
            runs = other.runs("repeat is not null and status = 'ok'")
            self.refuse_conflicts(runs[[*RUN[1:], "key"]])
        with self.writer() as writer:
            return sum(writer.take(other.views) for other in stores)

    def compact(self) -> None:
        """Merge all parts into one shard."""
        with self.writer() as writer:
            writer.compact(everything=True)


def _condition(where: str | None) -> str:
    return "" if where is None else f"where ({where})"
