"""AIF360's own calls. Runs inside its environment, started by `peers.py`; never imported by us.

What only dresses the data for AIF360 (building a BinaryLabelDataset) is not counted.
"""

import contextlib
import io
import json
import logging
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

logging.disable(logging.WARNING)

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from aif360.algorithms.postprocessing import (  # noqa: E402
    CalibratedEqOddsPostprocessing,
    EqOddsPostprocessing,
    RejectOptionClassification,
)
from aif360.algorithms.preprocessing import (  # noqa: E402
    LFR,
    DisparateImpactRemover,
    OptimPreproc,
    Reweighing,
)
from aif360.algorithms.preprocessing.lfr_helpers import helpers as lfr_helpers  # noqa: E402
from aif360.algorithms.preprocessing.optim_preproc_helpers.distortion_functions import (  # noqa: E402
    get_distortion_adult,
)
from aif360.algorithms.preprocessing.optim_preproc_helpers.opt_tools import OptTools  # noqa: E402
from aif360.datasets import BinaryLabelDataset  # noqa: E402
from aif360.detectors.mdss_detector import bias_scan  # noqa: E402
from aif360.metrics import BinaryLabelDatasetMetric, ClassificationMetric  # noqa: E402
from timing import cpu_seconds  # noqa: E402

Arrays = dict[str, np.ndarray]
Job = tuple[Callable[[], Any], Callable[[Any], Arrays]]

GROUPS = {"unprivileged_groups": [{"sex": 0}], "privileged_groups": [{"sex": 1}]}
SEED = 12345679
METRICS = {
    "spd": "Statistical parity difference",
    "aod": "Average odds difference",
    "eod": "Equal opportunity difference",
}


def wrap(X: np.ndarray, s: np.ndarray, y: np.ndarray) -> BinaryLabelDataset:
    """Build a dataset whose features are X, whatever column of it is the protected one."""
    frame = pd.DataFrame({"sex": s.astype(float), "y": y.astype(float)})
    made = BinaryLabelDataset(df=frame, label_names=["y"], protected_attribute_names=["sex"])
    if X is not None:
        made.features = X.astype(float)
        made.feature_names = [f"x{j}" for j in range(X.shape[1])]
    return made


def with_scores(data: Arrays, part: str, labels: str) -> BinaryLabelDataset:
    """Build what a user of AIF360 has after predicting: the features are still in it."""
    made = wrap(data[f"X_{part}"], data[f"s_{part}"], data[f"{labels}_{part}"])
    made.scores = data[f"score_{part}"].reshape(-1, 1).astype(float)
    return made


def six_metrics(data: Arrays) -> Job:
    truth, predicted = wrap(None, data["s"], data["y"]), wrap(None, data["s"], data["p"])

    def call() -> list[float]:
        metric = ClassificationMetric(truth, predicted, **GROUPS)
        return [
            metric.statistical_parity_difference(),
            metric.equal_opportunity_difference(),
            metric.false_positive_rate_difference(),
            metric.false_negative_rate_difference(),
            metric.error_rate_difference(),
            metric.false_discovery_rate_difference(),
        ]

    return call, lambda values: {"values": np.array(values)}


def consistency(data: Arrays) -> Job:
    made = wrap(data["X"], np.arange(len(data["p"])) % 2, data["p"])
    return (
        lambda: BinaryLabelDatasetMetric(made).consistency(n_neighbors=5),
        lambda value: {"values": np.asarray(value)},
    )


def reweighing(data: Arrays) -> Job:
    made = wrap(data["X"], data["s"], data["y"])
    return (
        lambda: Reweighing(**GROUPS).fit_transform(made),
        lambda out: {"weight": out.instance_weights},
    )


def disparate_impact_remover(data: Arrays, column: int) -> Job:
    parts = []
    for part in ("train", "test"):
        made = wrap(data[f"X_{part}"], data[f"s_{part}"], data[f"y_{part}"])
        made.feature_names[column] = "sex"
        parts.append(made)

    def call() -> list[BinaryLabelDataset]:
        return [DisparateImpactRemover(sensitive_attribute="sex").fit_transform(m) for m in parts]

    return call, lambda out: {"train": out[0].features, "test": out[1].features}


def learning_fair_representations(data: Arrays, seed: int) -> Job:
    train = wrap(data["X_train"], data["s_train"], data["y_train"])
    test = wrap(data["X_test"], data["s_test"], data["y_test"])

    def call() -> tuple[LFR, BinaryLabelDataset, BinaryLabelDataset]:
        method = LFR(**GROUPS, k=5, Ax=0.01, Ay=1.0, Az=50.0, seed=seed).fit(train)
        return method, method.transform(train), method.transform(test)

    def give(out: Any) -> Arrays:
        X, s, y = data["X_train"], data["s_train"], data["y_train"]
        blocks = (X[s == 0], X[s == 1], y[s == 0], y[s == 1], 5, 0.01, 1.0, 50.0, 250, 0)
        value = lfr_helpers.LFR_optim_objective(out[0].learned_model, *blocks)
        return {"objective": np.array(value), "test": out[2].features}

    return call, give


def optimized_preprocessing(data: Arrays) -> Job:
    names = ["Age (decade)", "Education Years"]
    parts = [pd.get_dummies(pd.Series(data[name]), prefix=name, prefix_sep="=") for name in names]
    frame = pd.concat(parts, axis=1).astype(float)
    frame["race"], frame["sex"] = data["race"].astype(float), data["s"].astype(float)
    frame["Income Binary"] = data["y"].astype(float)
    made = BinaryLabelDataset(
        df=frame,
        label_names=["Income Binary"],
        protected_attribute_names=["sex"],
        metadata={
            "label_maps": [{1.0: ">50K", 0.0: "<=50K"}],
            "protected_attribute_maps": [{1.0: "Male", 0.0: "Female"}],
        },
    )
    options = {
        "distortion_fun": get_distortion_adult,
        "epsilon": 0.05,
        "clist": [0.99, 1.99, 2.99],
        "dlist": [0.1, 0.05, 0.0],
    }

    def call() -> OptimPreproc:
        with contextlib.redirect_stdout(io.StringIO()):
            method = OptimPreproc(OptTools, options, verbose=False, seed=0).fit(made)
            method.transform(made, transform_Y=True)
        return method

    return call, lambda out: {"objective": np.array(out.OpT.optimum)}


def _post(data: Arrays, method: Callable[[], Any]) -> Job:
    truth = with_scores(data, "train", "y")
    predicted = with_scores(data, "train", "label")
    target = with_scores(data, "test", "label")
    return (
        lambda: method().fit(truth, predicted).predict(target),
        lambda out: {"labels": out.labels.ravel().astype(int)},
    )


def reject_option(data: Arrays, metric: str) -> Job:
    return _post(data, lambda: RejectOptionClassification(**GROUPS, metric_name=METRICS[metric]))


def calibrated_equalized_odds(data: Arrays, cost: str) -> Job:
    return _post(
        data, lambda: CalibratedEqOddsPostprocessing(**GROUPS, cost_constraint=cost, seed=SEED)
    )


def equalized_odds(data: Arrays) -> Job:
    return _post(data, lambda: EqOddsPostprocessing(**GROUPS, seed=SEED))


def subgroup_scan(data: Arrays) -> Job:
    columns = pd.DataFrame(
        data["columns"], columns=[str(j) for j in range(data["columns"].shape[1])]
    )
    hits = pd.Series(data["hits"])

    def call() -> list[float]:  # once for each direction, as ours looks into both
        return [bias_scan(columns, hits, overpredicted=over)[1] for over in (True, False)]

    return call, lambda scores: {"scores": np.array(scores)}


JOBS: dict[str, Callable[..., Job]] = {
    job.__name__: job
    for job in (
        six_metrics,
        consistency,
        reweighing,
        disparate_impact_remover,
        learning_fair_representations,
        optimized_preprocessing,
        reject_option,
        calibrated_equalized_odds,
        equalized_odds,
        subgroup_scan,
    )
}


def main(folder: Path) -> None:
    warnings.simplefilter("ignore")
    spec = json.loads((folder / "job.json").read_text())
    data = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    call, give = JOBS[spec["job"]](data, **spec["options"])
    seconds, result = cpu_seconds(call, repeat=spec["repeat"])
    for name, array in give(result).items():
        np.save(folder / f"out_{name}.npy", array)
    (folder / "seconds.json").write_text(json.dumps(seconds))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
