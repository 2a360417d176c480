"""The example of the plots runs, says what it found, and writes its plots."""

import os
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "gallery" / "plot_audit.py"


def test_the_example_of_the_plots(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLE)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MPLBACKEND": "agg"},
    )
    assert done.returncode == 0, done.stderr
    assert "has moved by" in done.stdout
    assert "Wrote 4 plots" in done.stdout
    for name in ("gaps_and_rates", "over_time", "trade_off", "ranks"):
        assert (tmp_path / "out/plot_audit" / f"{name}.png").stat().st_size > 10_000
