"""Who may ask, and what a browser may do with the answer: around every page of the server.

* On the loopback address only requests for it are answered: a page elsewhere whose name was made
  to lead here (DNS rebinding) is refused by the name it asks for.
* On any other address a token is needed, once per browser, and is compared in constant time.
* What changes something is a POST from a page of ours: the browser names the page it comes from,
  and the form holds a secret of this server.
* No other page may read an answer (no CORS), frame it, or have anything of elsewhere run in it.
"""

import asyncio
import hashlib
import hmac
import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "isonomy"
SMALL_FORM = 4_000_000
"""The most bytes of a form that brings no file."""
_READ_ON = 4
"""How many times the limit is read and dropped, so that a browser hears the sentence."""
_HOST = re.compile(r"(?:\[([\da-f:]+)\]|([\w.-]+))(?::\d+)?", re.ASCII)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}


class TooLargeError(Exception):
    """A request with more bytes than it may have."""


class Secrets:
    """The token of the server, if it has one, and the secret of its forms."""

    def __init__(self, token: str | None = None) -> None:
        self.form = secrets.token_urlsafe(32)
        self._token = None if token is None else token.encode()

    def __repr__(self) -> str:
        return "Secrets(...)"

    @property
    def needed(self) -> bool:
        """Whether a token is needed."""
        return self._token is not None

    def is_token(self, given: str) -> bool:
        """Return whether a text is the token, in a time that does not depend on where it differs."""
        return self._token is not None and _same(given.encode(), self._token)

    def is_form(self, given: object) -> bool:
        """Return whether a text is the secret of the forms."""
        return isinstance(given, str) and _same(given.encode(), self.form.encode())

    @property
    def session(self) -> str:
        """What a browser keeps that has shown the token; the token cannot be told from it."""
        return hmac.new(self._token or b"", b"isonomy session", hashlib.sha256).hexdigest()

    def admits(self, headers: dict[str, str]) -> bool:
        """Return whether a request shows the token, or a session that had it."""
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self.is_token(given.strip())
        try:
            held = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return held is not None and _same(held.value.encode(), self.session.encode())


def _same(one: bytes, other: bytes) -> bool:
    digests = (hashlib.sha256(text).digest() for text in (one, other))
    return hmac.compare_digest(*digests)


class Guard:
    """The middleware in front of all pages.

    Parameters
    ----------
    app : ASGI application
    known : Secrets
    hosts : names under which the server is asked; None for any
    upload : int
        The most bytes of a request to ``/upload``.
    """

    def __init__(
        self, app: App, *, known: Secrets, hosts: tuple[str, ...] | None, upload: int
    ) -> None:
        self.app, self.known, self.hosts, self.upload = app, known, hosts, upload

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # no other protocol is spoken here
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {k.decode().lower() for k, _ in message["headers"]}
                more = [(k, v) for k, v in HEADERS.items() if k not in own]
                message["headers"] = [
                    *message["headers"],
                    *((k.encode(), v.encode()) for k, v in more),
                ]
            await send(message)

        refused = self._refusal(scope, headers)
        if refused is not None:
            await _say(answer, *refused)
            return
        limit = self.upload if scope["path"] == "/upload" else SMALL_FORM
        await self.app(scope, _limited(receive, headers, limit), answer)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str, str] | None:
        """Return status, sentence and address to go to, where a request is refused."""
        host = _HOST.fullmatch(headers.get("host", "").lower())
        if self.hosts is not None and (host is None or (host[1] or host[2]) not in self.hosts):
            return 421, "This server answers under its own address only.", ""
        reads = scope["method"] in {"GET", "HEAD"}
        if not reads:
            origin = headers.get("origin")
            ours = f"{scope['scheme']}://{headers.get('host', '')}"
            site = headers.get("sec-fetch-site", "same-origin")
            if (origin is not None and origin != ours) or site not in {"same-origin", "none"}:
                return 403, "This can be asked from a page of this server only.", ""
        path = scope["path"]
        free = path == "/login" or path.startswith("/static/")
        if self.known.needed and not free and not self.known.admits(headers):
            shown = reads and "text/html" in headers.get("accept", "")
            return (303, "", "/login") if shown else (401, "A token is needed.", "")
        return None


async def _say(send: Send, status: int, sentence: str, location: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    if location:
        headers.append((b"location", location.encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": sentence.encode()})


def _limited(receive: Receive, headers: dict[str, str], limit: int) -> Receive:
    """Count the bytes of a request; of one that is too large the rest is read and dropped."""
    declared = headers.get("content-length", "")
    state = {"read": 0, "over": declared.isdecimal() and int(declared) > limit}

    async def counted() -> Message:
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return message
            state["read"] += len(message.get("body", b""))
            state["over"] |= state["read"] > limit
            if not state["over"]:
                return message
            if not message.get("more_body") or state["read"] > _READ_ON * limit:
                raise TooLargeError

    return counted


async def delay() -> None:
    """Wait after a wrong token, so that nobody tries many."""
    await asyncio.sleep(1.0)
