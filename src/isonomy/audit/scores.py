"""How good scores are, overall and by group: ranking, squared error, log loss, calibration."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isonomy._arrays import Floats
from isonomy.audit.findings import Finding, GroupRate, Verdict
from isonomy.metrics import METRICS, Counts, ScoreTable
from isonomy.metrics.calibration import CALIBRATION, calibration_estimates, why_undefined
from isonomy.stats import percentile_interval
from isonomy.stats.calibration import Estimate


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows with scores: whether the label is favorable, score, weight, and number of the group."""

    good: NDArray[np.bool_]
    score: Floats
    weight: Floats | None
    group: NDArray[np.intp]

    def by(self, index: NDArray[np.intp], groups: int) -> "Iterator[ScoredRows]":
        """Yield the rows of each of ``groups``; ``index`` says to which each group belongs."""
        own = index[self.group]
        order = np.argsort(own, kind="stable")
        for rows in np.split(order, np.cumsum(np.bincount(own, minlength=groups))[:-1]):
            weight = None if self.weight is None else self.weight[rows]
            yield ScoredRows(self.good[rows], self.score[rows], weight, self.group[rows])

    def value(self, name: str) -> float:
        """Return a score metric of all rows; NaN where they weigh nothing."""
        if not self.good.size or (self.weight is not None and not self.weight.any()):
            return float("nan")
        metric = METRICS[name]
        known = {**metric.parameters, "favorable": 1, "sample_weight": self.weight}
        return float(metric.fn(self.good.astype(int), self.score, **known))

    def calibration(self, confidence: float) -> dict[str, Estimate]:
        """Return everything about the calibration of the rows."""
        weight = np.ones(self.score.size) if self.weight is None else self.weight
        return calibration_estimates(self.good, self.score, weight, confidence=confidence)


def score_rows(
    table: ScoreTable,
    counts: Counts,
    rows: ScoredRows | None,
    confidence: float,
    resamples: int,
    random_state: int | None,
) -> tuple[list[Finding], list[GroupRate]]:
    """Report score metrics overall and by group.

    Values come from the rows where they are at hand, else from the histogram. Intervals of
    ranking and loss come from resampled histograms; those of calibration need no resamples.
    """
    coarse = table.coarse()
    overall: list[Finding] = []
    by_group: list[GroupRate] = []
    views: list[tuple[str | None, NDArray[np.intp], Counts | None]] = [
        (None, np.zeros(len(table.groups), dtype=np.intp), None)
    ]
    for k, own in enumerate(counts.attributes):
        single = counts.select(own)
        place = {group[0]: i for i, group in enumerate(single.groups)}
        views.append((own, np.array([place[g[k]] for g in table.groups]), single))
    for attribute, index, part in views:
        groups = (("all",),) if part is None else part.groups
        labels = ("all",) if part is None else part.labels()
        fixed, merged = table.merge(index, groups), coarse.merge(index, groups)
        fine, rough = fixed.values(), merged.values()
        drawn = merged.resample(resamples, random_state=random_state).values()
        limits = {
            name: percentile_interval(samples, confidence=confidence)
            for name, samples in drawn.items()
        }
        each = rows.by(index, len(groups)) if rows is not None else [None] * len(groups)
        for k, (group, held) in enumerate(zip(labels, each, strict=True)):
            found: dict[str, tuple[float, float, float, str | None]] = {}
            size = int(fixed.n[k].sum())
            for name in fine:
                value = float(fine[name][k]) if held is None else held.value(name)
                shift = value - float(rough[name][k])
                low, high = (
                    float(np.clip(end[k] + shift, *METRICS[name].bounds)) for end in limits[name]
                )
                note = None
                if held is None and name == "roc_auc":
                    note = f"from a histogram, off by at most {fixed.auc_error()[k]:.2g}"
                if np.isnan(value):
                    note = "needs rows with favourable and with unfavourable labels"
                found[name] = (value, low, high, note)
            if table.probabilities:
                found |= _calibration(fixed, k, held, confidence)
            for name, (value, low, high, note) in found.items():
                label = METRICS[name].label
                if attribute is None:
                    verdict: Verdict | None = "undefined" if np.isnan(value) else None
                    overall.append(
                        Finding(
                            name, label, None, None, value, low, high, None, None, size, verdict, note
                        )
                    )  # fmt: skip
                else:
                    by_group.append(
                        GroupRate(
                            attribute, group, name, label, value, low, high, size, float(size), note
                        )
                    )  # fmt: skip
    return overall, by_group


def _calibration(
    table: ScoreTable, group: int, rows: ScoredRows | None, confidence: float
) -> dict[str, tuple[float, float, float, str | None]]:
    """Return the calibration of a group, from its rows or from the cells of the histogram."""
    if rows is not None:
        estimates = rows.calibration(confidence)
        good, score = rows.good, rows.score
    else:
        cells = table.n[group] > 0
        good, score = np.nonzero(cells)[0] == 1, table.mean[group][cells]
        estimates = calibration_estimates(
            good, score, table.w[group][cells], table.n[group][cells], confidence=confidence
        )
    out: dict[str, tuple[float, float, float, str | None]] = {}
    for name in CALIBRATION:
        value, low, high = (float(x) for x in estimates[name])
        note = (
            None if rows is not None else "from a histogram: rows of a cell share their mean score"
        )
        if np.isnan(value):
            note = why_undefined(good, score)
        out[name] = (value, low, high, note)
    return out
