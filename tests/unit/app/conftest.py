"""A server's application asked without a network, and a table to bring."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("starlette", reason="needs the extra app")

from starlette.testclient import TestClient

from isonomy.app import Limits, make_app

ADDRESS = "http://127.0.0.1:8321"


@pytest.fixture
def people() -> pd.DataFrame:
    """600 people with labels, decisions, scores and two attributes."""
    rng = np.random.default_rng(3)
    n = 600
    sex, z = rng.choice(["F", "M"], n), rng.normal(size=n)
    p = 1 / (1 + np.exp(-(z + 0.8 * (sex == "M"))))
    return pd.DataFrame(
        {
            "sex": sex,
            "age": rng.integers(18, 80, n),
            "hours": rng.integers(5, 60, n),
            "merit": z.round(3),
            "hired": (rng.random(n) < p).astype(int),
            "y_pred": (p > 0.55).astype(int),
        }
    )


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., TestClient]]:
    """Return a function that makes a client of an application of its own folder."""
    opened: list[Any] = []

    def client(**options: Any) -> TestClient:
        address = options.pop("address", ADDRESS)
        raises = options.pop("raises", True)
        limits = options.pop("limits", Limits(megabytes=5, rows=20_000, columns=320))
        app = make_app(options.pop("folder", tmp_path / "runs"), limits=limits, **options)
        made = TestClient(
            app,
            base_url=address,
            follow_redirects=False,
            raise_server_exceptions=raises,
        )
        opened.append(made.__enter__())
        return made

    yield client
    for made in opened:
        made.__exit__(None, None, None)


@pytest.fixture
def client(make: Callable[..., TestClient]) -> TestClient:
    return make()


def secret(client: TestClient, address: str = "/") -> str:
    """Return the secret of the forms, as a page holds it."""
    found = re.search(r'name="secret" value="([^"]+)"', client.get(address).text)
    assert found is not None
    return found[1]


def bring(client: TestClient, table: pd.DataFrame | bytes, name: str = "people.csv") -> Any:
    """Upload a table and return the answer."""
    body = table if isinstance(table, bytes) else table.to_csv(index=False).encode()
    return client.post(
        "/upload", data={"secret": secret(client)}, files={"file": (name, body, "text/csv")}
    )


def post(client: TestClient, address: str, fields: dict[str, Any] | None = None) -> Any:
    """Send a form of ours."""
    return client.post(address, data={"secret": secret(client), **(fields or {})})


def fields_of(text: str) -> dict[str, Any]:
    """Return what a browser would send of the last form of a page, as it stands."""
    form = text[text.rindex('<form method="post">') :]
    sent: dict[str, Any] = {}
    for name, options in re.findall(r'<select name="([^"]+)".*?>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'value="([^"]*)" selected', options)
        first = re.search(r'<option value="([^"]*)"', options)
        sent[name] = (chosen or first)[1]  # type: ignore[index]
    for tag in re.findall(r"<input [^>]*>", form):
        held = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        if held.get("type") == "checkbox" and " checked" not in tag:
            continue
        sent.setdefault(held["name"], []).append(held.get("value", ""))
    return sent


def audited(client: TestClient, table: Any, name: str = "people.csv") -> str:
    """Bring a table, accept every guess, and return the run's address."""
    answer = bring(client, table, name)
    assert answer.status_code == 303, answer.text
    run = answer.headers["location"].removesuffix("/columns")
    for step in ("columns", "groups"):
        page = client.get(f"{run}/{step}")
        assert page.status_code == 200
        done = client.post(f"{run}/{step}", data=fields_of(page.text))
        assert done.status_code == 303, done.text
    return run
