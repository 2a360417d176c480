"""What all pages share: the runs and the work, templates, forms that are checked, heavy calls in threads."""

import os
import re
import time
from collections.abc import Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from jinja2 import ChoiceLoader, PackageLoader
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from isonomy.app.guard import Secrets
from isonomy.app.jobs import Jobs
from isonomy.app.runs import Run, Runs
from isonomy.app.words import ago, clock, on_page
from isonomy.report.html import environment, part_of_page

T = TypeVar("T")

FIELDS = 20_000
"""The most fields of a form: a role for each column, and more."""


class Site:
    """The pages of one server."""

    def __init__(
        self, runs: Runs, jobs: Jobs, known: Secrets, studies: tuple[str, ...] = ()
    ) -> None:
        self.runs, self.jobs, self.known, self.studies = runs, jobs, known, studies
        self.templates = environment().overlay(
            loader=ChoiceLoader([PackageLoader("isonomy.app"), PackageLoader("isonomy.report")])
        )
        self.templates.filters.update(clock=clock, ago=_since, on_page=on_page)
        self._cores = os.cpu_count() or 1
        self._limiter: anyio.CapacityLimiter | None = None

    # ------------------------------------------------------------------ answers

    def page(self, name: str, request: Request, status: int = 200, **context: Any) -> Response:
        """Return a page of ours."""
        text = self.templates.get_template(f"{name}.html").render(
            form_secret=self.known.form,
            path=request.url.path,
            has_studies=bool(self.studies),
            has_models=bool(self.jobs.models),
            needs_token=self.known.needed,
            **context,
        )
        return HTMLResponse(text.lstrip(), status)

    def refused(self, request: Request, sentence: str, status: int = 422) -> Response:
        """Return a page that says in one sentence what is wrong."""
        return self.page("refused", request, status, sentence=on_page(sentence))

    # ------------------------------------------------------------------ questions

    def run(self, request: Request) -> Run:
        """Return the run that an address names."""
        run = self.runs.get(request.path_params["run"])
        if run is None:
            raise HTTPException(404, "There is no such run; it may have been deleted.")
        return run

    @asynccontextmanager
    async def form(self, request: Request) -> Any:
        """Read a form, which must hold the secret of this server's forms."""
        async with request.form(max_files=1, max_fields=FIELDS) as form:
            if not self.known.is_form(form.get("secret")):
                raise HTTPException(
                    403, "The page is from before the server was started; load it again."
                )
            yield form

    async def heavy(self, call: Callable[..., T], *arguments: Any, **options: Any) -> T:
        """Do what takes long in a thread; no more at once than there are cores."""
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(self._cores)
        return await anyio.to_thread.run_sync(
            partial(call, *arguments, **options), limiter=self._limiter
        )

    async def wait(self, call: Callable[..., T], *arguments: Any) -> T:
        """Do in a thread what waits for something and computes nothing."""
        return await anyio.to_thread.run_sync(partial(call, *arguments))


def go(address: str) -> Response:
    """Send the browser to another page, after a form."""
    return RedirectResponse(address, 303)


def text(form: FormData, name: str) -> str:
    """Return a field of a form as text, empty where it is missing."""
    value = form.get(name)
    return value.strip() if isinstance(value, str) else ""


def static(name: str) -> Response:
    """Return a style sheet or a script."""
    kind = "text/css" if name.endswith(".css") else "text/javascript"
    if name in {"page.css", "page.js"}:
        body = part_of_page(name)
    else:
        body = (files("isonomy.app") / "templates" / name).read_text(encoding="utf-8")
    return Response(body, media_type=kind)


def download(content: str, name: str, kind: str) -> Response:
    """Return a file to be saved, and never shown inside of our address."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "isonomy"
    return Response(
        content,
        media_type=kind,
        headers={"content-disposition": f'attachment; filename="{plain}"'},
    )


def _since(moment: float) -> str:
    return ago(time.time() - moment)
