"""Is one tail worse than another: their levels at the same horizon, with an interval."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtr

from isonomy._arrays import Floats
from isonomy.errors import InputError
from isonomy.stats.results import Result
from isonomy.tails.levels import Limits, check_confidence
from isonomy.tails.tail_fit import TailFit

NUMBERS = ("a", "b", "difference", "low", "high", "p_value")


@dataclass(frozen=True, eq=False, repr=False)
class TailTest(Result):
    """The difference of two tails at the same horizon.

    Attributes
    ----------
    horizon : float
        How many queries both levels belong to.
    a, b : float or array
        The two return levels.
    difference : float or array
        ``a - b``.
    low, high : float or array
        Its interval.
    p_value : float or array
        Of no difference: one minus the confidence at which the interval begins to hold 0; not below
        what twice the interval's normal quantile gives (0.0001 at 95 %).
    confidence : float
    method : str
    reason : str
        Why there is no comparison; empty where there is one.

    Examples
    --------
    >>> from isonomy.tails import fit_gpd, gpd_quantile
    >>> grid = (np.arange(200) + 0.5) / 200
    >>> test = tail_test(fit_gpd(gpd_quantile(grid, 2.0)), fit_gpd(gpd_quantile(grid)), horizon=500)
    >>> bool(test.low > 0), bool(test.p_value < 0.05)
    (True, True)
    """

    horizon: float
    a: Any
    b: Any
    difference: Any
    low: Any
    high: Any
    p_value: Any
    confidence: float
    method: str
    reason: str = ""

    def frame(self) -> pd.DataFrame:
        """Return the comparison as a frame, a row per pair of fits.

        Examples
        --------
        >>> from isonomy.tails import fit_gpd, gpd_quantile
        >>> fit = fit_gpd(gpd_quantile((np.arange(50) + 0.5) / 50))
        >>> list(tail_test(fit, fit, horizon=100).frame()["difference"])
        [0.0]
        """
        columns = {name: np.ravel(getattr(self, name)) for name in NUMBERS}
        return pd.DataFrame({"horizon": self.horizon} | columns)


def tail_test(
    a: TailFit,
    b: TailFit,
    *,
    horizon: float,
    confidence: float = 0.95,
    method: str = "profile",
    resamples: int = 999,
    random_state: int | None = 0,
) -> TailTest:
    """Compare two tails at the same horizon.

    Two samples of different sizes put their thresholds at different depths, so neither their
    thresholds nor their locations may be compared; the levels passed once in the same number of
    queries may.

    Parameters
    ----------
    a, b : TailFit
        Independent fits; batches of one shape are compared pair by pair.
    horizon : float
        Number of queries.
    confidence : float
        Of the interval.
    method : str
        As in `TailFit.interval`. The likelihoods of both samples are added, so the limits of the
        difference are the furthest apart that both levels can be while their deviances together
        stay within the cut-off.
    resamples, random_state
        Of the bootstrap.

    Examples
    --------
    >>> from isonomy.tails import peaks_over_threshold
    >>> rng = np.random.default_rng(0)
    >>> few = peaks_over_threshold(rng.exponential(size=1000), k=50)
    >>> many = peaks_over_threshold(rng.exponential(size=20000), k=50)
    >>> many.threshold - few.threshold > 2  # although both tails are the same
    True
    >>> test = tail_test(few, many, horizon=2000)
    >>> bool(test.low < 0 < test.high)
    True
    """
    z = check_confidence(confidence)
    if not horizon > 0:
        raise InputError(f"horizon must be a positive number of queries; got {horizon!r}.")
    if a.batch != b.batch:
        raise InputError(f"Both fits must have the same leading axes; got {a.batch} and {b.batch}.")
    if (a.threshold is None) != (b.threshold is None):
        raise InputError(
            "Both fits must count the horizon alike: one is of block maxima, the other of peaks "
            "over a threshold."
        )
    if method == "bootstrap" and a.family == "gev":
        raise InputError("Maxima are compared by method='profile', 'profile_plain' or 'delta'.")
    level_a, level_b = (np.ravel(fit.return_level(horizon)).astype(float) for fit in (a, b))
    seeds = np.random.SeedSequence(random_state).generate_state(2)
    how: dict[str, Any] = {"horizon": horizon, "method": method, "resamples": resamples}
    one, other = (
        _Curve(Limits(fit.flat(), "return_level", random_state=int(seed), **how), z)
        for fit, seed in zip((a, b), seeds, strict=True)
    )
    low, high = _ends(one, other, np.array([z]))
    low, high, p_value = low[:, 0], high[:, 0], _p_value(one, other, 2.0 * z)
    reasons = [str(text) for text in (*np.ravel(a.degenerate), *np.ravel(b.degenerate)) if text]
    parts = (level_a, level_b, level_a - level_b, low, high, p_value)
    numbers: dict[str, Any] = dict(zip(NUMBERS, map(a.shaped, parts), strict=True))
    reason = reasons[0] if reasons else ""
    return TailTest(float(horizon), confidence=confidence, method=method, reason=reason, **numbers)


class _Curve:
    """A level's limits as a smooth function of the normal quantile, from six of them."""

    def __init__(self, limits: Limits, z: float) -> None:
        nodes = z * np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])
        ends = [limits(int(np.sign(node)), abs(float(node))) for node in nodes]
        # order statistics and bounds come in steps, which must not turn back
        values = np.maximum.accumulate(np.stack(ends), axis=0)
        self.known = np.isfinite(values).all(axis=0)
        values[:, ~self.known] = 0.0
        self.curve = PchipInterpolator(nodes, values, axis=0)

    def __call__(self, z: Floats) -> Floats:
        """Return the limits at signed quantiles, (samples, quantiles)."""
        out = np.moveaxis(np.asarray(self.curve(z), dtype=np.float64), -1, 0)
        out[~self.known] = np.nan
        return out


def _ends(a: _Curve, b: _Curve, z: Floats) -> tuple[Floats, Floats]:
    """Return the limits of a - b at normal quantiles, (samples, quantiles).

    The deviances of independent samples add up, so the doubt z^2 is shared between both levels in
    the way that is worst for the difference; the curve of the shares is flat at its top, and a
    grid of 49 finds it to a thousandth of the half-width.
    """
    angle = np.linspace(0.0, np.pi / 2, 49)
    one, other = np.outer(z, np.sin(angle)), np.outer(z, np.cos(angle))
    high = (a(one) - b(-other)).max(axis=-1)
    low = (a(-one) - b(other)).min(axis=-1)
    return low, high


def _p_value(a: _Curve, b: _Curve, most: float) -> Floats:
    """Return the two-sided p-value of no difference, never below that of the widest limits known."""
    z = np.linspace(0.0, most, 41)
    low, high = _ends(a, b, z)
    # at z = 0 the interval is a point; it grows until it holds 0
    holds = (low <= 0) & (high >= 0)
    first = np.where(holds.any(axis=1), holds.argmax(axis=1), z.size)
    before = np.clip(first - 1, 0, z.size - 1)
    after = np.clip(first, 0, z.size - 1)
    rows = np.arange(low.shape[0])
    above = low[:, :1] > 0
    gap = np.where(above, low, -high)  # above 0 while 0 is outside
    left, right = gap[rows, before], gap[rows, after]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(left > right, np.clip(left / (left - right), 0.0, 1.0), 0.0)
    at = np.where(first == 0, 0.0, z[before] + share * (z[after] - z[before]))
    p = np.minimum(2.0 * ndtr(-at), 1.0)
    return np.where(a.known & b.known, p, np.nan)
