"""Labels that are cut from a number."""

import numpy as np
import pandas as pd
import pytest

from isonomy.data import Dataset
from isonomy.errors import InputError, UnknownName

PEOPLE = pd.DataFrame({"sex": list("fmfm") * 5, "wage": np.arange(20.0), "hours": 40})


@pytest.mark.parametrize(
    ("label", "share"), [("wage>9", 0.5), ("wage >= 9", 0.55), ("wage<1e1", 0.5), ("wage<=-1", 0.0)]
)
def test_a_number_is_cut_in_two(label: str, share: float) -> None:
    if not share:
        with pytest.raises(InputError, match="two classes or more; every row holds 0"):
            Dataset.from_frame(PEOPLE, label=label, sensitive_features="sex")
        return
    made = Dataset.from_frame(PEOPLE, label=label, sensitive_features="sex")
    assert made.y01.mean() == share
    assert made.y.name == label
    assert list(made.X.columns) == ["sex", "hours"]  # what the label is cut from would give it away
    assert made.aside is not None
    assert list(made.aside.columns) == ["wage"]


def test_a_column_of_that_name_comes_first() -> None:
    table = PEOPLE.assign(**{"wage>9": [0, 1] * 10})
    made = Dataset.from_frame(table, label="wage>9", sensitive_features="sex")
    assert made.y.tolist() == [0, 1] * 10
    assert "wage" in made.X


def test_missing_numbers_are_missing_labels() -> None:
    table = PEOPLE.assign(wage=PEOPLE["wage"].where(PEOPLE["wage"] > 0))
    with pytest.raises(InputError, match="1 of 20 rows"):
        Dataset.from_frame(table, label="wage>9", sensitive_features="sex")


@pytest.mark.parametrize(
    ("label", "error", "words"),
    [
        ("wage", InputError, "holds 20 numbers: cut it in two, label='wage>9.5'"),
        ("wage>high", InputError, "COLUMN>NUMBER"),
        ("wges>9", UnknownName, "did you mean 'wage'"),
        ("sex>9", InputError, "Only a number can be cut"),
        ("wgae", UnknownName, "did you mean 'wage'"),
    ],
)
def test_what_is_wrong_is_one_sentence(label: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Dataset.from_frame(PEOPLE, label=label, sensitive_features="hours")
