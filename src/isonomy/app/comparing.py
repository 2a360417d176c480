"""Two runs beside each other: is a gap wider in the later one, and which method was chosen."""

from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from isonomy.app.auditing import audit_run
from isonomy.app.roles import Roles
from isonomy.app.runs import Run
from isonomy.app.site import Site
from isonomy.errors import InputError
from isonomy.gate import Check, Earlier, Policy, check
from isonomy.metrics import get_metric


class Comparing:
    """The page that compares two runs."""

    def __init__(self, site: Site) -> None:
        self.site = site

    async def compare(self, request: Request) -> Response:
        """Compare two audited runs, named in the address."""
        runs = [
            self.site.runs.get(request.query_params.get(name, "")) for name in ("before", "after")
        ]
        before, after = runs
        if before is None or after is None or before.id == after.id:
            return self.site.refused(request, "Two different runs must be chosen to be compared.")
        try:
            done, roles = await self.site.heavy(compare_runs, before, after)
        except InputError as error:
            return self.site.refused(request, str(error))
        pages = {
            kind: [run.read(f"{kind}-page.json") for run in (before, after)]
            for kind in ("audit", "benchmark")
        }
        first = before.roles or roles
        return self.site.page(
            "compare",
            request,
            before=before,
            after=after,
            rows=_rows(done, before, after),
            done=done,
            pages=pages,
            commands=[
                first.command("audit", before.name, "--json", "earlier.json"),
                "isonomy check --policy isonomy.toml",
            ],
            policy=replace(
                done.policy, earlier=Earlier(audit="earlier.json"), data=roles.columns(after.name)
            ).to_toml(),
        )


def compare_runs(before: Run, after: Run) -> tuple[Check, Roles]:
    """Set the gaps of a run against those of an earlier one, by the gate's rule for that."""
    roles = after.roles
    held = before.read("audit.json")
    if roles is None or held is None or before.roles is None:
        raise InputError("Both runs must have been audited before they can be compared.")
    found = audit_run(after, roles)
    both = [a for a in found.counts.attributes if a in held["counts"]["attributes"]]
    if not both:
        raise InputError("Both runs must have a protected column of the same name; none is.")
    known = {f["name"] for f in held["metrics"] if f["attribute"]}
    ranges = {
        name: (low, high)
        for name, (low, high) in found.settings["thresholds"].items()
        if name in known and get_metric(name).kind == "group" and get_metric(name).needs == "counts"
        and any(f.name == name for f in found.metrics)
    }  # fmt: skip
    if not ranges:
        raise InputError(
            "Both audits must have a gap in common; one has labels, the other has not."
        )
    policy = Policy(
        attributes=tuple(both),
        metrics=ranges,
        confidence=float(found.settings["confidence"]),
        earlier=Earlier(audit=str(before.folder.resolve() / "audit.json")),
    )
    return check(found, policy), roles


def _rows(done: Check, before: Run, after: Run) -> list[dict[str, Any]]:
    """Return one row per gap: its value in each run, by how much it grew, and what that shows."""
    values = [
        {(f["name"], f["attribute"]): f["value"] for f in (run.read("audit.json") or {})["metrics"]}
        for run in (before, after)
    ]
    rows = []
    for o in done.outcomes:
        if o.test == "no worse":
            pair = [held.get((o.metric, o.attribute)) for held in values]
            words = {"violated": "wider", "within": "no wider"}.get(o.state, o.state)
            rows.append({"outcome": o, "before": pair[0], "after": pair[1], "words": words})
    return rows
