"""``evt``: our preparation, splits and learners for Monjezi et al. (2025), who publish no code.

The paper names the datasets, the protected groups and the labels, and nothing of the encoding.
So this is ours: rows with missing values dropped; every category one-hot; age in bins of ten
years (19 or less, 20 to 29, ..., 70 or more) where it is not itself under test; numbers scaled to
0..1 on the training rows. From the paper:

- Adult's race compares White with Black; other rows are left out of both groups.
- Default and disease are the favourable labels of ``default_credit`` and ``heart``.
- Bank (``version="full"``) compares young with old. The ages are not given; the printed sizes (9.4
  and 1.5 thousand) are far from all 45,211 rows, so a middle must have been left out. Ours: young
  is under 32 (9,026 rows), old 60 or more (1,784).
- COMPAS compares Caucasians with everybody else. The text of the charge, with its 400 levels, is
  left out.

Options are the other readings of what the paper leaves open (:mod:`.readings`):
``evt(codes=true)`` numbers categories in place of one-hot columns, ``evt(age_bins=false)`` keeps
the age in years, ``evt(scale=standard)`` and ``evt(scale=none)`` scale otherwise.

The splitter ``evt`` is 60 / 20 / 20 with a validation part, the proportions of the paper, seeded by
(seed, dataset, repeat); ``evt_joined`` has the same test rows and the validation part among the
training rows, for methods that hold out rows themselves. All learners give probabilities.

References
----------
Monjezi, V., Trivedi, A., Kreinovich, V. and Tizpaz-Niari, S. (2025). Fairness testing through
extreme value theory. arXiv:2501.11597.
"""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from isonomy.data.dataset import Dataset
from isonomy.data.frames import features_of
from isonomy.data.prepare import PREPARATIONS, Preparation
from isonomy.data.splits import SPLITTERS, Parts, seeded_order
from isonomy.models import RECIPES, network_factory

AGE_COLUMNS = ("age", "AGE", "Age")
EDGES = (-np.inf, 20, 30, 40, 50, 60, 70, np.inf)
BINS = ("19-", "20-29", "30-39", "40-49", "50-59", "60-69", "70+")
YOUNG_BELOW, OLD_FROM = 32, 60
LEFT_OUT = {"compas": ("c_charge_desc",)}


def _evt_frame(
    dataset: Dataset, attribute: str | None, *, codes: bool = False, age_bins: bool = True
) -> pd.DataFrame:
    frame = features_of(dataset).drop(columns=list(LEFT_OUT.get(dataset.name, ())))
    keep = frame.notna().all(axis=1).to_numpy()
    for name in dataset.attributes:
        keep = keep & dataset.known(name)
    if dataset.name == "adult" and attribute == "race":
        keep = keep & dataset.sensitive["race"].isin(["White", "Black"]).to_numpy()
    if dataset.name.startswith("bank"):
        age = dataset.X["age"].to_numpy()
        frame["age"] = (age < YOUNG_BELOW).astype(np.int8)
        keep = keep & ((age < YOUNG_BELOW) | (age >= OLD_FROM))
    for column in AGE_COLUMNS:
        if age_bins and column in frame.columns and column not in dataset.attributes:
            frame[column] = pd.cut(
                frame[column], list(EDGES), right=False, labels=list(BINS), ordered=False
            )
    if codes:
        words = frame.select_dtypes("category")
        frame[words.columns] = words.apply(lambda column: column.cat.codes.astype(np.float64))
    return frame[keep]


def _favorable(dataset: Dataset) -> Any:
    if dataset.name == "default_credit":
        return 1
    if dataset.name == "heart":
        return tuple(v for v in dataset.classes if v != 0)
    return dataset.favorable


@SPLITTERS.register("evt")
def _evt(n: int, name: str, seed: int, repeat: int) -> Parts:
    order = seeded_order(n, name, seed, repeat)
    first, second = int(np.floor(0.6 * n)), int(np.floor(0.8 * n))
    return order[:first], order[second:], order[first:second]


@SPLITTERS.register("evt_joined")
def _evt_joined(n: int, name: str, seed: int, repeat: int) -> Parts:
    train, test, validation = _evt(n, name, seed, repeat)
    assert validation is not None
    return np.concatenate([train, validation]), test, None


PREPARATIONS.add("evt", Preparation("evt", _evt_frame, scale="minmax", favorable=_favorable))

# The paper does not say that anything is scaled; the preparation scales to 0..1.
RECIPES.add(
    "evt",
    {
        "lr": lambda seed: LogisticRegression(max_iter=1000, random_state=seed),
        "svm": lambda seed: CalibratedClassifierCV(LinearSVC(random_state=seed)),
        "rf": lambda seed: RandomForestClassifier(random_state=seed),
        "dnn": network_factory("dnn", scaled=False),
    },
)
