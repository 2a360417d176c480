"""A room imports only rooms to its left (the house plan's order)."""

import ast
from pathlib import Path

import pytest

import isonomy

ROOT = Path(isonomy.__file__).parent

LEVELS: list[set[str]] = [
    {
        "errors",
        "_arrays",
        "_bands",
        "_brief",
        "_encoding",
        "_excel",
        "_files",
        "_groups",
        "_markdown",
        "_names",
        "_periods",
        "_registry",
        "_shown",
        "_tables",
        "_toml",
        "_unknown",
        "_validate",
    },
    {"plots"},
    {"stats"},
    {"tails"},
    {"data", "metrics", "networks"},
    {"models", "search", "generators"},
    {"counterfactual"},
    {"mitigators", "audit"},
    {"tradeoff", "templates"},
    {"store"},
    {"study"},
    {"benchmark"},
    {"papers"},
    {"report"},
    {"gate"},
    {"app"},
    {"testing", "cli", "pytest_plugin"},
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


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in sorted(ROOT.rglob("*.py"))}


def imported_modules(path: Path) -> set[str]:
    """Every isonomy file that a file imports, at module level or inside a function.

    What only type checkers read (``if TYPE_CHECKING``) is no import.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            submodules = {f"{node.module}.{a.name}" for a in node.names} & set(MODULES)
            # `from isonomy.room import name` runs the room's __init__ unless the name is a file
            whole = len(submodules) == len(node.names)
            found |= submodules | (set() if whole else {node.module})
    return found & set(MODULES) - {module_of(path), "isonomy"}


def cycle_in(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules of one cycle, or an empty list."""
    from graphlib import CycleError, TopologicalSorter

    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_import_cycles_not_even_lazy_ones() -> None:
    assert cycle_in({name: imported_modules(path) for name, path in MODULES.items()}) == []


def test_a_cycle_would_be_found() -> None:
    assert cycle_in({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": set()})
    assert cycle_in({"a": {"b"}, "b": set()}) == []


def private_uses(source: str, room: str) -> set[str]:
    """Every private name of another object that a file uses, unless the file defines it."""
    tree = ast.parse(source)
    own = {
        n.name
        for n in ast.walk(tree)
        if isinstance(n, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)
    }
    own |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    used = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("isonomy."):
            parts = (node.module or "").split(".")[1:]
            names = [*parts[1:], *(a.name for a in node.names)]
            if parts[0] != room:
                used |= {n for n in names if n.startswith("_")}
        elif isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            if node.attr.startswith("__") or node.attr in {*own, "_asdict", "_replace"}:
                continue
            owner = ast.unparse(node.value)
            if owner in {"self", "cls", "os", "sys"} or owner.startswith("super("):
                own.add(node.attr)  # set here or inherited: the class's own business
            else:
                used.add(f"{owner}.{node.attr}")
    return {u for u in used if u.rpartition(".")[2] not in own}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_room_uses_private_names_of_another(path: Path) -> None:
    assert private_uses(path.read_text(encoding="utf-8"), room_of(path)) == set()


def test_a_private_use_would_be_found() -> None:
    assert private_uses("from isonomy.tails.fit import _x", "study") == {"_x"}
    assert private_uses("from isonomy.tails._fit import x", "study") == {"_fit"}
    assert private_uses("def f(m):\n    m._open()", "study") == {"m._open"}
    assert (
        private_uses("class A:\n    def f(self, other):\n        other._n + self._n", "a") == set()
    )


def test_unit_tests_mirror_the_rooms() -> None:
    """A test file has the name of the file it tests, and a topic after it where there are several."""
    tests = Path(__file__).parent
    rooms = {path.name for path in ROOT.iterdir() if (path / "__init__.py").is_file()}
    assert rooms == {path.name for path in tests.iterdir() if any(path.glob("test_*.py"))}
    for room in rooms:
        inside = {p.stem.lstrip("_") for p in (ROOT / room).glob("*.py")}
        inside |= {p.name for p in (ROOT / room).iterdir() if p.is_dir()}
        for path in (tests / room).glob("test_*.py"):
            tested = path.stem.removeprefix("test_")
            assert any(tested == n or tested.startswith(f"{n}_") for n in inside), path
