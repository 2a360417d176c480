"""Runs: one folder per file that somebody brought, with all that was made of it, and nothing elsewhere."""

import json
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from isonomy._files import TableFile, open_table, sql_name, sql_text, write_text
from isonomy._tables import plain
from isonomy._validate import listed
from isonomy.app.roles import Roles
from isonomy.audit import guess_columns
from isonomy.audit.run import others_of
from isonomy.errors import InputError

DATA, ABOUT = "data.parquet", "run.json"
ENDINGS = (".csv", ".tsv", ".parquet")
"""Files that a page takes. Packed files and workbooks unfold to any size, and are refused."""
LONGEST_NAME = 120
UNFOLDED = 20
"""A Parquet file may unfold to so many times the most bytes of a file: it can pack any size into a few."""
_CELL = 8
"""Bytes of a cell that is no text."""

_NESTED = ("STRUCT", "MAP", "UNION")
_WRITING = threading.Lock()  # two people may ask for the same audit at once
_ID = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class Limits:
    """How large a file may be."""

    megabytes: int = 200
    rows: int = 2_000_000
    columns: int = 1_000

    @property
    def bytes(self) -> int:
        """The most bytes of a file."""
        return self.megabytes * 1_000_000

    def sentence(self) -> str:
        """Say what is accepted."""
        return (
            f"CSV, TSV or Parquet; up to {self.megabytes:,} MB, {self.rows:,} rows and "
            f"{self.columns:,} columns."
        )


class Run:
    """One folder: the table, what its columns are, and what was found."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.id = folder, folder.name

    @property
    def data(self) -> Path:
        """The rows."""
        return self.folder / DATA

    def read(self, name: str) -> Any:
        """Return what a JSON file of the folder holds; None where there is none."""
        try:
            return json.loads((self.folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def write(self, name: str, content: Any) -> None:
        """Write a JSON file of the folder, whole."""
        text = json.dumps(plain(content), ensure_ascii=False)
        with _WRITING:
            write_text(self.folder / name, text)

    @property
    def about(self) -> dict[str, Any]:
        """The name of the file, when it came, and how large it is."""
        held: dict[str, Any] = self.read(ABOUT) or {}
        return held

    @property
    def columns(self) -> list[dict[str, Any]]:
        """What was seen of each column: see :class:`isonomy.audit.ColumnGuess`."""
        held: list[dict[str, Any]] = self.read("columns.json") or []
        return held

    def set_page(self, kind: str, page: dict[str, Any]) -> None:
        """Keep a page, and its verdict by itself: the list of runs reads no more."""
        said = {name: page["verdict"][name] for name in ("headline", "tone")}
        self.write(f"{kind}-page.json", page)
        self.write(f"{kind}-verdict.json", said)

    @property
    def name(self) -> str:
        """What the file was called."""
        return str(self.about.get("name", self.id))

    @property
    def roles(self) -> Roles | None:
        """What a person said the columns are."""
        held = self.read("roles.json")
        return None if held is None else Roles.from_dict(held)

    def set_roles(self, roles: Roles) -> None:
        """Keep what the columns are; what was audited under other roles goes."""
        if roles != self.roles:
            for name in ("audit.json", "audit-page.json", "audit-verdict.json"):
                (self.folder / name).unlink(missing_ok=True)
        self.write("roles.json", roles.to_dict())

    def forget(self, kinds: Iterable[str]) -> None:
        """Remove what long work has left."""
        for kind in kinds:
            for path in self.folder.glob(f"{kind}*"):
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()


class Runs:
    """The folder of all runs."""

    def __init__(self, folder: str | os.PathLike[str], limits: Limits | None = None) -> None:
        self.folder, self.limits = Path(folder), limits or Limits()
        self.folder.mkdir(parents=True, exist_ok=True)

    def __iter__(self) -> Iterator[Run]:
        """Go through the runs, the newest first."""
        held = [Run(p) for p in self.folder.iterdir() if _ID.fullmatch(p.name) and p.is_dir()]
        dated = [(run.about.get("created"), run) for run in held]
        ready = [(when, run) for when, run in dated if when is not None]
        return iter(run for _, run in sorted(ready, key=lambda pair: pair[0], reverse=True))

    def get(self, key: str) -> Run | None:
        """Return a run by its name; None where there is none, whatever was asked."""
        if not _ID.fullmatch(key) or not (self.folder / key / ABOUT).is_file():
            return None
        return Run(self.folder / key)

    def add(self, name: str, source: Any) -> Run:
        """Take in a file: check it against the limits, keep its rows, and guess its columns.

        Parameters
        ----------
        name : str
            What the file is called; never used as a path.
        source : binary file
        """
        shown = shown_name(name)
        ending = Path(shown).suffix.lower()
        if ending not in ENDINGS:
            raise InputError(
                f"A file must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}; got {shown!r}: "
                f"save it as CSV."
            )
        run = Run(self.folder / secrets.token_hex(8))
        run.folder.mkdir(mode=0o700)
        try:
            run.write(
                ABOUT,
                {"created": time.time(), "name": shown, **self._keep(run, source, ending, shown)},
            )
        except BaseException:
            shutil.rmtree(run.folder, ignore_errors=True)
            raise
        return run

    def _keep(self, run: Run, source: Any, ending: str, shown: str) -> dict[str, Any]:
        """Write the rows as Parquet, by the rule of every reader, and describe the columns."""
        brought = run.folder / f"brought{ending}"
        size = 0
        with brought.open("wb") as file:
            while block := source.read(1 << 20):
                size += len(block)
                if size > self.limits.bytes:
                    raise InputError(too_large(self.limits))
                file.write(block)
        try:
            with open_table(brought) as table:
                columns = len(table.columns)
                if columns > self.limits.columns:
                    raise InputError(
                        f"A file must have at most {self.limits.columns:,} columns; this one has "
                        f"{columns:,}: leave out those that are not needed."
                    )
                (rows,) = table.execute(f"SELECT count(*) FROM {table.rows}").fetchone()
                if not rows:
                    raise InputError("The file must hold rows; this one holds a header only.")
                if rows > self.limits.rows:
                    raise InputError(
                        f"A file must have at most {self.limits.rows:,} rows; this one has {rows:,}: "
                        f"draw a sample, or use the command line, which has no limit."
                    )
                if ending == ".parquet":
                    self._check_unfolded(table, brought, rows)
                target = sql_text(run.data)
                table.execute(f"COPY (SELECT * FROM {table.rows}) TO {target} (FORMAT parquet)")
        except InputError as error:
            raise InputError(str(error).replace(str(brought), shown)) from None
        finally:
            brought.unlink(missing_ok=True)
        sample = others_of(run.data, None, [], (), None, rows)
        found = [asdict(c) for c in guess_columns(sample)]
        run.write("columns.json", found)
        return {"rows": rows, "bytes": size, "columns": columns}

    def _check_unfolded(self, table: TableFile, brought: Path, rows: int) -> None:
        """Raise where rows that are packed into a file are too large once they are unpacked."""
        packed = f"read_parquet({sql_text(brought)})"
        described = table.execute(f"DESCRIBE SELECT * FROM {packed}").fetchall()
        kinds = {name: kind for name, kind, *_ in described}
        nested = [c for c, kind in kinds.items() if kind.endswith("]") or kind.startswith(_NESTED)]
        if nested:
            raise InputError(
                f"The columns of a file must hold single values; {listed(nested)} hold lists or records: "
                f"leave them out."
            )
        most = UNFOLDED * self.limits.bytes
        size = rows * len(kinds) * _CELL
        length = {"VARCHAR": "strlen", "BLOB": "octet_length"}
        texts = [f"{length[kind]}({sql_name(c)})" for c, kind in kinds.items() if kind in length]
        if size <= most and texts:
            whole = " + ".join(f"coalesce(sum({text}), 0)" for text in texts)
            size += int(table.execute(f"SELECT {whole} FROM {packed}").fetchone()[0])
        if size > most:
            raise InputError(
                f"A Parquet file must unfold to at most {most // 1_000_000:,} MB; this one holds "
                f"{size // 1_000_000:,} MB: leave out columns that are not needed, or draw a sample."
            )

    def delete(self, run: Run) -> None:
        """Remove a run with all its files."""
        shutil.rmtree(run.folder)


def too_large(limits: Limits) -> str:
    """Say that a file is too large."""
    return (
        f"A file must have at most {limits.megabytes:,} MB; this one has more: leave out columns that "
        f"are not needed, draw a sample, or save it as Parquet."
    )


def shown_name(name: str) -> str:
    r"""Return the name of a file without its folders, and without characters that nobody sees.

    Examples
    --------
    >>> shown_name("C:\\data\\people.csv"), shown_name("../../etc/x\n.csv")
    ('people.csv', 'x.csv')
    """
    last = re.split(r"[/\\]", name)[-1]
    seen = "".join(c for c in last if c.isprintable()).strip()
    stem, dot, ending = seen.rpartition(".")
    return (f"{stem[:LONGEST_NAME]}{dot}{ending[:12]}" if stem else seen[:LONGEST_NAME]) or "file"
