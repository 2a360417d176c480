"""COMPAS: whether a defendant is arrested again within two years."""

import pandas as pd

from isonomy.data.catalog import read_card
from isonomy.data.dataset import Dataset
from isonomy.data.fetch import open_file

CARD = read_card(__file__)
LABEL = "two_year_recid"
# What the usual filter looks at, and COMPAS's own verdict: known, but not to be learned from.
ASIDE = ["days_b_screening_arrest", "is_recid", "score_text", "decile_score"]


@CARD.register
def load_compas(*, filtered: bool = False) -> Dataset:
    """Load COMPAS: 7,214 rows, or those of the usual filter.

    Parameters
    ----------
    filtered : bool, default False
        Keep only the 6,172 rows that ProPublica's analysis kept.

    Returns
    -------
    Dataset
        Protected attributes ``sex`` and ``race``; favourable label 0 (not arrested again).
    """
    table = CARD.table(_read)
    if filtered:
        table = table[usual_filter(table)].reset_index(drop=True)
    return Dataset(
        name="compas",
        X=table.drop(columns=[*ASIDE, LABEL]),
        y=table[LABEL],
        favorable=0,
        sensitive=table[["sex", "race"]],
        privileged={"sex": "Female", "race": "Caucasian"},
        aside=table[ASIDE],
        info=CARD.info,
    )


def usual_filter(table: pd.DataFrame) -> "pd.Series[bool]":
    """Return which rows of the whole table (``dataset.frame()``) ProPublica's analysis kept.

    Its fourth condition, a known score text, holds for every row that passes the first.
    """
    return (
        table["days_b_screening_arrest"].between(-30, 30)
        & (table["is_recid"] != -1)
        & (table["c_charge_degree"] != "O")
    )


def _read() -> pd.DataFrame:
    with open_file(CARD.files[0]) as stream:
        return pd.read_csv(stream, usecols=CARD.columns)
