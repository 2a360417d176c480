"""Adversarial debiasing (Zhang et al., 2018): a network that an adversary must not see through."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils import check_random_state

from isonomy._arrays import Floats
from isonomy._validate import check_choice, check_least
from isonomy.errors import InputError, IsonomyWarning, NotApplicable
from isonomy.mitigators._features import Features
from isonomy.mitigators.base import MITIGATORS, Vector, Weights
from isonomy.mitigators.stages import InProcessor
from isonomy.networks import forward, glorot_bound

Single = NDArray[np.float32]

KEEP = 0.8
"""Share of hidden units that dropout keeps."""
DROP_BELOW = np.int16(round((1.0 - KEEP) * 2**15))
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
DECAY, DECAY_EVERY = 0.96, 1000
TINY = float(np.finfo(np.float32).tiny)
LARGEST = float(np.finfo(np.float32).max)
FASTER = 10.0
"""How many times as fast as the classifier the adversary learns, under the corrected protocol."""
FEWEST_STEPS = 200
"""Steps below which the adversary has hardly learnt anything."""
TARGETS = ("equalized_odds", "statistical_parity")


@MITIGATORS.register("adversarial_debiasing", aliases=("ad",))
class AdversarialDebiasing(InProcessor):
    r"""A small network trained against an adversary that guesses the group from its output.

    The classifier is one hidden layer of rectified units. The adversary sees its log-odds
    :math:`z` and the true label, as :math:`\sigma((1+|c|)z)` times :math:`[1, y, 1-y]`, and
    predicts the group by logistic regression. With :math:`g` the gradient of the classifier's own
    loss and :math:`h` that of the adversary's, a step goes along

    .. math:: g - \mathrm{proj}_h\, g - \alpha h ,

    so that no step helps the adversary. Seeing the label, it works towards equalised odds.
    Training is single precision in NumPy: one forward pass, and both backward passes as one
    matrix product.

    Notes
    -----
    **Protocols**

    ===========  ============================  ==============================================
    what         as_published                  corrected
    ===========  ============================  ==============================================
    projection   each weight tensor by itself  all weights as one vector, as in the paper
    adversary    starts at random, learns as   starts with the sizes of the groups, learns ten
                 fast as the classifier        times as fast (``adversary_learning_rate``)
    rows         fewer than a batch: nothing   fewer than a batch: one batch of all of them
                 is learnt
    features     as given                      scaled to 0 ... 1 inside (``scale``)
    seed         drawn from NumPy's global     ``random_state``, in both
                 state, then TensorFlow's own
    ===========  ============================  ==============================================

    The published numbers cannot be replayed seed by seed, because they depend on TensorFlow's
    random numbers; their distribution over 50 seeds can, and is.

    Parameters
    ----------
    estimator : None
        Not used: the method is its own model.
    adversary_loss_weight : float, default 0.1
        The :math:`\alpha` above; 0 switches the adversary off and leaves the network alone.
    target : {"equalized_odds", "statistical_parity"}
        Whether the adversary sees the true label. The published study has the first only, under
        which rates of favourable predictions may differ more than before.
    n_epochs, batch_size, n_hidden : int, default 50, 128, 200
        Schedule and size. In each epoch the rows that do not fill a batch are left out.
    learning_rate : float, default 0.001
        Adam's step; it shrinks by 4 % every 1,000 steps.
    adversary_learning_rate : float, optional
        The adversary's step, which shrinks likewise; when None, as the protocol says.
    scale : bool, optional
        Whether to scale the features inside; when None, as the protocol says.
    privileged, favorable, sensitive_columns, protocol, random_state
        As for every mitigator.

    Attributes
    ----------
    network_ : Network
        The fitted classifier.
    adversary_ : array of 5 floats
        Sharpness :math:`c`, the three weights and the intercept of the adversary.
    n_steps_ : int
        Steps taken.

    References
    ----------
    B. H. Zhang, B. Lemoine and M. Mitchell, "Mitigating unwanted biases with adversarial
    learning", AIES 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from isonomy.mitigators import AdversarialDebiasing
    >>> rng = np.random.default_rng(0)
    >>> s = rng.integers(0, 2, 2000)
    >>> X = rng.normal(size=(2000, 3)) + 0.4 * s[:, None]
    >>> y = (X.sum(axis=1) + rng.normal(size=2000) > 0.6).astype(int)
    >>> model = AdversarialDebiasing(random_state=1).fit(X, y, sensitive_features=s)
    >>> bool(model.score(X, y) > 0.75)
    True
    """

    label = "AD"
    advice = "For a network on thousands of rows; vary the seed, results scatter."
    reference = "Zhang, Lemoine and Mitchell, AIES 2018"
    needs_numbers = True
    costly = True
    # not at one error rate alone: the true positive rates come closer under either target
    aims: ClassVar = {
        "demographic_parity": {"target": "statistical_parity"},
        "equalized_odds": {"target": "equalized_odds"},
    }
    strength_values: ClassVar = {"adversary_loss_weight": (0.01, 0.1, 0.3, 1.0)}
    uses_estimator = False
    randomized = True
    corrected_version = "3"  # the adversary starts with the sizes of the groups

    adversary_loss_weight: float = 0.1
    target: str = "equalized_odds"
    n_epochs: int = 50
    batch_size: int = 128
    n_hidden: int = 200
    learning_rate: float = 0.001
    adversary_learning_rate: float | None = None
    scale: bool | None = None

    def fit_model(self, X: Any, y: Vector, s: Vector, w: Weights = None) -> None:
        """Train classifier and adversary together."""
        check_choice("target", self.target, TARGETS)
        for name in ("n_epochs", "batch_size", "n_hidden"):
            check_least(name, getattr(self, name), 1)
        for name in ("learning_rate", "adversary_learning_rate"):
            rate = getattr(self, name)
            if rate is not None and not rate > 0:
                raise InputError(f"{name} must be above 0; got {rate}.")
        check_least("adversary_loss_weight", self.adversary_loss_weight, 0)
        scale = not self.published if self.scale is None else self.scale
        self._features, matrix = Features.learn(X, who=self.name, scale=scale)
        n = len(matrix)
        batch = self.batch_size if self.published else min(self.batch_size, n)
        bits = np.random.SFC64(check_random_state(self.random_state).randint(2**31))
        rng = np.random.Generator(bits)
        duel = Duel(self, matrix.shape[1], batch, rng)
        if not self.published:
            # an adversary that must first learn how large the groups are drives all scores one way
            share = float(np.average(s, weights=w))
            if not 0 < share < 1:
                raise NotApplicable(
                    f"{self.name} needs rows of both groups; all rows that weigh anything are of one."
                )
            duel.adversary[4] = np.log(share / (1 - share))
        rows = np.ones((n, matrix.shape[1] + 1), dtype=np.float32)
        rows[:, :-1] = matrix
        truth, group = y.astype(np.float32), s.astype(np.float32)
        weight = None if w is None else (w / w.mean()).astype(np.float32)
        # on features as given gradients may be too large for their square: a weight then stands still
        with np.errstate(over="ignore"):
            for _ in range(self.n_epochs):
                order = rng.permutation(n)
                for first in range(0, n - batch + 1, batch):
                    duel.step(rows, truth, group, weight, order[first : first + batch], bits)
        self.network_, self.adversary_, self.n_steps_ = duel.network, duel.adversary, duel.steps
        if not self.published and self.n_steps_ < FEWEST_STEPS:
            warnings.warn(
                f"{self.name} should take {FEWEST_STEPS} steps or more for the adversary to learn; "
                f"it took {self.n_steps_}: raise n_epochs or lower batch_size.",
                IsonomyWarning,
                stacklevel=4,
            )

    def predict_scores(self, X: Any, s: Vector | None = None) -> Floats:
        """Return the network's probability, all its units at work."""
        return self.network_.probability(self._features(X))


@dataclass
class Network:
    """One hidden layer of rectified units; all its weights lie in one vector.

    The vector holds, one after another, the ``width x hidden`` first weights, their ``hidden``
    intercepts, the ``hidden`` second weights and the last intercept.
    """

    width: int
    hidden: int
    flat: Single

    @property
    def first(self) -> Single:
        """The first layer, its intercepts as a last row."""
        return self.flat[: (self.width + 1) * self.hidden].reshape(self.width + 1, self.hidden)

    @property
    def second(self) -> Single:
        """The weights of the output."""
        return self.flat[-self.hidden - 1 : -1]

    def probability(self, matrix: Floats) -> Floats:
        """Return the probabilities of rows."""
        layers = [self.first[:-1], self.first[-1], self.second, self.flat[-1]]
        # A probability in single precision rounds to 1/2 where the log-odds do not vanish.
        z = forward(layers, matrix.astype(np.float32)).astype(np.float64)
        return np.asarray(expit(z), dtype=np.float64)


class Duel:
    """Classifier, adversary and both optimisers, with buffers that every step reuses."""

    def __init__(
        self, rule: AdversarialDebiasing, width: int, batch: int, rng: np.random.Generator
    ) -> None:
        """Draw Glorot's uniform weights and set all intercepts to 0."""
        hidden = rule.n_hidden
        first, second = _glorot(rng, width, hidden), _glorot(rng, hidden, 1)
        flat = np.concatenate([first, np.zeros(hidden), second, np.zeros(1)])
        self.network = Network(width, hidden, flat.astype(np.float32))
        self.joint = not rule.published
        # A random adversary is wrong at first, and the classifier would learn to fight its errors.
        weights = np.zeros(3) if self.joint else _glorot(rng, 3, 1)
        self.adversary: Floats = np.concatenate([[1.0], weights, [0.0]])
        self.sees_label = rule.target == "equalized_odds"
        if not self.sees_label:
            self.adversary[2:4] = 0.0
        self.alpha, self.rate = rule.adversary_loss_weight, rule.learning_rate
        own_rate = rule.adversary_learning_rate
        if own_rate is None:
            own_rate = (FASTER if self.joint else 1.0) * self.rate
        self.faster = own_rate / self.rate
        self.steps = 0
        self.buffers = self._allocate(batch)

    def step(
        self,
        rows: Single,
        y: Single,
        s: Single,
        w: Single | None,
        chosen: NDArray[np.intp],
        bits: np.random.BitGenerator,
    ) -> None:
        """Take one step of both players on one batch."""
        b = self.buffers
        np.take(rows, chosen, axis=0, out=b["x"], mode="clip")
        self.draw_dropped(bits)
        weight = None if w is None else w[chosen]
        tilt = self.gradients(y[chosen], s[chosen], weight)
        self.project()
        rate = self.rate * DECAY ** (self.steps // DECAY_EVERY)
        self.steps += 1
        rate *= np.sqrt(1.0 - BETA2**self.steps) / (1.0 - BETA1**self.steps)
        _adam(self.network.flat, b["g"], b["m"], b["v"], rate)
        if self.steps % 128 == 0:
            # Means of units that have long been silent fade below what a processor handles at
            # full speed; they are too small by twenty orders of magnitude to move a weight.
            b["m"][np.abs(b["m"]) < 1e-30] = 0.0
        _adam(self.adversary, tilt, b["m5"], b["v5"], rate * self.faster)

    def draw_dropped(self, bits: np.random.BitGenerator) -> None:
        """Mark the hidden units to drop: all bits of a word set, or none."""
        b = self.buffers
        small = b["small"]
        words = bits.random_raw(b["words"]).view(np.uint16)[: small.size].reshape(small.shape)
        np.right_shift(words, 1, out=small.view(np.uint16))
        np.subtract(small, DROP_BELOW, out=small)
        np.right_shift(small, 15, out=small)  # the sign, spread over the word
        np.copyto(b["off"], small)

    def gradients(self, y: Single, s: Single, w: Single | None) -> Floats:
        """Return the adversary's gradient; leave both gradients of the classifier in buffers."""
        b, net = self.buffers, self.network
        live, mask = b["live"], b["mask"]
        np.dot(b["x"], net.first, out=live)
        # Rectify and drop by bits: a unit is off where its sign is set or dropout says so.
        np.right_shift(live.view(np.int32), 31, out=mask)
        np.bitwise_or(mask, b["off"], out=mask)
        np.invert(mask, out=mask)
        np.bitwise_and(live.view(np.int32), mask, out=live.view(np.int32))
        out = net.second * np.float32(1.0 / KEEP)
        z = live @ out + net.flat[-1]
        np.bitwise_and(out.view(np.int32), mask, out=mask)

        c, whole, with_yes, with_no, intercept = self.adversary
        sharp = np.float32(1.0 + abs(c))
        seen = expit(sharp * z)
        slope = np.float32(whole + with_no) + np.float32(with_yes - with_no) * y
        blame = expit(seen * slope + np.float32(intercept)) - s
        miss = expit(z) - y
        share = np.float32(1.0 / len(y)) if w is None else w * np.float32(1.0 / len(y))
        miss *= share
        blame *= share
        back = blame * slope * seen * (1.0 - seen)
        both = b["both"]
        both[0] = miss
        np.multiply(back, sharp, out=both[1])

        x, scaled, width = b["x"], b["scaled"], net.width + 1
        np.multiply(x, both[0][:, None], out=scaled[:, :width])
        np.multiply(x, both[1][:, None], out=scaled[:, width:])
        np.dot(scaled.T, mask.view(np.float32), out=b["first"])
        np.dot(both, live, out=b["second"])
        b["second"] *= np.float32(1.0 / KEEP)
        b["last"][:] = both.sum(axis=1)

        pull = blame * seen
        yes = float(pull @ y) if self.sees_label else 0.0
        no = float(pull.sum()) - yes if self.sees_label else 0.0
        return np.array(
            [np.sign(c) * float(back @ z), float(pull.sum()), yes, no, float(blame.sum())]
        )

    @cached_property
    def tensors(self) -> list[tuple[Single, Single, Single]]:
        """Per weight tensor its place in the step and both players' gradients of it."""
        b, h = self.buffers, self.network.hidden
        g, first = b["g"], b["first"].reshape(2, -1)
        k = self.network.width * h
        return [
            (g[:k], *first[:, :k]),
            (g[k : k + h], *first[:, k:]),
            (g[k + h : -1], *b["second"]),
            (g[-1:], *b["last"][:, None]),
        ]

    def project(self) -> None:
        """Take from the classifier's gradient what helps the adversary, and more by alpha."""
        tensors = self.tensors
        if self.alpha == 0:
            for place, own, _ in tensors:
                np.copyto(place, own)
            return
        inner = [float(own @ other) for _, own, other in tensors]
        square = [float(other @ other) for _, _, other in tensors]
        if self.joint:
            inner, square = [sum(inner)] * 4, [sum(square)] * 4
        for (place, own, other), along, size in zip(tensors, inner, square, strict=True):
            length = np.sqrt(size) + TINY
            share = along / length**2 + self.alpha
            if abs(share) <= LARGEST:
                np.multiply(other, np.float32(share), out=place)
            else:  # the square of a vanishing gradient is 0, its direction is not
                np.multiply(other, np.float32(1.0 / length), out=place)
                place *= np.float32(along / length)
            np.subtract(own, place, out=place)

    def _allocate(self, n: int) -> dict[str, Any]:
        h, d = self.network.hidden, self.network.width + 1
        f, size = np.float32, self.network.flat.size
        return {
            "x": np.empty((n, d), f),
            "small": np.empty((n, h), np.int16),
            "words": -(-n * h // 4),
            "off": np.zeros((n, h), np.int32),
            "live": np.empty((n, h), f),
            "mask": np.empty((n, h), np.int32),
            "both": np.empty((2, n), f),
            "scaled": np.empty((n, 2 * d), f),
            "first": np.empty((2 * d, h), f),
            "second": np.empty((2, h), f),
            "last": np.empty(2, f),
            "g": np.empty(size, f),
            "m": np.zeros(size, f),
            "v": np.zeros(size, f),
            "m5": np.zeros(5),
            "v5": np.zeros(5),
        }


def _glorot(rng: np.random.Generator, fan_in: int, fan_out: int) -> Floats:
    bound = glorot_bound(fan_in, fan_out)
    return rng.uniform(-bound, bound, fan_in * fan_out)


def _adam(theta: Any, g: Any, m: Any, v: Any, rate: float) -> None:
    """Move by Adam; both moments are kept without their constant factors, g is overwritten."""
    kind = theta.dtype.type
    m *= kind(BETA1)
    m += g
    v *= kind(BETA2)
    np.multiply(g, g, out=g)
    v += g
    np.sqrt(v, out=g)
    g += kind(EPSILON / np.sqrt(1.0 - BETA2))
    np.divide(m, g, out=g)
    g *= kind(rate * (1.0 - BETA1) / np.sqrt(1.0 - BETA2))
    theta -= g
