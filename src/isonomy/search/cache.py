"""Caches of evaluations, so that a search or a sweep can be resumed."""

import json
import os
from pathlib import Path
from typing import Any, Protocol

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
    """One line of JSON per evaluation in a file that only grows.

    A process that is killed loses at most the line it was writing: a broken last line is ignored.

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
            for line in self.path.read_text(encoding="utf-8").splitlines():
                try:
                    entry = json.loads(line)
                    self._known[entry["key"]] = entry["value"]
                except (ValueError, KeyError, TypeError):
                    continue  # cut off when its writer was killed

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the value stored under a key, or None."""
        return self._known.get(key)

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Append one line and remember it."""
        line = json.dumps({"key": key, "value": value}, allow_nan=False)
        text = self.path.read_bytes()[-1:] if self.path.exists() else b"\n"
        with self.path.open("a", encoding="utf-8") as file:
            # a line that a killed process left open must not swallow this one
            file.write(("" if text in (b"\n", b"") else "\n") + line + "\n")
        self._known[key] = value
