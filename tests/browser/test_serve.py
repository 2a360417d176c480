"""``isonomy serve`` as a person meets it: a real server, a real browser, kills and restarts."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.browser.conftest import SIZES, faults

pytestmark = pytest.mark.browser
pytest.importorskip("starlette", reason="needs the extra app")

LONG = 240_000
"""Milliseconds that a benchmark may take on a busy machine."""


class Server:
    """A server of its own process, which can be killed and started again."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.options = folder, options
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> "Server":
        words = ["--out", str(self.folder / "runs"), "--port", str(self.port), *self.options]
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "isonomy", "serve", *words], stdout=log, stderr=log
            )
        until = time.monotonic() + 90
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(self.url, timeout=5):
                    return self
            except urllib.error.HTTPError:  # it asks for the token
                return self
            except OSError:
                time.sleep(0.2)
        raise AssertionError((self.folder / "server.log").read_text())

    def kill(self) -> None:
        """End the server as a power cut would: it has no time to say anything."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path).start()
    yield made
    made.stop()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Any]:
    contexts = []

    def look(size: str = "desk", scheme: str = "light", *, axe: bool = True) -> Any:
        width, height = SIZES[size]
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            bypass_csp=axe,  # axe-core is put into the page from outside
            accept_downloads=True,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        return page

    yield look
    for context in contexts:
        context.close()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    n = 1200
    sex, z = rng.choice(["F", "M"], n), rng.normal(size=n)
    p = 1 / (1 + np.exp(-(0.8 * z + 0.8 * (sex == "M"))))
    people = pd.DataFrame(
        {
            "applicant_id": np.arange(n) + 10_000,
            "sex": sex,
            "age": rng.integers(19, 66, n),
            "test": (50 + 15 * z).round(1),
            "hired": np.where(rng.random(n) < p, "yes", "no"),
            "predicted": np.where(p > 0.6, "yes", "no"),
        }
    )
    path = tmp_path / "people.csv"
    people.to_csv(path, index=False)
    return path


def bring(page: Any, server: Server, table: Path) -> str:
    """Go from the first page to the audit, and return the run's address."""
    page.goto(server.url)
    page.set_input_files("#file", table)
    page.get_by_role("button", name="Look at it").click()
    page.wait_for_url("**/columns")
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/groups")
    page.get_by_role("button", name="Audit").click()
    page.wait_for_url("**/audit")
    return str(page.url).removesuffix("/audit")


def test_from_a_table_to_a_report_although_the_server_is_killed(
    server: Server, open_page: Any, table: Path
) -> None:
    page = open_page(axe=False)  # with the policy in force
    page.goto(server.url)
    page.set_input_files("#file", table)
    page.get_by_role("button", name="Look at it").click()
    page.wait_for_url("**/columns")
    shown = (
        page.get_by_label("applicant_id").input_value(),
        page.get_by_label("sex", exact=True).input_value(),
    )
    assert shown == ("drop", "sensitive")
    page.get_by_label("age", exact=True).select_option("feature")  # a guess is corrected
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/groups")
    assert page.get_by_role("checkbox", name="yes").is_checked()
    page.get_by_label("Compare with").first.select_option("M")
    page.get_by_role("button", name="Audit").click()
    page.wait_for_url("**/audit")
    assert page.locator("h1").inner_text() == "Audit of people.csv"
    assert "--privileged sex=M" in page.locator(".same code").inner_text()
    page.get_by_role("link", name="Benchmark every method").click()
    page.get_by_label("Splits").fill("6")
    page.locator("form").get_by_role("button", name="Benchmark").click()
    page.wait_for_selector("text=/[1-3] of 6 splits/", timeout=LONG)
    page.wait_for_selector("text=reweighing", timeout=LONG)  # methods arrive
    server.kill()
    time.sleep(1)
    server.start()
    page.wait_for_selector("text=Is there a bias, and whose", timeout=LONG)  # by itself
    assert page.locator("h1").inner_text() == "Benchmark of people.csv"
    progress = next((server.folder / "runs").glob("*/benchmark-progress.json")).read_text()
    assert '"before": 0' not in progress  # it went on
    with page.expect_download() as held:
        page.get_by_role("link", name="HTML").click()
    text = Path(held.value.path()).read_text(encoding="utf-8")
    assert "<h1>Benchmark of people.csv</h1>" in text
    assert held.value.suggested_filename == "people-benchmark.html"
    lost = ("ERR_CONNECTION", "Failed to load resource")
    assert [said for said in page.said if not any(word in said for word in lost)] == []
    assert all(url.startswith((server.url, "data:", "blob:")) for url in page.asked)


def test_cancel_and_go_on(server: Server, open_page: Any, table: Path) -> None:
    page = open_page(axe=False)
    run = bring(page, server, table)
    page.goto(f"{run}/benchmark")
    page.get_by_label("Splits").fill("6")
    page.locator("form").get_by_role("button", name="Benchmark").click()
    page.wait_for_selector("text=/[1-5] of 6 splits/", timeout=LONG)
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector("text=/Cancelled after [1-6] of 6 splits/", timeout=LONG)
    page.get_by_role("button", name="Go on").click()
    page.wait_for_selector("text=Is there a bias, and whose", timeout=LONG)
    assert page.said == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_every_page_is_quiet_accessible_and_not_too_wide(
    server: Server, open_page: Any, table: Path, size: str, scheme: str
) -> None:
    page = open_page(size, scheme)
    run = bring(page, server, table)
    second = bring(page, server, table)
    keys = [address.rpartition("/")[2] for address in (run, second)]
    for address in (
        server.url,
        *(f"{run}/{name}" for name in ("columns", "groups", "audit", "benchmark", "tail", "none")),
        f"{server.url}/compare?before={keys[0]}&after={keys[1]}",
    ):
        page.goto(address)
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0], address
        assert faults(page) == [], address
    assert [s for s in page.said if "404" not in s] == []


def test_by_keyboard_alone(server: Server, open_page: Any, table: Path) -> None:
    page = open_page(axe=False)
    page.goto(server.url)

    def reach(name: str) -> None:
        """Press Tab until the focus is on what is called so, which must be seen."""
        for _ in range(80):
            page.keyboard.press("Tab")
            held = page.evaluate(
                "(e => [e.innerText || e.ariaLabel || (e.labels && e.labels[0] && e.labels[0].innerText)"
                " || '', getComputedStyle(e).outlineStyle, getComputedStyle(e).boxShadow])"
                "(document.activeElement)"
            )
            if name in held[0]:
                assert held[1] != "none"
                return
        raise AssertionError(f"{name} is not reached")

    reach("Skip to the content")
    reach("A table, one row per person")
    page.set_input_files("#file", table)  # the system's own dialog is not ours
    reach("Look at it")
    page.keyboard.press("Enter")
    page.wait_for_url("**/columns")
    reach("Continue")
    page.keyboard.press("Enter")
    page.wait_for_url("**/groups")
    reach("no")
    page.keyboard.press("Space")
    page.keyboard.press("Space")
    reach("Audit")  # the link of the menu has no groups yet; the button comes after the fields
    page.get_by_role("button", name="Audit").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/audit")
    reach("Benchmark every method")
    page.keyboard.press("Enter")
    page.wait_for_url("**/benchmark")
    assert page.said == []


def test_wrong_and_huge_files_are_said_on_the_page(
    tmp_path: Path, open_page: Any, table: Path
) -> None:
    server = Server(tmp_path, "--max-size", "1").start()
    try:
        page = open_page(axe=False)
        page.goto(server.url)
        wrong = tmp_path / "photo.csv"
        wrong.write_bytes(b"\x89PNG\r\n\x1a\n" + os.urandom(2000))
        page.set_input_files("#file", wrong)
        page.get_by_role("button", name="Look at it").click()
        page.wait_for_selector("#problem")
        page.wait_for_selector("#problem:focus")  # a reader hears it first; the pages allow no eval
        huge = tmp_path / "huge.csv"
        huge.write_bytes(b"a,b\n" + b"1,2\n" * 1_000_000)
        page.set_input_files("#file", huge)
        assert "at most 1 MB" in page.locator(".told").inner_text()
        page.get_by_role("button", name="Look at it").click()
        assert "at most 1 MB" in page.locator(".told").inner_text()  # nothing was sent
        page.evaluate("document.querySelector('form.bring').dataset.most = 1e12")
        page.get_by_role("button", name="Look at it").click()  # sent all the same
        page.wait_for_selector("text=A file must have at most 1 MB; this one has more")
        assert [path.name for path in (tmp_path / "runs").iterdir()] == ["lock"]
    finally:
        server.stop()


def test_three_hundred_columns_and_hostile_names(
    server: Server, open_page: Any, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    names = ["<script>window.broken=1</script>", "<img src=x onerror=window.broken=1>", "x" * 300]
    columns = {f"x{k}": rng.integers(0, 9, 300) for k in range(294)}
    columns |= {name: rng.choice(["<b>a</b>", "'\"--", "{{7*7}}"], 300) for name in names}
    columns |= {"sex": rng.choice(["F", "M"], 300), "label": rng.integers(0, 2, 300)}
    wide = tmp_path / "<img src=x onerror=window.broken=1>.csv"
    pd.DataFrame({**columns, "prediction": rng.integers(0, 2, 300)}).to_csv(wide, index=False)
    page = open_page("phone", axe=False)
    page.goto(server.url)
    page.set_input_files("#file", wide)
    page.get_by_role("button", name="Look at it").click()
    page.wait_for_url("**/columns")
    assert page.locator("select").count() == 300
    page.get_by_label("Show rows with").fill("script")
    assert page.locator("select:visible").count() == 1
    page.locator("select:visible").select_option("sensitive")
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/groups")
    page.get_by_role("button", name="Audit").click()
    page.wait_for_url("**/audit")
    assert page.evaluate("window.broken") is None
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES["phone"][0]
    page.goto(server.url)
    assert page.evaluate("window.broken") is None
    assert page.said == []


def test_two_people_at_once(server: Server, open_page: Any, table: Path) -> None:
    first, second = open_page(axe=False), open_page("phone", axe=False)
    for page in (first, second):
        page.goto(server.url)
        page.set_input_files("#file", table)
    for page in (first, second):
        page.get_by_role("button", name="Look at it").click(no_wait_after=True)
    for page in (first, second):
        page.wait_for_url("**/columns")
    assert first.url != second.url
    run = bring(first, server, table)
    second.goto(f"{run}/audit")
    assert second.locator("h1").inner_text() == "Audit of people.csv"
    second.goto(f"{run}/columns")
    second.get_by_text("Delete this run").click()
    second.get_by_role("button", name="Delete all of it").click()
    second.wait_for_url(f"{server.url}/")
    first.reload()
    assert "There is no such run" in first.locator("main").inner_text()


def test_another_address_asks_for_the_token(tmp_path: Path, open_page: Any) -> None:
    token = tmp_path / "token"
    server = Server(tmp_path, "--host", "0.0.0.0", "--token-file", str(token)).start()
    try:
        page = open_page(axe=False)
        page.goto(server.url)
        page.wait_for_url("**/login")
        page.get_by_label("Token").fill("a wrong one of many letters")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=This is not the token")
        # once loaded, the page focuses the problem it tells: Enter is for the field, wherever that is
        page.get_by_label("Token").fill(token.read_text().strip())
        page.get_by_label("Token").press("Enter")
        page.wait_for_selector("text=Recent runs")
        assert token.read_text().strip() not in page.content()
    finally:
        server.stop()
    assert token.read_text().strip() not in (tmp_path / "server.log").read_text()
