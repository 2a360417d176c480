"""What readers see of a store: DuckDB views over its shards and the logs not yet compacted."""

import contextlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import duckdb

from isonomy.store.codec import FIELDS, RUN_FIELDS
from isonomy.store.log import read_batches
from isonomy.store.parts import Part, list_parts, quoted, sql_files
from isonomy.store.record import COLUMNS, RUN

__all__ = ["ORDER", "Views", "load_docs", "metric_columns"]

ORDER = ", ".join(quoted(name) for name in (*RUN, "key"))
"""The order in which everything is handed out: it does not depend on who finished first."""


def metric_columns(docs: Iterable[dict[str, Any]], known: Iterable[str] = ()) -> list[str]:
    """Give the names of all metrics, those already known first."""
    names = dict.fromkeys(known)
    for measured in {tuple(doc["measured"]): None for doc in docs}:
        names.update(dict.fromkeys(measured))
    return list(names)


def load_docs(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    docs: list[dict[str, Any]],
    metrics: Sequence[str],
) -> None:
    """Make a table of records; its types are stated, never guessed."""
    kinds: dict[str, Any] = {
        name: [kind[:-2]] if kind.endswith("[]") else kind for name, kind in FIELDS.items()
    }
    kinds |= dict.fromkeys(metrics, "DOUBLE")
    connection.execute(
        f"create or replace table {table} as select unnest(from_json(?::json, ?), max_depth := 2)",
        [json.dumps(docs, allow_nan=False), json.dumps([kinds])],
    )


class Views:
    """A connection whose views follow the store as it grows.

    ``live`` holds every record in force, ``runs`` those without their counts, ``results`` the
    result frame and ``counts`` the joint counts.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.connection = duckdb.connect()
        self.metrics: list[str] = []
        self._state: Any = None
        self._tails: dict[Path, tuple[list[dict[str, Any]], int]] = {}

    def refresh(self) -> None:
        """Look at the folder again; what has not changed is not read again."""
        parts, docs = self._look()
        shards = [part.path for part in parts if part.kind == "parquet"]
        state = ([(p, p.stat().st_mtime_ns, p.stat().st_size) for p in shards], len(docs))
        if state == self._state:
            return
        run, self._state = self.connection.execute, None
        columns: list[str] = []
        if shards:
            told = run(f"describe select * from {sql_files(shards)}").fetchall()
            columns = [row[0] for row in told if row[0] not in FIELDS]
        self.metrics = metric_columns(docs, columns)
        load_docs(self.connection, "tail", docs, self.metrics)
        source = "select * from tail"
        if shards:
            source = f"select * from {sql_files(shards)} union all by name {source}"
        run(f"create or replace view stored as {source}")
        twice = run("select count(*) <> count(distinct key) from stored").fetchall()[0][0]
        # a run that was tried again, or that came from two machines: what went well, the latest
        once = (
            "qualify row_number() over (partition by key order by status = 'ok' desc, seq desc) = 1"
        )
        run(f"create or replace view live as select * from stored {once if twice else ''}")
        named = ", ".join(map(quoted, RUN_FIELDS))
        measures = "".join(f", {quoted(m)}" for m in self.metrics)
        run(f"create or replace view runs as select {named}{measures} from live")
        run(f"create or replace view results as {self._results()}")
        run(
            f"create or replace view counts as select {named}, cells, n, w, w2 "
            "from live where cells is not null"
        )
        self._state = state

    def _results(self) -> str:
        """Write the result frame as SQL: a row per metric, and one for a run that has none."""
        named = ", ".join(map(quoted, RUN))
        out = f"select {named}, '' as metric, null::double as value, status, reason from live where len(measured) = 0"
        if self.metrics:
            listed = ", ".join(map(quoted, self.metrics))
            out += (
                f" union all by name select {', '.join(map(quoted, COLUMNS))} from "
                f"(select {named}, status, reason, measured, {listed} from live) "
                f"unpivot include nulls (value for metric in ({listed})) "
                "where list_contains(measured, metric)"
            )
        return out

    def _look(self) -> tuple[list[Part], list[dict[str, Any]]]:
        """List the parts and read the logs; start again where a log became a shard meanwhile."""
        while True:
            parts, _ = list_parts(self.folder)
            logs = [part.path for part in parts if part.kind == "log"]
            with contextlib.suppress(FileNotFoundError):
                docs = [doc for log in logs for doc in self._tail(log)]
                self._tails = {log: self._tails[log] for log in logs}
                return parts, docs

    def _tail(self, log: Path) -> list[dict[str, Any]]:
        """Read what a log has gained since it was last read."""
        docs, done = self._tails.get(log, ([], 0))
        with log.open("rb") as file:
            file.seek(done)
            more, size = read_batches(file.read(), name=log.name)
        self._tails[log] = (docs + more, done + size)
        return self._tails[log][0]

    def query(self, sql: str, parameters: Any = None) -> duckdb.DuckDBPyConnection:
        """Refresh and run a statement; again where a shard was merged away under it.

        Each answer comes from a cursor of its own, so that several can be read side by side.
        """
        for attempt in range(5):
            try:
                self.refresh()
                return self.connection.cursor().execute(sql, parameters)
            except (duckdb.IOException, FileNotFoundError):
                self._state = None
                if attempt == 4:
                    raise
        raise AssertionError("unreachable")
