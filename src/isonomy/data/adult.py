"""Adult: whether a person of the 1994 US census earns more than 50,000 dollars a year."""

import pandas as pd

from isonomy.data.catalog import read_card
from isonomy.data.dataset import Dataset
from isonomy.data.fetch import open_file

CARD = read_card(__file__)


@CARD.register
def load_adult() -> Dataset:
    """Load Adult: 48,842 rows, those of adult.test first.

    That is the order in which AIF360 reads the two files; keeping it lets the splits of the
    studies that used AIF360 be replayed row by row.

    Returns
    -------
    Dataset
        Protected attributes ``race`` and ``sex``; favourable label ``>50K``.
    """
    table = CARD.table(_read)
    return Dataset(
        name="adult",
        X=table.drop(columns=["income", "fnlwgt"]),
        y=table["income"],
        favorable=">50K",
        sensitive=table[["race", "sex"]],
        privileged={"race": "White", "sex": "Male"},
        aside=table[["fnlwgt"]],
        info=CARD.info,
    )


def _read() -> pd.DataFrame:
    parts = []
    for file in reversed(CARD.files):
        with open_file(file) as stream:
            parts.append(
                pd.read_csv(
                    stream,
                    names=CARD.columns,
                    header=None,
                    skipinitialspace=True,
                    na_values="?",
                    keep_default_na=False,
                    skiprows=1 if file.name == "adult.test" else 0,
                )
            )
    table = pd.concat(parts, ignore_index=True)
    table["income"] = table["income"].str.rstrip(".")  # adult.test ends its labels with a stop
    return table
