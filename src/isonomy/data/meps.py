"""MEPS: whether a person of a US household survey uses much health care in a year."""

import warnings
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd

from isonomy._validate import check_choice
from isonomy.data.catalog import read_card
from isonomy.data.dataset import Dataset
from isonomy.data.fetch import File, cache_folder, open_file
from isonomy.errors import DataCaveatWarning

CARD = read_card(__file__)
# Per panel: year, rows kept, file.
PANELS = {19: ("15", 15_830, CARD.files[0]), 21: ("16", 15_675, CARD.files[1])}
# Short name (AIF360's) -> column of the file; yy is the year. Codes below -1 mean that the
# question was refused, not ascertained or inapplicable in a way the studies drop.
CODES: dict[str, str] = CARD.columns
NUMBERS = {"AGE": "AGE53X", "PCS42": "PCS42", "MCS42": "MCS42", "K6SUM42": "K6SUM42"}
RACE = {"RACEV2X": "RACEV2X", "HISPANX": "HISPANX"}
VISITS = ("OBTOTVyy", "OPTOTVyy", "ERTOTyy", "IPNGTDyy", "HHTOTDyy")
# Must be known (0 or more), and must not be refused (-1 or more).
KNOWN = ("REGION", "AGE", "MARRY", "ASTHDX")
ANSWERED = (*(c for c in CODES if c not in {"REGION", "SEX", "MARRY"}), "EDUCYR", "HIDEG")
WHITE, OTHER = "White", "Non-White"


@CARD.register
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
    check_choice("panel of meps", panel, list(PANELS))
    _show_notice()
    year, rows, file = PANELS[panel]
    table = CARD.table(
        lambda: _read(panel, year, file),
        version=str(panel),
        files=[file],
        rows=rows,
        columns=[*NUMBERS, *RACE, *CODES, "PERWT", "UTILIZATION"],
        categories=[*RACE, *CODES],
    )
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
        info=replace(CARD.info, version=f"panel {panel}", sha256={file.name: file.sha256}),
    )


def _read(panel: int, year: str, file: File) -> pd.DataFrame:
    short = {**CODES, **NUMBERS, **RACE, "EDUCYR": "EDUCYR", "HIDEG": "HIDEG"}
    names = {column.replace("yy", year): name for name, column in short.items()}
    visits = [column.replace("yy", year) for column in VISITS]
    weight = f"PERWT{year}F"
    with open_file(file) as stream:
        # 52 of 1,831 columns: parsing all of them takes four times the time and the memory.
        table = pd.read_csv(stream, usecols=["PANEL", weight, *visits, *names])
    table = table[table["PANEL"] == panel].rename(columns={**names, weight: "PERWT"})
    table["UTILIZATION"] = table[visits].sum(axis=1)
    kept = (table[list(KNOWN)] >= 0).all(axis=1) & (table[list(ANSWERED)] >= -1).all(axis=1)
    return table[kept].reset_index(drop=True)


def _show_notice() -> None:
    """Warn of the data use agreement the first time this cache is used for MEPS."""
    shown = cache_folder() / "notices" / "meps"
    if shown.exists():
        return
    shown.parent.mkdir(parents=True, exist_ok=True)
    shown.touch()
    warnings.warn(CARD.info.caveats[0], DataCaveatWarning, stacklevel=4)
