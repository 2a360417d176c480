"""Ricci v. DeStefano: whether a firefighter passes the examination for promotion."""

import pandas as pd

from isonomy.data.catalog import read_card
from isonomy.data.dataset import Dataset
from isonomy.data.fetch import open_file

CARD = read_card(__file__)
RACES = {"W": "white", "B": "black", "H": "Hispanic"}
PASSING = 70


@CARD.register
def load_ricci() -> Dataset:
    """Load Ricci: 118 firefighters.

    Returns
    -------
    Dataset
        Protected attribute ``race``; favourable label passed (a combined mark of 70 or more).
    """
    table = CARD.table(_read)
    people = pd.DataFrame({"race": pd.Categorical(table["Race"].astype(str).map(RACES))})
    passed = table["Combine"] >= PASSING
    return Dataset(
        name="ricci",
        X=pd.concat([people, table.drop(columns=["Race", "Combine"])], axis=1),
        y=passed.map({True: "passed", False: "failed"}).rename("result"),
        favorable="passed",
        sensitive=people,
        privileged={"race": "white"},
        aside=table[["Combine"]],
        info=CARD.info,
    )


def _read() -> pd.DataFrame:
    with open_file(CARD.files[0]) as stream:
        return pd.read_csv(stream)
