"""The built documentation in a real browser: quiet, offline, not too wide, and it answers by its search.

``make docs`` builds it and ``make test-browser`` installs what is needed; without, these tests skip.
"""

import functools
import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import SIZES

pytestmark = pytest.mark.browser

SITE = Path(__file__).resolve().parents[2] / "docs" / "_build" / "html"
PAGES = {
    "start page": "index.html",
    "start": "start.html",
    "guide": "guide/3-audit.html",
    "gallery": "gallery/index.html",
    "example": "gallery/plot_verdicts.html",
    "case": "cases/plot_lender.html",
    "metric": "reference/metrics/statistical_parity_difference.html",
    "room": "reference/rooms/isonomy.mitigators.html",
    "method": "reference/mitigators/reweighing.html",
    "source": "_modules/isonomy/mitigators/reweighing.html",
    "paper": "papers/icse24_multi.html",
    "compare": "compare.html",
}
# What a newcomer asks, the words they would search for, where it is answered, and by what.
QUESTIONS = {
    "audit a CSV": ("how-to/own-data.html", "isonomy audit"),
    "read a verdict": ("guide/3-audit.html", "the interval crosses the threshold"),
    "my model": ("how-to/own-model.html", "What it needs of the model"),
    "good trade-off": ("guide/6-tradeoff.html", "a better exchange than blind mutation"),
    "gate CI": ("how-to/gate.html", "isonomy check"),
    "add a dataset": ("how-to/add-a-dataset.html", "the card"),
    "five groups": ("guide/4-mitigation.html", "With five groups, begin with"),
    "trust p": ("skeptic.html", "You may not say"),
    "cite": ("cite.html", "@software{isonomy"),
    "Reweighing": ("reference/mitigators/reweighing.html", "[source]"),
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Serve the built site on this machine, as ``make docs-serve`` does."""
    if not (SITE / "index.html").exists():
        pytest.skip("needs the built site: make docs")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words: object) -> None: ...

    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=SITE)
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def opened(browser: Any, address: str) -> Iterator[Any]:
    """Return a function that opens a page; what it logs and asks for is kept."""
    contexts = []

    def look(page_name: str, size: str = "desk", scheme: str = "light") -> Any:
        width, height = SIZES[size]
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme
        )
        contexts.append(context)
        page = context.new_page()
        page.said, page.asked = [], []
        # the theme tells the console which theme it shows; that is no trouble
        page.on(
            "console",
            lambda message: message.type in {"error", "warning"} and page.said.append(message.text),
        )
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(address + page_name, wait_until="networkidle")
        return page

    yield look
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", PAGES)
def test_a_page_is_quiet_offline_and_not_too_wide(
    opened: Any, address: str, kind: str, size: str, scheme: str
) -> None:
    page = opened(PAGES[kind], size, scheme)
    assert page.said == []
    assert len(page.asked) > 3
    assert [url for url in page.asked if not url.startswith((address, "data:"))] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0]
    assert page.evaluate("document.documentElement.dataset.theme") == scheme


@pytest.mark.parametrize("words", QUESTIONS)
def test_the_search_answers(opened: Any, address: str, words: str) -> None:
    wanted, answer = QUESTIONS[words]
    page = opened(f"search.html?q={words.replace(' ', '+')}")
    page.wait_for_selector("#search-results .search li a")
    found = page.locator("#search-results .search li > a").evaluate_all("a => a.map(a => a.href)")
    pages = list(
        dict.fromkeys(url.removeprefix(address).split("#")[0].split("?")[0] for url in found)
    )
    assert wanted in pages[:5], pages[:8]
    page.goto(address + wanted)
    assert answer in page.locator("article").inner_text()
    assert [url for url in page.asked if not url.startswith((address, "data:"))] == []


def test_the_start_page_answers_ten_questions_with_one_click(opened: Any, address: str) -> None:
    page = opened("index.html")
    rows = page.locator("#ten-questions tbody tr")
    assert rows.count() == 10
    for number, (_, answer) in enumerate(QUESTIONS.values()):
        page.goto(f"{address}index.html")
        rows.nth(number).locator("a").first.click()
        page.wait_for_load_state()
        if number < 9:  # the last leads to the list of rooms, one click from each source
            assert answer in page.locator("article").inner_text()
        else:
            assert page.locator("article a", has_text="isonomy.mitigators").count()


def test_an_example_can_be_taken_home_as_a_notebook(opened: Any) -> None:
    page = opened("gallery/plot_verdicts.html")
    with page.expect_download() as taken:
        page.locator(".sphx-glr-download-jupyter a").first.click()
    assert taken.value.suggested_filename == "plot_verdicts.ipynb"


def test_llms_txt_leads_to_pages_that_are_there(address: str) -> None:
    links = re.findall(r"^- \[.+\]\((.+)\)$", (SITE / "llms.txt").read_text(), re.MULTILINE)
    assert len(links) > 60
    assert [link for link in links if not (SITE / link).is_file()] == []
