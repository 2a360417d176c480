"""Many treatments over many blocks: Friedman's test, Nemenyi's critical difference."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike
from scipy.special import fdtrc

from isonomy._arrays import Floats
from isonomy._validate import check_share
from isonomy.errors import InputError
from isonomy.stats._samples import Words, check_labels, floats, reasons
from isonomy.stats.ranks import rank
from isonomy.stats.results import Result


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

    SciPy's ``friedmanchisquare`` for many tables in one call, with Iman and Davenport's F beside
    it, which rejects more often. A table with an undefined value is undefined, and so is one
    in which every block is tied throughout.

    Parameters
    ----------
    values : array-like of shape (..., blocks, treatments)

    Examples
    --------
    >>> table = [[0.90, 0.85, 0.80], [0.70, 0.72, 0.60], [0.95, 0.91, 0.90], [0.81, 0.80, 0.70]]
    >>> test = friedman(table)
    >>> round(float(test.statistic), 4), round(float(test.pvalue), 4), round(float(test.f_pvalue), 4)
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
    with np.errstate(divide="ignore", invalid="ignore"):
        chi, p = scipy.stats.friedmanchisquare(*np.moveaxis(x, -1, 0), axis=-1)
        f = (n - 1) * chi / (n * (k - 1) - chi)
    # full agreement of all blocks: rounding must not make the denominator negative
    f = np.where(np.isclose(chi, n * (k - 1), rtol=1e-12), np.inf, f)
    f_p = np.where(np.isposinf(f), 0.0, fdtrc(k - 1.0, (k - 1.0) * (n - 1.0), f))
    why = reasons(
        (np.isnan(x).any(axis=(-1, -2)), "a value is NaN"),
        ((np.diff(x, axis=-1) == 0).all(axis=(-1, -2)), "every block is tied throughout"),
    )
    chi, p, f, f_p = (np.where(why == "", part, np.nan)[()] for part in (chi, p, f, f_p))
    return Friedman(chi, p, f, f_p, why)


@dataclass(frozen=True, eq=False, repr=False)
class CriticalDifference(Result):
    """Mean ranks of treatments, and how far apart two must lie to differ.

    ``labels``, ``mean_ranks`` and ``pvalues`` are in order of the mean rank, the best (1) first.
    ``groups`` are the largest runs of treatments that do not differ significantly, as pairs (first, last)
    of positions in that order: the bars of a critical difference diagram. They may overlap.
    """

    labels: tuple[Any, ...]
    mean_ranks: Floats
    critical_difference: float
    groups: tuple[tuple[int, int], ...]
    pvalues: Floats
    test: Friedman
    blocks: int
    alpha: float
    larger_is_better: bool
    notes: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether Iman and Davenport's test finds any difference at ``alpha``."""
        return bool(self.test.f_pvalue < self.alpha)

    def frame(self) -> pd.DataFrame:
        """Return one row per treatment: mean rank, the groups it belongs to, p next to the best."""
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

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the critical difference diagram.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default. Needs the extra ``plot``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from isonomy.plots import plot_ranks

        return plot_ranks(self.frame(), self.groups, self.critical_difference, ax=ax)


def friedman_nemenyi(
    values: ArrayLike,
    *,
    labels: Sequence[Hashable] | None = None,
    larger_is_better: bool = True,
    alpha: float = 0.05,
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
    alpha : float
        Significance level; two mean ranks differ when they are the critical difference or more
        apart.

    Examples
    --------
    >>> table = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.5], [0.9, 0.8, 0.6], [0.7, 0.6, 0.5]]
    >>> result = friedman_nemenyi(table, labels=["x", "y", "z"])
    >>> result.labels, result.groups, round(result.critical_difference, 4)
    (('x', 'y', 'z'), ((0, 1), (1, 2)), 1.4823)

    References
    ----------
    Nemenyi 1963, Distribution-free Multiple Comparisons; Demšar 2006, Statistical Comparisons of
    Classifiers over Multiple Data Sets.
    """
    check_share("alpha", alpha)
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
    # the range of k standard normal values: Tukey's studentized range with known variance
    spread = scipy.stats.studentized_range(k, np.inf)
    critical = float(spread.isf(alpha)) / np.sqrt(2.0) * unit
    apart = np.abs(means[:, None] - means[None, :])
    pvalues = np.clip(spread.sf(np.sqrt(2.0) * apart / unit), 0.0, 1.0)
    if test.reason:
        notes.append(f"Friedman's test is undefined: {test.reason}.")
    elif not test.f_pvalue < alpha:
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
        alpha,
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
