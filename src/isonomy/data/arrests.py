"""Toronto arrests: whether someone arrested for a little marijuana is released with a summons."""

import pandas as pd

from isonomy.data.catalog import read_card
from isonomy.data.dataset import Dataset
from isonomy.data.fetch import read_bytes

CARD = read_card(__file__)


@CARD.register
def load_arrests() -> Dataset:
    """Load the Toronto arrests: 5,226 people.

    Returns
    -------
    Dataset
        Protected attributes ``colour`` and ``sex``; favourable label Yes (released).
    """
    table = CARD.table(lambda: pd.read_csv(read_bytes(CARD.files[0]), compression="zip"))
    return Dataset(
        name="arrests",
        X=table.drop(columns="released"),
        y=table["released"],
        favorable="Yes",
        sensitive=table[["colour", "sex"]],
        privileged={"colour": "White", "sex": "Male"},
        info=CARD.info,
    )
