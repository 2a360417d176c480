"""Every kind of page in its three faces: the same numbers, valid, small, and harmless."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from isonomy import report
from isonomy._shown import SUMMARIES
from isonomy.errors import InputError
from isonomy.report import blocks as b
from tests.results import RESULTS

COMMAND = "isonomy audit 'my file.csv' --sensitive sex"
PAGES: dict[str, tuple[dict[str, Any], str, str]] = {}


def faces(kind: str) -> tuple[dict[str, Any], str, str]:
    """Return a kind's summary, page and Markdown, made once."""
    if kind not in PAGES:
        made = report.summarize(RESULTS[kind](), title="p<>.csv", command=COMMAND)
        PAGES[kind] = made, report.to_html(made), report.to_markdown(made)
    return PAGES[kind]


def blocks(made: list[dict[str, Any]]) -> Any:
    """Return every block, folded ones and the tables of charts too."""
    for block in made:
        yield block
        yield from blocks(block.get("blocks", []))
        if block.get("numbers"):
            yield block["numbers"]


def all_blocks(summary: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for part in summary["parts"] for block in blocks(part["blocks"])]


def test_every_kind_of_page_is_tried() -> None:
    def kind_of(found: Any) -> str:
        while isinstance(found, list | tuple):
            found = found[-1]
        return str(found.page)

    assert {*SUMMARIES} == {kind_of(made()) for made in RESULTS.values()}


@pytest.mark.parametrize("kind", RESULTS)
def test_a_summary_is_plain_data_of_the_schema(kind: str) -> None:
    summary, _, _ = faces(kind)
    assert json.loads(report.to_json(summary)) == summary
    assert summary["schema"] == b.SCHEMA
    assert summary["command"] == COMMAND
    names = [part["name"] for part in summary["parts"]]
    assert names == [name for name in b.PARTS if name in names]
    assert {"table", "method", "limits"} <= {*names} | {"table"}
    assert summary["verdict"]["headline"]
    last = summary["parts"][-1]["blocks"][-1]["items"][-1]
    assert last.startswith("This is a calculation")
    made = next(part for part in summary["parts"] if part["name"] == "method")["blocks"][-1]
    assert re.match(r"Made on \d{4}-\d\d-\d\d by Isonomy .+ with Python 3", made["text"])
    assert "not legal advice" in last
    for block in all_blocks(summary):
        if block["type"] == "table":
            assert block["caption"]
            assert {len(row) for row in block["rows"]} <= {len(block["columns"])}
            assert all(row[0]["text"] for row in block["rows"])
        if block["type"] == "chart":
            assert block["alt"]


@pytest.mark.parametrize("kind", RESULTS)
def test_all_faces_show_the_same_numbers(kind: str) -> None:
    html5lib = pytest.importorskip("html5lib")
    summary, page, markdown = faces(kind)
    tree = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(page)
    shown = [
        ["".join(cell.itertext()) for cell in row if cell.tag in ("td", "th")]
        for table in tree.iter("table")
        for row in table.find("tbody")
    ]
    tables = [block for block in all_blocks(summary) if block["type"] == "table"]
    parts = ("text", "small", "why")
    told = [
        ["".join(c.get(p, "") for p in parts) for c in row] for t in tables for row in t["rows"]
    ]
    assert sorted(shown) == sorted([[clean(c) for c in row] for row in told])
    written = re.sub(r"\\(.)", r"\1", markdown)
    for table in tables:
        for row in table["rows"]:
            for cell in row:
                assert re.sub(r"[\r\n]+", " ", cell["text"]) in written


def clean(text: str) -> str:
    return text.replace("\r\n", "\n")


@pytest.mark.parametrize("kind", RESULTS)
def test_a_page_stands_alone(kind: str) -> None:
    _, page, _ = faces(kind)
    bare = page.replace("http://bad.example", "")  # the name of a group
    assert not re.search(
        r"https?://|@import|<link(?! rel=\"icon\" href=\"data:,\")|<img|@font-face", bare
    )
    assert page.count("<script>") == 1
    assert len(re.findall(r"<script>(.*)</script>", page, re.S)[0]) < 5_000
    assert len(page) < {"benchmark": 250_000, "tails": 100_000, "tail_curves": 100_000}.get(
        kind, 60_000
    )
    ids = re.findall(r' id="([^"]*)"', page)
    assert len(ids) == len({*ids})


def test_hostile_names_are_text() -> None:
    _, page, markdown = faces("hostile")
    body = re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    assert "window.broken" in body
    for bad in ("<script", "<b>bold", "49{%", "\u202e"):
        assert bad not in body
    assert "\\u202eright to left" in body
    assert not re.search(r"(?<!\\)[<\[]|\u202e", markdown.replace(COMMAND, ""))
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in lines)  # no cell breaks its row


@pytest.mark.parametrize("kind", RESULTS)
def test_notebooks_show_the_verdict_and_inherit_colours(kind: str) -> None:
    found = RESULTS[kind]()
    while isinstance(found, list | tuple):
        found = found[-1]
    shown = found._repr_html_()
    assert shown.startswith('<div class="isonomy-result">')
    assert "<script" not in shown
    assert " id=" not in shown
    assert not re.findall(r"(?<!-)(?:background|color):\s*(?:#fff|white|black)", shown)
    assert len(shown) < 40_000
    # a rule of ours must hold for nothing else on the notebook's page
    rules = re.findall(r"(?:^|[}])([^{}]+){", re.findall(r"<style>(.*?)</style>", shown, re.S)[0])
    assert all(part.strip().startswith(".isonomy-result") for r in rules for part in r.split(","))


def test_the_suffix_says_how_a_report_is_written(tmp_path: Path) -> None:
    summary, page, markdown = faces("wins")
    for name, text in (("a.html", page), ("a.MD", markdown), ("a.json", report.to_json(summary))):
        report.write(summary, tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8") == text
    with pytest.raises(InputError, match="must end in "):
        report.write(summary, tmp_path / "a.pdf")
    with pytest.raises(InputError, match="made of a result"):
        report.summarize([1, 2])
    result = RESULTS["wins"]()
    assert result.to_html(title="p<>.csv", command=COMMAND) == page
    assert result.to_markdown(title="p<>.csv", command=COMMAND) == markdown
