"""How many rows a verdict needs, and how large a gap some rows can show: the audit's rule, enumerated."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from numbers import Real
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import binom

from isonomy._arrays import Floats
from isonomy._tables import plain
from isonomy._validate import check_least, check_share, given_as, listed
from isonomy.audit import judge
from isonomy.audit.deciding import MOST_ROWS
from isonomy.audit.limits import Evidence, limits_at
from isonomy.errors import InputError
from isonomy.metrics import METRICS, Metric, get_metric
from isonomy.stats import many_to_one_critical, range_critical

Call = Literal["shown", "within", "violated"]

MOST_OUTCOMES = 2001
"""Counts of the reference that are looked at one by one; of more, so many, evenly."""
_TAIL = 1e-9


@dataclass(frozen=True)
class Plan:
    """What one group beside the reference needs, and what the rows at hand show of it.

    Attributes
    ----------
    share, rate : float
        The group's share of all rows, and its true rate.
    verdict : str or None
        What an audit of enough rows says: within or violated; None where the gap is the threshold.
    rows_shown, rows_called : int or None
        Rows, all groups together, at which the interval leaves out equality, and at which the
        verdict is said, as often as ``power``; None where no number of rows does.
    chance_shown, chance_called : float or None
        How often either happens with the rows at hand.
    smallest_below, smallest_above : float or None
        The smallest gaps that the rows at hand show as often as ``power``.
    """

    share: float
    rate: float
    verdict: str | None
    rows_shown: int | None
    rows_called: int | None
    chance_shown: float | None = None
    chance_called: float | None = None
    smallest_below: float | None = None
    smallest_above: float | None = None


@dataclass(frozen=True)
class Power:
    """What :func:`power` found.

    Attributes
    ----------
    plans : tuple of Plan
        One for each group beside the reference.
    settings : mapping
        Metric, gap, base rate, groups, threshold, confidence, power, rows.
    """

    plans: tuple[Plan, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows_shown(self) -> int | None:
        """The rows at which the gap of every group is shown, each as often as ``power``."""
        return _most([p.rows_shown for p in self.plans])

    @property
    def rows_called(self) -> int | None:
        """The rows at which the verdict on every group is said, each as often as ``power``."""
        return _most([p.rows_called for p in self.plans])

    def __repr__(self) -> str:
        shown, called = (
            "no number of rows" if n is None else f"{n:,} rows"
            for n in (self.rows_shown, self.rows_called)
        )  # fmt: skip
        what = f"{self.settings['metric']} of {self.settings['gap']:g}" if self.settings else "gap"
        return f"Power({what}: shown by {shown}, called by {called})"

    def frame(self) -> pd.DataFrame:
        """Return the plans as a frame."""
        return pd.DataFrame([asdict(p) for p in self.plans])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; what is not is None."""
        return {
            "rows_shown": self.rows_shown,
            "rows_called": self.rows_called,
            "plans": [plain(asdict(p)) for p in self.plans],
            "settings": plain(dict(self.settings)),
        }


def _most(rows: Sequence[int | None]) -> int | None:
    known = [n for n in rows if n is not None]
    return max(known) if len(known) == len(rows) else None


def power(
    gap: float,
    *,
    base_rate: float,
    groups: Sequence[float] = (0.5, 0.5),
    rows: int | None = None,
    metric: str | Metric = "statistical_parity_difference",
    threshold: float | None = None,
    confidence: float = 0.95,
    power: float = 0.8,
) -> Power:
    """Return how many rows an audit needs to call a gap, and how large a gap some rows show.

    The chances are those of the audit's own rule: they are added up over all counts that the groups
    can have, and no formula stands between. Groups are taken as so large as their shares say, and
    rows as independent.

    Parameters
    ----------
    gap : float
        The true gap, as the metric measures it: a difference of the group's rate from the
        reference's, or their ratio.
    base_rate : float
        The reference group's true rate.
    groups : sequence of float
        Shares of the groups among the rows that the rate is of; the first is the reference (the
        privileged group). Of more than two, each is compared with it, and the intervals hold for
        all of them together, as in the audit's comparisons of single groups.
    rows : int, optional
        The rows at hand (for rates of some rows, such as those with a favourable label: these).
    metric : str or Metric
        A gap between rates of one kind: ``statistical_parity_difference``, ``disparate_impact``,
        ``false_positive_rate_difference`` ...
    threshold : float, optional
        The accepted range, as in :func:`isonomy.audit`; by default 0.1, and 0.8 for ratios.
    confidence : float
        Confidence of the audit's intervals.
    power : float
        How often the verdict is to be said.

    Returns
    -------
    Power

    Examples
    --------
    >>> found = power(-0.05, base_rate=0.2, groups=[0.7, 0.3])
    >>> found.plans[0].verdict, found.rows_shown, found.rows_called
    ('within', 2160, 1930)
    """
    chosen = get_metric(metric)
    parts = chosen.parts
    if parts is None or len(parts.rates) != 1 or parts.combine != "only" or not _proportion(chosen):
        usual = [
            n
            for n, m in METRICS.items()
            if m.parts and m.parts.combine == "only" and _proportion(m)
        ]
        raise InputError(
            f"Power is of a gap between two rates; got {chosen.name!r}: choose one of {listed(usual)}."
        )
    try:
        shares = np.asarray(list(groups), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"groups must be shares of two groups or more, the reference first, such as 0.7 and 0.3; "
            f"got {given_as(groups)}."
        ) from None
    if (
        shares.ndim != 1
        or shares.size < 2
        or not (shares > 0).all()
        or abs(shares.sum() - 1) > 1e-6
    ):
        raise InputError(
            f"groups must be shares of two groups or more that add up to 1, such as 0.7 and 0.3; got "
            f"{', '.join(f'{s:g}' for s in shares.ravel())}."
        )
    if not issubclass(type(gap), Real):
        raise InputError(f"gap must be a number; got {given_as(gap)}.")
    check_share("base_rate", base_rate)
    check_share("power", power)
    check_share("confidence", confidence)
    if rows is not None:
        check_least("rows", rows, 2)
    rate = base_rate * gap if parts.ratio else base_rate + gap
    if not 0 <= rate <= 1:
        raise InputError(
            f"The rate of the other groups must lie between 0 and 1; a gap of {gap:g} from "
            f"{base_rate:g} makes it {rate:g}."
        )
    accept = judge.thresholds({} if threshold is None else {chosen.name: threshold}, [chosen])[
        chosen.name
    ]
    rule = _Rule(chosen, base_rate, tuple((shares / shares.sum()).tolist()), accept, confidence)
    plans = tuple(rule.plan(k, rate, gap, rows, power) for k in range(1, shares.size))
    return Power(
        plans,
        {
            "metric": chosen.name,
            "gap": float(gap),
            "base_rate": float(base_rate),
            "groups": shares.tolist(),
            "threshold": list(accept),
            "confidence": confidence,
            "power": power,
            "rows": rows,
        },
    )


def _proportion(metric: Metric) -> bool:
    return metric.parts is not None and metric.parts.rates != (
        "false_negatives_per_false_positive",
    )


@dataclass(frozen=True)
class _Rule:
    """The audit's rule for groups of given shares."""

    metric: Metric
    base_rate: float
    shares: tuple[float, ...]
    accept: tuple[float, float]
    confidence: float

    def plan(self, group: int, rate: float, gap: float, rows: int | None, power: float) -> Plan:
        """Return what one group needs."""
        even = 1.0 if self.ratio else 0.0
        low, high = self.accept
        verdict = None if gap in (low, high) else "within" if low < gap < high else "violated"
        to_call: Call = "within" if verdict == "within" else "violated"
        made = Plan(
            self.shares[group],
            rate,
            verdict,
            None if gap == even else self.fewest(group, rate, "shown", power),
            None if verdict is None else self.fewest(group, rate, to_call, power),
        )
        if rows is None:
            return made
        return replace(
            made,
            chance_shown=self.chance(rows, group, rate, "shown"),
            chance_called=None if verdict is None else self.chance(rows, group, rate, to_call),
            smallest_below=self.smallest(rows, group, power, -1),
            smallest_above=self.smallest(rows, group, power, +1),
        )

    @property
    def ratio(self) -> bool:
        assert self.metric.parts is not None
        return self.metric.parts.ratio

    def sizes(self, rows: int) -> Floats:
        """Return the rows of every group, in whole numbers."""
        ends = np.round(np.cumsum((0.0, *self.shares)) * rows)
        return np.diff(ends)

    def chance(self, rows: int, group: int, rate: float, call: Call) -> float:
        """Return how often an audit of so many rows says it."""
        size = self.sizes(rows)
        m, n = int(size[0]), int(size[group])
        if min(m, n) < judge.FEWEST_ROWS:
            return 0.0
        several = len(size) > 2
        compared = size[1:][size[1:] >= judge.FEWEST_ROWS]
        critical = (
            many_to_one_critical(self.confidence, compared, float(m))
            if several
            else range_critical(self.confidence, 2)
        )
        y, weight = _outcomes(m, self.base_rate)
        if self.ratio:
            weight = np.where(y > 0, weight, 0.0)
        even = 1.0 if self.ratio else 0.0
        bottom, top = (even, even) if call == "shown" else self.accept
        span = _span(n, rate)

        def ends(x: Floats) -> tuple[Floats, Floats]:
            assert self.metric.parts is not None
            one = Evidence(self.metric.parts, (x / n)[None], np.full((1, x.size), float(n)))
            other = Evidence(self.metric.parts, (y / m)[None], np.full((1, x.size), float(m)))
            return limits_at(one, other, critical)

        few = judge.FEWEST_EVENTS
        law = binom(n, rate)
        if call == "within":
            first = _first(lambda x: ends(x)[0] >= bottom, span, y.size)
            last = _first(lambda x: ends(x)[1] > top, span, y.size) - 1
            if self.ratio:
                first = np.maximum(first, few - y)
            inside = np.where(last >= first, law.cdf(last) - law.cdf(first - 1), 0.0)
            return float(weight @ inside)
        above = _first(lambda x: ends(x)[0] > top, span, y.size)
        below = _first(lambda x: ends(x)[1] >= bottom, span, y.size) - 1
        # as many events and non-events as a verdict needs, both groups together
        least, most = few - y, n + m - y - few
        above, below = np.maximum(above, least), np.minimum(below, most)
        over = np.maximum(law.cdf(np.maximum(most, above - 1)) - law.cdf(above - 1), 0.0)
        under = np.maximum(law.cdf(below) - law.cdf(np.minimum(least - 1, below)), 0.0)
        return float(weight @ (over + under))

    def fewest(self, group: int, rate: float, call: Call, power: float) -> int | None:
        """Return the fewest rows at which it is said as often as ``power``: found by halving."""

        def enough(rows: int) -> bool:
            return self.chance(rows, group, rate, call) >= power

        few = 64
        while not enough(few):
            few *= 2
            if few > MOST_ROWS:
                return None
        low, high = few // 2, few
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high

    def smallest(self, rows: int, group: int, power: float, way: int) -> float | None:
        """Return the smallest gap, below or above, that is shown as often as ``power``."""
        edge = 1.0 if way > 0 else 0.0

        def lacks(rate: float) -> float:
            return power - self.chance(rows, group, rate, "shown")

        if lacks(edge) > 0:
            return None
        rate = float(brentq(lacks, self.base_rate, edge, xtol=1e-5))
        return rate / self.base_rate if self.ratio else rate - self.base_rate


def _outcomes(rows: int, rate: float) -> tuple[Floats, Floats]:
    """Return the counts that are not all but impossible, and their chances."""
    low, high = _span(rows, rate)
    step = max(1, -(-(high - low + 1) // MOST_OUTCOMES))
    counts = np.arange(low, high + 1, step, dtype=np.float64)
    weight = binom(rows, rate).pmf(counts)
    return counts, weight / weight.sum()


def _span(rows: int, rate: float) -> tuple[int, int]:
    law = binom(rows, rate)
    return int(law.ppf(_TAIL)), int(law.isf(_TAIL))


def _first(holds: Callable[[Floats], Any], span: tuple[int, int], size: int) -> Floats:
    """Return the first whole number of a span at which it holds from there on, for each of many.

    One above the span where it never does.
    """
    low = np.full(size, float(span[0]) - 1)
    high = np.full(size, float(span[1]) + 1)
    while np.any(high - low > 1):
        middle = np.floor((low + high) / 2)
        yes = holds(np.maximum(middle, span[0]))
        low, high = np.where(yes, low, middle), np.where(yes, middle, high)
    return high
