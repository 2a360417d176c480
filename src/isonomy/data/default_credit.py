"""Default of credit card clients: whether a client in Taiwan fails to pay next month."""

import numpy as np
import pandas as pd

from isonomy.data.catalog import DATASETS, Entry, as_categories, check_table, table_of
from isonomy.data.dataset import Dataset, DatasetInfo
from isonomy.data.fetch import File, open_file
from isonomy.data.wheels import MERCURY_ROBUST

__all__ = ["load_default_credit"]

TITLE = "Default of credit card clients: does a client fail to pay next month?"
FILES = (
    File(
        dataset="default_credit",
        name="UCI_Credit_card.csv",
        sha256="9e5c04a4331d1e7b7d11b5ce881f550d55c1932292eacfe3734dd4546888ddec",
        size=3_647_208,
        wheel=MERCURY_ROBUST,
        member="mercury/robust/tutorials/data/credit/UCI_Credit_card.csv",
    ),
)
LABEL = "default.payment.next.month"
PAY = ("PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6")
MONEY = tuple(f"{kind}{i}" for kind in ("BILL_AMT", "PAY_AMT") for i in range(1, 7))
COLUMNS = ("ID", "LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE", *PAY, *MONEY, LABEL)
INFO = DatasetInfo(
    title=TITLE,
    source="UCI Machine Learning Repository, from a bank in Taiwan, 2005",
    licence="CC BY 4.0",
    citation="Yeh, I.-C. and Lien, C.-H. (2009). The comparisons of data mining techniques for the "
    "predictive accuracy of probability of default of credit card clients. Expert Systems with "
    "Applications 36(2), 2473-2480.",
    caveats=(
        "Paying (0) is the favourable label; Monjezi et al. (2025) declare default favourable.",
        "Women default less often than men here: the unprivileged group has the better labels.",
        (
            "EDUCATION 0, 5, 6 and MARRIAGE 0 are in no code book, and PAY_* below 1 mixes several "
            "kinds of paying in time."
        ),
    ),
    sha256={file.name: file.sha256 for file in FILES},
    rules={"sex": "SEX 1 is male, 2 female; privileged: male"},
)


def load_default_credit() -> Dataset:
    """Load default of credit card clients: 30,000 rows.

    Returns
    -------
    Dataset
        Protected attribute ``sex``; favourable label 0 (pays).
    """
    table = table_of("default_credit", FILES, _read, version=1)
    return Dataset(
        name="default_credit",
        X=table.drop(columns=["ID", LABEL]),
        y=table[LABEL],
        favorable=0,
        sensitive=pd.DataFrame(
            {"sex": pd.Categorical(np.where(table["SEX"] == 1, "male", "female"))}
        ),
        privileged={"sex": "male"},
        sources={"sex": ("SEX",)},
        aside=table[["ID"]],
        info=INFO,
    )


def _read() -> pd.DataFrame:
    with open_file(FILES[0]) as stream:
        table = pd.read_csv(stream)
    table = check_table("default_credit", table, rows=30_000, columns=COLUMNS)
    return as_categories(table[list(COLUMNS)], ("SEX", "EDUCATION", "MARRIAGE"))


DATASETS.add(
    "default_credit", Entry("default_credit", TITLE, 30_000, ("sex",), load_default_credit, FILES)
)
