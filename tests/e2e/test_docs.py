"""``make docs`` gives every metric and every mitigator a page made from the object."""

import importlib
import subprocess
import sys
from pathlib import Path

from isonomy.metrics import METRICS
from isonomy.mitigators import MITIGATORS

ROOT = Path(__file__).resolve().parents[2]


def test_reference_pages() -> None:
    done = subprocess.run(
        [sys.executable, "docs/build.py", "--no-examples"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    reference = ROOT / "docs" / "reference"
    for name, metric in METRICS.items():
        page = (reference / "metrics" / f"{name}.md").read_text()
        assert metric.formula in page
        assert metric.avoid in page
    for name in MITIGATORS:
        assert len((reference / "mitigators" / f"{name}.md").read_text()) > 500
    for path in (reference / "rooms").glob("isonomy*.md"):
        page = path.read_text()
        for name in importlib.import_module(path.stem).__all__:
            assert name == "__version__" or f"\n## {name}\n" in page, f"{path.stem}.{name}"
    assert len(list((reference / "rooms").glob("*.md"))) > 15
    assert "isonomy audit" in (reference / "commands.md").read_text()
