"""Studies that run elsewhere (``isonomy study run``), watched and never touched."""

import time
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from isonomy.app.site import Site
from isonomy.errors import InputError
from isonomy.store import Store
from isonomy.study import status

DEPTH = 3
"""How far below a folder that was named stores are looked for."""
FRESH = 2.0
"""Seconds for which what was read is shown again."""
_QUIET = 120.0
"""Seconds without a record after which a study is not said to be running."""


class Elsewhere:
    """The page of studies."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._seen: tuple[float, list[dict[str, Any]]] = (0.0, [])

    async def show(self, request: Request) -> Response:
        """Show every study below the folders that the server was told of."""
        return self.site.page("studies", request, rows=await self._rows())

    async def again(self, request: Request) -> Response:
        """Return the table alone, which the page loads again."""
        return self.site.page("study_rows", request, rows=await self._rows())

    async def _rows(self) -> list[dict[str, Any]]:
        when, rows = self._seen
        if time.monotonic() - when > FRESH:
            rows = await self.site.heavy(found_in, self.site.studies)
            self._seen = time.monotonic(), rows
        return rows


def found_in(folders: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return how far each study below some folders is, the one that was written last first."""
    patterns = ["/".join(["*"] * k + ["store.json"]) for k in range(DEPTH + 1)]
    headers = {p for folder in folders for pattern in patterns for p in Path(folder).glob(pattern)}
    rows = [_row(header.parent) for header in headers]
    return sorted(rows, key=lambda row: row["written"], reverse=True)


def _row(folder: Path) -> dict[str, Any]:
    parts = [p.stat().st_mtime for p in (folder / "parts").glob("*")]
    written = max(parts, default=folder.stat().st_mtime)
    row: dict[str, Any] = {"path": str(folder), "written": written, "error": ""}
    try:
        now = status(Store.open(folder))
    except InputError as error:
        return {**row, "study": folder.name, "error": str(error)}
    done = now.trials_done == now.trials
    running = not done and time.time() - written < _QUIET
    state = "done" if done else "running" if running else "stopped"
    return {
        **row,
        "study": now.study,
        "done": now.trials_done,
        "total": now.trials,
        "statuses": dict(now.statuses),
        "state": state,
    }
