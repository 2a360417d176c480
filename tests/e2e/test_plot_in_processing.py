"""The example of the in-processing methods runs and shows the trade-off it tells of."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_more_eta_less_disparity() -> None:
    done = subprocess.run(
        [sys.executable, "examples/gallery/plot_in_processing.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = re.findall(r"eta = (\S+) +(\S+) +(\S+) +(\S+)", done.stdout)
    assert len(found) == 7
    gaps = [float(parity) for _, _, parity, _ in found]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.3 * gaps[0]
