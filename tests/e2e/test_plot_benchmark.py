"""The example of the benchmark runs, goes on where it was, and writes what it says."""

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "gallery" / "plot_benchmark.py"


def run(place: Path) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)], cwd=place, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_example_of_the_benchmark(tmp_path: Path) -> None:
    first = run(tmp_path)
    assert "8 splits run now, 0 were done before" in first
    assert "Choose " in first
    again = run(tmp_path)
    assert "0 splits run now" in again
    # the same judgement of the same records
    assert first.split("before")[1] == again.split("before")[1]
    assert "Choose " in (tmp_path / "out/plot_benchmark/report.html").read_text()
