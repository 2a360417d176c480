"""Law school: whether a student passes the bar examination at the first attempt."""

import pandas as pd

from isonomy.data.catalog import read_card
from isonomy.data.dataset import Dataset
from isonomy.data.fetch import read_bytes

CARD = read_card(__file__)
SEX = {"1": "female", "2": "male"}


@CARD.register
def load_law_school() -> Dataset:
    """Load law school: 21,791 students.

    Returns
    -------
    Dataset
        Protected attributes ``race`` and ``sex``; favourable label 1 (passed at once).
    """
    table = CARD.table(_read)
    return Dataset(
        name="law_school",
        X=table.drop(columns=["ZFYA", "PF"]),
        y=table["PF"],
        favorable=1,
        sensitive=table[["race", "sex"]],
        privileged={"race": "White", "sex": "male"},
        aside=table[["ZFYA"]],
        info=CARD.info,
    )


def _read() -> pd.DataFrame:
    wide = pd.read_csv(read_bytes(CARD.files[0]), compression="zip")
    coded = pd.DataFrame(
        {
            name: wide.filter(regex=f"^{prefix}_").idxmax(axis=1).str[len(prefix) + 1 :]
            for name, prefix in {"race": "Race", "sex": "Sex", "PF": "PF"}.items()
        }
    )
    coded["sex"], coded["PF"] = coded["sex"].map(SEX), coded["PF"].astype(int)
    return wide[["LSAT", "UGPA", "ZFYA"]].join(coded)
