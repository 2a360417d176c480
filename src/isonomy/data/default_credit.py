"""Default of credit card clients: whether a client in Taiwan fails to pay next month."""

import numpy as np
import pandas as pd

from isonomy.data.catalog import read_card
from isonomy.data.dataset import Dataset
from isonomy.data.fetch import open_file

CARD = read_card(__file__)
LABEL = "default.payment.next.month"
PAY = ("PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6")
MONEY = tuple(f"{kind}{i}" for kind in ("BILL_AMT", "PAY_AMT") for i in range(1, 7))
CODES = ("SEX", "EDUCATION", "MARRIAGE")
COLUMNS = ("ID", "LIMIT_BAL", *CODES, "AGE", *PAY, *MONEY, LABEL)


@CARD.register
def load_default_credit() -> Dataset:
    """Load default of credit card clients: 30,000 rows.

    Returns
    -------
    Dataset
        Protected attribute ``sex``; favourable label 0 (pays).
    """
    table = CARD.table(_read, columns=COLUMNS, categories=CODES)
    return Dataset(
        name="default_credit",
        X=table.drop(columns=["ID", LABEL]),
        y=table[LABEL],
        favorable=0,
        sensitive=pd.DataFrame(
            {"sex": pd.Categorical(np.where(table["SEX"] == 1, "male", "female"))}
        ),
        privileged={"sex": "male"},
        sources={"sex": ("SEX",)},
        aside=table[["ID"]],
        info=CARD.info,
    )


def _read() -> pd.DataFrame:
    with open_file(CARD.files[0]) as stream:
        return pd.read_csv(stream)
