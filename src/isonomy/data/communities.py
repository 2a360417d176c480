"""Communities and crime: whether a community's rate of violent crime is above the median."""

import numpy as np
import pandas as pd

from isonomy.data.catalog import read_card
from isonomy.data.dataset import Dataset
from isonomy.data.fetch import open_file

CARD = read_card(__file__)
RATE, SHARE = "ViolentCrimesPerPop", "racepctblack"
HIGH, MORE = 0.15, 0.06
# The number that the label is cut from, where the community lies, and folds for validation.
ASIDE = [RATE, "state", "county", "community", "communityname", "fold"]


@CARD.register
def load_communities() -> Dataset:
    """Load communities and crime: 1,994 communities.

    Returns
    -------
    Dataset
        Protected attribute ``residents``; favourable label low (violent crime at the median or
        below).
    """
    table = CARD.table(_read)
    high = np.where(table[RATE] > HIGH, "high", "low")
    more = np.where(table[SHARE] > MORE, "more black", "fewer black")
    return Dataset(
        name="communities",
        X=table.drop(columns=ASIDE),
        y=pd.Series(high, name="violent_crime"),
        favorable="low",
        sensitive=pd.DataFrame({"residents": pd.Categorical(more)}),
        privileged={"residents": "fewer black"},
        sources={"residents": (SHARE,)},
        aside=table[ASIDE],
        info=CARD.info,
    )


def _read() -> pd.DataFrame:
    with open_file(CARD.files[0]) as stream:
        return pd.read_csv(stream, header=None, names=CARD.columns, na_values="?")
