"""The store of a study with a million records, and what a second worker process brings.

Wall-clock seconds for the workers: run it on an idle machine.
"""

import resource
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import duckdb
from table import Row, faster, under
from timing import cpu_seconds

__all__ = ["TITLE", "rows"]

TITLE = "Part 7: the store and the workers"
RECORDS = 1_000_000
TRIALS = 8


def _million(folder: Path):
    """Make a store of a million records from those of real trials, each with a key of its own."""
    from isonomy.store import Store
    from isonomy.store.log import begin_log, put_in_force
    from isonomy.study import Study, plan, run_trial

    study = Study(
        "large",
        ["synthetic(n=1000)/group"],
        ["lr", "nb"],
        ["unmitigated", "reweighing", "disparate_impact_remover", "equalized_odds"],
        repeats=25,
    )
    store = Store.create(folder, study.name, study.toml())
    records = [r for trial in plan(study) for r in run_trial(study, trial)]
    with store.writer() as writer:
        for start in range(0, len(records), 8):
            writer.append(records[start : start + 8])
        writer.compact()
    shard = next((folder / "parts").glob("*.parquet"))
    partial = folder / "parts" / "shard.part"
    times = RECORDS // len(records) - 1
    # eight shards more, put in force as the writer does it
    for part in range(8):
        duckdb.sql(
            f"""copy (
              select * replace (
                seq + {len(records)} * copy as seq,
                substr(md5(key || '/' || copy), 1, 32) as key,
                repeat + 25 * copy as repeat,
                accuracy * (0.9 + 0.1 * random()) as accuracy,
                mcc * random() as mcc,
                statistical_parity_difference * random() as statistical_parity_difference)
              from '{shard}', range({part * times // 8 + 1}, {(part + 1) * times // 8 + 1}) t(copy)
            ) to '{partial}' (format parquet, compression zstd)"""
        )
        begin_log(partial.parent, part + 3)
        put_in_force(partial, part + 2, part + 2)
    return records


def _opened(folder: Path) -> int:
    from isonomy.store import Store

    return len(Store.open(folder).keys())


def _appended(folder: Path, records) -> None:
    from isonomy.store import Store

    store = Store.create(folder, "large")
    with store.writer() as writer:
        for trial in range(50):
            writer.append(replace(r, key=f"{r.key}-{trial}") for r in records[:51])


def _seconds(workers: int) -> float:
    """Give the wall time of the trials on a local Dask cluster that is warm."""
    from distributed import LocalCluster

    from isonomy.study import Study, plan
    from isonomy.study.backends import make_backend
    from isonomy.study.run import Job, RunJob

    study = Study(
        "load",
        ["synthetic(n=6000)/group"],
        ["lr", "rf"],
        ["unmitigated", "reweighing", "disparate_impact_remover"],
        repeats=TRIALS + 2 * workers,
    )
    from isonomy.study import keys

    jobs = [Job(trial, frozenset(keys(study, trial))) for trial in plan(study)]
    with LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", memory_limit=0
    ) as cluster:
        backend = make_backend("dask", scheduler=cluster.scheduler_address)
        list(backend.run(RunJob(study), jobs[TRIALS:]))  # imports and data: start-up
        start = time.perf_counter()
        found = list(backend.run(RunJob(study), jobs[:TRIALS]))
        wall = time.perf_counter() - start
    assert all(isinstance(result, list) for _, result in found)
    return wall


def rows() -> list[Row]:
    out = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        records = _million(folder / "large")
        size = sum(p.stat().st_size for p in (folder / "large" / "parts").iterdir()) / 2**20
        start = time.perf_counter()
        count = _opened(folder / "large")
        wall = time.perf_counter() - start
        assert count == RECORDS
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        note = f"with the keys that a resume compares; {size:,.0f} MB on disk, {peak:,.0f} MB held"
        job = f"opening a store of {RECORDS:,} records"
        out.append(under(job, "-", 1000 * wall, None, 2000, "ms", note))
        from isonomy.store import Store

        store = Store.open(folder / "large")
        store.keys()
        sql = "select mitigator, model, avg(accuracy), avg(mcc) from runs group by all"
        ours, _ = cpu_seconds(lambda: store.query(sql), repeat=3)
        job = "SQL: two means by method and model over all of them"
        out.append(under(job, "-", 1000 * ours, None, None, "ms", "CPU"))
        start = time.perf_counter()
        _appended(folder / "small", records)
        wall = (time.perf_counter() - start) / 50
        note = "metrics and joint counts of one trial, on the disk when it returns"
        out.append(
            under("appending a batch of 51 records", "-", 1000 * wall, None, None, "ms", note)
        )
    one, two = _seconds(1), _seconds(2)
    note = f"{TRIALS} trials, local Dask cluster, start-up excluded, wall time"
    out.append(faster("two worker processes", "one worker process", two, one, 1.7, note))
    return out
