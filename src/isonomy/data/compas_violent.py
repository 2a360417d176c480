"""COMPAS, violent: whether a defendant is arrested for a violent offence within two years."""

import pandas as pd

from isonomy.data.catalog import read_card
from isonomy.data.compas import usual_filter
from isonomy.data.dataset import Dataset
from isonomy.data.fetch import open_file

CARD = read_card(__file__)
LABEL = "two_year_recid"
ASIDE = ["days_b_screening_arrest", "is_recid", "v_score_text", "v_decile_score"]


@CARD.register
def load_compas_violent(*, filtered: bool = False) -> Dataset:
    """Load COMPAS, violent: 4,743 rows, or those of the usual filter.

    Parameters
    ----------
    filtered : bool, default False
        Keep only the 4,020 rows that ProPublica's analysis kept.

    Returns
    -------
    Dataset
        Protected attributes ``sex`` and ``race``; favourable label 0 (not arrested for violence).
    """
    table = CARD.table(_read)
    if filtered:
        table = table[usual_filter(table)].reset_index(drop=True)
    return Dataset(
        name="compas_violent",
        X=table.drop(columns=[*ASIDE, LABEL]),
        y=table[LABEL],
        favorable=0,
        sensitive=table[["sex", "race"]],
        privileged={"sex": "Female", "race": "Caucasian"},
        aside=table[ASIDE],
        info=CARD.info,
    )


def _read() -> pd.DataFrame:
    with open_file(CARD.files[0]) as stream:
        return pd.read_csv(stream, usecols=CARD.columns)
