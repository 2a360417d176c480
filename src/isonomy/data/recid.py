"""Recidivism in North Carolina: whether a released prisoner stays out of prison."""

import pandas as pd

from isonomy.data.catalog import read_card
from isonomy.data.dataset import Dataset
from isonomy.data.fetch import read_bytes

CARD = read_card(__file__)
ASIDE = ["follow", "durat", "ldurat"]  # known only afterwards


@CARD.register
def load_recid() -> Dataset:
    """Load recidivism in North Carolina: 1,445 people.

    Returns
    -------
    Dataset
        Protected attribute ``race``; favourable label 1 (did not return while followed).
    """
    table = CARD.table(lambda: pd.read_csv(read_bytes(CARD.files[0]), compression="bz2"))
    people = pd.DataFrame(
        {"race": pd.Categorical(table["black"].map({1: "black", 0: "not black"}))}
    )
    return Dataset(
        name="recid",
        X=pd.concat([people, table.drop(columns=["cens", "black", *ASIDE])], axis=1),
        y=table["cens"],
        favorable=1,
        sensitive=people,
        privileged={"race": "not black"},
        aside=table[ASIDE],
        info=CARD.info,
    )
