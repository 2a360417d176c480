"""Every backend gives the same, on real engines, whatever becomes of its workers."""

import importlib
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from isonomy.study._guard import Failure, stop_sandboxes
from isonomy.study.backends import BACKENDS, make_backend

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let workers import the trials, as they would import an installed package."""
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    yield
    stop_sandboxes()


def work(item: Any) -> Any:
    return importlib.import_module("workloads").work(item)


def run(name: str, items: list[Any], **options: Any) -> dict[Any, Any]:
    if name != "ray":
        pytest.importorskip("distributed") if name == "dask" else None
    else:
        pytest.importorskip("ray")
    backend = make_backend(name, **({} if name == "serial" else {"workers": 2}), **options)
    function = importlib.import_module("workloads").work
    with warnings.catch_warnings():
        if name in ("dask", "ray"):  # what the engines themselves warn of as they start and stop
            warnings.simplefilter("ignore", ResourceWarning)
            warnings.simplefilter("ignore", FutureWarning)
            warnings.simplefilter("ignore", DeprecationWarning)
        found = list(backend.run(function, items))
    assert Counter(item for item, _ in found) == Counter(items)
    return dict(found)


ORDINARY = [("ok", k) for k in range(6)]


@pytest.mark.parametrize("name", BACKENDS)
def test_a_run_with_accidents(name: str, tmp_path: Path) -> None:
    """Workers are killed, a trial raises, another always kills its worker: the rest is as ever."""
    once = ("die_once", str(tmp_path / name))
    items = [*ORDINARY[:3], once, ("raise", 1), ("die", 0), ("print", 0), *ORDINARY[3:]]
    # without limits a serial run has no second process that could die instead of it
    options = {"time_limit": 60.0} if name == "serial" else {}
    found = run(name, items, **options)
    function = importlib.import_module("workloads").work
    for item in [*ORDINARY, ("print", 0)]:
        assert found[item] == function(item)  # bit for bit
    assert found[once] == function(once)
    assert found["raise", 1] == Failure("failed", "ValueError: trial 1 is impossible")
    assert found["die", 0] == Failure(
        "failed", "Its process ended twice under it (killed by SIGKILL)."
    )
