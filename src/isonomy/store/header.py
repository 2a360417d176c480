"""The first page of a store: what the folder is, in which format, and of which study."""

import json
import os
from pathlib import Path
from typing import Any, Protocol

from isonomy._validate import listed
from isonomy.errors import InputError
from isonomy.store.log import sync_folder

__all__ = [
    "FILE",
    "FORMAT",
    "StudyLike",
    "check_name",
    "is_unborn",
    "read_header",
    "write_header",
]

FORMAT = 1
"""Version of the folder's layout; a store of another one is refused."""

FILE = "store.json"
"""The file that makes a folder a store."""


class StudyLike(Protocol):
    """What a store asks of a study."""

    @property
    def name(self) -> str:
        """The study's name."""
        ...

    def toml(self) -> str:
        """Write the study as a file."""
        ...


def check_name(folder: Path, held: str, given: str) -> None:
    """Raise unless a store is one of the study that was given."""
    if held != given:
        raise InputError(
            f"A store holds one study; {str(folder)!r} holds {held!r}, not {given!r}: "
            "choose another folder."
        )


def is_unborn(folder: Path) -> bool:
    """Tell whether a folder can become a store: it is new, empty, or holds what a kill left of one.

    A store is begun by its folder of parts, and is one once its header has its name.
    """
    if not folder.exists():
        return True
    if not folder.is_dir():
        return False
    parts = folder / "parts"
    begun = {parts.name, FILE + ".part"}
    if any(path.name not in begun for path in folder.iterdir()):
        return False
    return not parts.exists() or (parts.is_dir() and not any(parts.iterdir()))


def read_header(folder: Path) -> dict[str, Any]:
    """Return the header of a store."""
    file = folder / FILE
    if not file.is_file():
        what = "is no store" if folder.exists() else "does not exist"
        raise InputError(
            f"A store is a folder with the file {FILE}; {str(folder)!r} {what}: "
            "name the folder that a study was run into."
        )
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        version = told["isonomy_store"]
        missing = [name for name in ("study", "spec") if name not in told]
    except (ValueError, KeyError, TypeError):
        raise InputError(
            f"{str(file)!r} must describe a store of Isonomy; it does not: name another folder."
        ) from None
    if not (folder / "parts").is_dir():
        raise InputError(
            f"A store must hold the folder 'parts'; {str(folder)!r} has lost it: bring it back "
            "from a copy."
        )
    if version != FORMAT or missing:
        raise InputError(
            f"The store {str(folder)!r} must be of format {FORMAT}; it is of {version!r}"
            f"{' without ' + listed(missing) if missing else ''}: use the release that wrote it."
        )
    return dict(told)


def write_header(folder: Path, name: str, spec: str) -> None:
    """Write the header of a store."""
    partial = folder / (FILE + ".part")
    told = {"isonomy_store": FORMAT, "study": name, "spec": spec}
    with partial.open("w", encoding="utf-8") as file:
        file.write(json.dumps(told, indent=2, ensure_ascii=False) + "\n")
        file.flush()
        # a name that reaches the disk before its text would be an empty header after a power cut
        os.fsync(file.fileno())
    partial.replace(folder / FILE)
    sync_folder(folder)
