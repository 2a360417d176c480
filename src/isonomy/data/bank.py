"""Bank marketing: whether a client of a Portuguese bank takes a term deposit when called."""

from dataclasses import replace
from typing import Literal

import pandas as pd

from isonomy._validate import check_choice
from isonomy.data.catalog import read_card
from isonomy.data.dataset import Dataset
from isonomy.data.fetch import open_file, read_bytes

CARD = read_card(__file__)
ROWS = {"additional": 41_188, "full": 45_211}
BANDS = ("under 25", "25 to 59", "60 or over")
RULES = {"25+": BANDS[1:], "25-59": BANDS[1:2]}


@CARD.register
def load_bank(
    *,
    version: Literal["additional", "full"] = "additional",
    privileged_age: Literal["25+", "25-59"] = "25+",
) -> Dataset:
    """Load bank marketing: 41,188 calls with economic indicators, or 45,211 without.

    Parameters
    ----------
    version : {"additional", "full"}, default "additional"
        bank-additional-full (41,188 rows, 20 features), which AIF360 and most studies use, or
        bank-full (45,211 rows, 16 features).
    privileged_age : {"25+", "25-59"}, default "25+"
        Who is privileged: the rule of AIF360 up to 0.5, or from 0.6 on.

    Returns
    -------
    Dataset
        Protected attribute ``age`` in three bands; favourable label ``yes``.
    """
    check_choice("version of bank", version, list(ROWS))
    check_choice("age rule of bank", privileged_age, list(RULES))
    files = CARD.files[:1] if version == "additional" else CARD.files[1:]
    table = CARD.table(
        _read_additional if version == "additional" else _read_full,
        version=version,
        files=files,
        rows=ROWS[version],
        columns=CARD.columns[version],
    )
    band = pd.cut(table["age"], [0, 25, 60, 200], right=False, labels=list(BANDS), ordered=False)
    return Dataset(
        name="bank" if version == "additional" else "bank(version=full)",
        X=table.drop(columns="y"),
        y=table["y"],
        favorable="yes",
        sensitive=pd.DataFrame({"age": band}),
        privileged={"age": RULES[privileged_age]},
        info=replace(
            CARD.info,
            version=version,
            sha256={file.name: file.sha256 for file in files},
            rules={"age": f"in bands; privileged: {' and '.join(RULES[privileged_age])}"},
        ),
    )


def _read_additional() -> pd.DataFrame:
    with open_file(CARD.files[0]) as stream:
        return pd.read_csv(stream, sep=";", keep_default_na=False, na_values="unknown")


def _read_full() -> pd.DataFrame:
    # The package holds a random cut of bank-full; its first column is the original row number.
    parts = [
        pd.read_csv(read_bytes(file), compression="gzip", index_col=0, keep_default_na=False)
        for file in CARD.files[1:]
    ]
    table = pd.concat(parts).sort_index()
    if table.index.tolist() != list(range(len(table))):
        table = table.iloc[:0]  # the check of the card then says what is wrong
    # In contact and poutcome 'unknown' is most of the column, and a value of its own.
    for column in ("job", "education"):
        table[column] = table[column].where(table[column] != "unknown")
    return table.rename(columns={"deposit": "y"})
