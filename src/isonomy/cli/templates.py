"""``isonomy templates``, and ``isonomy audit FILE --template NAME``."""

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

from isonomy.cli.options import Json, Quiet, parse_bins, parse_numbers, parse_pairs
from isonomy.cli.output import console, make_table, refuse_same_file, write_json, write_reports
from isonomy.cli.progress import working
from isonomy.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from isonomy.templates import Document

_OUTPUT = {"file", "template", "json_file", "report_files", "quiet"}


def templates_command(
    name: str | None = typer.Argument(None, help="A template to explain; all are listed without."),
    json_file: Json = None,
    quiet: Quiet = False,
) -> None:
    """List the forms that an audit can fill, or explain one: what it asks a person for."""
    from isonomy._tables import plain
    from isonomy.templates import TEMPLATES

    chosen = [TEMPLATES[name]] if name else list(TEMPLATES.values())
    facts = [
        {"name": t.name, "title": t.title, "law": t.law, "advice": t.advice, "fields": t.fields}
        for t in chosen
    ]
    write_json(json_file, {"templates": plain(facts)})
    screen = console()
    if not name:
        table = make_table("name", "form", fixed=["name"])
        for t in chosen:
            table.add_row(t.name, f"{t.title}\n[dim]{t.advice}[/dim]")
        screen.print(table)
        screen.print("Explain one: isonomy templates NAME")
        screen.print("Fill one: isonomy audit FILE --template NAME")
        return
    (t,) = chosen
    screen.print(f"[bold]{t.title}[/bold]\n{t.advice}\nFollows: {t.law}\n")
    table = make_table("--field", "what", "form", fixed=["--field"])
    for f in t.fields:
        needed = "" if f.required else " [dim](optional)[/dim]"
        table.add_row(f.name, f"{f.label}{needed}", " or ".join(f.options) or f.hint)
    screen.print(table)


def fill_form(context: typer.Context, name: str, file: str) -> None:
    """Fill a template from the options of ``isonomy audit`` that were given."""
    from isonomy.templates import TEMPLATES

    refuse_same_file(context.params["json_file"], context.params["report_files"])
    template = TEMPLATES[name]
    takes = set(inspect.signature(template.fill).parameters)
    given = {
        option: value
        for option, value in context.params.items()
        if option not in _OUTPUT and str(context.get_parameter_source(option)).endswith(".COMMANDLINE")
    }  # fmt: skip
    arguments: dict[str, Any] = {}
    for option, value in given.items():
        read = _READ.get(option)
        wanted = read(value, given, takes) if read else {option: value}
        if not set(wanted) <= takes:
            raise InputError(
                f"--{option.replace('_', '-')} is not used by the template {template.name}; leave "
                f"it out (isonomy templates {template.name})."
            )
        arguments |= wanted
    missing = [
        p.name
        for p in inspect.signature(template.fill).parameters.values()
        if p.default is p.empty and p.name != "source" and p.name not in arguments
    ]
    if missing:
        raise InputError(
            f"The template {template.name} needs {' and '.join(_SOURCES.get(m, f'--{m}') for m in missing)}."
        )
    with working(f"counting {file}"):
        document = template(file, **arguments)
    show(document, console())
    write_json(context.params["json_file"], {"file": file, **document.to_dict()})
    write_reports(context.params["report_files"], document)


_SOURCES = {
    "sex": "a column of sex (--sensitive sex=COLUMN)",
    "race": "a column of race/ethnicity (--sensitive race=COLUMN)",
    "sensitive_features": "--sensitive COLUMN",
    "reference": "the group to compare with (--privileged ATTRIBUTE=VALUE)",
}


def _sensitive(columns: list[str], given: dict[str, Any], takes: set[str]) -> dict[str, Any]:
    if "sex" not in takes:
        return {"sensitive_features": columns}
    from isonomy.templates.categories import parse_roles

    return dict(parse_roles(columns))


def _privileged(pairs: list[str], given: dict[str, Any], takes: set[str]) -> dict[str, Any]:
    name = "reference" if "reference" in takes else "privileged"
    return {name: parse_pairs(pairs, "--privileged")}


def _thresholds(pairs: list[str], given: dict[str, Any], takes: set[str]) -> dict[str, Any]:
    numbers = {k: v[-1] for k, v in parse_numbers(pairs, "--threshold").items()}
    if "ratio_context" in takes:
        if set(numbers) != {"ratio"}:
            raise InputError(
                f"--threshold must be ratio=NUMBER here, to be shown as context; got {', '.join(pairs)!r}."
            )
        return {"ratio_context": numbers["ratio"]}
    return {"thresholds": numbers}


def _fields(texts: list[str], given: dict[str, Any], takes: set[str]) -> dict[str, Any]:
    pairs = [text.partition("=") for text in texts]
    for (name, sign, _), text in zip(pairs, texts, strict=True):
        if not name or not sign:
            raise InputError(f"--field must be NAME=TEXT; got {text!r}.")
    return {"fields": {name: text for name, _, text in pairs}}


def _categories(texts: list[str], given: dict[str, Any], takes: set[str]) -> dict[str, Any]:
    from isonomy.templates.categories import parse_categories

    return {"categories": parse_categories(texts)}


# How an option of the audit is read for a template; the others keep their name and value.
_READ: dict[str, Callable[[Any, dict[str, Any], set[str]], dict[str, Any]]] = {
    "sensitive": _sensitive,
    "privileged": _privileged,
    "threshold": _thresholds,
    "field": _fields,
    "category": _categories,
    "bins": lambda bins, given, takes: {"bins": parse_bins(bins, given.get("sensitive", []))},
    "metric": lambda names, given, takes: {"metrics": names},
    "seed": lambda seed, given, takes: {"random_state": seed},
}


def show(document: "Document", screen: "Console") -> None:
    """Print a filled template."""
    from rich.markup import escape

    screen.print(f"[bold]{escape(document.title)}[/bold]")
    screen.print(f"[dim]{escape(document.disclaimer)}[/dim]\n")
    screen.print(escape(document.headline))
    for words in document.warnings:
        screen.print(f"[yellow]{escape(words)}[/yellow]")
    screen.print()
    table = make_table(title="Fields")
    for f in document.fields:
        text = "" if f.value is None else escape(f.value)
        table.add_row(
            f.label, f"[yellow]to be filled in: --field {f.name}=...[/yellow]" if f.open else text
        )
    screen.print(table)
    for section in document.sections:
        screen.print(f"\n[bold]{escape(section.heading)}[/bold]")
        for words in section.sentences:
            screen.print(escape(words))
        for form in section.tables:
            numbers = {
                heading
                for k, heading in enumerate(form.columns)
                if any(not isinstance(row[k], str) for row in form.rows)
            }
            grid = make_table(*form.columns, title=escape(form.caption), right=list(numbers))
            for row in form.rows:
                grid.add_row(*(escape(c if isinstance(c, str) else c.text) for c in row))
            screen.print()
            screen.print(grid)
            if form.note:
                screen.print(f"[dim]{escape(form.note)}[/dim]")
