"""Caches of evaluations, so that a search or a sweep can be resumed."""

import json
import os
from pathlib import Path
from typing import Any, Protocol

from isonomy._files import open_line, seal_line
from isonomy.errors import InputError


class Cache(Protocol):
    """The protocol of a cache; the store of a study fulfils it too."""

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the value stored under a key, or None."""
        ...

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Store a value under a key, at once and for good."""
        ...


class JsonLinesCache:
    """One line of JSON per evaluation, with its checksum, in a file that only grows.

    A process that is killed loses at most the line it was writing. A line that was cut or damaged
    is ignored, and its evaluation done again.

    Parameters
    ----------
    path : path
        The file; it is created with the first entry.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = JsonLinesCache(Path(folder) / "sweep.jsonl")
    ...     cache.put("a", {"value": 1})
    ...     JsonLinesCache(cache.path).get("a")
    {'value': 1}
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._known: dict[str, dict[str, Any]] = {}
        if self.path.is_dir():
            raise InputError(f"A cache must be a file; {str(path)!r} is a folder.")
        if self.path.exists():
            for line in self.path.read_bytes().splitlines():
                if (text := open_line(line)) is not None:
                    entry = json.loads(text)
                    self._known[entry["key"]] = entry["value"]

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the value stored under a key, or None."""
        return self._known.get(key)

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Append one line and remember it."""
        line = seal_line(json.dumps({"key": key, "value": value}, allow_nan=False).encode())
        end = self.path.read_bytes()[-1:] if self.path.exists() else b""
        with self.path.open("ab") as file:
            # a line that a killed process left open must not swallow this one
            file.write((b"" if end in (b"\n", b"") else b"\n") + line)
        self._known[key] = value
