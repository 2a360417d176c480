"""The public face: a room says what is public in its ``__all__``, sorted, complete and importable."""

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import isonomy

ROOT = Path(isonomy.__file__).parent
ROOMS = [
    "isonomy",
    *(m.name for m in pkgutil.walk_packages(isonomy.__path__, "isonomy.") if m.ispkg),
]
FILES_AS_ROOMS = ["isonomy.errors", "isonomy.models"]


@pytest.mark.parametrize("name", [*ROOMS, *FILES_AS_ROOMS])
def test_all_is_sorted_and_exists(name: str) -> None:
    module = importlib.import_module(name)
    names = module.__all__
    assert names == sorted(names)
    assert len(names) == len(set(names))
    for exported in names:
        assert hasattr(module, exported), f"{name}.{exported}"


def test_only_rooms_say_what_is_public() -> None:
    """Inside a room an underscore marks what is private; the names are listed once."""
    for path in ROOT.rglob("*.py"):
        name = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
        if path.name == "__init__.py" or name in FILES_AS_ROOMS:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not any(isinstance(n, ast.Name) and n.id == "__all__" for n in ast.walk(tree)), path


@pytest.mark.parametrize("name", ["isonomy", "isonomy.mitigators"])
def test_what_type_checkers_see_is_what_is_imported_lazily(name: str) -> None:
    module = importlib.import_module(name)
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    seen = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("isonomy.")
        for alias in node.names
        if alias.name != "files_of"
    }
    assert seen == set(module.__all__) - {"__version__"}


def test_import_is_light_and_has_no_side_effects() -> None:
    code = (
        "import sys, warnings, logging, numpy as np\n"
        "state = np.random.get_state()[1].tolist()\n"
        "before = set(sys.modules)\n"
        "import isonomy\n"
        "assert np.random.get_state()[1].tolist() == state\n"
        "assert not logging.getLogger().handlers\n"
        "new = {m.partition('.')[0] for m in set(sys.modules) - before}\n"
        "assert not new & {'scipy', 'pandas', 'sklearn', 'duckdb', 'torch', 'typer', 'rich'}, new\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_importing_the_mitigators_imports_no_library_of_numbers() -> None:
    code = (
        "import sys\n"
        "import isonomy.mitigators\n"
        "heavy = {'numpy', 'pandas', 'scipy', 'sklearn', 'duckdb', 'pyarrow'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "assert 'Reweighing' in dir(isonomy.mitigators)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_mitigators_are_complete_whichever_is_imported_first() -> None:
    code = (
        "from isonomy.mitigators import Stealth\n"
        "from isonomy.mitigators.base import MITIGATORS, make_mitigator\n"
        "assert type(make_mitigator('rw')).__name__ == 'Reweighing'\n"
        "assert list(MITIGATORS) == sorted(MITIGATORS), list(MITIGATORS)\n"
        "assert len(MITIGATORS) >= 23\n"
        "import isonomy.mitigators\n"
        "assert isonomy.mitigators.fair_smote.FairSmote is MITIGATORS['fair_smote']\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_help_imports_no_library_of_numbers() -> None:
    code = (
        "import sys\n"
        "from isonomy.cli import app\n"
        "import typer.main\n"
        "typer.main.get_command(app).get_help(typer.main.get_command(app).make_context('isonomy', [], resilient_parsing=True))\n"
        "heavy = {'numpy', 'pandas', 'scipy', 'sklearn', 'duckdb'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_rooms_can_be_called_like_their_functions() -> None:
    import isonomy.audit.judge
    import isonomy.benchmark.plan

    assert callable(isonomy.audit)
    assert callable(isonomy.benchmark)
    for room, function in (
        (isonomy.audit, isonomy.audit.audit),
        (isonomy.benchmark, isonomy.benchmark.benchmark),
    ):
        assert inspect.signature(room) == inspect.signature(function)
