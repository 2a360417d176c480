"""What the tables of the zero-sum study are made of: its names, and its runs by side."""

import numpy as np
import pandas as pd

from isonomy.papers.changes import everywhere
from isonomy.papers.judge import runs_of
from isonomy.papers.subgroups import PERFORMANCE, SHARES, of_group

TASKS: dict[str, tuple[str, str]] = {
    "Adult-Sex": ("adult", "sex"),
    "Adult-Race": ("adult", "race"),
    "Compas-Sex": ("compas", "sex"),
    "Compas-Race": ("compas", "race"),
    "German-Sex": ("german", "sex"),
    "German-Age": ("german", "age"),
    "Bank-Age": ("bank", "age"),
    "Mep-Race": ("meps", "race"),
}
"""The eight tasks of one attribute."""

BOTH: dict[str, tuple[str, ...]] = {
    "adult": ("sex", "race"),
    "compas": ("sex", "race"),
    "german": ("sex", "age"),
}
"""The attributes of the three tasks of two attributes."""

METHODS: dict[str, str] = {
    "adv": "adversarial_debiasing",
    "rew": "reweighing",
    "eop": "equalized_odds",
    "fairsmote": "fair_smote",
    "ltdd": "ltdd",
    "maat": "maat",
    "fairmask": "fair_mask",
    "mirrorfair": "mirror_fair",
}
"""The methods by the paper's label."""

OWN_MODEL = (METHODS["adv"],)
"""It brings its own model: one set of runs is counted beside every model."""

MODELS: tuple[str, ...] = ("lr", "rf", "svm", "dl")
"""The four base models."""

RUNS = 20
"""How often the study ran everything."""

SIDES: dict[str, tuple[str, str]] = {
    f"{short}{side}": (SHARES[rate], digit)
    for side, digit in (("p", "1"), ("u", "0"))
    for short, rate in (("sr", "sr"), ("tp", "tpr"), ("fp", "fpr"))
}
"""The rates of the privileged and of the unprivileged by the tables' label: rate, side."""


def runs_by_side(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of one attribute, with the rates of both sides under the tables' labels."""
    pairs = pd.MultiIndex.from_arrays(
        [frame["dataset"].astype(str), frame["attributes"].astype(str)]
    )
    frame = frame[pairs.isin([*TASKS.values()])]
    held = {*map(str, frame["metric"].unique())}
    attributes = sorted({attribute for _, attribute in TASKS.values()})
    names = {
        (label, a): name
        for label, (rate, side) in SIDES.items()
        for a in attributes
        if (name := of_group(rate, [a], side)) in held
    }
    runs = everywhere(runs_of(frame, [*PERFORMANCE.values(), *names.values()]), OWN_MODEL)
    for label in SIDES:
        values = np.full(len(runs), np.nan)
        for (of, attribute), name in names.items():
            if of == label:
                values = np.where(runs["attributes"] == attribute, runs[name], values)
        runs[label] = values
    return runs
