"""What lies on the disk: a header, logs that grow, and shards that never change.

``store.json`` says what the folder is. ``parts/00000007.log`` is part 7, and
``parts/00000001-00000006-0000-5f1c9a3e.parquet`` holds parts 1 to 6: revision 0, with the CRC-32
of its bytes. A shard takes effect by the one rename that gives it its name: from then on whatever
it covers (its parts, and earlier revisions) is ignored, and deleted. So a kill between any two
steps leaves every record in force exactly once.

Nothing can be lost or changed in silence: the header holds the CRC-32 of its text, a shard that of
its bytes, a batch that of its line, and the parts in force are numbered from 1 without a gap up to
a log, which is there before the part in front of it becomes a shard.

A log holds whole batches or nothing, whenever its writer is killed. A batch is one line: the
CRC-32 of its text in eight hexadecimal digits, a space, the text (a JSON array of records), a line
feed. A kill can only cut the last line short, and a line that is short has the wrong sum or no
end: readers ignore it and the next writer cuts it off.
"""

import json
import os
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isonomy._files import open_line, seal_line
from isonomy._validate import listed
from isonomy.errors import InputError

FORMAT = 2
"""Version of the folder's layout; a store of another one is refused."""

HEADER = "store.json"
"""The file that makes a folder a store."""

_LOG = re.compile(r"(\d{8})\.log")
_SHARD = re.compile(r"(\d{8})-(\d{8})-(\d{4})-([0-9a-f]{8})\.parquet")


# ---- the header ---------------------------------------------------------------------------------


def check_name(folder: Path, stored: str, study: str) -> None:
    """Raise unless a store belongs to a study."""
    if stored != study:
        raise InputError(
            f"A store holds one study; {str(folder)!r} holds {stored!r}, not {study!r}: "
            "choose another folder."
        )


def is_unborn(folder: Path) -> bool:
    """Return whether a folder can become a store: new, empty, or what a kill left of a beginning.

    A store is begun by its folder of parts, and is one once its header has its name.
    """
    parts = folder / "parts"
    begun = (parts, parts / log_name(1), folder / (HEADER + ".part"))
    return all(path in begun for path in folder.rglob("*"))


def read_header(folder: Path) -> dict[str, Any]:
    """Return the header of a store."""
    file = folder / HEADER
    if not file.is_file():
        what = "is no store" if folder.exists() else "does not exist"
        raise InputError(
            f"A store is a folder with the file {HEADER}; {str(folder)!r} {what}: "
            "name the folder that a study was run into."
        )
    try:
        header = dict(json.loads(file.read_text(encoding="utf-8")))
        version = header["isonomy_store"]
    except (ValueError, KeyError, TypeError):
        raise InputError(
            f"{str(file)!r} must describe a store of Isonomy; it does not: name another folder."
        ) from None
    if not (folder / "parts").is_dir():
        raise InputError(
            f"A store must hold the folder 'parts'; {str(folder)!r} has lost it: restore it "
            "from a copy."
        )
    missing = [name for name in ("study", "spec", "crc32") if name not in header]
    if version != FORMAT or missing:
        raise InputError(
            f"The store {str(folder)!r} must be of format {FORMAT}; it is of {version!r}"
            f"{' without ' + listed(missing) if missing else ''}: use the release that wrote it."
        )
    header.setdefault("versions", [])
    if header["crc32"] != _header_sum(header["study"], header["spec"], header["versions"]):
        raise InputError(
            f"A store must say which study it holds as it was written; {str(file)!r} has been "
            "damaged or edited since: restore it from a copy."
        )
    return header


def _header_sum(study: Any, spec: Any, versions: Any) -> str:
    held = [study, spec, *([versions] if versions else [])]
    return f"{zlib.crc32(json.dumps(held).encode()):08x}"


def write_header(folder: Path, name: str, spec: str, versions: Any = ()) -> None:
    """Write the header of a store."""
    partial = folder / (HEADER + ".part")
    header = {"isonomy_store": FORMAT, "study": name, "spec": spec}
    header |= {"versions": versions} if versions else {}
    header["crc32"] = _header_sum(name, spec, versions)
    text = json.dumps(header, indent=2, ensure_ascii=False) + "\n"
    partial.write_text(text, encoding="utf-8")
    _replace(partial, folder / HEADER)


def _replace(partial: Path, target: Path) -> None:
    """Rename a finished file so that name and content outlast a power cut together."""
    with partial.open("rb+") as file:
        os.fsync(file.fileno())
    partial.replace(target)
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make new and renamed names in a folder outlast a power cut, where the system can."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# ---- the parts ----------------------------------------------------------------------------------


@dataclass(frozen=True, order=True)
class Part:
    """A file of the store, the numbers it covers, and what a shard's name says of its content."""

    first: int
    last: int
    kind: str
    path: Path
    revision: int = 0
    crc32: str = ""

    def covers(self, other: "Part") -> bool:
        """Return whether this part makes another one void."""
        if self.kind != "parquet" or self == other:
            return False
        inside = self.first <= other.first and other.last <= self.last
        same = (self.first, self.last) == (other.first, other.last)
        return inside and (other.kind == "log" or not same or self.revision > other.revision)


def log_name(number: int) -> str:
    """Return the name of a log."""
    return f"{number:08d}.log"


def list_parts(folder: Path) -> tuple[list[Part], list[Part]]:
    """Return the parts that are in force, in order, and those that a wider one has made void."""
    parts = []
    for path in folder.iterdir():
        if match := _LOG.fullmatch(path.name):
            parts.append(Part(int(match[1]), int(match[1]), "log", path))
        elif match := _SHARD.fullmatch(path.name):
            first, last, revision = (int(match[k]) for k in (1, 2, 3))
            parts.append(Part(first, last, "parquet", path, revision, match[4]))
    parts.sort()
    void = [part for part in parts if any(other.covers(part) for other in parts)]
    return [part for part in parts if part not in void], void


def find_gap(parts: list[Part]) -> str | None:
    """Return which of the parts in force is missing; None where they are complete."""
    after = 1
    for part in parts:
        if part.first != after:
            break
        after = part.last + 1
    else:
        if parts and parts[-1].kind == "log":
            return None
    return f"part {after} is missing"


def find_damage(part: Part) -> str | None:
    """Return what is wrong with a shard by its checksum; None where it is as it was written."""
    if part.kind == "log" or part.crc32 == _file_sum(part.path):
        return None
    return f"{part.path.name!r} no longer holds what was written into it"


def damaged(folder: Path, why: str) -> InputError:
    """Return the error of a store that has lost or changed something."""
    return InputError(
        f"A store must hold what was written into it; in {str(folder)!r} {why}: restore the file "
        "from a copy, or run the study into a new folder."
    )


def _file_sum(path: Path) -> str:
    total = 0
    with path.open("rb") as file:
        while block := file.read(2**20):
            total = zlib.crc32(block, total)
    return f"{total:08x}"


def shard_paths(parts: list[Part]) -> list[Path]:
    """Return the files of those parts that are shards."""
    return [part.path for part in parts if part.kind == "parquet"]


def begin_log(folder: Path, number: int) -> None:
    """Make an empty log."""
    (folder / log_name(number)).touch()
    _sync_folder(folder)


def put_in_force(partial: Path, first: int, last: int) -> None:
    """Rename a finished shard to its final name, and delete what it covers."""
    folder = partial.parent
    parts, void = list_parts(folder)
    earlier = [p.revision for p in (*parts, *void) if (p.first, p.last) == (first, last)]
    revision = 1 + max(earlier, default=-1)
    name = f"{first:08d}-{last:08d}-{revision:04d}-{_file_sum(partial)}.parquet"
    _replace(partial, folder / name)
    for part in list_parts(folder)[1]:
        part.path.unlink(missing_ok=True)


# ---- the log ------------------------------------------------------------------------------------


def batch_line(docs: list[dict[str, Any]]) -> bytes:
    """Return the line of a batch in the log."""
    return seal_line(json.dumps(docs, separators=(",", ":"), allow_nan=False).encode())


def read_batches(data: bytes, *, name: str = "log") -> tuple[list[dict[str, Any]], int]:
    """Return the records of all whole batches, and how many bytes those batches take.

    Examples
    --------
    >>> line = batch_line([{"key": "a"}])
    >>> read_batches(line + line[:-1])
    ([{'key': 'a'}], 23)
    """
    docs: list[dict[str, Any]] = []
    good = start = 0
    torn = False
    while (end := data.find(b"\n", start)) >= 0:
        text = open_line(data[start:end])
        if text is None:
            torn = True
        elif torn:
            # no kill does that: a cut line is always the last one
            raise InputError(
                f"A log must be whole up to its last batch; {name!r} is damaged before byte "
                f"{start}: restore the file from a copy."
            )
        else:
            docs += json.loads(text)
            good = end + 1
        start = end + 1
    return docs, good


class LogFile:
    """A log opened by its only writer: what a killed writer left half written is cut off."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.docs, self.size = read_batches(
            path.read_bytes() if path.exists() else b"", name=path.name
        )
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        self._cut()
        _sync_folder(path.parent)

    def _cut(self) -> None:
        os.ftruncate(self._file, self.size)
        os.lseek(self._file, self.size, os.SEEK_SET)

    def append(self, docs: list[dict[str, Any]]) -> None:
        """Add a batch: it is on the disk when this returns, or not there at all."""
        line = batch_line(docs)
        try:
            left = memoryview(line)
            while left:
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except BaseException:
            self._cut()  # a full disk, or Ctrl-C: the next batch must not follow half a line
            raise
        self.size += len(line)
        self.docs += docs

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._file >= 0:
            handle, self._file = self._file, -1
            os.close(handle)
