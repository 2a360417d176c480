"""Write all records of a store to one compact file: :mod:`isonomy.study.results` reads it."""

import json
import os
import platform
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from isonomy._files import replacing, sql_name, sql_text, write_text
from isonomy.data.fetch import sha256_of
from isonomy.errors import InputError
from isonomy.store.store import Store
from isonomy.store.views import ORDER
from isonomy.study.derive import SEPARATOR, derivable, derive_metrics, how_drawn, named
from isonomy.study.results import (
    FORMAT,
    SPLIT,
    TIMES,
    WITNESS,
    WRITTEN,
    manifest_sum,
    read_manifest,
)
from isonomy.study.spec import Study
from isonomy.study.versions import LIBRARIES, machine_kind

TABLE = ("<!-- results -->", "<!-- end of results -->")
"""What stands around the table of all files in a README.md beside them."""

_TRIAL = ["dataset", "attributes", "model", "repeat"]
_FOLDERS = r"""(^|[\s'"(=])(?:[A-Za-z]:)?[/\\](?:[^/\\\s'"]+[/\\])+"""


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
    text = json.dumps({**manifest, "crc32": manifest_sum(manifest)}, indent=1, ensure_ascii=False)
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
    trials = pd.Series([*runs[_TRIAL].itertuples(index=False, name=None)], index=runs.index)
    witness = drawn.notna() & trials.isin(trials[drawn.notna()].head(1))
    written |= (witness.to_numpy()[:, None]) & (np.array(metrics) == WITNESS)
    marks = pd.DataFrame({"seq": runs["seq"], "drawn": drawn, "witness": witness})
    marks["computed"] = np.array(texts, dtype=object)[which.ravel()]
    return marks, [m for m, some in zip(metrics, written.any(axis=0), strict=True) if some]


def _select(connection: duckdb.DuckDBPyConnection, written: list[str]) -> str:
    """Write the query whose answer is the file."""
    whole = connection.execute(
        "select bool_and(n = n::bigint[]::double[]) from snapshot"
    ).fetchall()
    shorter = {
        c: f"regexp_replace({c}, {sql_text(_FOLDERS)}, '\\1.../', 'g')"
        for c in ("reason", "warnings")
    }
    shorter |= {c: f"round(1e6 * {c})::bigint" for c in TIMES}
    columns = [f"{shorter[c]} as {c}" if c in shorter else c for c in WRITTEN]
    columns += [f"array_to_string(measured, '{SEPARATOR}') as measured", "computed", "drawn"]
    columns += ["cells", "n::integer[] as n" if whole[0][0] else "n", "w", "w2"]
    columns += [
        f"if(list_contains({SPLIT.format('computed')}, {sql_text(m)})"
        f"{' and not witness' if m == WITNESS else ''}, null, {sql_name(m)}) as {sql_name(m)}"
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
