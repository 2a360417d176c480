"""Long work on a run: the benchmark of every method, and the tail of a model that the server knows."""

import contextlib
import time
from collections.abc import Callable
from typing import Any

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from isonomy._validate import check_choice
from isonomy.app.auditing import FACES
from isonomy.app.job import study_folder
from isonomy.app.jobs import KINDS, RUNNING, WAITING
from isonomy.app.roles import Roles
from isonomy.app.runs import Run
from isonomy.app.site import Site, download, go, text
from isonomy.app.words import on_page
from isonomy.benchmark.cases import ORIGINAL, frontier_specs
from isonomy.benchmark.recommend import FEWEST
from isonomy.errors import InputError
from isonomy.store import Store
from isonomy.study import Study

MODELS = {
    "lr": "logistic regression",
    "rf": "random forest",
    "dt": "decision tree",
    "gbt": "gradient boosted trees",
    "svm": "linear support vector machine",
    "nb": "naive Bayes",
}
PERFORMANCE = ("accuracy", "balanced_accuracy", "mcc", "favorable_f1")
FAIRNESS = (
    "statistical_parity_difference",
    "equal_opportunity_difference",
    "average_odds_difference",
)
FRESH = 1.0
"""Seconds for which what was read of a study is shown again."""
MOST_REPEATS = 100
"""The most splits; the fewest are those of which something can be said."""


class Working:
    """The pages of the benchmark and of the tail."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._seen: tuple[str, float, list[dict[str, Any]]] = ("", 0.0, [])
        self._read: dict[str, Callable[[Run, Roles, FormData], dict[str, Any]]] = {
            "benchmark": self._benchmark,
            "tail": self._tail,
        }

    def _asked(self, request: Request) -> tuple[Run, str, Roles]:
        run, kind = self.site.run(request), request.path_params["kind"]
        if kind not in KINDS:
            raise HTTPException(404, "There is no such page.")
        roles = run.roles
        if roles is None:
            raise HTTPException(409, "First say what the columns are.")
        return run, kind, roles

    async def show(self, request: Request) -> Response:
        """Show the result; while it is worked at, how far it is; before, what can be asked."""
        run, kind, roles = self._asked(request)
        return await self._show(request, run, kind, roles)

    async def _show(
        self,
        request: Request,
        run: Run,
        kind: str,
        roles: Roles,
        error: str = "",
        status: int = 200,
    ) -> Response:
        held = self.site.jobs.held(run, kind)
        page = run.read(f"{kind}-page.json") if held.get("state") == "done" else None
        return self.site.page(
            kind,
            request,
            status,
            run=run,
            roles=roles,
            kind=kind,
            page=page,
            command=held.get("options", {}).get("command", ""),
            models=self.site.jobs.models if kind == "tail" else MODELS,
            performance=PERFORMANCE,
            fairness=FAIRNESS,
            ticked=_worst(run, roles),
            fewest=FEWEST,
            most=MOST_REPEATS,
            downloads=[*FACES],
            error=on_page(error),
            **await self._progress(run, kind),
        )

    async def progress(self, request: Request) -> Response:
        """Return how far it is, which a page loads again every other second."""
        run, kind, _ = self._asked(request)
        return self.site.page(
            "progress", request, run=run, kind=kind, **await self._progress(run, kind)
        )

    async def _progress(self, run: Run, kind: str) -> dict[str, Any]:
        held, jobs = self.site.jobs.held(run, kind), self.site.jobs
        methods: list[dict[str, Any]] = []
        if kind == "benchmark" and held.get("state") in {RUNNING, "cancelled", "failed"}:
            methods = await self._arrived(run, held["options"])
        return {
            "held": held,
            "state": held.get("state", ""),
            "now": jobs.progress(run, kind) if held else {},
            "ahead": jobs.ahead(run, kind) if held.get("state") == WAITING else 0,
            "methods": methods,
            "going": held.get("state") in {RUNNING, WAITING},
        }

    async def _arrived(self, run: Run, options: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the methods so far; many may look at once, and the store is asked once for all."""
        key, now = f"{run.id} {options['command']}", time.monotonic()
        if self._seen[0] != key or now - self._seen[1] > FRESH:
            self._seen = key, now, self._seen[2] if self._seen[0] == key else []
            self._seen = key, now, await self.site.heavy(arrived, run, options)
        return self._seen[2]

    async def ask(self, request: Request) -> Response:
        """Begin, or go on."""
        run, kind, roles = self._asked(request)
        async with self.site.form(request) as form:
            held = self.site.jobs.held(run, kind)
            try:
                again = text(form, "again") and held
                options = held["options"] if again else self._read[kind](run, roles, form)
            except InputError as error:
                return await self._show(request, run, kind, roles, str(error), 422)
        self.site.jobs.ask(run, kind, options)
        return go(f"/runs/{run.id}/{kind}")

    async def cancel(self, request: Request) -> Response:
        """Stop; what was done stays."""
        run, kind, _ = self._asked(request)
        async with self.site.form(request):
            await self.site.wait(self.site.jobs.cancel, run, kind)
        return go(f"/runs/{run.id}/{kind}")

    async def file(self, request: Request) -> Response:
        """Return the result as a file."""
        run, kind, _ = self._asked(request)
        page, ending = run.read(f"{kind}-page.json"), request.path_params["ending"]
        if page is None or ending not in FACES:
            raise HTTPException(404, "There is no such file.")
        face, media = FACES[ending]
        return download(face(page), f"{run.name.rpartition('.')[0]}-{kind}.{ending}", media)

    # ------------------------------------------------------------------ forms

    def _benchmark(self, run: Run, roles: Roles, form: FormData) -> dict[str, Any]:
        if roles.label is None:
            raise InputError(
                "A benchmark must have an outcome to learn; no column is the outcome (label)."
            )
        attributes = _attributes(roles, form)
        model, performance = text(form, "model"), text(form, "performance")
        fairness, splits = text(form, "fairness"), text(form, "repeats")
        check_choice("model", model, list(MODELS))
        check_choice("metric", performance, PERFORMANCE)
        check_choice("metric", fairness, FAIRNESS)
        if not splits.isdecimal() or not FEWEST <= int(splits) <= MOST_REPEATS:
            raise InputError(
                f"The number of splits must be between {FEWEST} and {MOST_REPEATS}; got {splits!r}."
            )
        quick = bool(text(form, "quick"))
        words = ["--model", model, "--repeats", splits, *(["--quick"] if quick else [])]
        if performance != PERFORMANCE[0]:
            words += ["--performance", performance]
        if fairness != FAIRNESS[0]:
            words += ["--fairness", fairness]
        return {
            "attributes": attributes,
            "model": model,
            "quick": quick,
            "repeats": int(splits),
            "performance": performance,
            "fairness": fairness,
            "command": roles.command("benchmark", run.name, *words, attributes=attributes),
        }

    def _tail(self, run: Run, roles: Roles, form: FormData) -> dict[str, Any]:
        name = text(form, "model")
        check_choice("model", name, list(self.site.jobs.models))
        attributes = _attributes(roles, form)
        declared = self.site.jobs.models[name]
        command = roles.command("tail", run.name, attributes=attributes)
        return {
            "attributes": attributes,
            "model": name,
            "command": command.replace("isonomy tail", f"isonomy tail {declared.written()}", 1),
        }


def _attributes(roles: Roles, form: FormData) -> list[str]:
    chosen = [a for k, a in enumerate(roles.sensitive) if text(form, f"attribute-{k}")]
    if not chosen:
        raise InputError("At least one protected column must be ticked; none is.")
    return chosen


def _worst(run: Run, roles: Roles) -> str:
    """Return the protected column with most violated gaps in the audit, the first of equals."""
    found = (run.read("audit.json") or {}).get("metrics", [])
    violated = [f["attribute"] for f in found if f["verdict"] == "violated"]
    return max(roles.sensitive, key=violated.count)


def arrived(run: Run, options: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the methods of a benchmark so far: how many splits, and the means over them."""
    place = study_folder(run, options) / "store"
    with contextlib.suppress(InputError, FileNotFoundError):
        store = Store.open(place)
        performance, fairness = options["performance"], options["fairness"]
        planned = {m.label for m in Study.from_toml(store.spec).methods} - {
            *frontier_specs(fairness)
        }
        found = store.query(
            f"select attributes, mitigator, count(*) filter (status = 'ok') as splits, "
            f"count(*) filter (status <> 'ok') as failed, avg({performance}) as performance, "
            f"avg(abs({fairness})) as bias from runs group by all order by attributes, bias"
        )
        rows = found.to_dict("records")
        named = {ORIGINAL: "the original model"}
        return [
            {
                **{str(k): v for k, v in row.items()},
                "name": named.get(row["mitigator"], row["mitigator"]),
            }
            for row in rows
            if row["mitigator"] in planned
        ]
    return []
