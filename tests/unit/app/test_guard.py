"""Who may ask: names, origins, secrets, tokens; and what a browser is told about every answer."""

import logging
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from isonomy.app.guard import HEADERS, Secrets
from isonomy.app.jobs import Jobs
from isonomy.app.runs import Runs
from isonomy.app.server import STATIC
from tests.unit.app.conftest import ADDRESS, audited, bring, secret

TOKEN = "a-token-of-more-than-twenty-letters"


def addresses(client: Any, run: str) -> list[tuple[str, str]]:
    """Return method and address of every route of the application."""
    out = []
    for route in client.app.app.routes:
        path = route.path.replace("/runs/{run}", run).replace("{kind}", "benchmark")
        out += [(method, path.replace("{ending}", "html")) for method in route.methods]
    return [(m, p) for m, p in out if m != "HEAD"]


def test_every_answer_says_what_a_browser_may_do(client: Any, people: pd.DataFrame) -> None:
    run = audited(client, people)
    asked = [p for m, p in addresses(client, run) if m == "GET"]
    assert len(asked) > 12
    for path in [*asked, "/nowhere"]:
        answer = client.get(path)
        for name, value in HEADERS.items():
            assert answer.headers[name] == value, path
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers
    assert "unsafe" not in HEADERS["content-security-policy"]


def test_pages_need_nothing_that_the_policy_forbids(client: Any, people: pd.DataFrame) -> None:
    run = audited(client, people)
    for path in ("/", f"{run}/columns", f"{run}/groups", f"{run}/audit", f"{run}/benchmark"):
        text = client.get(path).text
        for forbidden in (
            "<style",
            " style=",
            " onclick=",
            "javascript:",
            "<script>",
            "http://",
            "https://",
        ):
            assert forbidden not in text, (path, forbidden)
    for name in STATIC:
        assert client.get(f"/static/{name}").status_code == 200


def test_every_form_needs_its_secret(client: Any, people: pd.DataFrame, tmp_path: Path) -> None:
    run = audited(client, people)
    asked = [p for m, p in addresses(client, run) if m == "POST"]
    assert len(asked) == 7
    for path in asked:
        for given in ({}, {"secret": ""}, {"secret": "x" * 43}):
            answer = client.post(path, data=given)
            assert answer.status_code == 403, path
            assert "load it again" in answer.text
    assert len(list((tmp_path / "runs").iterdir())) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "https://127.0.0.1:8321"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_page_of_elsewhere_cannot_change_anything(client: Any, headers: dict[str, str]) -> None:
    answer = client.post("/upload", data={"secret": secret(client)}, headers=headers)
    assert answer.status_code == 403
    assert "from a page of this server only" in answer.text


def test_our_own_page_can(client: Any, people: pd.DataFrame) -> None:
    client.headers.update({"origin": ADDRESS, "sec-fetch-site": "same-origin"})
    assert bring(client, people).status_code == 303


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "evil.example:8321",
        "",
        "[::1",
        "[zz]",
        "::1]",
        "evil.example@127.0.0.1",
        "127.0.0.1:port",
        "127.0.0.1/",
        "127.0.0.1 evil.example",
    ],
)
def test_a_name_that_was_made_to_lead_here_is_refused(client: Any, host: str) -> None:
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert "<form" not in answer.text


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8321", "localhost:8321", "LOCALHOST", "[::1]:8321", "[::1]", "localhost"]
)
def test_own_names_are_answered(client: Any, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "DELETE", "PATCH", "TRACE"])
def test_no_other_way_of_asking(client: Any, method: str) -> None:
    answer = client.request(method, "/", headers={"origin": "http://evil.example"})
    assert answer.status_code in {403, 405}
    assert "access-control-allow-origin" not in answer.headers


def test_an_error_of_ours_tells_nothing_and_has_the_headers(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = make(raises=False)

    def broken(self: Runs) -> Any:
        raise RuntimeError("inner words")

    monkeypatch.setattr(Runs, "__iter__", broken)
    answer = client.get("/")
    assert answer.status_code == 500
    assert "inner words" not in answer.text
    assert answer.headers["content-security-policy"] == HEADERS["content-security-policy"]


# ---------------------------------------------------------------------- the token


@pytest.fixture
def closed(make: Any) -> Any:
    return make(host="0.0.0.0", token=TOKEN, address="http://10.1.2.3:8321")


def test_without_the_token_nothing_is_told(closed: Any, make: Any, people: pd.DataFrame) -> None:
    run = audited(make(), people)  # another server on the same folder
    for method, path in addresses(closed, run):
        if path.startswith(("/login", "/static/")):
            continue
        answer = closed.request(method, path)
        assert answer.status_code == 401, path
        assert "people" not in answer.text
    page = closed.get("/", headers={"accept": "text/html"})
    assert (page.status_code, page.headers["location"]) == (303, "/login")


def test_the_token_opens_and_is_told_nowhere(
    closed: Any, people: pd.DataFrame, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    login = {"secret": secret(closed, "/login"), "token": TOKEN}
    answer = closed.post("/login", data=login)
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    said = [cookie, repr(Secrets(TOKEN)), closed.get("/").text]
    run = audited(closed, people)
    said += [closed.get(p).text for m, p in addresses(closed, run) if m == "GET"]
    said += [p.read_text(errors="replace") for p in (tmp_path / "runs").rglob("*") if p.is_file()]
    said += [caplog.text, *capfd.readouterr()]
    assert not any(TOKEN in text for text in said)


def test_a_wrong_token_does_not_open(closed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    waited = []

    async def note() -> None:
        waited.append(1)

    monkeypatch.setattr("isonomy.app.home.delay", note)
    form = secret(closed, "/login")
    for wrong in ("", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "ü" * 30):
        answer = closed.post("/login", data={"secret": form, "token": wrong})
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers
    assert len(waited) == 5
    for headers in (
        {"authorization": f"Bearer {TOKEN}x"},
        {"authorization": f"Basic {TOKEN}"},
        {"cookie": f"isonomy={TOKEN}"},
        {"cookie": "isonomy="},
        {"cookie": "isonomy=\x01; ="},
    ):
        assert closed.get("/", headers=headers).status_code == 401


def test_a_program_shows_the_token_in_a_header(closed: Any) -> None:
    assert closed.get("/", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert closed.get(f"/?token={TOKEN}").status_code == 401  # never in an address


def test_tokens_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    import hmac

    seen = []

    def compare(one: bytes, other: bytes) -> bool:
        seen.append((len(one), len(other)))
        return one == other

    monkeypatch.setattr("isonomy.app.guard.hmac.compare_digest", compare)
    known = Secrets(TOKEN)
    assert known.is_token(TOKEN)
    assert not known.is_token("x")
    assert not known.is_form("x")
    assert seen == [(32, 32)] * 3  # digests: not even the length is told
    assert hmac.compare_digest is compare


# ---------------------------------------------------------------------- nothing is unpickled


def test_a_pickle_under_another_name_is_never_opened(client: Any, tmp_path: Path) -> None:
    import pickle

    class Bomb:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "opened",))

    for name in ("model.csv", "model.parquet", "model.pkl", "model.joblib"):
        answer = bring(client, pickle.dumps(Bomb()), name)
        assert answer.status_code == 422
    assert not (tmp_path / "opened").exists()


def test_a_model_can_be_named_by_the_server_alone(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    jobs = Jobs(runs)
    assert jobs.models == {}
