"""Bootstrap intervals for many samples at once."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy
from numpy.random import Generator
from numpy.typing import ArrayLike

from isonomy._arrays import Floats
from isonomy._validate import check_choice, check_least, check_share, make_rng
from isonomy.errors import InputError
from isonomy.stats._samples import NanPolicy, Words, floats, portions, reasons, two_samples
from isonomy.stats.intervals import quantile_along

Statistic = Callable[..., Any]
"""Takes an array and ``axis``, as NumPy's own functions do."""
Method = Literal["percentile", "basic", "bca", "studentized"]

_NAMED: dict[str, Statistic] = {"mean": np.mean, "median": np.median}
_CELLS = 1 << 22
"""Numbers drawn and held at once."""


@dataclass(frozen=True, eq=False)
class Interval:
    """An estimate with the ends of its interval; why an interval is NaN.

    ``standard_error`` is the standard deviation of the resampled estimates.
    """

    estimate: Floats
    low: Floats
    high: Floats
    standard_error: Floats
    reason: Words
    method: str
    confidence: float
    resamples: int


def bootstrap(
    values: ArrayLike,
    statistic: Literal["mean", "median"] | Statistic = "mean",
    *,
    method: Method = "bca",
    confidence: float = 0.95,
    resamples: int = 2000,
    random_state: Any = 0,
    nan: NanPolicy = "propagate",
) -> Interval:
    """Return a bootstrap interval of a statistic along the last axis.

    SciPy's ``bootstrap`` with undefined values treated cell by cell, and studentized intervals
    beside it. All cells (leading axes) meet the same resampled positions, as if the runs of a
    study were drawn once for all of it; each interval is valid by itself.

    Parameters
    ----------
    values : array-like of shape (..., n)
    statistic : {"mean", "median"} or callable
        A callable takes an array and ``axis``.
    method : {"percentile", "basic", "bca", "studentized"}
        ``bca`` corrects for bias and skewness, ``studentized`` (the mean only) for the error of
        the standard error too: the widest and most honest below 30 values. ``percentile`` is too
        narrow there.
    confidence : float
        How often such intervals hold the truth.
    resamples : int
    random_state : int, Generator or None
    nan : {"propagate", "omit", "raise"}
        What becomes of a cell with undefined values.

    Examples
    --------
    >>> interval = bootstrap([0.71, 0.74, 0.69, 0.75, 0.73, 0.70, 0.72, 0.76])
    >>> round(float(interval.low), 3) < 0.725 < round(float(interval.high), 3)
    True

    References
    ----------
    Efron 1987, Better Bootstrap Confidence Intervals; DiCiccio and Efron 1996, Bootstrap
    Confidence Intervals.
    """
    x = floats(values, nan=nan)
    if not x.ndim or x.shape[-1] < 2:
        raise InputError("A bootstrap needs two values or more along the last axis.")
    return _intervals([x], statistic, True, method, confidence, resamples, random_state, nan)


def bootstrap_difference(
    a: ArrayLike,
    b: ArrayLike,
    statistic: Literal["mean", "median"] | Statistic = "mean",
    *,
    paired: bool,
    method: Method = "bca",
    confidence: float = 0.95,
    resamples: int = 2000,
    random_state: Any = 0,
    nan: NanPolicy = "propagate",
) -> Interval:
    """Return a bootstrap interval of ``statistic(a) - statistic(b)`` along the last axis.

    Parameters
    ----------
    a, b : array-like of shape (..., n) and (..., m)
        Samples; the leading axes broadcast.
    paired : bool
        Whether position i of both belongs together (one split, one seed): pairs are drawn as
        pairs, and what both share cancels. Otherwise each sample is drawn on its own.
    statistic, method, confidence, resamples, random_state, nan
        As in :func:`bootstrap`; with pairs, ``nan="omit"`` leaves out whole pairs.

    Examples
    --------
    >>> a, b = np.array([0.71, 0.74, 0.69, 0.75, 0.73]), np.array([0.70, 0.72, 0.68, 0.74, 0.71])
    >>> interval = bootstrap_difference(a, b, paired=True)
    >>> round(float(interval.estimate), 3), bool(interval.low > 0)
    (0.014, True)

    References
    ----------
    Efron and Tibshirani 1993, An Introduction to the Bootstrap.
    """
    samples = two_samples(a, b, nan=nan)
    n, m = (side.shape[-1] for side in samples)
    if paired and n != m:
        raise InputError(
            f"Paired samples must have one length; they have {n} and {m}: pass paired=False."
        )
    if min(n, m) < 2:
        raise InputError("A bootstrap needs two values or more along the last axis.")
    return _intervals(samples, statistic, paired, method, confidence, resamples, random_state, nan)


def _intervals(
    samples: Sequence[Floats],
    statistic: Any,
    paired: bool,
    method: Any,
    confidence: float,
    resamples: int,
    random_state: Any,
    nan: NanPolicy,
) -> Interval:
    """Return the intervals of all cells."""
    check_choice("bootstrap method", method, ("percentile", "basic", "bca", "studentized"))
    check_share("confidence", confidence)
    check_least("resamples", resamples, 100)
    if isinstance(statistic, str):
        check_choice("statistic", statistic, tuple(_NAMED))
    call: Statistic = _NAMED[statistic] if isinstance(statistic, str) else statistic
    if method == "studentized" and statistic != "mean":
        raise InputError(
            "A studentized interval needs a standard error, which is known for "
            'statistic="mean" only; use method="bca".'
        )

    def difference(*sides: Floats, axis: int) -> Floats:
        parts = [np.asarray(call(side, axis=axis)) for side in sides]
        return parts[0] if len(parts) == 1 else parts[0] - parts[1]

    lead = samples[0].shape[:-1]
    samples = [side.reshape(-1, side.shape[-1]) for side in samples]
    rng = make_rng(random_state)
    origin = rng.bit_generator.state
    out = np.full((4, len(samples[0])), np.nan)
    enough = np.zeros(out.shape[1], dtype=bool)
    for cells, part in portions(samples, paired=paired, nan=nan, fewest=2):
        rng.bit_generator.state = origin  # a cell with gaps meets the draws of one without
        enough[cells] = True
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            # a cell whose resamples do not vary has its reason
            out[0, cells] = difference(*part, axis=-1)
            if method == "studentized":
                out[1:, cells] = _studentized(part, paired, confidence, resamples, rng)
                continue
            interval = scipy.stats.bootstrap(
                part,
                difference,
                n_resamples=resamples,
                batch=max(1, _CELLS // part[0].size),
                vectorized=True,
                paired=paired,
                axis=-1,
                confidence_level=confidence,
                method=method,
                rng=rng,
            )
        out[1:, cells] = *interval.confidence_interval, interval.standard_error
    if statistic == "mean":
        out[1:, np.isinf(out[0])] = np.nan
    gaps = np.any([np.isnan(side).any(axis=-1) for side in samples], axis=0)
    why = reasons(
        (gaps & (nan != "omit"), "a value is NaN"),
        (~enough, "fewer than two values are left"),
        (np.isnan(out[0]), "the statistic is undefined"),
        (np.isinf(out[0]) & np.isnan(out[1]), "the statistic is infinite"),
        (np.isnan(out[3]), "the statistic is undefined in a resample"),
        (np.isnan(out[1:3]).any(axis=0), "the resamples do not vary"),
    )
    estimate, low, high, error = (part.reshape(lead)[()] for part in out)
    reason = why.reshape(lead)[()]
    return Interval(estimate, low, high, error, reason, method, confidence, resamples)


def _studentized(
    samples: Sequence[Floats], paired: bool, confidence: float, resamples: int, rng: Generator
) -> Floats:
    """Return ends and standard error of a mean or a difference of means, which SciPy lacks."""
    if paired and len(samples) == 2:
        samples = [samples[0] - samples[1]]
    estimate, variance, moved, variances = 0.0, 0.0, 0.0, 0.0
    for sign, side in zip((1.0, -1.0), samples, strict=False):
        n = side.shape[-1]
        places = rng.integers(0, n, size=(resamples, n)) + n * np.arange(resamples)[:, None]
        # how often each position was drawn, times the values
        times = np.bincount(places.ravel(), minlength=resamples * n).reshape(resamples, n) / n
        centre = side.mean(axis=-1, keepdims=True)
        around = side - centre
        move = around @ times.T
        # rounding may leave a hair below 0 where one value was drawn throughout
        variances = variances + np.maximum(around**2 @ times.T - move**2, 0.0) / (n - 1)
        variance = variance + (around**2).mean(axis=-1) / (n - 1)
        estimate, moved = estimate + sign * centre[:, 0], moved + sign * move
    t = np.sort(moved / np.sqrt(variances), axis=-1)
    known = np.sum(~np.isnan(t), axis=-1)
    low, high = (
        estimate - np.sqrt(variance) * quantile_along(t, known, share)
        for share in (0.5 + confidence / 2, 0.5 - confidence / 2)
    )
    return np.array([low, high, np.std(moved, axis=-1, ddof=1)])
