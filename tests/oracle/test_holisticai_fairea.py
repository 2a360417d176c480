"""Fairea of holisticai 1.0.14 on its own narrow case, frozen (`tools/golden/holisticai_fairea.py`)."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isonomy.metrics import Counts
from isonomy.tradeoff import Baseline, bias_of, mutation_values, place, region_names

FILE = Path(__file__).parent / "golden" / "holisticai_fairea.json"
METRIC = {"sp": "statistical_parity_difference", "aod": "average_odds_difference"}
WORDS = {"good trade-off": "good", "bad trade-off": "poor"}


@pytest.fixture(scope="module")
def frozen() -> dict[str, Any]:
    return json.loads(FILE.read_text())


def labels(text: str) -> np.ndarray:
    return np.array(list(text), dtype=int)


def counts(frozen: dict[str, Any], predicted: str) -> Counts:
    return Counts.from_labels(
        labels(frozen["y_true"]),
        labels(predicted),
        sensitive_features=labels(frozen["group"]),
        favorable=1,
        privileged=1,
    )


@pytest.mark.parametrize("metric", ["sp", "aod"])
def test_the_baseline_is_the_mean_of_their_mutations(frozen, metric: str) -> None:
    original = counts(frozen, frozen["y_pred"])
    line = Baseline.from_counts(original, fairness=METRIC[metric], strategy=0, method="expected")
    drawn = mutation_values(original, ["accuracy", METRIC[metric]], strategy=0, repetitions=2000)
    for ours, theirs, values in (
        (line.performance, frozen[metric]["accuracy"], drawn["accuracy"]),
        (line.bias, frozen[metric]["bias"], bias_of(METRIC[metric], drawn[METRIC[metric]])),
    ):
        error = values.std(axis=0) / np.sqrt(frozen["repetitions"])
        assert (np.abs(ours - theirs) <= 4 * error + 1e-4 * (error > 0) + 1e-12).all()


@pytest.mark.parametrize("metric", ["sp", "aod"])
def test_methods_have_their_points_and_regions(frozen, metric: str) -> None:
    theirs = frozen[metric]
    seen = set()
    for name, (bias, accuracy) in theirs["points"].items():
        line = Baseline.from_points(theirs["accuracy"], theirs["bias"])
        mine = mutation_values(
            counts(frozen, frozen["methods"][name]), ["accuracy", METRIC[metric]], degrees=[0, 1],
            repetitions=1,
        )  # fmt: skip
        assert mine["accuracy"][0, 0] == pytest.approx(accuracy, abs=1e-12)
        assert abs(mine[METRIC[metric]][0, 0]) == pytest.approx(bias, abs=1e-12)
        word = theirs["regions"][name]
        assert line.region(accuracy, bias) == WORDS.get(word, word)
        seen.add(word)
    assert len(seen) >= 4


def test_their_area_is_not_the_area(frozen) -> None:
    """Written down, not followed: they invert the line of the horizontal the wrong way round.

    Their end of the area is where the *bias* equals the point's performance instead of where the
    performance does, so that one of these areas is negative. Ours equals shapely's
    (`test_shapely_regions.py`).
    """
    theirs = frozen["sp"]
    names = list(theirs["areas"])
    points = np.array([theirs["points"][name] for name in names])
    placed = place(points[:, 1], points[:, 0], theirs["accuracy"], theirs["bias"])
    assert set(region_names(placed.region)) == {"good"}
    assert min(theirs["areas"].values()) < 0
    assert (placed.area >= 0).all()
    gap = np.abs(placed.area - [theirs["areas"][name] for name in names])
    assert gap.max() > 1e-4
