"""``coarse``: AIF360's sets of a few coarse columns, which Optimized Preprocessing needs.

Optimized Preprocessing solves a linear programme over all combinations of values, so the columns
must be few and coarse. Both studies ran it, and Fairea also its reweighing, on these sets, without
scaling. ``Part.frame`` holds the columns before one-hot encoding, which is what the method takes.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy.data.compas import usual_filter
from isonomy.data.dataset import Dataset
from isonomy.data.frames import coded, columns_of
from isonomy.data.prepare import PREPARATIONS, Preparation
from isonomy.errors import InputError

__all__: list[str] = []

GERMAN_GROUPS = {
    "credit_history": {
        "Delay": ("A33",),
        "None/Paid": ("A30", "A31", "A32"),
        "Other": ("A34",),
    },
    "savings": {"500+": ("A63", "A64"), "<500": ("A61", "A62"), "Unknown/None": ("A65",)},
    "employment": {
        "1-4 years": ("A72", "A73"),
        "4+ years": ("A74", "A75"),
        "Unemployed": ("A71",),
    },
}


def _coarse_frame(dataset: Dataset, attribute: str | None) -> pd.DataFrame:
    makers = {"adult": _adult, "compas": _compas, "german": _german}
    if dataset.name not in makers:
        raise InputError(
            f"Preparation 'coarse' must be used on {', '.join(makers)}; got {dataset.name!r}: "
            f"the studies have no coarse set of it."
        )
    return makers[dataset.name](dataset)


def _adult(dataset: Dataset) -> pd.DataFrame:
    frame = coded(dataset, ["race", "sex"])
    decade = (dataset.X["age"].to_numpy() // 10 * 10).astype(int)
    years = dataset.X["education-num"].to_numpy()
    frame["Age (decade)"] = _levels(
        np.where(decade >= 70, ">=70", decade.astype(str)),
        ["10", "20", "30", "40", "50", "60", ">=70"],
    )
    frame["Education Years"] = _levels(
        np.where(years <= 5, "<6", np.where(years >= 13, ">12", years.astype(str))),
        ["6", "7", "8", "9", "10", "11", "12", "<6", ">12"],
    )
    return frame


def _compas(dataset: Dataset) -> pd.DataFrame:
    frame = pd.concat([coded(dataset, ["sex", "race"]), columns_of(dataset, ["age_cat"])], axis=1)
    priors = dataset.X["priors_count"].to_numpy()
    frame["priors_count"] = _levels(
        np.where(priors == 0, "0", np.where(priors <= 3, "1 to 3", "More than 3")),
        ["0", "1 to 3", "More than 3"],
    )
    frame["c_charge_degree"] = dataset.X["c_charge_degree"].array
    keep = usual_filter(dataset.frame()) & dataset.X["race"].isin(["African-American", "Caucasian"])
    return frame[keep.to_numpy()]


def _german(dataset: Dataset) -> pd.DataFrame:
    frame = coded(dataset, ["age", "sex"])
    for column, groups in GERMAN_GROUPS.items():
        frame[column] = grouped(dataset.X[column], groups)
    return frame


def grouped(values: "pd.Series[Any]", groups: dict[str, tuple[str, ...]]) -> pd.Categorical:
    """Gather codes in coarser levels."""
    level = {code: name for name, codes in groups.items() for code in codes}
    return _levels(values.astype(object).map(level).to_numpy(), list(groups))


def _levels(values: NDArray[Any], levels: list[str]) -> pd.Categorical:
    return pd.Categorical(values, categories=levels)


PREPARATIONS.add("coarse", Preparation("coarse", _coarse_frame, one_table=True))
