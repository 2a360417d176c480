"""German credit: whether an applicant for credit is a good or a bad risk."""

import pandas as pd

from isonomy.data.catalog import DATASETS, Entry, as_categories, check_table, table_of
from isonomy.data.dataset import Dataset, DatasetInfo
from isonomy.data.fetch import File, open_file
from isonomy.data.wheels import AIF360

__all__ = ["load_german"]

TITLE = "German credit: is an applicant for credit a good or a bad risk?"
FILES = (
    File(
        dataset="german",
        name="german.data",
        sha256="b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
        size=79_793,
        wheel=AIF360,
        member="aif360/data/raw/german/german.data",
        url="https://archive.ics.uci.edu/ml/machine-learning-databases/statlog/german/german.data",
    ),
)
# The names are AIF360's, which the studies' scripts refer to.
COLUMNS = (
    "status",
    "month",
    "credit_history",
    "purpose",
    "credit_amount",
    "savings",
    "employment",
    "investment_as_income_percentage",
    "personal_status",
    "other_debtors",
    "residence_since",
    "property",
    "age",
    "installment_plans",
    "housing",
    "number_of_credits",
    "skill_level",
    "people_liable_for",
    "telephone",
    "foreign_worker",
    "credit",
)
SEX = {"A91": "male", "A92": "female", "A93": "male", "A94": "male", "A95": "female"}
OLDER, YOUNGER = "over 25", "25 or younger"
INFO = DatasetInfo(
    title=TITLE,
    source="UCI Machine Learning Repository (Statlog), from a bank in southern Germany, 1973-1975",
    licence="CC BY 4.0",
    citation="Hofmann, H. (1994). Statlog (German Credit Data). UCI Machine Learning Repository. "
    "doi:10.24432/C5NC77",
    caveats=(
        (
            "sex is read off personal_status by the code book of this copy. The corrected code "
            "book (Grömping 2019, South German Credit) says that A92 holds women who are not single "
            "together with single men, and A94 single women: the attribute is a rough guess."
        ),
        "Several other columns of this copy are described wrongly too (Grömping 2019).",
        "Bad risks were oversampled to 30 %; the base rate says nothing about the bank.",
        "1 is good and 2 is bad; a score of class 2 is the probability of a bad risk.",
        (
            "With 1,000 rows and 310 women, differences between methods are mostly noise: look at "
            "intervals."
        ),
    ),
    sha256={file.name: file.sha256 for file in FILES},
    rules={
        "sex": "personal_status A91, A93, A94 is male, A92, A95 female; privileged: male",
        "age": "over 25 years; privileged: over 25",
    },
)


def load_german() -> Dataset:
    """Load German credit: 1,000 rows with the A-codes of the original file.

    Returns
    -------
    Dataset
        Protected attributes ``sex`` (derived from personal_status) and ``age`` (over 25 or
        not); favourable label 1 (good risk).
    """
    table = table_of("german", FILES, _read, version=1)
    return Dataset(
        name="german",
        X=table.drop(columns="credit"),
        y=table["credit"],
        favorable=1,
        sensitive=pd.DataFrame(
            {
                "sex": table["personal_status"].astype(str).map(SEX).astype("category"),
                "age": (table["age"] > 25).map({True: OLDER, False: YOUNGER}).astype("category"),
            }
        ),
        privileged={"sex": "male", "age": OLDER},
        sources={"sex": ("personal_status",), "age": ("age",)},
        info=INFO,
    )


def _read() -> pd.DataFrame:
    with open_file(FILES[0]) as stream:
        table = pd.read_csv(stream, sep=" ", header=None, names=list(COLUMNS))
    table = check_table("german", table, rows=1_000, columns=COLUMNS)
    texts = [c for c in COLUMNS if not pd.api.types.is_numeric_dtype(table[c])]
    return as_categories(table, texts)


DATASETS.add("german", Entry("german", TITLE, 1_000, ("sex", "age"), load_german, FILES))
