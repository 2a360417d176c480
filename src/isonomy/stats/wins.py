"""How often each treatment wins, ties and loses against each other one."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from isonomy._arrays import Floats
from isonomy._validate import check_choice, check_share
from isonomy.errors import InputError
from isonomy.stats._samples import check_labels, floats
from isonomy.stats.effects import cliffs_delta
from isonomy.stats.multiple import benjamini_hochberg, holm
from isonomy.stats.results import Result
from isonomy.stats.tests import mann_whitney, wilcoxon

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class WinTieLoss(Result):
    """Blocks in which the treatment of a row wins, ties or is undefined next to a column's.

    Losses are the transposed wins.
    """

    labels: tuple[Any, ...]
    wins: Counts
    ties: Counts
    undefined: Counts
    blocks: int
    rule: str

    @property
    def losses(self) -> Counts:
        """The blocks in which the treatment of a row loses."""
        return self.wins.T

    def frame(self, reference: Any = None) -> pd.DataFrame:
        """Return wins, ties and losses of each treatment, against all others or against one.

        Sorted by wins less losses.
        """
        parts = {"win": self.wins, "tie": self.ties, "loss": self.losses}
        parts["undefined"] = self.undefined
        if reference is None:
            counted = {name: part.sum(axis=1) for name, part in parts.items()}
        else:
            check_choice("treatment", reference, self.labels)
            counted = {name: part[:, self.labels.index(reference)] for name, part in parts.items()}
        table = pd.DataFrame({"treatment": list(self.labels)} | counted)
        table = table[[reference is None or label != reference for label in self.labels]]
        score = table["win"] - table["loss"]
        return table.iloc[np.argsort(-score.to_numpy(), kind="stable")].reset_index(drop=True)


def win_tie_loss(
    values: ArrayLike,
    *,
    labels: Sequence[Hashable] | None = None,
    larger_is_better: bool = True,
    test: Literal["mann_whitney", "wilcoxon"] | None = "mann_whitney",
    alpha: float = 0.05,
    adjust: Literal["holm", "benjamini_hochberg"] | None = None,
    negligible: float = 0.0,
) -> WinTieLoss:
    """Compare every two treatments in every block and count who wins.

    Parameters
    ----------
    values : array-like of shape (blocks, treatments, runs), or (blocks, treatments)
        Runs, or without a test one number such as a mean or a Scott-Knott rank.
    labels : sequence, optional
        The treatments' names.
    larger_is_better : bool
        Which value wins.
    test : {"mann_whitney", "wilcoxon"} or None
        A win must be significant: for runs of their own, or for paired runs (the same splits).
        None takes any difference for a win.
    alpha : float
        Significance level of the test.
    adjust : {"holm", "benjamini_hochberg"}, optional
        How p-values are adjusted, over all pairs in all blocks as one family.
    negligible : float
        A win also needs a Cliff's delta of this size or more (0.147 leaves negligible ones out).

    Examples
    --------
    >>> values = [[[0.8, 0.9, 0.8, 0.9, 0.8], [0.5, 0.6, 0.5, 0.6, 0.4]]]
    >>> win_tie_loss(values, labels=["new", "old"]).frame(reference="old").to_dict("records")
    [{'treatment': 'new', 'win': 1, 'tie': 0, 'loss': 0, 'undefined': 0}]

    References
    ----------
    Kocaguneli, Menzies, Bener and Keung 2012, Exploiting the Essential Assumptions of
    Analogy-Based Effort Estimation.
    """
    check_choice("test", str(test), ("mann_whitney", "wilcoxon", "None"))
    check_choice("adjustment", str(adjust), ("holm", "benjamini_hochberg", "None"))
    check_share("alpha", alpha)
    x = floats(values, name="Values")
    axes = 2 if test is None else 3
    if x.ndim != axes:
        shape = "(blocks, treatments)" if test is None else "(blocks, treatments, runs)"
        raise InputError(f"Values must have the axes {shape} here; got {x.ndim} axes.")
    blocks, size = x.shape[:2]
    names = check_labels(labels, size)
    one, other = np.triu_indices(size, k=1)
    lead, undefined = _compare(x[:, one], x[:, other], test, alpha, adjust, negligible)
    lead = lead if larger_is_better else -lead
    wins, ties, holes = (np.zeros((size, size), dtype=np.int64) for _ in range(3))
    wins[one, other] = (lead > 0).sum(axis=0)
    wins[other, one] = (lead < 0).sum(axis=0)
    ties[one, other] = ((lead == 0) & ~undefined).sum(axis=0)
    holes[one, other] = undefined.sum(axis=0)
    rule = "any difference" if test is None else f"{test} at {alpha:g}"
    if adjust is not None:
        rule += f", {adjust}"
    if negligible:
        rule += f", |delta| of {negligible:g} or more"
    return WinTieLoss(names, wins, ties + ties.T, holes + holes.T, blocks, rule)


def _compare(
    a: Floats, b: Floats, test: str | None, alpha: float, adjust: str | None, negligible: float
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return 1 where ``a`` lies above, -1 below, 0 where neither; and where that is undefined."""
    if test is None:
        undefined = np.isnan(a) | np.isnan(b)
        # no subtraction: two equal infinities tie
        return (a > b).astype(np.float64) - (a < b), undefined
    delta = cliffs_delta(a, b)
    if test == "mann_whitney":
        p, direction = mann_whitney(a, b).pvalue, np.sign(delta)
    else:
        p = wilcoxon(a, b).pvalue
        up = wilcoxon(a, b, alternative="greater").statistic
        down = wilcoxon(b, a, alternative="greater").statistic
        direction = np.sign(up - down)
    undefined = np.isnan(p)
    if adjust is not None:
        p = (holm if adjust == "holm" else benjamini_hochberg)(p)
    with np.errstate(invalid="ignore"):
        counts = (p < alpha) & (np.abs(delta) >= negligible)
    return np.where(counts, direction, 0.0), undefined
