"""Titanic: whether a passenger survived."""

import pandas as pd

from isonomy.data.catalog import DATASETS, Entry, as_categories, check_table, table_of
from isonomy.data.dataset import Dataset, DatasetInfo
from isonomy.data.fetch import File, open_file
from isonomy.data.wheels import EVALML

__all__ = ["load_titanic"]

TITLE = "Titanic: did a passenger survive?"
FILES = (
    File(
        dataset="titanic",
        name="titanic.csv",
        sha256="7d118fef8b6ccf7f81111877bc388536f7b1e498a655e3d649d19aaa010e9f6f",
        size=61_194,
        wheel=EVALML,
        member="evalml/tests/data/titanic.csv",
    ),
)
COLUMNS = (
    "PassengerId",
    "Survived",
    "Pclass",
    "Name",
    "Sex",
    "Age",
    "SibSp",
    "Parch",
    "Ticket",
    "Fare",
    "Cabin",
    "Embarked",
)
ASIDE = ("PassengerId", "Name", "Ticket")
INFO = DatasetInfo(
    title=TITLE,
    source="the training file of Kaggle's Titanic competition",
    licence="no clear licence",
    citation="Kaggle. Titanic: machine learning from disaster. After Hind, P., Encyclopedia "
    "Titanica.",
    caveats=(
        (
            "Women are the privileged group (as in Biswas and Rajan 2020): they survived far more "
            "often, as the boats were filled by a rule. The disparity is a fact of history, not of "
            "a classifier."
        ),
        "891 of about 1,300 passengers, and no crew; Age is missing in 177 rows.",
        "Name and Ticket nearly identify a passenger, and stand aside.",
    ),
    sha256={file.name: file.sha256 for file in FILES},
    rules={"Sex": "as recorded; privileged: female"},
)


def load_titanic() -> Dataset:
    """Load Titanic: 891 passengers.

    Returns
    -------
    Dataset
        Protected attribute ``Sex``; favourable label 1 (survived).
    """
    table = table_of("titanic", FILES, _read, version=1)
    return Dataset(
        name="titanic",
        X=table.drop(columns=["Survived", *ASIDE]),
        y=table["Survived"],
        favorable=1,
        sensitive=table[["Sex"]],
        privileged={"Sex": "female"},
        aside=table[list(ASIDE)],
        info=INFO,
    )


def _read() -> pd.DataFrame:
    with open_file(FILES[0]) as stream:
        table = pd.read_csv(stream)
    table = check_table("titanic", table, rows=891, columns=COLUMNS)
    return as_categories(table, ("Name", "Sex", "Ticket", "Cabin", "Embarked"))


DATASETS.add("titanic", Entry("titanic", TITLE, 891, ("Sex",), load_titanic, FILES))
