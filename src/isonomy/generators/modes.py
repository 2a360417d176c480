"""Columns as a network takes them: numbers by their modes, discrete values by one 0/1 each."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from isonomy._arrays import Floats
from isonomy.generators.columns import Columns

SUPPORT = 1000
"""A column with more distinct numbers is fitted by so many quantiles' means."""
SPIKE, LEAST_SHARE = 0.05, 0.005
WIDTH = 4.0
"""A mode's normalised value is 1 at so many deviations."""


@dataclass(frozen=True, eq=False)
class Modes:
    """A mixture of normal distributions on the line.

    Parameters
    ----------
    share, mean, deviation : array of float
        Of each mode; shares sum to 1.
    """

    share: Floats
    mean: Floats
    deviation: Floats

    def responsibilities(self, values: Floats) -> Floats:
        """Return the probability of each mode given a value."""
        z = (values[:, None] - self.mean) / self.deviation
        log = np.log(self.share) - np.log(self.deviation) - 0.5 * z**2
        log -= log.max(axis=1, keepdims=True)
        p = np.exp(log)
        return np.asarray(p / p.sum(axis=1, keepdims=True))


def fit_modes(values: Floats, components: int = 10, *, concentration: float = 0.001) -> Modes:
    """Find the modes of a column: its spikes, and a variational mixture of the rest.

    A value that 5 % of the rows or more hold, such as a zero, is a mode of its own without width
    and comes back exactly; at most half of the modes are such. The rest is described by a
    truncated Dirichlet process of normal components, fitted by coordinate ascent, which drops the
    components that it does not need; those with less than 0.5 % of the rows are dropped too. Equal
    values are taken together and more than 1,000 distinct ones are cut into that many quantile
    bins, which makes all this a matter of milliseconds.

    Parameters
    ----------
    values : array of float
        The column.
    components : int
        The most modes.
    concentration : float
        Of the Dirichlet process; small values favour few modes.

    References
    ----------
    D. M. Blei and M. I. Jordan, "Variational inference for Dirichlet process mixtures", Bayesian
    Analysis 2006; L. Xu et al., "Modeling tabular data using conditional GAN", NeurIPS 2019.

    Examples
    --------
    >>> modes = fit_modes(np.concatenate([np.zeros(60), np.linspace(9, 11, 40)]))
    >>> modes.mean.round(1).tolist(), modes.share.round(2).tolist()
    ([0.0, 10.0], [0.6, 0.4])
    """
    x, count = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    weight = count.astype(np.float64)
    n = float(weight.sum())
    centre = float(weight @ x) / n
    spread = float(np.sqrt(weight @ (x - centre) ** 2 / n)) or 1.0
    spikes = np.argsort(-weight, kind="stable")[: max(components // 2, 1)]
    spikes = spikes[weight[spikes] >= SPIKE * n]
    size, mean = weight[spikes], (x[spikes] - centre) / spread
    variance = np.zeros(len(spikes))
    x, weight = np.delete(x, spikes), np.delete(weight, spikes)
    if len(x):
        z, weight = _thin((x - centre) / spread, weight)
        r = _ascend(z, weight, max(components - len(spikes), 1), concentration)
        mass = weight @ r
        r = r[:, mass > min(LEAST_SHARE * n, mass.max() / 2)]
        r /= r.sum(axis=1, keepdims=True)
        mass = weight @ r
        place = (weight * z) @ r / mass
        wide = np.einsum("i,ik,ik->k", weight, r, (z[:, None] - place) ** 2) / mass
        size, mean = np.append(size, mass), np.append(mean, place)
        variance = np.append(variance, wide)
    order = np.argsort(mean)
    # a spike must keep some width to divide by: a millionth of the column's
    deviation = np.sqrt(np.maximum(variance, 1e-12)) * spread
    return Modes((size / n)[order], (centre + spread * mean)[order], deviation[order])


def _thin(z: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Take neighbouring values together where there are very many."""
    if len(z) <= SUPPORT:
        return z, weight
    cell = np.minimum(np.cumsum(weight) * SUPPORT // weight.sum(), SUPPORT - 1).astype(np.intp)
    total: Floats = np.bincount(cell, weight, SUPPORT).astype(np.float64)
    filled = total > 0
    return np.bincount(cell, weight * z, SUPPORT)[filled] / total[filled], total[filled]


def _ascend(z: Floats, weight: Floats, k: int, concentration: float) -> Floats:
    """Return the responsibilities of a variational mixture for standardised values.

    Priors: means around 0 as sure as one value, variances around 1 with one degree of freedom.
    """
    # Half of the first centres by rows and half by distinct values: where nearly all rows hold
    # one value, rows alone would put every centre there.
    places = (np.arange((k + 1) // 2) + 0.5) / ((k + 1) // 2)
    by_rows = z[np.searchsorted(np.cumsum(weight), places * weight.sum())]
    by_values = z[(places * len(z)).astype(np.intp)]
    centres = np.unique(np.concatenate([by_rows, by_values]))[:k]
    k = len(centres)
    r = np.zeros((len(z), k))
    r[np.arange(len(z)), np.abs(z[:, None] - centres).argmin(axis=1)] = 1.0
    before = np.full(k, np.inf)
    for _ in range(500):
        size = weight @ r + 1e-10
        mean = (weight * z) @ r / size
        scatter = (weight * z**2) @ r - size * mean**2
        precision = 1.0 + size
        location = size * mean / precision
        scale = 1.0 + np.maximum(scatter, 0.0) + size / precision * mean**2
        freedom = 1.0 + size
        tail = np.concatenate([np.cumsum(size[::-1])[-2::-1], [0.0]])
        a, b = 1.0 + size, concentration + tail
        stick, rest = digamma(a) - digamma(a + b), digamma(b) - digamma(a + b)
        log_share = stick + np.concatenate([[0.0], np.cumsum(rest)[:-1]])
        log = (
            log_share
            + 0.5 * (digamma(freedom / 2) + np.log(2.0) - np.log(scale))
            - 0.5 * (1.0 / precision + freedom / scale * (z[:, None] - location) ** 2)
        )
        log -= log.max(axis=1, keepdims=True)
        r = np.exp(log)
        r /= r.sum(axis=1, keepdims=True)
        if np.abs(size - before).max() < 1e-4 * weight.sum():
            break
        before = size
    return r


class Encoding:
    """What a network sees of a table, and rows again from what it says.

    First stand the normalised values of the columns of numbers, one each; then come groups of
    0/1 entries: for a column of numbers one per mode, for a discrete column one per value.

    Parameters
    ----------
    columns : Columns
        The table's columns.
    points : array
        The rows as points.
    components : int
        The most modes of a column.
    """

    def __init__(self, columns: Columns, points: Floats, components: int = 10) -> None:
        self.numbers = [j for j, c in enumerate(columns) if not c.discrete]
        self.discrete = [j for j, c in enumerate(columns) if c.discrete]
        self.modes = [fit_modes(points[:, j], components) for j in self.numbers]
        sizes = [len(m.share) for m in self.modes]
        sizes += [columns.columns[j].count for j in self.discrete]
        self.sizes = np.array(sizes, dtype=np.intp)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.intp)
        self.width = len(self.numbers) + int(self.sizes.sum())

    @property
    def group_of(self) -> NDArray[np.intp]:
        """The group that each 0/1 entry belongs to."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def encode(self, points: Floats, rng: np.random.Generator) -> tuple[Floats, NDArray[np.intp]]:
        """Return normalised values and, per group, the entry that is 1; modes are drawn."""
        values = np.empty((len(points), len(self.numbers)))
        chosen = np.empty((len(points), len(self.sizes)), dtype=np.intp)
        for k, (j, modes) in enumerate(zip(self.numbers, self.modes, strict=True)):
            seen, at = np.unique(points[:, j], return_inverse=True)
            sure = modes.responsibilities(seen).cumsum(axis=1)[at]
            mode = (rng.random((len(points), 1)) > sure[:, :-1]).sum(axis=1)
            chosen[:, k] = mode
            away = (points[:, j] - modes.mean[mode]) / (WIDTH * modes.deviation[mode])
            values[:, k] = np.clip(away, -0.99, 0.99)
        chosen[:, len(self.numbers) :] = points[:, self.discrete]
        return values, chosen

    def one_hot(self, chosen: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the groups of 0/1 entries."""
        out = np.zeros((len(chosen), int(self.sizes.sum())), dtype=np.float32)
        np.put_along_axis(out, chosen + self.starts, 1.0, axis=1)
        return out

    def decode(self, values: Floats, chosen: NDArray[np.intp]) -> Floats:
        """Return points from normalised values and chosen entries."""
        points = np.empty((len(chosen), len(self.numbers) + len(self.discrete)))
        for k, (j, modes) in enumerate(zip(self.numbers, self.modes, strict=True)):
            mode = chosen[:, k]
            inside = np.clip(values[:, k], -1.0, 1.0)
            points[:, j] = modes.mean[mode] + WIDTH * modes.deviation[mode] * inside
        points[:, self.discrete] = chosen[:, len(self.numbers) :]
        return points

    def draw(self, logits: Any, rng: np.random.Generator) -> NDArray[np.intp]:
        """Draw one entry of every group from its softmax (by Gumbel's noise)."""
        noisy = logits - np.log(rng.standard_exponential(logits.shape, dtype=np.float32) + 1e-30)
        return np.stack(
            [
                noisy[:, start : start + size].argmax(axis=1)
                for start, size in zip(self.starts, self.sizes, strict=True)
            ],
            axis=1,
        )
