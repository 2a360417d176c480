"""The tables of AIF360: its encoding of five datasets, and its sets of a few coarse columns.

The encoding keeps a dataset's columns in file order, drops rows with a missing value, turns
protected attributes into 1 = privileged, and appends one column per level of every category.

The preparation ``coarse`` is what Optimized Preprocessing needs: it solves a linear program over
all combinations of values, so the columns must be few and coarse. Nothing is scaled. ``Part.frame``
holds the columns before one-hot encoding, which is what the method takes.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy.data.compas import usual_filter
from isonomy.data.dataset import Dataset
from isonomy.data.frames import coded, columns_of
from isonomy.data.meps import CODES
from isonomy.data.prepare import PREPARATIONS, Preparation
from isonomy.errors import InputError

# numbers and protected attributes in file order; then categories
_COLUMNS: dict[str, tuple[str, str]] = {
    "adult": (
        "age education-num race sex capital-gain capital-loss hours-per-week",
        "workclass education marital-status occupation relationship native-country",
    ),
    "compas": (
        "sex age race juv_fel_count juv_misd_count juv_other_count priors_count",
        "age_cat c_charge_degree c_charge_desc",
    ),
    "german": (
        (
            "month credit_amount investment_as_income_percentage residence_since age "
            "number_of_credits people_liable_for sex"
        ),
        (
            "status credit_history purpose savings employment other_debtors property "
            "installment_plans housing skill_level telephone foreign_worker"
        ),
    ),
    "bank": (
        (
            "age duration campaign pdays previous emp.var.rate cons.price.idx cons.conf.idx euribor3m "
            "nr.employed"
        ),
        "job marital education default housing loan contact month day_of_week poutcome",
    ),
    # sex stays two one-hot columns here, as in AIF360: only race is protected
    "meps": ("AGE race PCS42 MCS42 K6SUM42", " ".join(CODES)),
}
_COLUMNS["meps(panel=21)"] = _COLUMNS["meps"]


def aif360_frame(
    dataset: Dataset, attribute: str | None = None, *, fnlwgt: bool = False
) -> pd.DataFrame:
    """Return the frame that AIF360 would encode, less the rows it would drop.

    Parameters
    ----------
    dataset : Dataset
        One of ``adult``, ``compas``, ``german``, ``bank`` and ``meps``.
    attribute : str, optional
        The attribute under test; the frame does not depend on it.
    fnlwgt : bool
        Whether Adult's survey weight is a feature.
    """
    if dataset.name not in _COLUMNS:
        raise InputError(
            f"AIF360's encoding must be used on a dataset that it has ({', '.join(_COLUMNS)}); got "
            f"{dataset.name!r}: use recipe='default'."
        )
    number, category = (words.split() for words in _COLUMNS[dataset.name])
    if fnlwgt:
        number.insert(1, "fnlwgt")
    attributes = [c for c in number if c in dataset.privileged]
    rest = [c for c in (*number, *category) if c not in attributes]
    frame = pd.concat([coded(dataset, attributes), columns_of(dataset, rest)], axis=1)
    keep = frame.notna().all(axis=1).to_numpy()
    for name in attributes:
        keep = keep & dataset.known(name)
    if dataset.name == "compas":
        keep = keep & usual_filter(dataset.frame()).to_numpy()
    return frame.loc[keep, [*number, *category]]


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
            "AIF360 has no coarse set of it."
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
    """Return codes gathered in coarser levels."""
    level = {code: name for name, codes in groups.items() for code in codes}
    return _levels(values.astype(object).map(level).to_numpy(), list(groups))


def _levels(values: NDArray[Any], levels: list[str]) -> pd.Categorical:
    return pd.Categorical(values, categories=levels)


PREPARATIONS.add("coarse", Preparation("coarse", _coarse_frame, one_table=True))
