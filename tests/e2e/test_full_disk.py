"""A disk that takes no more: one sentence, exit code 2, and no half-written file."""

import subprocess
import sys
from pathlib import Path

import pytest

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
