"""Freeze holisticai's Fairea on its own narrow case: logistic regression, two groups, two metrics."""

import numpy as np
from holisticai.utils.trade_off_analysers import Fairea
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from store import digits, write_json

ROWS, REPETITIONS, SEED = 1000, 400, 7


def people() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(SEED)
    s = rng.integers(0, 2, ROWS)
    x = rng.normal(size=(ROWS, 3)) + 0.5 * s[:, None]
    y = (rng.uniform(size=ROWS) < 1 / (1 + np.exp(-(x[:, 0] + 0.6 * s - 1.2)))).astype(int)
    return np.column_stack([x, s]), y, s


def main() -> None:
    x, y, s = people()
    np.random.seed(0)  # as its first split does
    x_train, x_test, y_train, y_test, _, s_test = train_test_split(x, y, s, test_size=0.3)
    model = Pipeline([("scaler", StandardScaler()), ("clf", LogisticRegression())])
    predicted = model.fit(x_train, y_train).predict(x_test)
    rng = np.random.default_rng(SEED + 1)
    methods = {}
    for k, (flip, push) in enumerate(rng.uniform(0, [0.15, 0.5], size=(40, 2))):
        other = np.where(rng.uniform(size=predicted.size) < flip, 1 - predicted, predicted)
        lift = (s_test == 0) & (rng.uniform(size=predicted.size) < push)
        methods[str(k)] = np.where(lift, y_test, other)
    content = {
        "rows": int(y_test.size),
        "repetitions": REPETITIONS,
        "y_true": digits(y_test),
        "y_pred": digits(predicted),
        "group": digits(s_test),
        "methods": {name: digits(labels) for name, labels in methods.items()},
    }
    for metric in ("sp", "aod"):
        found = Fairea(fair_metric=metric)
        found.create_baseline(x, y, s == 0, s == 1, data_splits=1, repetitions=REPETITIONS)
        for name, labels in methods.items():
            found.add_model_outcomes(name, y_test, labels, s_test == 0, s_test == 1)
        accuracy, bias = found.baseline_metrics()
        found.trade_off_region_classification()
        areas = {}
        for name, region in found.mitigation_regions.items():
            if region == "good trade-off":
                from holisticai.utils.trade_off_analysers.utils_fairea import get_area

                point = found.normalized_methods[name]
                areas[name] = get_area(point, found.fairness_norm, found.acc_norm)
        content[metric] = {
            "accuracy": accuracy.ravel(),
            "bias": bias.ravel(),
            "points": found.methods,
            "regions": found.mitigation_regions,
            "areas": areas,
        }
    write_json("holisticai_fairea.json", content)


if __name__ == "__main__":
    main()
