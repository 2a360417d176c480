"""Flips by hand: binary, several values, intersections, one-hot, companions, kinds of tables."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from isonomy.counterfactual import Attribute, flip
from isonomy.errors import InputError, NotApplicable, UnknownName

PEOPLE = pd.DataFrame(
    {
        "sex": pd.Categorical(["f", "m", "m", "f"]),
        "race": ["a", "b", "c", "a"],
        "role": ["wife", "husband", "other", "other"],
        "hours": [40, 38, 20, 45],
    }
)


def test_binary_by_hand() -> None:
    flips = flip(PEOPLE, "sex")
    back = np.argsort(flips.row)
    assert flips.X["sex"].to_numpy()[back].tolist() == ["m", "f", "f", "m"]
    assert flips.X["sex"].dtype == PEOPLE["sex"].dtype
    assert flips.X["hours"].to_numpy()[back].tolist() == [40, 38, 20, 45]
    assert flips.X["hours"].dtype == PEOPLE["hours"].dtype
    assert PEOPLE["sex"].tolist() == ["f", "m", "m", "f"]  # what was given is not touched


def test_several_values_by_hand() -> None:
    flips = flip(PEOPLE, "race")
    found = sorted(zip(flips.row.tolist(), flips.X["race"], strict=True))
    assert found == [
        (0, "b"), (0, "c"), (1, "a"), (1, "c"), (2, "a"), (2, "b"), (3, "b"), (3, "c"),
    ]  # fmt: skip
    assert flip(PEOPLE, "race", to="b").row.tolist() == [0, 2, 3]


def test_intersections_go_to_every_other_combination_that_occurs() -> None:
    flips = flip(PEOPLE, ["sex", "race"])
    assert flips.attribute.groups == (("f", "a"), ("m", "b"), ("m", "c"))
    mine = flips.X[flips.row == 1]
    assert sorted(zip(mine["sex"], mine["race"], strict=True)) == [("f", "a"), ("m", "c")]


def test_values_beside_the_table_and_a_chosen_pair_of_groups() -> None:
    attribute, codes = Attribute.learn(PEOPLE, PEOPLE[["race"]], groups=["a", "c"])
    assert attribute.groups == ("a", "c")
    assert codes.tolist() == [0, -1, 1, 0]
    flips = flip(PEOPLE, PEOPLE["race"], groups=["c", "a"])
    assert sorted(flips.row.tolist()) == [0, 2, 3]


def test_unknown_attribute_is_left_out() -> None:
    frame = pd.DataFrame({"sex": ["f", None, "m"], "hours": [1, 2, 3]})
    assert sorted(flip(frame, "sex").row.tolist()) == [0, 2]


def test_one_hot_columns_move_together() -> None:
    X = np.array([[1.0, 0, 0, 7], [0, 1, 0, 8], [0, 0, 1, 9]])
    flips = flip(X, {"race": ["a", "b", "c"]}, to="c", columns={"race": [0, 1, 2]})
    assert flips.X.tolist() == [[0, 0, 1, 7], [0, 0, 1, 8]]
    same = flip(sparse.csr_array(X), {"race": ["a", "b", "c"]}, to="c", columns=[0, 1, 2])
    assert same.X.toarray().tolist() == flips.X.tolist()


def test_scaled_column_is_swapped_like_a_raw_one() -> None:
    X = np.array([[-0.7, 1.0], [1.4, 2.0], [-0.7, 3.0]])
    flips = flip(X, [0, 1, 0], columns=0)
    assert flips.X[np.argsort(flips.row)].tolist() == [[1.4, 1.0], [-0.7, 2.0], [1.4, 3.0]]


def test_polars_frames() -> None:
    flips = flip(pl.from_pandas(PEOPLE), "sex", to="m")
    assert flips.X["sex"].to_list() == ["m", "m"]
    assert flips.X["hours"].to_list() == [40, 45]


def test_companions_change_with_the_attribute() -> None:
    rules = {"role": {"m": {"wife": "husband"}, "f": {"husband": "wife"}}}
    flips = flip(PEOPLE, "sex", companions=rules)
    assert flips.X["role"].to_numpy()[np.argsort(flips.row)].tolist() == [
        "husband", "wife", "other", "other",
    ]  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from("fm"), st.integers(-5, 5), st.floats(0, 1)), min_size=2))
def test_flipping_twice_is_flipping_never(rows: list[tuple[str, int, float]]) -> None:
    frame = pd.DataFrame([("f", 0, 0.0), ("m", 0, 0.0), *rows], columns=["sex", "a", "b"])
    once = flip(frame, "sex")
    twice = flip(once.X.iloc[np.argsort(once.row)], "sex")
    pd.testing.assert_frame_equal(twice.X.iloc[np.argsort(twice.row)], frame)
    assert (once.X["sex"].to_numpy() != frame["sex"].to_numpy()[once.row]).all()


def test_a_column_without_a_word_is_named_by_its_number() -> None:
    numbered = PEOPLE.set_axis(range(PEOPLE.shape[1]), axis=1)
    sex = list(PEOPLE.columns).index("sex")
    expected = flip(PEOPLE, "sex").X.set_axis(numbered.columns, axis=1)
    pd.testing.assert_frame_equal(flip(numbered, sex).X, expected)
    with pytest.raises(InputError, match="pass the values"):
        flip(PEOPLE.to_numpy(), 0)


def test_errors_are_one_sentence() -> None:
    with pytest.raises(UnknownName, match="did you mean 'sex'"):
        flip(PEOPLE, "sexx")
    with pytest.raises(UnknownName, match="one-hot"):
        flip(PEOPLE[["hours"]].assign(sex_m=[0, 1, 1, 0]), PEOPLE["sex"])
    with pytest.raises(InputError, match="at least two groups"):
        flip(PEOPLE, PEOPLE["race"], groups=["a"])
    with pytest.raises(InputError, match="columns="):
        flip(PEOPLE.to_numpy(), PEOPLE["sex"])
    with pytest.raises(NotApplicable, match="holds several for 'young'"):
        flip(PEOPLE, {"hours": ["young", "young", "old", "old"]})
    with pytest.raises(UnknownName, match="value of role"):
        flip(PEOPLE, "sex", companions={"role": {"m": {"wife": "king"}}})
    with pytest.raises(InputError, match="another column"):
        flip(PEOPLE, "sex", companions={"sex": {"m": {"f": "m"}}})
    with pytest.raises(InputError, match=r"at most 50 groups .* --group age=VALUE,VALUE"):
        flip(pd.DataFrame({"age": np.arange(200)}), "age")
    with pytest.raises(InputError, match="same number of rows"):
        flip(PEOPLE, {"sex": ["f", "m"]})
