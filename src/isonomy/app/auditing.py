"""From columns to the audit: what each column is, which value is good to get, the page, its files."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from isonomy._bands import band_names
from isonomy._files import read_table
from isonomy._groups import sorted_values
from isonomy.app.jobs import KINDS
from isonomy.app.roles import Roles
from isonomy.app.runs import Run
from isonomy.app.site import Site, download, go, text
from isonomy.app.words import on_page
from isonomy.audit import Audit
from isonomy.audit.labelled import audit_table
from isonomy.errors import InputError
from isonomy.gate import first_policy
from isonomy.report import summarize, to_html, to_json, to_markdown

ROLES = {
    "feature": "feature",
    "label": "outcome (label)",
    "prediction": "decision (prediction)",
    "score": "score (probability)",
    "sensitive": "protected",
    "drop": "leave out",
}
SIGNS = (">", ">=", "<", "<=")
FACES = {
    "html": (to_html, "text/html"),
    "json": (to_json, "application/json"),
    "md": (to_markdown, "text/markdown"),
}
MOST_VALUES = 40
"""The most values of a column that a form offers."""


def audit_run(run: Run, roles: Roles) -> Audit:
    """Audit the table of a run."""
    roles.check()
    return audit_table(run.data, **roles.audit_options())


class Auditing:
    """The pages on a run's columns and on its audit."""

    def __init__(self, site: Site) -> None:
        self.site = site

    # ------------------------------------------------------------------ columns

    async def columns(self, request: Request) -> Response:
        """Show the columns with a guess of what each is."""
        run = self.site.run(request)
        return self._columns(request, run, _chosen(run))

    def _columns(
        self, request: Request, run: Run, chosen: Sequence[str], error: str = "", status: int = 200
    ) -> Response:
        return self.site.page(
            "columns",
            request,
            status,
            run=run,
            about=run.about,
            columns=run.columns,
            command=_roles(run, chosen).command("audit", run.name),
            chosen=chosen,
            roles=ROLES,
            told=[
                (said, names)
                for role, said in ROLES.items()
                if role != "feature"
                and (
                    names := [
                        c["name"] for c, r in zip(run.columns, chosen, strict=True) if r == role
                    ]
                )
            ],
            error=on_page(error),
        )

    async def set_columns(self, request: Request) -> Response:
        """Keep what each column is."""
        run = self.site.run(request)
        names = [c["name"] for c in run.columns]
        async with self.site.form(request) as form:
            chosen = [text(form, f"role-{k}") for k in range(len(names))]
        chosen = [role if role in ROLES else "feature" for role in chosen]
        for role in ("label", "prediction", "score"):
            if chosen.count(role) > 1:
                held = [n for n, r in zip(names, chosen, strict=True) if r == role]
                said = f"Only one column can be the {ROLES[role]}; here {len(held)} are: {', '.join(held)}."
                return self._columns(request, run, chosen, said, 422)
        roles = _roles(run, chosen)
        try:
            roles.check()
        except InputError as error:
            return self._columns(request, run, chosen, str(error), 422)
        await self.site.wait(self._keep, run, roles)
        return go(f"/runs/{run.id}/groups")

    def _keep(self, run: Run, roles: Roles) -> None:
        """Keep the roles; what was asked for under others is of no use any more."""
        if run.roles is not None and roles != run.roles:
            for kind in KINDS:
                self.site.jobs.cancel(run, kind)
            run.forget(KINDS)
        run.set_roles(roles)

    # ------------------------------------------------------------------ groups

    async def groups(self, request: Request) -> Response:
        """Ask which value is good to get, and who is compared with whom."""
        run, roles = self._ready(request)
        return await self._groups(request, run, roles)

    async def _groups(
        self,
        request: Request,
        run: Run,
        roles: Roles,
        error: str = "",
        status: int = 200,
        raw: Any = None,
    ) -> Response:
        about = {c["name"]: c for c in run.columns}
        outcome = roles.label or roles.prediction
        wanted = [c for c in (outcome, *roles.sensitive) if c]
        values = await self.site.heavy(_values, run, wanted)
        first = not roles.favorable and not roles.label_cut and not roles.bins
        attributes = []
        for name in roles.sensitive:
            cuts = roles.bins.get(name) or (
                about[name]["cuts"] if first and _many(about[name]) else ()
            )
            known = band_names(cuts) if cuts else values[name]
            attributes.append(
                {
                    "name": name,
                    "many": _many(about[name]),
                    "number": about[name]["number"],
                    "cuts": ", ".join(f"{c:g}" for c in cuts),
                    "privileged": ", ".join(map(str, roles.privileged.get(name, ()))),
                    "values": known[:MOST_VALUES],
                    # bands have other names once they are cut elsewhere, so that those are typed
                    "few": not cuts
                    and (len(known) == 2 or not about[name]["number"])
                    and len(known) <= MOST_VALUES,
                }
            )
        guess = about[outcome]["favorable"] if outcome else None
        cut = about[outcome]["cuts"] if outcome == roles.label and outcome else []
        return self.site.page(
            "groups",
            request,
            status,
            run=run,
            roles=roles,
            outcome=outcome,
            values=values.get(outcome or "", [])[:MOST_VALUES],
            chosen=[*roles.favorable] or ([str(guess)] if guess is not None else []),
            cut=_cut(roles.label_cut, cut),
            signs=SIGNS,
            attributes=attributes,
            raw=raw or {},
            error=on_page(error),
        )

    async def set_groups(self, request: Request) -> Response:
        """Keep the values, and audit."""
        run, roles = self._ready(request)
        async with self.site.form(request) as form:
            raw = {k: v for k, v in form.multi_items() if isinstance(v, str) and k != "secret"}
            try:
                roles = _with_values(roles, form)
            except InputError as error:
                return await self._groups(request, run, roles, str(error), 422, raw)
        try:
            await self.site.heavy(self._audit, run, roles)
        except InputError as error:
            return await self._groups(request, run, roles, str(error), 422, raw)
        return go(f"/runs/{run.id}/audit")

    def _audit(self, run: Run, roles: Roles) -> dict[str, Any]:
        """Audit, and leave the page and the numbers in the run's folder."""
        found = audit_run(run, roles)
        self._keep(run, roles)
        page = summarize(found, title=run.name, command=roles.command("audit", run.name))
        run.write("audit.json", {"file": run.name, **found.to_dict()})
        run.set_page("audit", page)
        return page

    # ------------------------------------------------------------------ the audit

    def _ready(self, request: Request) -> tuple[Run, Roles]:
        run = self.site.run(request)
        roles = run.roles
        if roles is None:
            raise HTTPException(409, "First say what the columns are.")
        return run, roles

    async def audit(self, request: Request) -> Response:
        """Show the audit."""
        run, roles = self._ready(request)
        page = await self._page(run, roles)
        return self.site.page(
            "audit",
            request,
            run=run,
            page=page,
            command=page["command"],
            downloads=[*FACES, "policy"],
        )

    async def _page(self, run: Run, roles: Roles) -> Any:
        held = run.read("audit-page.json")
        return held if held is not None else await self.site.heavy(self._audit, run, roles)

    async def file(self, request: Request) -> Response:
        """Return the audit as a file: HTML, JSON, Markdown, or the policy that it passes."""
        run, roles = self._ready(request)
        ending = request.path_params["ending"]
        stem = run.name.rpartition(".")[0]
        if ending == "policy":
            policy = await self.site.heavy(policy_of, run, roles)
            return download(policy, "isonomy.toml", "application/toml")
        if ending not in FACES:
            raise HTTPException(404, "There is no such file.")
        face, kind = FACES[ending]
        return download(face(await self._page(run, roles)), f"{stem}-audit.{ending}", kind)


def policy_of(run: Run, roles: Roles) -> str:
    """Return the gate's policy that the run's table passes today, as the text of its file."""
    columns = roles.columns(str(run.data))
    policy, _ = first_policy(columns, roles.sensitive)
    named = replace(policy, data=replace(policy.data, file=run.name))
    return named.to_toml(comments=True)


def _roles(run: Run, chosen: Sequence[str]) -> Roles:
    """Return the roles that were chosen, with what was said before of columns that keep theirs."""
    before = run.roles or Roles()
    names = [c["name"] for c in run.columns]
    found = {r: tuple(n for n, c in zip(names, chosen, strict=True) if c == r) for r in ROLES}
    label, kept = next(iter(found["label"]), None), found["sensitive"]
    same = label == before.label
    return replace(
        before,
        label=label,
        prediction=next(iter(found["prediction"]), None),
        score=next(iter(found["score"]), None),
        sensitive=kept,
        drop=found["drop"],
        bins={a: c for a, c in before.bins.items() if a in kept},
        privileged={a: v for a, v in before.privileged.items() if a in kept},
        favorable=before.favorable if same else (),
        label_cut=before.label_cut if same else "",
    )


def _chosen(run: Run) -> list[str]:
    """Return the role of each column: what a person said, else the guess."""
    columns, roles = run.columns, run.roles
    if roles is None:
        return [c["role"] for c in columns]
    said = dict.fromkeys(roles.sensitive, "sensitive") | dict.fromkeys(roles.drop, "drop")
    one = {"label": roles.label, "prediction": roles.prediction, "score": roles.score}
    said |= {name: role for role, name in one.items() if name}
    return [said.get(c["name"], "feature") for c in columns]


def _many(column: dict[str, Any]) -> bool:
    return bool(column["cuts"])


def _values(run: Run, columns: Sequence[str]) -> dict[str, list[Any]]:
    """Return the values of some columns, in order."""
    table = read_table(run.data, columns)
    whole = {c: [*sorted_values(table[c])] for c in columns}
    return {c: [_shown(value) for value in values] for c, values in whole.items()}


def _shown(value: Any) -> Any:
    """Return a value as a person writes it: 1 where a missing cell made it 1.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _cut(held: str, cuts: Sequence[float]) -> dict[str, str]:
    """Return the sign and the number of a cut, for a form; empty where there is none."""
    if held:
        sign = max((s for s in SIGNS if held.startswith(s)), key=len)
        return {"sign": sign, "number": held[len(sign) :]}
    return {"sign": ">", "number": f"{cuts[len(cuts) // 2]:g}"} if cuts else {}


def _with_values(roles: Roles, form: FormData) -> Roles:
    """Read the form on favourable values, groups and cut points."""
    bins: dict[str, tuple[float, ...]] = {}
    privileged: dict[str, tuple[str, ...]] = {}
    for k, name in enumerate(roles.sensitive):
        if cuts := text(form, f"bins-{k}"):
            bins[name] = tuple(_number(c, f"The cut points of {name!r}") for c in cuts.split(","))
        if group := text(form, f"privileged-{k}"):
            privileged[name] = (group,)
    number, sign = text(form, "cut-number"), text(form, "cut-sign")
    if number:
        _number(number, "Where the outcome is cut")
    chosen = [v for v in form.getlist("favorable") if isinstance(v, str)]
    cut = text(form, "cut")
    return replace(
        roles,
        bins=bins,
        privileged=privileged,
        label_cut=f"{sign}{number}" if number and sign in SIGNS else "",
        favorable=() if number else tuple(chosen),
        cut=_number(cut, "Where the score is cut") if cut else roles.cut,
    )


def _number(word: str, what: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{what} must be a number, or numbers separated by commas; got {word!r}.")
    return value
