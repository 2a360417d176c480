"""Verdicts on single groups: how much work many groups are, and groups with confusing names."""

import sys
from types import FrameType
from typing import Any

import numpy as np
import pytest

from isonomy import audit
from isonomy.audit.judge import each_group, gap
from isonomy.audit.limits import _between, evidence_of
from isonomy.metrics import Counts, get_metric


def _calls(groups: int) -> int:
    """Count the Python functions that an audit of intersections calls, a third undefined."""
    rng = np.random.default_rng(0)
    rows = 40 * groups
    group = np.arange(rows) % groups
    y = np.where(group % 3 == 0, 0, rng.integers(0, 2, rows))  # a third never has a 1
    sensitive = {"a": group // 10, "b": group % 10}
    calls = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        found = audit(
            y, 1 - y, sensitive_features=sensitive, privileged={"a": 0, "b": 1}, intersections=True
        )
    finally:
        sys.setprofile(None)
    assert any(f.verdict == "undefined" for f in found.comparisons)
    return calls


def test_work_grows_with_the_groups_and_not_with_their_square() -> None:
    _, few, many, more = (_calls(n) for n in (100, 100, 200, 400))  # the first one also imports
    assert more - many < 2.5 * (many - few)  # 2 where linear, 4 where quadratic


def test_more_groups_than_could_be_resampled_are_compared() -> None:
    """Gaps between rates need no resamples."""
    group = np.arange(9000) % 9000
    y = np.arange(9000) % 2
    sensitive = {"a": group // 95, "b": group % 95}
    found = audit(y, y, sensitive_features=sensitive, intersections=True)
    assert "a & b" in {f.attribute for f in found.metrics}


def test_a_group_may_be_called_privileged() -> None:
    group = np.repeat(["privileged", "unprivileged", "other"], 50)
    y = np.where(group == "privileged", 0, np.arange(150) % 2)
    found = audit(y, y, sensitive_features=group, privileged="other")
    names = {f.comparison for f in found.comparisons}
    assert names == {"privileged vs other", "unprivileged vs other"}
    assert any(f.verdict == "undefined" for f in found.comparisons)


@pytest.mark.parametrize("name", ["equalized_odds_difference", "average_absolute_odds_difference"])
def test_two_groups_are_judged_alike_with_and_without_a_privileged_one(name: str) -> None:
    n = np.array([[[60.0, 40.0], [20.0, 80.0]], [[95.0, 25.0], [60.0, 60.0]]])
    counts = Counts(n, ("g",), (("a",), ("b",)), (0, 1), (1,), {"g": ("a",)})
    one, two = (
        gap(get_metric(name), "g", counts, lambda: counts, how, (-0.1, 0.1), 0.95)
        for how in ("privileged", "max_min")
    )
    assert one.verdict == two.verdict == "violated"
    assert (one.low, one.high) == pytest.approx((two.low, two.high), abs=1e-9)
    assert one.p_value == pytest.approx(two.p_value, abs=1e-6)
    (each,) = each_group([get_metric(name)], "g", counts, {name: (-0.1, 0.1)}, 0.95)
    assert (each.low, each.p_value) == pytest.approx((one.low, one.p_value), abs=1e-6)
    # a gap of that size can mislead in one direction only: the multiplier of either is wider
    evidence = evidence_of(get_metric(name).parts, counts)
    assert one.low > _between(evidence.of([1]), evidence.of([0]), 2.236, 1.96)[0][0] + 0.005
