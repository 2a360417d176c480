"""Small fully connected networks: building blocks, and scikit-learn classifiers made of them.

The networks of the studies are tiny and their batches are 32 rows, so that what counts is not
arithmetic but the number of calls. Training therefore keeps all weights in one vector
(:class:`Parameters`), gathers an epoch's rows at once, and writes the backward pass down instead of
recording it (:class:`Layers`): one step is some forty calls. The fitted weights are stored as NumPy
arrays and applied by :func:`forward`, so that a fitted network predicts, and is pickled and loaded,
without torch. The generators and adversarial debiasing use the same blocks.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from isonomy._validate import check_choice, check_least, check_length, check_weight, optional
from isonomy.errors import InputError

__all__ = [
    "Layers",
    "NETWORKS",
    "NetworkClassifier",
    "Parameters",
    "forward",
    "glorot_bound",
    "layer_shapes",
    "make_network",
    "quick_torch",
    "torch_library",
]

OPTIMIZERS = ("adam", "nadam", "sgd")
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-7
"""Keras' settings, which the studies kept; torch's own epsilon is 1e-8."""
MOMENTUM_DECAY = 0.004
ROWS_AT_ONCE = 16384
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


@dataclass(eq=False, repr=False)
class NetworkClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fully connected network of rectified units, for two classes or more.

    Weights start as Glorot's uniform draws and intercepts as 0. The output is one logistic unit
    for two classes and a softmax for more; the loss is the cross-entropy, summed with the
    weights of the rows and divided by the number of rows of the batch, as in Keras. Rows are
    shuffled in every epoch, and the last batch may be smaller.

    Parameters
    ----------
    hidden : sequence of int, default (64, 32, 16, 8, 4)
        The units of the hidden layers.
    optimizer : {"adam", "nadam", "sgd"}
        Adam, Adam with Nesterov's momentum (with Keras' schedule), or plain gradient descent.
    learning_rate : float, default 0.001
        The step.
    l2 : float, default 0
        Half of this times the squared weights (not the intercepts) is added to the loss.
    n_epochs, batch_size : int, default 20, 32
        The schedule.
    random_state : int, RandomState or None
        Seed of the first weights and of the order of the rows.

    Attributes
    ----------
    classes_ : array
        The labels seen.
    coefs_, intercepts_ : list of arrays
        The weights between two layers, and the intercepts of the latter.
    n_steps_ : int
        Steps taken.

    References
    ----------
    X. Glorot and Y. Bengio, "Understanding the difficulty of training deep feedforward neural
    networks", AISTATS 2010; T. Dozat, "Incorporating Nesterov momentum into Adam", ICLR
    workshop 2016.

    Examples
    --------
    >>> NetworkClassifier(hidden=(8,), n_epochs=5)
    NetworkClassifier(hidden=(8,), n_epochs=5)

    ``NetworkClassifier().fit(X, y)`` needs the extra ``torch``; see :func:`make_network` for the
    networks of the studies.
    """

    version: ClassVar[str] = "1"

    hidden: Sequence[int] = (64, 32, 16, 8, 4)
    _: KW_ONLY
    optimizer: str = "nadam"
    learning_rate: float = 0.001
    l2: float = 0.0
    n_epochs: int = 20
    batch_size: int = 32
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Train from fresh weights."""
        self._check_settings()
        torch = torch_library("The network")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float32)
        check_classification_targets(y)
        self.classes_, code = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError("The network must see at least two classes; got one class only.")
        weight = None
        if sample_weight is not None:
            weight = check_weight(sample_weight).astype(np.float32)
            check_length("sample_weight", len(weight), "X", X.shape[0])
        rows = np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float32)
        outputs = 1 if len(self.classes_) == 2 else len(self.classes_)
        target = code[:, None] if outputs == 1 else code[:, None] == np.arange(outputs)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with quick_torch(torch):
            trainer = Trainer(
                torch,
                [rows.shape[1], *(int(width) for width in self.hidden), outputs],
                torch.Generator().manual_seed(seed),
                optimizer=self.optimizer,
                rate=self.learning_rate,
                l2=self.l2,
            )
            for _ in range(self.n_epochs):
                trainer.epoch(rows, target.astype(np.float32), weight, self.batch_size)
            parts = [part.numpy().copy() for part in trainer.parameters.parts]
        self.coefs_, self.intercepts_ = parts[::2], parts[1::2]
        self.n_steps_ = trainer.parameters.steps
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the log-odds of the second class, or the input of the softmax."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float32, reset=False)
        layers = [part for pair in zip(self.coefs_, self.intercepts_, strict=True) for part in pair]
        chunks = [
            forward(layers, X[first : first + ROWS_AT_ONCE])
            for first in range(0, X.shape[0], ROWS_AT_ONCE)
        ]
        z: NDArray[np.float64] = np.concatenate(chunks).astype(np.float64)
        return z[:, 0] if z.shape[1] == 1 else z

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of every class."""
        z = self.decision_function(X)
        if z.ndim == 2:
            shares: NDArray[np.float64] = softmax(z, axis=1)
            return shares
        p = expit(z)
        return np.column_stack([1.0 - p, p])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likelier class; of two, the second only above one half."""
        z = self.decision_function(X)
        index = z.argmax(axis=1) if z.ndim == 2 else (z > 0).astype(np.intp)
        labels: NDArray[Any] = self.classes_[index]
        return labels

    def _check_settings(self) -> None:
        check_choice("optimizer", self.optimizer, OPTIMIZERS)
        for name in ("n_epochs", "batch_size"):
            check_least(name, getattr(self, name), 1)
        if not all(width >= 1 for width in self.hidden):
            raise InputError(f"hidden must hold numbers of units; got {self.hidden}.")
        if not self.learning_rate > 0 or not self.l2 >= 0:
            raise InputError(
                f"learning_rate must be positive and l2 not negative; got {self.learning_rate} "
                f"and {self.l2}."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


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

    def glorot(self, generator: Any) -> None:
        """Draw Glorot's uniform weights; intercepts stay 0."""
        for part in self.parts:
            if part.dim() > 1:
                bound = glorot_bound(*part.shape)
                part.uniform_(-bound, bound, generator=generator)

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
        self.room.mul_((1.0 - beta2**t) ** -0.5).add_(self.epsilon)
        if self.optimizer == "adam":
            self.flat.addcdiv_(m, self.room, value=-self.rate / (1.0 - beta1**t))
        else:
            now, after = (
                beta1 * (1.0 - 0.5 * 0.96 ** (step * MOMENTUM_DECAY)) for step in (t, t + 1)
            )
            self.product *= now
            along = -self.rate * (1.0 - now) / (1.0 - self.product)
            self.flat.addcdiv_(g, self.room, value=along)
            ahead = -self.rate * after / (1.0 - self.product * after)
            self.flat.addcdiv_(m, self.room, value=ahead)

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


class Trainer(Layers):
    """A classifier in training: the gradient of its loss, batch after batch."""

    def __init__(self, torch: Any, widths: Sequence[int], generator: Any, **optimizer: Any) -> None:
        self.generator = generator
        self.parameters = Parameters(torch, layer_shapes(widths), **optimizer)
        self.parameters.glorot(generator)
        super().__init__(torch, self.parameters.parts, self.parameters.slopes)

    def epoch(
        self,
        rows: NDArray[np.float32],
        target: NDArray[np.float32],
        weight: NDArray[np.float32] | None,
        batch: int,
    ) -> None:
        """Go once through all rows in a new order."""
        torch = self.torch
        order = torch.randperm(len(rows), generator=self.generator)
        parts = [torch.from_numpy(table)[order].split(batch) for table in (rows, target)]
        weights = [None] * len(parts[0])
        if weight is not None:
            weights = torch.from_numpy(weight)[order, None].split(batch)
        for x, y, w in zip(*parts, weights, strict=True):
            self.gradient(x, y, w)
            self.parameters.move()

    def gradient(self, x: Any, y: Any, w: Any = None) -> None:
        """Store the gradient of a batch's loss, without the penalty, for the next step."""
        levels, z = self.forward(x)
        p = z.sigmoid_() if z.shape[1] == 1 else z.softmax(1)
        error = p.sub_(y).mul_(1.0 / x.shape[0])
        if w is not None:
            error.mul_(w)
        self.backward(levels, error)


NETWORKS: dict[str, dict[str, Any]] = {
    "dnn": {"hidden": (64, 32, 16, 8, 4), "optimizer": "adam", "n_epochs": 25},
    "dl": {"hidden": (64, 32, 16, 8, 4)},
    "dl2": {"hidden": (50, 30, 15, 10, 5)},
    "dl3": {"hidden": (30, 20, 15, 10, 5)},
    "dl4": {"hidden": (30, 20, 15, 15, 10)},
}
"""The networks of the studies by name, as settings of :class:`NetworkClassifier`."""


def make_network(name: str, random_state: Any = None) -> NetworkClassifier:
    """Make one of the networks of the studies.

    ``dl`` to ``dl4`` are those of the final version of Chen et al. (2023): Nadam, 20 epochs,
    batches of 32. ``dnn`` is the six-layer network of Monjezi et al. (2025): Adam, 25 epochs,
    batches of 32. Their paper does not print its widths ("six-layered", "128 neurons"); we take
    64-32-16-8-4 and the output, six layers of weights, which is the network of the works they
    cite for it.

    Parameters
    ----------
    name : {"dnn", "dl", "dl2", "dl3", "dl4"}
        Which network.
    random_state : int, RandomState or None
        Seed.

    References
    ----------
    Z. Chen, J. M. Zhang, F. Sarro and M. Harman, "A comprehensive empirical study of bias
    mitigation methods for machine learning classifiers", TOSEM 2023; V. Monjezi et al., "Fairness
    testing through extreme value theory", ICSE 2025.

    Examples
    --------
    >>> make_network("dl3", random_state=1)
    NetworkClassifier(hidden=(30, 20, 15, 10, 5), random_state=1)
    """
    check_choice("network", name, list(NETWORKS))
    return NetworkClassifier(**NETWORKS[name], random_state=random_state)
