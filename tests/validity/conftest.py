"""Simulations measure how often a verdict is right; `make slow` writes it down."""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def record_rate(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Keep a measured rate for docs/how-sure-is-sure.md, where HOW_SURE names a folder.

    A row has ``room``, ``verdict`` (the words Isonomy prints), ``promise``, ``setting`` (the world
    that was simulated), ``rate`` and ``samples``. One file per row, so that tests may run side by
    side; ``tools/how_sure.py`` puts them into the table.
    """

    def record(**row: str | float) -> None:
        folder = os.environ.get("HOW_SURE")
        if not folder:
            return
        missing = {"room", "verdict", "promise", "setting", "rate", "samples"} - row.keys()
        assert not missing, missing
        words = f"{row['room']} {row['verdict']} {row['promise']} {row['setting']}"
        name = "".join(c if c.isalnum() else "_" for c in words[:160])
        own = hashlib.sha256(words.encode()).hexdigest()[:12]  # +0.08 and -0.08 read alike
        Path(folder).mkdir(parents=True, exist_ok=True)
        Path(folder, f"{name}-{own}.json").write_text(json.dumps(row))

    return record
