"""A table of the user's own, as benchmark, tradeoff and tune read it."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from isonomy.data import own_dataset
from isonomy.errors import InputError

RNG = np.random.default_rng(5)
PEOPLE = pd.DataFrame(
    {
        "black": np.arange(400) % 2,
        "age": RNG.integers(18, 90, 400),
        "skill": RNG.normal(size=400),
        "hired": (RNG.uniform(size=400) < 0.3 + 0.2 * (np.arange(400) % 2)).astype(int),
    }
)


@pytest.mark.parametrize(("kind", "name"), [(int, "1"), (bool, "True"), (float, "1")])
def test_codes_are_named_plainly(kind: Any, name: str) -> None:
    table = PEOPLE.astype({"black": kind})
    made, notes = own_dataset(table, label="hired", sensitive_features=["black"])
    assert notes[0].startswith(f"No privileged group was named for black: {name}, the group")
    assert [type(v) for v in made.privileged["black"]] == [kind]
    named, _ = own_dataset(
        table, label="hired", sensitive_features=["black"], privileged={"black": np.int64(0)}
    )
    assert [type(v) for v in named.privileged["black"]] == [kind]


def test_bands_take_the_place_of_the_number() -> None:
    made, _ = own_dataset(PEOPLE, label="hired", sensitive_features=["age"], bins={"age": [40]})
    assert made.groups("age") == ("under 40", "40 and over")
    assert made.X["age"].equals(made.sensitive["age"])
    with pytest.raises(InputError, match=r"'age' has 7\d groups.*--bins age=\d+,\d+,\d+"):
        own_dataset(PEOPLE, label="hired", sensitive_features=["age"])


def test_leaks_and_proxies_are_said() -> None:
    table = PEOPLE.assign(refused=1 - PEOPLE["hired"], white=1 - PEOPLE["black"])
    _, notes = own_dataset(
        table, label="hired", sensitive_features=["black"], privileged={"black": 0}
    )
    assert [note.split(" for ")[0] for note in notes] == [
        "refused alone predicts hired",
        "white alone predicts black",
    ]
    _, notes = own_dataset(
        table, label="hired", sensitive_features=["black"], privileged={"black": 0},
        drop=["refused", "white"],
    )  # fmt: skip
    assert notes == []


@pytest.mark.parametrize("favorable", [0, np.int64(0), [0], (0,)])
def test_a_favorable_label_may_be_zero(favorable: Any) -> None:
    made, _ = own_dataset(PEOPLE, label="hired", sensitive_features=["black"], favorable=favorable)
    assert made.favorable == (0,)
    np.testing.assert_array_equal(made.y01, 1 - PEOPLE["hired"])


def test_a_label_that_may_be_missing_is_asked_about() -> None:
    table = PEOPLE.assign(hired=PEOPLE["hired"].map({0: "no", 1: "yes"}))
    table.loc[:9, "hired"] = "NA"
    made, notes = own_dataset(
        table, label="hired", favorable="yes", sensitive_features=["black"],
        privileged={"black": 0},
    )  # fmt: skip
    assert "The label of 10 rows is 'NA', which counts as unfavourable" in notes[0]
    assert made.to_dict()["categorical_features"] == 0
    words = table.assign(town="A")
    made, _ = own_dataset(words, label="hired", favorable="yes", sensitive_features=["black"])
    assert made.to_dict()["categorical_features"] == 1


def test_weights_are_no_feature() -> None:
    table = PEOPLE.assign(w=2.0)
    made, _ = own_dataset(table, label="hired", sensitive_features=["black"], weight="w")
    assert made.weight is not None
    assert "w" not in made.X


def test_columns_may_be_numbered() -> None:
    named, _ = own_dataset(PEOPLE, label="hired", sensitive_features=["black"], drop=["age"])
    numbered = PEOPLE.set_axis(range(4), axis=1)
    made, _ = own_dataset(numbered, label=3, sensitive_features=[0], privileged={0: 0}, drop=[1])
    assert made.attributes == ("0",)
    assert made.privileged == {"0": (0,)}
    np.testing.assert_array_equal(made.y01, named.y01)


def test_one_attribute_takes_its_privileged_group_alone() -> None:
    people = pd.DataFrame({"sex": ["m", "f"] * 40, "race": ["a", "b"] * 40, "y": [0, 1, 1, 0] * 20})
    made, _ = own_dataset(people, label="y", sensitive_features=["sex"], privileged="m")
    assert made.privileged == {"sex": ("m",)}
    with pytest.raises(InputError, match="which attribute it is for"):
        own_dataset(people, label="y", sensitive_features=["sex", "race"], privileged="m")


def test_cut_points_of_a_single_attribute_may_stand_alone() -> None:
    made, _ = own_dataset(PEOPLE, label="hired", sensitive_features=["age"], bins=[40])
    assert made.groups("age") == ("under 40", "40 and over")
    with pytest.raises(InputError, match=r"bins must say which attribute it is for"):
        own_dataset(PEOPLE, label="hired", sensitive_features=["age", "black"], bins=[40])


def test_identifiers_are_asked_about() -> None:
    table = PEOPLE.assign(
        **{
            "case no": [f"A{k:04d}" for k in range(400)],
            "row": np.arange(7, 407),
            "pay": RNG.integers(10_000, 90_000, 400),
            "visits": np.arange(400) % 9,
            "pidnum": RNG.permutation(9 * np.arange(400)),
            "paid": RNG.permutation(7 * np.arange(400)) + 0.5,
        }
    )
    _, notes = own_dataset(table, label="hired", sensitive_features=["black"])
    (note,) = [n for n in notes if "nearly every row" in n]
    assert note.startswith("case no, row, pidnum have another value")
    assert note.endswith("leave them out (--drop 'case no,row,pidnum').")


def test_options_in_messages_can_be_typed() -> None:
    table = PEOPLE.rename(columns={"age": "age (years)"})
    with pytest.raises(InputError, match=r"\(--bins 'age \(years\)=\d+,\d+,\d+'\)"):
        own_dataset(table, label="hired", sensitive_features=["age (years)"])
    table = PEOPLE.assign(**{"paid back": PEOPLE["hired"], "owed, now": 1 - PEOPLE["hired"]})
    _, notes = own_dataset(table, label="hired", sensitive_features=["black"])
    assert any("""(--drop 'paid back,"owed, now"')""" in n for n in notes)


def test_repeated_rows_are_pointed_out_unless_columns_are_coarse() -> None:
    doubled = pd.concat([PEOPLE, PEOPLE.head(50)])
    _, notes = own_dataset(doubled, label="hired", sensitive_features=["black"])
    assert notes[0].startswith("50 of 450 rows repeat another row in every column")
    rounded = PEOPLE.drop(columns="age").assign(skill=PEOPLE["skill"].round(2))
    assert rounded.duplicated().sum() > 20
    for table in (PEOPLE, doubled.drop(columns="skill"), rounded):
        _, notes = own_dataset(table, label="hired", sensitive_features=["black"])
        assert not any("repeat" in n for n in notes)
