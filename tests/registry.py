"""Real datasets for tests: fetched at most once, skipped where no registry can be reached."""

import functools
from typing import Any

import pytest

from isonomy.data import Dataset, load
from isonomy.errors import DataUnavailable


@functools.cache
def _load(name: str, options: tuple[tuple[str, Any], ...]) -> Dataset | DataUnavailable:
    try:
        return load(name, **dict(options))
    except DataUnavailable as error:
        return error


def real(name: str, **options: Any) -> Dataset:
    """Load a dataset from the cache or the registry, or skip the test that asks for it."""
    found = _load(name, tuple(sorted(options.items())))
    if isinstance(found, DataUnavailable):
        pytest.skip(f"{name} is not in the cache and no registry can be reached: {found}")
    return found
