"""CTGAN (Xu et al., 2019): a conditional generative adversarial network for tables."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from isonomy.errors import InputError
from isonomy.generators.generate import GENERATORS, BaseGenerator, Condition, check_at_least
from isonomy.generators.modes import Encoding
from isonomy.networks import quick_torch, torch_library

__all__ = ["Ctgan"]

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
TEMPERATURE = 0.2
PENALTY = 10.0
SLOPE = 0.2
"""Of the critic's leaky units."""
BN_EPSILON = 1e-5


@GENERATORS.register("ctgan")
class Ctgan(BaseGenerator):
    r"""A generator trained against a critic, told in every row one value that it must hold.

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

    name: ClassVar[str] = "ctgan"
    label: ClassVar[str] = "CTGAN"

    def __init__(
        self,
        *,
        latent: int = 128,
        hidden: int = 256,
        n_epochs: int = 300,
        batch_size: int = 500,
        learning_rate: float = 0.0002,
        l2: float = 1e-6,
        pac: int = 10,
        components: int = 10,
        random_state: Any = 0,
    ) -> None:
        self.latent = latent
        self.hidden = hidden
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.l2 = l2
        self.pac = pac
        self.components = components
        self.random_state = random_state

    def learn(self, points: Floats) -> None:
        """Find the modes and train generator and critic."""
        for name in ("latent", "hidden", "n_epochs", "batch_size", "components", "pac"):
            check_at_least(self, name, 1)
        torch = torch_library("CTGAN")
        random = check_random_state(self.random_state)
        rng = np.random.default_rng(random.randint(2**31))
        encoding = Encoding(self.columns_, points, self.components)
        values, chosen = encoding.encode(points, rng)
        rows = np.hstack([values, encoding.one_hot(chosen)]).astype(np.float32)
        self.asking_ = Asking(encoding, chosen)
        groups = max(min(self.batch_size, len(rows)) // self.pac, 1)
        with quick_torch(torch, record=True):
            duel = Duel(
                torch,
                encoding,
                torch.Generator().manual_seed(int(random.randint(2**31 - 1))),
                self.asking_.width,
                self.get_params(),
            )
            batch = groups * self.pac
            for _ in range(self.n_epochs * max(len(rows) // batch, 1)):
                asked, matched = self.asking_.train(batch, rng)
                order = rng.permutation(batch)
                duel.teach_critic(
                    torch.from_numpy(rows[matched][order]),
                    torch.from_numpy(self.asking_.vector(*asked)),
                    torch.from_numpy(order),
                )
                asked, _ = self.asking_.train(batch, rng)
                duel.teach_generator(
                    torch.from_numpy(self.asking_.vector(*asked)),
                    torch.from_numpy(self.asking_.entry(*asked)),
                )
            self.generator_ = [part.detach().numpy().copy() for part in duel.generator]
            self.running_ = [part.numpy().copy() for part in duel.running]
        if not all(np.isfinite(part).all() for part in self.generator_):
            raise InputError("CTGAN's weights must stay finite; they did not: lower learning_rate.")
        self.encoding_ = encoding

    def draw(self, n: int, rng: np.random.Generator, condition: Condition) -> Floats:
        """Draw points, asking for the condition and rejecting what does not fulfil it."""
        return self.draw_until(n, rng, condition)

    def propose(self, n: int, rng: np.random.Generator, condition: Condition) -> Floats:
        """Draw noise, ask for values as frequent as in the data, and make points of both."""
        asked = self.asking_.vector(*self.asking_.draw(n, rng, condition))
        noise = rng.standard_normal((n, self.latent), dtype=np.float32)
        level = np.hstack([noise, asked])
        for k in (0, 1):
            weights, intercept, scale, shift = self.generator_[4 * k : 4 * k + 4]
            mean, variance = self.running_[2 * k : 2 * k + 2]
            now = (level @ weights + intercept - mean) / np.sqrt(variance + BN_EPSILON)
            level = np.hstack([np.maximum(now * scale + shift, 0.0), level])
        out = level @ self.generator_[8] + self.generator_[9]
        numbers = len(self.encoding_.numbers)
        values = np.tanh(out[:, :numbers]).astype(np.float64)
        return self.encoding_.decode(values, self.encoding_.draw(out[:, numbers:], rng))


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
            mine = np.flatnonzero(column == k)
            weight = np.log1p(frequency)
            value[mine] = rng.choice(len(weight), size=len(mine), p=weight / weight.sum())
            start = np.concatenate([[0.0], np.cumsum(frequency)])[value[mine]]
            place = start + np.floor(rng.random(len(mine)) * frequency[value[mine]])
            row[mine] = self.order[k][place.astype(np.intp)]
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
            mine = np.flatnonzero(column == k)
            value[mine] = rng.choice(len(frequency), size=len(mine), p=frequency / frequency.sum())
        return column, value

    def vector(self, column: Codes, value: Codes) -> NDArray[np.float32]:
        """Give what is asked as 0/1 entries; nothing where no column is discrete."""
        out = np.zeros((len(column), self.width), dtype=np.float32)
        if self.width:
            out[np.arange(len(column)), self.starts[column] + value] = 1.0
        return out

    def entry(self, column: Codes, value: Codes) -> NDArray[np.intp]:
        """Give per row the group's number among discrete columns and the value asked for."""
        return np.stack([column, value], axis=1)


class Duel:
    """Generator and critic in training."""

    def __init__(
        self,
        torch: Any,
        encoding: Encoding,
        generator: Any,
        asked: int,
        settings: dict[str, Any],
    ) -> None:
        self.torch, self.source = torch, generator
        self.numbers, self.pac = len(encoding.numbers), settings["pac"]
        self.latent, hidden = settings["latent"], settings["hidden"]
        self.sizes = [int(size) for size in encoding.sizes]
        start = self.latent + asked
        wide = [(start, hidden), (start + hidden, hidden), (start + 2 * hidden, encoding.width)]
        self.generator: list[Any] = []
        self.running: list[Any] = []
        for k, (rows, columns) in enumerate(wide):
            self.generator += self._layer(rows, columns)
            if k < 2:
                self.generator += [torch.ones(columns), torch.zeros(columns)]
                self.running += [torch.zeros(columns), torch.ones(columns)]
        seen = (encoding.width + asked) * self.pac
        self.critic = [
            part
            for shape in ((seen, hidden), (hidden, hidden), (hidden, 1))
            for part in self._layer(*shape)
        ]
        for part in (*self.generator, *self.critic):
            part.requires_grad_()
        options = {"lr": settings["learning_rate"], "betas": (0.5, 0.9)}
        self.generator_steps = torch.optim.Adam(
            self.generator, weight_decay=settings["l2"], **options
        )
        self.critic_steps = torch.optim.Adam(self.critic, **options)

    def _layer(self, rows: int, columns: int) -> list[Any]:
        bound = rows**-0.5
        return [
            self.torch.empty(shape).uniform_(-bound, bound, generator=self.source)
            for shape in ((rows, columns), (columns,))
        ]

    def make(self, asked: Any, n: int) -> tuple[Any, Any]:
        """Make rows: what the critic sees of them, and the logits behind."""
        torch = self.torch
        functional = torch.nn.functional
        noise = torch.empty(n, self.latent).normal_(generator=self.source)
        level = torch.cat([noise, asked], dim=1)
        for k in (0, 1):
            weights, intercept, scale, shift = self.generator[4 * k : 4 * k + 4]
            mean, variance = self.running[2 * k : 2 * k + 2]
            now = functional.batch_norm(
                torch.addmm(intercept, level, weights),
                mean, variance, scale, shift, training=True, eps=BN_EPSILON,
            )  # fmt: skip
            level = torch.cat([now.relu(), level], dim=1)
        out = torch.addmm(self.generator[9], level, self.generator[8])
        logits = out[:, self.numbers :]
        noise = torch.empty_like(logits).exponential_(generator=self.source).log_()
        soft = [
            part.softmax(1) for part in ((logits - noise) / TEMPERATURE).split(self.sizes, dim=1)
        ]
        return torch.cat([out[:, : self.numbers].tanh(), *soft], dim=1), logits

    def judge(self, rows: Any) -> Any:
        """Give the critic's opinion of rows, so many at a time."""
        torch = self.torch
        level = rows.reshape(-1, rows.shape[1] * self.pac)
        for k in (0, 1):
            level = torch.addmm(self.critic[2 * k + 1], level, self.critic[2 * k])
            level = torch.nn.functional.leaky_relu(level, SLOPE)
            # half of the units are dropped; torch's own dropout would draw from its global state
            level = level * torch.empty_like(level).bernoulli_(0.5, generator=self.source).mul_(2)
        return torch.addmm(self.critic[5], level, self.critic[4])

    def teach_critic(self, real: Any, asked: Any, order: Any) -> None:
        """Take one step of the critic: real rows up, made ones down, its gradient near 1."""
        torch = self.torch
        n = len(real)
        made = self.make(asked, n)[0].detach()
        real = torch.cat([real, asked[order]], dim=1)
        made = torch.cat([made, asked], dim=1)
        mix = torch.rand(n // self.pac, 1, 1, generator=self.source)
        shape = (n // self.pac, self.pac, real.shape[1])
        between = real.view(shape).lerp(made.view(shape), mix).reshape(real.shape).requires_grad_()
        (slope,) = torch.autograd.grad(self.judge(between).sum(), between, create_graph=True)
        norm = slope.reshape(n // self.pac, -1).norm(dim=1)
        loss = self.judge(made).mean() - self.judge(real).mean()
        loss = loss + PENALTY * ((norm - 1.0) ** 2).mean()
        self.critic_steps.zero_grad()
        loss.backward()
        self.critic_steps.step()

    def teach_generator(self, asked: Any, entry: Any) -> None:
        """Take one step of the generator: please the critic, and hold what was asked for."""
        torch = self.torch
        n = len(asked)
        made, logits = self.make(asked, n)
        loss = -self.judge(torch.cat([made, asked], dim=1)).mean()
        for k, group in enumerate(logits.split(self.sizes, dim=1)[self.numbers :]):
            mine = entry[:, 0] == k
            loss = loss + torch.nn.functional.cross_entropy(
                group[mine], entry[mine, 1], reduction="sum"
            ) / n  # fmt: skip
        self.generator_steps.zero_grad()
        loss.backward()
        self.generator_steps.step()
