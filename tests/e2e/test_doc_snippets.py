"""What the pages show runs and prints what they say: sessions of Python, of the shell, and files.

A page is one story: its blocks run from top to bottom, in one empty folder. ``>>>`` is a session of
Python, ``$`` in a block marked ``console`` one of the shell; ``...`` stands for anything. A block below
a line that ends with "`name.py`:" is written to that file. Other blocks of Python, TOML and JSON
are parts of something larger: they are only read. A line ``<!-- not run: reason -->`` above a block leaves it out.
"""

import ast
import doctest
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from tests.e2e.command import isonomy

ROOT = Path(__file__).resolve().parents[2]
GENERATED = {"reference", "gallery", "cases", "_build"}
PAGES = [
    ROOT / "README.md",
    *sorted(
        path
        for path in (ROOT / "docs").rglob("*.md")
        if path.relative_to(ROOT / "docs").parts[0] not in GENERATED
    ),
]
FENCE = re.compile(
    r"(?P<before>[^\n]*)\n+(?P<indent>[ ]*)```(?P<kind>[^\n`]*)\n(?P<text>(?:[^\n]*\n)*?)(?P=indent)```",
    re.DOTALL,
)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Block(NamedTuple):
    """A fenced block, and the line above it."""

    before: str
    kind: str
    text: str


def blocks(page: Path) -> Iterator[Block]:
    for found in FENCE.finditer("\n" + page.read_text(encoding="utf-8")):
        text = re.sub(f"^{found['indent']}", "", found["text"], flags=re.MULTILINE)
        text = text.removesuffix("\n")
        yield Block(found["before"].strip(), found["kind"], text)


def is_session(block: Block) -> bool:
    return block.text.lstrip().startswith(">>> ")


def runs(block: Block) -> bool:
    if block.before.startswith("<!-- not run: "):
        return False
    return block.kind == "console" or is_session(block)


@pytest.mark.parametrize(
    "page", [p for p in PAGES if any(map(runs, blocks(p)))], ids=lambda page: page.name
)
def test_sessions(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "skops" in page.read_text(encoding="utf-8"):
        pytest.importorskip("skops")
    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    known: dict[str, object] = {}
    for block in blocks(page):
        named = re.search(r"`([\w.]+\.\w+)`:?$", block.before)
        if runs(block) and is_session(block):
            python(block.text, known, page.name)
        elif runs(block):
            shell(block.text)
        elif named:
            Path(named[1]).write_text(block.text + "\n", encoding="utf-8")
    plt.close("all")


def python(text: str, known: dict[str, object], name: str) -> None:
    session = doctest.DocTestParser().get_doctest(text + "\n", known, name, name, 0)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    said: list[str] = []
    runner.run(session, out=said.append, clear_globs=False)
    known |= session.globs
    assert not runner.failures, "".join(said)


def shell(text: str) -> None:
    """Run each command of a block; what stands below it must be what it prints."""
    for part in re.split(r"^\$ ", text.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, _, wanted = part.partition("\n")
        if command.startswith("isonomy ") and not set("|<>;&") & set(re.sub("'.*?'", "", command)):
            done = isonomy(*shlex.split(command)[1:])
        else:
            path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
            done = subprocess.run(
                ["bash", "-c", command],
                capture_output=True,
                text=True,
                check=False,
                env={**os.environ, "PATH": path},
            )
        assert done.returncode in (0, 1), f"$ {command}\n{done.stdout}{done.stderr}"
        shown = "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"
        if wanted.strip():
            agrees = doctest.OutputChecker().check_output(wanted + "\n", shown, FLAGS)
            assert agrees, f"$ {command}\n--- the page:\n{wanted}\n--- what it prints:\n{shown}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_is_found(page: Path) -> None:
    """One that is missed turns those after it inside out, and none of them runs."""
    fences = re.findall(r"^[ >]*```", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(fences) == 2 * len(list(blocks(page)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_is_shown_can_be_read(page: Path) -> None:
    """Blocks that do not run by themselves are at least of the language they are marked as."""
    for block in blocks(page):
        if block.kind == "python" and not is_session(block):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                ast.parse(block.text)
        elif block.kind == "toml":
            tomllib.loads(block.text)
        elif block.kind == "json":
            json.loads(block.text)


def test_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it but the installation, the benchmark (minutes) and the server (does not end)."""
    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    sex, income = rng.choice(["Female", "Male"], 800), rng.choice(["<=50K", ">50K"], 800)
    people = pd.DataFrame({"sex": sex, "income": income, "predicted": income})
    people.to_csv("predictions.csv", index=False)
    ran = []
    for block in blocks(ROOT / "README.md"):
        if block.kind == "python":
            exec(block.text, {})
            ran.append("python")
        for line in block.text.splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["isonomy"] and words[1] not in ("benchmark", "serve"):
                done = isonomy(*words[1:])
                assert done.returncode == 0, done.stderr
                ran.append(words[1])
    plt.close("all")
    assert ran == ["python", "audit", "check", "check"]
