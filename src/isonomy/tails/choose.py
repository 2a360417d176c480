"""How much of a sample is its tail: pictures of the question and an automatic answer."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from isonomy._validate import unknown_name
from isonomy.errors import InputError
from isonomy.tails.goodness import anderson_darling, goodness_of
from isonomy.tails.threshold import finite, peaks_over_threshold
from isonomy.tails.variation import multiple_cv_test

__all__ = ["ThresholdChoice", "choose_threshold", "mean_excess", "stability"]

Floats = NDArray[np.float64]

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
    values: ArrayLike, *, ks: ArrayLike | None = None, level: float = 0.95
) -> pd.DataFrame:
    """Give the mean excess over each threshold, with an interval: the mean residual life.

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
    half = float(ndtri(0.5 + level / 2)) * spread / np.sqrt(k)
    return pd.DataFrame(
        {
            "k": k,
            "threshold": x[k],
            "mean_excess": excess,
            "low": excess - half,
            "high": excess + half,
        }
    )


def stability(
    values: ArrayLike,
    *,
    ks: ArrayLike | None = None,
    level: float = 0.95,
    upper: float | None = None,
) -> pd.DataFrame:
    """Give shape and modified scale over each threshold, with profile intervals of the shape.

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
        low, high = fit.interval("shape", level=level)
        rows.append(
            {
                "k": int(k),
                "threshold": fit.threshold,
                "shape": fit.shape,
                "low": low,
                "high": high,
                "scale": fit.scale,
                "modified_scale": fit.scale - fit.shape * fit.threshold,
                "degenerate": fit.degenerate,
            }
        )
    return pd.DataFrame(rows)


@dataclass(frozen=True, eq=False)
class ThresholdChoice:
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
        """Give the candidates.

        Examples
        --------
        >>> choice = choose_threshold(np.random.default_rng(0).exponential(size=400), resamples=99)
        >>> "p_value" in choice.frame().columns
        True
        """
        return self.table

    def _repr_html_(self) -> str:
        return str(self.table.to_html(index=False))


def choose_threshold(
    values: ArrayLike,
    *,
    rule: str = "forward_stop",
    ks: ArrayLike | None = None,
    level: float = 0.05,
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
        rejects at ``level``; ``cv`` raises the threshold until the multiple-threshold test of the
        residual coefficient of variation has a p-value above 0.10.
    ks : array-like, optional
        Candidates; unless given, 16 from 20 to a quarter of the values (2,000 at most).
    level : float
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
    if rule not in ("forward_stop", "cv"):
        raise unknown_name("rule for a threshold", rule, ("forward_stop", "cv"))
    x = finite(values).ravel()
    candidates = _candidates(x.size, ks)[::-1]
    if rule == "cv":
        candidates = candidates[candidates > 16]
        if not candidates.size:
            raise InputError(
                f"rule='cv' needs a candidate of more than 16 values; {x.size:,} values give none."
            )
    ordered = np.sort(x)[::-1]
    rng = np.random.default_rng(random_state)
    rows, p_values = [], []
    for k in candidates:
        fit = peaks_over_threshold(x, k=int(k), upper=upper)
        if fit.degenerate:
            p = 0.0
        elif rule == "cv":
            seed = int(rng.integers(2**31))
            test = multiple_cv_test(fit.sample, shape=None, resamples=resamples, random_state=seed)
            p = test.p_value
        else:
            mine, drawn = goodness_of(fit, resamples=resamples, rng=rng)
            beyond = (anderson_darling(drawn) >= anderson_darling(mine)).sum()
            p = (int(beyond) + 1.0) / (resamples + 1.0)
        p_values.append(p)
        rows.append(
            {
                "k": int(k),
                "threshold": float(ordered[k]),
                "shape": fit.shape,
                "p_value": p,
                "degenerate": fit.degenerate,
            }
        )
        if rule == "cv" and p > 0.10:
            break
    table = pd.DataFrame(rows)
    if rule == "cv":
        chosen = len(rows) - 1
        fine = p_values[-1] > 0.10
    else:
        p_array = np.minimum(np.array(p_values), 1.0 - 1e-12)
        running = -np.log1p(-p_array).cumsum() / np.arange(1, p_array.size + 1)
        table["forward_stop"] = running
        rejected = np.flatnonzero(running <= level)
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
