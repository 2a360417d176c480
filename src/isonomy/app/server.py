"""The server: its addresses, and how it is started."""

import ipaddress
import secrets
import socket
import warnings
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from isonomy.app.auditing import Auditing
from isonomy.app.comparing import Comparing
from isonomy.app.elsewhere import Elsewhere
from isonomy.app.guard import LOOPBACK, Guard, Secrets, TooLargeError
from isonomy.app.home import Home
from isonomy.app.jobs import Declared, Jobs
from isonomy.app.runs import Limits, Runs, too_large
from isonomy.app.site import Site, static
from isonomy.app.working import Working
from isonomy.errors import InputError, IsonomyError, IsonomyWarning
from isonomy.store.writer import locked

STATIC = ("page.css", "page.js", "app.css", "app.js")
LEAST_TOKEN = 20
"""Characters that a token must have."""
_FORM_PARTS = 100_000
"""Bytes of a form around its file."""


def make_app(
    folder: str | Path,
    *,
    limits: Limits | None = None,
    token: str | None = None,
    host: str = LOOPBACK[0],
    models: Mapping[str, Declared] | None = None,
    studies: Sequence[str] = (),
    workers: int = 1,
) -> Guard:
    """Return the application: an ASGI app, to be served by :func:`serve`.

    Parameters
    ----------
    folder : path
        Where the runs are; each has a folder of its own.
    limits : Limits, optional
        How large files may be.
    token : str, optional
        What a browser must show once; needed unless ``host`` is the machine itself.
    host : str
        The address that is listened at.
    models : mapping of name to Declared, optional
        Models whose tails may be tested.
    studies : sequence of path
        Folders whose studies are shown.
    workers : int
        Processes of a benchmark.
    """
    local = is_loopback(host)
    if not local and token is None:
        raise InputError(
            f"Another address than this machine's own must have a token; {host!r} has none: name a "
            f"file for it, --token-file FILE, which is made if it does not exist."
        )
    runs = Runs(folder, limits)
    jobs = Jobs(runs, workers=workers, models=models)
    site = Site(runs, jobs, Secrets(token), tuple(map(str, studies)))
    home, auditing, working = Home(site), Auditing(site), Working(site)
    comparing, elsewhere = Comparing(site), Elsewhere(site)

    async def sentence(request: Request, error: Exception) -> Response:
        return site.refused(request, str(error))

    async def status(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        usual = {
            "Not Found": "There is no such page.",
            "Method Not Allowed": "This page cannot be asked that way.",
        }
        return site.refused(request, usual.get(error.detail, error.detail), error.status_code)

    async def large(request: Request, error: Exception) -> Response:
        return site.refused(request, too_large(runs.limits), 413)

    async def broken(request: Request, error: Exception) -> Response:
        said = "Something went wrong that should not; the server's own messages say what."
        return site.refused(request, said, 500)

    one = "/runs/{run}"
    kind = "/{kind}"
    routes = [
        Route("/", home.home),
        Route("/runs", home.again),
        Route("/upload", home.upload, methods=["POST"]),
        Route("/login", home.ask_token),
        Route("/login", home.enter, methods=["POST"]),
        *(Route(f"/static/{name}", _resource(name)) for name in STATIC),
        Route("/compare", comparing.compare),
        Route(f"{one}/delete", home.delete, methods=["POST"]),
        Route(f"{one}/columns", auditing.columns),
        Route(f"{one}/columns", auditing.set_columns, methods=["POST"]),
        Route(f"{one}/groups", auditing.groups),
        Route(f"{one}/groups", auditing.set_groups, methods=["POST"]),
        Route(f"{one}/audit", auditing.audit),
        Route(f"{one}/audit/file.{{ending}}", auditing.file),
        Route(f"{one}{kind}", working.show),
        Route(f"{one}{kind}", working.ask, methods=["POST"]),
        Route(f"{one}{kind}/progress", working.progress),
        Route(f"{one}{kind}/cancel", working.cancel, methods=["POST"]),
        Route(f"{one}{kind}/file.{{ending}}", working.file),
    ]
    if studies:
        routes += [Route("/studies", elsewhere.show), Route("/studies/list", elsewhere.again)]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        jobs.start()
        try:
            yield
        finally:
            await site.heavy(jobs.stop)

    pages = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={
            HTTPException: status,
            IsonomyError: sentence,
            TooLargeError: large,
            Exception: broken,
        },
    )
    # in front of all, so that no answer leaves without its headers, not even one of an error
    return Guard(
        pages,
        known=site.known,
        hosts=(*LOOPBACK, host) if local else None,
        upload=runs.limits.bytes + _FORM_PARTS,
    )


def _resource(name: str) -> Any:
    async def resource(request: Request) -> Response:
        return static(name)

    return resource


def is_loopback(host: str) -> bool:
    """Return whether an address is this machine's own.

    Examples
    --------
    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("0.0.0.0"), is_loopback("::1")
    (True, True, False, True)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_token(file: str | Path) -> str:
    """Return the token that a file holds; make one, which only its owner can read, if there is none."""
    path = Path(file)
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(32) + "\n", encoding="utf-8")
    token = path.read_text(encoding="utf-8").strip()
    if len(token) < LEAST_TOKEN:
        raise InputError(
            f"A token must have at least {LEAST_TOKEN} characters; the one in {str(path)!r} has "
            f"{len(token)}: remove the file, and a new one is made."
        )
    return token


@contextmanager
def listening(folder: str | Path, host: str, port: int) -> Iterator[socket.socket]:
    """Hold an address and a folder of runs for one server; say what is wrong if another has them."""
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        try:
            held.enter_context(locked(path / "lock"))
        except InputError:
            raise InputError(
                f"A folder of runs must have one server at a time; another one uses {str(folder)!r}: stop "
                f"it, or choose another folder (--out)."
            ) from None
        kind = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = held.enter_context(socket.socket(kind, socket.SOCK_STREAM))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise InputError(
                f"The address {host} and port {port} must be free to listen at; {error.strerror}: "
                f"choose another (--port)."
            ) from None
        yield listener


def serve(app: Guard, listener: socket.socket) -> None:
    """Serve until Ctrl-C; nothing of a request is logged."""
    warnings.simplefilter("ignore", IsonomyWarning)  # what a reader must know stands on the page
    config = uvicorn.Config(
        app,
        access_log=False,
        log_level="warning",
        server_header=False,
        limit_concurrency=200,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=5,
    )
    with suppress(KeyboardInterrupt):  # which uvicorn raises again once all has ended orderly
        uvicorn.Server(config).run(sockets=[listener])
