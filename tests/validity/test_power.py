"""Is the verdict called at the stated rows as often as stated, groups drawn at random too?"""

from collections.abc import Callable

import numpy as np
import pytest

from isonomy.audit import power
from isonomy.audit.judge import each_group, gap
from isonomy.metrics import Counts, get_metric

CASES = [
    ("statistical_parity_difference", -0.15, 0.4, (0.7, 0.3), None),
    ("statistical_parity_difference", 0.05, 0.2, (0.7, 0.3), None),
    ("statistical_parity_difference", -0.05, 0.05, (0.5, 0.5), 0.02),
    ("statistical_parity_difference", 0.2, 0.3, (0.9, 0.1), None),
    ("disparate_impact", 0.6, 0.3, (0.6, 0.4), None),
    ("disparate_impact", 0.95, 0.5, (0.5, 0.5), None),
    ("statistical_parity_difference", -0.2, 0.5, (0.5, 0.3, 0.2), None),
    ("statistical_parity_difference", -0.2, 0.5, (0.24, *[0.04] * 19), None),
    ("statistical_parity_difference", 0.0, 0.1, (0.3, *[0.1] * 7), None),
    ("disparate_impact", 0.3, 0.02, (0.5, 0.5), None),
    ("disparate_impact", 2.5, 0.01, (0.6, *[0.1] * 4), None),
]


def called(case: int, samples: int, *, at_random: bool) -> tuple[float, float, str]:
    """Return how often the audit says it at the stated rows, the stated chance, and the setting."""
    name, true, base, groups, threshold = CASES[case]
    found = power(true, base_rate=base, groups=groups, metric=name, threshold=threshold)
    rows = found.rows_called
    assert rows is not None
    metric, accept = get_metric(name), tuple(found.settings["threshold"])
    stated = power(
        true, base_rate=base, groups=groups, metric=name, threshold=threshold, rows=rows
    ).plans[-1]
    rng = np.random.default_rng([case, at_random])
    rates = np.full(len(groups), base * true if name == "disparate_impact" else base + true)
    rates[0] = base
    ends = np.round(np.cumsum([0.0, *groups]) * rows)
    names = tuple((f"g{k}",) for k in range(len(groups)))
    said = 0
    for _ in range(samples):
        n = rng.multinomial(rows, groups) if at_random else np.diff(ends).astype(int)
        hits = rng.binomial(n, rates)
        cells = np.zeros((len(groups), 2, 2))
        cells[:, 1, 1], cells[:, 1, 0] = hits, n - hits
        counts = Counts(cells, ("g",), names, (0, 1), (1,), {"g": ("g0",)})
        if len(groups) > 2:
            f = each_group([metric], "g", counts, {name: accept}, 0.95)[-1]
        else:
            f = gap(metric, "g", counts, lambda counts=counts: counts, "privileged", accept, 0.95)
        said += f.verdict == stated.verdict
    setting = f"{name} of {true:g} from {base:g}, groups {groups}, {rows:,} rows"
    return said / samples, stated.chance_called or 0.0, setting


@pytest.mark.parametrize("case", range(len(CASES)))
def test_called_as_often_as_stated_small(case: int) -> None:
    rate, stated, _ = called(case, 200, at_random=False)
    assert 0.8 <= stated <= 0.85
    assert abs(rate - stated) <= 3.5 * np.sqrt(0.8 * 0.2 / 200)


@pytest.mark.slow
@pytest.mark.parametrize("at_random", [False, True])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_called_as_often_as_stated(
    case: int, at_random: bool, record_rate: Callable[..., None]
) -> None:
    samples = 2000
    rate, stated, setting = called(case, samples, at_random=at_random)
    record_rate(
        room="audit", verdict="called at the rows of isonomy power",
        promise="in 80 % or a little more",
        setting=setting + (", groups drawn at random" if at_random else ""), rate=rate,
        samples=samples,
    )  # fmt: skip
    assert abs(rate - stated) <= 3 * np.sqrt(0.8 * 0.2 / samples) + 0.01 * at_random
