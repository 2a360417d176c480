"""Cards: what a dataset states about itself, and what is missing from it."""

from pathlib import Path

import pytest

from isonomy.data.catalog import Entry, read_card
from isonomy.errors import InputError

CARD = """
title = "Tiny: was an applicant hired?"
source = "nobody"
licence = "CC0"
citation = "none"
rows = 2
attributes = ["sex"]
caveats = ["Made up."]
"""
FILE = """
[[files]]
name = "tiny.csv"
sha256 = "0"
size = 1
"""


def card(folder: Path, text: str) -> Entry:
    (folder / "tiny.toml").write_text(text, encoding="utf-8")
    return read_card(str(folder / "tiny.py"))


def test_a_file_may_have_an_address_only(tmp_path: Path) -> None:
    entry = card(tmp_path, CARD + FILE + 'url = "https://example.org/tiny.csv"')
    assert entry.name == "tiny"
    assert entry.files[0].wheel is None
    assert entry.files[0].url == "https://example.org/tiny.csv"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CARD.replace("licence", "license"), "tiny.toml lacks 'licence'"),
        (CARD + FILE, "'tiny.csv' in tiny.toml has neither"),
        (CARD + FILE + 'wheel = "nobody"', "'nobody', which tiny.toml names, is not"),
    ],
)
def test_what_a_card_lacks_is_said(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        card(tmp_path, text)


def test_rows_that_are_drawn(tmp_path: Path) -> None:
    assert card(tmp_path, CARD + "made = true").where == "ready"
