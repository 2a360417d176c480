"""Rows that a verdict needs, beside the audit's own verdicts and by hand."""

import numpy as np
import pytest
from scipy.stats import binom

from isonomy.audit import Finding, power
from isonomy.audit.judge import each_group, gap
from isonomy.audit.planning import MOST_OUTCOMES
from isonomy.errors import InputError
from isonomy.metrics import Counts, get_metric


def verdict(
    hits: tuple[int, ...], rows: tuple[int, ...], metric: str, accept: tuple[float, float]
) -> Finding:
    """Return what the audit's rule says of the last group; the first is the reference."""
    cells = np.zeros((len(rows), 2, 2))
    cells[:, 1, 1] = hits
    cells[:, 1, 0] = np.array(rows) - hits
    names = tuple((f"g{k}",) for k in range(len(rows)))
    counts = Counts(cells, ("g",), names, (0, 1), (1,), {"g": ("g0",)})
    chosen = get_metric(metric)
    if len(rows) > 2:
        return each_group([chosen], "g", counts, {chosen.name: accept}, 0.95)[-1]
    return gap(chosen, "g", counts, lambda: counts, "privileged", accept, 0.95)


@pytest.mark.parametrize(
    ("metric", "true", "threshold", "rows", "call"),
    [
        ("spd", 0.45, 0.1, (30, 30), "violated"),
        ("spd", -0.25, 0.1, (40, 31), "violated"),
        ("spd", 0.0, 0.3, (45, 33), "within"),
        ("di", 2.5, 0.8, (34, 36), "violated"),
        ("di", 1.0, 0.4, (60, 40), "within"),
        ("spd", 0.45, 0.1, (36, 60, 33), "violated"),
    ],
)
def test_the_chances_are_those_of_the_audits_verdicts(
    metric: str, true: float, threshold: float, rows: tuple[int, ...], call: str
) -> None:
    base = 0.3
    rate = base * true if metric == "di" else base + true
    plan = power(
        true, base_rate=base, groups=np.array(rows) / sum(rows), rows=sum(rows), metric=metric,
        threshold=threshold,
    ).plans[-1]  # fmt: skip
    accept = (threshold, 1 / threshold) if metric == "di" else (-threshold, threshold)
    even = 1.0 if metric == "di" else 0.0
    called = shown = looked_at = 0.0
    for y in range(rows[0] + 1):
        for x in range(rows[-1] + 1):
            chance = binom(rows[0], base).pmf(y) * binom(rows[-1], rate).pmf(x)
            if chance > 2e-5:
                f = verdict((y, *[9] * (len(rows) - 2), x), rows, metric, accept)
                looked_at += chance
                called += chance * (f.verdict == call)
                enough = x + y >= 5 and sum(rows) - x - y >= 5
                shown += chance * (enough and (f.low > even or f.high < even))
    assert looked_at > 0.99
    assert plan.verdict == call
    assert plan.chance_called == pytest.approx(called, abs=1.1 * (1 - looked_at))
    assert plan.chance_shown == pytest.approx(shown, abs=1.1 * (1 - looked_at))


def test_the_rows_needed_are_the_fewest() -> None:
    options = {"base_rate": 0.2, "groups": [0.7, 0.3], "threshold": 0.02}
    found = power(0.1, **options)
    assert found.rows_called is not None
    assert power(0.1, rows=found.rows_called, **options).plans[0].chance_called >= 0.8
    assert power(0.1, rows=found.rows_called - 30, **options).plans[0].chance_called < 0.8


def test_more_is_needed_for_less() -> None:
    rows = [power(gap, base_rate=0.5).rows_shown for gap in (0.2, 0.1, 0.05, 0.02)]
    assert rows == sorted(rows)
    assert rows[-1] == pytest.approx(
        2 * (1.96 + 0.84) ** 2 * 0.5 / 0.02**2, rel=0.02
    )  # two normals
    sure = [power(0.1, base_rate=0.5, power=p).rows_shown for p in (0.5, 0.8, 0.95)]
    assert sure == sorted(sure)
    assert power(0.1, base_rate=0.5, groups=[0.95, 0.05]).rows_shown > 4 * rows[1]


def test_the_smallest_gap_that_rows_show_is_shown_as_often_as_asked() -> None:
    plan = power(-0.1, base_rate=0.4, groups=[0.6, 0.4], rows=1000).plans[0]
    assert plan.smallest_below < 0 < plan.smallest_above
    for least in (plan.smallest_below, plan.smallest_above):
        again = power(least, base_rate=0.4, groups=[0.6, 0.4], rows=1000).plans[0]
        assert again.chance_shown == pytest.approx(0.8, abs=0.005)


def test_several_groups_are_held_together() -> None:
    two = power(0.1, base_rate=0.3, groups=[0.5, 0.5]).rows_shown
    three = power(0.1, base_rate=0.3, groups=[0.5, 0.3, 0.2])
    assert [p.share for p in three.plans] == [0.3, 0.2]
    assert three.rows_shown == three.plans[1].rows_shown > three.plans[0].rows_shown > two
    assert len(three.frame()) == 2
    assert three.to_dict()["rows_shown"] == three.rows_shown


def test_too_few_rows_or_events_call_nothing() -> None:
    assert power(0.5, base_rate=0.2, groups=[0.9, 0.1], rows=290).plans[0].chance_shown == 0.0
    assert power(0.5, base_rate=0.2, groups=[0.9, 0.1], rows=310).plans[0].chance_shown > 0.5
    assert power(1.0, base_rate=0.001, rows=600, metric="di").plans[0].chance_called < 1e-3


def test_no_rows_decide_a_gap_at_the_threshold() -> None:
    plan = power(0.1, base_rate=0.3, rows=1000).plans[0]
    assert plan.verdict is None
    assert plan.rows_called is None
    assert plan.chance_called is None
    assert power(0.0, base_rate=0.3).rows_shown is None
    assert power(1e-5, base_rate=0.3).rows_shown is None  # more than any number that is promised


def test_large_groups_are_added_up_on_a_grid_as_well_as_one_by_one(monkeypatch) -> None:
    options = {"base_rate": 0.3, "groups": [0.5, 0.5], "rows": 40_000, "threshold": 0.005}
    exact = power(0.01, **options).plans[0]
    assert MOST_OUTCOMES > 1000
    monkeypatch.setattr("isonomy.audit.planning.MOST_OUTCOMES", 200)
    coarse = power(0.01, **options).plans[0]
    assert coarse.chance_shown == pytest.approx(exact.chance_shown, abs=1e-4)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"groups": [0.7, 0.2]}, "add up to 1"),
        ({"groups": [1.0]}, "two groups or more"),
        ({"base_rate": 20}, "base_rate must lie between 0 and 1"),
        ({"gap": 0.9}, "makes it 1.1"),
        ({"metric": "equalized_odds_difference"}, "Power is of a gap between two rates"),
        ({"metric": "accuracy"}, "Power is of a gap between two rates"),
        ({"power": 80}, "power must lie between 0 and 1"),
        ({"threshold": 0}, "A threshold must be above 0"),
        ({"rows": 1}, "rows must be at least 2"),
    ],
)
def test_mistakes_are_said_in_a_sentence(options, said: str) -> None:
    with pytest.raises(InputError, match=said):
        power(**({"gap": 0.1, "base_rate": 0.2} | options))
