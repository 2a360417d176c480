"""Many treatments over many blocks: Friedman's test, Nemenyi's critical difference."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import chdtrc, fdtrc, ndtr

from isonomy.errors import InputError
from isonomy.stats._samples import Floats, Words, check_labels, check_share, floats, reasons
from isonomy.stats.ranks import rank, sorted_ranks

__all__ = ["CriticalDifference", "Friedman", "friedman", "friedman_nemenyi", "range_tail"]


@dataclass(frozen=True, eq=False)
class Friedman:
    """Friedman's test and the sharper one of Iman and Davenport; why a cell is NaN."""

    statistic: Floats
    pvalue: Floats
    f: Floats
    f_pvalue: Floats
    reason: Words


def friedman(values: ArrayLike) -> Friedman:
    """Test whether treatments differ over blocks, from their ranks within each block.

    Equal to SciPy's ``friedmanchisquare``, for many tables in one call, with Iman and Davenport's
    F beside it, which is less timid. A table with an undefined value is undefined, and so is one
    in which every block is tied throughout.

    Parameters
    ----------
    values : array-like of shape (..., blocks, treatments)

    Examples
    --------
    >>> table = [[0.90, 0.85, 0.80], [0.70, 0.72, 0.60], [0.95, 0.91, 0.90], [0.81, 0.80, 0.70]]
    >>> found = friedman(table)
    >>> round(float(found.statistic), 4), round(float(found.pvalue), 4), round(float(found.f_pvalue), 4)
    (6.5, 0.0388, 0.0066)

    References
    ----------
    Friedman 1937, The Use of Ranks to Avoid the Assumption of Normality; Iman and Davenport 1980,
    Approximations of the Critical Region of the Friedman Statistic.
    """
    x = floats(values, name="Values")
    if x.ndim < 2 or x.shape[-1] < 3 or x.shape[-2] < 2:
        raise InputError(
            "Friedman's test needs a table of two blocks and three treatments or more; got shape "
            f"{x.shape}: two treatments are compared by wilcoxon."
        )
    n, k = x.shape[-2:]
    sums = rank(x).sum(axis=-2)
    _, tied = sorted_ranks(np.sort(x, axis=-1))
    ties = (tied**2 - 1.0).sum(axis=(-1, -2)) / (n * k * (k * k - 1.0))
    away = 12.0 * ((sums - n * (k + 1) / 2.0) ** 2).sum(axis=-1) / (n * k * (k + 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        chi = away / (1.0 - ties)
        f = (n - 1) * chi / (n * (k - 1) - chi)
    # full agreement of all blocks: rounding must not make the denominator negative
    f = np.where(np.isclose(chi, n * (k - 1), rtol=1e-12), np.inf, f)
    why = reasons(
        (np.isnan(x).any(axis=(-1, -2)), "a value is NaN"),
        (ties >= 1.0, "every block is tied throughout"),
    )
    out = [
        np.where(why == "", found, np.nan)[()]
        for found in (
            chi,
            chdtrc(k - 1.0, chi),
            f,
            np.where(np.isposinf(f), 0.0, fdtrc(k - 1.0, (k - 1.0) * (n - 1.0), f)),
        )
    ]
    return Friedman(out[0], out[1], out[2], out[3], why)


def range_tail(q: ArrayLike, k: int) -> Floats:
    """Give the probability that the range of ``k`` standard normal values is ``q`` or more.

    Tukey's studentized range with known variance; what Nemenyi's test compares with.

    Examples
    --------
    >>> round(float(range_tail(3.314493, 3)), 6)
    0.05
    """
    width = np.asarray(q, dtype=np.float64)[..., None]
    # the largest value lies at z, the others within q below it; smooth, so a plain sum converges
    z = np.linspace(-9.0, 9.0, 721)
    density = np.exp(-z * z / 2.0) / np.sqrt(2.0 * np.pi)
    inside = density * (ndtr(z) - ndtr(z - width)) ** (k - 1)
    return np.asarray(np.clip(1.0 - k * inside.sum(axis=-1) * (z[1] - z[0]), 0.0, 1.0))[()]


@dataclass(frozen=True, eq=False)
class CriticalDifference:
    """Mean ranks of treatments, and how far apart two must lie to differ.

    ``labels``, ``mean_ranks`` and ``pvalues`` are in order of the mean rank, the best (1) first.
    ``groups`` are the largest runs of treatments that cannot be told apart, as pairs (first, last)
    of positions in that order: the bars of a critical difference diagram. They may overlap.
    """

    labels: tuple[Any, ...]
    mean_ranks: Floats
    critical_difference: float
    groups: tuple[tuple[int, int], ...]
    pvalues: Floats
    test: Friedman
    blocks: int
    level: float
    larger_is_better: bool
    notes: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether Iman and Davenport's test finds any difference at the level."""
        return bool(self.test.f_pvalue < self.level)

    def frame(self) -> pd.DataFrame:
        """Give one row per treatment: mean rank, the groups it belongs to, p next to the best."""
        letters = [
            "".join(
                chr(ord("a") + g) if g < 26 else f"({g + 1})"
                for g, (first, last) in enumerate(self.groups)
                if first <= i <= last
            )
            for i in range(len(self.labels))
        ]
        return pd.DataFrame(
            {
                "treatment": list(self.labels),
                "mean_rank": self.mean_ranks,
                "group": letters,
                "p_next_to_best": self.pvalues[0],
            }
        )

    def _repr_html_(self) -> str:
        return self.frame().to_html(index=False, float_format="{:.4f}".format)


def friedman_nemenyi(
    values: ArrayLike,
    *,
    labels: Sequence[Hashable] | None = None,
    larger_is_better: bool = True,
    level: float = 0.05,
) -> CriticalDifference:
    """Rank treatments within blocks and say which mean ranks differ (Friedman, then Nemenyi).

    Parameters
    ----------
    values : array-like of shape (blocks, treatments)
        One value per block and treatment, such as the mean over runs; the columns of a frame give
        the labels. Blocks with an undefined value are left out, and a note says how many.
    labels : sequence, optional
        The treatments' names.
    larger_is_better : bool
        Whether the largest value gets rank 1.
    level : float
        Level of the test; two mean ranks differ when they are the critical difference or more
        apart.

    Examples
    --------
    >>> table = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.5], [0.9, 0.8, 0.6], [0.7, 0.6, 0.5]]
    >>> found = friedman_nemenyi(table, labels=["x", "y", "z"])
    >>> found.labels, found.groups, round(found.critical_difference, 4)
    (('x', 'y', 'z'), ((0, 1), (1, 2)), 1.4823)

    References
    ----------
    Nemenyi 1963, Distribution-free Multiple Comparisons; Demšar 2006, Statistical Comparisons of
    Classifiers over Multiple Data Sets.
    """
    check_share("level", level)
    if labels is None and hasattr(values, "columns"):
        labels = list(values.columns)
    x = floats(values, name="Values")
    if x.ndim != 2:
        raise InputError(f"Values must be a table (blocks, treatments); got {x.ndim} axes.")
    names = check_labels(labels, x.shape[1])
    whole = ~np.isnan(x).any(axis=1)
    notes = []
    if not whole.all():
        notes.append(f"{int((~whole).sum())} of {len(x)} blocks hold undefined values: left out.")
        x = x[whole]
    if len(x) < 2:
        raise InputError(
            f"Two blocks or more must hold every treatment; {len(x)} do: leave out treatments that "
            "are missing in many."
        )
    test = friedman(x)
    n, k = x.shape
    means = rank(x, descending=larger_is_better).mean(axis=0)
    order = np.argsort(means, kind="stable")
    means = means[order]
    unit = np.sqrt(k * (k + 1) / (6.0 * n))
    quantile = float(brentq(lambda q: float(range_tail(q, k)) - level, 1e-6, 30.0))
    critical = quantile / np.sqrt(2.0) * unit
    apart = np.abs(means[:, None] - means[None, :])
    pvalues = np.asarray(range_tail(np.sqrt(2.0) * apart / unit, k))
    if test.reason:
        notes.append(f"Friedman's test is undefined: {test.reason}.")
    elif not test.f_pvalue < level:
        notes.append(
            f"Friedman's test finds no difference (p = {float(test.f_pvalue):.3g}): do not read "
            "pairs of mean ranks."
        )
    if n < 5:
        notes.append(f"{n} blocks are few: Nemenyi's test is an approximation for many.")
    return CriticalDifference(
        tuple(names[i] for i in order),
        means,
        float(critical),
        _runs(means, float(critical)),
        pvalues,
        test,
        n,
        level,
        larger_is_better,
        tuple(notes),
    )


def _runs(ordered: Floats, limit: float) -> tuple[tuple[int, int], ...]:
    """Find the largest runs of two or more sorted values that stay within a limit."""
    out: list[tuple[int, int]] = []
    for first, value in enumerate(ordered):
        last = int(np.searchsorted(ordered, value + limit, side="left")) - 1
        if last > first and (not out or last > out[-1][1]):
            out.append((first, last))
    return tuple(out)
