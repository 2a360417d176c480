"""What kind of tail is it, on what evidence, and how far may it be read.

Anderson-Darling, Q-Q and P-P by parametric bootstrap; likelihood-ratio tests of the exponential and
the Gumbel law; the type of the tail from the interval of its shape.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from isonomy._arrays import Floats
from isonomy._validate import make_rng
from isonomy.errors import InputError
from isonomy.stats.results import Result
from isonomy.tails.fit import fit_gev, fit_gpd
from isonomy.tails.laws import law_cdf
from isonomy.tails.levels import Interval
from isonomy.tails.profile_gpd import Shape
from isonomy.tails.solve import redraw, solve_gumbel
from isonomy.tails.tail_fit import TailFit

EXTRAPOLATION = 10.0
"""A level is read at most for this many times the queries that were observed (ours)."""


def anderson_darling(u: Floats) -> Floats:
    """Return the Anderson-Darling distance of sorted probabilities from the uniform law, by row."""
    n = u.shape[-1]
    tiny = np.clip(u, 1e-300, 1.0 - 1e-16)
    weight = 2.0 * np.arange(1, n + 1) - 1.0
    both = np.log(tiny) + np.log1p(-tiny[..., ::-1])
    return np.asarray(-n - both @ weight / n, dtype=np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class Goodness(Result):
    """How a sample lies to its own fit.

    Attributes
    ----------
    statistic, p_value : float
        Anderson-Darling; the p-value counts samples drawn from the fit and fitted again, so it
        knows that the parameters are estimates.
    observed : array
        The sample, in order.
    model : array
        What the fit expects in each place.
    low, high : array
        Where 95 % of draws have each value, one at a time.
    low_all, high_all : array
        Where 95 % of draws have all values of the upper half of the sample at once.
    probability, expected : array
        The fit's probabilities of the sample, and the plotting positions: the P-P picture.
    probability_low, probability_high : array
        Where 95 % of draws have each probability.
    reach : int
        How many places from the bottom agree with the fit, counted up to the first in the upper
        half that leaves the common envelope.

    Examples
    --------
    >>> from isonomy.tails import fit_gpd
    >>> fit = fit_gpd(np.random.default_rng(0).exponential(size=100))
    >>> goodness(fit).p_value > 0.05
    True
    """

    statistic: float
    p_value: float
    observed: Floats
    model: Floats
    low: Floats
    high: Floats
    low_all: Floats
    high_all: Floats
    probability: Floats
    expected: Floats
    probability_low: Floats
    probability_high: Floats
    reach: int

    def frame(self) -> pd.DataFrame:
        """Return the Q-Q and P-P pictures as a frame, a row per observation.

        Examples
        --------
        >>> from isonomy.tails import fit_gpd
        >>> fit = fit_gpd(np.random.default_rng(0).exponential(size=100))
        >>> goodness(fit).frame().shape
        (100, 10)
        """
        return pd.DataFrame(
            {name: part for name, part in vars(self).items() if isinstance(part, np.ndarray)}
        )


def refitted(fit: TailFit, *, resamples: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the sorted probabilities of the sample, and of draws fitted again (a row each)."""
    if fit.batch:
        raise InputError(f"One fit must be given; got a batch of {fit.batch}.")
    if fit.degenerate:
        raise InputError(f"There is no fit to check: {fit.degenerate}.")
    flat = fit.flat()
    theta = flat.theta[0] * np.array([fit.family == "gev", 1.0, 1.0])
    drawn = [
        law_cdf(fit.family, np.sort(sample, axis=1), *(part[:, None] for part in result.T))
        for sample, result in redraw(fit.family, theta, fit.k, resamples, rng)
    ]
    return law_cdf(fit.family, np.sort(fit.sample), *theta), np.concatenate(drawn)


def anderson_darling_p(own: Floats, drawn: Floats) -> tuple[float, float]:
    """Return the distance of a sample from its own fit, and its p-value among draws."""
    statistic = float(anderson_darling(own))
    beyond = int((anderson_darling(drawn) >= statistic).sum())
    return statistic, (beyond + 1.0) / (len(drawn) + 1.0)


def goodness(fit: TailFit, *, resamples: int = 499, random_state: int | None = 0) -> Goodness:
    """Compare a sample with its own fit: Anderson-Darling, Q-Q and P-P with envelopes.

    Parameters
    ----------
    fit : TailFit
        One fit, not a batch.
    resamples : int
        Samples drawn from the fit and fitted again.
    random_state : int, optional

    Examples
    --------
    >>> from isonomy.tails import fit_gpd
    >>> rng = np.random.default_rng(0)
    >>> two = np.concatenate([rng.exponential(0.1, 50), 1.0 + rng.exponential(0.1, 50)])
    >>> goodness(fit_gpd(two)).p_value < 0.05
    True

    References
    ----------
    Choulakian and Stephens 2001, Goodness-of-Fit Tests for the Generalized Pareto Distribution.
    """
    own, drawn = refitted(fit, resamples=resamples, rng=make_rng(random_state))
    size = own.size
    statistic, p_value = anderson_darling_p(own, drawn)
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    expected = (np.arange(1, size + 1) - 0.5) / size
    # the common envelope of the upper half: as many standard deviations around the mean, in normal
    # quantiles, as the furthest value of each draw stays within in 95 % of them
    scores = ndtri(np.clip(drawn, 1e-300, 1.0 - 1e-16))
    centre, spread = scores.mean(axis=0), scores.std(axis=0, ddof=1)
    furthest = (np.abs(scores - centre) / spread)[:, size // 2 :].max(axis=1)
    reach_of = float(np.quantile(furthest, 0.95, method="higher"))
    low_all, high_all = ndtr(centre - reach_of * spread), ndtr(centre + reach_of * spread)
    outside = (own < low_all) | (own > high_all)
    outside[: size // 2] = False
    reach = int(outside.argmax()) if outside.any() else size

    def back(p: Floats) -> Floats:
        return np.asarray(fit.quantile(np.clip(p, 0.0, 1.0 - 1e-16)), dtype=np.float64)

    offset = float(fit.location) if fit.family == "gpd" else 0.0
    return Goodness(
        statistic=statistic,
        p_value=p_value,
        observed=np.sort(fit.sample) + offset,
        model=back(expected),
        low=back(low),
        high=back(high),
        low_all=back(low_all),
        high_all=back(high_all),
        probability=own,
        expected=expected,
        probability_low=low,
        probability_high=high,
        reach=reach,
    )


class NestedTest(NamedTuple):
    """A tail with its shape held at 0, and the test of that; arrays for a batch.

    Attributes
    ----------
    law : str
        ``exponential`` (excesses) or ``gumbel`` (maxima).
    location, scale, nll
        The fit with shape 0.
    statistic
        Twice the log-likelihood gained by the shape.
    p_value
        From the chi-square law; for excesses from the third-order corrected root.
    """

    law: str
    location: Any
    scale: Any
    nll: Any
    statistic: Any
    p_value: Any


def nested_test(fit: TailFit) -> NestedTest:
    """Test whether the shape of a fitted tail is 0.

    Both laws are fitted by maximum likelihood, whatever estimator the fit used.

    Examples
    --------
    >>> from isonomy.tails import fit_gpd
    >>> test = nested_test(fit_gpd(-np.log1p(-(np.arange(50) + 0.5) / 50)))
    >>> test.law, bool(test.p_value > 0.5)
    ('exponential', True)
    """
    fit = _by_likelihood(fit)
    flat = fit.flat()
    sample, good, nll = flat.sample, flat.regular, flat.nll
    size = sample.shape[1]
    location, scale, simple = (np.full(good.size, np.nan) for _ in range(3))
    q = np.full(good.size, np.nan)
    if good.any():
        if fit.family == "gev":
            theta, mean, _ = solve_gumbel(sample[good])
            location[good], scale[good], simple[good] = theta[:, 0], theta[:, 1], mean * size
        else:
            y = sample[good]
            scale[good] = y.mean(axis=1)
            location[good] = np.broadcast_to(fit.location, fit.batch).ravel()[good]
            simple[good] = size * (np.log(scale[good]) + 1.0)
            unit = scale[good][:, None]
            a, b = (np.ravel(part)[good] for part in (fit.scale, fit.shape))
            free = Shape(y / unit, a / unit[:, 0], b)
            _, _, q[good] = free.third(np.zeros(a.shape), np.arange(a.size))
    statistic = np.where(good, np.maximum(2.0 * (simple - nll), 0.0), np.nan)
    root = np.sqrt(statistic)
    with np.errstate(invalid="ignore", divide="ignore"):
        star = root + np.log(q / root) / root
    # the correction is a ratio of two vanishing numbers next to the estimate
    star = np.where(np.isfinite(star) & (root > 0.05), star, root)
    p_value = np.where(good, np.minimum(2.0 * ndtr(-star), 1.0), np.nan)

    parts = (fit.shaped(part) for part in (location, scale, simple, statistic, p_value))
    return NestedTest("gumbel" if fit.family == "gev" else "exponential", *parts)


def _by_likelihood(fit: TailFit) -> TailFit:
    """Return the free maximum-likelihood fit of the same sample."""
    if fit.family == "gev":
        return fit_gev(fit.sample) if np.any(np.ravel(fit.method) == "moments") else fit
    other = np.ravel(fit.converged) & (np.ravel(fit.method) != "ml")
    if not other.any():
        return fit
    return fit_gpd(fit.sample, threshold=fit.threshold, n=fit.n)


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Result):
    """What may be said about one fitted tail.

    Attributes
    ----------
    type : str
        ``finite`` (the interval of the shape lies below 0: the tail ends), ``heavy`` (above 0),
        ``light`` (it holds 0: an exponential tail is not excluded) or ``degenerate``.
    evidence : str
        The sentence behind the type.
    shape : Interval
        Its profile interval.
    endpoint : Interval
        Where the tail ends, infinite where that cannot be excluded.
    exponential_p : float
        Of the likelihood-ratio test of shape 0.
    goodness : Goodness or None
        Anderson-Darling and the pictures; None where there is no fit.
    horizon : float
        Up to how many queries return levels may be read, by our rule; 0 where there is no fit.
    horizon_reason : str
    distinct, ties : int
        Distinct values in the tail, and values that share theirs with another.
    degenerate : str
        Why there is no fit; empty where there is one.

    Examples
    --------
    >>> from isonomy.tails import peaks_over_threshold
    >>> values = np.random.default_rng(0).uniform(size=2000)
    >>> diagnosis = diagnose(peaks_over_threshold(values, k=100))
    >>> diagnosis.type
    'finite'
    >>> diagnose(peaks_over_threshold(np.ones(100), k=50)).evidence
    'all 50 values equal 1: nothing lies beyond it to extrapolate'
    """

    type: str
    evidence: str
    shape: Interval
    endpoint: Interval
    exponential_p: float
    goodness: Goodness | None
    horizon: float
    horizon_reason: str
    distinct: int
    ties: int
    degenerate: str = ""

    def frame(self) -> pd.DataFrame:
        """Return what was found, a row per finding.

        Examples
        --------
        >>> from isonomy.tails import fit_gpd
        >>> fit = fit_gpd(np.random.default_rng(0).exponential(size=100))
        >>> diagnose(fit).frame().loc["type", "found"]
        'light'
        """
        findings: dict[str, Any] = {
            "type": self.type,
            "evidence": self.evidence,
            "shape": f"{self.shape.low:.3g} to {self.shape.high:.3g}",
            "endpoint": f"{self.endpoint.low:.4g} to {self.endpoint.high:.4g}",
            "exponential (p)": self.exponential_p,
            "Anderson-Darling (p)": np.nan if self.goodness is None else self.goodness.p_value,
            "horizon": self.horizon,
            "horizon because": self.horizon_reason,
            "distinct values": self.distinct,
        }
        return pd.DataFrame({"found": findings}, index=list(findings))


def published_type(shape: float) -> str:
    """Return the type that Monjezi et al. (2025) print for a shape: III, I or II.

    Inferred from their 80 rows, which use no interval: III up to -0.05, I below 0.1, else II.

    Examples
    --------
    >>> [published_type(shape) for shape in (-0.3, 0.01, 0.3)]
    ['III', 'I', 'II']
    """
    if np.isnan(shape):
        return ""
    return "III" if shape <= -0.05 else "I" if shape < 0.1 else "II"


def diagnose(
    fit: TailFit,
    *,
    confidence: float = 0.95,
    resamples: int = 499,
    random_state: int | None = 0,
) -> Diagnosis:
    """Say what kind of tail was fitted, on what evidence, and how far it may be read.

    The horizon is ours: the queries at which the first value of the upper half of the tail leaves
    the envelope of the Q-Q picture (95 % of draws lie inside it everywhere), and where none does,
    ten times the observations. A finite tail can be read beyond, at its endpoint and with that
    one's interval; it is then a statement about the endpoint.

    Parameters
    ----------
    fit : TailFit
        One fit, not a batch.
    confidence : float
        Of the intervals.
    resamples, random_state
        Of the bootstrap behind Anderson-Darling and the envelopes.

    Examples
    --------
    >>> from isonomy.tails import peaks_over_threshold
    >>> values = np.random.default_rng(3).standard_t(2, size=20000)
    >>> diagnosis = diagnose(peaks_over_threshold(values, k=400), resamples=199)
    >>> diagnosis.type, diagnosis.horizon
    ('heavy', 200000.0)
    """
    if fit.batch:
        raise InputError(f"One fit must be given; got a batch of {fit.batch}.")
    seen = fit.sample if fit.values is None else np.sort(fit.values)[-fit.k :]
    _, counts = np.unique(seen, return_counts=True)
    distinct, ties = counts.size, int(counts[counts > 1].sum())
    nothing = Interval(float("nan"), float("nan"))
    if fit.degenerate:
        why, nan = fit.degenerate, float("nan")
        return Diagnosis(
            "degenerate",
            why,
            nothing,
            nothing,
            nan,
            None,
            0.0,
            "nothing was fitted",
            distinct,
            ties,
            why,
        )
    shape = fit.interval("shape", confidence=confidence, random_state=random_state)
    ends = "bootstrap" if fit.family == "gev" else "profile"
    endpoint = fit.interval(
        "endpoint", confidence=confidence, method=ends, random_state=random_state
    )
    kind, evidence = _kind(fit, shape, confidence)
    check = goodness(fit, resamples=resamples, random_state=random_state)
    horizon, reason = _horizon(fit, check)
    p = float(nested_test(fit).p_value)
    return Diagnosis(kind, evidence, shape, endpoint, p, check, horizon, reason, distinct, ties)


def _kind(fit: TailFit, shape: Interval, confidence: float) -> tuple[str, str]:
    after = "" if fit.upper is None else f" (without its bound, {fit.upper:g})"
    # a lower limit of -1 means -1 or below
    limits = f"{shape.low:.2f} to" if shape.low > -1 else "up to"
    estimate = f"shape {fit.shape:.2f}, {confidence:.0%} interval {limits} {shape.high:.2f}"
    if not fit.converged and fit.shape < 0:
        return "finite", (
            f"{estimate}: the likelihood has no maximum above -1, the tail ends abruptly{after}"
        )
    if shape.high < 0:
        return "finite", f"{estimate}: it ends{after}"
    if shape.low > 0:
        return "heavy", f"{estimate}: no end is in sight{after}"
    return "light", f"{estimate}: an exponential tail is not excluded{after}"


def _horizon(fit: TailFit, check: Goodness) -> tuple[float, str]:
    size = fit.sample.size
    if check.reach >= size:
        most = EXTRAPOLATION * fit.n
        return most, f"all values agree with the fit; {EXTRAPOLATION:g} times the observations"
    # queries until the last value that agrees is passed once
    beyond = max(1.0 - float(check.expected[max(check.reach - 1, 0)]), 0.5 / size)
    share = 1.0 if fit.threshold is None else fit.rate
    away = size - check.reach
    return float(np.floor(1.0 / (beyond * share))), (
        f"value {away} from the top leaves the envelope of the Q-Q picture"
    )
