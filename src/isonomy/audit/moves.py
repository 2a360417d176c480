"""Which gaps have moved over the periods: one sequential test per rate, kept for all together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isonomy.audit.limits import ODDS
from isonomy.metrics import RATES, Counts, Metric
from isonomy.metrics.gaps import compared
from isonomy.stats.sequential import FEWEST_ROWS, contrast_moves


@dataclass(frozen=True)
class Move:
    """Whether the gap in one rate has moved.

    Attributes
    ----------
    attribute, rate : str
    ratio : bool
        Whether the gap is a ratio, and not a difference.
    metrics : tuple of str
        The metrics that are made of it.
    groups : str
        The two groups between which it moved most surely.
    moved : bool or None
        None where it could not be tested, with the reason.
    since : period or None
        From which period on the gap is another, at the best guess.
    said : period or None
        The first period after which it could be said.
    before, after : float
        The gap before and since, the periods of each added up.
    low, high : float
        Limits of the move (after less before; after over before for ratios) that hold for all
        periods and gaps together.
    p_value : float or None
        Over all periods and all gaps of the audit together; None where it did not move.
    """

    attribute: str
    rate: str
    ratio: bool
    metrics: tuple[str, ...]
    groups: str | None = None
    moved: bool | None = False
    since: Any = None
    said: Any = None
    before: float = np.nan
    after: float = np.nan
    low: float = np.nan
    high: float = np.nan
    p_value: float | None = None
    reason: str | None = None

    @property
    def what(self) -> str:
        """The gap in words."""
        return f"{'ratio of' if self.ratio else 'difference in'} {self.rate.replace('_', ' ')}"

    def sentence(self) -> str:
        """Say how it moved."""

        def write(value: float) -> str:
            return f"{value:.3g}" if self.ratio else f"{round(value, 3) + 0.0:+.3f}"

        change = self.after / self.before if self.ratio else self.after - self.before
        before, after = (f"{round(value, 3) + 0.0:.3f}" for value in (self.before, self.after))
        return (
            f"The {self.what} by {self.attribute} ({self.groups}) has moved "
            f"{'times' if self.ratio else 'by'} {write(change)} ({write(self.low)} to "
            f"{write(self.high)}): {before} before {self.since}, {after} since; it could be said "
            f"after {self.said}."
        )


def find_moves(
    attributes: Mapping[str, Counts], periods: Sequence[Any], chosen: Sequence[Metric], level: float
) -> list[Move]:
    """Test every gap between rates that the metrics are made of; all share the level.

    Where no group is privileged, each group is compared with the one that is largest in the first
    period: that choice never changes with what comes later.
    """
    gaps: dict[tuple[str, str, bool, str], list[str]] = {}
    for attribute, counts in attributes.items():
        for metric in chosen:
            if metric.parts is not None and metric.parts.rates != ODDS:
                how = compared(counts, metric.parameters.get("compare"))[1]
                for rate in metric.parts.rates:
                    key = (attribute, rate, metric.parts.ratio, how)
                    gaps.setdefault(key, []).append(metric.name)
    out = []
    for (attribute, rate, ratio, side), names in gaps.items():
        groups = compared(attributes[attribute], side)[0]
        labels = groups.labels()
        shares, rows = (np.moveaxis(x, -1, 0) for x in RATES[rate].evidence(groups))
        rows = np.nan_to_num(rows)
        if side == "privileged":
            against, others = 1, np.array([0])
        else:
            against = int(groups.n[0].sum(axis=(-1, -2)).argmax())
            enough = rows.sum(axis=-1) >= FEWEST_ROWS
            others = np.flatnonzero(enough & (np.arange(len(rows)) != against))
        move = Move(attribute, rate, ratio, tuple(names))
        if others.size:
            sides = [
                np.stack(np.broadcast_arrays(x[others], x[against]), axis=-1)
                for x in (shares, rows)
            ]
            tests = contrast_moves(
                sides[0], sides[1], ratio=ratio, level=level, together=others.size * len(gaps)
            )
        if not others.size or np.isnan(tests.change).all():
            few = f"no two runs of periods have {FEWEST_ROWS} {RATES[rate].of} in both groups"
            out.append(replace(move, moved=None, reason=few))
            continue
        pvalue = np.where(np.isnan(tests.p_value), np.inf, tests.p_value)
        best = np.unravel_index(int(pvalue.argmin()), pvalue.shape)
        if np.isinf(pvalue[best]):
            out.append(move)
            continue
        ends = np.array([tests.low[best], tests.high[best]])
        first = int(tests.end[(pvalue <= level).any(axis=0)].min())
        out.append(
            replace(
                move,
                groups=f"{labels[others[best[0]]]} vs {labels[against]}",
                moved=True,
                since=periods[int(tests.start[best[1]])],
                said=periods[first - 1],
                before=float(tests.before[best]),
                after=float(tests.after[best]),
                low=float(np.exp(ends[0]) if ratio else ends[0]),
                high=float(np.exp(ends[1]) if ratio else ends[1]),
                p_value=float(pvalue[best]),
            )
        )
    return out
