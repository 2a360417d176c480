"""AIF360's in-processing methods. Runs inside their environments, started by `peers.py`; never imported by us.

Each job fits on the training rows and predicts the test rows. What only dresses the data for AIF360 is not
counted. Imports are inside the jobs: one environment has TensorFlow, the other the old SciPy that
MetaFairClassifier needs.
"""

import contextlib
import io
import json
import logging
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
logging.disable(logging.WARNING)

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from aif360.datasets import BinaryLabelDataset  # noqa: E402
from timing import cpu_seconds  # noqa: E402

Arrays = dict[str, np.ndarray]
GROUPS = {"unprivileged_groups": [{"sex": 0}], "privileged_groups": [{"sex": 1}]}


def wrap(data: Arrays, part: str, column: int) -> BinaryLabelDataset:
    X = data[f"X_{part}"].astype(float)
    names = ["sex" if j == column else f"x{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    frame["y"] = data[f"y_{part}"].astype(float)
    return BinaryLabelDataset(df=frame, label_names=["y"], protected_attribute_names=["sex"])


def prejudice_remover(eta: float) -> Callable[..., np.ndarray]:
    from aif360.algorithms.inprocessing import PrejudiceRemover

    def call(train: BinaryLabelDataset, test: BinaryLabelDataset) -> np.ndarray:
        method = PrejudiceRemover(eta=eta, sensitive_attr="sex").fit(train)
        labels = method.predict(test).labels.ravel()
        Path(method.model_name).unlink()
        return labels

    return call


def meta_fair_classifier(kind: str, seed: int) -> Callable[..., np.ndarray]:
    from aif360.algorithms.inprocessing import MetaFairClassifier

    def call(train: BinaryLabelDataset, test: BinaryLabelDataset) -> np.ndarray:
        method = MetaFairClassifier(tau=0.8, sensitive_attr="sex", type=kind, seed=seed)
        return method.fit(train).predict(test).labels.ravel()

    return call


def adversarial_debiasing(seed: int) -> Callable[..., np.ndarray]:
    import tensorflow.compat.v1 as tf
    from aif360.algorithms.inprocessing import AdversarialDebiasing

    tf.disable_eager_execution()
    one = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)

    def call(train: BinaryLabelDataset, test: BinaryLabelDataset) -> np.ndarray:
        tf.reset_default_graph()
        with tf.Session(config=one) as session:
            method = AdversarialDebiasing(
                **GROUPS, scope_name="a", sess=session, num_epochs=50, seed=seed
            )
            return method.fit(train).predict(test).labels.ravel()

    return call


JOBS: dict[str, Callable[..., Any]] = {
    job.__name__: job for job in (prejudice_remover, meta_fair_classifier, adversarial_debiasing)
}


def main(folder: Path) -> None:
    warnings.simplefilter("ignore")
    spec = json.loads((folder / "job.json").read_text())
    data = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    options = spec["options"]
    column = options.pop("column")
    train, test = wrap(data, "train", column), wrap(data, "test", column)
    call = JOBS[spec["job"]](**options)
    with contextlib.redirect_stdout(io.StringIO()):
        seconds, labels = cpu_seconds(lambda: call(train, test), repeat=spec["repeat"])
    np.save(folder / "out_labels.npy", labels.astype(int))
    (folder / "seconds.json").write_text(json.dumps(seconds))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
