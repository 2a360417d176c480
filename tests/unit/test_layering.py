"""A room imports only rooms to its left (the house plan's order)."""

import ast
from pathlib import Path

import pytest

import isonomy

ROOT = Path(isonomy.__file__).parent

LEVELS: list[set[str]] = [
    {"errors", "_files", "_groups", "_names", "_registry", "_tables", "_validate"},
    {"stats"},
    {"tails"},
    {"data", "metrics", "networks"},
    {"models", "search", "generators"},
    {"counterfactual"},
    {"mitigators", "audit"},
    {"tradeoff"},
    {"store"},
    {"study"},
    {"benchmark"},
    {"papers"},
    {"report"},
    {"testing", "cli"},
    {"__main__"},
]
LEVEL_OF = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}
FORBIDDEN = {"utils", "core", "common", "helpers", "config"}


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """Every isonomy room that a file imports, at module level or inside a function."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = (
                [f"isonomy.{alias.name}" for alias in node.names]
                if node.module == "isonomy"
                else [node.module or ""]
            )
        else:
            continue
        rooms |= {n.split(".")[1] for n in names if n.startswith("isonomy.")}
    return rooms


FILES = sorted(p for p in ROOT.rglob("*.py") if p != ROOT / "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_room_imports_only_rooms_to_its_left(path: Path) -> None:
    room = room_of(path)
    assert room in LEVEL_OF, f"{room} is not in the house plan"
    for other in imports(path) - {room}:
        if other.startswith("__"):  # isonomy.__version__
            continue
        same_foundation = LEVEL_OF[room] == 0 == LEVEL_OF[other]
        assert same_foundation or LEVEL_OF[other] < LEVEL_OF[room], f"{room} imports {other}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_depth_two_and_no_junk_drawers(path: Path) -> None:
    parts = path.relative_to(ROOT).with_suffix("").parts
    assert len(parts) <= (3 if parts[0] == "papers" else 2)
    assert not FORBIDDEN & set(parts)
