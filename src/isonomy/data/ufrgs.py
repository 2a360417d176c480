"""UFRGS: whether a student's grade of the first three semesters is above 3 of 4."""

import pandas as pd

from isonomy.data.catalog import read_card
from isonomy.data.dataset import Dataset
from isonomy.data.fetch import read_bytes

CARD = read_card(__file__)


@CARD.register
def load_ufrgs() -> Dataset:
    """Load UFRGS: 43,303 students.

    Returns
    -------
    Dataset
        Protected attribute ``gender``; favourable label 1 (a grade above 3).
    """
    table = CARD.table(_read)
    return Dataset(
        name="ufrgs",
        X=table.drop(columns="gpa"),
        y=table["gpa"],
        favorable=1,
        sensitive=table[["gender"]],
        privileged={"gender": "female"},
        info=CARD.info,
    )


def _read() -> pd.DataFrame:
    table = pd.read_csv(read_bytes(CARD.files[0]), compression="zip")
    return table.assign(
        gender=table["gender"].map({0: "female", 1: "male"}), gpa=table["gpa"].astype(int)
    )
