"""Names of subgroups, and mutation baselines of worst cases from stored counts."""

import numpy as np
import pytest

from isonomy.metrics import JointCounts
from isonomy.papers.subgroups import WORST, by_side, mutation_baseline
from isonomy.store import Record

ROWS = 4000


@pytest.fixture(scope="module")
def run() -> tuple[Record, dict[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    rows = {
        "sex": rng.choice(["f", "m"], ROWS),
        "race": rng.choice(["a", "b", "c"], ROWS),  # two of them are unprivileged
    }
    high = 0.2 + 0.3 * (rows["sex"] == "m") + 0.2 * (rows["race"] == "c")
    rows["y"] = (rng.random(ROWS) < 0.3).astype(int)
    rows["pred"] = (rng.random(ROWS) < high).astype(int)
    counts = JointCounts.from_labels(
        rows["y"],
        rows["pred"],
        rows["pred"],
        sensitive_features={"sex": rows["sex"], "race": rows["race"]},
        privileged={"sex": "m", "race": "c"},
    )
    return Record("s", "adult", "sex+race", "lr", "unmitigated", 3, counts=counts), rows


def test_sides_are_those_of_the_studies(run: tuple[Record, dict[str, np.ndarray]]) -> None:
    record, rows = run
    assert record.counts is not None
    laid = by_side(record.counts.base)
    assert laid.groups == ((0, 0), (0, 1), (1, 0), (1, 1))
    inside = (rows["sex"] == "m") & (rows["race"] != "c")
    assert laid.n[2].sum() == inside.sum()


def test_the_baseline_goes_from_the_model_to_one_label_for_all(
    run: tuple[Record, dict[str, np.ndarray]],
) -> None:
    record, rows = run
    points = mutation_baseline(record)
    assert [p.mitigator for p in points[:2]] == [
        "mutation(strategy=majority, degree=0)",
        "mutation(strategy=majority, degree=0.1)",
    ]
    assert len(points) == 11
    spd = [p.metrics[WORST["wcspd"]] for p in points]
    sides = zip(rows["sex"] == "m", rows["race"] == "c", strict=True)
    group = np.array([2 * a + b for a, b in sides])
    rates = [rows["pred"][group == k].mean() for k in range(4)]
    assert spd[0] == pytest.approx(max(rates) - min(rates), abs=1e-12)
    assert spd[-1] == 0.0
    assert points[-1].metrics["accuracy"] == pytest.approx(1 - rows["y"].mean())
    # half of the rows overwritten: half of the gap is left, but for the draws
    assert spd[5] == pytest.approx(spd[0] / 2, abs=0.03)
    assert mutation_baseline(record)[5].metrics == points[5].metrics
