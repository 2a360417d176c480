"""Part 1: metrics, intervals, neighbours, and an audit of a file too large for memory."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from fairlearn import metrics as fl
from peers import measure, one_thread
from sklearn.metrics import accuracy_score, precision_score
from table import Row, faster, under, within
from timing import PEAK, cpu_seconds

import isonomy
from isonomy.metrics import Counts, get_metric

__all__ = ["TITLE", "rows"]

TITLE = "Part 1: metrics and audit"

SIX = [
    get_metric(name)
    for name in (
        "statistical_parity_difference",
        "equal_opportunity_difference",
        "false_positive_rate_difference",
        "false_negative_rate_difference",
        "accuracy_difference",
        "precision_difference",
    )
]
THEIR_SIX = {
    "selection_rate": fl.selection_rate,
    "tpr": fl.true_positive_rate,
    "fpr": fl.false_positive_rate,
    "fnr": fl.false_negative_rate,
    "accuracy": accuracy_score,
    "precision": precision_score,
}


def predictions(n: int = 9000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw labels, predictions and a group as text, in the proportions of Adult."""
    rng = np.random.default_rng(0)
    s = rng.random(n) < 0.67
    y = (rng.random(n) < np.where(s, 0.31, 0.11)).astype(int)
    p = np.where(rng.random(n) < 0.85, y, rng.random(n) < np.where(s, 0.3, 0.1)).astype(int)
    return y, p, np.where(s, "Male", "Female")


def _ours(y: np.ndarray, p: np.ndarray, sex: np.ndarray) -> list[float]:
    counts = Counts.from_labels(y, p, sensitive_features=sex, privileged="Male")
    return [metric(counts) for metric in SIX]


def _six() -> list[Row]:
    y, p, sex = predictions()
    ours, values = cpu_seconds(lambda: _ours(y, p, sex), repeat=9)

    def frame() -> Any:
        made = fl.MetricFrame(metrics=THEIR_SIX, y_true=y, y_pred=p, sensitive_features=sex)
        return made.difference()

    theirs, difference = cpu_seconds(frame, repeat=5)
    same = np.abs(np.abs(values) - difference.to_numpy()).max()
    aif, given = measure(
        "aif360", "six_metrics", {"y": y, "p": p, "s": (sex == "Male").astype(int)}, repeat=9
    )
    # AIF360 has the error and the false discovery rate: minus the accuracy's and precision's gap.
    also = np.abs(values - given["values"] * [1, 1, 1, 1, -1, -1]).max()
    job = "six group metrics, 9,000 rows, groups as text"
    return [
        faster(job, "fairlearn MetricFrame", ours, theirs, 50, _agree(same)),
        faster(job, "AIF360", ours, aif, 1, _agree(also) + "; AIF360's groups already numbers"),
    ]


def _bootstrap() -> list[Row]:
    y, p, sex = predictions()

    def call() -> list[np.ndarray]:
        counts = Counts.from_labels(y, p, sensitive_features=sex, privileged="Male")
        drawn = counts.resample(100, random_state=0)
        return [np.quantile(metric(drawn), [0.025, 0.975]) for metric in SIX]

    ours, bands = cpu_seconds(call, repeat=9)

    def frame() -> Any:
        made = fl.MetricFrame(
            metrics=THEIR_SIX,
            y_true=y,
            y_pred=p,
            sensitive_features=sex,
            n_boot=100,
            ci_quantiles=[0.025, 0.975],
            random_state=0,
        )
        return made.difference_ci()

    theirs, ends = cpu_seconds(frame, repeat=1)
    widest = max(
        abs(np.ptp(np.abs(band)) - abs(high - low))
        for band, low, high in zip(bands, *(end.to_numpy() for end in ends), strict=True)
    )
    return [
        faster(
            "the same with 100 bootstrap resamples",
            "fairlearn MetricFrame(n_boot=100)",
            ours,
            theirs,
            5000,
            f"widths of the intervals differ by {widest:.3f} at most",
        )
    ]


def adult_like(n: int = 9000) -> tuple[np.ndarray, np.ndarray]:
    """Draw one-hot rows like Adult's, 98 columns with duplicates and ties, and predictions."""
    rng = np.random.default_rng(1)
    numbers = np.column_stack(
        [
            np.clip(np.rint(22 + 13 * rng.standard_normal(n)), 0, 73) / 73,
            np.clip(np.rint(9 + 2.5 * rng.standard_normal(n)), 0, 15) / 15,
            np.where(rng.random(n) < 0.47, 39, np.clip(rng.normal(39, 12, n), 0, 97) // 1) / 97,
            np.where(rng.random(n) < 0.92, 0, rng.integers(1, 100, n)) / 100,
        ]
    )
    parts = [numbers]
    for levels in (7, 16, 7, 14, 6, 5, 2, 37):
        codes = np.minimum(rng.geometric(0.6, n) - 1, levels - 1)
        parts.append((codes[:, None] == np.arange(levels)).astype(float))
    X = np.hstack(parts)
    predicted = numbers @ [1.0, 1.5, 0.5, 2.0] + 0.4 * X[:, 4] > 1.75
    return X, predicted.astype(int)


def _neighbours() -> list[Row]:
    X, p = adult_like()
    metric = get_metric("consistency")
    ours, value = cpu_seconds(lambda: metric(X, p), repeat=3)
    theirs, given = measure("aif360", "consistency", {"X": X, "p": p}, repeat=2)
    gap = abs(value - float(given["values"].ravel()[0]))
    note = f"{value:.5f}; differs by {gap:.1e} (ties: ours averages, AIF360 takes the first met)"
    return [
        faster(
            f"consistency (5-NN), {X.shape[0]:,} × {X.shape[1]}", "AIF360", ours, theirs, 10, note
        )
    ]


# ------------------------------------------------------------------ a file larger than memory

GROUP_BY = """
import json, sys, time
import duckdb
path = sys.argv[1]
connection = duckdb.connect()
connection.execute("SET enable_progress_bar = false")
start = time.process_time()
found = connection.execute(
    f"SELECT sex, race, y_true, y_pred, count(*) FROM read_parquet('{path}') GROUP BY ALL"
).fetchall()
print(json.dumps([time.process_time() - start, peak(), sum(row[-1] for row in found)]))
"""

AUDIT = """
import json, sys, time
import duckdb
from isonomy.audit import audit_file
import isonomy.metrics.query
start = time.process_time()
found = audit_file(
    sys.argv[1], label="y_true", prediction="y_pred", sensitive_features=["sex", "race"],
    privileged={"sex": "Male", "race": "White"}, intersections=True,
)
seconds = time.process_time() - start
assert any(f.low is not None for f in found.metrics)
print(json.dumps([seconds, peak(), int(found.counts.n.sum())]))
"""


def _process(program: str, path: Path) -> tuple[float, float, float, float]:
    """Run a program in a process of its own: seconds of the call and of all of it, MB, rows."""
    command = [sys.executable, "-c", PEAK + program, str(path)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, env=one_thread(), text=True)
    assert child.stdout is not None
    text = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise RuntimeError(f"exit code {child.returncode} from:\n{program}")
    seconds, megabytes, n = json.loads(text)
    return seconds, usage.ru_utime + usage.ru_stime, megabytes, n


def write_parquet(path: Path, n: int) -> None:
    """Let DuckDB write predictions with two protected attributes, drawn from a hash of the row."""
    with duckdb.connect() as connection:
        connection.execute(f"""
            COPY (
                SELECT
                    CASE WHEN h % 1000 < 670 THEN 'Male' ELSE 'Female' END AS sex,
                    ['White', 'Black', 'Asian', 'Amerindian', 'Other'][
                        CASE WHEN r < 855 THEN 1 WHEN r < 951 THEN 2 WHEN r < 982 THEN 3
                             WHEN r < 992 THEN 4 ELSE 5 END] AS race,
                    CAST(h2 % 1000 < (CASE WHEN h % 1000 < 670 THEN 310 ELSE 110 END) AS TINYINT)
                        AS y_true,
                    CAST((h2 + h3 // 5) % 1000 < (CASE WHEN h % 1000 < 670 THEN 290 ELSE 90 END)
                        AS TINYINT) AS y_pred
                FROM (
                    SELECT hash(i) AS h, hash(i + 1000000007) % 1000 AS r,
                        hash(i + 2000000011) AS h2, hash(i + 3000000019) % 1000 AS h3
                    FROM range({n}) AS t(i)
                )
            ) TO '{path}' (FORMAT parquet)
        """)


def _file() -> list[Row]:
    n, note = 100_000_000, ""
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if free < 3e9:
        n = 10_000_000
        note = f"only {free / 1e9:.1f} GB of disk free: {n:,} rows instead of 100 million; "
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "predictions.parquet"
        write_parquet(path, n)
        note += f"{path.stat().st_size / 1e6:,.0f} MB file"
        ours, bare = [], []
        for _ in range(3):  # by turns, so that both meet the same neighbours on the machine
            bare.append(_process(GROUP_BY, path))
            ours.append(_process(AUDIT, path))
    if any(run[3] != n for run in ours + bare):
        raise RuntimeError("a side did not count all rows")
    best = [min(runs) for runs in zip(*ours, strict=True)]
    base = [min(runs) for runs in zip(*bare, strict=True)]
    most = max(run[2] for run in ours)
    job = f"whole audit of {n:,} rows, two attributes and their intersections, with intervals"
    peer = "DuckDB's bare GROUP BY"
    return [
        within(job, peer, best[0], base[0], 1.2, note),
        under("its peak memory", peer, most, base[2], 500, "MB"),
        within("the same, imports and all of the process counted", peer, best[1], base[1]),
    ]


def _many_groups() -> list[Row]:
    """Audit the intersections of two attributes of 100 values, each set against a privileged one."""
    n, most = 500_000, 5.0
    rng = np.random.default_rng(0)
    y, first, second = rng.integers(0, 2, n), rng.integers(0, 100, n), rng.integers(0, 100, n)
    yhat = np.where(rng.random(n) < 0.8, y, 1 - y)
    started = time.process_time()
    found = isonomy.audit(
        y,
        yhat,
        sensitive_features={"first": first, "second": second},
        privileged={"first": 0, "second": 0},
        intersections=True,
    )
    seconds = time.process_time() - started
    job = f"audit of 10,000 intersections with a privileged group, {n:,} rows"
    note = f"{len(found.comparisons):,} single comparisons"
    return [under(job, "-", seconds, None, most, "CPU s", note)]


def _agree(gap: float) -> str:
    return f"values agree to {gap:.0e}" if gap < 1e-9 else f"VALUES DIFFER by {gap:.1e}"


def rows() -> list[Row]:
    """Measure every line of Part 1."""
    steps: list[Callable[[], list[Row]]] = [_six, _bootstrap, _neighbours, _many_groups, _file]
    return [row for step in steps for row in step()]
