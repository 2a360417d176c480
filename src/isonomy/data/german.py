"""German credit: whether an applicant for credit is a good or a bad risk."""

import pandas as pd

from isonomy.data.catalog import read_card
from isonomy.data.dataset import Dataset
from isonomy.data.fetch import open_file

CARD = read_card(__file__)
SEX = {"A91": "male", "A92": "female", "A93": "male", "A94": "male", "A95": "female"}
OLDER, YOUNGER = "over 25", "25 or younger"


@CARD.register
def load_german() -> Dataset:
    """Load German credit: 1,000 rows with the A-codes of the original file.

    Returns
    -------
    Dataset
        Protected attributes ``sex`` (derived from personal_status) and ``age`` (over 25 or
        not); favourable label 1 (good risk).
    """
    table = CARD.table(_read)
    return Dataset(
        name="german",
        X=table.drop(columns="credit"),
        y=table["credit"],
        favorable=1,
        sensitive=pd.DataFrame(
            {
                "sex": table["personal_status"].astype(str).map(SEX).astype("category"),
                "age": (table["age"] > 25).map({True: OLDER, False: YOUNGER}).astype("category"),
            }
        ),
        privileged={"sex": "male", "age": OLDER},
        sources={"sex": ("personal_status",), "age": ("age",)},
        info=CARD.info,
    )


def _read() -> pd.DataFrame:
    with open_file(CARD.files[0]) as stream:
        return pd.read_csv(stream, sep=" ", header=None, names=CARD.columns)
