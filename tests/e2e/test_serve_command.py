"""``isonomy serve`` from the shell: what it refuses, and a real server that starts, answers and stops."""

import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.command import isonomy

pytest.importorskip("starlette", reason="needs the extra app")


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[tuple[str, "subprocess.Popen[bytes]", Path]]:
    """Start a server; yields its address, its process and what it says."""
    port, log = free_port(), folder / "server.log"
    words = [sys.executable, "-m", "isonomy", "serve", "--port", str(port), *options]
    with log.open("wb") as said:
        process = subprocess.Popen(words, cwd=folder, stdout=said, stderr=said)
    address = f"http://127.0.0.1:{port}"
    try:
        until = time.monotonic() + 120
        while time.monotonic() < until:
            try:
                urllib.request.urlopen(f"{address}/login", timeout=5).close()
                break
            except OSError:
                assert process.poll() is None, log.read_text()
                time.sleep(0.2)
        yield address, process, log
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(60)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--host", "0.0.0.0"], "Another address than this machine's own must have a token"),
        (["--host", "192.168.1.5"], "must have a token"),
        (["--model", "model.pkl"], "--model must be NAME=VALUE"),
        (["--model", "m=none.pkl"], "--model must name a file; there is no 'none.pkl'."),
        (["--command", "=x"], "--command must be NAME=VALUE"),
        (["--studies", "nowhere"], "--studies must name a folder; there is no 'nowhere'."),
        (
            ["--host", "0.0.0.0", "--token-file", "short"],
            "A token must have at least 20 characters",
        ),
        (["--port", "99999"], "65535"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(
    tmp_path: Path, options: list[str], sentence: str
) -> None:
    (tmp_path / "short").write_text("1234\n")
    done = isonomy("serve", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert "1234" not in done.stderr


def test_an_address_that_is_taken(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        done = isonomy("serve", "--port", str(other.getsockname()[1]), cwd=tmp_path)
    assert done.returncode == 2
    assert "must be free to listen at" in done.stderr


def test_it_answers_refuses_a_second_one_and_stops(tmp_path: Path) -> None:
    with serving(tmp_path) as (address, process, log):
        with urllib.request.urlopen(f"{address}/?word=secretword", timeout=30) as answer:
            assert "Recent runs" in answer.read().decode()
        done = isonomy("serve", "--port", str(free_port()), cwd=tmp_path)
        assert done.returncode == 2
        assert "must have one server at a time" in done.stderr
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        said = log.read_text()
    assert said.startswith("Isonomy is at http://127.0.0.1:")
    assert "secretword" not in said


def test_a_token_is_asked_for_and_not_said(tmp_path: Path) -> None:
    options = ["--host", "0.0.0.0", "--token-file", "token"]
    with serving(tmp_path, *options) as (address, _, log):
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(address, timeout=30)
        token = (tmp_path / "token").read_text().strip()
        known = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(known, timeout=30) as answer:
            assert token not in answer.read().decode()
        assert token not in log.read_text()
