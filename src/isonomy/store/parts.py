"""The parts of a store: logs that grow and shards that never change, each a range of numbers.

``00000007.log`` is part 7; ``00000001-00000006.parquet`` holds parts 1 to 6. A shard takes effect
by the one rename that gives it its name: from then on whatever it covers is ignored, and deleted.
So a kill between any two steps leaves every record in force exactly once.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from isonomy.store.log import sync_folder

__all__ = [
    "Part",
    "list_parts",
    "log_name",
    "put_in_force",
    "quoted",
    "shard_name",
    "sql_files",
    "sql_text",
]

_NAME = re.compile(r"^(\d{8})(?:-(\d{8}))?\.(log|parquet)$")


@dataclass(frozen=True, order=True)
class Part:
    """A file of the store and the numbers it covers."""

    first: int
    last: int
    kind: str
    path: Path

    def covers(self, other: "Part") -> bool:
        """Tell whether this part makes another one void."""
        if self.kind != "parquet" or self == other:
            return False
        inside = self.first <= other.first and other.last <= self.last
        return inside and (other.kind == "log" or self.last - self.first > other.last - other.first)


def log_name(number: int) -> str:
    """Give the name of a log."""
    return f"{number:08d}.log"


def shard_name(first: int, last: int) -> str:
    """Give the name of a shard."""
    return f"{first:08d}-{last:08d}.parquet"


def list_parts(folder: Path) -> tuple[list[Part], list[Part]]:
    """Give the parts that are in force, in order, and those that a wider one has made void."""
    found = []
    for path in folder.iterdir():
        match = _NAME.match(path.name)
        if match:
            first = int(match[1])
            found.append(Part(first, int(match[2] or first), match[3], path))
    found.sort()
    void = [p for p in found if any(other.covers(p) for other in found)]
    return [p for p in found if p not in void], void


def put_in_force(partial: Path, name: str) -> None:
    """Give a finished shard its name, and delete what it covers."""
    folder = partial.parent
    with partial.open("rb+") as file:
        os.fsync(file.fileno())
    partial.replace(folder / name)
    sync_folder(folder)
    for part in list_parts(folder)[1]:
        part.path.unlink(missing_ok=True)


def quoted(name: str) -> str:
    """Write a column name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def sql_text(text: str | Path) -> str:
    """Write a text for SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def sql_files(paths: Sequence[Path]) -> str:
    """Write ``read_parquet(...)`` over files that may differ in their metrics."""
    names = ", ".join(map(sql_text, paths))
    return f"read_parquet([{names}], union_by_name=true)"
