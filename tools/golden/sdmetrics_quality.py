"""Freeze SDMetrics' detection and divergences for two small tables: one near the real rows, one far."""

import warnings

import numpy as np
import pandas as pd
from sdmetrics.single_table import (
    ContinuousKLDivergence,
    DiscreteKLDivergence,
    LogisticDetection,
)
from store import write_json

ROWS = 300


def people(rng: np.random.Generator, shift: float) -> pd.DataFrame:
    """Draw rows whose columns hang together, rounded so that JSON holds them exactly."""
    job = rng.choice(["clerk", "cook", "nurse"], ROWS, p=[0.5, 0.3 - shift / 5, 0.2 + shift / 5])
    town = np.where(rng.random(ROWS) < 0.3 + 0.3 * (job == "cook"), "east", "west")
    age = rng.integers(18, 70, ROWS)
    pay = 10 + 0.1 * age * (1 - shift) + rng.normal(0, 2, ROWS) + shift
    hours = 40 + 5 * (town == "east") + rng.normal(0, 4 * (1 + shift), ROWS)
    numbers = {"age": age, "pay": pay.round(3), "hours": hours.round(2)}
    return pd.DataFrame({"job": job, "town": town, **numbers})


def words(frame: pd.DataFrame) -> dict[str, str]:
    """Write each column as one string, its values parted by blanks."""
    return {name: " ".join(map(str, frame[name])) for name in frame}


def main() -> None:
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(11)
    real = people(rng, 0.0)
    kinds = {"job": "categorical", "town": "categorical"}
    kinds |= dict.fromkeys(("age", "pay", "hours"), "numerical")
    metadata = {"columns": {name: {"sdtype": kind} for name, kind in kinds.items()}}
    content = {"real": words(real)}
    for name, shift in (("near", 0.4), ("far", 0.9)):
        made = people(rng, shift)
        if name == "far":  # values and combinations that the real rows do not hold
            made.loc[made.index[:5], ["job", "town"]] = ["nurse", "north"]
        content[name] = {"rows": words(made)}
        for key, metric in (("discrete", DiscreteKLDivergence), ("number", ContinuousKLDivergence)):
            content[name][f"kl_{key}"] = metric.compute(real.copy(), made.copy(), metadata)
        if name == "near":  # it cannot encode a value it has not seen
            np.random.seed(0)
            content[name]["detection"] = LogisticDetection.compute(
                real.copy(), made.copy(), metadata
            )
    write_json("sdmetrics_quality.json", content)


if __name__ == "__main__":
    main()
