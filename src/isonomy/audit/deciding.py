"""How many more rows like these would decide where evidence is insufficient.

The rates and the shares of the groups are taken as they are seen, and rows come as they came: what
is seen so far counts on, and only the new rows vary. So the number is that at which the interval
clears the threshold not on average, which it would miss every other time, but in most samples.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincinv, ndtr, ndtri

from isonomy._arrays import Floats

OFTEN = 0.8
"""How often the rows that are named decide."""
MOST_ROWS = 10**9
"""Where more rows than this would be needed, no number of rows is promised to decide."""
_SURELY = 0.97
"""How often a rate gets the rows and events that a verdict asks for: an interval has to clear too."""
_ROUNDS = 4


class Outlook(NamedTuple):
    """Gaps with their intervals and what these rest on, ``[gap]``, with so many times the rows."""

    value: Floats
    low: Floats
    high: Floats
    rows: Floats
    """The fewest rows behind a rate."""
    events: Floats
    others: Floats
    """Events and non-events of the rate that has fewest."""


def times_the_rows(
    carried: Callable[[Floats], Outlook],
    gaps: int,
    accept: tuple[float, float],
    *,
    ratio: bool,
    confidence: float,
    fewest_rows: int,
    fewest_events: int,
) -> Floats:
    """Return how many times the rows decide each gap in ``OFTEN`` of samples; infinite where none do.

    Parameters
    ----------
    carried : callable
        Takes how many times the rows each gap is to have and returns the :class:`Outlook`.
    gaps : int
        How many gaps there are.
    accept : tuple of float
        The accepted range.
    ratio : bool
        Whether rates are divided, so that even a verdict of within needs events.
    confidence : float
        That of the intervals.
    fewest_rows, fewest_events : int
        What a verdict asks for.

    Examples
    --------
    >>> def carried(times):  # a gap of 0.15, known within 0.1 as yet
    ...     margin, many = 0.1 / np.sqrt(times), np.full(1, 1e3)
    ...     return Outlook(np.full(1, 0.15), 0.15 - margin, 0.15 + margin, many, many, many)
    >>> times_the_rows(carried, 1, (-0.1, 0.1), ratio=False, confidence=0.95,
    ...                fewest_rows=30, fewest_events=5).round(1).tolist()
    [7.9]
    """
    times = np.ones(gaps)
    now = carried(times)
    outside = (now.value < accept[0]) | (now.value > accept[1])
    few = np.where(outside, np.minimum(now.events, now.others), now.events)
    asks = outside | ratio
    least = np.maximum(
        _until(now.rows, fewest_rows), np.where(asks, _until(few, fewest_events), 1.0)
    )
    seen = now
    for _ in range(_ROUNDS):  # margins shrink with the root of the rows, or nearly so
        times = np.maximum(least, _clearing(seen, times, accept, ratio, confidence))
        if not np.isfinite(times).any():
            break
        seen = carried(np.where(np.isfinite(times), times, 1.0))
    return times


def _until(have: Floats, wanted: int) -> Floats:
    """Return how many times the rows bring what is counted to where it must be, nearly surely."""
    missing = np.maximum(wanted - np.floor(have), 0.0)
    mean = gammaincinv(np.maximum(missing, 1.0), _SURELY)  # of a Poisson count
    return np.where(missing > 0, 1 + mean / np.maximum(have, 0.5), 1.0)


def _clearing(
    seen: Outlook, times: Floats, accept: tuple[float, float], ratio: bool, confidence: float
) -> Floats:
    """Return how many times the rows let the interval clear the range often enough."""
    value, low, high = seen.value, seen.low, seen.high
    bottom, top = (np.full(value.shape, end) for end in accept)
    if ratio:  # whose margins are alike on the log scale
        logs = (low > 0) & (high < math.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            value, low, high, bottom, top = (
                np.where(logs, np.log(x), x) for x in (value, low, high, bottom, top)
            )
    with np.errstate(invalid="ignore"):  # what is not finite decides nothing
        below, above = (end * np.sqrt(times) for end in (value - low, high - value))
    # a lower limit of 0 was cut off there, and says nothing of the error
    error = np.where(low == 0, above, (below + above) / 2) / ndtri((1 + confidence) / 2)

    def chance(many: Floats) -> Floats:
        """Return how often it is decided with so many times the rows, of which one was seen."""
        spread = np.maximum(error * np.sqrt(np.maximum(many - 1, 0.0)) / many, 1e-12)
        ends = value - below / np.sqrt(many), value + above / np.sqrt(many)
        within = ndtr((ends[0] - bottom) / spread) - ndtr((ends[1] - top) / spread)
        beyond = ndtr((ends[0] - top) / spread) + ndtr((bottom - ends[1]) / spread)
        return np.asarray(np.maximum(within, 0.0) + beyond)

    with np.errstate(invalid="ignore", over="ignore"):
        first, last = np.zeros(value.shape), np.full(value.shape, math.log(MOST_ROWS))
        never = ~(chance(np.exp(last)) >= OFTEN)
        for _ in range(50):
            middle = (first + last) / 2
            enough = chance(np.exp(middle)) >= OFTEN
            first, last = np.where(enough, first, middle), np.where(enough, middle, last)
    return np.where(never, math.inf, np.exp(last))
