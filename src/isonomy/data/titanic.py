"""Titanic: whether a passenger survived."""

import pandas as pd

from isonomy.data.catalog import read_card
from isonomy.data.dataset import Dataset
from isonomy.data.fetch import open_file

CARD = read_card(__file__)
ASIDE = ["PassengerId", "Name", "Ticket"]


@CARD.register
def load_titanic() -> Dataset:
    """Load Titanic: 891 passengers.

    Returns
    -------
    Dataset
        Protected attribute ``Sex``; favourable label 1 (survived).
    """
    table = CARD.table(_read)
    return Dataset(
        name="titanic",
        X=table.drop(columns=["Survived", *ASIDE]),
        y=table["Survived"],
        favorable=1,
        sensitive=table[["Sex"]],
        privileged={"Sex": "female"},
        aside=table[ASIDE],
        info=CARD.info,
    )


def _read() -> pd.DataFrame:
    with open_file(CARD.files[0]) as stream:
        return pd.read_csv(stream)
