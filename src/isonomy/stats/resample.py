"""Bootstrap intervals for many samples at once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from isonomy.errors import InputError
from isonomy.stats._samples import (
    Floats,
    NanPolicy,
    Words,
    check_option,
    check_share,
    floats,
    reasons,
    two_samples,
)
from isonomy.stats.intervals import quantile_along

__all__ = ["Interval", "Statistic", "bootstrap", "bootstrap_difference"]

Statistic = Callable[..., Any]
"""Takes an array and ``axis``, as NumPy's own functions do."""

_NAMED: dict[str, Statistic] = {"mean": np.mean, "median": np.median}
_METHODS = ("percentile", "basic", "bca", "studentized")
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
    level: float
    resamples: int


class _Drawn(NamedTuple):
    """Estimates of cells (rows), of their resamples and of leaving out one value at a time."""

    estimate: Floats
    resampled: Floats
    errors: Floats | None  # standard errors within each resample
    error: Floats | None  # and of the sample itself
    left_out: list[Floats]  # one array (cells, n) per sample drawn on its own


def bootstrap(
    values: ArrayLike,
    statistic: Literal["mean", "median"] | Statistic = "mean",
    *,
    method: Literal["percentile", "basic", "bca", "studentized"] = "bca",
    level: float = 0.95,
    resamples: int = 2000,
    random_state: Any = 0,
    nan: NanPolicy = "propagate",
) -> Interval:
    """Give a bootstrap interval of a statistic along the last axis.

    All cells (leading axes) meet the same resampled positions, as if the runs of a study were
    drawn once for all of it; each interval is valid by itself.

    Parameters
    ----------
    values : array-like of shape (..., n)
    statistic : {"mean", "median"} or callable
        A callable takes an array and ``axis``.
    method : {"percentile", "basic", "bca", "studentized"}
        ``bca`` corrects for bias and skewness, ``studentized`` (the mean only) for the error of
        the standard error too: the widest and most honest below 30 values. ``percentile`` is too
        narrow there.
    level : float
        Confidence level.
    resamples : int
    random_state : int, Generator or None
    nan : {"propagate", "omit", "raise"}
        What becomes of a cell with undefined values.

    Examples
    --------
    >>> found = bootstrap([0.71, 0.74, 0.69, 0.75, 0.73, 0.70, 0.72, 0.76])
    >>> round(float(found.low), 3) < 0.725 < round(float(found.high), 3)
    True

    References
    ----------
    Efron 1987, Better Bootstrap Confidence Intervals; DiCiccio and Efron 1996, Bootstrap
    Confidence Intervals.
    """
    x = floats(values, nan=nan)
    if not x.ndim or x.shape[-1] < 2:
        raise InputError("A bootstrap needs two values or more along the last axis.")
    run = _Run(statistic, method, level, resamples, random_state, nan)
    return run.over(x.reshape(-1, x.shape[-1])[None], x.shape[:-1], paired=True)


def bootstrap_difference(
    a: ArrayLike,
    b: ArrayLike,
    statistic: Literal["mean", "median"] | Statistic = "mean",
    *,
    paired: bool,
    method: Literal["percentile", "basic", "bca", "studentized"] = "bca",
    level: float = 0.95,
    resamples: int = 2000,
    random_state: Any = 0,
    nan: NanPolicy = "propagate",
) -> Interval:
    """Give a bootstrap interval of ``statistic(a) - statistic(b)`` along the last axis.

    Parameters
    ----------
    a, b : array-like of shape (..., n) and (..., m)
        Samples; the leading axes broadcast.
    paired : bool
        Whether position i of both belongs together (one split, one seed): pairs are drawn as
        pairs, and what both share cancels. Otherwise each sample is drawn on its own.
    statistic, method, level, resamples, random_state, nan
        As in :func:`bootstrap`; with pairs, ``nan="omit"`` leaves out whole pairs.

    Examples
    --------
    >>> a, b = np.array([0.71, 0.74, 0.69, 0.75, 0.73]), np.array([0.70, 0.72, 0.68, 0.74, 0.71])
    >>> found = bootstrap_difference(a, b, paired=True)
    >>> round(float(found.estimate), 3), bool(found.low > 0)
    (0.014, True)

    References
    ----------
    Efron and Tibshirani 1993, An Introduction to the Bootstrap.
    """
    first, second = two_samples(a, b, nan=nan)
    n, m = first.shape[-1], second.shape[-1]
    if paired and n != m:
        raise InputError(
            f"Paired samples must have one length; they have {n} and {m}: pass paired=False."
        )
    if min(n, m) < 2:
        raise InputError("A bootstrap needs two values or more along the last axis.")
    lead = first.shape[:-1]
    run = _Run(statistic, method, level, resamples, random_state, nan)
    return run.over([first.reshape(-1, n), second.reshape(-1, m)], lead, paired=paired)


@dataclass(frozen=True)
class _Run:
    """The choices of one call."""

    statistic: Any
    method: str
    level: float
    resamples: int
    random_state: Any
    nan: str

    def __post_init__(self) -> None:
        check_option("bootstrap method", self.method, _METHODS)
        check_share("level", self.level)
        if self.resamples < 100:
            raise InputError(f"resamples must be 100 or more; got {self.resamples}.")
        if isinstance(self.statistic, str):
            check_option("statistic", self.statistic, tuple(_NAMED))
        if self.method == "studentized" and self.statistic != "mean":
            raise InputError(
                "A studentized interval needs a standard error, which is known for "
                'statistic="mean" only; use method="bca".'
            )

    def over(self, samples: Any, lead: tuple[int, ...], *, paired: bool) -> Interval:
        """Give the intervals of all cells (rows)."""
        rng = np.random.default_rng(self.random_state)
        seed = rng.bit_generator.state
        known = [~np.isnan(side) for side in samples]
        if paired:
            known = [np.logical_and.reduce(known)] * len(known)
        whole = np.logical_and.reduce([k.all(axis=-1) for k in known])
        fewest = np.minimum.reduce([k.sum(axis=-1) for k in known])
        cells = len(whole)
        out = np.full((4, cells), np.nan)
        if whole.any():
            out[:, whole] = self._cells([side[whole] for side in samples], rng, paired=paired)
        if self.nan == "omit":  # cells with holes are few: one by one, from the same seed
            for i in np.flatnonzero(~whole & (fewest >= 2)):
                rng.bit_generator.state = seed
                mine = [side[i : i + 1, k[i]] for side, k in zip(samples, known, strict=True)]
                out[:, i] = self._cells(mine, rng, paired=paired)[:, 0]
        why = reasons(
            (~whole & (self.nan != "omit"), "a value is NaN"),
            (fewest < 2, "fewer than two values are left"),
            (np.isnan(out[0]), "the statistic is undefined"),
            (np.isinf(out[0]) & np.isnan(out[1]), "the statistic is infinite"),
            (np.isnan(out[1:3]).any(axis=0), "the resamples do not vary"),
        )
        estimate, low, high, error = (part.reshape(lead)[()] for part in out)
        return Interval(
            estimate,
            low,
            high,
            error,
            why.reshape(lead)[()],
            self.method,
            self.level,
            self.resamples,
        )

    def _cells(self, samples: list[Floats], rng: Generator, *, paired: bool) -> Floats:
        with np.errstate(invalid="ignore"):  # infinite values have no spread
            drawn = self._draw(samples, rng, paired=paired)
        tail = (1.0 - self.level) / 2.0
        estimate, resampled = drawn.estimate, np.sort(drawn.resampled, axis=-1)
        known = np.sum(~np.isnan(resampled), axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.method == "bca":
                low, high = _bca(drawn, resampled, known, tail)
            elif self.method == "studentized":
                assert drawn.errors is not None
                assert drawn.error is not None
                t = np.sort((drawn.resampled - estimate[:, None]) / drawn.errors, axis=-1)
                count = np.sum(~np.isnan(t), axis=-1)
                low = estimate - drawn.error * quantile_along(t, count, 1.0 - tail)
                high = estimate - drawn.error * quantile_along(t, count, tail)
            else:
                low = quantile_along(resampled, known, tail)
                high = quantile_along(resampled, known, 1.0 - tail)
                if self.method == "basic":
                    low, high = 2.0 * estimate - high, 2.0 * estimate - low
            spread = np.nanstd(drawn.resampled, axis=-1, ddof=1) if known.all() else _std(resampled)
        return np.array([estimate, low, high, spread])

    def _draw(self, samples: list[Floats], rng: Generator, *, paired: bool) -> _Drawn:
        if self.statistic == "mean":
            return self._draw_means(samples, rng, paired=paired)
        name = self.statistic
        call = _NAMED[name] if isinstance(name, str) else name
        estimate = _difference([np.asarray(call(side, axis=-1)) for side in samples])
        cells = len(estimate)
        resampled = np.empty((cells, self.resamples))
        step = max(1, _CELLS // max(1, cells * max(side.shape[-1] for side in samples)))
        for start in range(0, self.resamples, step):
            size = min(step, self.resamples - start)
            places = _places(samples, size, rng, paired=paired)
            found = [
                np.asarray(call(side[:, place], axis=-1))
                for side, place in zip(samples, places, strict=True)
            ]
            resampled[:, start : start + size] = _difference(found)
        left_out: list[Floats] = []
        if self.method == "bca":
            without = [_without_each(side, call) for side in samples]
            if paired:
                left_out = [_difference(without)]
            else:
                left_out = without[:1] + [-side for side in without[1:]]
        return _Drawn(estimate, resampled, None, None, left_out)

    def _draw_means(self, samples: list[Floats], rng: Generator, *, paired: bool) -> _Drawn:
        """Draw means: how often each position was drawn, times the values."""
        if paired and len(samples) == 2:
            samples = [samples[0] - samples[1]]
        centre = [side.mean(axis=-1) for side in samples]
        around = [side - mid[:, None] for side, mid in zip(samples, centre, strict=True)]
        estimate = _difference(centre)
        cells = len(estimate)
        wanted = self.method == "studentized"
        moved = [np.empty((cells, self.resamples)) for _ in samples]
        squares = [np.empty((cells, self.resamples)) for _ in samples] if wanted else []
        step = max(1, _CELLS // max(side.shape[-1] for side in samples))
        for start in range(0, self.resamples, step):
            size = min(step, self.resamples - start)
            at = slice(start, start + size)
            for k, place in enumerate(_places(samples, size, rng, paired=False)):
                n = place.shape[1]
                flat = (place + n * np.arange(size)[:, None]).ravel()
                times = np.bincount(flat, minlength=size * n).reshape(size, n) / n
                moved[k][:, at] = around[k] @ times.T
                if wanted:
                    squares[k][:, at] = around[k] ** 2 @ times.T
        resampled = _difference([m + c[:, None] for m, c in zip(moved, centre, strict=True)])
        sizes = [side.shape[-1] for side in samples]
        errors = error = None
        if wanted:
            # rounding may leave a hair below 0 where one value was drawn throughout
            parts = [
                np.maximum(s - m * m, 0.0) / (n - 1)
                for s, m, n in zip(squares, moved, sizes, strict=True)
            ]
            errors = np.sqrt(np.sum(parts, axis=0))
            own = [(r**2).mean(axis=-1) / (n - 1) for r, n in zip(around, sizes, strict=True)]
            error = np.sqrt(np.sum(own, axis=0))
        left_out = [
            sign * (-side / (n - 1))
            for sign, side, n in zip((1.0, -1.0), around, sizes, strict=False)
        ]
        return _Drawn(estimate, resampled, errors, error, left_out)


def _places(samples: list[Floats], size: int, rng: Generator, *, paired: bool) -> list[Any]:
    """Draw positions: for pairs once, else for each sample."""
    if paired:
        n = samples[0].shape[-1]
        return [rng.integers(0, n, size=(size, n))] * len(samples)
    return [rng.integers(0, s.shape[-1], size=(size, s.shape[-1])) for s in samples]


def _difference(parts: list[Floats]) -> Floats:
    return parts[0] if len(parts) == 1 else parts[0] - parts[1]


def _without_each(side: Floats, call: Statistic) -> Floats:
    """Give the statistic of each cell without its first value, its second ..."""
    n = side.shape[-1]
    return np.stack([call(np.delete(side, i, axis=-1), axis=-1) for i in range(n)], axis=-1)


def _std(ordered: Floats) -> Floats:
    """Give the standard deviation of rows in which some or all are NaN."""
    known = ~np.isnan(ordered)
    count = known.sum(axis=-1)
    mean = np.where(known, ordered, 0.0).sum(axis=-1) / count
    away = np.where(known, ordered - mean[:, None], 0.0) ** 2
    out: Floats = np.sqrt(away.sum(axis=-1) / (count - 1))
    return out


def _bca(drawn: _Drawn, ordered: Floats, known: Any, tail: float) -> tuple[Floats, Floats]:
    """Move the percentiles by bias and acceleration."""
    estimate = drawn.estimate[:, None]
    below = ((ordered < estimate).sum(axis=-1) + (ordered <= estimate).sum(axis=-1)) / (2.0 * known)
    bias = ndtri(below)
    top, bottom = np.zeros(len(ordered)), np.zeros(len(ordered))
    for part in drawn.left_out:
        n = part.shape[-1]
        influence = (n - 1) * (part.mean(axis=-1, keepdims=True) - part)
        top += (influence**3).sum(axis=-1) / n**3
        bottom += (influence**2).sum(axis=-1) / n**2
    lean = top / (6.0 * bottom**1.5)
    ends = []
    for z in (ndtri(tail), -ndtri(tail)):
        share = ndtr(bias + (bias + z) / (1.0 - lean * (bias + z)))
        found = quantile_along(ordered, known, np.where(np.isnan(share), 0.5, share))
        ends.append(np.where(np.isnan(share), np.nan, found))
    return ends[0], ends[1]
