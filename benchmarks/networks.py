"""The four networks of the 17-method study: one at a time, side by side, and on an accelerator.

Six networks of a shape are what a trial fits side by side. The accelerator's seconds are those of
`benchmarks/accelerator.csv` (`python benchmarks/accelerator.py` where there is one), of all repeats
of a task at once; beside them stands what the same networks take on one core here.
"""

import csv

import numpy as np
from accelerator import FILE, SETS, SHAPES, lessons
from table import Row, faster
from timing import cpu_seconds

__all__ = ["TITLE", "rows"]

TITLE = "Part 13: the networks of the 17-method study"
NAMES = ("dl", "dl2", "dl3", "dl4")
EPOCHS = 20
STEPS = 900
"""So many steps are timed at most: every one takes as long."""


def rows() -> list[Row]:
    try:
        import torch
    except ImportError:
        print("The networks need the extra torch.")
        return []
    from isonomy.networks import NETWORKS, quick_torch
    from isonomy.networks.stack import train

    out, side_by_side = [], {}
    for task, (n, columns, _, _) in SHAPES.items():
        given = lessons(task, SETS)
        epochs = int(np.clip(STEPS // -(-n // 32), 1, EPOCHS))
        one = many = 0.0
        equal = True
        for name in NAMES:

            def fit(some, hidden=NETWORKS[name]["hidden"], epochs=epochs):
                return train(torch, hidden, some, batch=32, n_epochs=epochs, optimizer="nadam")

            with quick_torch(torch):
                alone, single = cpu_seconds(lambda: fit(given[:1]), repeat=2)  # noqa: B023
                beside, stacked = cpu_seconds(lambda: fit(given), repeat=2)  # noqa: B023
            one += alone * SETS * EPOCHS / epochs
            many += beside * EPOCHS / epochs
            equal &= all(map(np.array_equal, single[0], stacked[0]))
            side_by_side[task, name] = beside / SETS * EPOCHS / epochs
        job = f"{task}, {n:,} × {columns}: dl to dl4, {SETS} of each, one core"
        note = f"{'equal' if equal else 'UNEQUAL'} weights; {epochs} of {EPOCHS} epochs timed"
        out.append(faster(job, "one at a time", many, one, None, note))
    if FILE.is_file():
        with FILE.open(newline="") as stream:
            measured = list(csv.DictReader(stream))
        for task in SHAPES:
            lines = [line for line in measured if line["task"] == task]
            count = int(lines[0]["networks"])
            seconds = sum(float(line["seconds"]) for line in lines)
            cpu = sum(side_by_side[task, line["network"]] * count for line in lines)
            job = f"{task}: dl to dl4, {count} of each, {lines[0]['device']}"
            note = f"wall seconds, torch {lines[0]['torch']}; the peer's extrapolated from 6"
            out.append(faster(job, "side by side, one core", seconds, cpu, None, note))
    return out
