"""A lock on a folder that dies with the process that holds it."""

import contextlib
import json
import os
import socket
from pathlib import Path

from isonomy.errors import InputError

__all__ = ["WriterLock"]


class WriterLock:
    """One writer at a time: the operating system lets go of the lock when the process ends.

    The file says who holds it, for the sentence a second writer gets; what it says counts for
    nothing once the lock is free.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = -1

    def acquire(self) -> None:
        """Take the lock or raise at once."""
        # not inherited: a worker that outlives a killed writer must not keep the lock
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOINHERIT", 0), 0o644)
        try:
            _take(handle)
        except OSError:
            os.close(handle)
            raise InputError(
                f"A store must have one writer at a time; {self._holder()} writes to "
                f"{str(self.path.parent)!r}: let it finish (it can be read meanwhile), or choose "
                f"another folder."
            ) from None
        os.ftruncate(handle, 0)
        os.write(handle, json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode())
        self._file = handle

    def release(self) -> None:
        """Give the lock back."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _holder(self) -> str:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            told = json.loads(self.path.read_text())
            return f"process {told['pid']} on {told['host']}"
        return "another process"


if os.name == "nt":  # pragma: no cover

    def _take(handle: int) -> None:
        import msvcrt

        # far behind the text, which others may read
        os.lseek(handle, 1 << 30, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        os.lseek(handle, 0, os.SEEK_SET)

else:

    def _take(handle: int) -> None:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
