"""Tests on many pairs of samples at once: Mann-Whitney U, Wilcoxon and Spearman's correlation."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from isonomy._arrays import Floats
from isonomy._validate import check_choice, check_share
from isonomy.errors import InputError
from isonomy.stats._samples import (
    Alternative,
    NanPolicy,
    Words,
    broadcast,
    floats,
    portions,
    reasons,
    two_samples,
)
from isonomy.stats.ranks import rank

Method = Literal["auto", "asymptotic", "exact"]
_ALTERNATIVES = ("two-sided", "less", "greater")
_METHODS = ("auto", "asymptotic", "exact")
_ZEROS = {"drop": "wilcox", "pratt": "pratt", "split": "zsplit"}
_SMALL, _SMALL_PAIRED, _SMALL_TIED = 8, 50, 13
"""Up to these sizes SciPy too prefers exact distributions; the last two of paired differences."""
_CELLS = 1 << 22
"""Numbers held at once while distributions of tied cells are built."""


@dataclass(frozen=True, eq=False)
class Tested:
    """Statistic and p-value of every cell; unpacks as these two.

    ``reason`` says why a cell is NaN; it is the empty text elsewhere.
    """

    statistic: Floats
    pvalue: Floats
    reason: Words

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.statistic, self.pvalue))


class Spearman(Tested):
    """Correlation and p-value of every cell, and why a cell is NaN; unpacks as the first two."""

    @property
    def correlation(self) -> Floats:
        """The statistic: the correlation of the ranks."""
        return self.statistic


def _tied(values: Floats) -> NDArray[np.bool_]:
    """Return which rows hold equal values."""
    return np.asarray((np.diff(np.sort(values, axis=-1), axis=-1) == 0).any(axis=-1))


def mann_whitney(
    a: ArrayLike,
    b: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    continuity: bool = True,
    method: Method = "auto",
    nan: NanPolicy = "propagate",
) -> Tested:
    """Test along the last axis whether one of two samples tends to be larger.

    SciPy's ``mannwhitneyu``, with the method chosen and undefined values treated cell by cell. The
    statistic counts the pairs in which ``a`` is larger, ties as half.

    Parameters
    ----------
    a, b : array-like of shape (..., n) and (..., m)
        Samples; the leading axes broadcast.
    alternative : {"two-sided", "less", "greater"}
        What ``a`` is when the test rejects.
    continuity : bool
        Whether the normal approximation is corrected for continuity. Ties always are.
    method : {"auto", "asymptotic", "exact"}
        ``auto`` is exact in cells without ties where one sample has at most 8 values, else the
        normal approximation. With ties there is no exact distribution: NaN.
    nan : {"propagate", "omit", "raise"}
        What becomes of a cell with undefined values: it is undefined, they are left out, or an
        error.

    Examples
    --------
    >>> statistic, p = mann_whitney([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0])
    >>> float(statistic), round(float(p), 4)
    (0.0, 0.0079)
    >>> mann_whitney([[1.0, 2.0], [3.0, float("nan")]], [5.0, 6.0]).reason.tolist()
    ['', 'a value is NaN']

    References
    ----------
    Mann and Whitney 1947, On a Test of Whether one of Two Random Variables is Stochastically
    Larger than the Other.
    """
    check_choice("alternative", alternative, _ALTERNATIVES)
    check_choice("method", method, _METHODS)
    first, second = two_samples(a, b, nan=nan)
    lead = first.shape[:-1]
    samples = [side.reshape(-1, side.shape[-1]) for side in (first, second)]
    known = np.minimum(*((~np.isnan(side)).sum(axis=-1) for side in samples))
    whole = ~np.any([np.isnan(side).any(axis=-1) for side in samples], axis=0)
    statistic, p = np.full((2, len(whole)), np.nan)
    tied = np.zeros(len(whole), dtype=bool)
    options: list[dict[str, Any]] = [
        {"method": how, "use_continuity": continuity, "alternative": alternative, "axis": -1}
        for how in ("asymptotic", "exact")
    ]
    for cells, (x, y) in portions(samples, paired=False, nan=nan):
        small = method == "exact" or (method == "auto" and min(x.shape[-1], y.shape[-1]) <= _SMALL)
        tied[cells] = _tied(np.concatenate([x, y], axis=-1)) if small else True
        for rows, option in zip((tied[cells], ~tied[cells]), options, strict=True):
            if rows.any():
                with np.errstate(divide="ignore", invalid="ignore"):
                    statistic[cells[rows]], p[cells[rows]] = scipy.stats.mannwhitneyu(
                        x[rows], y[rows], **option
                    )
    # without continuity equal constants are 0 / 0: nothing speaks for a difference
    p = np.where(np.isnan(p) & ~np.isnan(statistic), 1.0, p)
    why = reasons(
        (~whole & (nan != "omit"), "a value is NaN"),
        (known == 0, "no value is left"),
        (tied & (method == "exact"), "ties have no exact distribution"),
    )
    p = np.where(why == "", p, np.nan)
    return Tested(statistic.reshape(lead)[()], p.reshape(lead)[()], why.reshape(lead)[()])


@cache
def smallest_pvalue(n: int, m: int) -> float:
    """Return the smallest p-value that :func:`mann_whitney` can give ``n`` values against ``m``.

    It is that of samples without ties of which one lies above the other. Where it is not below the
    level of a test, that nothing is significant says nothing. NaN where a sample is empty.

    Examples
    --------
    >>> [round(smallest_pvalue(runs, runs), 3) for runs in (2, 3, 4)]
    [0.333, 0.1, 0.029]
    """
    if not n or not m:
        return float("nan")
    return float(mann_whitney(np.arange(n), np.arange(n, n + m)).pvalue)


def runs_needed(alpha: float, against: int | None = None, *, most: int = 1000) -> int | None:
    """Return the fewest values of a sample with which :func:`mann_whitney` can be significant.

    Parameters
    ----------
    alpha : float
        Significance level; divide it by the number of tests for Bonferroni's correction.
    against : int, optional
        Size of the other sample; by default as large as this one.
    most : int
        Where the search ends: None if that many values are still too few.

    Examples
    --------
    >>> runs_needed(0.05), runs_needed(0.01 / 90, against=50)
    (4, 3)
    """
    check_share("alpha", alpha)
    sizes = ((n, n if against is None else against) for n in range(1, most + 1))
    return next((n for n, m in sizes if smallest_pvalue(n, m) < alpha), None)


def wilcoxon(
    a: ArrayLike,
    b: ArrayLike | None = None,
    *,
    zeros: Literal["drop", "pratt", "split"] = "drop",
    alternative: Alternative = "two-sided",
    continuity: bool = False,
    method: Method = "auto",
    nan: NanPolicy = "propagate",
) -> Tested:
    """Test along the last axis whether paired differences lie around 0.

    SciPy's ``wilcoxon``, with the method chosen and undefined values treated cell by cell. The
    statistic is the smaller sum of ranks, or with a one-sided alternative that of the positive
    differences.

    Parameters
    ----------
    a, b : array-like of shape (..., n)
        Paired samples, the leading axes broadcast; without ``b``, ``a`` holds the differences.
    zeros : {"drop", "pratt", "split"}
        Pairs without a difference are left out; or ranked and then left out; or ranked and half
        counted on each side (SciPy's ``wilcox``, ``pratt`` and ``zsplit``).
    alternative : {"two-sided", "less", "greater"}
        What ``a`` is, next to ``b``, when the test rejects.
    continuity : bool
        Whether the normal approximation is corrected for continuity. Ties always are.
    method : {"auto", "asymptotic", "exact"}
        ``auto`` is exact for up to 50 pairs without ties and zeros and up to 13 with them, else
        the normal approximation. ``exact`` with ties or zeros goes through all signs of the ranks
        at hand, for any number of pairs (SciPy rounds instead).
    nan : {"propagate", "omit", "raise"}
        What becomes of a cell with undefined differences: it is undefined, those pairs are left
        out, or an error.

    Notes
    -----
    Where all differences are 0 the p-value is 1, the exact one: whatever the signs, the sum of
    ranks is the same. SciPy says so up to 13 pairs and NaN beyond.

    Examples
    --------
    >>> statistic, p = wilcoxon([0.81, 0.83, 0.79, 0.86, 0.84], [0.80, 0.80, 0.81, 0.81, 0.80])
    >>> float(statistic), float(p)
    (2.0, 0.1875)

    References
    ----------
    Wilcoxon 1945, Individual Comparisons by Ranking Methods; Pratt 1959, Remarks on Zeros and
    Ties in the Wilcoxon Signed Rank Procedures.
    """
    check_choice("treatment of zeros", zeros, tuple(_ZEROS))
    check_choice("alternative", alternative, _ALTERNATIVES)
    check_choice("method", method, _METHODS)
    d = floats(a, nan=nan)
    if b is not None:
        other = floats(b, nan=nan)
        if not d.ndim or not other.ndim or d.shape[-1] != other.shape[-1]:
            raise InputError(
                "Paired samples must have one length; they have shapes "
                f"{d.shape} and {other.shape}."
            )
        with np.errstate(invalid="ignore"):  # both infinite: no difference to speak of
            d = np.subtract(*broadcast(d, other))
    if not d.ndim or not d.shape[-1]:
        raise InputError("There must be one pair or more; there is none.")
    lead = d.shape[:-1]
    d = d.reshape(-1, d.shape[-1])
    statistic, p = np.full((2, len(d)), np.nan)

    options: dict[str, Any] = {"zero_method": _ZEROS[zeros], "correction": continuity, "axis": -1}

    def by_scipy(x: Floats, how: Any) -> tuple[Any, Any]:
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic, p = scipy.stats.wilcoxon(x, alternative=alternative, method=how, **options)
        return statistic, p

    for cells, (x,) in portions([d], paired=True, nan=nan):
        pairs = x.shape[-1]
        statistic[cells], p[cells] = by_scipy(x, "asymptotic")
        if method == "exact" or (method == "auto" and pairs <= _SMALL_PAIRED):
            tied = _tied(np.abs(x)) | (x == 0).any(axis=-1)
            if not tied.all():
                p[cells[~tied]] = by_scipy(x[~tied], "exact")[1]
            if tied.any() and (method == "exact" or pairs <= _SMALL_TIED):
                p[cells[tied]] = _by_signs(x[tied], zeros, alternative)
        p[cells] = np.where((x == 0).all(axis=-1), 1.0, p[cells])
    undefined = np.isnan(d)
    why = reasons(
        (undefined.any(axis=-1) & (nan != "omit"), "a value is NaN"),
        (undefined.all(axis=-1), "no pair is left"),
    )
    return Tested(statistic.reshape(lead)[()], p.reshape(lead)[()], why.reshape(lead)[()])


def _by_signs(d: Floats, zeros: str, alternative: str) -> Floats:
    """Return exact p-values given the ranks at hand, tied or not: every sign is a fair coin.

    SciPy has no such distribution: it goes through all signs one by one, or rounds.
    """
    ranks = rank(np.where(d == 0, np.nan, np.abs(d)) if zeros == "drop" else np.abs(d))
    # mean ranks are halves at most, Pratt's too: twice a rank is a whole number
    steps = np.rint(2.0 * np.where(d == 0, 0.0, ranks)).astype(np.intp)
    observed = np.where(d > 0, steps, 0).sum(axis=-1)
    width = int(steps.sum(axis=-1).max(initial=0)) + 1
    upper, lower = np.empty((2, len(d)))
    places = np.arange(width)
    chunk = max(1, _CELLS // width)
    for start in range(0, len(d), chunk):
        part = slice(start, start + chunk)
        p = np.zeros((steps[part].shape[0], width))
        p[:, 0] = 1.0
        for step in steps[part].T:
            source = places[None, :] - step[:, None]
            moved = np.take_along_axis(p, np.maximum(source, 0), axis=1)
            p = (p + np.where(source >= 0, moved, 0.0)) / 2.0
        upper[part] = np.where(places >= observed[part, None], p, 0.0).sum(axis=1)
        lower[part] = np.where(places <= observed[part, None], p, 0.0).sum(axis=1)
    if alternative == "two-sided":
        return np.minimum(2.0 * np.minimum(upper, lower), 1.0)
    return upper if alternative == "greater" else lower


def spearman(a: ArrayLike, b: ArrayLike, *, nan: NanPolicy = "propagate") -> Spearman:
    """Correlate the ranks of two samples along the last axis, two-sided.

    Equal to SciPy's ``spearmanr``, for many pairs in one call. A constant sample has no
    correlation: NaN. With ``nan="omit"`` a pair with an undefined value is left out.

    Examples
    --------
    >>> correlation, p = spearman([1.0, 2.0, 3.0, 4.0, 5.0], [5.0, 6.0, 7.0, 8.0, 7.0])
    >>> round(float(correlation), 4), round(float(p), 4)
    (0.8208, 0.0886)

    References
    ----------
    Spearman 1904, The Proof and Measurement of Association between Two Things.
    """
    try:
        x, y = np.broadcast_arrays(floats(a, nan=nan), floats(b, nan=nan))
    except ValueError as error:
        raise InputError(f"The two samples must have one length; got {error}.") from None
    if not x.ndim or x.shape[-1] < 3:
        raise InputError(
            f"A rank correlation needs three pairs or more; got {x.shape[-1] if x.ndim else 1}."
        )
    known = ~(np.isnan(x) | np.isnan(y))
    n = known.sum(axis=-1)
    x, y = (rank(np.where(known, side, np.nan)) for side in (x, y))
    middle = (n[..., None] + 1) / 2.0
    x, y = (np.where(known, side - middle, 0.0) for side in (x, y))
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (x * y).sum(axis=-1) / np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1))
        r = np.clip(r, -1.0, 1.0)
        t = np.abs(r) * np.sqrt((n - 2) / ((1.0 + r) * (1.0 - r)))
        p = 2.0 * stdtr(np.maximum(n - 2, 1), -t)
    why = reasons(
        (~known.all(axis=-1) & (nan != "omit"), "a value is NaN"),
        (n < 3, "fewer than three pairs are left"),
        (np.isnan(r), "a sample is constant"),
    )
    defined = why == ""
    return Spearman(np.where(defined, r, np.nan)[()], np.where(defined, p, np.nan)[()], why)
