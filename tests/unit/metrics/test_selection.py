"""Odds, people and standard deviations of selections, by hand."""

import numpy as np
import pytest

from isonomy import Counts, get_metric
from isonomy.errors import UndefinedMetricWarning

# 20 of 100 women and 40 of 100 men are selected, and 3 of 10 others
SEX = ["F"] * 100 + ["M"] * 100 + ["X"] * 10
HIRED = [1] * 20 + [0] * 80 + [1] * 40 + [0] * 60 + [1] * 3 + [0] * 7


def counted(
    rows: int = 210, privileged: str | None = "M", weight: list[float] | None = None
) -> Counts:
    return Counts.from_labels(
        HIRED[:rows],
        HIRED[:rows],
        sensitive_features={"sex": SEX[:rows]},
        privileged=privileged,
        sample_weight=weight,
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("odds_ratio", 20 * 60 / (40 * 80)),
        ("shortfall", 10.0),
        ("selection_shortfall(to=other)", 20.0),
        ("standard_deviations", -10 / np.sqrt(100 * 100 * 60 * 140 / (200**2 * 199))),
        ("selection_deviations(variance=pooled)", -0.2 / np.sqrt(0.3 * 0.7 / 50)),
    ],
)
def test_two_groups_by_hand(name: str, value: float) -> None:
    metric = get_metric(name)
    assert metric(counted(200)) == pytest.approx(value)
    spread = abs(value) if metric.goal == "zero" else value  # F is the smallest, M the largest
    assert metric(counted(200, None)) == pytest.approx(spread)
    assert not metric.labels
    np.testing.assert_allclose(metric(counted(), compare="each")[0], value)


def test_weights_count_people_and_leave_fewer_effective_rows() -> None:
    counts = counted(200, weight=[2.0] * 200)
    assert get_metric("shortfall")(counts) == pytest.approx(20.0)
    assert get_metric("odds_ratio")(counts) == pytest.approx(0.375)
    assert get_metric("standard_deviations")(counts) == pytest.approx(
        get_metric("standard_deviations")(counted(200))
    )


def test_nobody_selected_has_no_odds() -> None:
    counts = Counts(
        np.array([[[5.0, 0], [0, 0]], [[9.0, 0], [0, 0]]]), ("g",), (("a",), ("b",)), (0, 1), (1,)
    )
    for name in ("odds_ratio", "standard_deviations"):
        with pytest.warns(UndefinedMetricWarning, match="nobody is selected"):
            assert np.isnan(get_metric(name)(counts))
    assert get_metric("shortfall")(counts) == 0
