"""MEPS: whether a person of a US household survey uses much health care in a year."""

import warnings
from typing import Literal

import numpy as np
import pandas as pd

from isonomy._validate import unknown_name
from isonomy.data.catalog import DATASETS, Entry, as_categories, check_table, table_of
from isonomy.data.dataset import Dataset, DatasetInfo
from isonomy.data.fetch import File, cache_folder, open_file
from isonomy.data.wheels import AIF360
from isonomy.errors import DataCaveatWarning

__all__ = ["load_meps"]

TITLE = "Medical Expenditure Panel Survey: does a person have ten or more care visits in a year?"
NOTICE = (
    "MEPS is a public use file of the US Agency for Healthcare Research and Quality. Its data use "
    "agreement binds whoever uses it: use the data for statistical reporting and analysis only, "
    "make no attempt to find out who anybody in it is, and do not link it with records that "
    "identify people. Read it at https://meps.ahrq.gov/data_stats/data_use.jsp before you go on."
)
# Per panel: file, year, rows kept.
PANELS = {19: ("h181.csv", "15", 15_830), 21: ("h192.csv", "16", 15_675)}
FILES = {
    19: File(
        dataset="meps",
        name="h181.csv",
        sha256="a6b1621b21561c0eb7924c7c199f0c6222e1ef76715e344cb537a4309bc56ac4",
        size=151_150_879,
        wheel=AIF360,
        member="aif360/data/raw/meps/h181.csv",
    ),
    21: File(
        dataset="meps",
        name="h192.csv",
        sha256="43c41efd961dbe6cacef6b183972941cae74559e9316ddc83aa957f0208a369c",
        size=159_216_264,
        wheel=AIF360,
        member="aif360/data/raw/meps/h192.csv",
    ),
}
# Short name (AIF360's) -> column of the file; yy is the year. Codes below -1 mean that the
# question was refused, not ascertained or inapplicable in a way the studies drop.
CODES = {
    "REGION": "REGION53",
    "SEX": "SEX",
    "MARRY": "MARRY53X",
    "FTSTU": "FTSTU53X",
    "ACTDTY": "ACTDTY53",
    "HONRDC": "HONRDC53",
    "RTHLTH": "RTHLTH53",
    "MNHLTH": "MNHLTH53",
    "HIBPDX": "HIBPDX",
    "CHDDX": "CHDDX",
    "ANGIDX": "ANGIDX",
    "MIDX": "MIDX",
    "OHRTDX": "OHRTDX",
    "STRKDX": "STRKDX",
    "EMPHDX": "EMPHDX",
    "CHBRON": "CHBRON53",
    "CHOLDX": "CHOLDX",
    "CANCERDX": "CANCERDX",
    "DIABDX": "DIABDX",
    "JTPAIN": "JTPAIN53",
    "ARTHDX": "ARTHDX",
    "ARTHTYPE": "ARTHTYPE",
    "ASTHDX": "ASTHDX",
    "ADHDADDX": "ADHDADDX",
    "PREGNT": "PREGNT53",
    "WLKLIM": "WLKLIM53",
    "ACTLIM": "ACTLIM53",
    "SOCLIM": "SOCLIM53",
    "COGLIM": "COGLIM53",
    "DFHEAR42": "DFHEAR42",
    "DFSEE42": "DFSEE42",
    "ADSMOK42": "ADSMOK42",
    "PHQ242": "PHQ242",
    "EMPST": "EMPST53",
    "POVCAT": "POVCATyy",
    "INSCOV": "INSCOVyy",
}
NUMBERS = {"AGE": "AGE53X", "PCS42": "PCS42", "MCS42": "MCS42", "K6SUM42": "K6SUM42"}
RACE = {"RACEV2X": "RACEV2X", "HISPANX": "HISPANX"}
VISITS = ("OBTOTVyy", "OPTOTVyy", "ERTOTyy", "IPNGTDyy", "HHTOTDyy")
# Must be known (0 or more), and must not be refused (-1 or more).
KNOWN = ("REGION", "AGE", "MARRY", "ASTHDX")
ANSWERED = (*(c for c in CODES if c not in {"REGION", "SEX", "MARRY"}), "EDUCYR", "HIDEG")
WHITE, OTHER = "White", "Non-White"
INFO = DatasetInfo(
    title=TITLE,
    source="US Agency for Healthcare Research and Quality, full-year consolidated files",
    licence="public use file under the AHRQ data use agreement",
    citation="Agency for Healthcare Research and Quality. Medical Expenditure Panel Survey, "
    "HC-181 (2015) and HC-192 (2016).",
    caveats=(
        NOTICE,
        (
            "race is non-Hispanic White against everybody else (5,656 White of 15,830 in panel 19). "
            "Copies of this data exist where Hispanic Whites count as White (10,498); results on "
            "them are not comparable."
        ),
        (
            "The favourable label is high use of care (ten or more visits, stays or days of "
            "home care), which depends on access and insurance as much as on need."
        ),
        (
            "The rows are a stratified sample; PERWT is the number of people a row stands for. "
            "Chen et al. (2023) ignored it in their results and used it in their baseline."
        ),
        "Rows with refused or unascertained answers are dropped, as the studies did.",
    ),
    rules={
        "race": "RACEV2X 1 and HISPANX 2 is White, else Non-White; privileged: White",
        "sex": "SEX 1 is male, 2 female; privileged: male",
    },
)


def load_meps(*, panel: Literal[19, 21] = 19) -> Dataset:
    """Load MEPS: panel 19 of 2015 (15,830 rows) or panel 21 of 2016 (15,675 rows).

    The data use notice is shown once.

    Parameters
    ----------
    panel : {19, 21}, default 19
        The panel.

    Returns
    -------
    Dataset
        Protected attributes ``race`` and ``sex``; the label is the number of visits, favourable
        from ten on; weighted by PERWT.
    """
    if panel not in PANELS:
        raise unknown_name("panel of meps", str(panel), list(PANELS))
    _show_notice()
    file = FILES[panel]
    table = table_of(f"meps-{panel}", [file], lambda: _read(panel), version=1)
    white = (table["RACEV2X"] == 1) & (table["HISPANX"] == 2)
    visits = table["UTILIZATION"]
    return Dataset(
        name="meps" if panel == 19 else f"meps(panel={panel})",
        X=table.drop(columns=["UTILIZATION", "PERWT"]),
        y=visits,
        favorable=sorted(set(visits[visits >= 10])),
        sensitive=pd.DataFrame(
            {
                "race": pd.Categorical(np.where(white, WHITE, OTHER)),
                "sex": pd.Categorical(np.where(table["SEX"] == 1, "male", "female")),
            }
        ),
        privileged={"race": WHITE, "sex": "male"},
        sources={"race": ("RACEV2X", "HISPANX"), "sex": ("SEX",)},
        weight=table["PERWT"].to_numpy(),
        info=DatasetInfo(
            **{**INFO.__dict__, "version": f"panel {panel}", "sha256": {file.name: file.sha256}}
        ),
    )


def _read(panel: int) -> pd.DataFrame:
    _, year, rows = PANELS[panel]
    short = {**CODES, **NUMBERS, **RACE, "EDUCYR": "EDUCYR", "HIDEG": "HIDEG"}
    names = {column.replace("yy", year): name for name, column in short.items()}
    visits = [column.replace("yy", year) for column in VISITS]
    weight = f"PERWT{year}F"
    with open_file(FILES[panel]) as stream:
        # 52 of 1,831 columns: parsing all of them takes four times the time and the memory.
        table = pd.read_csv(stream, usecols=["PANEL", weight, *visits, *names])
    table = table[table["PANEL"] == panel].rename(columns={**names, weight: "PERWT"})
    table["UTILIZATION"] = table[visits].sum(axis=1)
    kept = (table[list(KNOWN)] >= 0).all(axis=1) & (table[list(ANSWERED)] >= -1).all(axis=1)
    columns = [*NUMBERS, *RACE, *CODES, "PERWT", "UTILIZATION"]
    table = table.loc[kept, columns].reset_index(drop=True)
    table = check_table("meps", table, rows=rows, columns=columns)
    return as_categories(table, [*RACE, *CODES])


def _show_notice() -> None:
    """Warn of the data use agreement the first time this cache is used for MEPS."""
    shown = cache_folder() / "notices" / "meps"
    if shown.exists():
        return
    shown.parent.mkdir(parents=True, exist_ok=True)
    shown.touch()
    warnings.warn(NOTICE, DataCaveatWarning, stacklevel=4)


DATASETS.add(
    "meps", Entry("meps", TITLE, 15_830, ("race", "sex"), load_meps, tuple(FILES.values()))
)
