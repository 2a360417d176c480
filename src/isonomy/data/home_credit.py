"""Home Credit: whether an applicant for a loan has difficulties to repay it."""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from isonomy.data.catalog import as_categories, read_card
from isonomy.data.dataset import Dataset
from isonomy.data.fetch import sha256_of
from isonomy.errors import DataUnavailable

CARD = read_card(__file__)
_HOUSING = (
    "APARTMENTS BASEMENTAREA YEARS_BEGINEXPLUATATION YEARS_BUILD COMMONAREA ELEVATORS ENTRANCES "
    "FLOORSMAX FLOORSMIN LANDAREA LIVINGAPARTMENTS LIVINGAREA NONLIVINGAPARTMENTS NONLIVINGAREA"
)
_FIRST = (
    "SK_ID_CURR TARGET NAME_CONTRACT_TYPE CODE_GENDER FLAG_OWN_CAR FLAG_OWN_REALTY "
    "CNT_CHILDREN AMT_INCOME_TOTAL AMT_CREDIT AMT_ANNUITY AMT_GOODS_PRICE NAME_TYPE_SUITE "
    "NAME_INCOME_TYPE NAME_EDUCATION_TYPE NAME_FAMILY_STATUS NAME_HOUSING_TYPE "
    "REGION_POPULATION_RELATIVE DAYS_BIRTH DAYS_EMPLOYED DAYS_REGISTRATION DAYS_ID_PUBLISH "
    "OWN_CAR_AGE FLAG_MOBIL FLAG_EMP_PHONE FLAG_WORK_PHONE FLAG_CONT_MOBILE FLAG_PHONE "
    "FLAG_EMAIL OCCUPATION_TYPE CNT_FAM_MEMBERS REGION_RATING_CLIENT "
    "REGION_RATING_CLIENT_W_CITY WEEKDAY_APPR_PROCESS_START HOUR_APPR_PROCESS_START "
    "REG_REGION_NOT_LIVE_REGION REG_REGION_NOT_WORK_REGION LIVE_REGION_NOT_WORK_REGION "
    "REG_CITY_NOT_LIVE_CITY REG_CITY_NOT_WORK_CITY LIVE_CITY_NOT_WORK_CITY ORGANIZATION_TYPE "
    "EXT_SOURCE_1 EXT_SOURCE_2 EXT_SOURCE_3"
)
_LATER = (
    "FONDKAPREMONT_MODE HOUSETYPE_MODE TOTALAREA_MODE WALLSMATERIAL_MODE EMERGENCYSTATE_MODE "
    "OBS_30_CNT_SOCIAL_CIRCLE DEF_30_CNT_SOCIAL_CIRCLE OBS_60_CNT_SOCIAL_CIRCLE "
    "DEF_60_CNT_SOCIAL_CIRCLE DAYS_LAST_PHONE_CHANGE"
)
COLUMNS = (
    *_FIRST.split(),
    *(f"{name}_{kind}" for kind in ("AVG", "MODE", "MEDI") for name in _HOUSING.split()),
    *_LATER.split(),
    *(f"FLAG_DOCUMENT_{i}" for i in range(2, 22)),
    *(f"AMT_REQ_CREDIT_BUREAU_{unit}" for unit in ("HOUR", "DAY", "WEEK", "MON", "QRT", "YEAR")),
)


@CARD.register
def load_home_credit(*, path: str | Path | None = None, partial: bool = False) -> Dataset:
    """Load Home Credit: 307,511 applications, from a file that the user has brought.

    Parameters
    ----------
    path : str or path, optional
        application_train.csv, or the folder that holds it; by default ``files/home_credit`` in
        the cache folder.
    partial : bool, default False
        Accept a file with fewer rows than the original.

    Returns
    -------
    Dataset
        Protected attribute ``sex``; favourable label 0 (repays).
    """
    file = CARD.folder if path is None else Path(path).expanduser()
    file = file / "application_train.csv" if not file.suffix else file
    if not file.is_file():
        raise DataUnavailable(
            f"application_train.csv of dataset 'home_credit' must lie at {file}; it does not: "
            f"{CARD.instructions}."
        )
    table = pd.read_csv(file)
    missing = [c for c in COLUMNS if c not in table.columns]
    if missing or (len(table) != CARD.rows and not partial):
        result = f"lacks {missing[0]!r}" if missing else f"has {len(table):,} rows"
        raise DataUnavailable(
            f"{file} must be Kaggle's application_train.csv with {CARD.rows:,} rows and "
            f"{len(COLUMNS)} columns; this one {result}: for a part of it, pass partial=True."
        )
    table = as_categories(table[list(COLUMNS)])
    sex = table["CODE_GENDER"].astype(object).map({"M": "male", "F": "female"})
    return Dataset(
        name="home_credit",
        X=table.drop(columns=["SK_ID_CURR", "TARGET"]),
        y=table["TARGET"],
        favorable=0,
        sensitive=pd.DataFrame({"sex": sex.astype("category")}),
        privileged={"sex": "male"},
        sources={"sex": ("CODE_GENDER",)},
        aside=table[["SK_ID_CURR"]],
        info=replace(CARD.info, sha256={file.name: sha256_of(file)}),
    )
