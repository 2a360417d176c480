"""Building blocks of small networks: parameters in one vector, layers, and torch made quick.

The networks of the studies are tiny and their batches are 32 rows, so that what counts is not
arithmetic but the number of calls: all weights lie in one vector (:class:`Parameters`), and the
backward pass is written down instead of recorded (:class:`Layers`).
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

from isonomy._validate import optional

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-7
"""Keras' settings, which the studies kept; torch's own epsilon is 1e-8."""
MOMENTUM_DECAY = 0.004
FEW_ROWS = 64


def torch_library(purpose: str) -> Any:
    """Import torch, or say in one sentence which extra installs it."""
    return optional("torch", extra="torch", purpose=purpose)


@contextmanager
def quick_torch(torch: Any, *, record: bool = False) -> Iterator[None]:
    """Run a block on one of torch's threads, vanishing numbers as 0, recording gradients or not.

    Batches this small only wait for a second thread, and a study runs one process per core.
    Weights and means of units that have long been silent fade below 1e-38, where a processor is
    many times slower; such numbers move nothing. Both settings are put back after the block.
    """
    threads = torch.get_num_threads()
    flushed = float(torch.tensor(1e-30) * torch.tensor(1e-10)) == 0.0
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    try:
        with torch.enable_grad() if record else torch.inference_mode():
            yield
    finally:
        torch.set_flush_denormal(flushed)
        torch.set_num_threads(threads)


def forward(layers: Sequence[Any], rows: Any) -> Any:
    """Return the output of a network of rectified units, without torch.

    Parameters
    ----------
    layers : sequence of arrays
        Weights and intercepts of one layer after another.
    rows : array or sparse matrix
        The input.

    Examples
    --------
    >>> weights, intercept = np.array([[1.0, -1.0]]), np.zeros(2)
    >>> forward([weights, intercept, np.ones(2), 0.5], np.array([[2.0], [-3.0]])).tolist()
    [2.5, 3.5]
    """
    level = rows @ layers[0] + layers[1]
    for weights, intercept in zip(layers[2::2], layers[3::2], strict=True):
        np.maximum(level, 0.0, out=level)
        level = level @ weights + intercept
    return level


def glorot_bound(rows: int, columns: int) -> float:
    """Return the bound of Glorot's uniform weights between two layers.

    Examples
    --------
    >>> glorot_bound(4, 2)
    1.0
    """
    return math.sqrt(6.0 / (rows + columns))


def layer_shapes(widths: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the shapes of weights and intercepts of layers of these widths.

    Examples
    --------
    >>> layer_shapes([3, 2, 1])
    [(3, 2), (2,), (2, 1), (1,)]
    """
    return [shape for pair in pairwise(widths) for shape in (pair, pair[1:])]


class Parameters:
    """The parameters of a network in one vector, and the optimiser that changes them.

    ``parts`` are views of the vector, one per shape, and ``slopes`` the same views of the
    gradient. Few calls on one long vector are much faster than many on short ones.
    """

    def __init__(
        self,
        torch: Any,
        shapes: Sequence[tuple[int, ...]],
        *,
        optimizer: str = "adam",
        rate: float = 0.001,
        betas: tuple[float, float] = (BETA1, BETA2),
        epsilon: float = EPSILON,
        l2: float = 0.0,
        penalize_all: bool = False,
    ) -> None:
        self.torch, self.optimizer = torch, optimizer
        self.rate, self.betas, self.epsilon, self.l2 = rate, betas, epsilon, l2
        sizes = [math.prod(shape) for shape in shapes]
        self.flat, self.slope, self.mean, self.square, self.room, self.penalty = (
            torch.zeros(sum(sizes)) for _ in range(6)
        )
        self.steps, self.product = 0, 1.0
        self.parts, self.slopes, penalties = (
            [part.view(shape) for part, shape in zip(flat.split(sizes), shapes, strict=True)]
            for flat in (self.flat, self.slope, self.penalty)
        )
        for part in penalties:
            if part.dim() > 1 or penalize_all:  # as a rule intercepts are not penalised
                part.fill_(l2)

    def shorten(self, size: int) -> None:
        """Keep the first `size` numbers only; views of them are the caller's to make."""
        for name in ("flat", "slope", "mean", "square", "room", "penalty"):
            setattr(self, name, getattr(self, name)[:size])

    def uniform(self, generator: Any) -> None:
        """Draw weights and the intercepts after them within one over the root of the inputs."""
        for weights, intercept in pairwise(self.parts):
            if weights.dim() > 1:
                bound = weights.shape[0] ** -0.5
                weights.uniform_(-bound, bound, generator=generator)
                intercept.uniform_(-bound, bound, generator=generator)

    def move(self) -> None:
        """Take one step along the gradient in `slope`."""
        self.steps += 1
        t, g, m, v = self.steps, self.slope, self.mean, self.square
        beta1, beta2 = self.betas
        if self.l2:
            g.addcmul_(self.penalty, self.flat)
        if self.optimizer == "sgd":
            self.flat.add_(g, alpha=-self.rate)
            return
        m.lerp_(g, 1.0 - beta1)
        v.mul_(beta2).addcmul_(g, g, value=1.0 - beta2)
        self.torch.sqrt(v, out=self.room)
        scale = (1.0 - beta2**t) ** 0.5
        if self.optimizer == "adam":
            self.room.mul_(1.0 / scale).add_(self.epsilon)
            self.flat.addcdiv_(m, self.room, value=-self.rate / (1.0 - beta1**t))
        else:
            self.room.add_(self.epsilon * scale)
            now, after = (
                beta1 * (1.0 - 0.5 * 0.96 ** (step * MOMENTUM_DECAY)) for step in (t, t + 1)
            )
            self.product *= now
            along, ahead = (1.0 - now) / (1.0 - self.product), after / (1.0 - self.product * after)
            g.add_(m, alpha=ahead / along)  # both over the same root: one quotient instead of two
            self.flat.addcdiv_(g, self.room, value=-self.rate * along * scale)

    def descend(self, loss: Any) -> None:
        """Take one step down a loss that torch recorded."""
        gradients = self.torch.autograd.grad(loss, self.parts)
        for slope, gradient in zip(self.slopes, gradients, strict=True):
            slope.copy_(gradient)
        with self.torch.no_grad():
            self.move()


class Layers:
    """Layers of rectified units, the last one linear, whose backward pass is written down.

    Parameters
    ----------
    torch : module
        The library.
    parts, slopes : list of tensors
        Weights and intercepts of one layer after another, and where their gradients belong.
    """

    def __init__(self, torch: Any, parts: Sequence[Any], slopes: Sequence[Any]) -> None:
        self.torch = torch
        self.weights, self.intercepts = parts[::2], parts[1::2]
        self.transposed = [part.t() for part in self.weights]
        self.weight_slopes, self.intercept_slopes = slopes[::2], slopes[1::2]
        self.ones = torch.ones(0)

    def forward(self, x: Any) -> tuple[list[Any], Any]:
        """Return the input of every layer, and the output."""
        levels = [x]
        for weights, intercept in zip(self.weights[:-1], self.intercepts[:-1], strict=True):
            levels.append(self.torch.addmm(intercept, levels[-1], weights).relu_())
        return levels, self.torch.addmm(self.intercepts[-1], levels[-1], self.weights[-1])

    def backward(self, levels: list[Any], error: Any, *, to_input: bool = False) -> Any:
        """Store the gradient by all parameters, given that by the output; return that by the input."""
        torch, n = self.torch, error.shape[0]
        back = torch.ops.aten.threshold_backward.default
        if self.ones.shape[0] != n:
            self.ones = torch.ones(n)
        for k in range(len(self.weights) - 1, -1, -1):
            torch.mm(levels[k].t(), error, out=self.weight_slopes[k])
            if n <= FEW_ROWS:  # a product with ones takes half the time of a sum over so few rows
                torch.mv(error.t(), self.ones, out=self.intercept_slopes[k])
            else:
                torch.sum(error, 0, out=self.intercept_slopes[k])
            if k or to_input:
                error = error.mm(self.transposed[k])
            if k:
                error = back(error, levels[k], 0)
        return error
