"""Models on the same rows: which of two is shown to be better, and which fairer, than the other.

Two models are asked about the same people, so their errors go together, and only the rows on which
they differ tell them apart. All pairs of models are counted at once; the standard error of a
difference follows from the influence that one more row of each kind has on each model's metric
(the delta method on joint counts).

A bias is the size of a gap, so "A is fairer than B" says that |gap of A| < |gap of B|. That is so
where the gaps' difference and their sum have opposite signs: both must be shown to differ from 0,
and the p-value is the larger of the two (an intersection-union test).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from isonomy._arrays import Floats
from isonomy._validate import MISSING
from isonomy.audit.judge import FEWEST_ROWS
from isonomy.audit.limits import evidence_of
from isonomy.metrics import Counts, Metric, gap_of
from isonomy.stats import holm

CHUNK = 50_000
"""Rows that are counted at once: memory, not speed."""
SMOOTH = frozenset({"only", "mean", "log"})
"""Ways to combine gaps that have a derivative everywhere; the largest of several has none."""
_SIDES = (("unprivileged",), ("privileged",), (MISSING,))


@dataclass(frozen=True, eq=False)
class SharedRows:
    """Predictions of several models on the same rows, every pair of models counted jointly.

    ``n[side, label, model, prediction, model, prediction]``; sides are the unprivileged, the
    privileged and those whose group is not known. ``w`` and ``w2`` are sums of weights and of
    their squares, equal to ``n`` without weights.
    """

    n: Floats
    w: Floats
    w2: Floats
    classes: tuple[Any, ...]
    favorable: tuple[Any, ...]
    weighted: bool = False

    @classmethod
    def from_codes(
        cls,
        side: NDArray[np.intp],
        label: NDArray[np.intp],
        predictions: Sequence[NDArray[np.intp]],
        classes: Sequence[Any],
        favorable: Sequence[Any],
        weight: Floats | None = None,
    ) -> "SharedRows":
        """Count rows: their side (0, 1, 2), label, predictions (positions among the classes)."""
        size, models = len(classes), len(predictions)
        kinds = (
            [np.ones(label.size)] if weight is None else [np.ones(label.size), weight, weight**2]
        )
        sums = np.zeros((len(kinds), 3 * size, models * size, models * size))
        stratum = side * size + label
        first = np.arange(models) * size
        for k in np.unique(stratum):
            rows = np.flatnonzero(stratum == k)
            for start in range(0, rows.size, CHUNK):
                some = rows[start : start + CHUNK]
                said = np.zeros((some.size, models * size))
                where = np.stack([p[some] for p in predictions], axis=1) + first
                said[np.arange(some.size)[:, None], where] = 1.0
                for kind, values in enumerate(kinds):
                    sums[kind, k] += said.T @ (said * values[some, None])
        cells = sums.reshape(len(kinds), 3, size, models, size, models, size)
        n, w, w2 = cells if weight is not None else (cells[0],) * 3
        return cls(n, w, w2, tuple(classes), tuple(favorable), weight is not None)

    @property
    def models(self) -> int:
        """The number of models."""
        return int(self.n.shape[2])

    def counts(self) -> Counts:
        """Return the counts of each model alone, models as the leading axis."""
        n, w, w2 = (np.einsum("symama->msya", c) for c in (self.n, self.w, self.w2))
        return Counts(
            n=n,
            attributes=("group",),
            groups=_SIDES,
            classes=self.classes,
            favorable=self.favorable,
            privileged={"group": _SIDES[1]},
            w=w if self.weighted else None,
            w2=w2 if self.weighted else None,
        )

    def differing(self) -> Floats:
        """Return on how many rows each pair of models differs."""
        agree = np.einsum("symaka->mk", self.n)
        return np.asarray(self.n[:, :, 0, :, 0, :].sum() - agree)

    def variance(self, influence: Floats, sign: float) -> Floats:
        """Return the variance of ``first + sign * second`` of every pair of models.

        Half a row is added to every cell of two predictions, so that models that differ on few
        rows, or on none of a small group, are not taken to differ on none for certain.
        """
        own = np.einsum("msya,msya,symama->m", influence, influence, self.w2)
        both = np.einsum("msya,symakb,ksyb->mk", influence, self.w2, influence, optimize=True)
        rows = self.n[:, :, 0, :, 0, :].sum(axis=(-1, -2))
        size = self.w2[:, :, 0, :, 0, :].sum(axis=(-1, -2)) / np.maximum(rows, 1.0)
        half = 0.5 * size * len(self.classes)  # an unoccupied stratum has size 0
        own = own + np.einsum("msya,msya,sy->m", influence, influence, half)
        total = influence.sum(axis=-1)
        both = both + np.einsum("msy,ksy,sy->mk", total, total, half / len(self.classes))
        return np.asarray(own[:, None] + own[None, :] + 2 * sign * both)


def values_of(metric: Metric, counts: Counts) -> Floats:
    """Return a metric of each model."""
    return np.asarray(metric.fn(counts, **metric.parameters), dtype=np.float64)


def influence_of(metric: Metric, counts: Counts) -> Floats:
    """Return what one more row (of weight 1) in a cell adds to each model's metric."""
    cells = counts.values
    out = np.zeros_like(cells)
    for at in np.ndindex(*cells.shape[-3:]):
        step = np.zeros_like(cells)
        step[(..., *at)] = 1e-4 * np.maximum(cells[(..., *at)], 1.0)
        above, below = (values_of(metric, _moved(counts, s * step)) for s in (1.0, -1.0))
        out[(..., *at)] = (above - below) / (2 * step[(..., *at)])
    return out


def _moved(counts: Counts, step: Floats) -> Counts:
    if counts.w is None:
        return replace(counts, n=counts.n + step)
    return replace(counts, w=counts.w + step)


def why_untested(metric: Metric) -> str | None:
    """Say why models cannot be compared by a fairness metric, or None where they can."""
    if metric.parts is None or metric.parameters.get("compare") not in {None, "privileged"}:
        return f"{metric.name} is no gap between a privileged group and the others"
    if metric.parts.combine not in SMOOTH:
        return f"{metric.name} is the largest, or the mean size, of several gaps"
    return None


@dataclass(frozen=True, eq=False)
class Comparison:
    """All pairs of models by one metric: ``difference[one, other]`` and p-values, NaN: not tested.

    ``difference`` is one minus other, of the performance or of the bias.
    """

    difference: Floats
    pvalue: Floats


def compare_performance(shared: SharedRows, metric: Metric) -> Comparison:
    """Compare every pair of models by a performance metric."""
    counts = shared.counts()
    value, influence = values_of(metric, counts), influence_of(metric, counts)
    difference = value[:, None] - value[None, :]
    return Comparison(difference, _pvalue(difference, shared.variance(influence, -1.0)))


def compare_bias(shared: SharedRows, metric: Metric) -> Comparison:
    """Compare every pair of models by the size of a gap."""
    counts = shared.counts()
    gap = gap_of(metric, values_of(metric, counts))
    difference = np.abs(gap)[:, None] - np.abs(gap)[None, :]
    if why_untested(metric) is not None:
        return Comparison(difference, np.full_like(difference, np.nan))
    assert metric.parts is not None
    influence = influence_of(metric, counts)
    apart = _pvalue(gap[:, None] - gap[None, :], shared.variance(influence, -1.0))
    opposed = _pvalue(gap[:, None] + gap[None, :], shared.variance(influence, 1.0))
    rows = evidence_of(metric.parts, counts.by_privilege()).fewest.min(axis=-1)
    few = rows < FEWEST_ROWS
    pvalue = np.where(few[:, None] | few[None, :], np.nan, np.maximum(apart, opposed))
    return Comparison(difference, pvalue)


def _pvalue(difference: Floats, variance: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(difference) / np.sqrt(variance)
    return np.asarray(2 * ndtr(-np.where(difference == 0, 0.0, z)))


def taken_together(performance: Comparison, bias: Comparison) -> tuple[Floats, Floats]:
    """Return the p-values of all pairs on both goals, adjusted together (Holm), as matrices."""
    one, other = np.triu_indices(len(performance.pvalue), 1)
    pairs = [c.pvalue[one, other] for c in (performance, bias)]
    adjusted = np.split(holm(np.concatenate(pairs)), 2) if one.size else [np.empty(0)] * 2
    out = []
    for values in adjusted:
        matrix = np.full(performance.pvalue.shape, np.nan)
        matrix[one, other] = matrix[other, one] = values
        out.append(matrix)
    return out[0], out[1]


def rank_range(better: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the best and the worst rank that each model may have.

    ``better[one, other]`` says that one is shown to be better than other. With all pairs held
    together, so are these ranges: the true ranks of all models lie in them.

    Examples
    --------
    >>> low, high = rank_range(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool))
    >>> low.tolist(), high.tolist()
    ([1, 1, 3], [2, 2, 3])
    """
    return 1 + better.sum(axis=0), len(better) - better.sum(axis=1)
