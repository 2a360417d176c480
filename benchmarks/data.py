"""Loading data: the first load of MEPS and the second of Adult, next to pandas' plain read_csv.

Each measurement runs in a fresh process with one thread, so that CPU time and peak memory are its
own; imports are not counted. The smallest of a few repeats is reported.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from table import Row, under
from timing import PEAK

__all__ = ["TITLE", "rows"]

TITLE = "Part 2: the datasets"
PEER = "pandas read_csv, plain"
WHEEL = "aif360-0.2.0-py3-none-any.whl"
MEASURE = """
import json, sys, time, warnings, zipfile
import duckdb, pandas as pd
from isonomy.data import load
from isonomy.data.fetch import cache_folder
warnings.simplefilter("ignore")
wheel = cache_folder() / "wheels" / "aif360-0.2.0-py3-none-any.whl"
raw = "aif360/data/raw/"

def ours_meps():
    load("meps")

def peer_meps():
    with zipfile.ZipFile(wheel) as archive, archive.open(raw + "meps/h181.csv") as stream:
        pd.read_csv(stream)

def ours_adult():
    load("adult")

def peer_adult():
    with zipfile.ZipFile(wheel) as archive:
        for name in ("adult.data", "adult.test"):
            with archive.open(raw + "adult/" + name) as stream:
                pd.read_csv(stream, header=None, skipinitialspace=True, na_values="?",
                            skiprows=int(name == "adult.test"))

for _ in range(int(sys.argv[2])):
    globals()[sys.argv[1]]()
cpu = time.process_time()
globals()[sys.argv[1]]()
cpu = time.process_time() - cpu
print(json.dumps({"ms": 1000 * cpu, "MB": peak()}))
"""


def rows(repeats: int = 3) -> list[Row]:
    from isonomy.data import DATASETS
    from isonomy.data.fetch import cache_folder, fetch

    fetch([*DATASETS["meps"].files, *DATASETS["adult"].files])
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "wheels").mkdir()
        (Path(folder) / "wheels" / WHEEL).symlink_to(cache_folder() / "wheels" / WHEEL)
        meps = _best("ours_meps", folder, repeats, empty=True)
        plain_meps = _best("peer_meps", folder, repeats)
        _measure("ours_adult", folder)  # fills the cache
        adult = _best("ours_adult", folder, repeats, before=1)
        plain_adult = _best("peer_adult", folder, repeats, before=1)
        cold = _best("ours_adult", folder, repeats)
        plain_cold = _best("peer_adult", folder, repeats)
    first = "first load of MEPS, 151 MB of CSV in a wheel"
    return [
        under(first, PEER, meps["ms"], plain_meps["ms"], 1500, "ms", "52 of 1,831 columns read"),
        under("its peak memory", PEER, meps["MB"], plain_meps["MB"], 400, "MB"),
        under("second load of Adult, cached", PEER, adult["ms"], plain_adult["ms"], 50, "ms"),
        under(
            "the same as the first thing in a process",
            PEER,
            cold["ms"],
            plain_cold["ms"],
            None,
            "ms",
            "half of it starts DuckDB",
        ),
    ]


def _best(
    what: str, folder: str, repeats: int, *, empty: bool = False, before: int = 0
) -> dict[str, float]:
    runs = []
    for _ in range(repeats):
        if empty:
            for path in (Path(folder) / "tables").glob("*.parquet"):
                path.unlink()
        runs.append(_measure(what, folder, before))
    return min(runs, key=lambda run: run["ms"])


def _measure(what: str, folder: str, before: int = 0) -> dict[str, float]:
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PEAK + MEASURE, what, str(before)],
        env={**os.environ, "ISONOMY_DATA": folder, **threads},
        capture_output=True,
        text=True,
        check=True,
    )
    measured: dict[str, float] = json.loads(done.stdout)
    return measured
