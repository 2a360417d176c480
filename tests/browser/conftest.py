"""Chromium, headless and quiet, for every test of pages."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
AXE = Path(__file__).resolve().parents[2] / "node_modules" / "axe-core" / "axe.min.js"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZES = {"desk": (1280, 900), "phone": (390, 844)}


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    sync = pytest.importorskip("playwright.sync_api", reason="needs playwright: make test-browser")
    if not CHROMIUM:
        pytest.skip("needs Chromium: make test-browser")
    with sync.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


def faults(page: Any) -> list[tuple[str, str]]:
    """Return what axe-core finds serious on a page: the rule, and the first place."""
    if not AXE.exists():
        pytest.skip("needs axe-core: make test-browser")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    return [
        (v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in ("serious", "critical")
    ]
