"""What a benchmark of one's own data costs: CPU seconds by method, and memory.

    python benchmarks/run.py product        about 20 minutes of CPU
    python benchmarks/product.py german     one line, printed only

Floors: ten splits of Adult with all methods in 8 CPU minutes, ten of German in 20 CPU seconds, one
million rows of 50 columns with the cheap half of the methods in 10 CPU minutes and 6 GB. A split
of a million rows is a process of its own, so that its memory is its own.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from table import Row, under

__all__ = ["TITLE", "rows"]

TITLE = "Part 10: a benchmark of one's own data"
MILLION = 1_000_000
COLUMNS = 50
JOBS = ("german", "adult", "million")


def _large(folder: Path) -> Path:
    """Write a file of a million rows: numbers, and words with few values."""
    rng = np.random.default_rng(0)
    sex = rng.integers(0, 2, MILLION)
    numbers = rng.normal(size=(MILLION, COLUMNS - 6)).astype(np.float32)
    table = pd.DataFrame(numbers, columns=[f"x{k}" for k in range(numbers.shape[1])])
    for k in range(4):
        table[f"word{k}"] = pd.Categorical.from_codes(
            rng.integers(0, 5, MILLION), list("abcde")
        ).astype(str)
    score = numbers[:, :10].sum(axis=1) / 3 + 0.8 * sex + rng.logistic(size=MILLION)
    table["sex"] = np.where(sex == 1, "m", "f")
    table["good"] = np.where(score > 1, "yes", "no")
    table.to_parquet(folder / "large.parquet")
    return folder / "large.parquet"


def measure(job: str, repeats: int) -> dict[str, object]:
    """Run one benchmark here and return its CPU seconds, megabytes and the costliest methods."""
    import resource

    import isonomy
    from isonomy.store import Store

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        options: dict[str, object] = {"sensitive_features": "age" if job == "german" else "sex"}
        data: str | Path = job
        if job == "million":
            data = _large(folder)
            options |= {"label": "good", "favorable": "yes", "quick": True}
        started = time.process_time()
        result = isonomy.benchmark(
            str(data), repeats=repeats, backend="serial", folder=folder / "runs", **options
        )
        cpu = time.process_time() - started
        runs = [(r.mitigator, r.cpu) for r in Store.open(folder / "runs" / "store").records()]
    spent = pd.DataFrame(runs, columns=["method", "cpu"]).groupby("method").cpu.sum()
    frame = result.frame()
    return {
        "cpu": cpu,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "costliest": spent.nlargest(4).round(1).to_dict(),
        "dropped": frame.loc[frame["word"] == "dropped", "method"].tolist(),
        "chosen": result.recommendation.method,
    }


def _alone(job: str, repeats: int) -> dict[str, object]:
    command = [sys.executable, __file__, job, "--repeats", str(repeats), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _note(found: dict[str, object]) -> str:
    costliest = ", ".join(f"{name} {cpu:g}" for name, cpu in dict(found["costliest"]).items())
    dropped = ", ".join(list(found["dropped"])) or "none"
    return f"chosen: {found['chosen']}; dropped: {dropped}; costliest, s: {costliest}"


def rows() -> list[Row]:
    german, adult = _alone("german", 10), _alone("adult", 10)
    large = _alone("million", 2)
    return [
        under("German, age, 10 splits, all methods", "-", german["cpu"], None, 20, "CPU s", _note(german)),
        under("Adult, sex, 10 splits, all methods", "-", adult["cpu"], None, 480, "CPU s", _note(adult)),
        under("1,000,000 rows, 50 columns, 2 splits, --quick", "-", large["cpu"], None, 600, "CPU s", _note(large)),
        under("its memory", "-", large["megabytes"], None, 6144, "MB"),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("job", choices=JOBS)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = measure(asked.job, asked.repeats)
    print(json.dumps(found) if asked.json else found)


if __name__ == "__main__":
    main()
