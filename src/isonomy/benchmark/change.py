"""How much a quantity changes, and how sure that is, over splits that share rows.

Gaps are averaged with their signs, and the size is taken of the mean. Of the change in a gap, both
the training rows and the test rows have a part; of the change in performance, the test rows (a
model near its best performance does not change it much when it is trained on other rows).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from isonomy._arrays import Floats
from isonomy._tables import plain
from isonomy.metrics import Counts, JointCounts, gap_of, get_metric
from isonomy.stats import SplitMean, split_mean

_STEP = 1e-3  # of a row: metrics of counts are smooth where a cell holds a row


@dataclass(frozen=True)
class Change:
    """A quantity before and after mitigation: means over repeats, and the interval of the change."""

    before: float
    after: float
    low: float = np.nan
    high: float = np.nan

    @property
    def by(self) -> float:
        """How much it changed."""
        return self.after - self.before

    @property
    def word(self) -> str:
        """Of a bias: ``worse`` or ``better`` where the interval of the change says so."""
        if self.low > 0:
            return "worse"
        if self.high < 0:
            return "better"
        return "no clear change" if self.low == self.low else "unknown"

    def less(self, bias: float) -> "Change":
        """Return the change with a bias taken off it; nothing is below 0."""
        after = max(self.after - bias, 0.0)
        return Change(self.before, after, self.low - bias, self.high - bias)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data; undefined is None."""
        values = {"before": self.before, "after": self.after, "change": self.by}
        return dict(plain({**values, "low": self.low, "high": self.high}))


@dataclass(frozen=True)
class SignedGap:
    """The original model's gap, its sign kept: the mean over repeats and its interval.

    ``splits`` may be more than the methods ran in. ``signed`` is False of a metric without a sign, whose interval cannot hold 0.
    """

    value: float
    low: float
    high: float
    signed: bool = True
    splits: int = 0

    @property
    def shown(self) -> bool:
        """Whether there is a bias: the interval excludes 0, or cannot say."""
        return not (self.signed and self.low <= 0 <= self.high)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return dict(plain({**vars(self), "shown": self.shown}))


def gaps(counts: Counts, fairness: str) -> Floats:
    """Return the signed gap of each repeat, NaN where undefined."""
    metric = get_metric(fairness)
    return gap_of(metric, metric.fn(counts, **metric.parameters))


def row_covariance(joint: JointCounts, fairness: str) -> Floats:
    """Return the covariance of the two models' gaps that the test rows of each repeat explain.

    The delta method: each row moves a gap by the slope of its cell.

    Returns
    -------
    ndarray of shape (2, 2, repeats)
        Original and mitigated model.
    """
    cells = joint.n.shape[-joint.axes :]
    size = int(np.prod(cells))
    rows = joint.n if joint.w2 is None else joint.w2
    scale = _STEP if joint.w is None else _STEP * float(joint.w.sum() / joint.n.sum())
    unit = np.eye(size).reshape(size, *(1,) * len(joint.shape), *cells)

    def moved(by: float) -> Floats:
        other = joint.map_cells(lambda values: values + by * unit)
        return np.array([gaps(side, fairness) for side in (other.base, other.method)])

    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (moved(scale) - moved(-scale)) / (2 * scale)
    weight = np.moveaxis(rows.reshape(*joint.shape, size), -1, 0)
    slope = np.where(weight > 0, slope, 0.0)
    return np.asarray(np.einsum("ac...,bc...,c...->ab...", slope, slope, weight))


def signed_gap(
    joint: JointCounts, fairness: str, *, test_share: float, confidence: float
) -> tuple[SignedGap, SplitMean]:
    """Return the original model's gap with its sign and interval, and the mean behind it."""
    within = row_covariance(joint, fairness)[0, 0]
    values = gaps(joint.base, fairness)
    found = split_mean(values, test_share=test_share, within=within, confidence=confidence)
    mean, low, high = float(found.mean), float(found.low), float(found.high)
    return SignedGap(mean, low, high, get_metric(fairness).signed, values.size), found


def performance_change(
    before: Floats, after: Floats, *, test_share: float, confidence: float
) -> tuple[Change, float]:
    """Return the change in performance with its interval, and the p-value of no change."""
    found = split_mean(after - before, test_share=test_share, confidence=confidence)
    change = Change(float(before.mean()), float(after.mean()), float(found.low), float(found.high))
    return change, float(found.pvalue)


def gap_change(
    joint: JointCounts, fairness: str, *, test_share: float, confidence: float
) -> tuple[Change, SplitMean]:
    """Return the change in the size of the gap with its interval, and the change by split behind it.

    The size after is the larger of the gap and its negative, so the change is the larger of two
    differences, and so are its limits.
    """
    before, after = (gaps(side, fairness) for side in (joint.base, joint.method))
    (first, shared), (_, second) = row_covariance(joint, fairness)
    turn = -1.0 if before.mean() < 0 else 1.0
    sides = turn * np.array([after, -after])
    found = split_mean(
        sides - turn * before,
        test_share=test_share,
        within=np.array([first + second - 2 * shared, first + second + 2 * shared]),
        confidence=confidence,
    )
    active = int(np.argmax(sides.mean(axis=-1)))
    change = Change(
        abs(float(before.mean())),
        abs(float(after.mean())),
        float(found.low.max()),
        float(found.high.max()),
    )
    names = ("mean", "error", "low", "high", "pvalue")
    return change, SplitMean(*(getattr(found, name)[active] for name in names))
