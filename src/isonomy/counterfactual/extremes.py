"""The numbers of one group: mean, conditional value at risk, tail, return levels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from isonomy._arrays import Floats
from isonomy._brief import brief
from isonomy._validate import check_share, make_rng
from isonomy.errors import InputError
from isonomy.stats import percentile_interval
from isonomy.tails import (
    TailFit,
    choose_threshold,
    fit_gev,
    gpd_quantile,
    peaks_over_threshold,
    tail_test,
)
from isonomy.tails.levels import check_confidence

PAPER_K = 50
"""How many of the largest values the paper fits."""
LOCATION = float(np.exp(-1))
"""The share of its own law that lies below the location of an extreme value law."""
ROUNDING = 1e-9
"""Differences of probabilities that are smaller than this are rounding, not a tail."""
FEWEST_ROWS = 40
"""A tail of at least ten values that is at most a quarter of the rows needs this many."""
FEWEST_AT_RISK = 5
"""A conditional value at risk of fewer values than this has no interval."""
FEWEST_ABRUPT = 30
"""Fewer values than this do not show that a tail ends abruptly where its likelihood has no maximum."""

NO_MAXIMUM = "its likelihood has no maximum"


@dataclass(frozen=True)
class Estimate:
    """A number with its interval; both ends are NaN where there is none."""

    value: float
    low: float = float("nan")
    high: float = float("nan")

    def __sub__(self, other: "Estimate") -> float:
        return self.value - other.value


@dataclass(frozen=True, eq=False, repr=False)
class Extremes:
    """What the counterfactual discrimination of one group looks like, and how far it can go.

    Parameters
    ----------
    rows : int
        How many members the group has.
    values : ndarray
        Their counterfactual discrimination, the largest first.
    acd, cvar : Estimate
        Mean with a normal interval, and mean beyond ``cvar_quantile``
        (``conditional_value_at_risk``).
    location : Estimate
        The location of the generalised extreme value law fitted to the 50 largest values, as in
        the paper. Where that law cannot be fitted (``paper`` is None) it is the quantile that the
        location is of its own law; NaN where there are no more than 50 rows.
    fit : TailFit or None
        The generalised Pareto law of the excesses over the threshold.
    levels : dict of int to Estimate
        Per number of queries, the level exceeded on average once.
    reason : str
        Why there is no fitted tail, as a sentence; the levels are then those observed.
    attained : int
        How many rows show the largest value.
    replicates : dict of str to ndarray
        What each bootstrap resample gave: ``location``, and ``levels`` as observed.
    """

    rows: int
    values: Floats
    acd: Estimate
    cvar: Estimate
    location: Estimate
    fit: TailFit | None
    paper: TailFit | None
    levels: dict[int, Estimate]
    reason: str
    attained: int
    replicates: dict[str, Floats]

    __repr__ = brief

    @property
    def largest(self) -> float:
        """The largest value observed."""
        return float(self.values[0])


def tail_size(rows: int, horizons: Sequence[int] = (500,)) -> int:
    """Return how many of the largest values make a tail: 50, more in a large group, fewer in a small.

    The paper takes 50 of any number of rows. Ours: at least so many that the shortest horizon
    reaches beyond the threshold, and at most a quarter of the rows.

    Examples
    --------
    >>> tail_size(3_100), tail_size(40_000), tail_size(100)
    (50, 80, 25)
    """
    return int(min(max(PAPER_K, -(-rows // min(horizons))), rows // 4))


def conditional_value_at_risk(
    values: ArrayLike,
    *,
    quantile: float = 0.95,
    confidence: float = 0.95,
    resamples: int = 999,
    random_state: int | None = 0,
) -> Estimate:
    """Return the mean of the largest share ``1 - quantile`` of values, with an interval.

    The paper prints a column CVaR without saying of what or at which quantile; this definition
    and its quantile are ours. A value at the edge of the share counts in part, so the number of rows
    need not be a multiple of anything.

    The interval is a studentised bootstrap's, and on each side at least as wide as Student's t with
    the values of the share for its degrees of freedom: a normal interval misses above in one of
    eight samples of 100. A share of fewer than five values has none, nor have ``resamples=0``.

    Examples
    --------
    >>> conditional_value_at_risk(np.arange(100.0)).value
    97.0

    References
    ----------
    Rockafellar and Uryasev 2002, Conditional Value-at-Risk for General Loss Distributions.
    """
    check_share("quantile", quantile)
    x = np.sort(np.asarray(values, dtype=np.float64))[::-1]
    share = (1 - quantile) * x.size
    whole = int(np.floor(share + 1e-9))
    at_risk = float(x[min(whole, x.size - 1)])
    excess = np.maximum(x - at_risk, 0.0)
    value = at_risk + float(excess.sum()) / share
    # the influence of a row on the estimate is its excess over the quantile
    error = float(excess.std()) / ((1 - quantile) * np.sqrt(x.size))
    if share < FEWEST_AT_RISK - 1e-9 or not resamples:
        return Estimate(value)
    if error == 0:
        return Estimate(value, value, value)
    # the largest of a resample by their places among the values, drawn by spacings of uniforms
    rng = make_rng(random_state)
    n = x.size
    depth = min(whole + 1, n)
    places = (_survivals(n, depth, resamples, rng) * n).astype(np.intp)
    drawn = x[np.minimum(places, n - 1)]
    over = drawn - drawn[:, [min(whole, depth - 1)]]
    first, second = over.sum(axis=1) / n, (over**2).sum(axis=1) / n
    values_drawn = drawn[:, min(whole, depth - 1)] + over.sum(axis=1) / share
    errors = np.sqrt(np.maximum(second - first**2, 0.0)) / ((1 - quantile) * np.sqrt(n))
    roots = (values_drawn - value) / np.maximum(errors, 1e-12 * error)
    low, high = np.quantile(roots, [0.5 - confidence / 2, 0.5 + confidence / 2])
    student = float(stdtrit(share - 1, 0.5 + confidence / 2))
    return Estimate(value, value - max(high, student) * error, value - min(low, -student) * error)


def extremes(
    values: ArrayLike,
    *,
    horizons: Sequence[int] = (500, 1000, 2000),
    k: int | str | None = None,
    cvar_quantile: float = 0.95,
    intervals: str = "profile",
    resamples: int = 999,
    confidence: float = 0.95,
    upper: float = 1.0,
    random_state: int = 0,
) -> Extremes:
    """Describe the counterfactual discrimination of one group, its tail above all.

    Parameters
    ----------
    values : array-like
        The counterfactual discrimination of the members.
    horizons : sequence of int, default (500, 1000, 2000)
        The numbers of queries for which return levels are computed.
    k : int or "auto", optional
        How many of the largest values make the tail; see ``tail_size``. ``auto`` takes as many
        as goodness of fit allows (``choose_threshold``).
    cvar_quantile : float, default 0.95
        The conditional value at risk is the mean beyond this quantile.
    intervals : str, default "profile"
        How intervals of return levels are computed: see ``TailFit.interval``.
    resamples : int, default 999
        Bootstrap resamples, for the location and wherever else they are needed; 0 for no
        intervals at all.
    confidence : float, default 0.95
        Confidence level of the intervals.
    upper : float, default 1
        What no value can pass; levels and their limits are cut off there.
    random_state : int, default 0
        Seed of the resamples.

    Returns
    -------
    Extremes

    Notes
    -----
    Resamples for the location are drawn from the fitted law above the threshold and from the rows
    below it, and the law is fitted again. Only the largest values of a resample are ever drawn,
    by their spacings, so the number of rows does not matter. Where no tail is fitted, the levels
    are those observed, with the interval of plain resamples; in a group of fewer than 40 rows a
    level of more queries than rows is the largest value, and has no interval.

    Examples
    --------
    >>> from isonomy.data import make_biased
    >>> truth = make_biased(20_000).X["exposure"]
    >>> result = extremes(truth, k=500)
    >>> result.levels[1000].low < 0.1869 < result.levels[1000].high  # the true level
    True
    """
    x = _falling(values)
    n = x.size
    if k is not None and k != "auto" and (isinstance(k, str) or k < 3):
        raise InputError(f"k must be a number from 3 on, or 'auto'; got {k!r}.")
    mean = float(x.mean())
    half = check_confidence(confidence) * float(x.std(ddof=1) if n > 1 else np.nan) / np.sqrt(n)
    fit, reason = _fit(x, k, tail_size(n, horizons), random_state, upper)
    paper = None
    if n > PAPER_K and x[0] - x[PAPER_K - 1] > ROUNDING:
        paper = peaks_over_threshold(x, k=PAPER_K, protocol="as_published")
        paper = None if paper.degenerate else paper
    levels = {int(m): Estimate(_level(x, fit, m)) for m in horizons}
    location = Estimate(float("nan"))
    if n > PAPER_K:
        location = Estimate(float(_locations(x[None, :PAPER_K], paper)[0]))
    replicates: dict[str, Floats] = {}
    if resamples:
        rng = make_rng(random_state)
        replicates = _bootstrap(x, fit, paper, np.array(horizons, dtype=float), resamples, rng)
        if n > PAPER_K:
            ends = percentile_interval(replicates["location"], confidence=confidence)
            location = Estimate(location.value, float(ends[0]), float(ends[1]))
        low, high = percentile_interval(replicates["levels"], confidence=confidence)
        for i, (m, point) in enumerate(levels.items()):
            if fit is None:
                # resamples of a few rows never pass their largest: no interval of a rarer level
                if m <= n or (n >= FEWEST_ROWS and NO_MAXIMUM not in reason):
                    levels[m] = Estimate(point.value, float(low[i]), float(high[i]))
                continue
            known = fit.interval(
                "return_level", horizon=m, confidence=confidence, method=intervals, resamples=resamples,
                random_state=random_state,
            )  # fmt: skip
            levels[m] = Estimate(point.value, float(known.low), float(known.high))
    return Extremes(
        rows=n,
        values=x,
        acd=Estimate(mean, mean - half, mean + half),
        cvar=conditional_value_at_risk(
            x,
            quantile=cvar_quantile,
            confidence=confidence,
            resamples=resamples,
            random_state=random_state,
        ),
        location=location,
        fit=fit,
        paper=paper,
        levels=levels,
        reason=reason,
        attained=int((x == x[0]).sum()),
        replicates=replicates,
    )


def return_level(values: ArrayLike, queries: int, *, random_state: int = 0) -> float:
    """Return the level that is passed once in so many queries, as :func:`extremes` does, alone.

    Examples
    --------
    >>> values = np.random.default_rng(0).exponential(0.05, 2000)
    >>> return_level(values, 1000) == extremes(values, horizons=[1000]).levels[1000].value
    True
    """
    x = _falling(values)
    fit, _ = _fit(x, None, tail_size(x.size, (queries,)), random_state)
    return _level(x, fit, queries)


def extremes_difference(
    a: Extremes,
    b: Extremes,
    *,
    intervals: str = "profile",
    confidence: float = 0.95,
    random_state: int = 0,
) -> dict[Any, Estimate]:
    """Return the differences of two groups: ``acd``, ``cvar``, ``ecd``, and levels at each horizon.

    ``ecd`` is the difference of the fitted locations, as in the paper. Locations of groups of
    different sizes belong to different horizons, which the levels do not: they are what a same
    number of queries brings in either group.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = (extremes(rng.uniform(0, top, 4000)) for top in (0.5, 0.3))
    >>> gap = extremes_difference(a, b)[1000]
    >>> round(gap.value, 1), gap.low > 0
    (0.2, True)
    """
    out: dict[Any, Estimate] = {}
    for name in ("acd", "cvar"):
        out[name] = _apart(getattr(a, name), getattr(b, name))
    gap = a.location - b.location
    low = high = float("nan")
    if "location" in a.replicates and "location" in b.replicates and gap == gap:
        apart = a.replicates["location"] - b.replicates["location"]
        low, high = map(float, percentile_interval(apart, confidence=confidence))
    out["ecd"] = Estimate(gap, low, high)
    for m in a.levels:
        level, other = a.levels[m], b.levels[m]
        reach = min((f.rate * m for f in (a.fit, b.fit) if f is not None), default=0.0)
        if a.fit is None or b.fit is None or not a.replicates or reach < 1:
            out[m] = _apart(level, other)
            continue
        # where likelihood has no maximum the limits are resampled anyway: all of them at once
        how = intervals if a.fit.converged and b.fit.converged else "bootstrap"
        test = tail_test(
            a.fit, b.fit, horizon=m, confidence=confidence, method=how,
            resamples=len(a.replicates["levels"]), random_state=random_state,
        )  # fmt: skip
        out[m] = Estimate(level - other, float(test.low), float(test.high))
    return out


def _apart(a: Estimate, b: Estimate) -> Estimate:
    """Return the difference of independent estimates from their intervals (Zou and Donner 2008)."""
    gap = a - b
    low = float(np.hypot(a.value - a.low, b.high - b.value))
    high = float(np.hypot(a.high - a.value, b.value - b.low))
    return Estimate(gap, gap - low, gap + high)


def _falling(values: ArrayLike) -> Floats:
    """Return the values in falling order; raise where there are none or some are not finite."""
    x = np.sort(np.asarray(values, dtype=np.float64))[::-1]
    if x.size == 0:
        raise InputError("A group must hold values of discrimination; it has no rows.")
    lost = int((~np.isfinite(x)).sum())
    if lost:
        raise InputError(
            f"A group must hold finite values of discrimination; {lost:,} of {x.size:,} rows have "
            f"none, because their attribute or their score is not known: leave them out."
        )
    return x


def _fit(
    x: Floats, wanted: int | str | None, usual: int, random_state: int, upper: float = 1.0
) -> tuple[TailFit | None, str]:
    """Fit the tail of values in falling order, or say in a sentence why there is none."""
    n, largest = x.size, f"{round(float(x[0]), 9) + 0.0:.4g}"
    if x[0] == x[-1] and n > 1:
        if x[0] == 0:
            return None, (
                "Changing the attribute changes no score of this group: the model does not use it."
            )
        return None, f"Every one of the {n:,} rows shows the same value, {largest}."
    if n < FEWEST_ROWS:
        return None, (
            f"A tail needs at least {FEWEST_ROWS} rows; this group has {n:,}, and its largest "
            f"value is {largest}."
        )
    k = usual if wanted is None or isinstance(wanted, str) else min(wanted, n - 1)
    if x[0] - x[k] < ROUNDING:
        return None, f"The {k} largest values are all {largest} but for rounding."
    upper = max(upper, float(x[0]))  # but for rounding
    fit = peaks_over_threshold(x, k=k, upper=upper, random_state=random_state)
    if wanted == "auto" and not fit.degenerate:
        k = choose_threshold(x, random_state=random_state).k
        fit = peaks_over_threshold(x, k=k, upper=upper, random_state=random_state)
    if fit.degenerate:
        return None, f"No tail is fitted to the {k} largest: {fit.degenerate}."
    if not fit.converged and k < FEWEST_ABRUPT:
        return None, (
            f"No tail is fitted to the {k} largest: {NO_MAXIMUM}, and fewer than {FEWEST_ABRUPT} "
            "values do not show that the tail ends abruptly."
        )
    return fit, ""


def _level(x: Floats, fit: TailFit | None, m: float) -> float:
    """Return the level exceeded once in m queries: from the tail beyond its threshold, else observed."""
    if fit is not None and m * fit.rate >= 1:
        return float(fit.return_level(m))
    return float(x[min(int(x.size / m), x.size - 1)])


def _bootstrap(
    x: Floats,
    fit: TailFit | None,
    paper: TailFit | None,
    horizons: Floats,
    resamples: int,
    rng: np.random.Generator,
) -> dict[str, Floats]:
    n = x.size
    depth = min(n, max(PAPER_K, int(n / horizons.min())) + 1)
    # the largest of n uniforms by their spacings: survival probabilities of the largest values
    survival = _survivals(n, depth, resamples, rng)
    drawn = x[np.minimum((survival * n).astype(np.intp), n - 1)]
    if fit is not None:
        beyond = survival < fit.rate
        inside = np.where(beyond, 1 - survival / fit.rate, 0.0)
        tail = fit.threshold + gpd_quantile(inside, fit.scale, fit.shape)
        assert fit.upper is not None
        drawn = np.where(beyond, np.minimum(tail, fit.upper), drawn)
    out = {"levels": drawn[:, np.minimum((n / horizons).astype(np.intp), depth - 1)]}
    if n > PAPER_K:
        out["location"] = _locations(drawn[:, :PAPER_K], paper)
    return out


def _survivals(n: int, depth: int, resamples: int, rng: np.random.Generator) -> Floats:
    """Draw how likely each of the largest of n values is exceeded, the largest first."""
    rise = np.cumsum(rng.exponential(size=(resamples, depth)), axis=1)
    rest = rng.gamma(n + 1 - depth, size=resamples)
    return np.asarray(rise / (rise[:, -1] + rest)[:, None])


def _locations(top: Floats, paper: TailFit | None) -> Floats:
    """Return the location of each sample's extreme value law, or the quantile that it would be."""
    quantile = np.quantile(top, LOCATION, axis=1, method="higher")
    if paper is None:
        return np.asarray(quantile)
    how = "auto" if paper.method == "ml" else str(paper.method)
    fitted = np.atleast_1d(fit_gev(top, method=how).location)
    return np.where(np.isnan(fitted), quantile, fitted)
