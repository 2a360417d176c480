"""Files in and out: CSV, Parquet, DuckDB and Excel are read by DuckDB, every file is written whole.

One rule for every reader. A name that exists is that file, whatever characters it holds; another
one with ``*``, ``?`` or ``[`` is a pattern. The first line of a CSV file names its columns; cells
are separated by the comma, semicolon, tab or ``|``, whichever is most frequent in it. An empty cell is missing. In a
column of numbers so are NA, N/A, NaN, null and None; among words they are words, so that a group
coded ``NA`` is a group. A first column without a name, as pandas and R write their row numbers, is
left out, and so is the index of pandas in a Parquet file. A column that repeats the name and every
cell of one before it is left out, too; any other name that occurs twice is refused. Text is UTF-8; of a CSV file that is not,
a warning says how it is read (:mod:`isonomy._encoding`). Between semicolons ``0,5`` and
``1.234,56`` are numbers, where a column holds nothing else and one of them cannot be a whole number
with separated thousands (``1,234``). Words such as yes and no, and dates, stay words; so do, in a Parquet or
DuckDB file, lists and other values with parts. Decimals are floats. A sheet of an Excel file is
read by the same rule (extra ``excel``), each cell as it was stored.
"""

import csv
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from isonomy._encoding import as_utf8, open_text
from isonomy._excel import ABSENT, read_sheets, sheet_table
from isonomy._validate import check_columns, check_names, listed, repeated_names, unknown_name
from isonomy.errors import InputError

_PARQUET, _CSV = {".parquet", ".pq"}, {".csv", ".tsv", ".txt", ".data"}
_DUCKDB, _PACKED = {".duckdb", ".ddb", ".db"}, {".gz", ".zst"}
_EXCEL = {".xlsx", ".xlsm"}
_NUMBER = "try_cast(trim({0}) AS DOUBLE)"
_COMMA = "replace(replace(trim({0}), '.', ''), ',', '.')"
_SAMPLE = 20_000
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")
_AS_WORDS = (
    *("DATE", "TIME", "INTERVAL", "UUID", "BLOB", "BIT", "STRUCT", "MAP", "UNION", "JSON"),
    "VARIANT",
)


def sql_name(name: str) -> str:
    """Quote the name of a column or table for SQL."""
    return '"' + name.replace('"', '""') + '"'


def sql_text(text: str | os.PathLike[str]) -> str:
    """Quote a text for SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def _kind(path: Path) -> str:
    endings = [ending.lower() for ending in path.suffixes]
    packed = len(endings) > 1 and endings[-1] in _PACKED
    return (endings[-2] if packed else endings[-1]) if endings else ""


def is_table_file(source: str | os.PathLike[str]) -> bool:
    """Return whether a path, or a text by its ending, is a file of rows."""
    known = _PARQUET | _CSV | _DUCKDB | _PACKED | _EXCEL | {".xls", ".ods"}
    return isinstance(source, os.PathLike) or Path(source).suffix.lower() in known


def is_workbook(source: str | os.PathLike[str]) -> bool:
    """Return whether a file is an Excel workbook, by its ending."""
    return Path(source).suffix.lower() in _EXCEL


@dataclass(frozen=True)
class TableFile:
    """An open file: the SQL that stands for its ``rows``, its ``columns`` with their SQL types."""

    connection: Any
    rows: str
    columns: dict[str, str]

    def execute(self, sql: str) -> Any:
        """Run a query."""
        return self.connection.execute(sql)


@contextmanager
def open_table(
    source: str | os.PathLike[str], table: str | None = None, *, kind: str | None = None
) -> Iterator[TableFile]:
    """Open a file with DuckDB, to be queried where it lies.

    What DuckDB cannot read is one sentence. ``kind`` (".csv") overrides the ending.
    """
    import duckdb

    path, name = Path(source), str(source)
    pattern = any(c in name for c in "*?[") and not path.exists()
    kind = _kind(path) if kind is None else kind
    if not pattern:
        _check_exists(path)
    try:
        place, locked = (name, True) if kind in _DUCKDB else (":memory:", False)
        with interruptible(), duckdb.connect(place, read_only=locked) as connection:
            # the progress bar goes to standard output, which belongs to the result
            connection.execute("SET enable_progress_bar = false")
            with ExitStack() as kept:
                literal = sql_text(name) if pattern else _literal(name)
                try:
                    rows = _reader(connection, literal, name, kind, table)
                except duckdb.Error as error:
                    if kind not in _CSV or not _is_not_utf8(error):
                        raise
                    listing = f"SELECT file FROM glob({literal}) ORDER BY file"
                    paths = [Path(file) for (file,) in connection.execute(listing).fetchall()]
                    literal = f"[{', '.join(map(_literal, kept.enter_context(as_utf8(paths))))}]"
                    rows = _reader(connection, literal, name, kind, table)
                rows = _plain_rows(connection, rows)
                yield TableFile(connection, rows, _types(connection, rows))
    except duckdb.Error as error:
        raise _unreadable(name, error, kind in _CSV and not pattern) from None


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C be a KeyboardInterrupt while DuckDB works, which has two errors of its own for it."""
    import duckdb

    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except RuntimeError as error:
        if str(error) != "Query interrupted":
            raise
        raise KeyboardInterrupt from None


def _literal(name: str | os.PathLike[str]) -> str:
    """Quote the name of a file for SQL, none of its characters a pattern."""
    return sql_text(re.sub(r"([*?\[])", r"[\1]", str(name)))


def _is_not_utf8(error: Exception) -> bool:
    return "not utf-8" in str(error).lower()


def _check_exists(path: Path) -> None:
    if path.is_dir():
        raise InputError(f"A file must be given; {str(path)!r} is a folder.")
    if not path.exists():
        files = sorted(str(p) for p in path.parent.glob("*") if is_table_file(str(p)))
        raise unknown_name("file", str(path), files)
    if path.stat().st_size == 0:
        raise InputError(f"The file must hold rows; {str(path)!r} is empty.")


def _reader(connection: Any, literal: str, name: str, kind: str, table: str | None) -> str:
    if kind in _DUCKDB:
        tables = "SELECT table_name FROM information_schema.tables ORDER BY 1"
        known = [row[0] for row in connection.execute(tables).fetchall()]
        return sql_name(_one_of(known, table, name, "table"))
    if kind in _EXCEL:
        sheets = read_sheets(name)
        title = _one_of(list(sheets), table, name, "sheet")
        connection.register("sheet", sheet_table(sheets[title], title))
        return "sheet"
    if table is not None:
        raise InputError(f"--table is for DuckDB and Excel files; {name!r} is not one.")
    if kind in _PARQUET:
        rows = f"read_parquet({literal})"
        index = [c for c in _types(connection, rows) if _PANDAS_INDEX.fullmatch(c)]
        names = ", ".join(map(sql_name, index))
        return f"(SELECT * EXCLUDE ({names}) FROM {rows})" if index else rows
    if kind in _CSV:
        return _csv_reader(connection, literal)
    raise InputError(
        f"A file must end in .parquet, .csv, .tsv, .xlsx or .duckdb (.csv.gz too); got {name!r}"
        f"{': save it as .xlsx' if kind in {'.xls', '.ods'} else ''}."
    )


def _one_of(known: Sequence[str], table: str | None, name: str, what: str) -> str:
    """Return the table of a file that was named, or the only one."""
    if table is None and len(known) != 1:
        raise InputError(
            f"A {what} of {name!r} must be named with --table; it holds {listed(known)}."
        )
    if table is not None and table not in known:
        raise unknown_name(what, table, known)
    return table or known[0]


def _csv_reader(connection: Any, literal: str) -> str:
    """Write the call that reads a CSV file by the rule of this module.

    DuckDB takes yes / no and t / f for truth values, and dates for instants; a user who names
    ``yes`` must find it. Only true / false, as data frames write truth values, stay so.
    """
    whole_lines = "delim='\x1f', quote='', escape='', header=false, columns={'line': 'VARCHAR'}"
    first = f"SELECT line FROM read_csv({literal}, {whole_lines}) LIMIT 1"
    (line,) = connection.execute(first).fetchone() or ("",)
    separator = _separator(line or "")
    try:
        names = next(csv.reader([line or ""], delimiter=separator), [])
    except csv.Error as error:  # a field of more than 128 KiB
        raise InputError(
            f"The first line of a file must name its columns; here it cannot: {error}."
        ) from None
    call = (
        f"read_csv({literal}, delim={sql_text(separator)}, quote='\"', escape='\"', "
        f"header=true, skip=0, comment='', sample_size=1000000"
    )
    kinds = _types(connection, f"{call})")
    copies = _copies(connection, f"{call}, all_varchar=true)", names, list(kinds))
    check_names([n for k, n in enumerate(names) if k not in copies], what="a file", fold=True)
    left_out = [list(kinds)[k] for k in copies]
    if len(names) > 1 and not names[0].strip("\ufeff "):
        left_out.append(next(iter(kinds)))
    kinds = {c: kind for c, kind in kinds.items() if c not in left_out}
    sample = f"(SELECT * FROM {call}, all_varchar=true) LIMIT 100000)"
    truths = [c for c, kind in kinds.items() if kind == "BOOLEAN"]
    words = [c for c, kind in kinds.items() if kind.startswith(("DATE", "TIME"))]
    words += _where(
        connection, sample, truths, "bool_or(lower(trim({})) NOT IN ('true', 'false', ''))"
    )
    if words:
        types = ", ".join(f"{sql_text(c)}: 'VARCHAR'" for c in words)
        call += f", types={{{types}}}"
    texts = [c for c, kind in kinds.items() if kind == "VARCHAR"]
    number = f"bool_and({_NUMBER} IS NOT NULL OR coalesce(lower(trim({{0}})), '') IN {ABSENT})"
    maybe = _where(connection, f"(SELECT * FROM {call}) LIMIT {_SAMPLE})", texts, number)
    numbers = _where(connection, f"{call})", maybe, f"{number} AND bool_or(isfinite({_NUMBER}))")
    rest = [c for c in texts if c not in numbers] if separator == ";" else []
    commas = _decimal_commas(connection, f"{call})", rest)
    chosen = "*"
    if left_out:
        chosen += f" EXCLUDE ({', '.join(map(sql_name, left_out))})"
    if numbers or commas:
        pairs = [(c, _NUMBER) for c in numbers]
        pairs += [(c, _NUMBER.format(_COMMA)) for c in commas]
        casts = ", ".join(f"{cast} AS {{0}}".format(sql_name(c)) for c, cast in pairs)
        chosen += f" REPLACE ({casts})"
    return f"{call})" if chosen == "*" else f"(SELECT {chosen} FROM {call}))"


def _separator(line: str) -> str:
    """Return what parts the names in the first line of a CSV file."""
    return max(",;\t|", key=re.sub('"[^"]*"', "", line).count)


def _copies(connection: Any, rows: str, names: Sequence[str], columns: Sequence[str]) -> list[int]:
    """Return which columns repeat the name and every cell of one before them."""
    if len(names) != len(columns):
        return []
    pairs = repeated_names(names)
    if not pairs:
        return []
    same = (
        f"bool_and({sql_name(columns[a])} IS NOT DISTINCT FROM {sql_name(columns[b])})"
        for a, b in pairs
    )
    answers = connection.execute(f"SELECT {', '.join(same)} FROM {rows}").fetchone()
    return [k for (_, k), equal in zip(pairs, answers, strict=True) if equal]


def _decimal_commas(connection: Any, rows: str, texts: Sequence[str]) -> list[str]:
    """Return the columns of words that are numbers with decimal commas, and cannot be others."""
    cell = "trim({0})"
    decimal = rf"regexp_full_match({cell}, '[+-]?(\d*|\d{{{{1,3}}}}(\.\d{{{{3}}}})+),\d+|[+-]?\d+')"
    thousands = rf"regexp_full_match({cell}, '[+-]?[1-9]\d{{{{0,2}}}}(,\d{{{{3}}}})+|[^,]*')"
    absent = f"coalesce(lower({cell}), '') IN {ABSENT}"
    asked = f"bool_and({decimal} OR {absent}) AND NOT bool_and({thousands} OR {absent})"
    maybe = _where(
        connection,
        f"(SELECT * FROM {rows} LIMIT {_SAMPLE})",
        texts,
        f"bool_and({decimal} OR {absent})",
    )
    return _where(connection, rows, maybe, asked)


def _plain_rows(connection: Any, rows: str) -> str:
    """Write rows in which dates, lists and the like are words, and decimals floats.

    Python, pandas and SQL have a type of their own for each of these, so that one value read in
    two ways would not equal itself.
    """
    casts = {}
    for name, kind in _types(connection, rows).items():
        if kind.startswith("DECIMAL"):
            casts[name] = "DOUBLE"
        elif kind.startswith(_AS_WORDS) or kind.endswith("]"):
            casts[name] = "VARCHAR"
    if not casts:
        return rows
    written = ", ".join(f"CAST({sql_name(c)} AS {k}) AS {sql_name(c)}" for c, k in casts.items())
    return f"(SELECT * REPLACE ({written}) FROM {rows})"


def _types(connection: Any, reader: str) -> dict[str, str]:
    rows = connection.execute(f"DESCRIBE SELECT * FROM {reader}").fetchall()
    return {row[0]: row[1] for row in rows}


def _where(connection: Any, rows: str, columns: Sequence[str], condition: str) -> list[str]:
    """Return the columns for which an aggregate over the rows is true."""
    if not columns:
        return []
    asked = ", ".join(condition.format(sql_name(c)) for c in columns)
    answers = connection.execute(f"SELECT {asked} FROM {rows}").fetchone()
    return [c for c, answer in zip(columns, answers, strict=True) if answer]


def _unreadable(name: str, error: Exception, is_csv: bool) -> InputError:
    """Return the one-sentence error for a file that DuckDB cannot read."""
    text = str(error).strip()
    if _is_not_utf8(error):
        line = re.search(r"on Line: (\d+)", text)
        where = f" (line {line[1]})" if line else ""
        why = f"it is not UTF-8 text{where}; save it as UTF-8"
    elif is_csv and (odd := _odd_line(Path(name))):
        why = odd
    elif "CSV" in text:
        why = "it does not look like CSV (cells separated by comma, semicolon, tab or |)"
    else:  # the kind of DuckDB's error says nothing to a user
        why = re.sub(r"^[A-Z][\w ]* Error: ", "", text.splitlines()[0]).rstrip(".!")
    return InputError(f"The file {name!r} cannot be read: {why}.")


def _odd_line(path: Path) -> str:
    """Say where a CSV file stops being one; an empty text where that is not seen."""
    start = 1
    try:
        with open_text(path) as text:
            first = text.readline()
            rows = csv.reader(chain([first], text), delimiter=_separator(first), strict=True)
            width = len(next(rows))
            for row in rows:
                start = rows.line_num
                if row and len(row) != width:
                    cells = f"{len(row)} cell{'s'[: len(row) != 1]}"
                    return (
                        f"line {start} has {cells}; the first line, which names the columns, "
                        f"has {width}"
                    )
    except csv.Error:
        return f"the quotation marks after line {start} do not match"
    except (OSError, EOFError, zlib.error, InputError, StopIteration):
        pass
    return ""


def read_table(
    source: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    table: str | None = None,
    *,
    kind: str | None = None,
) -> pd.DataFrame:
    """Read a file, or some columns of it, into a frame.

    Whole numbers with missing cells become floats, as in any pandas frame.
    """
    with open_table(source, table, kind=kind) as file:
        wanted = list(dict.fromkeys(file.columns if columns is None else columns))
        check_columns(wanted, list(file.columns))
        names = ", ".join(map(sql_name, wanted))
        frame: pd.DataFrame = file.execute(f"SELECT {names} FROM {file.rows}").df()
    if frame.empty:
        raise InputError(f"The file must hold rows; {str(source)!r} holds a header only.")
    plain = {
        name: object if kind == "boolean" else float
        for name, kind in frame.dtypes.items()
        if not isinstance(kind, np.dtype) and kind.kind in "biuf"
    }
    return frame.astype(plain)


def seal_line(text: bytes) -> bytes:
    r"""Return a line for a file that only grows: the CRC-32 of a text, a space, the text.

    Examples
    --------
    >>> seal_line(b"a")
    b'e8b7be43 a\n'
    """
    return b"%08x %s\n" % (zlib.crc32(text), text)


def open_line(line: bytes) -> bytes | None:
    """Return the text of a sealed line, without its line feed; None where it is cut or damaged."""
    return line[9:] if line[:9] == b"%08x " % zlib.crc32(line[9:]) else None


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a file to write beside ``path``; it takes that name only once it is whole."""
    target = Path(path)
    partial = target.with_name(target.name + ".part")
    try:
        yield partial
        partial.replace(target)
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {error.strerror}.") from None
    finally:
        partial.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file; it is never left half written."""
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8")


def write_table(table: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a frame to a file that ends in ``.csv`` or ``.parquet``.

    Categories are written as their values, the index is not. An existing file is replaced, and
    never left half written.
    """
    import duckdb

    kind = Path(path).suffix.lower()
    if kind not in {".csv", *_PARQUET}:
        raise InputError(f"The file to write must end in .csv or .parquet; got {str(path)!r}.")
    levels = [c for c, k in table.dtypes.items() if isinstance(k, pd.CategoricalDtype)]
    plain = table.reset_index(drop=True).astype(dict.fromkeys(levels, object))
    with replacing(path) as partial:
        if kind == ".csv":
            plain.to_csv(partial, index=False)
        else:
            with duckdb.connect() as connection:
                connection.from_df(plain).write_parquet(str(partial))
