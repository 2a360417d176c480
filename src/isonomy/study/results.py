"""Results that travel: all records of a study in one compact file, which is only read.

``NAME.parquet`` holds the records, ``NAME.json`` says of what: study, versions, machine, CPU time,
and the checksum by which the file is known to be whole. Values that follow from the joint counts
are not written; they are computed when the file is opened. At the time of writing every one of
them is computed, too, and written all the same unless it is equal to the last bit. Times are
rounded to microseconds.
"""

import json
import os
import re
import warnings
import zlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import duckdb
import numpy as np
import pandas as pd

from isonomy._files import sql_name, sql_text
from isonomy._validate import listed
from isonomy.data.fetch import sha256_of
from isonomy.errors import InputError, VersionChangeWarning
from isonomy.store.record import RUN_FIELDS
from isonomy.store.store import Store
from isonomy.store.views import FixedViews, Views
from isonomy.store.writer import Writer
from isonomy.study.derive import SEPARATOR, derive_metrics

FORMAT = 1
"""Version of the file's layout; a file of another one is refused."""

WRITTEN = [name for name in RUN_FIELDS if name not in ("study", "host")]
"""Columns of a run that are in the file; names of machines are not."""

TIMES = ("seconds", "cpu", "fit_cpu")
"""Columns in whole microseconds."""

WITNESS = "accuracy"
"""Of one baseline this metric is written although it can be computed: a NumPy may draw otherwise."""

SPLIT = f"if({{0}} = '', [], string_split({{0}}, '{SEPARATOR}'))"
"""A text of names as a list, in SQL."""

_NEEDED = "dataset, attributes, model, mitigator, repeat, cells, n, w, w2"


class Results(Store):
    """The records of a study in one compact file; they can be read, queried and merged.

    Parameters
    ----------
    path : path
        ``NAME.parquet`` as :func:`isonomy.study.export_results` wrote it, with ``NAME.json`` beside it.

    Examples
    --------
    >>> import tempfile
    >>> from isonomy.study import Study, export_results, run
    >>> study = Study("tiny", ["synthetic(n=400)/group"], ["nb"], ["unmitigated"])
    >>> folder = Path(tempfile.mkdtemp())
    >>> run(study, folder / "run").done
    1
    >>> results = Results(export_results(Store(folder / "run"), folder))
    >>> results.manifest["records"], results.spec == study.toml()
    (1, True)
    """

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What ``NAME.json`` says; reading it verifies the file's checksum."""
        manifest = read_manifest(self.path)
        if sha256_of(self.path) != manifest["sha256"]:
            raise InputError(
                f"A file of results must be as it was written; {str(self.path)!r} has been damaged "
                "or replaced since: restore it and its .json from a copy."
            )
        return manifest

    def _header(self) -> dict[str, Any]:
        return self.manifest

    def _open_views(self, *, locked: bool = False) -> Views:
        return FixedViews(self._load, self.manifest["metrics"], locked=locked)

    def frame(
        self, where: str | None = None, *, metrics: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Return the result frame, as :meth:`Store.frame`; of some metrics it is made faster."""
        if metrics is None or where is not None or not set(metrics) <= set(self.metrics):
            return super().frame(where, metrics=metrics)
        return FixedViews(self._load, metrics).frame("", metrics)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of all metrics that a record has."""
        return tuple(self.manifest["metrics"])

    def _load(self, connection: duckdb.DuckDBPyConnection, metrics: Sequence[str]) -> None:
        file = sql_text(re.sub(r"([*?\[])", r"[\1]", str(self.path)))  # a name, not a pattern
        connection.execute(
            "create or replace table packed as select file_row_number as seq, "
            f"* exclude (file_row_number) from read_parquet({file}, file_row_number = true)"
        )
        held = {row[0] for row in connection.execute("describe packed").fetchall()}
        runs = connection.execute(
            f"select {_NEEDED}, computed, drawn from packed order by seq"
        ).df()
        derived = pd.DataFrame(derive_metrics(runs, metrics), columns=list(metrics))
        connection.register("derived", derived.assign(seq=derived.index))
        if WITNESS in held and WITNESS in metrics:
            self._compare_draws(connection)
        columns = [f"{sql_text(self.name)} as study", "'' as host"]
        columns += [f"{c} / 1e6 as {c}" if c in TIMES else c for c in WRITTEN]
        columns += [f"{SPLIT.format('measured')} as measured", "cells", "n::double[] as n"]
        columns += ["w", "w2"]
        for metric in metrics:
            name = sql_name(metric)
            computed = f"if(isnan(derived.{name}), null, derived.{name})"
            written = f"packed.{name}, " if metric in held else ""
            columns.append(f"coalesce({written}{computed}) as {name}")
        connection.execute(
            f"create or replace table stored as select packed.seq, {', '.join(columns)} "
            "from packed join derived using (seq)"
        )
        connection.unregister("derived")
        connection.execute("drop table packed")

    def _compare_draws(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Warn if the points of a mutation baseline are drawn otherwise here."""
        both = f"from packed join derived using (seq) where packed.{WITNESS} <> derived.{WITNESS}"
        if connection.execute(f"select count(*) {both}").fetchall()[0][0]:
            then = (self.versions or [{}])[-1].get("numpy", "another version")
            warnings.warn(
                f"Points of the mutation baseline in {str(self.path)!r} were drawn with NumPy "
                f"{then}; NumPy {np.__version__} draws others, which differ by chance.",
                VersionChangeWarning,
                stacklevel=2,
            )

    def writer(self, *, segment: int | None = None) -> Writer:
        """Raise: the file is only read."""
        self._refuse()

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Raise: the file is only read."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise InputError(
            f"A file of results is only read; {str(self.path)!r} is one: begin a run of your own "
            f"with isonomy study run {self.name} --from {self.path}."
        )


# ---- the manifest -------------------------------------------------------------------------------


def read_manifest(file: Path) -> dict[str, Any]:
    """Return what stands beside a file of results."""
    beside = file.with_suffix(".json")
    for path in (file, beside):
        if not path.is_file():
            raise InputError(
                f"Results are two files, NAME.parquet and NAME.json; {str(path)!r} does not exist: "
                "name another, or copy both."
            )
    try:
        manifest = dict(json.loads(beside.read_text(encoding="utf-8")))
        version, crc32 = manifest["isonomy_results"], manifest.pop("crc32")
    except (ValueError, KeyError, TypeError):
        raise InputError(
            f"{str(beside)!r} must describe results of Isonomy; it does not: name another file."
        ) from None
    if version != FORMAT:
        raise InputError(
            f"The results {str(file)!r} must be of format {FORMAT}; they are of {version!r}: use "
            "the release that wrote them."
        )
    if crc32 != manifest_sum(manifest):
        raise InputError(
            f"{str(beside)!r} must be as it was written; it has been damaged or edited since: "
            "restore it from a copy."
        )
    return manifest


def manifest_sum(manifest: dict[str, Any]) -> str:
    """Return the CRC-32 of what a manifest says."""
    return f"{zlib.crc32(json.dumps(manifest).encode()):08x}"


def find_results(study: str, folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the file of a study's results.

    Parameters
    ----------
    study : str
        Its name.
    folder : path, optional
        Where to look; ``results`` of the repository by default, if the package runs from it.
    """
    if folder is None:
        package = Path(__file__).resolve().parents[1]
        folder = package.parents[1] / "results"
        if package.parent.name != "src" or not folder.is_dir():
            raise InputError(
                "Our results are in the folder results/ of Isonomy's repository, not in the "
                "installed package: name that folder with --results DIR."
            )
    file = Path(folder) / f"{study}.parquet"
    if not file.exists():
        there = sorted(path.stem for path in Path(folder).glob("*.parquet"))
        holds = f"it holds {listed(there)}" if there else "it holds none"
        raise InputError(
            f"There must be results of {study!r} in {str(folder)!r}; {holds}: run the study with "
            f"isonomy study run {study}."
        )
    return file
