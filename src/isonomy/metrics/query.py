"""Files that are counted where they lie: Parquet, CSV and DuckDB, through DuckDB.

The rows never enter Python; one GROUP BY gives the cells.
"""

import os
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy._validate import MISSING, listed, unknown_name
from isonomy.errors import InputError
from isonomy.metrics.counts import Counts
from isonomy.metrics.scores import ScoreTable
from isonomy.metrics.tally import (
    Cells,
    check_columns,
    check_weight_sums,
    from_rows,
    is_missing,
)

__all__ = [
    "Bins",
    "banded",
    "columns_of",
    "connect",
    "from_query",
    "group_query",
    "quoted",
    "read_columns",
    "read_counts",
    "score_histogram",
]


def quoted(name: str) -> str:
    """Quote a column or table name for SQL."""
    return '"' + name.replace('"', '""') + '"'


MOST_CELLS = 200_000

Bins = Mapping[str, Sequence[float]]


def banded(name: str, bins: Bins | None = None) -> str:
    """Write a column for SQL, cut into bands where cuts are given for it.

    NaN is in no band, though engines sort it above every number; a number less itself is 0, and
    saying so works in every engine and for every type of number.
    """
    column = quoted(name)
    cuts = sorted((bins or {}).get(name, ()))
    if not cuts:
        return column
    low = [f"{cut:g}" for cut in cuts]
    bands = [f"under {low[0]}"] + [f"{a} to {b}" for a, b in pairwise(low)]
    cases = " ".join(
        f"WHEN {column} < {cut!r} THEN '{band}'" for cut, band in zip(cuts, bands, strict=True)
    )
    unknown = f"{column} IS NULL OR {column} - {column} <> 0"
    return f"CASE WHEN {unknown} THEN NULL {cases} ELSE '{low[-1]} and over' END"


def group_query(
    source: str,
    label: str,
    prediction: str,
    sensitive: Sequence[str],
    weight: str | None = None,
    bins: Bins | None = None,
) -> str:
    """Write the one GROUP BY that counts ``source`` (a table name or a reader call)."""
    keys = [*(banded(a, bins) for a in sensitive), quoted(label), quoted(prediction)]
    names = [quoted(name) for name in (*sensitive, "y_true", "y_pred")]
    columns = [k if k == name else f"{k} AS {name}" for k, name in zip(keys, names, strict=True)]
    columns.append("COUNT(*) AS n")
    if weight:
        w = f"CAST({quoted(weight)} AS DOUBLE PRECISION)"
        columns += [f"SUM({w}) AS w", f"SUM({w} * {w}) AS w2"]
    return f"SELECT {', '.join(columns)}\nFROM {source}\nGROUP BY {', '.join(keys)}"


def connect(source: str | os.PathLike[str], table: str | None = None) -> tuple[Any, str]:
    """Open a file with DuckDB; give the connection and the SQL that reads the file."""
    import duckdb

    path = Path(source)
    name = str(source)
    if not any(c in name for c in "*?[") and not path.exists():
        near = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
        hint = unknown_name("file", path.name, near) if near else f"There is no file {name!r}."
        raise InputError(str(hint)) from None
    if path.is_dir():
        raise InputError(f"A file must be given; {name!r} is a folder.")
    literal = "'" + name.replace("'", "''") + "'"
    endings = [s.lower() for s in path.suffixes]
    kind = endings[-1] if endings else ""
    if kind in {".gz", ".zst"} and len(endings) > 1:
        kind = endings[-2]
    if not any(c in name for c in "*?[") and path.stat().st_size == 0:
        raise InputError(f"The file must hold rows; {name!r} is empty.")
    try:
        if kind in {".duckdb", ".ddb", ".db"}:
            connection = _quiet(duckdb.connect(name, read_only=True))
            return connection, _duckdb_table(connection, table, name)
        if table is not None:
            raise InputError(f"--table is for DuckDB files; {name!r} is not one.")
        connection = _quiet(duckdb.connect())
        if kind in {".parquet", ".pq"}:
            return connection, f"read_parquet({literal})"
        if kind in {".csv", ".tsv", ".txt", ".data"}:
            return connection, _csv_reader(connection, literal)
    except duckdb.Error as error:
        raise _unreadable(source, error) from None
    raise InputError(
        f"A file must end in .parquet, .csv, .tsv or .duckdb (.csv.gz too); got {name!r}."
    )


def _quiet(connection: Any) -> Any:
    """Keep DuckDB's progress bar off standard output, which belongs to the result."""
    connection.execute("SET enable_progress_bar = false")
    return connection


def _duckdb_table(connection: Any, table: str | None, name: str) -> str:
    found = [
        row[0]
        for row in connection.execute(
            "SELECT table_name FROM information_schema.tables ORDER BY 1"
        ).fetchall()
    ]
    if table is None:
        if len(found) == 1:
            return quoted(found[0])
        raise InputError(
            f"A table of {name!r} must be named with --table; it holds "
            f"{listed(found) if found else 'none'}."
        )
    if table not in found:
        raise unknown_name("table", table, found)
    return quoted(table)


def _csv_reader(connection: Any, literal: str) -> str:
    """Write the call that reads a CSV file, with words such as yes and no kept as words.

    DuckDB takes yes / no and t / f for truth values; a user who names ``yes`` must find it. Only
    true / false, which is how data frames write truth values, stay so.
    """
    options = f"{literal}, sample_size=1000000"
    described = connection.execute(f"DESCRIBE SELECT * FROM read_csv({options})").fetchall()
    truths = [row[0] for row in described if row[1] == "BOOLEAN"]
    if not truths:
        return f"read_csv({options})"
    written = ", ".join(
        f"bool_or(lower(trim({quoted(c)})) NOT IN ('true', 'false', ''))" for c in truths
    )
    start = f"SELECT * FROM read_csv({options}, all_varchar=true) LIMIT 100000"
    found = connection.execute(f"SELECT {written} FROM ({start})").fetchone()
    words = [c for c, is_word in zip(truths, found, strict=True) if is_word]
    if not words:
        return f"read_csv({options})"
    kinds = ", ".join("'" + c.replace("'", "''") + "': 'VARCHAR'" for c in words)
    return f"read_csv({options}, types={{{kinds}}})"


def _unreadable(source: str | os.PathLike[str], error: Exception) -> InputError:
    """Say in one sentence why DuckDB could not read a file."""
    text = str(error).strip()
    why = text.splitlines()[0].rstrip(".")
    if "not utf-8" in text.lower():
        line = re.search(r"on Line: (\d+)", text)
        where = f" (line {line[1]})" if line else ""
        why = f"it is not UTF-8 text{where}; save it as UTF-8"
    elif "sniffing" in text:
        why = "it does not look like CSV (rows of cells parted by comma, semicolon, tab or |)"
    return InputError(f"The file {str(source)!r} cannot be read: {why}.")


def from_query(
    source: str | os.PathLike[str],
    label: str,
    prediction: str,
    sensitive: Sequence[str],
    weight: str | None,
    table: str | None,
    bins: Bins | None = None,
    declared: Sequence[Any] | None = None,
) -> Cells:
    """Count a file with DuckDB; only the cells come back."""
    import duckdb

    connection, reader = connect(source, table)
    with connection:
        try:
            known = _columns(connection, reader)
            check_columns([*sensitive, label, prediction, *([weight] if weight else [])], known)
            _check_bins(connection, reader, sensitive, bins)
            if weight:
                _check_numbers(connection, reader, [weight], "used as weights")
            sql = group_query(reader, label, prediction, sensitive, weight, bins)
            if weight:  # nulls vanish in a sum and negatives cancel: count both in the same pass
                w = quoted(weight)
                extra = f", COUNT(*) FILTER ({w} IS NULL) AS absent, MIN({w}) AS least\nFROM"
                sql = sql.replace("\nFROM", extra, 1)
            # a measurement or a name in place of an attribute would bring back every row
            rows = connection.execute(f"{sql}\nLIMIT {MOST_CELLS}").fetchall()
        except duckdb.Error as error:
            raise _unreadable(source, error) from None
    if weight:
        check_weight_sums(weight, [r[-2] for r in rows], [r[-1] for r in rows])
        rows = [r[:-2] for r in rows]
    cells = from_rows(rows, sensitive, weighted=bool(weight), declared=declared)
    if len(rows) == MOST_CELLS:  # every attribute is small, and their product is not
        raise InputError(
            f"The combinations of {listed(sensitive)}, label and prediction must be fewer than "
            f"{MOST_CELLS:,}; there are more: name fewer attributes, or merge their values."
        )
    return cells


def _check_bins(connection: Any, reader: str, sensitive: Sequence[str], bins: Bins | None) -> None:
    for name in bins or {}:
        if name not in sensitive:
            raise InputError(
                f"Bands must be of a protected attribute; {name!r} is not among "
                f"{listed(sensitive)}: name it there too, or leave its bands out."
            )
    _check_numbers(connection, reader, list(bins or {}), "cut into bands")


def _check_numbers(connection: Any, reader: str, names: Sequence[str], use: str) -> None:
    """Raise unless the columns hold numbers, before SQL compares words with them."""
    described = connection.execute(f"DESCRIBE SELECT * FROM {reader}").fetchall()
    kinds = {row[0]: row[1] for row in described}
    for name in names:
        if kinds[name] == "VARCHAR":
            raise InputError(
                f"A column must hold numbers to be {use}; {name!r} holds text: name another column."
            )


def _columns(connection: Any, reader: str) -> list[str]:
    return [row[0] for row in connection.execute(f"DESCRIBE SELECT * FROM {reader}").fetchall()]


def columns_of(source: str | os.PathLike[str], table: str | None = None) -> list[str]:
    """Name the columns of a file."""
    import duckdb

    connection, reader = connect(source, table)
    with connection:
        try:
            return _columns(connection, reader)
        except duckdb.Error as error:
            raise _unreadable(source, error) from None


def read_columns(
    source: str | os.PathLike[str], columns: Sequence[str], table: str | None = None
) -> pd.DataFrame:
    """Read some columns of a file, for what counts cannot give."""
    import duckdb

    connection, reader = connect(source, table)
    with connection:
        try:
            known = _columns(connection, reader)
            for name in columns:
                if name not in known:
                    raise unknown_name("column", name, known)
            wanted = ", ".join(quoted(name) for name in dict.fromkeys(columns))
            found: pd.DataFrame = connection.execute(f"SELECT {wanted} FROM {reader}").df()
        except duckdb.Error as error:
            raise _unreadable(source, error) from None
    return found


def read_counts(
    source: str | os.PathLike[str], sensitive: Sequence[str] = (), table: str | None = None
) -> Cells:
    """Read a small file of counts, as :func:`group_query` gives them.

    Its columns are the protected attributes, ``y_true``, ``y_pred``, ``n`` and, with weights,
    ``w`` and ``w2``. Attributes that are not named in ``sensitive`` are added up over.
    """
    import duckdb

    connection, reader = connect(source, table)
    with connection:
        try:
            known = _columns(connection, reader)
            for name in ("y_true", "y_pred", "n"):
                if name not in known:
                    raise InputError(
                        f"A file of counts must have the columns y_true, y_pred and n besides the "
                        f"protected attributes; {str(source)!r} has {listed(known)}."
                    )
            weighted = "w" in known
            if weighted and "w2" not in known:
                raise InputError(
                    "Weighted counts must carry w2 (the sum of squared weights) beside w."
                )
            names = list(sensitive) or [
                c for c in known if c not in {"y_true", "y_pred", "n", "w", "w2"}
            ]
            check_columns(names, known)
            keys = ", ".join(quoted(c) for c in (*names, "y_true", "y_pred"))
            sums = ", ".join(f"SUM({c}) AS {c}" for c in (["n", "w", "w2"] if weighted else ["n"]))
            rows = connection.execute(
                f"SELECT {keys}, {sums} FROM {reader} GROUP BY {keys}"
            ).fetchall()
        except duckdb.Error as error:
            raise _unreadable(source, error) from None
    if not names:
        raise InputError(
            "A file of counts must have at least one protected attribute; it has none."
        )
    return from_rows(rows, names, weighted=weighted)


def score_histogram(
    source: str | os.PathLike[str],
    counts: Counts,
    *,
    label: str,
    score: str,
    weight: str | None = None,
    table: str | None = None,
    bands: Bins | None = None,
    bins: int = 4096,
) -> ScoreTable:
    """Make the histogram of a score column in the file's own engine.

    Squared error and log loss come out exact; ranking and calibration see scores of one bin as
    equal (:meth:`ScoreTable.auc_error` bounds what that can do).
    """
    import duckdb

    connection, reader = connect(source, table)
    s = f"CAST({quoted(score)} AS DOUBLE)"
    w = f"CAST({quoted(weight)} AS DOUBLE)" if weight else "1.0"
    keys = ", ".join([*(banded(a, bands) for a in counts.attributes), quoted(label)])
    tiny = repr(float(np.finfo(np.float64).eps))
    with connection:
        try:
            check_columns([score], _columns(connection, reader))
            lowest, highest, absent = connection.execute(
                f"SELECT MIN({s}), MAX({s}), COUNT(*) FILTER (NOT isfinite({s}) OR {s} IS NULL) "
                f"FROM {reader}"
            ).fetchone()
            if absent:
                raise InputError(
                    f"Scores must be finite numbers; {absent:,} rows of {score!r} are not."
                )
            inside = lowest >= 0 and highest <= 1
            low, width = (0.0, 1.0) if inside else (lowest, max(highest - lowest, 1e-300))
            loss = f"GREATEST(LEAST({s}, 1 - {tiny}), {tiny})" if inside else "0.5"
            found = connection.execute(
                f"SELECT {keys}, CAST(LEAST(FLOOR(({s} - {low!r}) / {width!r} * {bins}), {bins - 1})"
                f" AS INTEGER) AS bin, COUNT(*), SUM({w}), SUM({w} * {s}), SUM({w} * {s} * {s}), "
                f"SUM(-{w} * LN({loss})), SUM(-{w} * LN(1 - {loss})) "
                f"FROM {reader} GROUP BY {keys}, bin"
            ).fetchall()
        except duckdb.Error as error:
            raise _unreadable(source, error) from None
    place = {group: i for i, group in enumerate(counts.groups)}
    k = len(counts.attributes)
    group = np.array([place[tuple(MISSING if is_missing(v) else v for v in r[:k])] for r in found])
    good = np.array([r[k] in counts.favorable for r in found], dtype=np.intp)
    at = np.array([r[k + 1] for r in found], dtype=np.intp)
    sums: NDArray[np.float64] = np.array([r[k + 2 :] for r in found], dtype=np.float64).T
    cells = np.zeros((6, len(counts.groups), 2, bins))
    for total, column in zip(cells, sums, strict=True):
        np.add.at(total, (group, good, at), column)
    n, mass, first, second, loss_good, loss_bad = cells
    held = np.where(mass > 0, mass, 1.0)
    y = np.array([0.0, 1.0])[:, None]
    return ScoreTable(
        n=n,
        w=mass,
        mean=first / held,
        square=(second - 2 * y * first + y * mass) / held,
        loss=np.where(y == 1, loss_good, loss_bad) / held,
        groups=counts.groups,
        probabilities=bool(inside),
    )
