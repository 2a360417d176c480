"""A disk that takes no more, a place that cannot be written, Ctrl-C: one sentence, nothing broken."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from isonomy.store import Store, verify_store
from tests.e2e.command import isonomy

pytest.importorskip("resource", reason="limits of a process are Unix's")

# A limit on the size of files fails a write as a full disk does: part of it, then an error.
LIMITED = (
    "import resource, signal, sys\n"
    "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))\n"
    "from isonomy.cli import main\n"
    "sys.argv = ['isonomy', *sys.argv[1:]]\n"
    "main()\n"
)


def test_a_result_that_does_not_fit(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("g,y,p\n" + "a,0,1\na,1,1\nb,0,0\nb,1,1\n" * 40)
    columns = ["--label", "y", "--prediction", "p", "--sensitive", "g"]
    command = [sys.executable, "-B", "-c", LIMITED, "audit", "d.csv", *columns]
    done = subprocess.run(
        [*command, "--json", "out.json"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert "'out.json' cannot be written: File too large" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]


def test_a_study_on_a_disk_that_is_full(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        'name = "s"\ntasks = ["synthetic(n=200)/group"]\nmodels = ["nb"]\n'
        '[[method]]\nmitigator = "unmitigated"\n'
    )
    run = ["study", "run", "s.toml", "--backend", "serial", "--repeats", "30"]
    # room for the header and the first trials, and no more
    limited = LIMITED.replace("(500, 500)", "(20000, 20000)")
    done = subprocess.run(
        [sys.executable, "-B", "-c", limited, *run],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("isonomy: File too large")
    store = Store.open(tmp_path / "out" / "s")
    assert 0 < len(store) < 30
    assert verify_store(store.path) == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_store_that_can_only_be_read(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s", "demo")
    for place in (store.path / "parts", store.path):
        place.chmod(0o555)
    try:
        assert isonomy("study", "query", str(store.path), "from runs").returncode == 0
        done = isonomy("study", "score", str(store.path), "accuracy")
    finally:
        for place in (store.path, store.path / "parts"):
            place.chmod(0o755)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "Permission denied" in done.stderr


def test_a_lock_that_cannot_be_opened(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s", "demo")
    (store.path / "lock").mkdir()
    done = isonomy("study", "score", str(store.path), "accuracy")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "Is a directory" in done.stderr


@pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="looks at the open files of a process"
)
def test_an_interrupt_while_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "big.csv"
    file.write_text("g,y,p\n" + "a,0,1\na,1,1\nb,0,0\nb,1,1\n" * 1_500_000)
    columns = ["--label", "y", "--prediction", "p", "--sensitive", "g"]
    with subprocess.Popen(
        [sys.executable, "-m", "isonomy", "audit", str(file), *columns],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        while process.poll() is None and not _reads(process.pid, file):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        told, errors = process.communicate()
    assert process.returncode == 130, told + errors
    assert "Traceback" not in errors


def _reads(pid: int, file: Path) -> bool:
    with contextlib.suppress(OSError):
        return any(link.readlink() == file for link in Path(f"/proc/{pid}/fd").iterdir())
    return False
