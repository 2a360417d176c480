"""Only ``papers/`` names papers: names, strings and files of the other rooms do not."""

import ast
import re
from pathlib import Path

import pytest

import isonomy
from isonomy.papers import PAPERS, Paper

ROOT = Path(isonomy.__file__).parent
FILES = sorted(p for p in ROOT.rglob("*.py") if p.relative_to(ROOT).parts[0] != "papers")
FOLDERS = {p.parent.name for p in (ROOT / "papers").glob("*/__init__.py")}


COMMON = {"multi", "fairhome"}  # a word of the field, and a method that the library has


def words_of(paper: Paper) -> list[str]:
    """Return what names a paper: parts of its name, its first author, its own words."""
    parts = [part for part in paper.name.split("_") if not part.isdigit() and part not in COMMON]
    return [*parts, re.split(r"[\s,]", paper.reference)[0].lower(), *paper.words]


# short words count as whole words only
WORDS = re.compile(
    "|".join(
        rf"(?<![a-z]){word}(?![a-z])" if len(word) <= 4 else word
        for paper in PAPERS.values()
        for word in map(re.escape, dict.fromkeys(words_of(paper)))
    ),
    re.IGNORECASE,
)
# where a person reads a reference or a caveat: text that cites, and nothing depends on it
CITING = {"reference", "citation", "avoid", "caveats", "notes", "source"}


def cited(tree: ast.AST) -> set[int]:
    """Return the ids of string nodes that are docstrings or that cite."""
    out: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            out.add(id(node.value))  # a docstring, of an attribute too
        named = isinstance(node, ast.keyword) and node.arg in CITING
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            named = any(isinstance(t, ast.Name) and t.id in CITING for t in targets)
        if named:
            out |= {id(part) for part in ast.walk(node)}
    return out


def names_in(tree: ast.AST) -> list[str]:
    """Return every identifier and string of a file, less those that cite."""
    skip = cited(tree)
    fields = ("id", "attr", "arg", "name", "asname", "module")
    words = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skip:
            words.append(node.value)
        values = (getattr(node, field, None) for field in fields)
        words += [value for value in values if isinstance(value, str)]
    return words


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_other_room_names_a_paper(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named = [word for word in names_in(tree) if WORDS.search(word)]
    assert not named, f"{path.relative_to(ROOT)} names a paper: {named}"
    assert not WORDS.search(path.stem)


def test_every_registered_paper_is_a_folder() -> None:
    inside = {name: p.folder for name, p in PAPERS.items() if p.folder.is_relative_to(ROOT)}
    assert inside == {name: ROOT / "papers" / name for name in FOLDERS}


def test_every_registered_paper_is_looked_for() -> None:
    assert all(WORDS.search(word) for paper in PAPERS.values() for word in words_of(paper))
    assert all(WORDS.search(word) for word in ("Hort 2021", "the evt splits", "kaggle40"))
