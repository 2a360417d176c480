"""What readers see of a store: DuckDB views over its shards and the logs not yet compacted."""

import contextlib
import itertools
import json
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from isonomy._files import interruptible, sql_name, sql_text
from isonomy._validate import listed
from isonomy.errors import InputError
from isonomy.store.log import (
    Part,
    damaged,
    find_damage,
    find_gap,
    list_parts,
    read_batches,
    shard_paths,
)
from isonomy.store.record import COLUMNS, FIELDS, RUN, RUN_FIELDS

_SEPARATOR = "\x1f"
_CHUNK = 500
_TRIES = 20
_LOCK = (
    "set enable_external_access = false; set python_enable_replacements = false; "
    "set lock_configuration = true"
)


def sql_files(paths: Sequence[Path]) -> str:
    """Write ``read_parquet(...)`` over files that may differ in their metrics."""
    names = ", ".join(map(sql_text, paths))
    return f"read_parquet([{names}], union_by_name=true)"


ORDER = ", ".join(sql_name(name) for name in (*RUN, "key"))
"""The order of all results: it does not depend on which run finished first."""


def metric_columns(docs: Iterable[dict[str, Any]], known: Iterable[str] = ()) -> list[str]:
    """Return the names of all metrics, those already known first."""
    names = dict.fromkeys(known)
    for measured in {tuple(doc["measured"]): None for doc in docs}:
        names.update(dict.fromkeys(measured))
    return list(names)


def shard_metrics(connection: duckdb.DuckDBPyConnection, shards: Sequence[Path]) -> list[str]:
    """Return the names of the metrics that shards hold."""
    if not shards:
        return []
    columns = connection.execute(f"describe select * from {sql_files(shards)}").fetchall()
    return [row[0] for row in columns if row[0] not in FIELDS]


def load_docs(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    docs: list[dict[str, Any]],
    metrics: Sequence[str],
    *,
    done: int = 0,
) -> None:
    """Make a table of records; its types are stated, never guessed.

    The table already holds the first ``done`` of them where that is not 0.
    """
    kinds: dict[str, Any] = {
        name: [kind[:-2]] if kind.endswith("[]") else kind for name, kind in FIELDS.items()
    }
    kinds |= dict.fromkeys(metrics, "DOUBLE")
    select = "select unnest(from_json(?::json, ?), max_depth := 2)"
    for start in range(done, max(len(docs), 1), _CHUNK):  # parsed JSON takes 100 times its text
        verb = f"insert into {table}" if start else f"create or replace table {table} as"
        some = json.dumps(docs[start : start + _CHUNK], allow_nan=False)
        connection.execute(f"{verb} {select}", [some, json.dumps([kinds])])


class Views:
    """A connection whose views follow the store as it grows.

    ``locked`` connections reach no file but the store's: a query of a user cannot read, write or
    install anything else.

    ``live`` holds every record in force, ``runs`` those without their counts, ``results`` the
    result frame and ``counts`` the joint counts.
    """

    def __init__(self, folder: Path, *, locked: bool = False) -> None:
        self.folder = folder
        self.connection = duckdb.connect()
        if locked:
            place = sql_text(f"{folder.resolve()}/")
            self.connection.execute(f"set allowed_directories = [{place}]; {_LOCK}")
        self.metrics: list[str] = []
        self._state: Any = None
        self._tails: dict[Path, tuple[list[dict[str, Any]], int]] = {}
        self._checked: set[Part] = set()

    def refresh(self) -> None:
        """Look at the folder again; what has not changed is not read again."""
        parts, docs = self._look()
        shards = shard_paths(parts)
        state = ([(p, p.stat().st_mtime_ns, p.stat().st_size) for p in shards], len(docs))
        if state == self._state:
            return
        run, before, self._state = self.connection.execute, self._state, None
        metrics = metric_columns(docs, shard_metrics(self.connection, shards))
        # logs only grow, so as long as none became a shard the table lacks the last records
        grown = before is not None and before[0] == state[0] and metrics == self.metrics
        self.metrics = metrics
        load_docs(self.connection, "tail", docs, metrics, done=before[1] if grown else 0)
        source = "select * from tail"
        if shards:
            source = f"select * from {sql_files(shards)} union all by name {source}"
        run(f"create or replace view stored as {source}")
        self._define()
        self._state = state

    def _define(self) -> None:
        """Make the other views over ``stored``."""
        run = self.connection.execute
        run(f"create or replace view live as select * from stored {self._in_force()}")
        named = ", ".join(map(sql_name, RUN_FIELDS))
        measures = "".join(f", {sql_name(m)}" for m in self.metrics)
        run(f"create or replace view runs as select {named}{measures} from live")
        run(f"create or replace view results as {self._results()}")
        run(
            f"create or replace view counts as select {named}, cells, n, w, w2 "
            "from live where cells is not null"
        )

    def _in_force(self) -> str:
        """Write in SQL which records are in force, where some are not.

        Of a run that was tried again, or came from two machines: ok before failed, then the latest.
        What did not end well under another key, of an earlier version perhaps, gives way as well.
        """
        query = self.connection.execute
        twice, bad = query(
            "select count(*) <> count(distinct key), count(*) filter (status <> 'ok') > 0 from stored"
        ).fetchall()[0]
        best = "order by status = 'ok' desc, seq desc"
        rules = [f"row_number() over (partition by key {best}) = 1"] if twice else []
        run = ", ".join(map(sql_name, RUN))
        keys = f"select count(distinct key) k from stored where repeat is not null group by {run}"
        if bad and query(f"select bool_or(k > 1) from ({keys})").fetchall()[0][0]:
            first = f"row_number() over (partition by {run} {best}) = 1"
            rules.append(f"(status = 'ok' or repeat is null or {first})")
        return f"qualify {' and '.join(rules)}" if rules else ""

    def _results(self) -> str:
        """Write the result frame as SQL: a row per metric, and one for a run that has none."""
        named = ", ".join(map(sql_name, RUN))
        out = (
            f"select {named}, '' as metric, null::double as value, status, reason "
            "from live where len(measured) = 0"
        )
        if self.metrics:
            listed = ", ".join(map(sql_name, self.metrics))
            out += (
                f" union all by name select {', '.join(map(sql_name, COLUMNS))} from "
                f"(select {named}, status, reason, measured, {listed} from live) "
                f"unpivot include nulls (value for metric in ({listed})) "
                "where list_contains(measured, metric)"
            )
        return out

    def _look(self) -> tuple[list[Part], list[dict[str, Any]]]:
        """List the parts and read the logs; start again if a log became a shard meanwhile."""
        for attempt in itertools.count():
            parts, _ = list_parts(self.folder)
            # while a writer renames files, a listing may lack some
            gap = find_gap(parts)
            if gap and attempt >= _TRIES:
                raise damaged(self.folder.parent, gap)
            if gap:
                time.sleep(0.01)
                continue
            logs = [part.path for part in parts if part.kind == "log"]
            with contextlib.suppress(FileNotFoundError):
                for part in set(parts) - self._checked:
                    if problem := find_damage(part):
                        raise damaged(self.folder.parent, problem)
                self._checked = set(parts)
                docs = [doc for log in logs for doc in self._tail(log)]
                self._tails = {log: self._tails[log] for log in logs}
                return parts, docs
        raise AssertionError("unreachable")

    def _tail(self, log: Path) -> list[dict[str, Any]]:
        """Read what a log has gained since it was last read."""
        docs, done = self._tails.get(log, ([], 0))
        with log.open("rb") as file:
            file.seek(done)
            more, size = read_batches(file.read(), name=log.name)
        self._tails[log] = (docs + more, done + size)
        return self._tails[log][0]

    def query(self, sql: str, parameters: Any = None) -> duckdb.DuckDBPyConnection:
        """Refresh and run a statement; again if a shard was merged away meanwhile.

        Each answer comes from a cursor of its own, so that several can be read side by side.
        """
        for attempt in range(5):
            try:
                with interruptible():
                    self.refresh()
                    return self.connection.cursor().execute(sql, parameters)
            except (duckdb.IOException, FileNotFoundError):
                self._state = None
                if attempt == 4:
                    raise
            except duckdb.Error as error:
                raise _refused(error) from None
        raise AssertionError("unreachable")

    def select(self, sql: str) -> pd.DataFrame:
        """Run one query that only reads."""
        try:
            kinds = [statement.type for statement in self.connection.extract_statements(sql)]
        except duckdb.Error:
            kinds = [duckdb.StatementType.SELECT]  # what is wrong is said when it is run
        if kinds not in ([duckdb.StatementType.SELECT], [duckdb.StatementType.EXPLAIN]):
            raise InputError(
                "A query must be one SELECT on the views runs, results and counts; got "
                f"{listed([kind.name for kind in kinds]) or 'nothing'}: use `isonomy study "
                "export` to write a file."
            )
        try:
            return self.query(sql).df()
        except duckdb.Error as error:
            raise _refused(error) from None

    def frame(self, where: str, metrics: Sequence[str] | None) -> pd.DataFrame:
        """Return the result frame of the runs that a ``where`` clause chooses."""
        names = ", ".join(map(sql_name, (*RUN, "status", "reason")))
        measured, chosen = "measured", self.metrics
        if metrics is not None:
            chosen = list(metrics)
            listed = ", ".join(map(sql_text, chosen))
            measured = f"list_filter(measured, lambda m: list_contains([{listed}], m))"
        values = "".join(f", {sql_name(m)}" for m in chosen)
        runs = self.query(
            f"select {names}, array_to_string({measured}, '{_SEPARATOR}') as measured{values} "
            f"from live {where} order by {ORDER}"
        )
        return _long(runs.df())


class FixedViews(Views):
    """Views over records that do not change.

    ``load`` is given a connection and puts the records, with some metrics, into its table
    ``stored``. A ``locked`` connection reaches no file at all once they are loaded.
    """

    def __init__(
        self,
        load: Callable[[duckdb.DuckDBPyConnection, Sequence[str]], None],
        metrics: Sequence[str],
        *,
        locked: bool = False,
    ) -> None:
        super().__init__(Path())
        self.metrics = list(metrics)
        self._load, self._locked = load, locked

    def refresh(self) -> None:
        """Load the records, once."""
        if self._state is None:
            self._load(self.connection, self.metrics)
            self._define()
            self._state = "loaded"
            if self._locked:
                self.connection.execute(_LOCK)


def _refused(error: duckdb.Error) -> InputError:
    reason = str(error).split("\n\n")[0].replace("\n", " ")
    return InputError(
        f"A query must be SQL on the views runs, results and counts; DuckDB says: {reason}"
    )


def _long(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the result frame of wide runs, without a loop over its rows."""
    which, lists = pd.factorize(runs["measured"].to_numpy(dtype=object))
    # a run without metrics has one row, whose metric is the empty name
    measured = [text.split(_SEPARATOR) for text in lists]
    metrics = list(dict.fromkeys(name for names in measured for name in names))
    has = np.array([[m in names for m in metrics] for names in measured], dtype=bool)
    row, column = np.nonzero(has.reshape(len(lists), len(metrics))[which])
    values = runs.reindex(columns=metrics).to_numpy(dtype=np.float64)
    words = [name for name in COLUMNS if name not in ("metric", "value", "repeat")]
    kinds = {**dict.fromkeys(words, "category"), "repeat": "Int64"}
    frame = runs[[*kinds]].astype(kinds).take(row).reset_index(drop=True)
    names = pd.Index(metrics, dtype=str)
    frame["metric"] = pd.Categorical.from_codes(column, categories=names)
    frame["value"] = values[row, column]
    return frame[list(COLUMNS)]
