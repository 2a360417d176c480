"""Results that travel: all records of a study in one compact file, which is only read.

``NAME.parquet`` holds the records, ``NAME.json`` says of what: study, versions, machine, CPU time,
and the checksum by which the file is known to be whole. Values that follow from the joint counts
are not written; they are computed when the file is opened. At the time of writing every one of
them is computed, too, and written all the same unless it is equal to the last bit. Times are
rounded to microseconds.
"""

import json
import os
import platform
import re
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import duckdb
import numpy as np
import pandas as pd

import isonomy
from isonomy._files import replacing, sql_name, sql_text, write_text
from isonomy._validate import listed
from isonomy.data.fetch import sha256_of
from isonomy.errors import InputError, VersionChangeWarning
from isonomy.store.record import RUN_FIELDS
from isonomy.store.store import Store
from isonomy.store.views import ORDER, FixedViews, Views
from isonomy.store.writer import Writer
from isonomy.study.derive import SEPARATOR, derivable, derive_metrics, how_drawn, named
from isonomy.study.spec import Study
from isonomy.study.versions import LIBRARIES, machine_kind

FORMAT = 1
"""Version of the file's layout; a file of another one is refused."""

TABLE = ("<!-- results -->", "<!-- end of results -->")
"""What stands around the table of all files in a README.md beside them."""

_WRITTEN = [name for name in RUN_FIELDS if name not in ("study", "host")]
_TEXTS, _TIMES = ("reason", "warnings"), ("seconds", "cpu", "fit_cpu")
_TRIAL = ["dataset", "attributes", "model", "repeat"]
_WITNESS = "accuracy"  # of one baseline it is written, too: a later NumPy may draw otherwise
_NEEDED = "dataset, attributes, model, mitigator, repeat, cells, n, w, w2"
_SPLIT = "if({0} = '', [], string_split({0}, '" + SEPARATOR + "'))"
_FOLDERS = r"""(^|[\s'"(=])(?:[A-Za-z]:)?[/\\](?:[^/\\\s'"]+[/\\])+"""


class Results(Store):
    """The records of a study in one compact file; they can be read, queried and merged.

    Parameters
    ----------
    path : path
        ``NAME.parquet`` as :func:`export_results` wrote it, with ``NAME.json`` beside it.

    Examples
    --------
    >>> import tempfile
    >>> from isonomy.study import run
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
        if _WITNESS in held and _WITNESS in metrics:
            self._compare_draws(connection)
        columns = [f"{sql_text(self.name)} as study", "'' as host"]
        columns += [f"{c} / 1e6 as {c}" if c in _TIMES else c for c in _WRITTEN]
        columns += [f"{_SPLIT.format('measured')} as measured", "cells", "n::double[] as n"]
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
        both = f"from packed join derived using (seq) where packed.{_WITNESS} <> derived.{_WITNESS}"
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
    if crc32 != _sum(manifest):
        raise InputError(
            f"{str(beside)!r} must be as it was written; it has been damaged or edited since: "
            "restore it from a copy."
        )
    return manifest


def _sum(manifest: dict[str, Any]) -> str:
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
        package = Path(isonomy.__file__).resolve().parent
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


# ---- writing ------------------------------------------------------------------------------------


def export_results(store: Store, folder: str | os.PathLike[str]) -> Path:
    """Write all records of a store to ``NAME.parquet`` and ``NAME.json`` in a folder.

    Names of machines are left out, and folders from the paths in reasons and warnings. If the
    folder has a README.md with the lines of :data:`TABLE`, the table of all results between them
    is written anew.

    Returns
    -------
    path
        The Parquet file.
    """
    target = Path(folder) / f"{store.name}.parquet"
    connection = store.views.connection
    store.views.query(
        f"create or replace table snapshot as select * replace (row_number() over (order by "
        f"{ORDER}) - 1 as seq) from live order by {ORDER}"
    )
    runs = connection.execute("from snapshot order by seq").df()
    if runs.empty:
        raise InputError(
            f"Results must hold records; {str(store.path)!r} holds none: run it first."
        )
    metrics = list(store.views.metrics)
    marks, written = _mark(Study.from_toml(store.spec) if store.spec else None, runs, metrics)
    connection.register("marked", marks)
    connection.execute("create or replace table marks as from marked")
    connection.unregister("marked")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{str(folder)!r} cannot be made: {error.strerror}.") from None
    options = "format parquet, compression zstd, compression_level 22"
    with replacing(target) as partial:
        try:
            connection.execute(
                f"copy ({_select(connection, written)}) to {sql_text(partial)} ({options})"
            )
        except duckdb.IOException as error:
            raise OSError(None, str(error)) from None
    manifest = _manifest(store, runs, target, metrics)
    text = json.dumps({**manifest, "crc32": _sum(manifest)}, indent=1, ensure_ascii=False)
    write_text(target.with_suffix(".json"), text + "\n")
    _write_table(target.parent)
    return target


def _mark(
    study: Study | None, runs: pd.DataFrame, metrics: list[str]
) -> tuple[pd.DataFrame, list[str]]:
    """Return what is to be computed for each run, and the metrics of which values are written."""
    measured = runs["measured"].map(SEPARATOR.join)
    drawn = pd.Series(None, index=runs.index, dtype=object)
    if study is not None and "selection_rate" in metrics:
        drawn = how_drawn(study, runs)
    known = {text: derivable(text) for text in measured.unique()}
    point = runs["mitigator"].str.startswith("mutation(")
    may = np.where(point, drawn.notna(), runs["cells"].notna())
    computed = measured.map(known).where(may, "")
    stored = runs[metrics].to_numpy(dtype=np.float64)
    found = derive_metrics(runs.assign(drawn=drawn, computed=computed), metrics)
    equal = (stored.view(np.int64) == found.view(np.int64)) | (np.isnan(stored) & np.isnan(found))
    equal &= named(computed, metrics)
    written = named(measured, metrics) & ~equal & ~np.isnan(stored)
    # few runs differ in what is computed for them
    kinds, which = np.unique(equal, axis=0, return_inverse=True)
    texts = [SEPARATOR.join(np.array(metrics, dtype=object)[kind]) for kind in kinds]
    first = runs.loc[drawn.notna(), _TRIAL].head(1)
    witness = drawn.notna() & pd.MultiIndex.from_frame(runs[_TRIAL]).isin(
        first.itertuples(index=False)
    )
    written |= (witness.to_numpy()[:, None]) & (np.array(metrics) == _WITNESS)
    marks = pd.DataFrame({"seq": runs["seq"], "drawn": drawn, "witness": witness})
    marks["computed"] = np.array(texts, dtype=object)[which.ravel()]
    return marks, [m for m, some in zip(metrics, written.any(axis=0), strict=True) if some]


def _select(connection: duckdb.DuckDBPyConnection, written: list[str]) -> str:
    """Write the query whose answer is the file."""
    whole = connection.execute(
        "select bool_and(n = n::bigint[]::double[]) from snapshot"
    ).fetchall()
    shorter = {c: f"regexp_replace({c}, {sql_text(_FOLDERS)}, '\\1.../', 'g')" for c in _TEXTS}
    shorter |= {c: f"round(1e6 * {c})::bigint" for c in _TIMES}
    columns = [f"{shorter[c]} as {c}" if c in shorter else c for c in _WRITTEN]
    columns += [f"array_to_string(measured, '{SEPARATOR}') as measured", "computed", "drawn"]
    columns += ["cells", "n::integer[] as n" if whole[0][0] else "n", "w", "w2"]
    columns += [
        f"if(list_contains({_SPLIT.format('computed')}, {sql_text(m)})"
        f"{' and not witness' if m == _WITNESS else ''}, null, {sql_name(m)}) as {sql_name(m)}"
        for m in written
    ]
    return f"select {', '.join(columns)} from snapshot join marks using (seq) order by seq"


def _manifest(store: Store, runs: pd.DataFrame, file: Path, metrics: list[str]) -> dict[str, Any]:
    spec, versions = store.spec, store.versions
    if spec:
        study = Study.from_toml(spec)
        sources = tuple(replace(s, path=Path(s.path).name) for s in study.sources)
        spec = replace(study, sources=sources).toml() if sources else spec
    machines = {v["machine"] for v in versions if "machine" in v}
    if set(runs["host"]) == {platform.node() or os.name}:
        machines.add(machine_kind())
    return {
        "isonomy_results": FORMAT,
        "study": store.name,
        "records": len(runs),
        "statuses": {str(k): int(v) for k, v in runs["status"].value_counts().items()},
        "repeats": int(runs["repeat"].nunique()),
        "cpu_hours": round(float(runs["cpu"].sum()) / 3600, 4),
        "fit_cpu_hours": round(float(runs["fit_cpu"].sum()) / 3600, 4),
        "machine": ", ".join(sorted(machines)) or "not recorded",
        "versions": versions,
        "bytes": file.stat().st_size,
        "sha256": sha256_of(file),
        "metrics": metrics,
        "spec": spec,
    }


def results_table(folder: str | os.PathLike[str]) -> str:
    """Return what a folder of results holds, as a table in Markdown."""
    lines = ["| study | records | repeats | run with | machine | CPU hours | bytes | SHA-256 |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for file in sorted(Path(folder).glob("*.parquet")):
        held = read_manifest(file)
        versions = held["versions"][-1] if held["versions"] else {}
        shown = ", ".join(f"{n} {versions[n]}" for n in ("python", *LIBRARIES) if n in versions)
        rest = {k: n for k, n in held["statuses"].items() if k != "ok"}
        records = f"{held['records']:,}" + "".join(f", {n:,} of them {k}" for k, n in rest.items())
        lines.append(
            f"| {held['study']} | {records} | {held['repeats']} | {shown} | {held['machine']} | "
            f"{held['cpu_hours']:.2f} | {held['bytes']:,} | `{held['sha256']}` |"
        )
    return "\n".join(lines) + "\n"


def _write_table(folder: Path) -> None:
    readme, (begin, end) = folder / "README.md", TABLE
    whole = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    if begin in whole and end in whole:
        before, after = whole.split(begin, 1)[0], whole.split(end, 1)[1]
        write_text(readme, f"{before}{begin}\n{results_table(folder)}{end}{after}")
