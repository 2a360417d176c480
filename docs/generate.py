"""Write docs/reference from the objects themselves, and llms.txt: `python docs/generate.py`.

The documentation's build does it first; nothing under docs/reference is edited by hand. Names of
Python are written as directives, which Sphinx turns into signatures, docstrings and source; all
else is plain Markdown.
"""

import ast
import functools
import importlib
import inspect
import itertools
import re
import textwrap
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd

import isonomy
from isonomy._registry import Registry
from isonomy.cli import app
from isonomy.cli.metrics import describe
from isonomy.cli.mitigators import STAGES
from isonomy.cli.mitigators import describe as describe_mitigator
from isonomy.data import DATASETS
from isonomy.metrics import METRICS
from isonomy.mitigators import MITIGATORS
from isonomy.papers import PAPERS, load_study, study_names
from isonomy.papers.paper import FINDINGS, Paper
from isonomy.study import Results
from isonomy.templates import TEMPLATES

HERE = Path(__file__).parent
ROOT = HERE.parent
REFERENCE = HERE / "reference"
MOST_CELLS = 120
"""The largest table of a paper that its page shows whole."""
# The flow of the house plan: a name that two rooms show is described in the first of them.
ROOMS = (
    *("isonomy", "isonomy.audit", "isonomy.metrics", "isonomy.data", "isonomy.mitigators"),
    *("isonomy.tradeoff", "isonomy.benchmark", "isonomy.counterfactual", "isonomy.stats"),
    *("isonomy.tails", "isonomy.gate", "isonomy.templates", "isonomy.report", "isonomy.plots"),
    *("isonomy.study", "isonomy.store", "isonomy.papers", "isonomy.models", "isonomy.networks"),
    *("isonomy.generators", "isonomy.search", "isonomy.testing", "isonomy.errors"),
    *("isonomy.app", "isonomy.pytest_plugin"),
)


class ExampleOrder:
    """The order of the gallery: from the first audit to whole studies."""

    names = (
        *("audit", "verdicts", "power", "small_groups", "intersections", "scan", "selections"),
        *("over_time", "model_card", "benchmark", "mitigate_adult", "who_pays", "fairea"),
        *("group_thresholds", "grid_search", "in_processing", "fair_smote", "gate", "tail"),
        *("counterfactual_search", "critical_difference", "study_and_sql"),
        *("lender", "court"),  # the cases
    )

    def __init__(self, folder: str) -> None: ...

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __call__(self, file: str) -> int:
        """Return the place of an example."""
        return self.names.index(Path(file).stem.removeprefix("plot_"))


_written: set[Path] = set()


def write(path: Path, *lines: str) -> None:
    """Write one page; what has not changed is left alone, so that it is not built again."""
    text = "\n".join(lines).rstrip() + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    _written.add(path)


def table(*heads: str, rows: Iterable[Iterable[Any]]) -> list[str]:
    """Return the lines of a Markdown table."""
    cells = [" | ".join(str(cell).replace("|", "\\|") for cell in row) for row in rows]
    return [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", *(f"| {row} |" for row in cells)]


def index(folder: str, title: str, text: str, pages: Iterable[str], *lines: str) -> None:
    """Write the first page of a folder, which lists the others."""
    contents = ["```{toctree}", ":hidden:", ":maxdepth: 1", "", *pages, "```", ""]
    write(REFERENCE / folder / "index.md", f"# {title}", "", text, "", *lines, "", *contents)


def directive(kind: str, name: str, *options: str) -> list[str]:
    """Return the lines that let Sphinx describe an object."""
    return ["```{eval-rst}", f".. {kind}:: {name}", *(f"   {o}" for o in options), "```", ""]


def place_of(thing: Any) -> str:
    """Return where in the package a function is written."""
    return str(Path(inspect.getfile(thing)).relative_to(ROOT / "src"))


def code_of(function: Any) -> list[str]:
    """Return a section with the source of a function, and of the functions that it is given."""
    given: dict[str, Any] = {}
    while isinstance(function, functools.partial):
        given = function.keywords | given
        function = function.func
    parts = [function, *(value for value in given.values() if inspect.isfunction(value))]
    words = [f"`{k}={v.__name__ if inspect.isfunction(v) else repr(v)}`" for k, v in given.items()]
    called = f", called with {', '.join(words)}" if words else ""
    sources = "\n\n".join(textwrap.dedent(inspect.getsource(part)) for part in parts)
    name = "" if function.__name__ == "<lambda>" else f": `{function.__name__}`"
    text = f"`{place_of(function)}`{name}{called}."
    return ["## Code", "", text, "", "```python", sources.rstrip(), "```"]


def metrics() -> None:
    """One page per metric, from the Metric object."""
    rows: dict[str, list[list[str]]] = {"performance": [], "group": [], "individual": []}
    for name, metric in METRICS.items():
        facts = describe(metric)
        written = ", ".join(f"`{k}={v}`" for k, v in facts["parameters"].items())
        article = "an" if metric.kind == "individual" else "a"
        known = {
            "best": facts["best"],
            "range": facts["range"],
            "needs": facts["needs"],
            "parameters": written,
            "also called": ", ".join(f"`{alias}`" for alias in facts["aliases"]),
            "reference": facts["reference"],
        }
        write(
            REFERENCE / "metrics" / f"{name}.md",
            *(f"# {name}", "", f"*{facts['label']}*, {article} {facts['kind']} metric.", ""),
            *("```text", facts["formula"], "```", "", facts["reading"], ""),
            *(f"**When not to use it.** {facts['when_not_to_use']}", ""),
            *table("", "", rows=[(key, value) for key, value in known.items() if value]),
            *("", "```console", f"$ isonomy metrics {name}", "```", ""),
            *code_of(metric.fn),
        )
        rows[metric.kind].append(
            [f"[{name}]({name}.md)", facts["label"], facts["best"], f"`{facts['formula']}`"]
        )
    lines = []
    for kind, found in rows.items():
        lines += [f"## {kind.capitalize()} metrics", ""]
        lines += [*table("name", "short", "best", "formula", rows=found), ""]
    text = "What they mean and how to read their signs: [guide 2](../../guide/2-metrics.md)."
    index("metrics", "Metrics", text, METRICS, *lines)


def mitigators() -> None:
    """One page per mitigator, from its class."""
    rows = []
    for name, kind in MITIGATORS.items():
        facts = describe_mitigator(kind)
        shown = (
            "stage",
            "needs",
            "groups",
            "classes",
            "several attributes",
            "aims",
            "strength",
            "randomized",
        )
        known = {key: facts[key] for key in shown} | {"in tables": facts["label"]}
        known |= {
            "stage": STAGES[kind.stage],
            "randomized": "yes" if kind.randomized else "no",
            "reference": facts["reference"],
        }
        write(
            REFERENCE / "mitigators" / f"{name}.md",
            *(f"# {name}", "", facts["advice"], "", *table("", "", rows=known.items()), ""),
            *directive("autoclass", f"isonomy.mitigators.{kind.__name__}", ":members:"),
        )
        attribute = "fit and predict" if facts["needs_sensitive_at_predict"] else "fit"
        groups, classes = (
            "any" if facts[k].startswith("any number") else "2" for k in ("groups", "classes")
        )
        link = f"[{name}]({name}.md)"
        rows.append([link, kind.stage, groups, classes, attribute, kind.advice])
    heads = ("name", "stage", "groups", "classes", "needs the attribute to", "advice")
    text = (
        "Which to choose: [guide 4](../../guide/4-mitigation.md). Groups: `2` compares the privileged "
        "group(s) with all others; `any` treats every group by itself."
    )
    index("mitigators", "Mitigators", text, MITIGATORS, *table(*heads, rows=rows))


def datasets() -> None:
    """One page per dataset, from its card."""
    for name, entry in DATASETS.items():
        info = entry.info
        got = f"`isonomy data fetch {name}`, or the first `load({name!r})`"
        if entry.by_hand:
            got = "by hand: `isonomy data info` says from where"
        parameters = inspect.signature(entry.loader).parameters.values()
        columns = entry.columns
        if isinstance(columns, Mapping):
            columns = dict.fromkeys(c for version in columns.values() for c in version)
        known = {
            "rows": f"{entry.rows:,}",
            "protected attributes": ", ".join(f"`{a}`" for a in entry.attributes),
            "source": info.source,
            "licence": info.licence,
            "citation": info.citation,
            "how to get it": "drawn by a generator" if entry.made else got,
            **{f"rule of `{attribute}`": rule for attribute, rule in info.rules.items()},
            **{f"SHA-256 of `{file.name}`": f"`{file.sha256}`" for file in entry.files},
            "columns": ", ".join(f"`{column}`" for column in columns),
            "code": f"`{place_of(entry.loader)}`",
        }
        write(
            REFERENCE / "datasets" / f"{name}.md",
            *(f"# {name}", "", info.title, "", "What a careful reader must know:", ""),
            *(f"- {' '.join(caveat.split())}" for caveat in info.caveats),
            *("", *table("", "", rows=[(k, v) for k, v in known.items() if v]), ""),
            *("```python", "import isonomy", "", f'data = isonomy.load("{name}")', "```", ""),
            *("What its loader says:", "", "```text"),
            f"load({', '.join([repr(name), *map(str, parameters)])})\n",
            *(inspect.cleandoc(entry.loader.__doc__ or ""), "```"),
        )
    rows = [
        (f"[{n}]({n}.md)", f"{e.rows:,}", ", ".join(e.attributes), e.info.title.partition(": ")[2])
        for n, e in DATASETS.items()
    ]
    text = "Caveats, splits and files of your own: [guide 1](../../guide/1-data.md)."
    heads = ("name", "rows", "protected", "what is predicted")
    index("datasets", "Datasets", text, DATASETS, *table(*heads, rows=rows))


def templates() -> None:
    """One page per template, from the fields it asks for."""
    for name, form in TEMPLATES.items():
        fields = [
            (f"`{f.name}`", f.label, " or ".join(f.options) or f.hint, "yes" if f.required else "")
            for f in form.fields
        ]
        write(
            REFERENCE / "templates" / f"{name}.md",
            *(f"# {name}", "", f"{form.title}. {form.advice}", "", f"Follows: {form.law}", ""),
            *("```console", f"$ isonomy audit FILE --template {name}", "```", ""),
            *("What it asks a person for:", ""),
            *table("--field", "what", "form", "required", rows=fields),
            *("", f"From Python: {{py:obj}}`isonomy.templates.{form.fill.__name__}`."),
        )
    rows = [(f"[{name}]({name}.md)", t.title, t.advice) for name, t in TEMPLATES.items()]
    text = "How to fill one: [fill a form](../../how-to/templates.md)."
    index("templates", "Templates", text, TEMPLATES, *table("name", "form", "when", rows=rows))


def studies() -> None:
    """One page per study that comes with the package, from its file."""
    rows = []
    for name in study_names():
        study = load_study(name)
        tasks = ", ".join(f"`{task}`" for task in study.tasks)
        size = f"{len(study.tasks)} tasks, {len(study.methods)} methods, {study.repeats} repeats"
        write(
            REFERENCE / "studies" / f"{name}.md",
            *(f"# {name}", "", f"{study.title}: {size}, protocol `{study.protocol}`.", ""),
            *("```console", f"$ isonomy study run {name}", "```", "", f"Tasks: {tasks}", ""),
            *("The study as a file, to run a part of it or to change it:", ""),
            *("```toml", study.toml().strip(), "```"),
        )
        rows.append((f"[{name}]({name}.md)", size, study.title))
    text = "How studies run, resume and are queried: [guide 5](../../guide/5-studies.md)."
    index("studies", "Studies", text, study_names(), *table("name", "size", "what", rows=rows))


def commands() -> None:
    """One page per command, from its own help."""
    import typer.main

    pages = []

    def section(command: Any, words: str, parent: Any, title: str) -> list[str]:
        context = command.make_context(words, [], parent=parent, resilient_parsing=True)
        context.terminal_width = context.max_content_width = 88
        lines = [title, "", "```text", command.get_help(context).strip(), "```", ""]
        for name, child in getattr(command, "commands", {}).items():
            lines += section(child, name, context, f"## {title.strip('# ')} {name}")
        return lines

    for name, command in typer.main.get_command(app).commands.items():
        words = f"isonomy {name}"
        write(REFERENCE / "commands" / f"{name}.md", *section(command, words, None, f"# {words}"))
        pages.append((f"[{words}]({name}.md)", command.get_short_help_str(200)))
    names = [row[0].partition("](")[2].removesuffix(".md)") for row in pages]
    text = "Exit codes: 0 fine, 1 violated, 2 bad input, 3 too little evidence (`check`)."
    index("commands", "Commands", text, names, *table("command", "what it does", rows=pages))


def extras() -> None:
    """One page on what is not installed by itself, from the project file and its comments."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    needs = tomllib.loads(text)["project"]["optional-dependencies"]
    rows = []
    for name, packages in needs.items():
        purpose = re.search(rf"^{name} = \[.*\] +# (.+)$", text, re.MULTILINE)
        assert purpose, f"pyproject.toml does not say what the extra {name} is for"
        packages = ", ".join(f"`{package}`" for package in packages)
        rows.append((f'`pip install "isonomy[{name}]"`', purpose[1], packages))
    write(
        REFERENCE / "extras.md",
        *(
            "# Extras",
            "",
            "Isonomy runs without them. What needs one ends with a sentence that names",
        ),
        *("it; several at once: `isonomy[plot,excel]`.", ""),
        *table("extra", "what for", "what it installs", rows=rows),
    )


def public() -> dict[str, dict[str, str]]:
    """Return where every public name of every room is described: by room, name to full name."""
    homes: dict[int, str] = {}
    found: dict[str, dict[str, str]] = {}
    for room in (*ROOMS[1:], ROOMS[0]):
        module = importlib.import_module(room)
        found[room] = {}
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if isinstance(thing, ModuleType) and thing.__name__ in ROOMS:  # a room that is called
                thing = getattr(thing, name)
            shared = callable(thing) or isinstance(thing, Registry)
            full = homes.setdefault(id(thing), f"{room}.{name}") if shared else f"{room}.{name}"
            found[room][name] = full
    return {room: found[room] for room in ROOMS}


def has_page(full: str) -> bool:
    """Return whether a public name is described on a page of its own."""
    room, _, name = full.rpartition(".")
    thing = getattr(importlib.import_module(room), name)
    return room == "isonomy.mitigators" and thing in MITIGATORS.values()


def first_line(thing: Any) -> str:
    """Return the first line of a docstring, without its markup."""
    return unmarked(inspect.cleandoc(getattr(thing, "__doc__", None) or "").partition("\n")[0])


def unmarked(text: str) -> str:
    """Return a line of a docstring as Markdown."""
    return re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text).replace("``", "`")


def summary_of(module: ModuleType, name: str) -> str:
    """Return what a public name is, in a line: of a constant, not what its type says of itself."""
    thing = getattr(module, name)
    if inspect.isclass(thing) or inspect.isroutine(thing) or isinstance(thing, ModuleType):
        return first_line(thing)
    return unmarked(comment_of(module, name)) or f"A {type(thing).__name__}."


def described(full: str) -> list[str]:
    """Return the section of one public name."""
    room, _, name = full.rpartition(".")
    module = importlib.import_module(room)
    thing = getattr(module, name)
    lines = [f"## {name}", ""]
    if isinstance(thing, ModuleType):
        return [*lines, *directive("automodule", thing.__name__)]
    if inspect.isclass(thing) and not hasattr(thing, "__origin__"):
        return [*lines, *directive("autoclass", full, ":members:", ":show-inheritance:")]
    if inspect.isroutine(thing):
        return [*lines, *directive("autofunction", full)]
    about = comment_of(module, name) or f"A {type(thing).__name__}."
    if isinstance(thing, Registry):
        about += f" A mapping of {len(thing)}: {', '.join(f'``{key}``' for key in thing)}."
    elif not callable(thing):
        about += f" ``{thing!r}``" if len(repr(thing)) < 500 else f" It has {len(thing)} entries."
    # of no module, so that no source is looked for: the value may come from another library
    said = [".. py:currentmodule:: None", "", f".. py:data:: {full}", "", f"   {about}"]
    return [*lines, "```{eval-rst}", *said, "```", ""]


def comment_of(module: ModuleType, name: str) -> str:
    """Return the string below the assignment of a constant, in this room or another that shows it."""
    thing = getattr(module, name)
    others = map(importlib.import_module, ROOMS)
    for room in (module, *(m for m in others if getattr(m, name, None) is thing)):
        if said := _comment_in(room, name):
            return said
    return ""


def _comment_in(room: ModuleType, name: str) -> str:
    files = [Path(room.__file__ or "")]
    files += sorted(files[0].parent.glob("*.py")) if hasattr(room, "__path__") else []
    for file in files:
        body = ast.parse(file.read_text(encoding="utf-8")).body
        for statement, after in itertools.pairwise(body):
            targets = getattr(statement, "targets", [getattr(statement, "target", None)])
            if any(isinstance(t, ast.Name) and t.id == name for t in targets) and isinstance(
                after, ast.Expr
            ):
                said = (
                    ast.literal_eval(after.value) if isinstance(after.value, ast.Constant) else ""
                )
                return " ".join(str(said).split())
    return ""


def rooms() -> None:
    """One page per room with every public name in it."""
    pages = []
    for room, names in public().items():
        module = importlib.import_module(room)
        lines = [f"# {room}", "", *directive("automodule", room, ":no-members:")]
        listed = [
            (f"{{py:obj}}`{name} <{full}>`", summary_of(module, name))
            for name, full in names.items()
            if name != "__version__"
        ]
        lines += table("name", "what it is", rows=listed) if listed else []
        for name, full in names.items():
            if full == f"{room}.{name}" and name != "__version__" and not has_page(full):
                lines += ["", *described(full)]
        write(REFERENCE / "rooms" / f"{room}.md", *lines)
        pages.append((f"[{room}]({room}.md)", len(listed) or "", first_line(module)))
    text = "Every public name of the package, by the room (module) it is imported from."
    index("rooms", "Python", text, ROOMS, *table("room", "names", "what it is for", rows=pages))


def numbers() -> None:
    """Our numbers beside each paper's: what was committed, and what stored runs show now."""
    fidelity = (ROOT / "benchmarks" / "fidelity.md").read_text(encoding="utf-8")
    for name, paper in PAPERS.items():
        lines = []
        _, _, part = fidelity.partition(f"<!-- study {name} -->")
        if part:  # up to the findings, which the page has beside the slips
            part = re.split(r"^(?:\*\*|### |<!-- end)", part, maxsplit=1, flags=re.MULTILINE)[0]
            lines += [part.strip().partition("\n")[2].strip(), ""]
        for study in paper.studies:
            file = ROOT / "results" / f"{study}.parquet"
            if file.exists():
                lines += stored(paper, study, paper.frame_of(Results(file)))
        if not lines:
            lines = [
                f"No full run is stored yet; `isonomy study run {name}` makes one. What can be said",
                "without it is below.",
                "",
            ]
        write(REFERENCE / "papers" / f"{name}.md", *lines)


def stored(paper: Paper, study: str, frame: pd.DataFrame) -> list[str]:
    """Return the tables of a paper made of stored runs: our cell, and the printed one beside it."""
    lines = []
    made, _ = paper.make_all([n for n in paper.tables if n != FINDINGS], frame)
    for shown in made:
        if shown.printed is None or shown.data.size > MOST_CELLS:
            continue
        printed = shown.printed.reindex_like(shown.data).astype(object).fillna("")
        ours = shown.text()
        rows = [
            (
                in_words(label),
                *(f"{a} ({b})" if b else a for a, b in zip(cells, printed.loc[label], strict=True)),
            )
            for label, cells in zip(ours.index, ours.to_numpy(), strict=True)
        ]
        lines += [f"**{shown.name}**: {shown.title}. In brackets: in print.", ""]
        heads = map(in_words, ours.columns)
        lines += [*table(f"{shown.cases:,} {shown.unit}", *heads, rows=rows), ""]
    return (
        [f"From the stored runs of `{study}` ([results](../../papers/results.md)):", "", *lines]
        if lines
        else []
    )


def in_words(label: Any) -> str:
    """Return a label of a table, of one level or of several, as text."""
    return ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)


def main() -> None:
    """Write everything."""
    for part in (
        metrics,
        mitigators,
        datasets,
        templates,
        studies,
        commands,
        rooms,
        extras,
        numbers,
    ):
        part()
    shelves = ("rooms", "commands", "metrics", "mitigators", "datasets", "templates", "studies")
    rows = [
        ("[Python](rooms/index.md)", "every public name, by room, with its source"),
        ("[Commands](commands/index.md)", "what `isonomy` can do in a shell"),
        ("[Metrics](metrics/index.md)", f"{len(METRICS)}: formula, sign, when not to use it"),
        ("[Mitigators](mitigators/index.md)", f"{len(MITIGATORS)}: stage, needs, parameters"),
        ("[Datasets](datasets/index.md)", f"{len(DATASETS)}: source, licence, caveats, checksums"),
        ("[Templates](templates/index.md)", f"{len(TEMPLATES)}: forms of laws and practices"),
        ("[Studies](studies/index.md)", f"{len(study_names())}: declared in a file"),
        ("[Extras](extras.md)", "what is not installed by itself, and what needs it"),
    ]
    text = f"Generated from the code of Isonomy {isonomy.__version__}."
    shelf = [*(f"{name}/index" for name in shelves), "extras"]
    index(".", "Reference", text, shelf, *table("", "", rows=rows))
    for old in {*REFERENCE.rglob("*.md")} - _written:
        old.unlink()
    print(f"docs/reference: {len(_written)} pages")


if __name__ == "__main__":
    main()
