"""What the readers of the authors' archives share: files by name, numbers, baseline points."""

import io
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath

import numpy as np
import pandas as pd

from isonomy._arrays import Floats
from isonomy._validate import check_choice
from isonomy.errors import InputError
from isonomy.store.record import Block, blocks_frame

MOST_FILES = 20_000
"""More than any of the archives holds: a folder with more is a home or a disk."""

PUBLISHED = ":published"
"""How the study of runs that others published ends: ours and theirs are never mixed."""

BASELINE = "mutation"
"""The mitigator of a row of a mutation baseline: ``mutation(strategy=majority, degree=0.3)``."""


class File:
    """A file of the archive: its path inside the folder, its whole path, how to get its bytes.

    The whole path counts because a folder may be given that is deep inside the repository.
    """

    def __init__(self, path: str, above: Path, read: Callable[[], bytes]) -> None:
        self.path, self.read = PurePosixPath(path), read
        self.whole = PurePosixPath(above.resolve().as_posix()) / path

    @property
    def name(self) -> str:
        """Return the name of the file."""
        return self.path.name

    def lines(self) -> list[str]:
        """Return the lines that are not blank."""
        text = self.read().decode("utf-8-sig", errors="replace")
        return [line for line in text.splitlines() if line and not line.isspace()]


def list_files(folder: str | Path) -> list[File]:
    """List a folder's files and what its zip archives hold; an unpacked file hides its original."""
    root = Path(folder).expanduser()
    if not root.is_dir():
        raise InputError(
            f"The folder of the authors' archive must exist; {str(folder)!r} does not."
        )
    loose: list[File] = []
    packed: list[File] = []
    found = list(islice((p for p in root.rglob("*") if p.is_file()), MOST_FILES + 1))
    if len(found) > MOST_FILES:
        raise InputError(
            f"The folder of the authors' archive must hold it and nothing else; {str(folder)!r} "
            f"has more than {MOST_FILES:,} files."
        )
    for path in sorted(found):
        if path.suffix == ".zip" and zipfile.is_zipfile(path):
            packed += _members(path)
        else:
            loose.append(File(path.relative_to(root).as_posix(), root, path.read_bytes))
    unpacked = {file.name for file in loose}
    return loose + [file for file in packed if file.name not in unpacked]


def _members(path: Path) -> Iterator[File]:
    archive = zipfile.ZipFile(io.BytesIO(path.read_bytes()))
    for member in archive.namelist():
        if not member.endswith("/") and not member.startswith("__MACOSX"):
            yield File(member, path.parent, partial(archive.read, member))


def numbers(file: File, words: Iterable[str]) -> Floats:
    """Return words as numbers, or raise an error that names the file."""
    try:
        return np.array([*words], dtype=np.float64)
    except ValueError as error:
        raise InputError(f"{file.path} must hold numbers; {error}.") from None


def named_rows(file: File, names: Mapping[str, str]) -> tuple[tuple[str, ...], Floats]:
    """Return the rows of a file that begin with a name, under ours; an unknown name is an error."""
    rows = [line.split() for line in file.lines()]
    for row in rows:
        check_choice(f"metric (in {file.path})", row[0], list(names))
    if len({len(row) for row in rows}) != 1:
        raise InputError(f"{file.path} must hold rows of equal length; they differ.")
    words = (word for row in rows for word in row[1:])
    return tuple(names[row[0]] for row in rows), numbers(file, words).reshape(len(rows), -1)


def run_block(
    file: File, names: Mapping[str, str], place: tuple[str, str, str, str, str], repeats: int
) -> Block:
    """Return the runs of a file of named rows; what stands behind them in a row is left out.

    ``place`` is the study, the dataset, the attributes, the model and the mitigator.
    """
    metrics, values = named_rows(file, names)
    count, reason = values.shape[1], ""
    if count > repeats:
        values = values[:, :repeats]
        reason = f"the file has {count} values a row; the first {repeats} are the runs"
    return Block(*place, metrics, values, range(values.shape[1]), reason=reason)


def refuse_empty(blocks: list[Block], folder: str | Path, what: str) -> pd.DataFrame:
    """Return the blocks as one result frame, or raise an error where there are none."""
    if not blocks:
        raise InputError(
            f"{str(folder)!r} must hold {what}; it holds none: name the root of the authors' "
            "repository, or any part of it."
        )
    return blocks_frame(blocks)


def curve_blocks(
    place: tuple[str, str, str, str], strategy: str, metrics: tuple[str, ...], values: Floats
) -> Iterator[Block]:
    """Return a baseline's points, one block per mutation degree from 0 to 1.

    ``place`` is the study, the dataset, the attribute and the model.
    """
    for i, column in enumerate(values.T):
        degree = i / (values.shape[1] - 1)
        name = f"{BASELINE}(strategy={strategy}, degree={degree:g})"
        yield Block(*place, name, metrics, column[:, None], None)
