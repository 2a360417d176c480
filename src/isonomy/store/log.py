"""The log of a store: whole batches or nothing, whatever moment its writer is killed at.

A batch is one line: the CRC-32 of its text in eight hexadecimal digits, a space, the text (a JSON
array of records), a line feed. A kill can only cut the last line short, and a line that is short
has the wrong sum or no end: it is left out by readers and cut off by the next writer.
"""

import json
import os
import zlib
from pathlib import Path
from typing import Any

from isonomy.errors import InputError

__all__ = ["LogFile", "batch_line", "read_batches", "sync_folder"]


def batch_line(docs: list[dict[str, Any]]) -> bytes:
    """Write a batch as the line that goes to the log."""
    text = json.dumps(docs, separators=(",", ":"), allow_nan=False).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def read_batches(data: bytes, *, name: str = "log") -> tuple[list[dict[str, Any]], int]:
    """Give the records of all whole batches, and how many bytes those batches take.

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
        text = _checked(data[start:end])
        if text is None:
            torn = True
        elif torn:
            # no kill does that: a cut line is always the last one
            raise InputError(
                f"A log must be whole up to its last batch; {name!r} is damaged before byte "
                f"{start}: bring the file back from a copy."
            )
        else:
            docs += json.loads(text)
            good = end + 1
        start = end + 1
    return docs, good


def _checked(line: bytes) -> bytes | None:
    """Give the text of a line whose sum is right."""
    if line[8:9] != b" ":
        return None
    text = line[9:]
    return text if b"%08x" % zlib.crc32(text) == line[:8] else None


class LogFile:
    """A log opened by its only writer: what a killed writer left half written is cut off."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.docs, self.size = read_batches(
            path.read_bytes() if path.exists() else b"", name=path.name
        )
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        os.ftruncate(self._file, self.size)
        os.lseek(self._file, self.size, os.SEEK_SET)
        sync_folder(path.parent)

    def append(self, docs: list[dict[str, Any]]) -> None:
        """Add a batch: it is on the disk when this returns, or not there at all."""
        line = batch_line(docs)
        try:
            left = memoryview(line)
            while left:
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except BaseException:
            # a full disk, or Ctrl-C: the next batch must not follow half a line
            os.ftruncate(self._file, self.size)
            os.lseek(self._file, self.size, os.SEEK_SET)
            raise
        self.size += len(line)
        self.docs += docs

    def close(self) -> None:
        """Let go of the file; again does nothing."""
        if self._file >= 0:
            handle, self._file = self._file, -1
            os.close(handle)


def sync_folder(folder: Path) -> None:
    """Make new and renamed names in a folder last through a power cut, where that can be asked."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
