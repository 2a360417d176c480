"""Quality of scores: ranking, squared error, log loss, calibration.

Scores are probabilities of the favourable outcome. They are not a function of counts; a fine
histogram of them nearly is, and that is what intervals and out-of-core files use.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomy._arrays import Floats
from isonomy._files import open_table, sql_name
from isonomy._groups import is_missing, sort_key
from isonomy._validate import (
    MISSING,
    check_columns,
    check_length,
    check_score,
    check_weight,
    resolve_favorable,
)
from isonomy.errors import InputError
from isonomy.metrics.counts import Counts
from isonomy.metrics.metric import add_metric
from isonomy.metrics.query import Bins, banded
from isonomy.metrics.rates import add_up, divide

CALIBRATION_BINS = 15


def _prepare(
    y_true: ArrayLike, score: ArrayLike, favorable: Any, sample_weight: ArrayLike | None
) -> tuple[NDArray[np.bool_], Floats, Floats]:
    labels = np.asarray(y_true)
    values = check_score(score)
    check_length("score", values.size, "y_true", labels.size)
    classes = sorted(
        {v.item() if hasattr(v, "item") else v for v in np.unique(labels)}, key=sort_key
    )
    if len(classes) < 2 and favorable is None:
        favorable = 1
    named = resolve_favorable(classes, favorable) if len(classes) > 1 else (favorable,)
    weight = np.ones(values.size) if sample_weight is None else check_weight(sample_weight)
    check_length("sample_weight", weight.size, "y_true", labels.size)
    return np.isin(labels, list(named)), values, weight


def _measure(
    y_true: ArrayLike,
    score: ArrayLike,
    *,
    of: Callable[..., Floats],
    favorable: Any,
    sample_weight: ArrayLike | None,
    **options: Any,
) -> float:
    """Compute a metric of (favourable or not, scores, weights); all but AUC need probabilities."""
    good, values, weight = _prepare(y_true, score, favorable, sample_weight)
    if of is not _roc_auc and values.size and (values.min() < 0 or values.max() > 1):
        raise InputError(
            f"This metric needs probabilities between 0 and 1; scores run from "
            f"{values.min():g} to {values.max():g}: only roc_auc takes any score."
        )
    return float(of(good, values, weight, **options))


def _roc_auc(good: NDArray[np.bool_], values: Floats, weight: Floats) -> Floats:
    _, place = np.unique(values, return_inverse=True)
    positive = add_up(place, weight * good)
    negative = add_up(place, weight * ~good, positive.size)
    return _auc(positive, negative)


def _auc(positive: Floats, negative: Floats) -> Floats:
    """P(score of a positive > score of a negative), ties half, along the last axis."""
    below = np.cumsum(negative, axis=-1) - negative
    won = (positive * (below + 0.5 * negative)).sum(axis=-1)
    return divide(won, positive.sum(axis=-1) * negative.sum(axis=-1))


def _brier(good: NDArray[np.bool_], values: Floats, weight: Floats) -> Floats:
    return np.asarray(np.average((values - good) ** 2, weights=weight))


def _loss(good: NDArray[np.bool_], values: Floats) -> Floats:
    tiny = np.finfo(np.float64).eps  # scikit-learn's clip
    return np.asarray(-np.log(np.clip(np.where(good, values, 1.0 - values), tiny, 1.0 - tiny)))


def _log_loss(good: NDArray[np.bool_], values: Floats, weight: Floats) -> Floats:
    return np.asarray(np.average(_loss(good, values), weights=weight))


def _equal_mass(mass: Floats, bins: int) -> NDArray[np.intp]:
    """Return each of the ordered cells a bin, so that bins hold about equal mass."""
    middle = np.cumsum(mass) - 0.5 * mass
    return np.asarray(np.minimum((middle / mass.sum() * bins).astype(np.intp), bins - 1))


def _calibration_error(
    good: NDArray[np.bool_], values: Floats, weight: Floats, *, bins: int
) -> Floats:
    _, place = np.unique(values, return_inverse=True)
    binned = _equal_mass(add_up(place, weight), bins)[place]
    gap = add_up(binned, weight * (good - values))
    return np.asarray(np.abs(gap).sum() / weight.sum())


# ---------------------------------------------------------------------- histograms of scores


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores as a histogram ``[..., group, y01, bin]``, with what each cell holds on average.

    Attributes
    ----------
    n, w : ndarray of shape (..., groups, 2, bins)
        Rows and weights per cell, bins ordered by score.
    mean, square, loss : ndarray of shape (groups, 2, bins)
        Mean score, mean squared error and mean log loss of a cell's rows.
    groups : tuple of tuple
        As in :class:`Counts`.
    probabilities : bool
        Whether all scores lie between 0 and 1.
    """

    n: Floats
    w: Floats
    mean: Floats
    square: Floats
    loss: Floats
    groups: tuple[tuple[Any, ...], ...]
    probabilities: bool

    @classmethod
    def from_arrays(
        cls,
        good: NDArray[np.bool_],
        score: Floats,
        group: NDArray[np.intp],
        groups: tuple[tuple[Any, ...], ...],
        weight: Floats | None = None,
        *,
        bins: int = 256,
    ) -> Self:
        """Build the histogram of arrays; few distinct scores each get a bin of their own."""
        result, place = np.unique(score, return_inverse=True)
        if result.size > bins:
            place = _equal_mass(np.bincount(place).astype(np.float64), bins)[place]
        size = int(place.max()) + 1
        index = (group * 2 + good) * size + place
        weights = np.ones(score.size) if weight is None else weight

        def total(values: Floats) -> Floats:
            return add_up(index, values, len(groups) * 2 * size).reshape(len(groups), 2, size)

        inside = bool(score.min() >= 0 and score.max() <= 1)
        loss = _loss(good, np.clip(score, 0.0, 1.0))
        w = total(weights)
        divisor = np.where(w > 0, w, 1.0)
        return cls(
            n=total(np.ones(score.size)),
            w=w,
            mean=total(weights * score) / divisor,
            square=total(weights * (score - good) ** 2) / divisor,
            loss=total(weights * loss) / divisor,
            groups=groups,
            probabilities=inside,
        )

    @classmethod
    def from_query(
        cls,
        source: str | os.PathLike[str],
        counts: Counts,
        *,
        label: str,
        score: str,
        weight: str | None = None,
        table: str | None = None,
        bands: Bins | None = None,
        bins: int = 4096,
    ) -> Self:
        """Build the histogram of a score column of a file; the rows never enter Python.

        Squared error and log loss come out exact; ranking and calibration see scores of one bin
        as equal (:meth:`auc_error` bounds what that can do). ``bands`` cut numbers into groups.
        """
        s = f"CAST({sql_name(score)} AS DOUBLE)"
        w = f"CAST({sql_name(weight)} AS DOUBLE)" if weight else "1.0"
        keys = ", ".join([*(banded(a, bands) for a in counts.attributes), sql_name(label)])
        tiny = repr(float(np.finfo(np.float64).eps))
        with open_table(source, table) as file:
            check_columns([score], list(file.columns))
            lowest, highest, absent = file.execute(
                f"SELECT MIN({s}), MAX({s}), COUNT(*) FILTER (NOT isfinite({s}) OR {s} IS NULL) "
                f"FROM {file.rows}"
            ).fetchone()
            if absent:
                raise InputError(
                    f"Scores must be finite numbers; {absent:,} rows of {score!r} are not."
                )
            inside = lowest >= 0 and highest <= 1
            low, width = (0.0, 1.0) if inside else (lowest, max(highest - lowest, 1e-300))
            loss = f"GREATEST(LEAST({s}, 1 - {tiny}), {tiny})" if inside else "0.5"
            cells = file.execute(
                f"SELECT {keys}, CAST(LEAST(FLOOR(({s} - {low!r}) / {width!r} * {bins}), {bins - 1})"
                f" AS INTEGER) AS bin, COUNT(*), SUM({w}), SUM({w} * {s}), SUM({w} * {s} * {s}), "
                f"SUM(-{w} * LN({loss})), SUM(-{w} * LN(1 - {loss})) "
                f"FROM {file.rows} GROUP BY {keys}, bin"
            ).fetchall()
        k = len(counts.attributes)
        place = {group: i for i, group in enumerate(counts.groups)}
        at = [
            (
                place[tuple(MISSING if is_missing(v) else v for v in cell[:k])],
                int(cell[k] in counts.favorable),
                cell[k + 1],
            )
            for cell in cells
        ]
        totals = np.zeros((6, len(counts.groups), 2, bins))
        sums = np.array([cell[k + 2 :] for cell in cells], dtype=np.float64)
        np.add.at(totals, (slice(None), *np.array(at, dtype=np.intp).T), sums.T)
        n, mass, first, second, loss_good, loss_bad = totals
        divisor = np.where(mass > 0, mass, 1.0)
        y = np.array([0.0, 1.0])[:, None]
        return cls(
            n=n,
            w=mass,
            mean=first / divisor,
            square=(second - 2 * y * first + y * mass) / divisor,
            loss=np.where(y == 1, loss_good, loss_bad) / divisor,
            groups=counts.groups,
            probabilities=bool(inside),
        )

    def merge(self, index: NDArray[np.intp], groups: tuple[tuple[Any, ...], ...]) -> Self:
        """Add up groups that share an index."""
        into = np.equal(index[None, :], np.arange(len(groups))[:, None]).astype(np.float64)

        def add(cells: Floats) -> Floats:
            return np.asarray(np.einsum("kg,...gyb->...kyb", into, cells))

        return replace(self._joined(add), groups=groups)

    def _joined(self, add: Callable[[Floats], Floats]) -> Self:
        """Add cells up; means are weighted."""
        w = add(self.w)
        mass = np.where(w > 0, w, 1.0)
        mean, square, loss = (
            add(self.w * each) / mass for each in (self.mean, self.square, self.loss)
        )
        return replace(self, n=add(self.n), w=w, mean=mean, square=square, loss=loss)

    def pooled(self) -> Self:
        """Add all groups up into one."""
        return self.merge(np.zeros(len(self.groups), dtype=np.intp), (("all",),))

    def coarse(self, bins: int = 128) -> Self:
        """Join neighbouring bins until at most ``bins`` are left (no leading axes)."""
        if self.n.shape[-1] <= bins:
            return self
        place = _equal_mass(np.maximum(self.n.sum(axis=(0, 1)), 1e-300), bins)
        into = np.equal(place[:, None], np.arange(bins)).astype(np.float64)
        return self._joined(lambda cells: cells @ into)

    def resample(self, n: int, *, random_state: int | np.random.Generator | None = 0) -> Self:
        """Draw bootstrap resamples of the rows; a cell keeps its mean weight and mean score."""
        rng = np.random.default_rng(random_state)
        cells = self.n.ravel()
        rows = rng.multinomial(int(cells.sum()), cells / cells.sum(), size=n)
        drawn = rows.astype(np.float64).reshape(n, *self.n.shape)
        per_row = np.where(self.n > 0, self.w / np.where(self.n > 0, self.n, 1.0), 0.0)
        return replace(self, n=drawn, w=drawn * per_row)

    def auc(self) -> Floats:
        """ROC AUC per group; scores in one bin count as ties."""
        return _auc(self.w[..., 1, :], self.w[..., 0, :])

    def auc_error(self) -> Floats:
        """Bound what binning can have done to :meth:`auc`: half the pairs tied by it."""
        positive, negative = self.w[..., 1, :], self.w[..., 0, :]
        pairs = positive.sum(axis=-1) * negative.sum(axis=-1)
        return divide(0.5 * (positive * negative).sum(axis=-1), pairs)

    def brier(self) -> Floats:
        """Mean squared error per group."""
        return divide((self.w * self.square).sum(axis=(-1, -2)), self.w.sum(axis=(-1, -2)))

    def log_loss(self) -> Floats:
        """Mean log loss per group."""
        return divide((self.w * self.loss).sum(axis=(-1, -2)), self.w.sum(axis=(-1, -2)))

    def calibration_error(self, bins: int = CALIBRATION_BINS) -> Floats:
        """Calibration error per group, in equal-mass bins made of whole histogram bins."""
        out = []
        for g in range(len(self.groups)):
            w = self.w[..., g, :, :]
            mass = w.reshape(-1, *w.shape[-2:]).sum(axis=(0, 1))
            place = _equal_mass(np.maximum(mass, 1e-300), bins)
            gap = w[..., 1, :] - (w * self.mean[..., g, :, :]).sum(axis=-2)
            into = np.equal(place[:, None], np.arange(bins)).astype(np.float64)
            out.append(divide(np.abs(gap @ into).sum(axis=-1), w.sum(axis=(-1, -2))))
        return np.stack(out, axis=-1)

    def values(self) -> dict[str, Floats]:
        """Return every score metric that these scores allow, per group."""
        out = {"roc_auc": self.auc()}
        if self.probabilities:
            out |= {
                "brier_score": self.brier(),
                "log_loss": self.log_loss(),
                "calibration_error": self.calibration_error(),
            }
        return out


def _why(y_true: ArrayLike, *_: Any, **__: Any) -> str:
    return f"the labels hold {np.unique(np.asarray(y_true)).size} class(es) and two are needed"


def _add(name: str, label: str, formula: str, of: Callable[..., Floats], **described: Any) -> None:
    described["parameters"] = {
        "favorable": None, "sample_weight": None, **described.get("parameters", {}),
    }  # fmt: skip
    add_metric(
        name, partial(_measure, of=of), label=label, formula=formula, needs="scores",
        why_undefined=_why, **described,
    )  # fmt: skip


_add(
    "roc_auc", "AUC", "P(score of a favourable row > score of an unfavourable one), ties half",
    _roc_auc, goal="max", bounds=(0.0, 1.0), sign="Higher is better; 0.5 is a coin.",
    avoid="Do not use it to judge decisions: it never looks at the threshold.",
    reference="Hanley, McNeil 1982", aliases=("auc",),
)  # fmt: skip
_add(
    "brier_score", "Brier", "mean (score - y)²", _brier, goal="min", bounds=(0.0, 1.0),
    sign="Lower is better.", avoid="Do not compare it across data with different base rates.",
    reference="Brier 1950", aliases=("brier",),
)  # fmt: skip
_add(
    "log_loss", "log loss", "mean -ln of the probability given to what happened", _log_loss,
    goal="min", bounds=(0.0, np.inf), sign="Lower is better.",
    avoid="Do not use it where scores reach 0 or 1: one miss is nearly infinite.",
    reference="Good 1952", aliases=("cross_entropy",),
)  # fmt: skip
_add(
    "calibration_error", "ECE",
    "Σ over equal-mass bins of |Σ (y - score)| / n; equal scores stay in one bin",
    _calibration_error, goal="min", bounds=(0.0, 1.0), parameters={"bins": CALIBRATION_BINS},
    sign="Lower is better.",
    avoid="Do not read small differences: it is biased upwards in small samples.",
    reference="Naeini et al. 2015 (equal-mass bins, 15 by default)",
    aliases=("ece", "expected_calibration_error"),
)  # fmt: skip
