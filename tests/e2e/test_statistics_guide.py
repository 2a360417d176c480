"""The statistics guide names what exists, and leaves nothing out."""

import re
from pathlib import Path

from isonomy import stats

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "8-statistics.md"


def test_the_guide_names_what_exists_and_leaves_nothing_out() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    for name in stats.__all__:
        if name[0].islower() and name not in {"rank", "percentile_interval", "wilson_interval"}:
            assert re.search(rf"\b{name}\b", text), name
