"""The statistics guide: its snippets run and print what it says, and it names what exists."""

import doctest
import re
from pathlib import Path

from isonomy import stats

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "8-statistics.md"


def test_snippets_print_what_the_guide_says() -> None:
    failed, run = doctest.testfile(
        str(GUIDE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert failed == 0
    assert run > 20


def test_the_guide_names_what_exists_and_leaves_nothing_out() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    for name in stats.__all__:
        if name[0].islower() and name not in {"rank", "percentile_interval", "wilson_interval"}:
            assert re.search(rf"\b{name}\b", text), name
