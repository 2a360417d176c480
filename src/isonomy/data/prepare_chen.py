"""``chen`` and ``fairea``: the encoding of AIF360, which both studies built on.

AIF360 keeps a dataset's columns in file order, drops rows with a missing value, turns protected
attributes into 1 = privileged, and appends one column per level of every category. Fairea then
standardises the features on the training rows, Chen et al. scale them to 0..1 there.

References
----------
Hort, M., Zhang, J. M., Sarro, F. and Harman, M. (2021). Fairea. ESEC/FSE 2021.
Chen, Z., Zhang, J. M., Sarro, F. and Harman, M. (2023). A comprehensive empirical study of bias
mitigation methods for machine learning classifiers. TOSEM 32(4).
"""

from dataclasses import dataclass

import pandas as pd

from isonomy.data.compas import usual_filter
from isonomy.data.dataset import Dataset
from isonomy.data.frames import coded, columns_of
from isonomy.data.meps import CODES
from isonomy.data.prepare import PREPARATIONS, Preparation
from isonomy.errors import InputError

__all__: list[str] = []


@dataclass(frozen=True)
class Columns:
    """The columns of AIF360's encoding: numbers and attributes in file order, then categories."""

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
    "bank": Columns(
        (
            "age",
            "duration",
            "campaign",
            "pdays",
            "previous",
            "emp.var.rate",
            "cons.price.idx",
            "cons.conf.idx",
            "euribor3m",
            "nr.employed",
        ),
        (
            "job",
            "marital",
            "education",
            "default",
            "housing",
            "loan",
            "contact",
            "month",
            "day_of_week",
            "poutcome",
        ),
    ),
    # sex stays two one-hot columns here, as in AIF360: only race was under test.
    "meps": Columns(("AGE", "race", "PCS42", "MCS42", "K6SUM42"), tuple(CODES)),
}
AIF360_COLUMNS["meps(panel=21)"] = AIF360_COLUMNS["meps"]


def aif360_frame(dataset: Dataset, columns: Columns) -> pd.DataFrame:
    """Build the frame that AIF360 would encode, less the rows it would drop."""
    attributes = [c for c in columns.number if c in dataset.privileged]
    rest = [c for c in (*columns.number, *columns.category) if c not in attributes]
    frame = pd.concat([coded(dataset, attributes), columns_of(dataset, rest)], axis=1)
    keep = frame.notna().all(axis=1).to_numpy()
    for attribute in attributes:
        keep = keep & dataset.known(attribute)
    if dataset.name == "compas":
        keep = keep & usual_filter(dataset.frame()).to_numpy()
    return frame.loc[keep, [*columns.number, *columns.category]]


def _chen_frame(dataset: Dataset, attribute: str | None) -> pd.DataFrame:
    if dataset.name not in AIF360_COLUMNS:
        raise InputError(
            f"Preparations 'chen' and 'fairea' must be used on a dataset of the studies "
            f"({', '.join(AIF360_COLUMNS)}); got {dataset.name!r}: use recipe='default'."
        )
    return aif360_frame(dataset, AIF360_COLUMNS[dataset.name])


PREPARATIONS.add("chen", Preparation("chen", _chen_frame, scale="minmax", one_table=True))
PREPARATIONS.add("fairea", Preparation("fairea", _chen_frame, scale="standard", one_table=True))
