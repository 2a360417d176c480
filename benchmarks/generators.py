"""Part 8: our TVAE against the ctgan package's, on 20,000 rows of Adult.

Both fit the same rows for 300 epochs on one thread, set-up included, and draw as many rows as they learnt
from; the quality of both is measured by the same functions on the same test rows. `SEEDS=2` in the
environment makes it shorter.
"""

import importlib.util
import os
import sys
from dataclasses import asdict

import numpy as np
import pandas as pd
from peers import measure
from table import Row, faster, under
from timing import cpu_seconds

from isonomy.data import load
from isonomy.generators import Quality, Tvae, quality

__all__ = ["TITLE", "rows"]

TITLE = "Part 8: generators"
PEER = "ctgan 0.12"
SEEDS = int(os.environ.get("SEEDS", "5"))
EPOCHS, ROWS, TESTED = 300, 20_000, 10_000
LABEL, FAVORABLE = "income", ">50K"
BEST = {"fid": 0.0, "kl": 1.0, "detection": 1.0, "f1_loss": 0.0}


def _adult() -> tuple[pd.DataFrame, pd.DataFrame]:
    data = load("adult")
    frame = data.X.assign(**{LABEL: data.y}).dropna()
    order = np.random.default_rng(0).permutation(len(frame))
    return frame.iloc[order[:ROWS]], frame.iloc[order[ROWS : ROWS + TESTED]]


def _theirs(train: pd.DataFrame, seed: int) -> tuple[float, pd.DataFrame]:
    discrete = [name for name in train if train[name].dtype.kind not in "iuf"]
    arrays = {
        name: train[name].to_numpy(dtype=str) if name in discrete else train[name].to_numpy()
        for name in train
    }
    options = {"columns": list(train), "discrete": discrete, "seed": seed, "epochs": EPOCHS}
    seconds, out = measure("ctgan", "tvae", arrays, repeat=1, **options)
    return seconds, pd.DataFrame({name: out[name] for name in train}).astype(train.dtypes)


def _ours(train: pd.DataFrame, seed: int) -> tuple[float, pd.DataFrame]:
    seconds, fitted = cpu_seconds(
        lambda: Tvae(n_epochs=EPOCHS, random_state=seed).fit(train), repeat=1
    )
    return seconds, fitted.sample(ROWS, seed)


def _words(found: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in found.items())


Measured = dict[str, list[tuple[float, Quality]]]


def summary(measured: Measured) -> list[Row]:
    """Give the lines of the table: seconds, and how far behind the worst number is."""
    seconds = {side: np.mean([taken for taken, _ in runs]) for side, runs in measured.items()}
    mean = {
        side: pd.DataFrame([asdict(mark) for _, mark in runs]).mean().to_dict()
        for side, runs in measured.items()
    }
    behind = max(
        abs(mean["ours"][name] - best) - abs(mean["theirs"][name] - best)
        for name, best in BEST.items()
    )
    job = f"TVAE, Adult {ROWS:,} rows, {EPOCHS} epochs, set-up included"
    seeds = len(measured["ours"])
    note = f"mean of {seeds} seeds; {_words(mean['ours'])}; {PEER}: {_words(mean['theirs'])}"
    return [
        faster(job, PEER, seconds["ours"], seconds["theirs"], 1.5, note),
        under(
            "its quality: how far behind the peer the worst of the four numbers is",
            PEER,
            1000 * behind,
            None,
            20,
            "‰",
            "below 0: nearer to the best value in all four",
        ),
    ]


def rows() -> list[Row]:
    """Fit both sides, some minutes a seed."""
    if importlib.util.find_spec("torch") is None:
        print("generators: needs the extra torch (make .venv/.torch)", file=sys.stderr)
        return []
    import torch  # noqa: F401 - its import is on neither side's clock

    train, test = _adult()
    measured: Measured = {"ours": [], "theirs": []}
    for seed in range(SEEDS):
        for side, fit in (("ours", _ours), ("theirs", _theirs)):
            taken, drawn = fit(train, seed)
            found = quality(train, drawn, label=LABEL, favorable=FAVORABLE, test=test)
            measured[side].append((taken, found))
            print(f"seed {seed} {side} {taken:.1f} s {found}", file=sys.stderr, flush=True)
    return summary(measured)
