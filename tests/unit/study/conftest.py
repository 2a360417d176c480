"""A small table of applicants in a file, declared as the source of a study."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isonomy.study import Source


@pytest.fixture(scope="session")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Source:
    """Give 400 applicants of two sexes and three origins; one line of origins is unknown."""
    rng = np.random.default_rng(5)
    n = 400
    sex = rng.choice(["f", "m"], n)
    origin = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2]).astype(object)
    skill = rng.normal(size=n) + 0.5 * (sex == "m")
    years = rng.integers(0, 20, n)
    hired = (skill + 0.1 * years + 0.4 * (origin == "a") + rng.normal(size=n) > 1.4).astype(int)
    origin[:3] = None
    table = pd.DataFrame(
        {
            "sex": sex,
            "origin": origin,
            "skill": skill.round(3),
            "years": years,
            "school": rng.choice(["north", "south", "west"], n),
            "weight": rng.uniform(0.5, 2.0, n).round(2),
            "hired": np.where(hired, "yes", "no"),
        }
    )
    path: Path = tmp_path_factory.mktemp("jobs") / "jobs.csv"
    table.to_csv(path, index=False)
    return Source.of_file(
        path,
        label="hired",
        sensitive_features=["sex", "origin"],
        favorable="yes",
        privileged={"sex": "m", "origin": ["a"]},
        drop=["weight"],
    )
