"""The local web page under load: twenty people at once on loopback while a benchmark runs.

Each client is a person: asks for an audit of a table of 100,000 rows, waits for its page, looks at it
for some seconds, and asks again. What is timed is from the press of the button to the last byte of the page.
Wall clock: run it on an idle machine, or (Linux, root) in a session whose autogroup has priority.
"""

import http.client
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from table import under

__all__ = ["TITLE", "rows"]

TITLE = "Part 17: the local web page"
ROWS, PEOPLE = 100_000, 20
SECONDS, HURRY = 45.0, 20.0
"""How long the load lasts while people look at pages, and while nobody does."""
LOOKS = (3.0, 7.0)
"""How long somebody looks at an audit before asking for the next, at least and at most."""


def _table(path: Path) -> Path:
    rng = np.random.default_rng(0)
    sex, race = rng.choice(["F", "M"], ROWS), rng.choice(["a", "b", "c", "d"], ROWS)
    p = 1 / (1 + np.exp(-(rng.normal(size=ROWS) + 0.4 * (sex == "M"))))
    columns = {
        "sex": sex,
        "race": race,
        "hours": rng.integers(1, 60, ROWS),
        "merit": rng.normal(size=ROWS).round(3),
        "hired": (rng.random(ROWS) < p).astype(int),
        "predicted": (p > 0.5).astype(int),
    }
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


class Client:
    """A browser of a few lines; each request has a connection of its own."""

    def __init__(self, port: int) -> None:
        self.port = port

    def _ask(self, status: int, *request: Any) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(*request)
            answer = connection.getresponse()
            self.text = answer.read().decode()
        finally:
            connection.close()
        assert answer.status == status, (request[:2], answer.status, self.text[-300:])
        return answer

    def get(self, address: str) -> str:
        self._ask(200, "GET", address)
        return self.text

    def post(self, address: str, body: bytes, kind: str) -> str:
        answer = self._ask(303, "POST", address, body, {"content-type": kind})
        return str(answer.headers["location"])

    def form(self, address: str, change: dict[str, str] | None = None) -> str:
        """Send the form of a page as it stands, with some fields changed."""
        return self.post(address, encoded(self.get(address), change), FORM)


FORM = "application/x-www-form-urlencoded"


def encoded(text: str, change: dict[str, str] | None = None) -> bytes:
    """Return the fields of the last form of a page, as a browser sends them."""
    form = text[text.rindex('<form method="post">') :]
    fields = []
    for name, options in re.findall(r'<select name="([^"]+)".*?>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'value="([^"]*)" selected', options) or re.search(
            r'<option value="([^"]*)"', options
        )
        fields.append((name, chosen[1]))
    for tag in re.findall(r"<input [^>]*>", form):
        held = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        if held.get("type") != "checkbox" or " checked" in tag:
            fields.append((held["name"], held.get("value", "")))
    fields = [(k, v) for k, v in fields if k not in (change or {})]
    return urllib.parse.urlencode([*fields, *(change or {}).items()]).encode()


def _bring(client: Client, table: Path) -> str:
    """Upload a table, accept every guess, and return the run's address."""
    secret = re.search(r'name="secret" value="([^"]+)"', client.get("/"))[1]
    mark = "a-mark-between-parts"
    head = (
        f'--{mark}\r\ncontent-disposition: form-data; name="secret"\r\n\r\n{secret}\r\n'
        f'--{mark}\r\ncontent-disposition: form-data; name="file"; filename="{table.name}"\r\n\r\n'
    )
    body = head.encode() + table.read_bytes() + f"\r\n--{mark}--\r\n".encode()
    run = client.post("/upload", body, f"multipart/form-data; boundary={mark}").removesuffix(
        "/columns"
    )
    client.form(f"{run}/columns")
    client.form(f"{run}/groups")
    return run


def _load(port: int, run: str, looks: tuple[float, float], seconds: float) -> list[float]:
    """Let everybody ask for audits for a while; return how long each waited."""
    took: list[float] = []
    until = time.monotonic() + seconds

    def person(seed: int) -> None:
        rng, client = np.random.default_rng(seed), Client(port)
        body = encoded(client.get(f"{run}/groups"))
        time.sleep(rng.uniform(0, looks[1]))
        while time.monotonic() < until:
            begun = time.perf_counter()
            page = client.post(f"{run}/groups", body, FORM)
            text = client.get(page)
            took.append(time.perf_counter() - begun)
            assert "Audit of people.csv" in text
            time.sleep(rng.uniform(*looks))

    everybody = [threading.Thread(target=person, args=(k,)) for k in range(PEOPLE)]
    for one in everybody:
        one.start()
    for one in everybody:
        one.join()
    return took


def rows():
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        words = ["serve", "--out", str(place / "runs"), "--port", str(port), "--workers", "1"]
        server = subprocess.Popen(
            [sys.executable, "-m", "isonomy", *words], stderr=subprocess.DEVNULL
        )
        try:
            client = _answering(port)
            run = _bring(client, _table(place / "people.csv"))
            alone = []
            body = encoded(client.get(f"{run}/groups"))
            for _ in range(5):
                begun = time.perf_counter()
                client.get(client.post(f"{run}/groups", body, FORM))
                alone.append(time.perf_counter() - begun)
            client.form(f"{run}/benchmark", {"repeats": "100"})
            while "splits</b>" not in client.get(f"{run}/benchmark/progress"):
                time.sleep(0.5)
            looking = _load(port, run, LOOKS, SECONDS)
            hurried = _load(port, run, (0.0, 0.0), HURRY)
            going = "Cancel" in client.get(f"{run}/benchmark/progress")
        finally:
            server.terminate()
            server.wait(60)
    assert going, "the benchmark ended before the load did"
    busy = f"load average {os.getloadavg()[0]:.0f} at the end"
    people = f"{PEOPLE} people, a benchmark running"
    p95, worst = np.quantile(looking, [0.95, 1.0])
    quick = float(np.quantile(hurried, 0.95))
    once = float(np.median(alone))
    return [
        under(
            f"audit of {ROWS:,} rows, button to page, {people}, each looking {LOOKS[0]:g} to "
            f"{LOOKS[1]:g} s at a page: 95th percentile",
            "-",
            1000 * float(p95),
            None,
            2000.0,
            "wall ms",
            f"{len(looking)} audits; median {np.median(looking):.2f} s, longest {worst:.2f} s; {busy}",
        ),
        under(
            f"the same, nobody looking, {PEOPLE} audits asked for at any time: 95th percentile",
            "-",
            1000 * quick,
            None,
            None,
            "wall ms",
            f"{len(hurried) / HURRY:.1f} audits a second; median {np.median(hurried):.2f} s",
        ),
        under(
            "the same, one person, no benchmark: median", "-", 1000 * once, None, None, "wall ms"
        ),
    ]


def _answering(port: int) -> Client:
    until = time.monotonic() + 120
    while True:
        try:
            client = Client(port)
            client.get("/")
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.3)
        else:
            return client
