"""The coefficient of variation as a test of a tail: Monjezi et al.'s form, and the one that works."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from isonomy.errors import InputError
from isonomy.tails.gpd import gpd_quantile
from isonomy.tails.threshold import finite

__all__ = ["CvTest", "MultipleCvTest", "cv_test", "multiple_cv_test", "residual_cv"]

Floats = NDArray[np.float64]


def _largest(values: ArrayLike, most: int) -> Floats:
    """Give the ``most`` largest values, largest first, along the last axis."""
    x = finite(values)
    n = x.shape[-1]
    if most > n:
        raise InputError(f"At least {most:,} values are needed; got {n:,}.")
    return np.asarray(-np.sort(-np.partition(x, n - most, axis=-1)[..., n - most :], axis=-1))


def _running(ordered: Floats, ddof: int) -> tuple[Floats, Floats]:
    """Give mean and standard deviation of the 1, 2, ... largest values."""
    shift = ordered[..., :1]
    centred = ordered - shift
    count = np.arange(1, ordered.shape[-1] + 1)
    mean = centred.cumsum(axis=-1) / count
    square = (centred**2).cumsum(axis=-1) - count * mean**2
    spread = np.sqrt(np.maximum(square, 0.0) / np.maximum(count - ddof, 1))
    return mean + shift, spread


def residual_cv(values: ArrayLike, most: int) -> Floats:
    """Give the coefficient of variation of the excesses of the k largest, for k = 1 .. most.

    It is 1 for an exponential tail, below 1 for a tail that ends and above 1 for a heavy one:
    ``1 / sqrt(1 - 2 * shape)``.

    Examples
    --------
    >>> cv = residual_cv(np.random.default_rng(0).exponential(size=2000), 500)
    >>> round(float(cv[-1]), 1)
    1.0

    References
    ----------
    del Castillo, Daoudi and Lockhart 2014, Methods to Distinguish Between Polynomial and
    Exponential Tails.
    """
    ordered = _largest(values, most + 1)
    mean, spread = _running(ordered[..., :-1], 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(spread / (mean - ordered[..., 1:]), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class CvTest:
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
        """Give one row per k, for one sample.

        Examples
        --------
        >>> test = cv_test(np.random.default_rng(0).exponential(size=2000))
        >>> len(test.frame())
        41
        """
        return pd.DataFrame(
            {
                "k": self.k,
                "cv": self.cv,
                "limit": self.limit,
                "raw": self.raw,
                "raw_limit": self.raw_limit,
            }
        )

    def _repr_html_(self) -> str:
        return str(self.frame().to_html(index=False))


def cv_test(values: ArrayLike, *, k_min: int = 10, k_max: int = 50, level: float = 0.95) -> CvTest:
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
    level : float
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
    with np.errstate(divide="ignore", invalid="ignore"):
        cv = (spread[..., :-1] / (mean[..., :-1] - ordered[..., 1:]))[..., k_min - 1 :]
        raw = (spread / mean)[..., k_min - 1 : k_max]
    limit = 1.0 + ndtri(0.5 + level / 2) / np.sqrt(k)
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
        with np.errstate(divide="ignore", invalid="ignore"):
            cv = spread[:, k - 1] / (mean[:, k - 1] - ordered[:, k])
        if shape is None:
            c = (cv @ share / share.sum())[:, None]
        else:
            c = np.full((sample.shape[0], 1), 1.0 / np.sqrt(1.0 - 2.0 * shape))
        return n * ((cv - c) ** 2) @ share, cv, c[:, 0]

    value, cv, c = statistic(y[None, :])
    tested = float((c[0] ** 2 - 1.0) / (2.0 * c[0] ** 2)) if shape is None else float(shape)
    rng = np.random.default_rng(random_state)
    drawn = gpd_quantile(rng.random((resamples, n)), 1.0, tested)
    beyond = int((statistic(drawn)[0] >= value[0]).sum())
    return MultipleCvTest(float(value[0]), (beyond + 1.0) / (resamples + 1.0), tested, k, cv[0])
