"""How much of a sample is its tail: pictures of the question, tests, and an automatic answer."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from isonomy._arrays import Floats, divide
from isonomy._validate import check_choice, make_rng
from isonomy.errors import InputError
from isonomy.stats.results import Result
from isonomy.tails.diagnose import anderson_darling_p, refitted
from isonomy.tails.fit import finite, peaks_over_threshold
from isonomy.tails.laws import gpd_quantile

FEWEST = 20
"""A threshold that leaves fewer excesses is not considered (ours)."""


def _candidates(n: int, ks: ArrayLike | None, count: int = 16) -> NDArray[np.intp]:
    if ks is None:
        most = max(n // 4, min(FEWEST, n - 1))
        ks = np.geomspace(min(FEWEST, most), min(most, 2000), count)
    chosen = np.unique(np.round(np.asarray(ks, dtype=np.float64)).astype(np.intp))
    if chosen.size == 0 or chosen[0] < 3 or chosen[-1] >= n:
        raise InputError(f"Every k must lie between 3 and {n - 1:,}; got {chosen.tolist()}.")
    return chosen


def mean_excess(
    values: ArrayLike, *, ks: ArrayLike | None = None, confidence: float = 0.95
) -> pd.DataFrame:
    """Return the mean excess over each threshold, with an interval: the mean residual life.

    Above a threshold where the generalised Pareto law holds it is a straight line in the
    threshold: level for an exponential tail, falling for one that ends.

    Examples
    --------
    >>> frame = mean_excess(np.random.default_rng(0).exponential(size=4000), ks=[100, 1000])
    >>> bool((frame["low"] < 1).all() and (frame["high"] > 1).all())
    True

    References
    ----------
    Davison and Smith 1990, Models for Exceedances over High Thresholds.
    """
    x = np.sort(finite(values).ravel())[::-1]
    k = _candidates(x.size, ks, 40)
    shifted = x - x[0]
    mean = shifted.cumsum()[k - 1] / k
    square = (shifted**2).cumsum()[k - 1] / k
    spread = np.sqrt(np.maximum(square - mean**2, 0.0) * k / (k - 1.0))
    excess = mean + x[0] - x[k]
    half = float(ndtri(0.5 + confidence / 2)) * spread / np.sqrt(k)
    columns = {"k": k, "threshold": x[k], "mean_excess": excess}
    return pd.DataFrame(columns | {"low": excess - half, "high": excess + half})


def stability(
    values: ArrayLike,
    *,
    ks: ArrayLike | None = None,
    confidence: float = 0.95,
    upper: float | None = None,
) -> pd.DataFrame:
    """Return shape and modified scale over each threshold, with profile intervals of the shape.

    Above a threshold where the generalised Pareto law holds, the shape and
    ``scale - shape * threshold`` stay the same.

    Examples
    --------
    >>> frame = stability(np.random.default_rng(0).exponential(size=4000), ks=[100, 400])
    >>> bool((frame["low"] < 0).all() and (frame["high"] > 0).all())
    True

    References
    ----------
    Coles 2001, An Introduction to Statistical Modeling of Extreme Values, section 4.3.4.
    """
    x = finite(values).ravel()
    rows = []
    for k in _candidates(x.size, ks):
        fit = peaks_over_threshold(x, k=int(k), upper=upper)
        low, high = fit.interval("shape", confidence=confidence)
        modified = fit.scale - fit.shape * fit.threshold
        row = (int(k), fit.threshold, fit.shape, low, high, fit.scale, modified, fit.degenerate)
        rows.append(row)
    names = ["k", "threshold", "shape", "low", "high", "scale", "modified_scale", "degenerate"]
    return pd.DataFrame(rows, columns=names)


def _largest(values: ArrayLike, most: int) -> Floats:
    """Return the ``most`` largest values, largest first, along the last axis."""
    x = finite(values)
    n = x.shape[-1]
    if most > n:
        raise InputError(f"At least {most:,} values are needed; got {n:,}.")
    return np.asarray(-np.sort(-np.partition(x, n - most, axis=-1)[..., n - most :], axis=-1))


def _running(ordered: Floats, ddof: int) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the 1, 2, ... largest values."""
    shift = ordered[..., :1]
    centred = ordered - shift
    count = np.arange(1, ordered.shape[-1] + 1)
    mean = centred.cumsum(axis=-1) / count
    square = (centred**2).cumsum(axis=-1) - count * mean**2
    spread = np.sqrt(np.maximum(square, 0.0) / np.maximum(count - ddof, 1))
    return mean + shift, spread


@dataclass(frozen=True, eq=False, repr=False)
class CvTest(Result):
    """The coefficient of variation of the k largest values, in two forms.

    Attributes
    ----------
    k : array
    cv, limit : array
        Of the excesses over the next value, and ``1 + z / sqrt(k)``.
    raw, raw_limit : array
        Of the values themselves, and ``1 + 1 / (4 k)``, as the paper prints it.
    passed, passed_as_published : bool or array
        Whether every k stays below its limit.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> test = cv_test(rng.exponential(size=2000))
    >>> test.passed, test.passed_as_published
    (True, True)
    """

    k: NDArray[np.intp]
    cv: Floats
    limit: Floats
    raw: Floats
    raw_limit: Floats
    passed: Any
    passed_as_published: Any

    def frame(self) -> pd.DataFrame:
        """Return one row per k, for one sample.

        Examples
        --------
        >>> test = cv_test(np.random.default_rng(0).exponential(size=2000))
        >>> len(test.frame())
        41
        """
        names = ("k", "cv", "limit", "raw", "raw_limit")
        return pd.DataFrame({name: getattr(self, name) for name in names})


def cv_test(
    values: ArrayLike, *, k_min: int = 10, k_max: int = 50, confidence: float = 0.95
) -> CvTest:
    """Test whether a tail is no heavier than exponential, for every k from k_min to k_max.

    Both forms are computed. The paper divides the standard deviation of the k largest values by
    their mean, and compares with ``1 + 1 / (4 k)``: with the tail well above 0 that passes always
    (also 85 % of tails of shape 0.5), and with a mean at or below 0 it says nothing. The residual
    form takes the excesses over the next value and the pointwise limit ``1 + z / sqrt(k)``; a true
    exponential passes for all k with probability about 0.93, a shape of 0.5 with 0.2.

    Parameters
    ----------
    values : array-like
        The whole sample along the last axis; leading axes are samples of their own.
    k_min, k_max : int
        The range of k.
    confidence : float
        Gives z, 1.96 at 0.95.

    Examples
    --------
    >>> heavy = np.random.default_rng(1).pareto(1.0, size=2000) + 1.0
    >>> cv_test(heavy).passed
    False

    References
    ----------
    Abella, Padilla, del Castillo and Cazorla 2017, Measurement-Based Worst-Case Execution Time
    Estimation Using the Coefficient of Variation. Monjezi et al. 2025, Algorithm 1.
    """
    if not 2 <= k_min <= k_max:
        raise InputError(f"k_min must be at least 2 and at most k_max; got {k_min} and {k_max}.")
    ordered = _largest(values, k_max + 1)
    k = np.arange(k_min, k_max + 1)
    mean, spread = _running(ordered, 1)
    cv = divide(spread[..., :-1], mean[..., :-1] - ordered[..., 1:])[..., k_min - 1 :]
    raw = divide(spread, mean)[..., k_min - 1 : k_max]
    limit = 1.0 + ndtri(0.5 + confidence / 2) / np.sqrt(k)
    raw_limit: Floats = 1.0 + 1.0 / (4.0 * k.astype(np.float64))
    # equal values give 0 / 0: no spread is no evidence of a heavy tail
    passed = (np.where(np.isnan(cv), 0.0, cv) < limit).all(axis=-1)
    published = (np.where(np.isnan(raw), 0.0, raw) < raw_limit).all(axis=-1)
    if ordered.ndim == 1:
        return CvTest(k, cv, limit, raw, raw_limit, bool(passed), bool(published))
    return CvTest(k, cv, limit, raw, raw_limit, passed, published)


class MultipleCvTest(NamedTuple):
    """The residual coefficient of variation over many thresholds at once.

    Attributes
    ----------
    statistic : float
    p_value : float
        From samples drawn with the tested shape.
    shape : float
        The shape that was tested, or that the coefficients themselves suggest.
    k : array
        The numbers of excesses.
    cv : array
    """

    statistic: float
    p_value: float
    shape: float
    k: NDArray[np.intp]
    cv: Floats


def multiple_cv_test(
    excesses: ArrayLike,
    *,
    shape: float | None = 0.0,
    thresholds: int = 10,
    fewest: int = 16,
    resamples: int = 999,
    random_state: int | None = 0,
) -> MultipleCvTest:
    """Test one shape at all thresholds above a first one.

    The statistic is ``n * sum of p^j * (cv_j - c)^2`` over thresholds that keep the share ``p^j`` of
    the n excesses, down to the fewest, with ``c = 1 / sqrt(1 - 2 * shape)``.

    Parameters
    ----------
    excesses : array-like
        Over the first threshold.
    shape : float or None
        The shape to test, below 1/4 where the statistic has its law; None takes the weighted mean
        of the coefficients for c.
    thresholds : int
        How many steps.
    fewest : int
        Excesses over the last threshold.
    resamples, random_state
        Of the simulation that gives the p-value.

    Examples
    --------
    >>> excesses = np.random.default_rng(0).exponential(size=300)
    >>> multiple_cv_test(excesses).p_value > 0.05
    True

    References
    ----------
    del Castillo and Padilla 2016, Modelling Extreme Values by the Residual Coefficient of
    Variation.
    """
    y = finite(excesses).ravel()
    n = y.size
    if n <= fewest:
        raise InputError(f"More than {fewest} excesses are needed; got {n}.")
    share = (fewest / n) ** (np.arange(thresholds + 1) / thresholds)
    k = np.maximum(np.round(n * share).astype(np.intp), 2)

    def statistic(sample: Floats) -> tuple[Floats, Floats, Floats]:
        # over the first threshold the excesses stand as they are
        ordered = np.concatenate(
            [-np.sort(-sample, axis=1), np.zeros((sample.shape[0], 1))], axis=1
        )
        mean, spread = _running(ordered[:, :-1], 1)
        cv = divide(spread[:, k - 1], mean[:, k - 1] - ordered[:, k])
        if shape is None:
            c = (cv @ share / share.sum())[:, None]
        else:
            c = np.full((sample.shape[0], 1), 1.0 / np.sqrt(1.0 - 2.0 * shape))
        return n * ((cv - c) ** 2) @ share, cv, c[:, 0]

    value, cv, c = statistic(y[None, :])
    tested = float((c[0] ** 2 - 1.0) / (2.0 * c[0] ** 2)) if shape is None else float(shape)
    rng = make_rng(random_state)
    drawn = gpd_quantile(rng.random((resamples, n)), 1.0, tested)
    beyond = int((statistic(drawn)[0] >= value[0]).sum())
    return MultipleCvTest(float(value[0]), (beyond + 1.0) / (resamples + 1.0), tested, k, cv[0])


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdChoice(Result):
    """A threshold that was chosen by a rule, and what the rule saw.

    Attributes
    ----------
    k : int
    threshold : float
    share : float
        k / n.
    rule : str
    reason : str
        One sentence.
    table : frame
        A row per candidate, lowest threshold first.

    Examples
    --------
    >>> choice = choose_threshold(np.random.default_rng(0).exponential(size=1000), resamples=99)
    >>> choice.k >= 20
    True
    """

    k: int
    threshold: float
    share: float
    rule: str
    reason: str
    table: pd.DataFrame

    def frame(self) -> pd.DataFrame:
        """Return the candidates.

        Examples
        --------
        >>> choice = choose_threshold(np.random.default_rng(0).exponential(size=400), resamples=99)
        >>> "p_value" in choice.frame().columns
        True
        """
        return self.table


def choose_threshold(
    values: ArrayLike,
    *,
    rule: str = "forward_stop",
    ks: ArrayLike | None = None,
    alpha: float = 0.05,
    resamples: int = 199,
    random_state: int | None = 0,
    upper: float | None = None,
) -> ThresholdChoice:
    """Choose how many of the largest values are the tail.

    Parameters
    ----------
    values : array-like
        One sample.
    rule : str
        ``forward_stop`` tests the generalised Pareto law over every candidate (Anderson-Darling,
        bootstrap p-values) and takes the lowest threshold after those that the ForwardStop rule
        rejects at ``alpha``; ``cv`` raises the threshold until the multiple-threshold test of the
        residual coefficient of variation has a p-value above 0.10.
    ks : array-like, optional
        Candidates; unless given, 16 from 20 to 50, or to twice the square root of the number of
        values where that is more, and at most a quarter of the values. A goodness-of-fit test does
        not see the curvature that a larger tail still has: intervals then miss above too often.
    alpha : float
        False discovery rate of ForwardStop.
    resamples, random_state
        Of the p-values.
    upper : float, optional
        As in `fit_gpd`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> body, tail = rng.uniform(0, 1, 1800), 1 + rng.exponential(0.2, 200)
    >>> choice = choose_threshold(np.concatenate([body, tail]), resamples=99)
    >>> choice.threshold > 0.9
    True

    References
    ----------
    Bader, Yan and Zhang 2018, Automated Threshold Selection for Extreme Value Analysis via Ordered
    Goodness-of-Fit Tests. del Castillo and Padilla 2016, Modelling Extreme Values by the Residual
    Coefficient of Variation.
    """
    check_choice("rule for a threshold", rule, ("forward_stop", "cv"))
    x = finite(values).ravel()
    if ks is None:
        most = min(max(50, int(2 * np.sqrt(x.size))), max(x.size // 4, min(FEWEST, x.size - 1)))
        ks = np.geomspace(min(FEWEST, most), most, 16)
    candidates = _candidates(x.size, ks)[::-1]
    if rule == "cv":
        candidates = candidates[candidates > 16]
        if not candidates.size:
            raise InputError(
                f"rule='cv' needs a candidate of more than 16 values; {x.size:,} values give none."
            )
    ordered = np.sort(x)[::-1]
    rng = make_rng(random_state)
    rows = []
    for k in candidates:
        fit = peaks_over_threshold(x, k=int(k), upper=upper)
        if fit.degenerate:
            p = 0.0
        elif rule == "cv":
            seed = int(rng.integers(2**31))
            p = multiple_cv_test(
                fit.sample, shape=None, resamples=resamples, random_state=seed
            ).p_value
        else:
            p = anderson_darling_p(*refitted(fit, resamples=resamples, rng=rng))[1]
        rows.append((int(k), float(ordered[k]), fit.shape, p, fit.degenerate))
        if rule == "cv" and p > 0.10:
            break
    table = pd.DataFrame(rows, columns=["k", "threshold", "shape", "p_value", "degenerate"])
    p_values = table["p_value"].to_numpy()
    if rule == "cv":
        chosen = len(rows) - 1
        fine = bool(p_values[-1] > 0.10)
    else:
        p_array = np.minimum(p_values, 1.0 - 1e-12)
        running = -np.log1p(-p_array).cumsum() / np.arange(1, p_array.size + 1)
        table["forward_stop"] = running
        rejected = np.flatnonzero(running <= alpha)
        chosen = int(rejected[-1]) + 1 if rejected.size else 0
        fine = chosen < len(rows)
        chosen = min(chosen, len(rows) - 1)
    k = int(table["k"].iloc[chosen])
    share = k / x.size
    reason = (
        f"the {k:,} largest of {x.size:,} values: the lowest threshold at which the tail's law holds"
        if fine
        else f"no candidate passes; the highest threshold, {k:,} values, is taken: read with care"
    )
    return ThresholdChoice(k, float(ordered[k]), share, rule, reason, table)
