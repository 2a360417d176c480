"""Heart disease (Cleveland): whether a patient has a narrowed coronary artery."""

import numpy as np
import pandas as pd

from isonomy.data.catalog import read_card
from isonomy.data.dataset import Dataset
from isonomy.data.fetch import open_file

CARD = read_card(__file__)
CODES = ("sex", "cp", "fbs", "restecg", "exang", "slope", "thal")


@CARD.register
def load_heart() -> Dataset:
    """Load heart disease (Cleveland): 297 rows without missing values.

    Returns
    -------
    Dataset
        Protected attribute ``sex``; favourable label 0 (no disease).
    """
    table = CARD.table(_read, categories=CODES)
    return Dataset(
        name="heart",
        X=table.drop(columns="num"),
        y=table["num"],
        favorable=0,
        sensitive=pd.DataFrame(
            {"sex": pd.Categorical(np.where(table["sex"] == 1, "male", "female"))}
        ),
        privileged={"sex": "male"},
        info=CARD.info,
    )


def _read() -> pd.DataFrame:
    with open_file(CARD.files[0]) as stream:
        # KEEL's header: lines that begin with @, the data after them.
        table = pd.read_csv(stream, comment="@", header=None, names=CARD.columns)
    return table.astype(dict.fromkeys(CODES, int))
