"""Networks of one shape side by side on an accelerator: what `isonomy.networks` does on a processor.

    python benchmarks/accelerator.py        where torch has CUDA: writes benchmarks/accelerator.csv

A graph of CUDA holds some steps of all networks at once, so that launching costs nothing; what
changes from step to step (rows, and the factors of Nadam) lies in tensors that it reads. Rows are
drawn, as many and with as many columns as a training set of each task of the 17-method study: time
depends on nothing else.
"""

import csv
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from isonomy.networks.blocks import BETA1, BETA2, EPSILON, MOMENTUM_DECAY
from isonomy.networks.stack import Batches, Lesson, Stack

__all__ = ["FILE", "SHAPES", "lessons", "train_on"]

FILE = Path(__file__).with_suffix(".csv")
SHAPES = {  # rows, columns, share of numbers that are not 0, repeats
    "german": (700, 58, 0.31, 50),
    "compas": (4316, 401, 0.013, 50),
    "adult": (31655, 98, 0.11, 10),
    "bank": (21341, 57, 0.33, 10),
    "meps": (11081, 138, 0.29, 10),
}
SETS = 6
"""Networks of one shape per repeat: without mitigation, LFR, RW, DIR, Fair-SMOTE, the baseline."""
STEPS = 20
VECTORS = ("flat", "slope", "mean", "square", "room", "penalty")


def factors(steps: int, rate: float) -> np.ndarray:
    """Give what Nadam adds to the root, its ratio of momentum to gradient, and the length of a step."""
    t = np.arange(1, steps + 1)
    now, after = (BETA1 * (1.0 - 0.5 * 0.96 ** (s * MOMENTUM_DECAY)) for s in (t, t + 1))
    product = np.cumprod(now)
    scale = np.sqrt(1.0 - BETA2**t)
    along, ahead = (1.0 - now) / (1.0 - product), after / (1.0 - product * after)
    return np.column_stack([EPSILON * scale, ahead / along, -rate * along * scale])


def train_on(
    torch: Any,
    device: str,
    hidden: Sequence[int],
    given: Sequence[Lesson],
    *,
    batch: int,
    n_epochs: int,
) -> list[list[np.ndarray]]:
    """Train one network by lesson with Nadam at its default rate; lessons have equally many rows."""
    rate, count = 0.001, len(given)
    rows, outputs = given[0].rows.shape, given[0].target.shape[1]
    generators = [torch.Generator().manual_seed(lesson.seed) for lesson in given]
    stack = Stack(torch, [rows[1], *hidden, outputs], generators, batch=batch, optimizer="nadam")
    batches = [
        Batches(torch, lesson, generator, batch=batch, n_epochs=n_epochs)
        for lesson, generator in zip(given, generators, strict=True)
    ]
    p, steps = stack.parameters, batches[0].steps
    for name in VECTORS:
        setattr(p, name, getattr(p, name).to(device))
    table = torch.cat([one.table.to(device) for one in batches])
    order = torch.stack([one.order.view(-1) for one in batches]).to(device)
    order += torch.arange(count, dtype=torch.int32, device=device)[:, None] * (rows[0] + 1)
    share = batches[0].share.to(device)
    factor = torch.from_numpy(factors(steps, rate).astype(np.float32)).to(device)
    with torch.device(device):
        stack.keep(count)
        drawn = torch.zeros(count, STEPS, batch, table.shape[1])
        part = torch.zeros(STEPS, 3)
    x, y, w = drawn.split([rows[1] + 1, outputs, 1], dim=3)
    y, w = y.transpose(2, 3), w.transpose(2, 3)

    def step(k: int) -> None:
        stack.gradient(x[:, k], y[:, k], w[:, k])
        p.mean.lerp_(p.slope, 1.0 - BETA1)
        p.square.mul_(BETA2).addcmul_(p.slope, p.slope, value=1.0 - BETA2)
        torch.sqrt(p.square, out=p.room)
        p.room.add_(part[k, 0])
        p.slope.addcmul_(p.mean, part[k, 1]).mul_(part[k, 2])
        p.flat.addcdiv_(p.slope, p.room)

    def draw(first: int) -> None:
        last = min(first + STEPS, steps)
        index = order[:, first * batch : last * batch]
        drawn[:, : last - first] = table[index].view(count, last - first, batch, -1)
        drawn[:, : last - first, :, -1] *= share[first:last]
        part[: last - first] = factor[first:last]

    def some() -> None:
        for k in range(STEPS):
            step(k)

    if device == "cuda":
        first, side = p.flat.clone(), torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):  # libraries set themselves up before the capture
            step(0)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            some()
        p.flat.copy_(first)
        p.mean.zero_()
        p.square.zero_()
        some = graph.replay
    whole = steps - steps % STEPS
    for first in range(0, whole, STEPS):
        draw(first)
        some()
    if whole < steps:
        draw(whole)
    for k in range(steps - whole):
        step(k)
    for name in VECTORS:
        setattr(p, name, getattr(p, name).cpu())
    stack.keep(count)
    return [stack.layers(k) for k in range(count)]


def lessons(task: str, count: int) -> list[Lesson]:
    """Draw rows of the shape of a task, with weights for every second network."""
    n, columns, share, _ = SHAPES[task]
    rng = np.random.default_rng(0)
    rows = (rng.random((n, columns)) < share).astype(np.float32)
    score = rows @ rng.normal(size=columns) + rng.normal(size=n)
    target = (score > np.median(score)).astype(np.float32)[:, None]
    return [
        Lesson(rows, target, rng.uniform(0.5, 2.0, n).astype(np.float32) if k % 2 else None, k)
        for k in range(count)
    ]


def main() -> None:
    import torch

    from isonomy.networks import NETWORKS, quick_torch

    with FILE.open("w", newline="") as stream, quick_torch(torch):
        out = csv.writer(stream, lineterminator="\n")
        out.writerow(["task", "network", "networks", "seconds", "device", "torch"])
        for task, (*_, repeats) in SHAPES.items():
            for network in ("dl", "dl2", "dl3", "dl4"):
                given = lessons(task, repeats * SETS)
                train = partial(train_on, torch, "cuda", NETWORKS[network]["hidden"], batch=32)
                train(given[:SETS], n_epochs=1)  # the first call loads libraries
                started = time.perf_counter()
                train(given, n_epochs=20)
                took = round(time.perf_counter() - started, 2)
                words = torch.cuda.get_device_name(), torch.__version__
                out.writerow([task, network, len(given), took, *words])


if __name__ == "__main__":
    main()
