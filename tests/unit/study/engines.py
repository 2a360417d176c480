"""What the tests of backends and of runs share."""

import importlib
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from isonomy.store.record import RUN
from isonomy.study.isolation import stop_sandboxes

HERE = Path(__file__).parent


def workloads() -> Any:
    """Import the trials by the name under which workers import them."""
    return importlib.import_module("workloads")


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let workers import the trials, as they would import an installed package."""
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("PYTHONPATH", str(HERE), prepend=os.pathsep)
    yield
    stop_sandboxes()


@contextmanager
def engine(name: str) -> Iterator[None]:
    """Skip where an engine is missing; let pass what engines warn of as they start and stop."""
    if name in ("dask", "ray"):
        pytest.importorskip("distributed" if name == "dask" else name)
    with warnings.catch_warnings():
        if name in ("dask", "ray"):
            for kind in (ResourceWarning, FutureWarning, DeprecationWarning):
                warnings.simplefilter("ignore", kind)
        yield


def _by_run(frame: pd.DataFrame) -> pd.DataFrame:
    words = [c for c in frame.columns if c not in ("value", "repeat")]
    plain = frame.astype(dict.fromkeys(words, "object"))
    return plain.sort_values([*RUN, "metric"], ignore_index=True)


def same_frame(a: pd.DataFrame, b: pd.DataFrame) -> None:
    """Assert that two result frames hold the same rows, bit for bit, in whatever order."""
    pd.testing.assert_frame_equal(_by_run(a), _by_run(b), check_exact=True)
