"""Networks of one shape trained side by side, in one program.

A step of a small network is some forty calls of torch that compute next to nothing; a step of
eight networks side by side is the same forty calls. Each network has rows, weights of rows and a
seed of its own, and so first weights and an order of rows of its own.

What becomes of a network does not depend on those beside it, to the last bit. For that each matrix
starts at a multiple of 64 bytes, since products of matrices round by where these start, and a short
batch is filled up with rows of zeros and of no weight. Units are rows and the rows of a batch are
columns, so that also a layer of four units fills the registers of a processor.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isonomy.networks.blocks import Parameters, glorot_bound

ALIGNED = 16
"""Numbers of 4 bytes in the 64 at whose multiples a matrix starts."""
DRAWN_AT_ONCE = 8
"""Batches of a network that are gathered in one call."""

Floats32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Lesson:
    """What one network learns from: rows, targets by output, weights of rows or None, and a seed."""

    rows: Floats32
    target: Floats32
    weight: Floats32 | None
    seed: int


class Batches:
    """The batches of one network, epoch after epoch, the rows in a new order in each.

    ``steps`` is how many there are. Rows have a column of ones for the intercepts, and are followed
    by their target and by their weight, divided by the number of rows of the batch.
    """

    def __init__(
        self, torch: Any, lesson: Lesson, generator: Any, *, batch: int, n_epochs: int
    ) -> None:
        self.torch, self.batch = torch, batch
        n, d = lesson.rows.shape
        table = np.zeros((n + 1, d + lesson.target.shape[1] + 2), dtype=np.float32)
        table[:n, :d], table[:n, d] = lesson.rows, 1.0
        table[:n, d + 1 : -1] = lesson.target
        table[:n, -1] = 1.0 if lesson.weight is None else lesson.weight
        self.table = torch.from_numpy(table)
        each = -(-n // batch)
        self.steps = n_epochs * each
        self.share = torch.full((self.steps, 1), 1.0 / batch)
        self.share[each - 1 :: each] = 1.0 / (n - (each - 1) * batch)
        # beyond the last row of an epoch stands the row of zeros
        self.order = torch.full((n_epochs, each * batch), n, dtype=torch.int32)
        for order in self.order:
            order[:n] = torch.randperm(n, generator=generator)

    def draw(self, first: int, last: int, out: Any) -> None:
        """Write some of the batches, one after the other."""
        index = self.order.view(-1)[first * self.batch : last * self.batch]
        self.torch.index_select(self.table, 0, index, out=out.view(-1, out.shape[-1]))
        out[..., -1].mul_(self.share[first:last])


class Stack:
    """Networks of rectified units with one logistic output or a softmax, one step at a time.

    Parameters
    ----------
    torch : module
        The library.
    widths : sequence of int
        Columns, units of the hidden layers, outputs.
    generators : list
        Where the first weights of each network are drawn.
    batch : int
        Rows of a batch.
    **optimizer
        As :class:`isonomy.networks.Parameters` takes it.
    """

    def __init__(
        self,
        torch: Any,
        widths: Sequence[int],
        generators: Sequence[Any],
        *,
        batch: int,
        **optimizer: Any,
    ) -> None:
        self.torch, self.batch, self.widths = torch, batch, widths
        self.shapes = [(units, inputs + 1) for inputs, units in pairwise(widths)]
        self.sizes = [-(-units * inputs // ALIGNED) * ALIGNED for units, inputs in self.shapes]
        self.parameters = Parameters(torch, [(len(generators), sum(self.sizes))], **optimizer)
        for penalty in self._matrices(self.parameters.penalty):
            penalty[..., -1] = 0.0
        self.keep(len(generators))
        for k, generator in enumerate(generators):
            for weights, shape in zip(self.weights, pairwise(widths), strict=True):
                bound = glorot_bound(*shape)
                first = torch.empty(shape).uniform_(-bound, bound, generator=generator)
                weights[k, :, :-1] = first.t()

    def _matrices(self, flat: Any) -> list[Any]:
        """View a vector as one matrix by layer and network, the intercepts in its last column."""
        parts = flat.view(-1, sum(self.sizes)).split(self.sizes, dim=1)
        return [
            part[:, : math.prod(shape)].unflatten(1, shape)
            for part, shape in zip(parts, self.shapes, strict=True)
        ]

    def keep(self, count: int) -> None:
        """Continue with the first networks only."""
        self.parameters.shorten(count * sum(self.sizes))
        self.weights = self._matrices(self.parameters.flat)
        self.slopes = self._matrices(self.parameters.slope)
        self.downward = [weights[..., :-1].transpose(1, 2) for weights in self.weights]
        hidden, empty = self.widths[1:-1], self.torch.empty
        self.sums = [empty(count, units, self.batch) for units in self.widths[1:]]
        self.errors = [empty(count, units, self.batch) for units in hidden]
        # what the layers after the first see: the units before them, and ones for the intercepts
        self.levels = [self.torch.ones(count, units + 1, self.batch) for units in hidden]
        self.units = [level[:, :-1] for level in self.levels]

    def gradient(self, x: Any, y: Any, w: Any) -> None:
        """Store the gradient of every network's loss, without the penalty, for the next step.

        Rows of a batch are rows of `x`, and columns of the targets `y` and the weights `w`.
        """
        torch, level = self.torch, x.transpose(1, 2)
        for k, (weights, sums) in enumerate(zip(self.weights, self.sums, strict=True)):
            torch.bmm(weights, level, out=sums)
            if k < len(self.levels):
                torch.clamp_min(sums, 0.0, out=self.units[k])
                level = self.levels[k]
        z = self.sums[-1]
        p = z.sigmoid_() if z.shape[1] == 1 else z.softmax(1)
        error = p.sub_(y).mul_(w)
        back = torch.ops.aten.threshold_backward.grad_input
        for k in range(len(self.levels), 0, -1):
            torch.bmm(error, self.levels[k - 1].transpose(1, 2), out=self.slopes[k])
            below = torch.bmm(self.downward[k], error, out=self.errors[k - 1])
            error = back(below, self.units[k - 1], 0, grad_input=below)
        torch.bmm(error, x, out=self.slopes[0])

    def layers(self, k: int) -> list[Floats32]:
        """Return weights and intercepts of one network, layer after layer."""
        both = ((weights[k, :, :-1].t(), weights[k, :, -1]) for weights in self.weights)
        return [np.array(part.numpy(), order="C") for pair in both for part in pair]


def train(
    torch: Any,
    hidden: Sequence[int],
    lessons: Sequence[Lesson],
    *,
    batch: int,
    n_epochs: int,
    **optimizer: Any,
) -> list[list[Floats32]]:
    """Train one network by lesson; all have as many columns and outputs.

    Returns
    -------
    list of list of array
        For every lesson weights and intercepts, layer after layer.
    """
    columns, outputs = lessons[0].rows.shape[1], lessons[0].target.shape[1]
    longest_first = sorted(range(len(lessons)), key=lambda k: -len(lessons[k].rows))
    generators = [torch.Generator().manual_seed(lessons[k].seed) for k in longest_first]
    stack = Stack(torch, [columns, *hidden, outputs], generators, batch=batch, **optimizer)
    batches = [
        Batches(torch, lessons[k], generator, batch=batch, n_epochs=n_epochs)
        for k, generator in zip(longest_first, generators, strict=True)
    ]
    fitted: dict[int, list[Floats32]] = {}
    done, count = 0, len(lessons)
    while count:
        end = batches[count - 1].steps
        for first in range(done, end, DRAWN_AT_ONCE):
            last = min(first + DRAWN_AT_ONCE, end)
            drawn = torch.empty(count, last - first, batch, columns + outputs + 2)
            for k in range(count):
                batches[k].draw(first, last, drawn[k])
            x, y, w = drawn.split([columns + 1, outputs, 1], dim=3)
            parts = x, y.transpose(2, 3), w.transpose(2, 3)
            for step in zip(*(part.unbind(1) for part in parts), strict=True):
                stack.gradient(*step)
                stack.parameters.move()
        done = end
        while count and batches[count - 1].steps == done:
            count -= 1
            fitted[longest_first[count]] = stack.layers(count)
        stack.keep(count)
    return [fitted[k] for k in range(len(lessons))]
