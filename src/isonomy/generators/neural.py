"""What the deep generators share: settings, encoding, training and drawing."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from isonomy._arrays import Floats
from isonomy._validate import check_least
from isonomy.errors import InputError
from isonomy.generators.base import BaseGenerator, Condition
from isonomy.generators.modes import Encoding
from isonomy.networks import quick_torch, torch_library

COUNTS = ("latent", "hidden", "n_epochs", "batch_size", "components", "pac")


@dataclass(kw_only=True, eq=False, repr=False)
class NeuralGenerator(BaseGenerator):
    """A network that turns noise into rows of an encoded table.

    A subclass says whether torch records its gradients, trains in ``train``, which returns the
    weights that drawing needs, and computes outputs from noise in ``outputs``.
    """

    records: ClassVar[bool]

    latent: int = 128
    hidden: int = 128
    n_epochs: int = 300
    batch_size: int = 500
    learning_rate: float = 0.001
    l2: float = 1e-5
    components: int = 10
    random_state: Any = 0

    def learn(self, points: Floats) -> None:
        """Find the modes and train the networks."""
        for name in COUNTS:
            check_least(name, getattr(self, name, 1), 1)
        torch = torch_library(self.label)
        random = check_random_state(self.random_state)
        rng = np.random.default_rng(random.randint(2**31))
        self.encoding_ = Encoding(self.columns_, points, self.components)
        values, chosen = self.encoding_.encode(points, rng)
        rows = np.hstack([values, self.encoding_.one_hot(chosen)]).astype(np.float32)
        source = torch.Generator().manual_seed(int(random.randint(2**31 - 1)))
        with quick_torch(torch, record=self.records):
            weights = self.train(torch, source, rows, chosen, rng)
            self.weights_ = [part.detach().numpy().copy() for part in weights]
        if not all(np.isfinite(part).all() for part in self.weights_):
            raise InputError(
                f"{self.label}'s weights must stay finite; they did not: lower learning_rate."
            )

    @abstractmethod
    def train(
        self,
        torch: Any,
        source: Any,
        rows: NDArray[np.float32],
        chosen: NDArray[np.intp],
        rng: np.random.Generator,
    ) -> list[Any]:
        """Train on encoded rows, of which ``chosen`` are the entries that are 1."""

    @abstractmethod
    def outputs(
        self, n: int, rng: np.random.Generator, condition: Condition
    ) -> tuple[Floats, NDArray[np.float32]]:
        """Draw normalised values of the columns of numbers, and the logits of all entries."""

    def propose(self, n: int, rng: np.random.Generator, condition: Condition) -> Floats:
        """Draw points, for each entry from its probability."""
        values, logits = self.outputs(n, rng, condition)
        return self.encoding_.decode(values, self.encoding_.draw(logits, rng))
