"""Scott-Knott as software engineers publish it: medians, Cliff's delta and a bootstrap."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from isonomy._arrays import Floats
from isonomy._validate import check_choice, check_share, make_rng
from isonomy.stats._samples import named_samples
from isonomy.stats.effects import cliffs_delta
from isonomy.stats.results import Result


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Result):
    """Treatments in groups that differ: rank 1 is the best, equal ranks do not differ.

    All arrays are in order of the ranks, then of the centres (``centre`` names which: median or
    mean).
    """

    method: str
    labels: tuple[Any, ...]
    ranks: NDArray[np.int64]
    centres: Floats
    centre: str
    sizes: NDArray[np.int64]
    larger_is_better: bool
    notes: tuple[str, ...]

    def __getitem__(self, label: Any) -> int:
        """Return the rank of one treatment."""
        return int(self.ranks[self.labels.index(label)])

    @property
    def groups(self) -> tuple[tuple[Any, ...], ...]:
        """The labels of each rank, the best first."""
        return tuple(
            tuple(name for name, r in zip(self.labels, self.ranks, strict=True) if r == at)
            for at in range(1, int(self.ranks.max(initial=0)) + 1)
        )

    def frame(self) -> pd.DataFrame:
        """Return one row per treatment: rank, centre and number of values."""
        return pd.DataFrame(
            {
                "rank": self.ranks,
                "treatment": list(self.labels),
                self.centre: self.centres,
                "values": self.sizes,
            }
        )


def divide(
    size: int,
    gain: Callable[[int, int, int], float],
    differ: Callable[[int, int, int], bool],
    *,
    seek: bool,
) -> NDArray[np.int64]:
    """Cut sorted treatments in two again and again; return the group of each, from 0.

    Parameters
    ----------
    size : int
        How many treatments there are.
    gain, differ : callable
        Of (first, cut, end): what a cut is worth, and whether its sides differ.
    seek : bool
        Whether to take the most valuable cut among those that differ; otherwise the most valuable
        of all, if it does.
    """
    group = np.zeros(size, dtype=np.int64)
    following = 0
    waiting = [(0, size)]
    while waiting:
        first, end = waiting.pop()
        best, result = 0.0, None
        for cut in range(first + 1, end):
            worth = gain(first, cut, end)
            if worth > best and (not seek or differ(first, cut, end)):
                best, result = worth, cut
        if result is not None and (seek or differ(first, result, end)):
            waiting += [(result, end), (first, result)]  # the left side is next
        else:
            group[first:end] = following
            following += 1
    return group


def between(centres: Floats, first: int, cut: int, end: int) -> float:
    """Return the sum of squares between two runs of treatments' centres."""
    low, high = centres[first:cut], centres[cut:end]
    share = low.size * high.size / (low.size + high.size)
    with np.errstate(invalid="ignore"):  # two infinite sides: NaN, which no cut wins with
        return float(share * (low.mean() - high.mean()) ** 2)


def kruskal(samples: Sequence[Floats]) -> tuple[float, float]:
    """Return SciPy's statistic and p-value of Kruskal and Wallis; 0 and 1 where all are equal.

    Examples
    --------
    >>> h, p = kruskal([np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])])
    >>> round(h, 4), round(p, 4)
    (3.8571, 0.0495)
    """
    if len({value for sample in samples for value in (sample.min(), sample.max())}) == 1:
        return 0.0, 1.0
    statistic, p = scipy.stats.kruskal(*samples)
    return float(statistic), float(p)


def make_ranking(
    method: str,
    names: Sequence[Any],
    samples: Sequence[Floats],
    centres: Floats,
    centre: str,
    group: NDArray[np.int64],
    *,
    larger_is_better: bool,
    undefined: int,
) -> Ranking:
    """Turn groups of treatments, sorted by rising centres, into ranks with the best first."""
    ranks = group.max(initial=0) - group + 1 if larger_is_better else group + 1
    order = np.arange(len(names))[::-1] if larger_is_better else np.arange(len(names))
    notes = (f"{undefined} undefined values were left out.",) if undefined else ()
    return Ranking(
        method,
        tuple(names[i] for i in order),
        ranks[order],
        centres[order],
        centre,
        np.array([samples[i].size for i in order], dtype=np.int64),
        larger_is_better,
        notes,
    )


def _median(values: Floats, *, upper: bool) -> float:
    """Return the median; of an even number, as published, the upper of the two in the middle."""
    if upper:
        return float(np.partition(values, values.size // 2)[values.size // 2])
    return float(np.median(values))


def _welch(low: Floats, high: Floats) -> Floats:
    """Return Welch's t of ``high`` over ``low`` along the last axis; undivided without spread."""
    gap = high.mean(axis=-1) - low.mean(axis=-1)
    spread = low.var(axis=-1, ddof=1) / low.shape[-1] + high.var(axis=-1, ddof=1) / high.shape[-1]
    return np.asarray(np.where(spread > 0, gap / np.sqrt(np.where(spread > 0, spread, 1.0)), gap))


def _shifted_bootstrap(
    low: Floats, high: Floats, resamples: int, rng: Generator, *, both_sides: bool
) -> float:
    """Return the share of resamples, both samples moved to one mean, that lie further apart.

    NaN where a value is infinite: there is no mean to move to.
    """
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return float("nan")
    observed = _welch(low, high)
    middle = np.concatenate([low, high]).mean()
    drawn = []
    for side in (low, high):
        place = rng.integers(0, side.size, size=(resamples, side.size))
        drawn.append((side - side.mean() + middle)[place])
    result = _welch(drawn[0], drawn[1])
    if both_sides:
        return float(np.mean(np.abs(result) > abs(observed)))
    return float(np.mean(result > observed))


def scott_knott(
    values: ArrayLike | Mapping[Any, ArrayLike],
    *,
    labels: Sequence[Hashable] | None = None,
    larger_is_better: bool = False,
    negligible: float = 0.147,
    resamples: int = 500,
    alpha: float = 0.05,
    protocol: Literal["as_published", "corrected"] = "as_published",
    random_state: Any = 0,
) -> Ranking:
    """Group treatments by Scott and Knott's recursion, with Cliff's delta and a bootstrap.

    Treatments are sorted by their medians. The best cut in two is taken among those whose sides
    differ (as published the one that moves the medians of the sides, all their values together,
    furthest from that of the whole), and each side is cut again until nothing differs.

    Parameters
    ----------
    values : mapping from treatment to runs, or array-like of shape (runs, treatments)
        Undefined values are left out, and a note says how many; infinite ones have ranks but no
        bootstrap, which then says nothing.
    labels : sequence, optional
        The treatments' names, for an array; the columns of a frame give them.
    larger_is_better : bool
        Whether rank 1 is the highest group; the groups themselves do not change.
    negligible : float
        Cliff's delta up to which sides are alike.
    resamples, alpha : int, float
        Of the bootstrap.
    protocol : {"as_published", "corrected"}
        As published (the script that software engineers share): the median of an even number of
        values is the upper of the two in the middle, which draws cuts away from the middle, so
        that even equal treatments may part; the bootstrap looks in one direction, higher side
        above lower, so it never rejects where means and medians disagree; and sides differ if
        *either* says so, which with 20 runs chance alone does in four pairs of ten. Corrected:
        nothing is cut unless Kruskal and Wallis's test finds a difference among its treatments
        (looking for the best of many cuts finds one by chance), then the cut with the largest sum
        of squares between the sides' medians of treatments (Scott and Knott's own), a bootstrap
        in both directions, and sides differ if *both* say so.
    random_state : int, Generator or None
        Of the bootstrap. The script had none: near alpha its groups changed from run to run.

    Examples
    --------
    >>> a, c = [1.0, 2.0, 3.0, 2.0, 4.0], [7.0, 8.0, 9.0, 8.0, 6.0]
    >>> ranking = scott_knott({"a": a, "b": a[::-1], "c": c, "d": c})
    >>> ranking.groups, ranking["d"]
    ((('a', 'b'), ('c', 'd')), 2)

    References
    ----------
    Scott and Knott 1974, A Cluster Analysis Method for Grouping Means in the Analysis of
    Variance; Mittas and Angelis 2013, Ranking and Clustering Software Cost Estimation Models;
    Efron and Tibshirani 1993, An Introduction to the Bootstrap, section 16.2.
    """
    check_choice("protocol", protocol, ("as_published", "corrected"))
    check_share("alpha", alpha)
    names, samples, undefined = named_samples(values, labels)
    rng = make_rng(random_state)
    published = protocol == "as_published"
    centres = np.array([_median(sample, upper=published) for sample in samples])
    order = np.argsort(centres, kind="stable")
    names = tuple(names[i] for i in order)
    samples, centres = [samples[i] for i in order], centres[order]

    def side(first: int, end: int) -> Floats:
        return np.concatenate(samples[first:end])

    def gain(first: int, cut: int, end: int) -> float:
        if not published:
            return between(centres, first, cut, end)
        whole = _median(side(first, end), upper=True)
        low, high = side(first, cut), side(cut, end)
        total = low.size + high.size
        if not np.isfinite(whole):
            return float(low.size * high.size)  # any cut is infinitely good: the most even
        return float(
            low.size / total * (_median(low, upper=True) - whole) ** 2
            + high.size / total * (_median(high, upper=True) - whole) ** 2
        )

    @cache
    def varied(first: int, end: int) -> bool:
        return kruskal(samples[first:end])[1] < alpha

    def differ(first: int, cut: int, end: int) -> bool:
        if not published and not varied(first, end):
            return False
        low, high = side(first, cut), side(cut, end)
        large = abs(float(cliffs_delta(low, high))) > negligible
        if large == published:  # the bootstrap could not change the verdict
            return large
        p = _shifted_bootstrap(low, high, resamples, rng, both_sides=not published)
        return p < alpha

    return make_ranking(
        f"scott_knott({protocol})",
        names,
        samples,
        centres,
        "median",
        divide(len(samples), gain, differ, seek=True),
        larger_is_better=larger_is_better,
        undefined=undefined,
    )
