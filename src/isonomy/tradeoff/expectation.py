"""The mean over infinitely many mutations, exact or with a stated error bound."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from isonomy._arrays import Floats
from isonomy._validate import make_rng
from isonomy.metrics import Counts
from isonomy.tradeoff.mutation import (
    Target,
    check_degrees,
    draw,
    resolve_target,
    rows_to_mutate,
)

Values = Callable[[Counts], Floats]

_CERTAIN = 4.0  # standard errors in the bound of a simulated expectation
_LARGEST_BATCH = 1 << 17
_MOST_OUTCOMES = 4e6
_REACH = 5.5  # standard deviations to either side that are summed over


@dataclass(frozen=True)
class Expected:
    """An expectation per degree and the bound of its error (0: exact)."""

    value: Floats
    error: Floats


def expected(
    counts: Counts,
    metric: Values,
    degrees: ArrayLike | None = None,
    *,
    ideal: float | None = None,
    target: Target | None = None,
    tolerance: float = 1e-4,
    random_state: int | np.random.Generator | None = 0,
) -> Expected:
    """Compute what the mean over infinitely many mutations would be, averaged over splits.

    A metric that is linear in the cells has its expectation at the expected cells: exact. Its
    distance from an ideal value has that expectation too where it cannot change sides; how far it
    can be off otherwise is bounded by Bernstein's inequality, and a small bound is stated.
    Everything else is summed over all outcomes that can matter where these are few (small data),
    and simulated otherwise, with the cells as control variates (their means are known), until
    four standard errors are within the tolerance; those are the bound stated then.

    Parameters
    ----------
    counts : Counts
        The original predictions; leading axes are splits.
    metric : callable
        A function of counts that broadcasts over leading axes, such as a registered metric.
    degrees : array-like, optional
        Shares of rows to overwrite; 0, 0.1, ... 1 by default.
    ideal : float, optional
        Average ``|metric - ideal|`` instead of the metric itself.
    target : Target, optional
        What overwritten predictions become; the majority label by default.
    tolerance : float
        The largest error bound accepted.
    random_state : int, Generator or None
        Seed of what must be simulated.

    Examples
    --------
    >>> from isonomy.metrics import get_metric
    >>> counts = Counts.from_labels([1, 0, 0, 0], [1, 0, 1, 0], sensitive_features=list("aabb"))
    >>> result = expected(counts, get_metric("accuracy"), [0, 0.5, 1])
    >>> result.value.tolist(), result.error.tolist()
    ([0.75, 0.75, 0.75], [0.0, 0.0, 0.0])
    """
    rng = make_rng(random_state)
    target = resolve_target(counts) if target is None else target
    chosen = rows_to_mutate(counts, check_degrees(degrees))
    flat = counts.map_cells(lambda cells: cells.reshape(-1, *cells.shape[-3:]))
    splits = flat.n.shape[0]
    chosen = chosen.reshape(-1, splits)
    value, error = _at_the_mean(flat, chosen, target, metric, ideal, rng)
    # errors of simulated splits are independent, so each may be larger than that of their mean
    each = tolerance * np.sqrt(splits)
    simulated = ~(error <= tolerance / 10)
    for d, s in zip(*np.nonzero(simulated), strict=True):
        one = flat.map_cells(lambda cells, s=s: cells[s])  # type: ignore[misc]
        value[d, s], error[d, s] = _average(one, chosen[d, s], target, metric, ideal, each, rng)
    random = np.sqrt((np.where(simulated, error, 0.0) ** 2).sum(axis=1))
    bound = (np.where(simulated, 0.0, error).sum(axis=1) + random) / splits
    return Expected(value.mean(axis=1), bound)


def _away(values: Floats, ideal: float | None) -> Floats:
    return values if ideal is None else np.abs(values - ideal)


def _moved(counts: Counts, share: Floats, target: Target) -> Counts:
    """Move a share of every cell to the target."""

    def move(cells: Floats) -> Floats:
        moved = cells * share
        return np.asarray(
            cells - moved + moved.sum(axis=-1, keepdims=True) * np.asarray(target.share)
        )

    return counts.map_cells(move)


def _is_linear(counts: Counts, metric: Values, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Find, per split, whether a metric is linear in how the rows of each label are predicted.

    Midpoints of pairs of random arrangements are tried over the whole range of arrangements: a
    kink or a curve anywhere in it shows at some pair.
    """
    lead = (24, *counts.n.shape[:-1])
    first, second = (rng.dirichlet(np.ones(len(counts.classes)), size=lead) for _ in range(2))

    def at(share: Floats) -> Floats:
        return metric(counts.map_cells(lambda cells: cells.sum(axis=-1, keepdims=True) * share))

    gap = np.abs(at((first + second) / 2) - (at(first) + at(second)) / 2)
    return np.asarray((gap <= 1e-12).all(axis=0))


def _at_the_mean(
    counts: Counts,
    chosen: NDArray[np.int64],
    target: Target,
    metric: Values,
    ideal: float | None,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Evaluate at the expected cells; the error is 0, a bound, or infinite where unknown."""
    total = counts.n.sum(axis=(-1, -2, -3))
    middle = metric(_moved(counts, (chosen / total)[..., None, None, None], target))
    value = _away(middle, ideal)
    certain = (chosen == 0) | ((chosen == total) & (target.label is not None))
    linear = _is_linear(counts, metric, rng)
    if ideal is None or target.label is None or not linear.any():
        exact = certain | (linear if ideal is None else False)
        return value, np.where(exact, 0.0, np.inf)
    # how much each cell moves the metric when all of it is overwritten
    shape = counts.n.shape[-3:]
    one_by_one = np.eye(int(np.prod(shape))).reshape(-1, 1, *shape)
    effect = metric(_moved(counts, one_by_one, target)) - metric(counts)
    effect = np.moveaxis(effect, 0, -1).reshape(counts.n.shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        rows = np.where(counts.n > 0, counts.n, 1.0)
        if counts.w is None or counts.w2 is None:
            squares, largest = effect**2 / rows, np.abs(effect) / rows
        else:  # a single row may carry all the weight of its cell
            squares = np.where(counts.w > 0, effect**2 * counts.w2 / counts.w**2, 0.0)
            largest = np.abs(effect)
    mean = effect.sum(axis=(-1, -2, -3)) / total
    fewer = np.minimum(chosen, total - chosen)  # the rows left alone are a random draw too
    variance = np.maximum(squares.sum(axis=(-1, -2, -3)) / total - mean**2, 0.0) * fewer
    step = largest.max(axis=(-1, -2, -3)) + np.abs(mean)
    with np.errstate(invalid="ignore", divide="ignore"):
        # E|D| - |E D| is twice the mean of what lies on the other side of 0
        rate = value / (2 * (variance + step * value / 3))
        bound = 2 * np.exp(-rate * value) / rate
    bound = np.where(linear & ~np.isnan(bound), bound, np.inf)
    return value, np.where(certain, 0.0, bound)


class _Simulation:
    """A running average of simulated values, with the cells as control variates."""

    def __init__(self, counts: Counts, chosen: int, target: Target) -> None:
        self.counts, self.chosen, self.target = counts, chosen, target
        self.known = _moved(counts, np.asarray(chosen / counts.n.sum()), target).values
        # cells that rows can lie in; the last class is what the others leave
        labels = counts.n.sum(axis=-1, keepdims=True) > 0
        self.cells = np.broadcast_to(labels, counts.n.shape).copy()
        self.cells[..., -1] = False
        self.gram = np.zeros((int(self.cells.sum()) + 2,) * 2)  # of [1, cells, value]
        self.done = 0
        self.mean, self.variance = np.nan, np.inf

    def add(self, batch: int, value: Values, rng: np.random.Generator) -> None:
        drawn = draw(self.counts, np.asarray(self.chosen), self.target, batch, rng)
        cells = (drawn.values - self.known)[:, self.cells] / np.sqrt(self.known.sum())
        table = np.column_stack([np.ones(batch), cells, value(drawn)])
        self.gram += table.T @ table
        self.done += batch
        if np.isnan(self.gram).any():
            self.mean, self.variance = np.nan, np.nan
            return
        slope, *_ = np.linalg.lstsq(self.gram[:-1, :-1], self.gram[:-1, -1], rcond=1e-10)
        left = max(self.gram[-1, -1] - slope @ self.gram[:-1, -1], 0.0)
        self.mean, self.variance = float(slope[0]), left / max(self.done - slope.size, 1)

    @property
    def error(self) -> float:
        return float(_CERTAIN * np.sqrt(self.variance / self.done) + 1e-14)


def _average(
    counts: Counts,
    chosen: int,
    target: Target,
    metric: Values,
    ideal: float | None,
    tolerance: float,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Simulate until the bound is within the tolerance, or add up all outcomes if that is less work."""

    def value(drawn: Counts) -> Floats:
        return _away(metric(drawn), ideal)

    simulation = _Simulation(counts, chosen, target)
    outcomes: _Outcomes | None = None
    batch = 4096
    while True:
        simulation.add(batch, value, rng)
        if not simulation.error > tolerance:  # NaN stops, too
            return simulation.mean, simulation.error
        wanted = simulation.variance * (_CERTAIN / tolerance) ** 2 - simulation.done
        if outcomes is None and target.label is not None and not counts.weighted:
            outcomes = _Outcomes(counts, chosen, target, value, rng)
            if outcomes.number < min(wanted, _MOST_OUTCOMES):
                return outcomes.average(value)
        batch = int(np.clip(1.1 * wanted, 4096, _LARGEST_BATCH))


class _Outcomes:
    """Every outcome of a mutation that has a chance worth counting, for few cells."""

    def __init__(
        self, counts: Counts, chosen: int, target: Target, value: Values, rng: np.random.Generator
    ) -> None:
        self.counts, self.chosen = counts, chosen
        self.label = target.share.index(1.0)
        cells = counts.n.astype(np.int64)
        total = int(cells.sum())
        # cells whose overwriting the value can feel, tried over the whole range
        shares = rng.uniform(size=(24, 1, *counts.n.shape))
        each = np.eye(cells.size).reshape(1, -1, *cells.shape)
        with_, without = np.maximum(shares, each), shares * (1 - each)
        felt = np.abs(value(_moved(counts, with_, target)) - value(_moved(counts, without, target)))
        matters = ~(felt <= 1e-14).all(axis=0).reshape(cells.shape) & (cells > 0)
        matters[..., self.label] = False
        self.where = np.argwhere(matters)
        self.sizes = cells[matters]
        self.rest = total - int(self.sizes.sum())
        mean = chosen * self.sizes / total
        spread = np.sqrt(mean * (1 - self.sizes / total) * (total - chosen) / max(total - 1, 1))
        low = np.maximum(np.floor(mean - _REACH * spread - 1), 0).astype(np.int64)
        low = np.maximum(low, chosen - (total - self.sizes))
        high = np.minimum(np.ceil(mean + _REACH * spread + 1), np.minimum(self.sizes, chosen))
        self.ranges = [np.arange(a, b + 1) for a, b in zip(low, high.astype(np.int64), strict=True)]
        self.number = float(np.prod([float(r.size) for r in self.ranges]))

    def average(self, value: Values) -> tuple[float, float]:
        """Add up value times probability; what was left out bounds the error."""
        total = self.rest + int(self.sizes.sum())
        log_all = _log_choose(total, self.chosen)
        mass = sums = largest = 0.0
        inner = np.meshgrid(*self.ranges[1:], indexing="ij")
        for first in self.ranges[0]:  # one slice at a time bounds the memory
            taken = np.stack(
                [np.full(inner[0].shape, first), *inner] if inner else [first], axis=-1
            )
            taken = taken.reshape(-1, len(self.ranges))
            others = self.chosen - taken.sum(axis=-1)
            possible = (others >= 0) & (others <= self.rest)
            taken, others = taken[possible], others[possible]
            if not len(taken):
                continue
            chance = np.exp(
                _log_choose(self.sizes, taken).sum(axis=-1)
                + _log_choose(self.rest, others)
                - log_all
            )
            n = np.repeat(self.counts.n[None], len(taken), axis=0)
            for column, (g, t, p) in enumerate(self.where):
                n[:, g, t, p] -= taken[:, column]
                n[:, g, t, self.label] += taken[:, column]
            values = value(replace(self.counts, n=n))
            mass += float(chance.sum())
            sums += float(chance @ values)
            largest = max(largest, float(np.abs(values).max()))
        return sums / mass, 2 * largest * max(1 - mass, 0.0) + 1e-12


def _log_choose(n: NDArray[np.int64] | int, k: NDArray[np.int64] | int) -> Floats:
    return np.asarray(
        gammaln(np.add(n, 1)) - gammaln(np.add(k, 1)) - gammaln(np.subtract(n, k) + 1)
    )
