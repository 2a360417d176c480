"""Freeze AIF360's MetaFairClassifier, which needs an older SciPy than the rest."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
from aif360.algorithms.inprocessing import MetaFairClassifier
from aif360.datasets import BinaryLabelDataset
from inputs import COLUMNS, people, scale
from store import write_json, write_npz


def wrap(X: np.ndarray, y: np.ndarray) -> BinaryLabelDataset:
    frame = pd.DataFrame(X, columns=COLUMNS)
    frame["y"] = y.astype(float)
    return BinaryLabelDataset(df=frame, label_names=["y"], protected_attribute_names=["sex"])


def main() -> None:
    warnings.simplefilter("ignore")
    X, s, y = people(51, 400)
    X_apply, s_apply, y_apply = people(52, 200)
    X, X_apply = scale(X, X_apply)
    arrays = {"fit/X": X, "fit/s": s.astype(np.uint8), "fit/y": y.astype(np.uint8)}
    arrays |= {"apply/X": X_apply, "apply/s": s_apply.astype(np.uint8)}
    facts: dict[str, Any] = {
        "source": "AIF360 0.6.1 on SciPy 1.9.2",
        "tau": 0.8,
        "sensitive": "sex",
    }
    facts["seeds"] = [0, 1, 2]
    for kind in ("fdr", "sr"):
        for seed in facts["seeds"]:
            method = MetaFairClassifier(tau=0.8, sensitive_attr="sex", type=kind, seed=seed)
            out = method.fit(wrap(X, y)).predict(wrap(X_apply, y_apply))
            arrays[f"{kind}/{seed}/scores"] = out.scores.ravel()
            arrays[f"{kind}/{seed}/labels"] = out.labels.ravel().astype(np.uint8)
    facts["columns"] = COLUMNS
    write_npz("aif360_meta_fair.npz", arrays)
    write_json("aif360_meta_fair.json", facts)


if __name__ == "__main__":
    main()
