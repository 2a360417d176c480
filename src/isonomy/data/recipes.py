"""The prepared frames of the studies, dataset by dataset."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from isonomy.data.compas import usual_filter
from isonomy.data.dataset import Dataset
from isonomy.data.prepare import PREPARATIONS, Preparation
from isonomy.errors import InputError

__all__: list[str] = []


@dataclass(frozen=True)
class Columns:
    """The columns of AIF360's encoding: numbers in file order, then the one-hot ones."""

    number: tuple[str, ...]
    category: tuple[str, ...]


AIF360_COLUMNS = {
    "adult": Columns(
        ("age", "education-num", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
        (
            "workclass",
            "education",
            "marital-status",
            "occupation",
            "relationship",
            "native-country",
        ),
    ),
    "compas": Columns(
        (
            "sex",
            "age",
            "race",
            "juv_fel_count",
            "juv_misd_count",
            "juv_other_count",
            "priors_count",
        ),
        ("age_cat", "c_charge_degree", "c_charge_desc"),
    ),
    "german": Columns(
        (
            "month",
            "credit_amount",
            "investment_as_income_percentage",
            "residence_since",
            "age",
            "number_of_credits",
            "people_liable_for",
            "sex",
        ),
        (
            "status",
            "credit_history",
            "purpose",
            "savings",
            "employment",
            "other_debtors",
            "property",
            "installment_plans",
            "housing",
            "skill_level",
            "telephone",
            "foreign_worker",
        ),
    ),
}


def coded(dataset: Dataset, columns: Sequence[str]) -> pd.DataFrame:
    """Take columns of a dataset; a protected attribute comes as 1 = privileged, else 0.

    Where the attribute is not known it is coded as unprivileged, so callers drop such rows.
    """
    return pd.DataFrame(
        {
            c: dataset.sensitive[c].isin(dataset.privileged[c]).to_numpy().astype(np.int8)
            if c in dataset.privileged
            else dataset.X[c].to_numpy()
            if not isinstance(dataset.X[c].dtype, pd.CategoricalDtype)
            else dataset.X[c].array
            for c in columns
        }
    )


def _aif360_frame(dataset: Dataset, attribute: str | None) -> pd.DataFrame:
    columns = _known(dataset, AIF360_COLUMNS, "chen")
    frame = coded(dataset, [*columns.number, *columns.category])
    keep = frame.notna().all(axis=1).to_numpy()
    for name in dataset.attributes:
        keep = keep & dataset.known(name)
    if dataset.name == "compas":
        keep = keep & usual_filter(dataset.frame()).to_numpy()
    return frame[keep]


def _known(dataset: Dataset, table: dict[str, Columns], recipe: str) -> Columns:
    if dataset.name not in table:
        raise InputError(
            f"Preparation {recipe!r} must be used on a dataset of its study "
            f"({', '.join(table)}); got {dataset.name!r}: use recipe='default'."
        )
    return table[dataset.name]


def _coarse_frame(dataset: Dataset, attribute: str | None) -> pd.DataFrame:
    makers = {"adult": _coarse_adult, "compas": _coarse_compas, "german": _coarse_german}
    if dataset.name not in makers:
        raise InputError(
            f"Preparation 'coarse' must be used on {', '.join(makers)}; got {dataset.name!r}: "
            f"there is no coarse set of it in the studies."
        )
    return makers[dataset.name](dataset)


def _coarse_adult(dataset: Dataset) -> pd.DataFrame:
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


def _coarse_compas(dataset: Dataset) -> pd.DataFrame:
    frame = coded(dataset, ["sex", "race", "age_cat"])
    priors = dataset.X["priors_count"].to_numpy()
    frame["priors_count"] = _levels(
        np.where(priors == 0, "0", np.where(priors <= 3, "1 to 3", "More than 3")),
        ["0", "1 to 3", "More than 3"],
    )
    frame["c_charge_degree"] = dataset.X["c_charge_degree"].array
    keep = usual_filter(dataset.frame()) & dataset.X["race"].isin(["African-American", "Caucasian"])
    return frame[keep.to_numpy()]


def _coarse_german(dataset: Dataset) -> pd.DataFrame:
    frame = coded(dataset, ["age", "sex"])
    for column, groups in GERMAN_GROUPS.items():
        level = {code: name for name, codes in groups.items() for code in codes}
        values = dataset.X[column].astype(str).map(level)
        frame[column] = _levels(values.to_numpy(dtype=object), list(groups))
    return frame


GERMAN_GROUPS = {
    "credit_history": {
        "None/Paid": ("A30", "A31", "A32"),
        "Delay": ("A33",),
        "Other": ("A34",),
    },
    "savings": {"500+": ("A63", "A64"), "<500": ("A61", "A62"), "Unknown/None": ("A65",)},
    "employment": {
        "1-4 years": ("A72", "A73"),
        "4+ years": ("A74", "A75"),
        "Unemployed": ("A71",),
    },
}


def _levels(values: NDArray[Any], levels: list[str]) -> pd.Categorical:
    return pd.Categorical(values, categories=levels)


def _default_frame(dataset: Dataset, attribute: str | None) -> pd.DataFrame:
    replaced = {c for a in dataset.privileged for c in (dataset.sources or {})[a]}
    attributes = [a for a in dataset.attributes if a in dataset.privileged]
    rest = [c for c in dataset.X.columns if c not in replaced and c not in attributes]
    frame = pd.concat([coded(dataset, attributes), dataset.X[rest].reset_index(drop=True)], axis=1)
    for column in rest:
        if not pd.api.types.is_numeric_dtype(frame[column]) or frame[column].dtype == bool:
            frame[column] = frame[column].astype("category")
    if attribute is None:
        return frame
    return frame[dataset.known(attribute)]


PREPARATIONS.add("default", Preparation("default", _default_frame, levels="train"))
PREPARATIONS.add("chen", Preparation("chen", _aif360_frame, scale="minmax"))
PREPARATIONS.add("fairea", Preparation("fairea", _aif360_frame, scale="standard"))
PREPARATIONS.add("coarse", Preparation("coarse", _coarse_frame))
