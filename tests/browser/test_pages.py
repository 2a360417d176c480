"""Every kind of page in a real browser: quiet, offline, usable by pointer, keyboard and screen reader.

``make test-browser`` installs what is needed; without a browser these tests skip, with the reason.
"""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from isonomy import report
from tests.browser.conftest import SIZES, faults
from tests.results import RESULTS

pytestmark = pytest.mark.browser


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture
def opened(browser: Any, folder: Path) -> Iterator[Any]:
    """Return a function that opens a kind's page; what it logs and asks for is kept."""
    contexts = []

    def look(kind: str, size: str = "desk", scheme: str = "light") -> Any:
        path = folder / f"{kind}.html"
        if not path.exists():
            report.write(
                RESULTS[kind](), path, title="people.csv", command="isonomy audit people.csv"
            )
        width, height = SIZES[size]
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, bypass_csp=True
        )
        contexts.append(context)
        page = context.new_page()
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(path.as_uri())
        return page

    yield look
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", RESULTS)
def test_a_page_is_quiet_offline_accessible_and_not_too_wide(
    opened: Any, kind: str, size: str, scheme: str
) -> None:
    page = opened(kind, size, scheme)
    assert page.said == []
    assert [url for url in page.asked if not url.startswith(("file:", "data:"))] == []
    assert page.evaluate("window.broken") is None
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0]
    boxes = ".map(box => box.scrollWidth - box.clientWidth)"
    wider = page.evaluate(f"[...document.querySelectorAll('.scroll')]{boxes}")
    if size == "desk":
        assert max(wider, default=0) <= 1
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert faults(page) == []


def test_the_verdict_is_the_first_thing_on_a_phone(opened: Any) -> None:
    page = opened("audit", "phone")
    box = page.locator(".verdict h2").bounding_box()
    assert box["y"] + box["height"] < SIZES["phone"][1]
    for figure in page.locator("figure").all():
        box = figure.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= SIZES["phone"][0]


def test_tables_sort_by_value_and_say_so(opened: Any) -> None:
    page = opened("benchmark")
    table = page.locator("table.data").first
    head = table.locator("thead th", has_text="advantage")
    numbers = "rows => rows.map(row => parseFloat(row.cells[7].firstChild?.textContent))"
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    values = [
        v for v in table.locator("tbody tr").evaluate_all(numbers) if v == v and v is not None
    ]
    assert values == sorted(values)
    assert len(values) > 20
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    values = [
        v for v in table.locator("tbody tr").evaluate_all(numbers) if v == v and v is not None
    ]
    assert values == sorted(values, reverse=True)


def test_tables_filter_and_count(opened: Any) -> None:
    page = opened("benchmark")
    rows = page.locator("table.data").first.locator("tbody tr")
    every = rows.count()
    page.get_by_label("Show rows with").first.fill("REWEIGH")
    left = rows.filter(visible=True)
    assert left.count() == 1 < every
    assert "reweighing" in left.first.inner_text()
    assert page.locator("output").first.inner_text() == f"1 of {every} rows"


def test_marks_say_what_they_are_by_pointer_and_by_keyboard(opened: Any) -> None:
    page = opened("benchmark")
    marks = page.locator("figure").first.locator(".m")
    tip = page.locator("#tip")
    assert tip.is_hidden()
    marks.nth(5).hover()
    assert tip.inner_text() == marks.nth(5).get_attribute("aria-label")
    marks.nth(0).focus()
    page.keyboard.press("ArrowRight")
    assert tip.inner_text() == marks.nth(1).get_attribute("aria-label")
    page.keyboard.press("Escape")
    assert tip.is_hidden()


def test_the_theme_can_be_chosen(opened: Any) -> None:
    page = opened("wins")
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.get_by_role("button", name="Dark colours").click()
    dark = page.evaluate(colour)
    assert light == "rgb(255, 255, 255)" != dark
    page.get_by_role("button", name="Light colours").click()
    assert page.evaluate(colour) == light
    assert opened("wins", scheme="dark").evaluate(colour) == dark


@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize("kind", RESULTS)
def test_paper_holds_whole_tables_in_light_colours(opened: Any, kind: str, paper: str) -> None:
    page = opened(kind, scheme="dark")
    assert page.pdf(format=paper, print_background=True).startswith(b"%PDF")
    # the width of the paper between its margins
    page.set_viewport_size({"width": {"A4": 688, "Letter": 710}[paper], "height": 900})
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("details:not([open])").count() == 0
    wider = "tables => tables.map(t => t.getBoundingClientRect().right - innerWidth)"
    assert max(page.locator("table.data").evaluate_all(wider), default=0) <= 1
    # a button in a heading would not be painted again on the next sheet
    shown = "all => all.map(one => getComputedStyle(one).display)"
    assert {*page.locator("thead button").evaluate_all(shown)} <= {"contents"}


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="needs pdftotext (poppler-utils)")
def test_headings_are_repeated_on_every_sheet(opened: Any, tmp_path: Path) -> None:
    opened("benchmark").pdf(path=tmp_path / "b.pdf", format="A4")
    read = ["pdftotext", "-layout", str(tmp_path / "b.pdf"), "-"]
    sheets = subprocess.run(read, capture_output=True, text=True, check=True).stdout.split("\f")
    assert sum("verdict" in sheet and "advantage" in sheet for sheet in sheets) >= 2
