"""The guide of the data room names what exists."""

import re
from pathlib import Path

import isonomy.data
from isonomy.data import DATASETS
from isonomy.data.prepare import PREPARATIONS
from isonomy.data.splits import SPLITTERS

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "1-data.md"


def test_the_guide_covers_every_dataset_splitter_and_preparation() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    for name in DATASETS:
        assert f"| `{name}` |" in text, f"{name} has no row in the table of {GUIDE.name}"
        assert f"- **{name}.**" in text, f"{name} has no paragraph in {GUIDE.name}"
    for name in (*SPLITTERS, *PREPARATIONS):
        assert f"| `{name}` |" in text, name


def test_no_registry_host_is_named() -> None:
    """Files come from the registry that pip is configured for; addresses are the publishers'."""
    hosts = set()
    for path in Path(isonomy.data.__path__[0]).glob("*.*"):
        if path.suffix not in {".py", ".toml"}:
            continue
        hosts |= set(re.findall(r"https?://([^/\"\s]+)", path.read_text(encoding="utf-8")))
    assert hosts == {
        "archive.ics.uci.edu",
        "meps.ahrq.gov",
        "raw.githubusercontent.com",
        "www.kaggle.com",
    }
