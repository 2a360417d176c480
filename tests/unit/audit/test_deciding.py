"""How many times the rows decide: beside the normal law, and where no number of rows does."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm, poisson

from isonomy.audit.deciding import OFTEN, Outlook, times_the_rows

MANY = 1e9


def outlook(value: float, margin: float, rows: float = MANY, events: float = MANY) -> Any:
    """Return gaps whose margins shrink with the root of the rows, and nothing else changes."""

    def carried(times: np.ndarray) -> Outlook:
        half = margin / np.sqrt(times)
        at = np.full(times.shape, value)
        return Outlook(at, at - half, at + half, rows * times, events * times, events * times)

    return carried


def times(carried: Any, accept: tuple[float, float] = (-0.1, 0.1), *, ratio: bool = False) -> float:
    (found,) = times_the_rows(
        carried, 1, accept, ratio=ratio, confidence=0.95, fewest_rows=30, fewest_events=5
    )
    return float(found)


@pytest.mark.parametrize(("value", "margin"), [(0.15, 0.1), (0.05, 0.2), (-0.2, 0.3), (0.0, 0.15)])
def test_as_often_decided_as_said_by_drawing(value: float, margin: float) -> None:
    many = times(outlook(value, margin))
    error = margin / norm.ppf(0.975)
    rng = np.random.default_rng(0)
    new = value + error / np.sqrt(many - 1) * rng.normal(size=200_000)
    both = (value + (many - 1) * new) / many  # what was seen counts on
    half = margin / np.sqrt(many)
    decided = (np.abs(both) + half <= 0.1) | (np.abs(both) - half > 0.1)
    assert decided.mean() == pytest.approx(OFTEN, abs=0.005)


def test_it_takes_more_than_until_the_interval_clears_on_average() -> None:
    on_average = (0.1 / 0.05) ** 2
    assert times(outlook(0.15, 0.1)) > 1.5 * on_average


def test_nothing_decides_a_gap_that_is_the_threshold() -> None:
    for value in (0.1, -0.1):
        assert times(outlook(value, 0.05)) == np.inf
    assert times(outlook(np.nan, 0.05)) == np.inf
    assert times(outlook(np.inf, 1.0), (0.8, 1.25), ratio=True) == np.inf


def test_rows_and_events_are_nearly_surely_as_many_as_a_verdict_asks_for() -> None:
    few = times(outlook(0.0, 1e-6, rows=10.0))
    assert poisson(10 * (few - 1)).sf(19) == pytest.approx(0.97, abs=1e-6)
    violated = times(outlook(0.3, 1e-6, events=2.0))
    assert poisson(2 * (violated - 1)).sf(2) == pytest.approx(0.97, abs=1e-6)
    assert times(outlook(0.0, 1e-6, events=2.0)) == pytest.approx(1.0)  # within needs none
    ratio = times(outlook(1.0, 1e-6, events=2.0), (0.8, 1.25), ratio=True)
    assert ratio == pytest.approx(violated)


def test_several_gaps_at_once_are_those_by_themselves() -> None:
    values, margins = np.array([0.15, 0.05, 0.1]), np.array([0.1, 0.2, 0.1])

    def carried(many: np.ndarray) -> Outlook:
        half, full = margins / np.sqrt(many), np.full(3, MANY)
        return Outlook(values, values - half, values + half, full, full, full)

    together = times_the_rows(
        carried, 3, (-0.1, 0.1), ratio=False, confidence=0.95, fewest_rows=30, fewest_events=5
    )
    alone = [times(outlook(v, m)) for v, m in zip(values, margins, strict=True)]
    np.testing.assert_allclose(together, alone)
