"""Adult: whether a person of the 1994 US census earns more than 50,000 dollars a year."""

import pandas as pd

from isonomy.data.catalog import DATASETS, Entry, as_categories, check_table, table_of
from isonomy.data.dataset import Dataset, DatasetInfo
from isonomy.data.fetch import File, open_file
from isonomy.data.wheels import AIF360

__all__ = ["load_adult"]

TITLE = "Adult census income: does a person earn more than 50,000 dollars a year?"
FILES = tuple(
    File(
        dataset="adult",
        name=name,
        sha256=sha256,
        size=size,
        wheel=AIF360,
        member=f"aif360/data/raw/adult/{name}",
        url=f"https://archive.ics.uci.edu/ml/machine-learning-databases/adult/{name}",
    )
    for name, sha256, size in (
        (
            "adult.data",
            "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
            3_974_305,
        ),
        (
            "adult.test",
            "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
            2_003_153,
        ),
    )
)
COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)
CATEGORICAL = (
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
    "income",
)
INFO = DatasetInfo(
    title=TITLE,
    source="UCI Machine Learning Repository, from the 1994 Current Population Survey",
    licence="CC BY 4.0",
    citation="Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository. "
    "doi:10.24432/C5XW20",
    caveats=(
        (
            "50,000 dollars was about the 76th percentile of income in 1994; measured disparities "
            "change a lot with it (Ding et al. 2021, Retiring Adult)."
        ),
        (
            "'?' is read as a missing value: 3,620 of 48,842 rows have one, and most studies drop "
            "them."
        ),
        (
            "fnlwgt is the number of people a row stands for in the survey; it is a weight, not a "
            "property of the person, and stands aside (some studies used it as a feature)."
        ),
        (
            "relationship and marital-status give sex away (Husband, Wife), so removing the column "
            "sex removes little."
        ),
    ),
    sha256={file.name: file.sha256 for file in FILES},
    rules={"race": "as recorded; privileged: White", "sex": "as recorded; privileged: Male"},
)


def load_adult() -> Dataset:
    """Load Adult: 48,842 rows, those of adult.test first.

    That is the order in which AIF360 reads the two files; keeping it lets the splits of the
    studies that used AIF360 be replayed row by row.

    Returns
    -------
    Dataset
        Protected attributes ``race`` and ``sex``; favourable label ``>50K``.
    """
    table = table_of("adult", FILES, _read, version=1)
    return Dataset(
        name="adult",
        X=table.drop(columns=["income", "fnlwgt"]),
        y=table["income"],
        favorable=">50K",
        sensitive=table[["race", "sex"]],
        privileged={"race": "White", "sex": "Male"},
        aside=table[["fnlwgt"]],
        info=INFO,
    )


def _read() -> pd.DataFrame:
    parts = []
    for file in reversed(FILES):
        with open_file(file) as stream:
            parts.append(
                pd.read_csv(
                    stream,
                    names=list(COLUMNS),
                    header=None,
                    skipinitialspace=True,
                    na_values="?",
                    keep_default_na=False,
                    skiprows=1 if file.name == "adult.test" else 0,
                )
            )
    table = pd.concat(parts, ignore_index=True)
    table["income"] = table["income"].str.rstrip(".")  # adult.test ends its labels with a stop
    table = check_table("adult", table, rows=48_842, columns=COLUMNS)
    return as_categories(table, CATEGORICAL)


DATASETS.add("adult", Entry("adult", TITLE, 48_842, ("race", "sex"), load_adult, FILES))
