"""Shared pieces: the folder beside the repository, and a small table of predictions."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings

# a busy machine is no counterexample
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Published results and papers, which are not part of the repository."""
    if not SHARED.is_dir():
        pytest.skip("needs the folder shared/ beside the repository")
    return SHARED


@pytest.fixture
def predictions() -> pd.DataFrame:
    """Give labels, predictions, scores, weights and two attributes of 2,000 people."""
    rng = np.random.default_rng(7)
    n = 2000
    sex = rng.choice(["F", "M"], n, p=[0.4, 0.6])
    race = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    z = rng.normal(size=n) + 0.6 * (sex == "M") - 0.4 * (race == "b")
    p = 1 / (1 + np.exp(-z))
    return pd.DataFrame(
        {
            "y": np.where(rng.random(n) < p, "good", "bad"),
            "yhat": np.where(p > 0.55, "good", "bad"),
            "score": p,
            "weight": rng.uniform(0.5, 2.0, n).round(2),
            "sex": sex,
            "race": race,
            "age": rng.integers(18, 80, n),
        }
    )
