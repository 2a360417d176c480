"""COMPAS: whether a defendant is arrested again within two years."""

import pandas as pd

from isonomy.data.catalog import DATASETS, Entry, as_categories, check_table, table_of
from isonomy.data.dataset import Dataset, DatasetInfo
from isonomy.data.fetch import File, open_file
from isonomy.data.wheels import AIF360

__all__ = ["load_compas"]

TITLE = "COMPAS: is a defendant of Broward County arrested again within two years?"
FILES = (
    File(
        dataset="compas",
        name="compas-scores-two-years.csv",
        sha256="c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
        size=2_546_489,
        wheel=AIF360,
        member="aif360/data/raw/compas/compas-scores-two-years.csv",
        url="https://raw.githubusercontent.com/propublica/compas-analysis/master/"
        "compas-scores-two-years.csv",
    ),
)
FEATURES = (
    "sex",
    "age",
    "age_cat",
    "race",
    "juv_fel_count",
    "juv_misd_count",
    "juv_other_count",
    "priors_count",
    "c_charge_degree",
    "c_charge_desc",
)
# What the usual filter looks at, and COMPAS's own verdict: known, but not to be learned from.
ASIDE = ("days_b_screening_arrest", "is_recid", "score_text", "decile_score")
LABEL = "two_year_recid"
INFO = DatasetInfo(
    title=TITLE,
    source="ProPublica, compas-analysis (Broward County, Florida, 2013 and 2014)",
    licence="published by ProPublica without a licence file",
    citation="Angwin, J., Larson, J., Mattu, S. and Kirchner, L. (2016). Machine Bias. ProPublica.",
    caveats=(
        (
            "The label is a new arrest, not a new crime: where policing differs between groups, "
            "the label carries that difference, and a model that fits it well repeats it."
        ),
        "Not being arrested again is the favourable label (0).",
        (
            "AIF360 and the studies built on it call women privileged for the attribute sex, as "
            "women are the group with the better outcome; so does this loader."
        ),
        (
            "ProPublica's filter (screened within 30 days of the arrest, a known outcome, no "
            "ordinary traffic offence) leaves 6,172 of 7,214 rows, and 6,167 with a charge text."
        ),
        (
            "Defendants screened late in the window were kept only if arrested again, which "
            "inflates the rate of recidivism (Barenstein 2019)."
        ),
    ),
    sha256={file.name: file.sha256 for file in FILES},
    rules={
        "sex": "as recorded; privileged: Female",
        "race": "as recorded; privileged: Caucasian",
    },
)


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
    table = table_of("compas", FILES, _read, version=1)
    if filtered:
        table = table[usual_filter(table)].reset_index(drop=True)
    return Dataset(
        name="compas",
        X=table[list(FEATURES)],
        y=table[LABEL],
        favorable=0,
        sensitive=table[["sex", "race"]],
        privileged={"sex": "Female", "race": "Caucasian"},
        aside=table[list(ASIDE)],
        info=INFO,
    )


def usual_filter(table: pd.DataFrame) -> "pd.Series[bool]":
    """Tell which rows of the whole table (``dataset.frame()``) ProPublica's analysis kept.

    Its fourth condition, a known score text, holds for every row that passes the first.
    """
    return (
        table["days_b_screening_arrest"].between(-30, 30)
        & (table["is_recid"] != -1)
        & (table["c_charge_degree"] != "O")
    )


def _read() -> pd.DataFrame:
    columns = [*FEATURES, *ASIDE, LABEL]
    with open_file(FILES[0]) as stream:
        table = pd.read_csv(stream, usecols=columns)[columns]
    table = check_table("compas", table, rows=7_214, columns=columns)
    return as_categories(
        table, ("sex", "age_cat", "race", "c_charge_degree", "c_charge_desc", "score_text")
    )


DATASETS.add("compas", Entry("compas", TITLE, 7_214, ("sex", "race"), load_compas, FILES))
