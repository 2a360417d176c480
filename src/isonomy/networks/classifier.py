"""A fully connected network as a scikit-learn classifier, and the networks of the studies."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from isonomy._validate import check_choice, check_least, check_length, check_weight
from isonomy.errors import InputError
from isonomy.networks.blocks import forward, quick_torch, torch_library
from isonomy.networks.stack import Lesson, train

OPTIMIZERS = ("adam", "nadam", "sgd")
ROWS_AT_ONCE = 16384
SIDE_BY_SIDE = 8
"""Networks in one program: with more, what a step touches no longer fits near the processor."""


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

    version: ClassVar[str] = "2"

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
        fit_networks([(self, X, y, sample_weight)])
        return self

    def _lesson(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Lesson:
        """Check what is learned from, remember its classes, and draw the seed."""
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
        return Lesson(rows, target.astype(np.float32), weight, seed)

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


def is_network(learner: Any) -> bool:
    """Return whether a learner is a network that :func:`fit_networks` can fit beside others.

    Examples
    --------
    >>> is_network(make_network("dl"))
    True
    """
    return isinstance(learner, NetworkClassifier)


def fit_networks(given: Sequence[tuple[NetworkClassifier, Any, Any, ArrayLike | None]]) -> None:
    """Fit networks, those of one shape side by side, which takes about half the time.

    Each becomes the network that its own ``fit`` makes of it, to the last bit.

    Parameters
    ----------
    given : sequence of (network, X, y, sample_weight)
        Unfitted networks and what each is fitted on; weights may be None.

    Examples
    --------
    >>> fit_networks([])

    With the extra ``torch``::

        networks = [make_network("dl", seed) for seed in range(50)]
        fit_networks([(network, X, y, None) for network in networks])
    """
    alike = defaultdict(list)
    for network, X, y, sample_weight in given:
        network._check_settings()
        torch_library("The network")
        lesson = network._lesson(X, y, sample_weight)
        n, columns = lesson.rows.shape
        settings = {
            "hidden": tuple(int(width) for width in network.hidden),
            "batch": min(network.batch_size, n),
            "n_epochs": network.n_epochs,
            "optimizer": network.optimizer,
            "rate": network.learning_rate,
            "l2": network.l2,
        }
        shape = columns, lesson.target.shape[1], *settings.values()
        alike[shape].append((network, lesson, settings))
    for group in alike.values():
        group.sort(key=lambda one: -len(one[1].rows))  # those that end together, together
        for first in range(0, len(group), SIDE_BY_SIDE):
            networks, lessons, (settings, *_) = zip(
                *group[first : first + SIDE_BY_SIDE], strict=True
            )
            torch = torch_library("The network")
            with quick_torch(torch):
                fitted = train(torch, lessons=lessons, **settings)
            for network, lesson, layers in zip(networks, lessons, fitted, strict=True):
                network.coefs_, network.intercepts_ = layers[::2], layers[1::2]
                network.n_steps_ = network.n_epochs * -(-len(lesson.rows) // settings["batch"])


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
