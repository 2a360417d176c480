"""KDD census: whether a person has an income of more than 50,000 dollars."""

import pandas as pd

from isonomy.data.catalog import read_card
from isonomy.data.dataset import Dataset
from isonomy.data.fetch import File, open_file

CARD = read_card(__file__)
CODES = ["industry_code", "occupation_code", "own_business", "veterans_benefits", "year"]
INCOME = {"- 50000.": "50,000 or less", "50000+.": "more than 50,000"}


@CARD.register
def load_kdd_census() -> Dataset:
    """Load the KDD census: 299,285 people, weighted.

    Returns
    -------
    Dataset
        Protected attributes ``sex`` and ``race``; favourable label more than 50,000.
    """
    table = CARD.table(lambda: pd.concat(map(_read, CARD.files), ignore_index=True))
    return Dataset(
        name="kdd_census",
        X=table.drop(columns=["income", "instance_weight"]),
        y=table["income"],
        favorable=INCOME["50000+."],
        sensitive=table[["sex", "race"]],
        privileged={"sex": "Male", "race": "White"},
        weight=table["instance_weight"].to_numpy(),
        info=CARD.info,
    )


def _read(file: File) -> pd.DataFrame:
    with open_file(file) as stream:
        table = pd.read_csv(
            stream, header=None, names=CARD.columns, skipinitialspace=True, na_values="?",
            keep_default_na=False,
        )  # fmt: skip
    codes = {name: table[name].astype(str) for name in CODES}
    return table.assign(**codes, income=table["income"].str.strip().map(INCOME))
