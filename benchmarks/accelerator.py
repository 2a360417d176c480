"""Networks of one shape side by side on an accelerator: what `isonomy.networks.stack` does on a processor.

A graph of CUDA holds some steps of all networks at once, so that launching costs nothing; what
changes from step to step (rows, and the factors of Nadam) lies in tensors that it reads. Needs
NumPy and torch only.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from isonomy.networks.blocks import BETA1, BETA2, EPSILON, MOMENTUM_DECAY
from isonomy.networks.stack import Batches, Lesson, Stack

__all__ = ["train_on"]

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
    lessons: Sequence[Lesson],
    *,
    batch: int,
    n_epochs: int,
) -> list[list[np.ndarray]]:
    """Train one network by lesson with Nadam at its default rate; lessons have equally many rows."""
    rate, count = 0.001, len(lessons)
    rows, outputs = lessons[0].rows.shape, lessons[0].target.shape[1]
    generators = [torch.Generator().manual_seed(lesson.seed) for lesson in lessons]
    stack = Stack(torch, [rows[1], *hidden, outputs], generators, batch=batch, optimizer="nadam")
    batches = [
        Batches(torch, lesson, generator, batch=batch, n_epochs=n_epochs)
        for lesson, generator in zip(lessons, generators, strict=True)
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

    kept = {name: getattr(p, name).clone() for name in VECTORS}
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):  # libraries set themselves up before the capture
        step(0)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for k in range(STEPS):
            step(k)
    for name, value in kept.items():
        getattr(p, name).copy_(value)
    whole = steps - steps % STEPS
    for first in range(0, whole, STEPS):
        draw(first)
        graph.replay()
    draw(whole)
    for k in range(steps - whole):
        step(k)
    p.flat = p.flat.cpu()
    stack.weights = stack._matrices(p.flat)
    return [stack.layers(k) for k in range(count)]
