"""Detection and divergence of generated rows against SDMetrics (tools/golden/sdmetrics_quality.py)."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from isonomy.generators.quality import detection, kl_similarity

GOLDEN = json.loads((Path(__file__).parent / "golden" / "sdmetrics_quality.json").read_text())
KINDS = {"discrete": ["job", "town"], "number": ["age", "pay", "hours"]}


def table(columns: dict[str, str]) -> pd.DataFrame:
    kinds: dict[str, Any] = {"age": int, "pay": float, "hours": float}
    return pd.DataFrame(
        {name: [kinds.get(name, str)(w) for w in text.split()] for name, text in columns.items()}
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("which", ["near", "far"])
def test_divergence_by_pairs(which: str, kind: str) -> None:
    real, made = table(GOLDEN["real"]), table(GOLDEN[which]["rows"])
    ours = kl_similarity(real[KINDS[kind]], made[KINDS[kind]])
    assert ours == pytest.approx(GOLDEN[which][f"kl_{kind}"], rel=1e-9)


def test_both_kinds_are_pooled_by_pairs() -> None:
    ours = kl_similarity(table(GOLDEN["real"]), table(GOLDEN["near"]["rows"]))
    expected = (GOLDEN["near"]["kl_discrete"] + 3 * GOLDEN["near"]["kl_number"]) / 4
    assert ours == pytest.approx(expected, rel=1e-9)


def test_detection() -> None:
    real, made = table(GOLDEN["real"]), table(GOLDEN["near"]["rows"])
    ours = detection(real, made, random_state=np.random.RandomState(0))
    assert 0.3 < GOLDEN["near"]["detection"] < 0.9, "neither end would test the definition"
    # the features stand in another order, so that L-BFGS ends elsewhere in the last digits
    assert ours == pytest.approx(GOLDEN["near"]["detection"], abs=1e-3)
