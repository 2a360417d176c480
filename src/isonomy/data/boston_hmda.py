"""Boston HMDA: whether an application for a mortgage was approved."""

import pandas as pd

from isonomy.data.catalog import read_card
from isonomy.data.dataset import Dataset
from isonomy.data.fetch import read_bytes

CARD = read_card(__file__)
# The decision, what became known with it or after it, and the lender's judgement of the file; and
# the area, which is the same for all.
ASIDE = ["action", "reject", "typur", "inson", "unver", "review", "gdlin", "msa"]
# Columns that say again what mortg, unit and rep say.
RECODED = ["mortno", "mortperf", "mortlat1", "mortlat2", "multi", "thick"]
RACES = {"black": "black", "hispan": "Hispanic", "white": "white"}
CODES = ["occ", "emp", "yjob", "mortg", "cons", "fixadj", "prop"]


@CARD.register
def load_boston_hmda() -> Dataset:
    """Load Boston HMDA: 1,989 applications for a mortgage.

    Returns
    -------
    Dataset
        Protected attributes ``race`` and ``sex``; favourable label 1 (approved).
    """
    table = CARD.table(_read, categories=CODES)
    people = pd.DataFrame(
        {
            "race": pd.Categorical(table[list(RACES)].idxmax(axis=1).map(RACES)),
            "sex": pd.Categorical(table["male"].map({1.0: "male", 0.0: "female"})),
        }
    )
    left_out = ["approve", *ASIDE, *RECODED, *RACES, "male"]
    return Dataset(
        name="boston_hmda",
        X=pd.concat([people, table.drop(columns=left_out)], axis=1),
        y=table["approve"],
        favorable=1,
        sensitive=people,
        privileged={"race": "white", "sex": "male"},
        aside=table[ASIDE],
        info=CARD.info,
    )


def _read() -> pd.DataFrame:
    table = pd.read_csv(read_bytes(CARD.files[0]), compression="bz2")
    for column in ("lines", "term"):
        table[column] = table[column].where(table[column] < 999_999)
    return table
