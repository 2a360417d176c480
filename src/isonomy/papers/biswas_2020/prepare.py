"""``kaggle40``: the encodings of the 40 Kaggle models, with the hooks that each model sets.

Every model of the study picks columns and a scaling of its own; ``model="AC2"`` sets what the line
of that model in ``models.csv`` says (columns only: how its script scaled them is up to the
workbench):

- ``keep``: the numeric columns to keep. As in AIF360, protected attributes and every categorical
  column stay whatever ``keep`` says.
- ``drop``: the columns to drop. Given explicitly it overrides AIF360's own list, so Adult's survey
  weight fnlwgt comes back as a feature unless it is named: four models of the study ran so.
- ``scale``: ``"standard"``, ``"minmax"`` or None; pass it to ``prepare`` or ``encode``.

German is the grouped set of I6 of the study's code; Titanic and Home Credit are integer codes and
imputed medians. As released, Home Credit's default (TARGET 1) is favourable and women are
privileged; the first is this recipe's, the second is seen in the frame. HC2 alone numbered its
categories as they appear, which made men privileged, and kept complete rows only.

``kaggle40_corrected`` has the same columns with what the paper says: repaying is favourable and men
are privileged in Home Credit; fnlwgt, which is no feature, and Titanic's row numbers (Name, Ticket)
are left out; everything is standardised on the training rows, so that no column outweighs the
others among neighbours.

References
----------
Biswas, S. and Rajan, H. (2020). Do the machine learning models on a crowd sourced platform exhibit
bias? ESEC/FSE 2020.
"""

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from isonomy._validate import unknown_name
from isonomy.data.aif360 import GERMAN_GROUPS, aif360_frame, grouped
from isonomy.data.dataset import Dataset
from isonomy.data.frames import coded, columns_of
from isonomy.data.prepare import PREPARATIONS, Preparation
from isonomy.errors import InputError
from isonomy.papers.biswas_2020.models import kernel

STATUS = {"200+": ("A13",), "<200": ("A11", "A12"), "None": ("A14",)}
_NO_FEATURES = ("fnlwgt", "Name", "Ticket")
TITANIC_CODES = ("Sex", "Cabin", "Ticket", "SibSp", "Embarked", "Parch", "Pclass", "Name")


def _kaggle40_frame(
    dataset: Dataset,
    attribute: str | None,
    *,
    model: str | None = None,
    keep: Collection[str] | None = None,
    drop: Collection[str] | None = None,
) -> pd.DataFrame:
    if model is not None:
        keep, drop = kernel(model).keep, kernel(model).drop
    if dataset.name in {"adult", "german", "bank"}:
        frame = _aif360(dataset, fnlwgt=drop is not None)
    elif dataset.name == "titanic":
        frame = _titanic(dataset)
    elif dataset.name == "home_credit":
        frame = _home_credit(dataset) if model != "HC2" else _home_credit_complete(dataset)
    else:
        raise InputError(
            f"Preparation 'kaggle40' must be used on a dataset of the study (adult, bank, german, "
            f"home_credit, titanic); got {dataset.name!r}: use recipe='default'."
        )
    for column in (*(keep or ()), *(drop or ())):
        if column not in frame.columns:
            raise unknown_name("column", column, list(frame.columns))
    gone = set(drop or ())
    if keep is not None:
        number = {str(c) for c in frame.select_dtypes(exclude="category").columns}
        # as in AIF360 the attribute under test stays; of another one it knows nothing
        gone |= number - set(keep) - set(dataset.attributes if attribute is None else [attribute])
    return frame[[c for c in frame.columns if c not in gone]]


def _aif360(dataset: Dataset, *, fnlwgt: bool) -> pd.DataFrame:
    frame = aif360_frame(dataset, fnlwgt=fnlwgt and dataset.name == "adult")
    if dataset.name == "german":
        groups: dict[str, dict[str, tuple[str, ...]]] = {"status": STATUS, **GERMAN_GROUPS}
        for column, levels in groups.items():
            frame[column] = grouped(frame[column], levels)
    return frame


def _titanic(dataset: Dataset) -> pd.DataFrame:
    frame = pd.DataFrame(index=range(len(dataset)))
    for column in ("Age", "Fare"):
        values = dataset.X[column]
        frame[column] = values.fillna(values.median()).to_numpy()
        frame[f"{column}_invalid"] = values.isna().to_numpy().astype(float)
    codes = columns_of(dataset, TITANIC_CODES)
    for column in TITANIC_CODES:
        frame[column] = _by_appearance(codes[column])
    return frame.assign(Sex=coded(dataset, ["Sex"])["Sex"])


def _by_appearance(values: "pd.Series[Any]") -> "pd.Series[float]":
    """Code values by the order in which they appear; a missing one is -2."""
    codes, _ = pd.factorize(values)
    return pd.Series(np.where(codes < 0, -2, codes), index=values.index).astype(float)


def _home_credit(dataset: Dataset) -> pd.DataFrame:
    frame = dataset.X.drop(columns="CODE_GENDER").reset_index(drop=True)
    for column in frame.select_dtypes("category").columns:
        if len(frame[column].cat.categories) <= 2:
            frame[column] = frame[column].cat.codes.astype(float)
    number = frame.select_dtypes("number").columns
    frame[number] = frame[number].fillna(frame[number].median())
    sex = (dataset.sensitive["sex"] == "female").to_numpy().astype(np.int8)
    return pd.concat([pd.DataFrame({"sex": sex}), frame], axis=1)


def _home_credit_complete(dataset: Dataset) -> pd.DataFrame:
    frame = dataset.X.drop(columns="CODE_GENDER").reset_index(drop=True)
    complete = frame.notna().all(axis=1).to_numpy() & dataset.known("sex")
    for column in frame.select_dtypes("category").columns:
        frame[column] = _by_appearance(frame[column])
    sex = coded(dataset, ["sex"])
    return pd.concat([sex, frame], axis=1)[complete]


def _corrected_frame(
    dataset: Dataset, attribute: str | None, *, model: str | None = None
) -> pd.DataFrame:
    frame = _kaggle40_frame(dataset, attribute, model=model)
    if dataset.name == "home_credit":
        frame = frame.assign(sex=coded(dataset, ["sex"])["sex"])[dataset.known("sex")[frame.index]]
    return frame.drop(columns=[c for c in _NO_FEATURES if c in frame.columns])


def _favorable(dataset: Dataset) -> Any:
    return 1 if dataset.name == "home_credit" else dataset.favorable


PREPARATIONS.add("kaggle40", Preparation("kaggle40", _kaggle40_frame, favorable=_favorable))
PREPARATIONS.add(
    "kaggle40_corrected", Preparation("kaggle40_corrected", _corrected_frame, scale="standard")
)
