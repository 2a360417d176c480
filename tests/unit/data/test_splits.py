"""Splits: disjoint, complete, repeatable, and the studies' own streams."""

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from isonomy.data import load, make_splits
from isonomy.errors import InputError, UnknownName


@pytest.mark.parametrize("splitter", ["holdout", "chen", "aif360", "evt"])
def test_parts_are_disjoint_and_complete(splitter: str) -> None:
    data = load("synthetic", n=101)
    for split in make_splits(data, 3, seed=5, splitter=splitter):
        parts = [split.train, split.test, *([] if split.validation is None else [split.validation])]
        assert sorted(np.concatenate(parts).tolist()) == list(range(101))
        assert (split.validation is not None) == (splitter == "evt")


@pytest.mark.parametrize(
    ("splitter", "sizes"),
    [("holdout", (70, 31)), ("chen", (70, 31)), ("aif360", (70, 31)), ("evt", (60, 21, 20))],
)
def test_sizes(splitter: str, sizes: tuple[int, ...]) -> None:
    split = make_splits(load("synthetic", n=101), splitter=splitter)[0]
    found = [len(split.train), len(split.test)]
    assert tuple(found + ([len(split.validation)] if split.validation is not None else [])) == sizes


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("n", [10, 101, 1000])
def test_chen_is_train_test_split_after_a_global_seed(n: int, seed: int) -> None:
    split = make_splits(load("synthetic", n=n), 3, seed=seed, splitter="chen")[2]
    train, test = train_test_split(
        np.arange(n), test_size=0.3, shuffle=True, random_state=np.random.RandomState(seed + 2)
    )
    np.testing.assert_array_equal(split.train, train)
    np.testing.assert_array_equal(split.test, test)


def test_aif360_takes_the_first_part_of_the_same_permutation() -> None:
    order = np.random.RandomState(4).permutation(99)
    split = make_splits(load("synthetic", n=99), 5, splitter="aif360")[4]
    np.testing.assert_array_equal(split.train, order[:69])
    np.testing.assert_array_equal(split.test, order[69:])


def test_our_split_depends_on_seed_dataset_and_repeat_only() -> None:
    data = load("synthetic", n=60)
    first = make_splits(data, 2, seed=1)
    again = make_splits(data, 5, seed=1)
    np.testing.assert_array_equal(first[1].test, again[1].test)
    assert not np.array_equal(first[0].test, first[1].test)
    assert not np.array_equal(first[0].test, make_splits(data, 1, seed=2)[0].test)
    # Frozen: a change of these rows breaks every stored study.
    assert first[0].test[:6].tolist() == [55, 49, 46, 23, 21, 56]


def test_rows_are_positions_in_the_dataset() -> None:
    data = load("synthetic", n=40)
    mask = np.arange(40) >= 20
    split = make_splits(data, splitter="chen", rows=mask)[0]
    assert set(split.train) | set(split.test) == set(range(20, 40))
    np.testing.assert_array_equal(
        split.test, 20 + make_splits(load("synthetic", n=20), splitter="chen")[0].test
    )


def test_refusals() -> None:
    data = load("synthetic", n=20)
    with pytest.raises(InputError, match="repeats must be at least 1"):
        make_splits(data, 0)
    with pytest.raises(UnknownName, match="did you mean 'chen'"):
        make_splits(data, splitter="cheng")
    with pytest.raises(InputError, match="at least 5 rows"):
        make_splits(data, rows=[1, 2, 3])
