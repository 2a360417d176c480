"""Snippets of the guides and how-tos that are written as sessions print what the pages say."""

import doctest
import re
from pathlib import Path

import matplotlib as mpl
import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "heading", "least"),
    [
        ("guide/3-audit.md", "Over time", 8),
        ("guide/4-mitigation.md", "Choosing parameters by fairness", 9),
        ("how-to/model-cards.md", "", 10),
        ("how-to/plots.md", "", 12),
    ],
)
def test_sessions(
    page: str, heading: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    if heading:
        text = re.split(rf"^#+ {heading}$", text, flags=re.MULTILINE)[1]
        text = re.split(r"^#", text, maxsplit=1, flags=re.MULTILINE)[0]
    pytest.importorskip("skops" if "skops" in text else "matplotlib")
    mpl.use("agg")
    monkeypatch.chdir(tmp_path)
    session = doctest.DocTestParser().get_doctest(text.replace("```", ""), {}, page, page, 0)
    assert len(session.examples) >= least
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    said: list[str] = []
    runner.run(session, out=said.append)
    assert not runner.failures, "".join(said)
    mpl.pyplot.close("all")
