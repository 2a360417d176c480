"""Does "A is better" / "A is fairer than B" keep its promise? Equal models, known truth.

The promise: among equal models, some pair is said to differ on some goal in at most 5 %.
"""

from collections.abc import Callable

import numpy as np
import pytest

from isonomy.audit.paired import SharedRows, compare_bias, compare_performance, taken_together
from isonomy.metrics import get_metric


def false_claims(
    sizes: tuple[int, int], gap: float, noise: float, models: int, name: str, samples: int
) -> float:
    """Return how often some pair of equal models is said to differ.

    All models have the same rates in the population, and agree but for ``noise`` of the rows.
    """
    rng = np.random.default_rng([*sizes, int(100 * gap), int(100 * noise), models])
    side = np.repeat([0, 1], sizes)
    wrong = 0
    for _ in range(samples):
        y = (rng.random(side.size) < 0.4).astype(np.intp)
        chance = 0.3 + 0.4 * y - gap * (side == 0)
        core = rng.random(side.size)
        said = []
        for _ in range(models):
            own = np.where(rng.random(side.size) < noise, rng.random(side.size), core)
            said.append((own < chance).astype(np.intp))
        shared = SharedRows.from_codes(side, y, said, (0, 1), (1,))
        both = taken_together(
            compare_performance(shared, get_metric("accuracy")),
            compare_bias(shared, get_metric(name)),
        )
        wrong += bool((np.nan_to_num(both, nan=1.0) <= 0.05).any())
    return wrong / samples


def test_equal_models_small() -> None:
    assert false_claims((300, 300), 0.2, 0.1, 4, "spd", 60) <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize("models", [2, 8])
@pytest.mark.parametrize("noise", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("gap", [0.0, 0.2])
@pytest.mark.parametrize("sizes", [(500, 500), (60, 940), (2000, 2000)])
@pytest.mark.parametrize("name", ["spd", "eod", "di"])
def test_equal_models(
    name: str,
    sizes: tuple[int, int],
    gap: float,
    noise: float,
    models: int,
    record_rate: Callable[..., None],
) -> None:
    samples = 2000 if models == 2 else 400
    rate = false_claims(sizes, gap, noise, models, name, samples)
    record_rate(
        room="audit", verdict="a model is better, or fairer, than another",
        promise="wrong in <= 5 %", rate=rate, samples=samples,
        setting=f"{models} equal models that differ on {noise:.0%} of rows, accuracy and {name}, {sizes[0]} and {sizes[1]} rows, gap {gap}",
    )  # fmt: skip
    assert rate <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / samples)
