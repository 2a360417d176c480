"""What kind of tail is it, on what evidence, and how far may it be read."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from isonomy.errors import InputError
from isonomy.tails.estimate import fit_gpd
from isonomy.tails.fit import TailFit
from isonomy.tails.goodness import Goodness, goodness
from isonomy.tails.intervals import Interval
from isonomy.tails.nested import nested_test

__all__ = ["Diagnosis", "EXTRAPOLATION", "diagnose", "published_type"]

EXTRAPOLATION = 10.0
"""A level is read at most for this many times the queries that were observed (ours)."""


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What may be said about one fitted tail.

    Attributes
    ----------
    type : str
        ``finite`` (the interval of the shape lies below 0: the tail ends), ``heavy`` (above 0),
        ``light`` (it holds 0: not told apart from an exponential tail) or ``degenerate``.
    evidence : str
        The sentence behind the type.
    shape : Interval
        Its profile interval; the bound of the support, where there is one, is respected.
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
        """Give what was found, a row per finding.

        Examples
        --------
        >>> from isonomy.tails import fit_gpd
        >>> fit = fit_gpd(np.random.default_rng(0).exponential(size=100))
        >>> diagnose(fit).frame().loc["type", "found"]
        'light'
        """
        found: dict[str, Any] = {
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
        return pd.DataFrame({"found": found}, index=list(found))

    def _repr_html_(self) -> str:
        return str(self.frame().to_html())


def published_type(shape: float) -> str:
    """Give the type that Monjezi et al. (2025) print for a shape: III, I or II.

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
    level: float = 0.95,
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
    level : float
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
    distinct = int(np.unique(fit.sample).size)
    _, counts = np.unique(fit.sample, return_counts=True)
    ties = int(counts[counts > 1].sum())
    nothing = Interval(float("nan"), float("nan"))
    if fit.degenerate:
        return Diagnosis(
            type="degenerate",
            evidence=fit.degenerate,
            shape=nothing,
            endpoint=nothing,
            exponential_p=float("nan"),
            goodness=None,
            horizon=0.0,
            horizon_reason="nothing was fitted",
            distinct=distinct,
            ties=ties,
            degenerate=fit.degenerate,
        )
    shape = fit.interval("shape", level=level, random_state=random_state)
    ends = "bootstrap" if fit.family == "gev" else "profile"
    endpoint = fit.interval("endpoint", level=level, method=ends, random_state=random_state)
    kind, evidence = _kind(fit, shape, level, random_state)
    check = goodness(fit, resamples=resamples, random_state=random_state)
    horizon, reason = _horizon(fit, check)
    return Diagnosis(
        type=kind,
        evidence=evidence,
        shape=shape,
        endpoint=endpoint,
        exponential_p=float(nested_test(fit).p_value),
        goodness=check,
        horizon=horizon,
        horizon_reason=reason,
        distinct=distinct,
        ties=ties,
    )


def _kind(fit: TailFit, shape: Interval, level: float, random_state: int | None) -> tuple[str, str]:
    after = ""
    if fit.upper is not None and fit.family == "gpd":
        # under a bound every tail ends; what the data say by themselves is the question
        bound = fit.upper
        fit = fit_gpd(fit.sample, threshold=fit.threshold, n=fit.n)
        shape = fit.interval("shape", level=level, random_state=random_state)
        after = f" (without its bound; that ends it at {bound:g} at the latest)"
    said = f"shape {fit.shape:.2f}, {level:.0%} interval {shape.low:.2f} to {shape.high:.2f}"
    if not fit.converged and fit.shape < 0:
        return "finite", (
            f"{said} by bootstrap: the likelihood has no maximum above -1, the tail ends abruptly"
            + after
        )
    if shape.high < 0:
        return "finite", f"{said}: it ends{after}"
    if shape.low > 0:
        return "heavy", f"{said}: no end is in sight{after}"
    return "light", f"{said}: not told apart from an exponential tail{after}"


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
