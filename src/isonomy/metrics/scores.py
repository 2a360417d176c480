"""Quality of scores: ranking, squared error, log loss, calibration.

Scores are probabilities of the favourable outcome. They are not a function of counts; a fine
histogram of them nearly is, and that is what intervals and out-of-core files use.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isonomy._arrays import Floats, divide
from isonomy._files import open_table, sql_name
from isonomy._groups import as_column, is_one_of, sorted_values
from isonomy._unknown import is_missing
from isonomy._validate import (
    MISSING,
    check_columns,
    check_length,
    check_score,
    check_weight,
    make_rng,
    resolve_favorable,
)
from isonomy.errors import InputError
from isonomy.metrics.calibration import (
    BINS,
    calibration_error,
    corrected_error,
    equal_mass,
    why_undefined,
)
from isonomy.metrics.counts import Counts
from isonomy.metrics.metric import add_metric
from isonomy.metrics.query import Bins, banded, outcome
from isonomy.metrics.rates import add_up
from isonomy.stats import logistic_calibration, spiegelhalter_z


def _prepare(
    y_true: ArrayLike, score: ArrayLike, favorable: Any, sample_weight: ArrayLike | None
) -> tuple[NDArray[np.bool_], Floats, Floats]:
    labels = as_column(y_true, "y_true")
    values = check_score(score)
    check_length("score", values.size, "y_true", labels.size)
    classes = sorted_values(labels)
    if len(classes) < 2 and favorable is None:
        favorable = 1
    named = resolve_favorable(classes, favorable) if len(classes) > 1 else (favorable,)
    weight = np.ones(values.size) if sample_weight is None else check_weight(sample_weight)
    check_length("sample_weight", weight.size, "y_true", labels.size)
    return is_one_of(labels, named), values, weight


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
            place = equal_mass(np.bincount(place).astype(np.float64), bins)[place]
        size = int(place.max()) + 1
        index = (group * 2 + good) * size + place
        weights = np.ones(score.size) if weight is None else weight

        def total(values: Floats) -> Floats:
            return add_up(index, values, len(groups) * 2 * size).reshape(len(groups), 2, size)

        inside = bool(score.min() >= 0 and score.max() <= 1)
        loss = _loss(good, np.clip(score, 0.0, 1.0))
        sums = [total(weights * each) for each in (score, (score - good) ** 2, loss)]
        return cls._from_sums(total(np.ones(score.size)), total(weights), sums, groups, inside)

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
        tiny = repr(float(np.finfo(np.float64).eps))
        with open_table(source, table) as file:
            check_columns([score], list(file.columns))
            groups = [banded(a, bands) for a in counts.attributes]
            keys = ", ".join([*groups, outcome(label, list(file.columns))])
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
        summed = np.array([cell[k + 2 :] for cell in cells], dtype=np.float64)
        np.add.at(totals, (slice(None), *np.array(at, dtype=np.intp).T), summed.T)
        n, mass, first, second, loss_good, loss_bad = totals
        y = np.array([0.0, 1.0])[:, None]
        square = second - 2 * y * first + y * mass
        sums = [first, square, np.where(y == 1, loss_good, loss_bad)]
        return cls._from_sums(n, mass, sums, counts.groups, bool(inside))

    @classmethod
    def _from_sums(
        cls, n: Floats, w: Floats, sums: Sequence[Floats], groups: Any, probabilities: bool
    ) -> Self:
        """Return the means of cells whose sums of scores, squared errors and losses are given."""
        mean, square, loss = (part / np.where(w > 0, w, 1.0) for part in sums)
        return cls(n, w, mean, square, loss, groups, probabilities)

    def merge(self, index: NDArray[np.intp], groups: tuple[tuple[Any, ...], ...]) -> Self:
        """Add up groups that share an index."""
        into = np.equal(index[None, :], np.arange(len(groups))[:, None]).astype(np.float64)

        def add(cells: Floats) -> Floats:
            return np.asarray(np.einsum("kg,...gyb->...kyb", into, cells))

        return replace(self._joined(add), groups=groups)

    def _joined(self, add: Callable[[Floats], Floats]) -> Self:
        """Add cells up; means are weighted."""
        sums = [add(self.w * each) for each in (self.mean, self.square, self.loss)]
        return self._from_sums(add(self.n), add(self.w), sums, self.groups, self.probabilities)

    def pooled(self) -> Self:
        """Add all groups up into one."""
        return self.merge(np.zeros(len(self.groups), dtype=np.intp), (("all",),))

    def coarse(self, bins: int = 128) -> Self:
        """Join neighbouring bins until at most ``bins`` are left (no leading axes)."""
        if self.n.shape[-1] <= bins:
            return self
        place = equal_mass(np.maximum(self.n.sum(axis=(0, 1)), 1e-300), bins)
        into = np.equal(place[:, None], np.arange(bins)).astype(np.float64)
        return self._joined(lambda cells: cells @ into)

    def resample(self, n: int, *, random_state: int | np.random.Generator | None = 0) -> Self:
        """Draw bootstrap resamples of the rows; a cell keeps its mean weight and mean score."""
        rng = make_rng(random_state)
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

    def values(self) -> dict[str, Floats]:
        """Return the metrics of ranking and loss that these scores allow, per group."""
        out = {"roc_auc": self.auc()}
        if self.probabilities:
            out |= {"brier_score": self.brier(), "log_loss": self.log_loss()}
        return out


def _why(y_true: ArrayLike, *_: Any, **__: Any) -> str:
    return f"the labels hold {np.unique(np.asarray(y_true)).size} class(es) and two are needed"


def _why_not_calibrated(
    y_true: ArrayLike, score: ArrayLike, *, favorable: Any, sample_weight: ArrayLike | None
) -> str:
    good, values, _ = _prepare(y_true, score, favorable, sample_weight)
    return why_undefined(good, values)


def _add(name: str, label: str, formula: str, of: Callable[..., Floats], **described: Any) -> None:
    described["parameters"] = {
        "favorable": None, "sample_weight": None, **described.get("parameters", {}),
    }  # fmt: skip
    described.setdefault("why_undefined", _why)
    add_metric(
        name, partial(_measure, of=of), label=label, formula=formula, needs="scores", **described
    )


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
    calibration_error, goal="min", bounds=(0.0, 1.0), parameters={"bins": BINS},
    sign="Lower is better.",
    avoid="Do not compare groups of different sizes: it is biased upwards in small samples.",
    reference="Naeini et al. 2015 (equal-mass bins, 15 by default)",
    aliases=("ece", "expected_calibration_error"),
)  # fmt: skip
_add(
    "corrected_calibration_error", "corrected ECE",
    "the ECE at which binomial labels would show the observed one on average; 0 where chance does",
    lambda *rows, bins: corrected_error(*rows, bins=bins, confidence=None).value,
    goal="min", bounds=(0.0, 1.0), parameters={"bins": BINS}, sign="Lower is better.",
    avoid="Do not read it without its interval: in small groups that is wide.",
    reference="after Kumar, Liang, Ma 2019 and Bröcker 2012",
)  # fmt: skip
_add(
    "calibration_slope", "slope", "b of logit P(y = fav) = a + b logit(score)",
    lambda *rows: logistic_calibration(*rows)[0].value,
    goal="one", bounds=(-np.inf, np.inf), why_undefined=_why_not_calibrated,
    sign="Below 1 scores are too extreme, above 1 too timid.",
    avoid="Do not use it where scores are 0 or 1: they have no logit.", reference="Cox 1958",
)  # fmt: skip
_add(
    "calibration_intercept", "intercept", "a of logit P(y = fav) = a + logit(score)",
    lambda *rows: logistic_calibration(*rows)[1].value,
    goal="zero", bounds=(-np.inf, np.inf), signed=True, why_undefined=_why_not_calibrated,
    sign="Above 0 scores are too low on the whole, below 0 too high.",
    avoid="Do not use it where scores are 0 or 1: they have no logit.",
    reference="Cox 1958; Van Calster et al. 2019 (calibration in the large)",
)  # fmt: skip
_add(
    "spiegelhalter_z", "Z", "Σ (y - score)(1 - 2 score) / √Σ (1 - 2 score)² score (1 - score)",
    spiegelhalter_z, goal="zero", bounds=(-np.inf, np.inf), signed=True,
    why_undefined=lambda *_, **__: "every score is 0, 0.5 or 1",
    sign="Standard normal where scores are right; above 0 they are too sure.",
    avoid="Do not read it as a size: it grows with the rows.", reference="Spiegelhalter 1986",
    aliases=("spiegelhalter",),
)  # fmt: skip
