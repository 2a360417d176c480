"""Do the intervals of calibration hold the truth, also in small groups and for rare outcomes?"""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import expit, logit

from isonomy.metrics.calibration import BINS
from isonomy.stats import corrected_calibration_error, logistic_calibration, spiegelhalter_z

Record = Callable[..., None]
SCORES = {"beta(2, 3)": (2, 3), "beta(1/2, 1/2)": (0.5, 0.5), "beta(1, 15)": (1, 15)}
TRUTH = {
    "calibrated": lambda s: s,
    "0.1 too low": lambda s: np.clip(s + 0.1, 0, 1),
    "too extreme (slope 0.5)": lambda s: expit(0.5 * logit(s)),
    "too timid (slope 2)": lambda s: expit(2 * logit(s)),
    "0.4 too high for the top tenth": lambda s: np.where(
        s > np.quantile(s, 0.9, axis=-1, keepdims=True), np.clip(s - 0.4, 0, 1), s
    ),
}


def simulated(scores: str, truth: str, n: int, samples: int) -> dict[str, float]:
    """Return how often each interval holds the truth."""
    rng = np.random.default_rng([n, len(truth), samples])
    s = np.clip(np.sort(rng.beta(*SCORES[scores], (samples, n)), axis=1), 1e-9, 1 - 1e-9)
    p = TRUTH[truth](s)
    y = (rng.random(s.shape) < p).astype(float)
    place = ((np.arange(n) + 0.5) / n * BINS).astype(int)
    first = np.flatnonzero(np.diff(place, prepend=-1))
    rows = np.diff(first, append=n).astype(float)

    def mean(x: np.ndarray) -> np.ndarray:
        return np.add.reduceat(x, first, axis=1) / rows

    error = np.abs(mean(p) - mean(s)) @ rows / n
    found = corrected_calibration_error(mean(y), mean(s), np.broadcast_to(rows, mean(y).shape))
    held = (found.low <= error + 1e-12) & (error <= found.high + 1e-12)
    out = {"interval of the corrected ECE": float(held.mean())}
    slope, intercept = logistic_calibration(y, s)
    known = {"calibrated": (1.0, 0.0), "too extreme (slope 0.5)": (0.5, None), "too timid (slope 2)": (2.0, None)}  # fmt: skip
    for name, estimate, true in zip(
        ("slope", "intercept"), (slope, intercept), known.get(truth, (None, None)), strict=True
    ):
        if true is not None:
            defined = ~np.isnan(estimate.value)
            inside = (estimate.low <= true) & (true <= estimate.high)
            out[f"interval of the calibration {name}"] = float(inside[defined].mean())
    if truth == "calibrated":
        out["Z within ±1.96"] = float((np.abs(spiegelhalter_z(y, s)) <= 1.959964).mean())
    return out


@pytest.mark.parametrize("scores", SCORES)
def test_calibrated_groups_of_a_hundred_small(scores: str) -> None:
    assert all(rate >= 0.93 for rate in simulated(scores, "calibrated", 100, 1000).values())


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 100, 400, 3000])
@pytest.mark.parametrize("truth", TRUTH)
@pytest.mark.parametrize("scores", SCORES)
def test_calibration(scores: str, truth: str, n: int, record_rate: Record) -> None:
    samples = 1000
    found = simulated(scores, truth, n, samples)
    noise = 2.6 * np.sqrt(0.05 * 0.95 / samples)
    for verdict, rate in found.items():
        promised = n >= 100 or truth == "calibrated" or "ECE" in verdict
        record_rate(
            room="audit", verdict=verdict, rate=rate, samples=samples,
            promise="holds the truth in >= 93 %" if promised else "none",
            setting=f"{n} rows, scores {scores}: {truth}",
        )  # fmt: skip
        assert not promised or rate >= 0.93 - noise, (verdict, rate)
