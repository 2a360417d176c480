"""TVAE (Xu et al., 2019): a variational autoencoder for tables."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy.generators.base import GENERATORS, Condition
from isonomy.generators.modes import Encoding
from isonomy.generators.neural import NeuralGenerator
from isonomy.networks import Layers, Parameters, forward, layer_shapes

STEEPEST = 40.0
"""Logits are cut here, so that their exponentials need no shift and stay in single precision."""
NARROWEST, WIDEST = 0.01, 1.0


@GENERATORS.register("tvae")
@dataclass(kw_only=True, eq=False, repr=False)
class Tvae(NeuralGenerator):
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

    label: ClassVar[str] = "TVAE"

    records: ClassVar[bool] = False

    reconstruction: float = 2.0

    def train(
        self,
        torch: Any,
        source: Any,
        rows: NDArray[np.float32],
        chosen: NDArray[np.intp],
        rng: np.random.Generator,
    ) -> list[Any]:
        """Train both networks; the decoder and the deviations are needed to draw."""
        machine = Autoencoder(torch, self.encoding_, source, self)
        table = torch.from_numpy(rows)
        batch = min(self.batch_size, len(rows))
        for _ in range(self.n_epochs):
            order = torch.randperm(len(rows), generator=source)
            for x in table[order[: len(rows) // batch * batch]].split(batch):
                machine.gradient(x)
                machine.move()
        return machine.parameters.parts[6:]

    def outputs(
        self, n: int, rng: np.random.Generator, condition: Condition
    ) -> tuple[Floats, NDArray[np.float32]]:
        """Decode latent vectors that are drawn."""
        out = forward(self.weights_[:-1], rng.standard_normal((n, self.latent), dtype=np.float32))
        numbers = len(self.encoding_.numbers)
        noise = self.weights_[-1].astype(np.float64) * rng.normal(size=(n, numbers))
        return np.tanh(out[:, :numbers]) + noise, out[:, numbers:]


class Autoencoder:
    """Both networks in training."""

    def __init__(self, torch: Any, encoding: Encoding, generator: Any, settings: Tvae) -> None:
        self.torch, self.generator = torch, generator
        self.reconstruction, self.latent = settings.reconstruction, settings.latent
        self.numbers, hidden = len(encoding.numbers), settings.hidden
        widths = (
            [encoding.width, hidden, hidden, 2 * self.latent],
            [self.latent, hidden, hidden, encoding.width],
        )
        shapes = [shape for part in widths for shape in layer_shapes(part)]
        shapes.append((self.numbers,))
        rate, l2 = settings.learning_rate, settings.l2
        self.parameters = Parameters(torch, shapes, rate=rate, l2=l2, epsilon=1e-8)
        self.parameters.uniform(generator)
        parts, slopes = self.parameters.parts, self.parameters.slopes
        self.encoder = Layers(torch, parts[:6], slopes[:6])
        self.decoder = Layers(torch, parts[6:12], slopes[6:12])
        self.deviation, self.deviation_slope = parts[12], slopes[12]
        self.deviation.fill_(0.1)
        member = encoding.group_of[:, None] == np.arange(len(encoding.sizes))
        self.member = torch.from_numpy(member.astype(np.float32))

    def gradient(self, x: Any) -> None:
        """Store the gradient of a batch's loss, without the penalty, for the next step."""
        torch, n, a = self.torch, x.shape[0], self.numbers
        seen, level = self.encoder.forward(x)
        mean, log_variance = level[:, : self.latent], level[:, self.latent :]
        deviation = (0.5 * log_variance).exp_()
        noise = torch.empty(n, self.latent).normal_(generator=self.generator)
        made, out = self.decoder.forward(torch.addcmul(mean, deviation, noise))

        values, logits = out[:, :a].tanh(), out[:, a:].clamp_(-STEEPEST, STEEPEST)
        miss = values - x[:, :a]
        inverse = self.deviation.reciprocal()
        scaled = miss * inverse
        power = logits.exp()
        total = power @ self.member
        error = torch.empty_like(out)
        torch.mul(power, total.reciprocal() @ self.member.t(), out=error[:, a:])
        error[:, a:].sub_(x[:, a:])
        torch.mul(scaled * inverse, 1.0 - values * values, out=error[:, :a])
        share = self.reconstruction / n
        error.mul_(share)
        squares = (scaled * scaled).sum(0)
        torch.mul(inverse, (n - squares) * share, out=self.deviation_slope)

        pull = self.decoder.backward(made, error, to_input=True)
        back = torch.empty(n, 2 * self.latent)
        torch.add(pull, mean, alpha=1.0 / n, out=back[:, : self.latent])
        half = back[:, self.latent :]  # by the log-variance: half of what the deviation pulls
        torch.mul(pull, noise, out=half)
        half.mul_(deviation).add_(deviation * deviation - 1.0, alpha=1.0 / n).mul_(0.5)
        self.encoder.backward(seen, back)

    def move(self) -> None:
        """Take one step."""
        self.parameters.move()
        self.deviation.clamp_(NARROWEST, WIDEST)
