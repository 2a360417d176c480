"""The first page: bring a file, see the recent runs, and delete what is not needed."""

from typing import Any

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response

from isonomy.app.guard import COOKIE, delay
from isonomy.app.jobs import KINDS, RUNNING, WAITING
from isonomy.app.runs import Run
from isonomy.app.site import Site, go, text
from isonomy.app.words import on_page
from isonomy.errors import InputError

SHOWN = 100
"""The most runs of the list."""


class Home:
    """Upload, list, delete; and log in, where a token is needed."""

    def __init__(self, site: Site) -> None:
        self.site = site

    async def home(self, request: Request) -> Response:
        """Show the form for a file and the recent runs."""
        return self._home(request)

    def _home(self, request: Request, error: str = "", status: int = 200) -> Response:
        every = [*self.site.runs]
        return self.site.page(
            "home",
            request,
            status,
            error=on_page(error),
            limits=self.site.runs.limits,
            rows=[self._row(run) for run in every[:SHOWN]],
            more=max(0, len(every) - SHOWN),
            audited=[run for run in every[:SHOWN] if (run.folder / "audit.json").is_file()],
        )

    async def again(self, request: Request) -> Response:
        """Return the list of runs alone, which a page loads again from time to time."""
        every = [*self.site.runs]
        rows = [self._row(run) for run in every[:SHOWN]]
        return self.site.page("runs", request, rows=rows, more=max(0, len(every) - SHOWN))

    def _row(self, run: Run) -> dict[str, Any]:
        about, said = run.about, []
        audited = run.read("audit-verdict.json")
        if audited:
            said.append(("audit", audited["headline"], audited["tone"]))
        for kind in KINDS:
            held = self.site.jobs.held(run, kind)
            if not held:
                continue
            words = held["state"]
            verdict = run.read(f"{kind}-verdict.json")
            if verdict:
                words = verdict["headline"]
            elif held["state"] in {RUNNING, WAITING}:
                now = self.site.jobs.progress(run, kind)
                if now.get("total"):
                    words = f"{held['state']}: {now['done']} of {now['total']} splits"
            said.append((kind, words, verdict["tone"] if verdict else ""))
        return {"run": run, "about": about, "said": said}

    async def upload(self, request: Request) -> Response:
        """Take in a file."""
        async with self.site.form(request) as form:
            brought = form.get("file")
            if not isinstance(brought, UploadFile) or not brought.filename:
                return self._home(request, "A file must be chosen; none was.", 422)
            try:
                run = await self.site.heavy(self.site.runs.add, brought.filename, brought.file)
            except InputError as error:
                return self._home(request, str(error), 422)
        return go(f"/runs/{run.id}/columns")

    async def delete(self, request: Request) -> Response:
        """Delete a run with all its files."""
        run = self.site.run(request)
        async with self.site.form(request):
            for kind in KINDS:
                await self.site.wait(self.site.jobs.cancel, run, kind)
            await self.site.heavy(self.site.runs.delete, run)
        return go("/")

    # ---------------------------------------------------------------- logging in

    async def ask_token(self, request: Request) -> Response:
        """Ask for the token."""
        return self.site.page("login", request, error="")

    async def enter(self, request: Request) -> Response:
        """Let in whoever has the token."""
        async with self.site.form(request) as form:
            given = text(form, "token")
        if not self.site.known.is_token(given):
            await delay()
            return self.site.page("login", request, 403, error="This is not the token.")
        answer = go("/")
        answer.set_cookie(
            COOKIE,
            self.site.known.session,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return answer
