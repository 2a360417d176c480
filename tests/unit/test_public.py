"""The public face: every ``__all__`` is sorted, complete and importable."""

import importlib
import pkgutil

import pytest

import isonomy

MODULES = ["isonomy", *(m.name for m in pkgutil.walk_packages(isonomy.__path__, "isonomy."))]


@pytest.mark.parametrize("name", MODULES)
def test_all_is_sorted_and_exists(name: str) -> None:
    if name.endswith("__main__"):
        pytest.skip("runs the command when imported")
    module = importlib.import_module(name)
    names = module.__all__
    assert names == sorted(names)
    assert len(names) == len(set(names))
    for exported in names:
        assert hasattr(module, exported), f"{name}.{exported}"


def test_import_has_no_side_effects() -> None:
    import subprocess
    import sys

    code = (
        "import sys, warnings, logging, numpy as np\n"
        "state = np.random.get_state()[1].tolist()\n"
        "import isonomy\n"
        "assert np.random.get_state()[1].tolist() == state\n"
        "assert not logging.getLogger().handlers\n"
        "heavy = {'torch', 'polars', 'dask', 'fairlearn', 'matplotlib', 'tensorflow', 'typer'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
