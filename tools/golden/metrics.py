"""Freeze AIF360's classification metrics on small generated cases.

Inputs are stored as integers beside the numbers, so a test rebuilds them exactly without this
script.
"""

import warnings
from typing import Any

import numpy as np
import pandas as pd
from aif360.datasets import BinaryLabelDataset
from aif360.metrics import BinaryLabelDatasetMetric, ClassificationMetric
from store import digits, write_json, write_npz

RATES = {
    "accuracy": "accuracy",
    "error_rate": "error_rate",
    "selection_rate": "selection_rate",
    "precision": "positive_predictive_value",
    "negative_predictive_value": "negative_predictive_value",
    "true_positive_rate": "true_positive_rate",
    "true_negative_rate": "true_negative_rate",
    "false_positive_rate": "false_positive_rate",
    "false_negative_rate": "false_negative_rate",
    "false_discovery_rate": "false_discovery_rate",
    "false_omission_rate": "false_omission_rate",
    "base_rate": "base_rate",
    "num_instances": "num_instances",
}
GAPS = [
    "statistical_parity_difference",
    "disparate_impact",
    "equal_opportunity_difference",
    "average_odds_difference",
    "average_abs_odds_difference",
    "equalized_odds_difference",
    "average_predictive_value_difference",
    "error_rate_difference",
    "error_rate_ratio",
    "true_positive_rate_difference",
    "false_positive_rate_difference",
    "false_negative_rate_difference",
    "false_discovery_rate_difference",
    "false_omission_rate_difference",
    "false_positive_rate_ratio",
    "false_negative_rate_ratio",
    "false_discovery_rate_ratio",
    "false_omission_rate_ratio",
    "theil_index",
    "generalized_entropy_index",
    "coefficient_of_variation",
    "between_group_theil_index",
    "between_group_generalized_entropy_index",
    "between_group_coefficient_of_variation",
    "between_all_groups_theil_index",
    "between_all_groups_generalized_entropy_index",
]


def dataset(
    labels: np.ndarray,
    groups: dict[str, np.ndarray],
    privileged: dict[str, int],
    weight: np.ndarray,
    favorable: int,
    unfavorable: int,
    features: np.ndarray | None = None,
) -> BinaryLabelDataset:
    frame = pd.DataFrame({name: values.astype(float) for name, values in groups.items()})
    for j in range(0 if features is None else features.shape[1]):
        frame[f"x{j}"] = features[:, j]
    frame["y"] = labels.astype(float)
    frame["w"] = weight
    return BinaryLabelDataset(
        df=frame,
        label_names=["y"],
        protected_attribute_names=list(groups),
        privileged_protected_attributes=[[float(privileged[name])] for name in groups],
        unprivileged_protected_attributes=[
            [float(v) for v in np.unique(groups[name]) if v != privileged[name]] for name in groups
        ],
        instance_weights_name="w",
        favorable_label=float(favorable),
        unfavorable_label=float(unfavorable),
    )


def measure(case: dict[str, Any]) -> dict[str, Any]:
    fav, unfav = case["favorable"], case["unfavorable"]
    weight = np.array(case["weight_numerators"]) / case["weight_denominator"]
    args = (case["groups"], case["privileged"], weight, fav, unfav)
    metric = ClassificationMetric(
        dataset(np.where(case["y_true"] == 1, fav, unfav), *args),
        dataset(np.where(case["y_pred"] == 1, fav, unfav), *args),
        unprivileged_groups=case["unprivileged_groups"],
        privileged_groups=[case["privileged"]],
    )
    result: dict[str, Any] = {"gaps": {name: getattr(metric, name)() for name in GAPS}}
    for side, privileged in (("overall", None), ("privileged", True), ("unprivileged", False)):
        result[side] = {
            ours: getattr(metric, theirs)(privileged=privileged) for ours, theirs in RATES.items()
        }
    return result


def generate(
    seed: int,
    n: int,
    *,
    favorable: int = 1,
    unfavorable: int = 0,
    weights: str = "none",
    levels: dict[str, int] | None = None,
) -> dict[str, Any]:
    rng = np.random.RandomState(seed)
    levels = levels or {"sex": 2}
    groups = {name: rng.randint(0, k, n) for name, k in levels.items()}
    lean = sum(groups[name] / max(1, k - 1) for name, k in levels.items())
    y_true = (rng.random_sample(n) < 0.25 + 0.2 * lean / len(levels)).astype(int)
    y_pred = (rng.random_sample(n) < 0.15 + 0.5 * y_true + 0.15 * lean / len(levels)).astype(int)
    numerators, denominator = [1] * n, 1
    if weights == "dyadic":
        numerators, denominator = rng.randint(1, 65, n).tolist(), 16
    elif weights == "survey":
        numerators, denominator = rng.randint(1, 10**7, n).tolist(), 997
    privileged = {name: k - 1 for name, k in levels.items()}
    first = next(iter(levels))
    if len(levels) == 1:
        rest = [{first: v} for v in range(levels[first] - 1)]
    else:
        rest = [dict.fromkeys(levels, 0)]
    return {
        "favorable": favorable,
        "unfavorable": unfavorable,
        "groups": groups,
        "privileged": privileged,
        "unprivileged_groups": rest,
        "y_true": y_true,
        "y_pred": y_pred,
        "weight_numerators": numerators,
        "weight_denominator": denominator,
    }


def cases() -> dict[str, dict[str, Any]]:
    made = {
        "plain": generate(1, 500),
        "small": generate(2, 40),
        "weighted_dyadic": generate(3, 400, weights="dyadic"),
        "weighted_survey": generate(4, 400, weights="survey"),
        "favorable_0": generate(5, 500, favorable=0, unfavorable=1),
        "labels_1_2": generate(6, 500, favorable=1, unfavorable=2),
        "labels_1_2_weighted": generate(7, 300, favorable=1, unfavorable=2, weights="survey"),
        "three_groups": generate(8, 600, levels={"race": 3}),
        "two_attributes": generate(9, 800, levels={"sex": 2, "race": 3}),
        "string_groups": generate(10, 500),
    }
    made["string_groups"]["names"] = {"sex": ["Female", "Male"]}
    # Undefined by design: the unprivileged have no favourable prediction and no favourable truth.
    nothing = generate(11, 120)
    low = nothing["groups"]["sex"] == 0
    nothing["y_true"][low] = 0
    nothing["y_pred"][low] = 0
    made["undefined_unprivileged"] = nothing
    # The privileged group holds only favourable predictions and only favourable truth.
    everything = generate(12, 120)
    high = everything["groups"]["sex"] == 1
    everything["y_true"][high] = 1
    everything["y_pred"][high] = 1
    made["undefined_privileged"] = everything
    constant = generate(13, 120)
    constant["y_pred"][:] = 0
    made["constant_unfavorable"] = constant
    return made


def neighbours_without_ties() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.RandomState(21)
    codes = rng.randint(0, 2**20, (500, 6))
    score = codes[:, 0] + codes[:, 1] + rng.randint(0, 2**20, 500)
    return codes, (score > 3 * 2**19).astype(int)


def one_hot_like() -> tuple[np.ndarray, list[int], np.ndarray]:
    """Integer codes of 12 columns in the manner of Adult: four numbers, eight categories."""
    rng = np.random.RandomState(22)
    n = 9000
    sizes = [74, 16, 90, 40, 7, 16, 7, 14, 6, 5, 2, 37]
    columns = []
    for j, size in enumerate(sizes):
        if j < 3:
            column = np.clip(np.rint(size / 3 + size / 6 * rng.standard_normal(n)), 0, size - 1)
        else:
            # Real categories are skewed, which is what makes duplicate rows and distance ties.
            column = np.minimum(rng.geometric(0.8, n) - 1, size - 1)
        columns.append(column.astype(int))
    # Half of all people work the same number of hours, and ages come in steps of two.
    columns[0] = columns[0] // 2 * 2
    columns[2] = np.where(rng.random_sample(n) < 0.6, 40, columns[2])
    codes = np.column_stack(columns)
    score = codes[:, 0] / 74 + 1.5 * codes[:, 1] / 16 + 0.4 * (codes[:, 4] == 0)
    return codes, sizes, (score > 1.5).astype(int)


def expand(codes: np.ndarray, sizes: list[int], numeric: int) -> np.ndarray:
    """Scale the first `numeric` columns to [0, 1] and give every other level a 0/1 column."""
    parts = [codes[:, j : j + 1] / (sizes[j] - 1) for j in range(numeric)]
    parts += [
        (codes[:, j : j + 1] == np.arange(sizes[j])).astype(float)
        for j in range(numeric, len(sizes))
    ]
    return np.hstack(parts)


def consistency(features: np.ndarray, labels: np.ndarray, k: int) -> float:
    n = len(labels)
    group = {"sex": np.arange(n) % 2}
    data = dataset(labels, group, {"sex": 1}, np.ones(n), 1, 0, features)
    # The group column is bookkeeping here: the neighbours are those of the stored features.
    data.features = features.astype(float)
    return float(BinaryLabelDatasetMetric(data).consistency(n_neighbors=k)[0])


def main() -> None:
    warnings.simplefilter("ignore")
    content: dict[str, Any] = {"source": "AIF360 0.6.1", "cases": {}, "consistency": {}}
    for name, case in cases().items():
        result = measure(case)
        stored = dict(case)
        stored["groups"] = {key: digits(values) for key, values in case["groups"].items()}
        stored["y_true"], stored["y_pred"] = digits(case["y_true"]), digits(case["y_pred"])
        stored["weight_numerators"] = " ".join(map(str, case["weight_numerators"]))
        content["cases"][name] = {**stored, **result}
    plain, plain_labels = neighbours_without_ties()
    tied, sizes, tied_labels = one_hot_like()
    numeric = 4
    content["consistency"] = {
        "no_ties": {str(k): consistency(plain / 2**20, plain_labels, k) for k in (1, 5, 10)},
        "ties": {"5": consistency(expand(tied, sizes, numeric), tied_labels, 5)},
        "ties_levels": sizes,
        "ties_numeric_columns": numeric,
    }
    write_json("aif360_metrics.json", content)
    write_npz(
        "aif360_consistency.npz",
        {
            "no_ties": plain.astype(np.int32),
            "no_ties_labels": plain_labels.astype(np.uint8),
            "ties": tied.astype(np.uint8),
            "ties_labels": tied_labels.astype(np.uint8),
        },
    )


if __name__ == "__main__":
    main()
