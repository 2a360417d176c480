"""CSV files that are not UTF-8: UTF-16 by its mark, otherwise Windows-1252, and a warning that says so.

Windows-1252 is what Excel and older systems of Western Europe and the Americas write; Latin-1 is a
part of it. Every byte of it is one character, so that values that differ still differ, and numbers
are what they are, should the file be in another encoding of that kind: only the letters may look
wrong, and the warning says what to do then.
"""

import codecs
import gzip
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from isonomy.errors import DataCaveatWarning, InputError

_CHUNK = 1 << 20
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BROKEN = re.compile("[\udc80-\udcff]+")
_WIDE = re.compile("[\u0080-\ud7ff\ue000-\U0010ffff]")


@contextmanager
def as_utf8(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield files with the same text in UTF-8; those that are not UTF-8 are written anew meanwhile."""
    with TemporaryDirectory(prefix="isonomy-") as folder:
        yield [_copy(path, Path(folder, f"{k}.csv")) for k, path in enumerate(paths)]


def open_text(path: Path) -> TextIOWrapper:
    """Open a CSV file, packed or not, in its own encoding."""
    encoding = _encoding(path)  # which may refuse the file, before it is open
    return TextIOWrapper(_opened(path), encoding=encoding, errors="replace", newline="")


def _copy(path: Path, target: Path) -> Path:
    encoding, name = _encoding(path), str(path)
    if encoding == "utf-8":
        return path
    if encoding == "cp1252":
        say = "Windows-1252 (Latin-1): where letters look wrong, save it as UTF-8"
    else:
        say = "UTF-16"
    try:
        with _opened(path) as source, target.open("wb") as out:
            decoder = codecs.getincrementaldecoder(encoding)()
            for chunk in iter(lambda: source.read(_CHUNK), b""):
                out.write(decoder.decode(chunk).encode())
            out.write(decoder.decode(b"", final=True).encode())
    except UnicodeError:
        raise InputError(
            f"The file {name!r} cannot be read: it is neither UTF-8 nor {say.partition(' (')[0]} "
            f"text; save it as UTF-8."
        ) from None
    warnings.warn(
        f"The file {path.name!r} is not UTF-8 text; it is read as {say}.",
        DataCaveatWarning,
        stacklevel=2,
    )
    return target


def _opened(path: Path) -> Any:
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")


def _encoding(path: Path) -> str:
    """Return the encoding of a file, by its mark or by what no other encoding could hold."""
    with _opened(path) as file:
        start = file.read(_CHUNK)
        if start.startswith(_UTF16):
            return "utf-16"
        if b"\0" in start:
            raise InputError(
                f"The file {str(path)!r} cannot be read: it holds bytes that no text in UTF-8 "
                f"holds; save it as UTF-8."
            )
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        broken = wide = lines = first = 0
        for chunk in chain([start], iter(lambda: file.read(_CHUNK), b""), [b""]):
            text = decoder.decode(chunk, final=not chunk)
            if not text.isascii():
                wide += len(_WIDE.findall(text))
                for found in _BROKEN.finditer(text):
                    broken += 1
                    first = first or lines + text.count("\n", 0, found.start()) + 1
            lines += text.count("\n")
    if not broken:
        return "utf-8"
    if 0 < broken <= wide:  # hardly any other text holds what UTF-8 takes for a letter
        raise InputError(
            f"The file {str(path)!r} cannot be read: it is UTF-8 text with damaged letters (the "
            f"first in line {first}); save it anew as UTF-8."
        )
    return "cp1252"
