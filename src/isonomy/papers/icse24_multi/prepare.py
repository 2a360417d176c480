"""What the study of several attributes learned from: few columns, coarse ones among them.

Adult and COMPAS are the study's own tables, cell by cell; German is AIF360's encoding, as in the
studies after it. Default and MEPS are not rebuilt: the study's tables of them were not at hand to be
checked against, and our Default declares one protected attribute, not two.

References
----------
Chen, Zhang, Sarro and Harman 2024, Fairness Improvement with Multiple Protected Attributes: How Far
Are We?, ICSE.
"""

import numpy as np
import pandas as pd

from isonomy.data.aif360 import aif360_frame
from isonomy.data.dataset import Dataset
from isonomy.data.frames import coded, columns_of
from isonomy.data.prepare import PREPARATIONS, Preparation
from isonomy.errors import InputError

_FIRST_OF_ADULT = 16_281  # the study reads adult.data first; ours begins with adult.test


def multi_frame(dataset: Dataset, attribute: str | None = None) -> pd.DataFrame:
    """Return the table that the study learned from, in its order of rows.

    Parameters
    ----------
    dataset : Dataset
        One of ``adult``, ``compas`` and ``german``.
    attribute : str, optional
        The attribute under test; the table does not depend on it.
    """
    makers = {"adult": _adult, "compas": _compas, "german": aif360_frame}
    if dataset.name not in makers:
        raise InputError(
            f"Preparation 'icse24' must be used on {', '.join(makers)}; got {dataset.name!r}: use "
            "recipe='chen'."
        )
    return makers[dataset.name](dataset)


def _adult(dataset: Dataset) -> pd.DataFrame:
    """Cut ages down to their decade; the condition for 10 to 19 could not hold, so those stay."""
    names = ["age", "education-num", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"]  # fmt: skip
    own = ["race", "sex"]
    rest = columns_of(dataset, [n for n in names if n not in own])
    age = rest["age"].to_numpy()
    rest["age"] = np.where(age >= 70, 70, np.where(age >= 20, age // 10 * 10, age))
    frame = pd.concat([rest, coded(dataset, own)], axis=1)[names]
    order = np.roll(np.arange(len(frame)), -_FIRST_OF_ADULT)
    return frame.iloc[order]


def _compas(dataset: Dataset) -> pd.DataFrame:
    known = columns_of(dataset, ["age_cat", "priors_count", "c_charge_degree", "decile_score"])
    priors = known["priors_count"].to_numpy()
    both = coded(dataset, ["sex", "race"])
    return pd.DataFrame(
        {
            "sex": both["sex"],
            "age_cat": known["age_cat"].map({"Greater than 45": 45, "25 - 45": 25, "Less than 25": 0}).astype(int),
            "race": both["race"],
            "priors_count": np.where(priors > 3, 4, np.where(priors >= 1, 3, 0)),
            "c_charge_degree": (known["c_charge_degree"] == "F").astype(int),
            "decile_score.1": known["decile_score"],
            "priors_count.1": priors,
        }
    )  # fmt: skip


PREPARATIONS.add("icse24", Preparation("icse24", multi_frame, scale="minmax", one_table=True))
