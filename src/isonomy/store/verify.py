"""Is a store still what was written: every checksum of every file, read again."""

import os
from pathlib import Path

from isonomy._files import open_line
from isonomy.errors import InputError
from isonomy.store.log import HEADER, find_damage, find_gap, list_parts, read_batches, read_header
from isonomy.store.store import CACHE


def verify_store(path: str | os.PathLike[str]) -> list[str]:
    """Read all files of a store and return what is wrong with them.

    Parameters
    ----------
    path : path
        The folder of the store. It is only read.

    Returns
    -------
    list of str
        One sentence per damage; empty where every checksum holds and no part is missing.

    Examples
    --------
    >>> import tempfile
    >>> from isonomy.store import Store
    >>> verify_store(Store.create(tempfile.mkdtemp(), "demo").path)
    []
    """
    folder = Path(path)
    if not (folder / HEADER).exists() and not (folder / "parts").exists():
        read_header(folder)  # raises: it is no store at all
    problems: list[str | None] = []
    try:
        read_header(folder)
    except InputError as error:
        problems.append(str(error))
    parts = list_parts(folder / "parts")[0] if (folder / "parts").is_dir() else []
    problems += [find_gap(parts), *map(find_damage, parts)]
    for part in parts:
        if part.kind == "log":
            try:
                read_batches(part.path.read_bytes(), name=part.path.name)
            except InputError as error:
                problems.append(str(error))
    cache = folder / CACHE
    # the last line may have been cut by a kill
    lines = cache.read_bytes().split(b"\n")[:-1] if cache.exists() else []
    broken = sum(open_line(line) is None for line in lines)
    problems.append(f"{broken} lines of {CACHE!r} are damaged and ignored" if broken else None)
    return [problem for problem in problems if problem]
