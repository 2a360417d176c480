"""TVAE (Xu et al., 2019): a variational autoencoder for tables."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from isonomy.errors import InputError
from isonomy.generators.generate import GENERATORS, BaseGenerator, Condition, check_at_least
from isonomy.generators.modes import Encoding
from isonomy.networks import Parameters, quick_torch, torch_library

__all__ = ["Tvae"]

Floats = NDArray[np.float64]
STEEPEST = 40.0
"""Logits are cut here, so that their exponentials need no shift and stay in single precision."""
NARROWEST, WIDEST = 0.01, 1.0


@GENERATORS.register("tvae")
class Tvae(BaseGenerator):
    r"""A variational autoencoder whose outputs are distributions of a table's columns.

    A column of numbers is described by one of its modes (see
    :func:`~isonomy.generators.modes.fit_modes`) and its place in it, a discrete one by its
    value. Two networks of two hidden layers are learnt: one gives mean and variance of a latent
    normal vector for a row, the other for each latent vector the mode and value probabilities and,
    for places in modes, a mean and (one per column) a deviation. The loss is the negative evidence
    bound, its reconstruction part counted ``reconstruction`` times.

    The backward pass is written down and not recorded, all softmaxes of a batch are two small
    matrix products, and modes are found in milliseconds.

    Parameters
    ----------
    latent : int, default 128
        Size of the latent vector.
    hidden : int, default 128
        Units of each of the two hidden layers of both networks.
    n_epochs, batch_size : int, default 300, 500
        Schedule. Rows that do not fill a batch are left out of an epoch, unless they are all.
    learning_rate, l2 : float, default 0.001, 1e-5
        Adam's step and penalty.
    reconstruction : float, default 2
        Weight of the reconstruction against the divergence from the prior.
    components : int, default 10
        The most modes of a column.
    random_state : int, RandomState or None
        Seed of fitting; drawing has its own.

    References
    ----------
    L. Xu, M. Skoularidou, A. Cuesta-Infante and K. Veeramachaneni, "Modeling tabular data using
    conditional GAN", NeurIPS 2019.

    Examples
    --------
    >>> Tvae(n_epochs=50)
    Tvae(n_epochs=50)

    ``Tvae().fit(frame).sample(1000, rng, condition={"sex": "Female"})`` needs the extra ``torch``
    to fit, and nothing to draw.
    """

    name: ClassVar[str] = "tvae"
    label: ClassVar[str] = "TVAE"

    def __init__(
        self,
        *,
        latent: int = 128,
        hidden: int = 128,
        n_epochs: int = 300,
        batch_size: int = 500,
        learning_rate: float = 0.001,
        l2: float = 1e-5,
        reconstruction: float = 2.0,
        components: int = 10,
        random_state: Any = 0,
    ) -> None:
        self.latent = latent
        self.hidden = hidden
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.l2 = l2
        self.reconstruction = reconstruction
        self.components = components
        self.random_state = random_state

    def learn(self, points: Floats) -> None:
        """Find the modes and train both networks."""
        for name in ("latent", "hidden", "n_epochs", "batch_size", "components"):
            check_at_least(self, name, 1)
        torch = torch_library("TVAE")
        random = check_random_state(self.random_state)
        encoding = Encoding(self.columns_, points, self.components)
        values, chosen = encoding.encode(points, np.random.default_rng(random.randint(2**31)))
        rows = np.hstack([values, encoding.one_hot(chosen)]).astype(np.float32)
        generator = torch.Generator().manual_seed(int(random.randint(2**31 - 1)))
        with quick_torch(torch):
            machine = Autoencoder(
                torch,
                encoding,
                generator,
                latent=self.latent,
                hidden=self.hidden,
                rate=self.learning_rate,
                l2=self.l2,
                reconstruction=self.reconstruction,
            )
            table = torch.from_numpy(rows)
            batch = min(self.batch_size, len(rows))
            for _ in range(self.n_epochs):
                order = torch.randperm(len(rows), generator=generator)
                for x in table[order[: len(rows) // batch * batch]].split(batch):
                    machine.gradient(x)
                    machine.move()
            if not bool(torch.isfinite(machine.parameters.flat).all()):
                raise InputError(
                    "TVAE's weights must stay finite; they did not: lower learning_rate."
                )
            self.decoder_ = [part.numpy().copy() for part in machine.decoder]
            self.deviation_ = machine.deviation.numpy().astype(np.float64)
        self.encoding_ = encoding

    def draw(self, n: int, rng: np.random.Generator, condition: Condition) -> Floats:
        """Draw points, by rejection where there is a condition."""
        return self.draw_until(n, rng, condition)

    def propose(self, n: int, rng: np.random.Generator, condition: Condition) -> Floats:
        """Draw latent vectors and, from what the decoder makes of them, points."""
        level = rng.standard_normal((n, self.latent), dtype=np.float32)
        w1, b1, w2, b2, w3, b3 = self.decoder_
        for weights, intercept in ((w1, b1), (w2, b2)):
            level = np.maximum(level @ weights + intercept, 0.0)
        out = level @ w3 + b3
        numbers = len(self.encoding_.numbers)
        noise = rng.normal(size=(n, numbers))
        values = np.tanh(out[:, :numbers]) + self.deviation_ * noise
        return self.encoding_.decode(values, self.encoding_.draw(out[:, numbers:], rng))


class Autoencoder:
    """Both networks in training."""

    def __init__(
        self,
        torch: Any,
        encoding: Encoding,
        generator: Any,
        *,
        latent: int,
        hidden: int,
        rate: float,
        l2: float,
        reconstruction: float,
    ) -> None:
        self.torch, self.generator, self.reconstruction = torch, generator, reconstruction
        self.numbers, self.latent = len(encoding.numbers), latent
        width = encoding.width
        pairs = [(width, hidden), (hidden, hidden), (hidden, 2 * latent)]
        pairs += [(latent, hidden), (hidden, hidden), (hidden, width)]
        shapes: list[tuple[int, ...]] = [shape for pair in pairs for shape in (pair, pair[1:])]
        shapes.append((self.numbers,))
        self.parameters = Parameters(torch, shapes, rate=rate, l2=l2, epsilon=1e-8)
        parts, slopes = self.parameters.parts, self.parameters.slopes
        self.encoder, self.decoder, self.deviation = parts[:6], parts[6:12], parts[12]
        self.encoder_slopes, self.decoder_slopes = slopes[:6], slopes[6:12]
        self.deviation_slope = slopes[12]
        for weights, intercept in zip(parts[:12:2], parts[1:12:2], strict=True):
            bound = weights.shape[0] ** -0.5
            weights.uniform_(-bound, bound, generator=generator)
            intercept.uniform_(-bound, bound, generator=generator)
        self.deviation.fill_(0.1)
        member = encoding.group_of[:, None] == np.arange(len(encoding.sizes))
        self.member = torch.from_numpy(member.astype(np.float32))

    def gradient(self, x: Any) -> None:
        """Put the gradient of a batch's loss, penalty apart, where the next step finds it."""
        torch, n, a = self.torch, x.shape[0], self.numbers
        seen, level = self._forward(self.encoder, x)
        mean, log_variance = level[:, : self.latent], level[:, self.latent :]
        deviation = (0.5 * log_variance).exp_()
        noise = torch.empty(n, self.latent).normal_(generator=self.generator)
        made, out = self._forward(self.decoder, torch.addcmul(mean, deviation, noise))

        values, logits = out[:, :a].tanh(), out[:, a:].clamp_(-STEEPEST, STEEPEST)
        miss = values - x[:, :a]
        inverse = self.deviation.reciprocal()
        scaled = miss * inverse
        power = logits.exp()
        total = power @ self.member
        wrong = torch.empty_like(out)
        torch.mul(power, total.reciprocal() @ self.member.t(), out=wrong[:, a:])
        wrong[:, a:].sub_(x[:, a:])
        torch.mul(scaled * inverse, 1.0 - values * values, out=wrong[:, :a])
        share = self.reconstruction / n
        wrong.mul_(share)
        squares = (scaled * scaled).sum(0)
        torch.mul(inverse, (n - squares) * share, out=self.deviation_slope)

        pull = self._backward(self.decoder, self.decoder_slopes, made, wrong, to_input=True)
        back = torch.empty(n, 2 * self.latent)
        torch.add(pull, mean, alpha=1.0 / n, out=back[:, : self.latent])
        half = back[:, self.latent :]  # by the log-variance: half of what the deviation pulls
        torch.mul(pull, noise, out=half)
        half.mul_(deviation).add_(deviation * deviation - 1.0, alpha=1.0 / n).mul_(0.5)
        self._backward(self.encoder, self.encoder_slopes, seen, back, to_input=False)

    def move(self) -> None:
        """Take one step."""
        self.parameters.move()
        self.deviation.clamp_(NARROWEST, WIDEST)

    def _forward(self, parts: list[Any], x: Any) -> tuple[list[Any], Any]:
        w1, b1, w2, b2, w3, b3 = parts
        first = self.torch.addmm(b1, x, w1).relu_()
        second = self.torch.addmm(b2, first, w2).relu_()
        return [x, first, second], self.torch.addmm(b3, second, w3)

    def _backward(
        self, parts: list[Any], slopes: list[Any], levels: list[Any], wrong: Any, *, to_input: bool
    ) -> Any:
        torch = self.torch
        back = torch.ops.aten.threshold_backward.default
        for k in (2, 1, 0):
            torch.mm(levels[k].t(), wrong, out=slopes[2 * k])
            torch.sum(wrong, 0, out=slopes[2 * k + 1])
            if k or to_input:
                wrong = wrong @ parts[2 * k].t()
            if k:
                wrong = back(wrong, levels[k], 0)
        return wrong
