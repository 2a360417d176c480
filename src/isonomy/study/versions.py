"""What a run was made with: versions of Python and libraries, kind of machine, loaders of data."""

import inspect
import platform
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from isonomy._names import parse_name
from isonomy.data.catalog import DATASETS
from isonomy.study.spec import Study

LIBRARIES = ("isonomy", "numpy", "scipy", "scikit-learn", "torch")
"""Packages on which the results of a run depend, where they are installed."""


def machine_kind() -> str:
    """Return the kind of this machine, never its name: another processor may round differently."""
    return f"{platform.system()} {platform.machine()}"


def versions_of(study: Study) -> dict[str, str]:
    """Return the versions that a study would be run with now.

    Loaders of datasets are identified by a checksum of their source text, where they have one.

    Examples
    --------
    >>> study = Study("tiny", ["synthetic(n=400)/group"], ["nb"], ["unmitigated"])
    >>> list(versions_of(study))[:4], list(versions_of(study))[-1]
    (['python', 'isonomy', 'numpy', 'scipy'], 'loader of synthetic')
    """
    found = {"python": platform.python_version()}
    for library in LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            found[library] = metadata.version(library)
    found["machine"] = machine_kind()
    loaded = [task.dataset for task in study.tasks if study.source_of(task.dataset) is None]
    for dataset in sorted({parse_name(name)[0] for name in loaded}):
        entry = DATASETS[dataset]
        assert entry.loader is not None
        # one that was typed at a prompt, or is no plain function, has no file to identify it by
        with suppress(OSError, TypeError):
            source = Path(inspect.getfile(inspect.unwrap(entry.loader)))
            found[f"loader of {entry.name}"] = f"{zlib.crc32(source.read_bytes()):08x}"
    return found


def changed_versions(stored: Sequence[Mapping[str, str]], now: Mapping[str, str]) -> list[str]:
    """Return what differs between the last versions of a store and those of now.

    Examples
    --------
    >>> changed_versions([{"numpy": "2.0.1", "loader of adult": "5f1c9a3e"}], {"numpy": "2.1.0"})
    ['numpy 2.0.1, now 2.1.0']
    """
    before = stored[-1] if stored else {}
    absent = "not installed"
    # a study may grow by datasets: only a loader that was used before can have changed
    names = [n for n in {**before, **now} if (n in before and n in now) or n in LIBRARIES]
    pairs = [(name, before.get(name, absent), now.get(name, absent)) for name in names]
    return [f"{name} {old}, now {new}" for name, old, new in pairs if before and old != new]
