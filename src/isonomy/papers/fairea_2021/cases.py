"""What Fairea's tables are made of: its names, its cases, and the judged means."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy.papers.judge import TASK, Curves, curves_of, runs_of
from isonomy.papers.table import Reading
from isonomy.tradeoff.regions import REGIONS, UNDEFINED, Rule, region_names

METHODS: dict[str, str] = {
    "LFR": "learning_fair_representations",
    "OP": "optimized_preprocessing",
    "RW": "reweighing",
    "PR": "prejudice_remover(eta=1)",
    "AD": "adversarial_debiasing(adversary_loss_weight=0.1)",
    "CO_fnr": "calibrated_equalized_odds(cost=fnr)",
    "CO_fpr": "calibrated_equalized_odds(cost=fpr)",
    "CO_weighted": "calibrated_equalized_odds(cost=weighted)",
    "ROC_SPD": "reject_option(metric=spd)",
    "ROC_AOD": "reject_option(metric=aod)",
    "ROC_EOD": "reject_option(metric=eod)",
    "EO": "equalized_odds",
}
"""The twelve methods by the paper's label; the two in-processing ones with their default."""

TASKS: dict[str, tuple[str, str]] = {
    "Adult-Sex": ("adult", "sex"),
    "Adult-Race": ("adult", "race"),
    "COMPAS-Sex": ("compas", "sex"),
    "COMPAS-Race": ("compas", "race"),
    "German-Sex": ("german", "sex"),
}
"""The five tasks by the paper's label."""

GAPS: dict[str, str] = {
    "SPD": "|statistical_parity_difference|",
    "AOD": "average_absolute_odds_difference",
}
"""The two bias metrics by the paper's label."""

MODELS = {"LR": "lr", "DT": "dt", "SVM": "svm"}
IN = ("PR", "AD")
COARSE = ("OP", "RW")
"""They learned from AIF360's coarse data, and their baseline from the full data."""
CORRECTED = (
    "Corrected: OP and RW are left out, because they learned from other data than the baseline that "
    "judges them; a run that predicts one class is poor."
)
"""What the corrected reading of a table changes."""
METRICS = ["accuracy", *GAPS.values()]
RUNS = 50
SWEEPS = {
    "PR": ("prejudice_remover", "eta"),
    "AD": ("adversarial_debiasing", "adversary_loss_weight"),
}


def usable(frame: pd.DataFrame) -> tuple[Curves, list[str]]:
    """Return the baselines that fall, and a note on each model that has none."""
    curves = curves_of(frame, METRICS)
    if not curves.tasks:
        return curves, [
            "The folder holds no mutation baselines (RQ4/, RQ3_*/): nothing can be judged."
        ]
    falls = curves.falling("accuracy")
    line = curves.values["accuracy"]
    notes = [
        f"{model} on {dataset} ({attribute}) is left out by the paper's rule: its accuracy "
        f"{line[i, 0]:.3f} does not exceed the {line[i, -1]:.3f} of a constant prediction."
        for i, (dataset, attribute, model) in enumerate(curves.tasks)
        if not falls[i]
    ]
    falling = tuple(task for task, ok in zip(curves.tasks, falls, strict=True) if ok)
    return Curves(falling, curves.degrees, {m: v[falls] for m, v in curves.values.items()}), notes


def judged_cases(
    frame: pd.DataFrame, rule: Rule, reading: Reading = "as_published"
) -> tuple[pd.DataFrame, list[str]]:
    """Return every run of the twelve methods with its region under each gap, and notes."""
    runs = runs_of(frame, METRICS)
    labels = {name: label for label, name in METHODS.items()}
    runs = runs[runs["mitigator"].isin([*labels])]
    curves, notes = usable(frame)
    cases = runs[list(TASK)].astype(str)
    cases["method"] = runs["mitigator"].astype(str).map(labels)
    cases["constant"] = (runs[[*GAPS.values()]] == 0).all(axis=1)
    for gap, metric in GAPS.items():
        cases[gap] = curves.place(runs, "accuracy", metric, rule=rule).region
    placed = (cases[[*GAPS]] != UNDEFINED).all(axis=1)
    if reading == "corrected":
        cases.loc[cases["constant"] & placed, [*GAPS]] = REGIONS.index("poor")
        placed &= ~cases["method"].isin(COARSE)
        notes = [*notes, CORRECTED]
    return cases[placed], notes


def shares(codes: NDArray[np.int8]) -> list[float]:
    """Return the share of each region."""
    if not codes.size:
        return [np.nan] * len(REGIONS)
    return [float(share) for share in np.bincount(codes, minlength=len(REGIONS)) / codes.size]


def assess(frame: pd.DataFrame, *, rule: Rule = "paper") -> pd.DataFrame:
    """Judge the mean over runs of every method, parameter variants included.

    There is one row per (dataset, attributes, model, mitigator, gap): runs, accuracy, bias, region
    and, where the region is good, area.
    """
    runs = runs_of(frame, METRICS)
    keys = [*TASK, "mitigator"]
    grouped = runs.groupby(keys, observed=True)
    means = grouped[METRICS].mean().reset_index()
    means["runs"] = grouped.size().to_numpy()
    curves, _ = usable(frame)
    parts = []
    for gap, metric in GAPS.items():
        codes, sizes = curves.place(means, "accuracy", metric, rule=rule)
        part = means[[*keys, "runs", "accuracy"]].copy()
        part[keys] = part[keys].astype(str)
        part["gap"], part["bias"] = gap, means[metric]
        part["region"], part["area"] = region_names(codes), sizes
        parts.append(part[codes != UNDEFINED])
    judged: pd.DataFrame = pd.concat(parts, ignore_index=True)
    return judged
