"""CTGAN (Xu et al., 2019): a conditional generative adversarial network for tables."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy.generators.base import GENERATORS, Condition
from isonomy.generators.modes import Encoding
from isonomy.generators.neural import NeuralGenerator
from isonomy.networks import Parameters, layer_shapes

Codes = NDArray[np.intp]
TEMPERATURE = 0.2
PENALTY = 10.0
SLOPE = 0.2
"""Of the critic's leaky units."""
BN_EPSILON = 1e-5


@GENERATORS.register("ctgan")
@dataclass(kw_only=True, eq=False, repr=False)
class Ctgan(NeuralGenerator):
    r"""A generator trained against a critic; every row must hold one value it is asked for.

    Columns are encoded as for :class:`~isonomy.generators.tvae.Tvae`. In training, every row
    is asked to hold one value of one discrete column, drawn by the logarithm of its frequency so
    that rare values are learnt too, and is compared with a real row that holds it. The critic
    sees ten rows at a time (PacGAN), its loss is Wasserstein's with a penalty on its gradient, and
    discrete outputs are drawn by the Gumbel softmax.

    Parameters
    ----------
    latent, hidden : int, default 128, 256
        Size of the noise, and of both hidden layers of generator and critic.
    n_epochs, batch_size : int, default 300, 500
        Schedule; a batch is a multiple of ``pac`` rows.
    learning_rate, l2 : float, default 0.0002, 1e-6
        Adam's step, and the generator's penalty.
    pac : int, default 10
        Rows that the critic sees together.
    components : int, default 10
        The most modes of a column.
    random_state : int, RandomState or None
        Seed of fitting; drawing has its own.

    References
    ----------
    L. Xu, M. Skoularidou, A. Cuesta-Infante and K. Veeramachaneni, "Modeling tabular data using
    conditional GAN", NeurIPS 2019; Z. Lin et al., "PacGAN", NeurIPS 2018; I. Gulrajani et al.,
    "Improved training of Wasserstein GANs", NeurIPS 2017.

    Examples
    --------
    >>> Ctgan(n_epochs=50)
    Ctgan(n_epochs=50)

    ``Ctgan().fit(frame).sample(1000, rng, condition={"sex": "Female"})`` needs the extra
    ``torch`` to fit, and nothing to draw.
    """

    label: ClassVar[str] = "CTGAN"

    records: ClassVar[bool] = True

    hidden: int = 256
    learning_rate: float = 0.0002
    l2: float = 1e-6
    pac: int = 10

    def train(
        self,
        torch: Any,
        source: Any,
        rows: NDArray[np.float32],
        chosen: Codes,
        rng: np.random.Generator,
    ) -> list[Any]:
        """Train generator and critic; the generator and its running moments are needed to draw."""
        self.asking_ = asking = Asking(self.encoding_, chosen)
        duel = Duel(torch, self.encoding_, source, asking.width, self)
        batch = max(min(self.batch_size, len(rows)) // self.pac, 1) * self.pac
        for _ in range(self.n_epochs * max(len(rows) // batch, 1)):
            asked, matched = asking.train(batch, rng)
            order = rng.permutation(batch)
            duel.teach_critic(
                torch.from_numpy(rows[matched][order]),
                torch.from_numpy(asking.vector(*asked)),
                torch.from_numpy(order),
            )
            (column, value), _ = asking.train(batch, rng)
            duel.teach_generator(
                torch.from_numpy(asking.vector(column, value)),
                torch.from_numpy(column),
                torch.from_numpy(value),
            )
        return [*duel.generator.parts, *duel.running]

    def outputs(
        self, n: int, rng: np.random.Generator, condition: Condition
    ) -> tuple[Floats, NDArray[np.float32]]:
        """Make rows of noise that is drawn, asked for values as frequent as in the data."""
        asked = self.asking_.vector(*self.asking_.draw(n, rng, condition))
        level = np.hstack([rng.standard_normal((n, self.latent), dtype=np.float32), asked])
        generator, running = self.weights_[:10], self.weights_[10:]
        for k in (0, 1):
            weights, intercept, scale, shift = generator[4 * k : 4 * k + 4]
            mean, variance = running[2 * k : 2 * k + 2]
            now = (level @ weights + intercept - mean) / np.sqrt(variance + BN_EPSILON)
            level = np.hstack([np.maximum(now * scale + shift, 0.0), level])
        out = level @ generator[8] + generator[9]
        numbers = len(self.encoding_.numbers)
        return np.tanh(out[:, :numbers]).astype(np.float64), out[:, numbers:]


class Asking:
    """The values that rows are asked to hold: one value of one discrete column each.

    Parameters
    ----------
    encoding : Encoding
        The table's encoding.
    chosen : array
        The entries of its rows.
    """

    def __init__(self, encoding: Encoding, chosen: Codes) -> None:
        first = len(encoding.numbers)
        self.columns = list(encoding.discrete)
        self.first_entry = encoding.starts[first:]
        self.sizes = encoding.sizes[first:]
        self.starts = self.first_entry - self.first_entry[0] if self.columns else self.first_entry
        self.width = int(self.sizes.sum())
        codes = chosen[:, first:]
        self.frequency = [
            np.bincount(codes[:, k], minlength=size).astype(np.float64)
            for k, size in enumerate(self.sizes)
        ]
        # the rows that hold each value stand together in these orders
        self.order = [np.argsort(codes[:, k], kind="stable") for k in range(len(self.columns))]
        self.rows = len(chosen)

    def train(self, n: int, rng: np.random.Generator) -> tuple[tuple[Codes, Codes], Codes]:
        """Draw columns and values by the logarithm of their frequency, and rows that hold them."""
        if not self.columns:
            none = np.zeros(n, dtype=np.intp)
            return (none, none), rng.integers(self.rows, size=n)
        column = rng.integers(len(self.columns), size=n)
        value, row = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
        for k, frequency in enumerate(self.frequency):
            here = np.flatnonzero(column == k)
            weight = np.log1p(frequency)
            value[here] = rng.choice(len(weight), size=len(here), p=weight / weight.sum())
            start = np.concatenate([[0.0], np.cumsum(frequency)])[value[here]]
            place = start + np.floor(rng.random(len(here)) * frequency[value[here]])
            row[here] = self.order[k][place.astype(np.intp)]
        return (column, value), row

    def draw(self, n: int, rng: np.random.Generator, condition: Condition) -> tuple[Codes, Codes]:
        """Draw columns and values as frequent as they are, or of the condition."""
        if not self.columns:
            none = np.zeros(n, dtype=np.intp)
            return none, none
        if condition:
            places = np.array([self.columns.index(j) for j in condition])
            values = np.array(list(condition.values()))
            which = rng.integers(len(places), size=n)
            return places[which], values[which]
        column = rng.integers(len(self.columns), size=n)
        value = np.empty(n, dtype=np.intp)
        for k, frequency in enumerate(self.frequency):
            here = np.flatnonzero(column == k)
            value[here] = rng.choice(len(frequency), size=len(here), p=frequency / frequency.sum())
        return column, value

    def vector(self, column: Codes, value: Codes) -> NDArray[np.float32]:
        """Return what is asked as 0/1 entries; nothing where no column is discrete."""
        out = np.zeros((len(column), self.width), dtype=np.float32)
        if self.width:
            out[np.arange(len(column)), self.starts[column] + value] = 1.0
        return out


class Duel:
    """Generator and critic in training."""

    def __init__(
        self, torch: Any, encoding: Encoding, source: Any, asked: int, settings: Ctgan
    ) -> None:
        self.torch, self.source = torch, source
        self.numbers, self.pac = len(encoding.numbers), settings.pac
        self.latent, hidden = settings.latent, settings.hidden
        self.sizes = [int(size) for size in encoding.sizes]
        start, normed = self.latent + asked, [(hidden,), (hidden,)]
        options: dict[str, Any] = {
            "rate": settings.learning_rate,
            "betas": (0.5, 0.9),
            "epsilon": 1e-8,
        }
        self.generator = Parameters(
            torch,
            [
                *layer_shapes([start, hidden]),
                *normed,
                *layer_shapes([start + hidden, hidden]),
                *normed,
                *layer_shapes([start + 2 * hidden, encoding.width]),
            ],
            l2=settings.l2,
            penalize_all=True,
            **options,
        )
        seen = (encoding.width + asked) * self.pac
        self.critic = Parameters(torch, layer_shapes([seen, hidden, hidden, 1]), **options)
        for parameters in (self.generator, self.critic):
            parameters.uniform(source)
        for scale in self.generator.parts[2::4]:
            scale.fill_(1.0)
        for part in (*self.generator.parts, *self.critic.parts):
            part.requires_grad_()
        self.running = [fill(hidden) for _ in (0, 1) for fill in (torch.zeros, torch.ones)]

    def make(self, asked: Any, n: int) -> tuple[Any, Any]:
        """Make rows: the critic's view of them, and the logits of their entries."""
        torch = self.torch
        functional = torch.nn.functional
        noise = torch.empty(n, self.latent).normal_(generator=self.source)
        level = torch.cat([noise, asked], dim=1)
        for k in (0, 1):
            weights, intercept, scale, shift = self.generator.parts[4 * k : 4 * k + 4]
            mean, variance = self.running[2 * k : 2 * k + 2]
            now = functional.batch_norm(
                torch.addmm(intercept, level, weights),
                mean, variance, scale, shift, training=True, eps=BN_EPSILON,
            )  # fmt: skip
            level = torch.cat([now.relu(), level], dim=1)
        out = torch.addmm(self.generator.parts[9], level, self.generator.parts[8])
        logits = out[:, self.numbers :]
        noise = torch.empty_like(logits).exponential_(generator=self.source).log_()
        soft = [
            part.softmax(1) for part in ((logits - noise) / TEMPERATURE).split(self.sizes, dim=1)
        ]
        return torch.cat([out[:, : self.numbers].tanh(), *soft], dim=1), logits

    def judge(self, rows: Any) -> Any:
        """Return the critic's opinion of rows, ``pac`` at a time."""
        torch, critic = self.torch, self.critic.parts
        level = rows.reshape(-1, rows.shape[1] * self.pac)
        for k in (0, 1):
            level = torch.addmm(critic[2 * k + 1], level, critic[2 * k])
            level = torch.nn.functional.leaky_relu(level, SLOPE)
            # half of the units are dropped; torch's own dropout would draw from its global state
            level = level * torch.empty_like(level).bernoulli_(0.5, generator=self.source).mul_(2)
        return torch.addmm(critic[5], level, critic[4])

    def teach_critic(self, real: Any, asked: Any, order: Any) -> None:
        """Take one step of the critic: real rows up, made ones down, its gradient near 1."""
        torch = self.torch
        n = len(real)
        with torch.no_grad():
            made = self.make(asked, n)[0]
        real = torch.cat([real, asked[order]], dim=1)
        made = torch.cat([made, asked], dim=1)
        mix = torch.rand(n // self.pac, 1, 1, generator=self.source)
        shape = (n // self.pac, self.pac, real.shape[1])
        between = real.view(shape).lerp(made.view(shape), mix).reshape(real.shape).requires_grad_()
        (slope,) = torch.autograd.grad(self.judge(between).sum(), between, create_graph=True)
        norm = slope.reshape(n // self.pac, -1).norm(dim=1)
        loss = self.judge(made).mean() - self.judge(real).mean()
        self.critic.descend(loss + PENALTY * ((norm - 1.0) ** 2).mean())

    def teach_generator(self, asked: Any, column: Any, value: Any) -> None:
        """Take one step of the generator: please the critic, and hold what was asked for."""
        torch = self.torch
        n = len(asked)
        made, logits = self.make(asked, n)
        loss = -self.judge(torch.cat([made, asked], dim=1)).mean()
        for k, group in enumerate(logits.split(self.sizes, dim=1)[self.numbers :]):
            here = column == k
            loss = loss + torch.nn.functional.cross_entropy(
                group[here], value[here], reduction="sum"
            ) / n  # fmt: skip
        self.generator.descend(loss)
