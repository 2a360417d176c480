"""What the documentation names exists: imports in its snippets, commands and options in its calls."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from isonomy.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "what-we-found.md",
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
]
IMPORT = re.compile(r"^(?:>>> )?from (isonomy[\w.]*) import (.+?)(?:  #.*)?$", re.MULTILINE)
CALL = re.compile(r"^(?: {4}|\$ )?(isonomy .+?)(?: {2,}#.*)?$", re.MULTILINE)
QUOTED = re.compile(r"`(isonomy [^`]+)`")


def imports() -> Iterator[tuple[str, str, str]]:
    for page in PAGES:
        for module, names in IMPORT.findall(page.read_text(encoding="utf-8")):
            for name in names.split(","):
                yield page.name, module, name.split(" as ")[0].strip()


def calls(page: Path) -> Iterator[str]:
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    for call in (*CALL.findall(text), *QUOTED.findall(text)):
        yield " ".join(call.split())


@pytest.mark.parametrize(("page", "module", "name"), sorted(set(imports())))
def test_what_a_snippet_imports_is_there(page: str, module: str, name: str) -> None:
    found = importlib.import_module(module)
    if not hasattr(found, name):
        importlib.import_module(f"{module}.{name}")


def test_what_a_page_says_to_test_is_there() -> None:
    quoted = re.compile(r"`pytest (\S+\.py)(?: -k (\w+))?(?: -m slow)?`")
    asked = [pair for page in PAGES for pair in quoted.findall(page.read_text(encoding="utf-8"))]
    assert len(asked) > 15
    for file, name in asked:
        tests = re.findall(r"def (test_\w+)", (ROOT / file).read_text(encoding="utf-8"))
        assert any(name in test for test in tests), f"{file} -k {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_their_options_are_there(page: Path) -> None:
    wrong = {call: problem for call in calls(page) if (problem := problem_of(call))}
    assert wrong == {}


def problem_of(call: str) -> str:
    """What a call names that the command line does not have."""
    command: Any = typer.main.get_command(app)
    words = call.split()[1:]
    while hasattr(command, "get_command") and words and words[0].replace("-", "_").isidentifier():
        name = words.pop(0)
        command = command.get_command(None, name)
        if command is None:
            return f"no command {name}"
    known = {text for option in command.params for text in (*option.opts, *option.secondary_opts)}
    quoted = re.sub(r"""(["'`]).*?\1""", "", " ".join(words))
    unknown = set(re.findall(r"(?<!\S)\[?(--[a-z-]+)", quoted)) - known - {"--help"}
    return f"no option {', '.join(sorted(unknown))}" if unknown else ""
